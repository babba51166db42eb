//! The stages that there are, and how a scenario is run on one.

use crate::lab::Lab;
use crate::linux::Linux;
use crate::plan::Plan;
use crate::sim::Sim;
use crate::stage::{Failed, Stage, Why};
use fairwire_core::spelling;
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::Scenario;
use std::sync::atomic::{AtomicBool, Ordering};

/// Every stage, in the order in which they are listed to people.
pub fn all() -> &'static [&'static dyn Stage] {
    const LAB: &Lab = &Lab { congestion_control: None };
    &[&Sim, LAB, &Linux]
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
        assert_eq!(error, "there is no stage `labb`; did you mean `lab`?; allowed: sim, lab, linux");
        assert_eq!(find("sim").map(Stage::name), Ok("sim"));
    }
}
