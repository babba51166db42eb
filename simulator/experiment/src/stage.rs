//! The interface of a stage, which runs an experiment.

use crate::plan::Plan;
use crate::runs::{WatchRuns, one_by_one};
use crate::watch::Watch;
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{RunError, Scenario};
use std::sync::atomic::AtomicBool;

/// An environment that can run an experiment.
pub trait Stage: Sync {
    /// Its description.
    fn about(&self) -> About;

    /// The stage's name, as typed after `--on` and in results.
    fn name(&self) -> &'static str {
        self.about().name
    }

    /// Checks that the stage can run this plan now on this machine. Anything started for the check
    /// has ended when this function returns.
    ///
    /// # Errors
    /// The feature of the plan that the stage cannot run, or what this machine lacks.
    fn can_run(&self, plan: &Plan<'_>) -> Result<(), Failed>;

    /// Runs the plan under `seed`.
    ///
    /// Returns `None` if `stop` became true. Even then, the run leaves nothing behind.
    ///
    /// # Errors
    /// If the run failed. Other runs may still succeed.
    fn run(
        &self,
        plan: &Plan<'_>,
        seed: u64,
        watch: &mut dyn Watch,
        stop: &AtomicBool,
    ) -> Result<Option<RunRecord>, Failed>;

    /// Runs `scenario` under each seed and each of its `disciplines`, given by index. `jobs` runs
    /// are concurrent (0: one per core), but only one with [`Clock::Machine`].
    ///
    /// Returns the runs in the order of disciplines and seeds, and only finished runs if `stop`
    /// becomes true. The caller names the stage in the records.
    ///
    /// # Errors
    /// If a run failed. Then no further run starts, and finished runs are lost.
    fn run_all(
        &self,
        scenario: &Scenario,
        disciplines: &[usize],
        jobs: usize,
        watch: &dyn WatchRuns,
        stop: &AtomicBool,
    ) -> Result<Vec<RunRecord>, Failed> {
        one_by_one(self, scenario, disciplines, jobs, watch, stop)
    }
}

/// The description of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// The stage's name, as typed after `--on` and in results.
    pub name: &'static str,
    /// The description of the stage in one line.
    pub summary: &'static str,
    /// The clock that the stage uses.
    pub clock: Clock,
}

/// The clock of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The clock of this machine. A run needs the entire machine.
    Machine,
    /// A virtual clock, for real packets. Concurrent runs have the same results as sequential runs.
    /// Each run keeps about one core busy.
    Virtual,
    /// A virtual clock, for simulated packets. Runs can be concurrent.
    Simulated,
}

/// The reason why a stage cannot run a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given}; allowed: {allowed}")]
pub struct CannotRun {
    /// The feature of the plan that the stage cannot run, or what the machine lacks.
    pub given: String,
    /// The plans that the stage can run, or a remedy for what the machine lacks.
    pub allowed: String,
    /// True if another machine may run the plan.
    pub is_machines: bool,
}

impl CannotRun {
    /// An error of the plan.
    pub fn new(given: impl Into<String>, allowed: impl Into<String>) -> Self {
        CannotRun { given: given.into(), allowed: allowed.into(), is_machines: false }
    }

    /// An error of this machine.
    pub fn lacking(given: impl Into<String>, allowed: impl Into<String>) -> Self {
        CannotRun { is_machines: true, ..CannotRun::new(given, allowed) }
    }
}

/// A run that failed.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The stage cannot run this plan, or the machine lacks something that the plan needs. Another
    /// plan may run.
    #[error(transparent)]
    Plan(#[from] CannotRun),
    /// The machine failed, or fairwire has a fault.
    #[error("{0}")]
    Machine(String),
}

impl From<RunError> for Failed {
    fn from(error: RunError) -> Self {
        Failed::Machine(error.to_string())
    }
}

impl Failed {
    /// The reason why a checked plan cannot run. This also covers failures of the machine.
    pub fn why(self) -> CannotRun {
        match self {
            Failed::Plan(why) => why,
            Failed::Machine(what) => CannotRun::new(what, "a plan that can be built"),
        }
    }
}
