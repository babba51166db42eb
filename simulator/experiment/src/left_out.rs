//! What stages do not run of a scenario, and which of its `[[agree]]` are not judged for that
//! reason.

use crate::plan::Plan;
use crate::stage::{CannotRun, Failed, Stage};
use fairwire_scenario::Scenario;

/// Disciplines of a scenario that a stage does not run, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The stage.
    pub stage: &'static str,
    /// Their places in the scenario's list.
    pub disciplines: Vec<usize>,
    /// Why.
    pub why: CannotRun,
}

/// What `stage` cannot run of `scenario`, by reason.
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

/// Measures on which a stage was to agree, and which are judged under no discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unjudged<'a> {
    /// The stage.
    pub stage: &'a str,
    /// The measures, as the scenario names them.
    pub measures: Vec<&'a str>,
    /// What was not run of them, by this stage or by the one with which it is compared.
    pub because: &'a LeftOut,
}

/// The `[[agree]]` of `scenario` that are judged under none of their disciplines on one of their
/// stages, because of what was `left_out`. The first of `stages` is the one with which the others
/// are compared. Not those for which this machine alone lacks something.
pub fn unjudged<'a>(
    scenario: &'a Scenario,
    stages: &[&'a str],
    left_out: &'a [LeftOut],
) -> Vec<Unjudged<'a>> {
    let Some((first, others)) = stages.split_first() else { return Vec::new() };
    let labels: Vec<&str> = scenario.spec().disciplines.iter().map(|compared| compared.label()).collect();
    let mut found: Vec<Unjudged<'a>> = Vec::new();
    for tolerance in scenario.tolerances() {
        for stage in others.iter().copied().filter(|name| tolerance.stage.is_none_or(|own| own == *name)) {
            let cause = |discipline: usize| {
                let of = |name: &str| {
                    left_out.iter().find(|one| one.stage == name && one.disciplines.contains(&discipline))
                };
                of(stage).or_else(|| of(first))
            };
            let meant = (0..labels.len())
                .filter(|place| tolerance.discipline.is_none_or(|label| label == labels[*place]));
            let Some(causes) = meant.map(cause).collect::<Option<Vec<&LeftOut>>>() else { continue };
            let Some(because) = causes.into_iter().find(|cause| !cause.why.is_machines) else { continue };
            match found.iter_mut().find(|known| known.stage == stage && known.because == because) {
                Some(known) => known.measures.push(tolerance.measure),
                None => found.push(Unjudged { stage, measures: vec![tolerance.measure], because }),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_scenario::{Overrides, parse};

    /// Two disciplines, and what stages are to agree on.
    fn scenario(agree: &str) -> Scenario {
        let text = format!(
            "format = 2\nname = \"short\"\nduration = \"1 s\"\nseeds = 1\ndisciplines = [\"tail-drop\", \"faba\"]\n\
             [link]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"9 packets\"\n\
             [[flow]]\ngroup = \"a\"\nsource = \"bulk\"\naccess = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
             [[agree]]\nmeasure = \"jain\"\ntolerance = 0.1\nbecause = \"it is a test\"\n{agree}"
        );
        parse("short.toml", &text, &Overrides::default()).expect("a scenario")
    }

    fn left(stage: &'static str, disciplines: &[usize], is_machines: bool) -> LeftOut {
        let why = CannotRun { is_machines, ..CannotRun::new("it", "another") };
        LeftOut { stage, disciplines: disciplines.to_vec(), why }
    }

    /// The stages on which something is not judged, `sim` being the first.
    fn stages(agree: &str, left_out: &[LeftOut]) -> Vec<String> {
        let scenario = scenario(agree);
        let found = unjudged(&scenario, &["sim", "lab", "linux"], left_out);
        found.iter().map(|one| format!("{} for {}", one.stage, one.because.stage)).collect()
    }

    #[test]
    fn an_agree_is_judged_where_one_of_its_disciplines_is_run_on_both_stages() {
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
    fn where_the_first_stage_runs_nothing_no_other_is_judged() {
        assert_eq!(stages("", &[left("sim", &[0, 1], false)]), ["lab for sim", "linux for sim"]);
    }

    #[test]
    fn what_this_machine_alone_lacks_is_no_failure() {
        let nothing: [&str; 0] = [];
        assert_eq!(stages("", &[left("linux", &[0, 1], true)]), nothing);
        assert_eq!(stages("", &[left("sim", &[0, 1], true)]), nothing);
        let both = [left("linux", &[0], true), left("linux", &[1], false)];
        assert_eq!(stages("", &both), ["linux for linux"]);
    }
}
