//! A scenario's disciplines that stages do not run, and the scenario's `[[agree]]` tables that are
//! not judged.

use crate::plan::Plan;
use crate::stage::{CannotRun, Failed, Stage};
use fairwire_metrics::agreement::{Tolerance, is_called};
use fairwire_metrics::record::Report;
use fairwire_scenario::Scenario;

/// Disciplines of a scenario that a stage does not run, all for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The stage.
    pub stage: &'static str,
    /// The indices of the disciplines in the scenario's list.
    pub disciplines: Vec<usize>,
    /// The reason.
    pub why: CannotRun,
}

impl LeftOut {
    /// The omitted disciplines of `scenario` and the reason, in words.
    pub fn in_words(&self, scenario: &Scenario) -> String {
        let LeftOut { stage, disciplines, why } = self;
        let all = &scenario.spec().disciplines;
        let labels: Vec<&str> = disciplines.iter().map(|place| all[*place].label()).collect();
        let of = if labels.len() == all.len() { String::new() } else { format!(" of {}", labels.join(", ")) };
        let here = if why.is_machines { " here" } else { "" };
        format!("{stage} cannot run this{of}{here}: {why}")
    }
}

/// The disciplines of `scenario` that `stage` cannot run, by reason.
pub fn left_out(stage: &dyn Stage, scenario: &Scenario) -> Vec<LeftOut> {
    let mut found: Vec<LeftOut> = Vec::new();
    for discipline in 0..scenario.spec().disciplines.len() {
        let Err(why) = stage.can_run(&Plan { scenario, discipline }).map_err(Failed::why) else { continue };
        match found.iter_mut().find(|known| known.why == why) {
            Some(known) => known.disciplines.push(discipline),
            None => found.push(LeftOut { stage: stage.name(), disciplines: vec![discipline], why }),
        }
    }
    found
}

/// Measures on which a stage should agree, but that are judged under no discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unjudged<'a> {
    /// The stage.
    pub stage: &'a str,
    /// The measures, by their names in the scenario.
    pub measures: Vec<&'a str>,
    /// The reason.
    pub because: Because<'a>,
}

/// Why a measure is not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because<'a> {
    /// The stage or the first stage did not run the disciplines.
    LeftOut(&'a LeftOut),
    /// One of the two stages lacks the measure, or the measure cannot differ. No measure can differ
    /// if neither stage delivered anything. A fraction cannot differ with only one group.
    NotMeasured,
}

/// The `[[agree]]` tables of `scenario` that a stage in `report` judged under none of their
/// disciplines. Either these disciplines were `left_out`, or the measure is missing.
///
/// Excludes tables whose disciplines were left out only because this machine lacks something.
pub fn unjudged<'a>(
    scenario: &'a Scenario,
    report: &'a Report,
    left_out: &'a [LeftOut],
) -> Vec<Unjudged<'a>> {
    let Some((first, others)) = report.manifest.stages.split_first() else { return Vec::new() };
    let labels: Vec<&str> = scenario.spec().disciplines.iter().map(|compared| compared.label()).collect();
    let mut found: Vec<Unjudged<'a>> = Vec::new();
    for tolerance in scenario.tolerances() {
        let is_meant = |name: &&String| tolerance.stage.is_none_or(|own| own == *name);
        for stage in others.iter().filter(is_meant).map(String::as_str) {
            let cause = |discipline: usize| {
                let of = |name: &str| {
                    left_out.iter().find(|one| one.stage == name && one.disciplines.contains(&discipline))
                };
                of(stage).or_else(|| of(first))
            };
            let meant = (0..labels.len()).filter(|place| tolerance.is_under(labels[*place], stage));
            let because = match meant.map(cause).collect::<Option<Vec<&LeftOut>>>() {
                Some(causes) => causes.into_iter().find(|cause| !cause.why.is_machines).map(Because::LeftOut),
                None => is_unmeasured(&tolerance, report, stage).then_some(Because::NotMeasured),
            };
            let Some(because) = because else { continue };
            match found.iter_mut().find(|known| known.stage == stage && known.because == because) {
                Some(known) => known.measures.push(tolerance.measure),
                None => found.push(Unjudged { stage, measures: vec![tolerance.measure], because }),
            }
        }
    }
    found
}

