//! What a place is where an experiment can be run.

use crate::plan::Plan;
use crate::watch::Watch;
use fairwire_metrics::record::RunRecord;
use std::sync::atomic::AtomicBool;

/// A place where an experiment can be run.
pub trait Stage: Sync {
    /// Its name, as typed after `--on` and in results.
    fn name(&self) -> &'static str;

    /// What it is, in one line.
    fn summary(&self) -> &'static str;

    /// Does it keep a time of its own, so that its packets are simulated?
    fn is_simulated(&self) -> bool {
        false
    }

    /// Can several of its runs go on side by side, and give what they give one by one? Each keeps
    /// about one core busy.
    fn can_run_beside_others(&self) -> bool {
        false
    }

    /// Can it run this plan, here and now? Whatever is started to find that out has ended when this
    /// returns.
    ///
    /// # Errors
    /// What of the plan it cannot run, or what is missing on this machine.
    fn can_run(&self, plan: &Plan<'_>) -> Result<(), CannotRun>;

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

impl Failed {
    /// The same, of a plan that was only to be looked at.
    pub fn why(self) -> CannotRun {
        match self {
            Failed::Plan(why) => why,
            Failed::Machine(what) => CannotRun::new(what, "a plan that can be built"),
        }
    }
}
