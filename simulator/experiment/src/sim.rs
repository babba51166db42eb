//! The packet simulator as a stage.

use crate::plan::Plan;
use crate::runs::WatchRuns;
use crate::stage::{About, Clock, Failed, Stage};
use crate::watch::Watch;
use fairwire_core::Time;
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{Scenario, run_single, run_some};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// The packet simulator: bit-identical for the same seed on every machine.
#[derive(Clone, Copy, Debug)]
pub struct Sim;

impl Stage for Sim {
    fn about(&self) -> About {
        About {
            name: "sim",
            summary: "the packet simulator: every scenario, the same bits for the same seed",
            clock: Clock::Simulated,
        }
    }

    fn can_run(&self, _: &Plan<'_>) -> Result<(), Failed> {
        Ok(()) // the parser checked the scenario for the simulator
    }

    /// Runs the plan without samples. [`Stage::run_all`] provides samples and records through the
    /// simulator's own observers.
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
        Ok(run_single(plan.scenario, plan.discipline, seed, &mut go_on, None)?)
    }

    fn run_all(
        &self,
        scenario: &Scenario,
        disciplines: &[usize],
        jobs: usize,
        watch: &dyn WatchRuns,
        stop: &AtomicBool,
    ) -> Result<Vec<RunRecord>, Failed> {
        let reached = |fraction| watch.reached(fraction);
        Ok(run_some(scenario, disciplines, jobs, &reached, stop, watch.observers())?.runs)
    }
}