fn is_unmeasured(tolerance: &Tolerance<'_>, report: &Report, stage: &str) -> bool {
    let is_run = runs_beside_first(report, stage).any(|label| tolerance.is_under(label, stage));
    let is_judged = report.agreement.iter().any(|one| {
        one.verdict.is_some()
            && one.stage == stage
            && tolerance.is_under(&one.discipline, stage)
            && is_called(&one.measure, tolerance.measure)
    });
    is_run && !is_judged
}

fn runs_beside_first<'a>(report: &'a Report, stage: &'a str) -> impl Iterator<Item = &'a str> {
    let on = |stage: &'a str| report.summary.iter().filter(move |summary| summary.stage == stage);
    let first = report.manifest.stages.first().map_or("", String::as_str);
    on(stage)
        .map(|summary| summary.discipline.as_str())
        .filter(move |label| on(first).any(|summary| summary.discipline == *label))
}

/// A stage without a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncompared<'a> {
    /// The stage.
    pub stage: &'a str,
    /// Did the stage run a discipline that the first stage also ran?
    pub is_run: bool,
}

/// The stages of `report` on which nothing was judged, except the first, which is the reference.
pub fn uncompared(report: &Report) -> Vec<Uncompared<'_>> {
    let has_verdict =
        |stage: &str| report.agreement.iter().any(|one| one.stage == stage && one.verdict.is_some());
    let others = report.manifest.stages.iter().skip(1).map(String::as_str);
    let silent = others.filter(|stage| !has_verdict(stage));
    silent
        .map(|stage| Uncompared { stage, is_run: runs_beside_first(report, stage).next().is_some() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compared;
    use fairwire_scenario::Outcome;

    fn scenario(agree: &str) -> Scenario {
        let jain = "[[agree]]\nmeasure = \"jain\"\ntolerance = 0.1\nbecause = \"it is a test\"\n";
        compared::tests::scenario(&format!("{jain}{agree}"))
    }

    fn left(stage: &'static str, disciplines: &[usize], is_machines: bool) -> LeftOut {
        let why = CannotRun { is_machines, ..CannotRun::new("it", "another") };
        LeftOut { stage, disciplines: disciplines.to_vec(), why }
    }

    fn stages(agree: &str, left_out: &[LeftOut]) -> Vec<String> {
        let scenario = scenario(agree);
        let mut report =
            fairwire_scenario::report(&scenario, Outcome { runs: Vec::new(), interrupted: false });
        report.manifest.stages = ["sim", "lab", "linux"].map(String::from).to_vec();
        let found = unjudged(&scenario, &report, left_out);
        let why = |one: &Unjudged<'_>| match one.because {
            Because::LeftOut(left) => left.stage,
            Because::NotMeasured => "want of it",
        };
        found.iter().map(|one| format!("{} for {}", one.stage, why(one))).collect()
    }

    #[test]
    fn an_agreement_is_judged_if_a_discipline_of_it_runs_on_both_stages() {
        let nothing: [&str; 0] = [];
        assert_eq!(stages("", &[]), nothing);
        assert_eq!(stages("", &[left("linux", &[1], false)]), nothing, "tail-drop is judged");
        assert_eq!(stages("discipline = \"tail-drop\"", &[left("linux", &[1], false)]), nothing);
        assert_eq!(stages("discipline = \"faba\"", &[left("linux", &[1], false)]), ["linux for linux"]);
        assert_eq!(stages("", &[left("linux", &[0, 1], false)]), ["linux for linux"]);
        assert_eq!(stages("stage = \"lab\"", &[left("linux", &[0, 1], false)]), nothing);
        let apart = [left("linux", &[0], false), left("sim", &[1], false)];
        assert_eq!(stages("stage = \"linux\"", &apart), ["linux for linux"], "each is run on one of them");
    }

    #[test]
    fn no_stage_is_judged_if_the_first_runs_nothing() {
        assert_eq!(stages("", &[left("sim", &[0, 1], false)]), ["lab for sim", "linux for sim"]);
    }

    #[test]
    fn tools_that_only_this_machine_lacks_are_no_failure() {
        let nothing: [&str; 0] = [];
        assert_eq!(stages("", &[left("linux", &[0, 1], true)]), nothing);
        assert_eq!(stages("", &[left("sim", &[0, 1], true)]), nothing);
        let both = [left("linux", &[0], true), left("linux", &[1], false)];
        assert_eq!(stages("", &both), ["linux for linux"]);
    }
}
