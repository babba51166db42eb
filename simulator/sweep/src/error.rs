//! The reasons why a sweep stops.

use crate::store::StoreError;
use fairwire_scenario::{RunError, ScenarioError};

/// Why a sweep stopped. Finished results are stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The scenario or the plan is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Another version of fairwire created the shard.
    #[error(
        "a shard of fairwire {given}; this worker is {} (engine {}); allowed: the same fairwire on every worker",
        env!("CARGO_PKG_VERSION"),
        fairwire_scenario::ENGINE
    )]
    Version {
        /// The version that created the shard.
        given: String,
    },
    /// A file that the scenario names differs on this worker.
    #[error(
        "the scenario `{0}` is another one on this worker: a file that it names differs; allowed: the same files on every worker"
    )]
    Changed(String),
    /// The text is not a shard.
    #[error("this is no shard of a sweep: {0}; allowed: one that `shards` made")]
    NoShard(String),
}
