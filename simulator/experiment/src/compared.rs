//! The agreement of stages.

use fairwire_metrics::agreement::{Distance, Tolerance, agreement, is_called};
use fairwire_metrics::record::{Agreement, RunRecord};
use fairwire_scenario::Scenario;
use std::collections::BTreeSet;

/// The tolerances for a stage and discipline for which the scenario sets none. docs/stages.md gives
/// the reasons.
const DEFAULTS: [Tolerance<'static>; 5] = [
    Tolerance::of("fraction", 0.03),
    Tolerance::of("utilization", 0.05),
    Tolerance {
        allowed: Some(Distance { relative: 0.1, ..Distance::of(0.0) }),
        ..Tolerance::shown("goodput_bps")
    },
    Tolerance::shown("jain"),
    Tolerance::shown("sojourn_mean_s"),
];

/// The measures shown in addition to those for which the scenario sets tolerances.
const SHOWN: [Tolerance<'static>; 3] =
    [Tolerance::shown("jain"), Tolerance::shown("sojourn_mean_s"), Tolerance::shown("utilization")];

/// The agreement of each stage with `against` under each discipline, by the tolerances of
/// `scenario` or else the defaults. Measures that cannot differ are omitted. The fraction cannot
/// differ if there is only one group. No measure can differ if both stages delivered nothing.
pub fn compared(scenario: &Scenario, runs: &[RunRecord], against: &str) -> Vec<Agreement> {
    let own = scenario.tolerances();
    let delivers = |run: &&RunRecord| run.flows.iter().any(|flow| flow.throughput_bps > 0.0);
    let [places, served]: [BTreeSet<(&str, &str)>; 2] =
        [runs.iter().map(place).collect(), runs.iter().filter(delivers).map(place).collect()];
    let mut tolerances = Vec::new();
    for (discipline, stage) in places {
        let is_own = own.iter().any(|tolerance| tolerance.is_under(discipline, stage));
        let of: &[Tolerance<'static>] = if is_own { &SHOWN } else { &DEFAULTS };
        let here = |tolerance: &Tolerance<'static>| Tolerance {
            stage: Some(stage),
            discipline: Some(discipline),
            ..*tolerance
        };
        tolerances.extend(of.iter().map(here));
    }
    tolerances.extend(own);
    let mut further = scenario.further_measures();
    further.push("goodput_bps".into());
    let mut found = agreement(runs, against, &tolerances, &further);
    let groups: BTreeSet<&str> = scenario.spec().flow.iter().map(|flow| flow.group.as_str()).collect();
    let is_empty = |one: &Agreement| groups.len() == 1 && is_called(&one.measure, "fraction");
    let is_served = |one: &Agreement| {
        [&one.stage, against].iter().any(|stage| served.contains(&(one.discipline.as_str(), stage)))
    };
    found.retain(|one| is_served(one) && !is_empty(one));
    found
}

fn place(run: &RunRecord) -> (&str, &str) {
    (&run.discipline, &run.stage)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Because, Uncompared, uncompared, unjudged};
    use fairwire_metrics::judge::Verdict;
    use fairwire_metrics::record::Report;
    use fairwire_scenario::{Outcome, Overrides, parse, run_single};
    use std::ops::ControlFlow;

    pub(crate) fn scenario(agree: &str) -> Scenario {
        let text = format!(
            "format = 2\nname = \"one\"\nduration = \"2 s\"\nseeds = 1\ndisciplines = [\"tail-drop\", \"faba\"]\n\
             [link]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"9 packets\"\n\
             [[flow]]\ngroup = \"a\"\nsource = \"bulk\"\ntcp = {{ profile = \"ns2-2002\" }}\naccess = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n{agree}"
        );
        parse("one.toml", &text, &Overrides::default()).expect("a scenario")
    }

    fn report(scenario: &Scenario, parts: &[(&str, f64)]) -> Report {
        let run = |(stage, part): &(&str, f64)| {
            let run = run_single(scenario, 0, 1, &mut |_| ControlFlow::Continue(()), None);
            let mut run = run.expect("it runs").expect("to its end");
            run.stage = stage.to_string();
            run.links[0].utilization = *part;
            run.flows[0].throughput_bps = part * 1e6;
            run.flows[0].goodput_bps = part * 0.9e6;
            run
        };
        let runs: Vec<RunRecord> = parts.iter().map(run).collect();
        let agreement = compared(scenario, &runs, parts[0].0);
        let mut report = fairwire_scenario::report(scenario, Outcome { runs, interrupted: false });
        report.agreement = agreement;
        report.manifest.stages = parts.iter().map(|(stage, _)| stage.to_string()).collect();
        report
    }

    fn verdicts(agree: &str, sim: f64, lab: f64) -> Vec<(String, Verdict)> {
        let report = report(&scenario(agree), &[("sim", sim), ("lab", lab)]);
        let judged = report.agreement.into_iter().filter_map(|one| Some((one.measure, one.verdict?)));
        judged.collect()
    }

    fn by_default(utilization: Verdict, goodput: Verdict) -> Vec<(String, Verdict)> {
        let of = |(measure, verdict): (&str, Verdict)| (measure.into(), verdict);
        [("utilization", utilization), ("goodput_bps", goodput)].map(of).to_vec()
    }

    #[test]
    fn a_group_that_uses_a_different_share_of_the_link_differs() {
        use Verdict::{Fails, Holds};
        assert_eq!(verdicts("", 0.05, 0.99), by_default(Fails, Fails));
        assert_eq!(verdicts("", 0.99, 0.05), by_default(Fails, Fails));
        assert_eq!(verdicts("", 0.99, 0.95), by_default(Holds, Holds));
        assert_eq!(verdicts("", 0.99, 0.93), by_default(Fails, Holds), "six points of the link");
        assert_eq!(verdicts("", 0.10, 0.07), by_default(Holds, Fails), "three tenths of a little");
        assert_eq!(verdicts("", 0.0, 0.5), by_default(Fails, Fails));
    }

    #[test]
    fn agreements_on_other_stages_or_disciplines_keep_the_defaults() {
        let entry = |more: &str| {
            format!("[[agree]]\nmeasure = \"jain\"\ntolerance = 1\nbecause = \"it is a test\"\n{more}")
        };
        let differs = by_default(Verdict::Fails, Verdict::Fails);
        for more in ["stage = \"linux\"", "stage = \"sim\"", "discipline = \"faba\""] {
            assert!(verdicts(&entry(more), 0.05, 0.99).ends_with(&differs), "{more}");
        }
        assert_eq!(verdicts(&entry(""), 0.05, 0.99), [("jain".into(), Verdict::Holds)]);
    }

    #[test]
    fn stages_that_delivered_nothing_are_not_compared() {
        let silent = report(&scenario(""), &[("sim", 0.0), ("lab", 0.0), ("linux", 0.5)]);
        assert_eq!(uncompared(&silent), [Uncompared { stage: "lab", is_run: true }]);
        assert!(silent.agreement.iter().all(|one| one.stage == "linux"), "{:?}", silent.agreement);
        let alone = report(&scenario(""), &[("sim", 0.5)]);
        assert_eq!(uncompared(&alone), []);
    }

    #[test]
    fn an_agreement_on_an_unmeasured_quantity_is_not_judged() {
        let entry = |measure: &str| {
            format!("[[agree]]\nmeasure = \"{measure}\"\ntolerance = 1\nbecause = \"it is a test\"")
        };
        let of_one_group = scenario(&entry("fraction"));
        let open = report(&of_one_group, &[("sim", 0.9), ("lab", 0.9)]);
        assert_eq!(unjudged(&of_one_group, &open, &[])[0].because, Because::NotMeasured);
        let scenario = scenario(&entry("sojourn_p95_s"));
        let mut report = report(&scenario, &[("sim", 0.9), ("lab", 0.9)]);
        assert_eq!(unjudged(&scenario, &report, &[]), []);
        report.agreement.retain(|one| one.measure != "sojourn_p95_s");
        let open = unjudged(&scenario, &report, &[]);
        assert_eq!((open[0].stage, open[0].because), ("lab", Because::NotMeasured));
        assert_eq!(uncompared(&report), [Uncompared { stage: "lab", is_run: true }]);
    }
}
