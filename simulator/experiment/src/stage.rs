//! What a place is where an experiment can be run.

use crate::plan::Plan;
use crate::runs::{WatchRuns, one_by_one};
use crate::watch::Watch;
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{RunError, Scenario};
use std::sync::atomic::AtomicBool;

/// A place where an experiment can be run.
pub trait Stage: Sync {
    /// What it is.
    fn about(&self) -> About;

    /// Its name, as typed after `--on` and in results.
    fn name(&self) -> &'static str {
        self.about().name
    }

    /// Can it run this plan, here and now? Whatever is started to find that out has ended when this
    /// returns.
    ///
    /// # Errors
    /// What of the plan it cannot run, or what is missing on this machine.
    fn can_run(&self, plan: &Plan<'_>) -> Result<(), Failed>;

    /// Runs the plan under `seed`. `watch` follows it.
    ///
    /// Returns `None` when `stop` became true; nothing is left behind then either.
    ///
    /// # Errors
    /// When the run failed. Others may still succeed.
    fn run(
        &self,
        plan: &Plan<'_>,
        seed: u64,
        watch: &mut dyn Watch,
        stop: &AtomicBool,
    ) -> Result<Option<RunRecord>, Failed>;

    /// Runs `scenario` under each of its `disciplines` (places in its list) and seeds: one after
    /// the other, or `jobs` at a time (0: one per core) where its [`Clock`] is no machine's.
    ///
    /// What is finished is returned when `stop` becomes true, in the order of disciplines and
    /// seeds. The caller names the stage in the records.
    ///
    /// # Errors
    /// When a run failed: no other begins then, and those that were finished are lost with it.
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
    /// Its name, as typed after `--on` and in results.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// By what its time passes.
    pub clock: Clock,
}

/// By what the time of a stage passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The clock of this machine. A run needs the machine for itself.
    Machine,
    /// A clock of its own, for real packets. Several runs can go on side by side, and give what
    /// they give one by one; each keeps about one core busy.
    Virtual,
    /// A clock of its own, for simulated packets. Runs can go on side by side, too.
    Simulated,
}

/// Why a stage cannot run a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given}; allowed: {allowed}")]
pub struct CannotRun {
    /// What of the plan it is, or what is missing.
    pub given: String,
    /// What the stage can run, or what to do.
    pub allowed: String,
    /// Is it this machine that lacks something, so that another may run the plan?
    pub is_machines: bool,
}

impl CannotRun {
    /// Of the plan: `given` is what it is; `allowed` what could be there.
    pub fn new(given: impl Into<String>, allowed: impl Into<String>) -> Self {
        CannotRun { given: given.into(), allowed: allowed.into(), is_machines: false }
    }

    /// Of this machine: `given` is what it lacks; `allowed` what to do.
    pub fn lacking(given: impl Into<String>, allowed: impl Into<String>) -> Self {
        CannotRun { is_machines: true, ..CannotRun::new(given, allowed) }
    }
}

/// A run that failed.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The plan, or something that the machine lacks: another plan may run.
    #[error(transparent)]
    Plan(#[from] CannotRun),
    /// The machine, or we.
    #[error("{0}")]
    Machine(String),
}

impl From<RunError> for Failed {
    fn from(error: RunError) -> Self {
        Failed::Machine(error.to_string())
    }
}

impl Failed {
    /// The same, of a plan that was only to be looked at.
    pub fn why(self) -> CannotRun {
        match self {
            Failed::Plan(why) => why,
            Failed::Machine(what) => CannotRun::new(what, "a plan that can be built"),
        }
    }
}
