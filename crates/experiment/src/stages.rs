//! The stages that there are, and how a scenario is run on one.

use crate::gateway::Gateway;
use crate::kernel::Kernel;
use crate::lab::Lab;
use crate::linux::Linux;
use crate::ns2::Ns2;
use crate::plan::Plan;
use crate::sim::Sim;
use crate::stage::{Failed, Stage, Why};
use crate::watch::Watch;
use fairwire_core::{Duration, spelling};
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{Row, Scenario, Which};
use std::sync::atomic::{AtomicBool, Ordering};

/// Every stage, in the order in which they are listed to people.
pub fn all() -> &'static [&'static dyn Stage] {
    const LAB: &Lab = &Lab { congestion_control: None };
    &[&Sim, LAB, &Gateway, &Linux, &Kernel, &Ns2]
}

/// The stage called `name`.
///
/// # Errors
/// When there is none: what was given, what is allowed, and the nearest right spelling.
pub fn find(name: &str) -> Result<&'static dyn Stage, Why> {
    all().iter().copied().find(|stage| stage.name() == name).ok_or_else(|| {
        let names: Vec<&str> = all().iter().map(|stage| stage.name()).collect();
        let hint = spelling::hint(name, names.iter().copied());
        Why::new(format!("there is no stage `{name}`{hint}"), names.join(", "))
    })
}

/// Follows the runs of a scenario on a stage.
pub trait WatchRuns {
    /// Invoked when a run begins: who watches it. `which` is as in the simulator, so runs of all stages have the same places.
    fn begins(&mut self, which: Which<'_>);

    /// Invoked some times a second with the fraction of all runs that is done.
    fn reached(&mut self, fraction: f64);

    /// How often values are sampled; `None` for never.
    fn every(&self) -> Option<Duration>;

    /// Invoked with each value sampled in the run at hand: see [`Watch::sample`].
    fn sample(&mut self, at: Duration, row: Row<'_>);

    /// Invoked when the run at hand was finished.
    fn finished(&mut self);
}

/// Runs `scenario` on `stage` under each of its `disciplines` (places in its list) and seeds, one after the other.
///
/// What is finished is returned when `stop` becomes true.
///
/// # Errors
/// When a run failed: the runs before it are lost with it.
pub fn run(
    stage: &dyn Stage,
    scenario: &Scenario,
    disciplines: &[usize],
    watch: &mut dyn WatchRuns,
    stop: &AtomicBool,
) -> Result<Vec<RunRecord>, Failed> {
    let seeds = scenario.spec().seeds.as_slice();
    let all = (disciplines.len() * seeds.len()) as f64;
    let mut runs = Vec::new();
    for &discipline in disciplines {
        let plan = Plan { scenario, discipline };
        for (at, &seed) in seeds.iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                return Ok(runs);
            }
            watch.begins(Which { index: discipline * seeds.len() + at, discipline: plan.label(), seed });
            let mut one = One { done: runs.len() as f64, all, watch };
            match stage.run(&plan, seed, &mut one, stop)? {
                Some(run) => runs.push(RunRecord { stage: stage.name().into(), ..run }),
                None => return Ok(runs),
            }
            watch.finished();
        }
    }
    Ok(runs)
}

/// One of many runs.
struct One<'a> {
    done: f64,
    all: f64,
    watch: &'a mut dyn WatchRuns,
}

impl Watch for One<'_> {
    fn reached(&mut self, fraction: f64) {
        self.watch.reached((self.done + fraction) / self.all);
    }
    fn every(&self) -> Option<Duration> {
        self.watch.every()
    }
    fn sample(&mut self, at: Duration, row: Row<'_>) {
        self.watch.sample(at, row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_that_is_not_there_is_refused_with_the_nearest_name() {
        let error = find("labb").map(Stage::name).unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no stage `labb`; did you mean `lab`?; allowed: sim, lab, gateway, linux, kernel, ns2"
        );
        assert_eq!(find("sim").map(Stage::name), Ok("sim"));
    }
}
