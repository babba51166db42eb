//! Sweeps: a scenario under every combination of values, disciplines and seeds.
//!
//! A [`Plan`] has a [cell](Cell) for each combination of values and a discipline. The runs are
//! divided into [shards](Shard), which run on this machine ([`Plan::run`]) or on others. Each run
//! leaves a row in a [`Store`], a folder of Parquet files. A hash of all inputs identifies a run,
//! so no run is made twice.
#![forbid(unsafe_code)]

pub mod columns;
mod error;
mod explain;
mod local;
mod notes;
pub mod parquet;
mod plan;
mod precision;
pub mod records;
mod rows;
mod shard;
mod spec;
mod store;
mod table;
mod values;
mod varied;

pub use error::SweepError;
pub use explain::Explained;
pub use local::{Cost, Local, Share};
pub use plan::{Axis, Cell, Plan, Run, Stores};
pub use shard::{Ran, Shard};
pub use spec::{AxisSpec, FORMAT, RangeSpec, Spacing, SweepSpec, Vary};
pub use store::{Batch, Part, Runs, Store, StoreError};
pub use table::{CellSummary, Values};
pub use values::Value;
pub use varied::Base;
