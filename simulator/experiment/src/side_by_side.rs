//! A scenario on several stages, side by side.

use crate::compared::compared;
use crate::left_out::{LeftOut, left_out};
use crate::stage::{Clock, Failed, Stage};
use fairwire_metrics::record::{Mode, Report, RunRecord};
use fairwire_scenario::{Outcome, Scenario};
use std::sync::atomic::{AtomicBool, Ordering};

/// The stages on which a scenario is run.
#[derive(Clone, Copy)]
pub struct Stages<'a> {
    /// The stages in the order of results. The first is the reference for the others.
    pub all: &'a [&'a dyn Stage],
    /// True if results name stages; false if the simulator runs by default.
    pub are_named: bool,
}

/// The results of a scenario on its stages.
pub struct SideBySide {
    /// The finished runs.
    pub report: Report,
    /// The omitted parts.
    pub left_out: Vec<LeftOut>,
    /// The stages that failed while others continued, with the reasons for the failures.
    pub failed: Vec<(&'static str, String)>,
    /// The number of runs planned.
    pub expected: usize,
}

/// Runs a scenario on one stage, under the disciplines with these indices. The last argument is the
/// index of the stage.
pub type RunOn<'a> = dyn FnMut(&dyn Stage, &[usize], usize) -> Result<Vec<RunRecord>, Failed> + 'a;

impl<'a> Stages<'a> {
    /// The names of the stages in results. There are none if `are_named` is false.
    pub fn names(self) -> impl Iterator<Item = &'static str> + 'a {
        self.all.iter().filter(move |_| self.are_named).map(|stage| stage.name())
    }

    /// The name of `stage` in results, which is empty if `are_named` is false.
    pub fn name_of(self, stage: &dyn Stage) -> &'static str {
        if self.are_named { stage.name() } else { "" }
    }

    /// Calls `run` for `scenario` on each stage, with the disciplines that the stage can run. After
    /// `stop` becomes true, no further stage starts.
    pub fn run(self, scenario: &Scenario, stop: &AtomicBool, run: &mut RunOn<'_>) -> SideBySide {
        let mut left: Vec<LeftOut> = self.all.iter().flat_map(|stage| left_out(*stage, scenario)).collect();
        let able: Vec<Vec<usize>> = self.all.iter().map(|stage| able(scenario, *stage, &left)).collect();
        let mut runs: Vec<RunRecord> = Vec::new();
        let mut failed = Vec::new();
        for (at, (stage, disciplines)) in self.all.iter().zip(&able).enumerate() {
            if disciplines.is_empty() || stop.load(Ordering::Relaxed) {
                continue;
            }
            match run(*stage, disciplines, at) {
                Ok(more) => {
                    let stage = self.name_of(*stage);
                    runs.extend(more.into_iter().map(|run| RunRecord { stage: stage.into(), ..run }));
                }
                Err(Failed::Plan(why)) => {
                    left.push(LeftOut { stage: stage.name(), disciplines: disciplines.clone(), why });
                }
                Err(Failed::Machine(what)) => failed.push((stage.name(), what)),
            }
        }
        let mut notes: Vec<String> =
            failed.iter().map(|(stage, what)| format!("{stage} did not finish: {what}")).collect();
        notes.extend(left.iter().map(|one| one.in_words(scenario)));
        let expected = able.iter().map(Vec::len).sum::<usize>() * scenario.spec().seeds.as_slice().len();
        let interrupted = stop.load(Ordering::Relaxed) && runs.len() < expected;
        let report = self.report(scenario, Outcome { runs, interrupted }, notes);
        SideBySide { report, left_out: left, failed, expected }
    }

    /// The report. A discipline's runs are adjacent, in the order of the stages.
    fn report(self, scenario: &Scenario, mut outcome: Outcome, notes: Vec<String>) -> Report {
        let names: Vec<&str> = self.names().collect();
        let mut agreement = Vec::new();
        if let [first, _, ..] = names[..] {
            let labels: Vec<&str> =
                scenario.spec().disciplines.iter().map(|compared| compared.label()).collect();
            let place = |run: &RunRecord| labels.iter().position(|label| *label == run.discipline);
            outcome.runs.sort_by_key(|run| (place(run), names.iter().position(|name| *name == run.stage)));
            agreement = compared(scenario, &outcome.runs, first);
        }
        let mut report = fairwire_scenario::report(scenario, outcome);
        report.agreement = agreement;
        report.manifest.stages = names.into_iter().map(str::to_owned).collect();
        report.manifest.notes.extend(notes);
        if !self.all.iter().any(|stage| stage.about().clock == Clock::Simulated) {
            report.manifest.mode = Mode::Live;
        }
        report
    }
}

fn able(scenario: &Scenario, stage: &dyn Stage, left: &[LeftOut]) -> Vec<usize> {
    let is_left =
        |place: &usize| left.iter().any(|one| one.stage == stage.name() && one.disciplines.contains(place));
    (0..scenario.spec().disciplines.len()).filter(|place| !is_left(place)).collect()
}
