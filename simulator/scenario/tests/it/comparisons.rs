//! Expectations relative to another discipline are judged by the differences under the same seeds.

use fairwire_metrics::record::{Estimate, Report};
use fairwire_metrics::summary::{Under, difference_of};
use fairwire_scenario::{
    Judgement, Overrides, Relation, Scenario, ScenarioError, judge, parse, report, run_all,
};
use std::sync::atomic::AtomicBool;

fn read(expect: &str, seeds: &str, chosen: &[&str]) -> Result<Scenario, ScenarioError> {
    let text = format!(
        "format = 2\nname = \"beside\"\nduration = \"6 s\"\nwarm_up = \"1 s\"\n\
         disciplines = [\"tail-drop\", {{ drr = {{}}, label = \"fair\" }}, \"red\"]\n\
         [link]\nrate = \"4 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"60 packets\"\n\
         [[flow]]\ngroup = \"tcp\"\ncount = 3\nsource = \"bulk\"\ntcp = {{ profile = \"ns2-2002\" }}\nstart = \"0 s..300 ms\"\n\
         access = {{ rate = \"100 Mbit/s\", delay = \"1 ms\" }}\n\
         [[flow]]\ngroup = \"udp\"\nsource = {{ cbr = {{ rate = \"3 Mbit/s\" }} }}\n\
         access = {{ rate = \"100 Mbit/s\", delay = \"1 ms\" }}\n\
         [[expect]]\n{expect}\n"
    );
    let disciplines = chosen.iter().map(|name| name.to_string()).collect();
    parse("beside.toml", &text, &Overrides { set: Vec::new(), disciplines, seeds: Some(seeds.into()) })
}

fn judged(expect: &str, seeds: &str, chosen: &[&str]) -> (Vec<Judgement>, Report) {
    let scenario = read(expect, seeds, chosen).expect("a good one");
    let outcome = run_all(&scenario, 0, &|_| (), &AtomicBool::new(false)).expect("it can be built");
    let report = report(&scenario, outcome);
    (judge(scenario.spec(), &report), report)
}

fn shares(report: &Report, discipline: &str) -> Vec<f64> {
    let runs = report.runs.iter().filter(|run| run.discipline == discipline);
    runs.map(|run| run.fairness.group_share["tcp"]).collect()
}

#[test]
fn a_measure_exceeds_another_if_the_entire_difference_interval_does() {
    let expect = |margin: f64| {
        format!(
            "discipline = \"fair\"\nmeasure = \"share.tcp\"\nmore_than = {{ discipline = \"tail-drop\", margin = {margin} }}"
        )
    };
    let (judgements, report) = judged(&expect(0.0), "1..=4", &[]);
    let [judgement] = &judgements[..] else { panic!("{judgements:?}") };
    let against = judgement.against.as_ref().expect("a comparison");
    assert_eq!(
        (&*against.discipline, &*against.measure, against.side),
        ("tail-drop", "share.tcp", Relation::More)
    );
    let Some(Estimate { mean, half_width_95: Some(half), .. }) = against.difference else {
        panic!("{against:?}")
    };
    // `half` is the standard error of the differences times t(0.975, 3) = 3.18245.
    let pairs = shares(&report, "fair").into_iter().zip(shares(&report, "tail-drop"));
    let differences: Vec<f64> = pairs.map(|(fair, plain)| fair - plain).collect();
    let by_hand = differences.iter().sum::<f64>() / 4.0;
    let squares: f64 = differences.iter().map(|difference| (difference - by_hand).powi(2)).sum();
    assert!((mean - by_hand).abs() < 1e-12);
    assert!((half - 3.182_45 * (squares / 3.0 / 4.0).sqrt()).abs() < 1e-5);
    assert!(judgement.is_met() && mean > 0.2, "DRR shields TCP from the CBR flow: {judgement}");
    let met = |margin| judged(&expect(margin), "1..=4", &[]).0[0].is_met();
    assert!(met(mean - half - 1e-6) && !met(mean - half + 1e-6), "{judgement}");
}

#[test]
fn a_miss_has_its_amount_and_reason() {
    let expect = "discipline = \"fair\"\nmeasure = \"share.tcp\"\nless_than = { discipline = \"tail-drop\" }\nbecause = \"a test\"";
    let (judgements, _) = judged(expect, "1..=3", &[]);
    let text = judgements[0].to_string();
    assert!(!judgements[0].is_met());
    assert!(
        text.contains("expected less than share.tcp of tail-drop; the difference over the seeds is"),
        "{text}"
    );
    assert!(text.contains(" ± ") && text.ends_with(" (a test)"), "{text}");
    let (judgements, _) = judged(expect, "3", &[]);
    assert!(judgements[0].to_string().contains("the difference under the one seed is"), "no interval");
}

#[test]
fn an_expectation_of_all_covers_all_others_and_its_bounds() {
    let expect =
        "measure = \"drops\"\nmin = 0\nless_than = { discipline = \"tail-drop\", measure = \"share.udp\" }";
    let (judgements, _) = judged(expect, "1..=2", &[]);
    let compared: Vec<(&str, bool)> =
        judgements.iter().map(|j| (j.discipline.as_str(), j.against.is_some())).collect();
    let each = |name| [(name, false), (name, true)];
    assert_eq!(
        compared,
        [each("tail-drop"), each("fair"), each("red")].concat(),
        "another measure of itself, too"
    );
    let same = "measure = \"drops\"\nless_than = { discipline = \"tail-drop\" }";
    let failed = |chosen: &[&str]| -> Vec<String> {
        judged(same, "1..=2", chosen).0.into_iter().map(|judgement| judgement.discipline).collect()
    };
    assert_eq!(failed(&[]), ["fair", "red"], "not of itself");
    assert_eq!(failed(&["fair", "red"]), [""; 0], "what was not run is not compared");
    assert_eq!(failed(&["fair", "tail-drop"]), ["fair"]);
}

#[test]
fn a_cause_without_drops_counts_as_zero() {
    let (_, report) = judged("measure = \"drops\"\nmin = 0", "1..=2", &[]);
    let under = |discipline| Under { measure: "drops.early", discipline };
    let difference = difference_of(&report.runs, under("tail-drop"), under("red")).expect("both were run");
    assert!(difference.mean < 0.0, "RED alone drops early: {difference:?}");
    let missing = Under { measure: "drops", discipline: "blue" };
    assert_eq!(difference_of(&report.runs, under("red"), missing), None);
}
