//! Sweeps: a scenario under every combination of values, disciplines and seeds.
//!
//! A [`Plan`] says what varies, and has a [cell](Cell) for each combination. Its runs are made in
//! [shards](Shard), on this machine ([`Plan::run`]) or wherever a shard is taken to, and each leaves
//! a row in a [`Store`], a folder of Parquet files. A run is found there by a hash of all that it
//! depends on, so none is made twice, and a sweep that was stopped goes on where it was.
#![forbid(unsafe_code)]

mod base;
pub mod columns;
mod explain;
mod local;
mod plan;
mod rows;
mod shard;
mod spec;
mod store;
mod table;

pub use base::Base;
pub use explain::Explained;
pub use local::{Cost, Local, Share};
pub use plan::{Axis, Cell, Plan, Run, Stores, Value};
pub use shard::{Ran, Shard};
pub use spec::{AxisSpec, FORMAT, RangeSpec, Spacing, SweepSpec, Vary};
pub use store::{Batch, Part, Runs, Store, StoreError};
pub use table::{CellSummary, Values};

use fairwire_scenario::{RunError, ScenarioError};

/// Why a sweep did not go on. What was finished is stored.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The scenario, or the plan.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Another fairwire made the shard.
    #[error(
        "a shard of fairwire {given}; this worker is {} (engine {}); allowed: the same fairwire on every worker",
        env!("CARGO_PKG_VERSION"),
        fairwire_scenario::ENGINE
    )]
    Version {
        /// The version that made it.
        given: String,
    },
    /// The scenario's files are others here.
    #[error(
        "the scenario `{0}` is another one on this worker: a file that it names differs; allowed: the same files on every worker"
    )]
    Changed(String),
    /// A text that is no shard.
    #[error("this is no shard of a sweep: {0}; allowed: one that `shards` made")]
    NoShard(String),
    /// A table that could not be made, which is our fault.
    #[error("a table of results: {0}")]
    Table(#[from] arrow_schema::ArrowError),
}
