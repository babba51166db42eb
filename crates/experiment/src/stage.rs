//! Places where an experiment can be run.

use crate::lab::Lab;
use crate::plan::Plan;
use crate::sim::Sim;
use fairwire_core::spelling;
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::Scenario;
use std::sync::atomic::{AtomicBool, Ordering};

/// A place where an experiment can be run.
pub trait Stage: Sync {
    /// Its name, as typed after `--on` and as it stands in results.
    fn name(&self) -> &'static str;

    /// What it is, in one line.
    fn summary(&self) -> &'static str;

    /// Can it run this plan, here and now? Nothing is started.
    ///
    /// # Errors
    /// What of the plan it cannot run, or what is missing on this machine.
    fn can_run(&self, plan: &Plan<'_>) -> Result<(), Why>;

    /// Runs the plan under `seed`. `progress` is told the fraction done, some times a second.
    ///
    /// Returns `None` when `stop` became true; nothing is left behind then either.
    ///
    /// # Errors
    /// When the run failed. Others may still succeed.
    fn run(
        &self,
        plan: &Plan<'_>,
        seed: u64,
        progress: &mut dyn FnMut(f64),
        stop: &AtomicBool,
    ) -> Result<Option<RunRecord>, Failed>;
}

/// Why a stage cannot run a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given}; allowed: {allowed}")]
pub struct Why {
    /// What of the plan it is, or what is missing.
    pub given: String,
    /// What the stage can run, or what to do.
    pub allowed: String,
}

impl Why {
    /// `given` is what it is; `allowed` what could be there.
    pub fn new(given: impl Into<String>, allowed: impl Into<String>) -> Self {
        Why { given: given.into(), allowed: allowed.into() }
    }
}

/// A run that failed.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The plan, or something that the machine lacks: another plan may run.
    #[error(transparent)]
    Plan(#[from] Why),
    /// The machine, or we.
    #[error("{0}")]
    Machine(String),
}

/// Every stage, in the order in which they are listed to people.
pub fn all() -> &'static [&'static dyn Stage] {
    const LAB: &Lab = &Lab { congestion_control: None };
    &[&Sim, LAB]
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

/// What [`run`] tells while it works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Told<'a> {
    /// A run begins: the discipline, and the seed.
    Begun(&'a str, u64),
    /// This fraction of all runs is done.
    Reached(f64),
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
    tell: &mut dyn FnMut(Told<'_>),
    stop: &AtomicBool,
) -> Result<Vec<RunRecord>, Failed> {
    let seeds = scenario.spec().seeds.as_slice();
    let all = (disciplines.len() * seeds.len()) as f64;
    let mut runs = Vec::new();
    for &discipline in disciplines {
        let plan = Plan { scenario, discipline };
        for &seed in seeds {
            if stop.load(Ordering::Relaxed) {
                return Ok(runs);
            }
            tell(Told::Begun(plan.label(), seed));
            let done = runs.len() as f64;
            let mut progress = |fraction: f64| tell(Told::Reached((done + fraction) / all));
            match stage.run(&plan, seed, &mut progress, stop)? {
                Some(run) => runs.push(RunRecord { stage: stage.name().into(), ..run }),
                None => return Ok(runs),
            }
        }
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_that_is_not_there_is_refused_with_the_nearest_name() {
        let error = find("labb").map(Stage::name).unwrap_err().to_string();
        assert_eq!(error, "there is no stage `labb`; did you mean `lab`?; allowed: sim, lab");
        assert_eq!(find("sim").map(Stage::name), Ok("sim"));
    }
}
