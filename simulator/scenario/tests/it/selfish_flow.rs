//! The scenario `selfish-flow` gives the figures of ns-2, and meets its expectations.

use fairwire_scenario::{Overrides, judge, parse, report, run_all};
use std::sync::atomic::AtomicBool;

/// In a calibration with one seed, ns-2 2.35 gave TCP the share 0.558 under RED and 0.973 under
/// FABA. FABA's tolerance is wider, because ns-2 ran a separate transcription of the paper.
#[test]
fn tcp_gets_the_share_of_ns2_over_ten_seeds() {
    let text = include_str!("../../../../scenarios/selfish-flow.toml");
    let scenario = parse("selfish-flow.toml", text, &Overrides::default()).unwrap();
    let outcome = run_all(&scenario, 0, &|_| {}, &AtomicBool::new(false)).unwrap();
    assert_eq!(outcome.runs.len(), 30);
    let report = report(&scenario, outcome);
    let share = |discipline: &str| {
        let of = report.summary.iter().find(|summary| summary.discipline == discipline).expect("it was run");
        of.measures["share.tcp"].mean
    };
    assert!((share("red") - 0.558).abs() <= 0.02, "{}", share("red"));
    assert!((share("faba") - 0.973).abs() <= 0.03 && share("faba") >= 0.95, "{}", share("faba"));
    assert!(share("tail-drop") <= 0.62 && share("red") <= 0.62, "{}", share("tail-drop"));
    let judgements = judge(scenario.spec(), &report);
    assert_eq!(judgements.len(), 3);
    assert!(judgements.iter().all(|judgement| judgement.is_met()), "an expectation of the file failed");
}
