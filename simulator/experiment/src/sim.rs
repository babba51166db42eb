//! The packet simulator as a stage.

use crate::plan::Plan;
use crate::stage::{CannotRun, Failed, Stage};
use crate::watch::Watch;
use fairwire_core::Time;
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::run_single;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// The packet simulator: the same bits for the same seed, on every machine.
#[derive(Clone, Copy, Debug)]
pub struct Sim;

impl Stage for Sim {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn summary(&self) -> &'static str {
        "the packet simulator: every scenario, the same bits for the same seed"
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn can_run_beside_others(&self) -> bool {
        true // its clock is its own
    }

    fn can_run(&self, _: &Plan<'_>) -> Result<(), CannotRun> {
        Ok(()) // a scenario was checked for the simulator when it was read
    }

    /// Without samples: the simulator's own observers give them, with packets and more.
    fn run(
        &self,
        plan: &Plan<'_>,
        seed: u64,
        watch: &mut dyn Watch,
        stop: &AtomicBool,
    ) -> Result<Option<RunRecord>, Failed> {
        let duration = plan.duration().secs();
        let mut go_on = |now: Time| {
            watch.reached((now.secs() / duration).min(1.0));
            if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        run_single(plan.scenario, plan.discipline, seed, &mut go_on, None)
            .map_err(|error| Failed::Machine(error.to_string()))
    }
}
