//! Studies: the exhibits (figures and tables) of papers as data, which are run, measured and
//! compared with the papers' claims.
//!
//! A study is a folder with `study.toml` (variations, measures, drawings and claims), scenarios,
//! and `reference.toml` (the printed numbers). [`Study::read`] reads it, and [`Plan::of`]
//! determines the runs of an exhibit. [`execute()`] makes and stores each run once. [`assemble()`]
//! combines numbers, drawings and verdicts.
#![forbid(unsafe_code)]

mod assemble;
mod cache;
pub mod calibration;
pub mod computed;
mod execute;
mod expression;
mod facts;
pub mod library;
mod packets;
mod plan;
pub mod record;
pub mod spec;
mod study;
mod sweep;
pub mod text;
mod verdict;
mod watch;

pub use assemble::{assemble, beside_print};
pub use cache::{Cache, Held, MAX_CACHE_BYTES, cache_folder, clean, held, key};
pub use execute::{Executed, Fault, Gathered, Gave, Work, execute};
pub use library::{UnknownExhibit, chosen};
pub use plan::{Cell, Changes, Curves, Measure, Plan};
pub use study::{Recorded, Study};
