//! Aggregates in scenarios.

use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{
    Observer, Observers, Outcome, Overrides, RunId, Scenario, ScenarioError, View, judge, parse, report,
    run_all, run_all_observed,
};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

const GOOD: &str = include_str!("../../../../scenarios/fair-contracts.toml");

fn read(set: &[&str]) -> Result<Scenario, ScenarioError> {
    let set = set.iter().map(|text| text.to_string()).collect();
    parse("fair-contracts.toml", GOOD, &Overrides { set, ..Overrides::default() })
}

fn run(set: &[&str]) -> Vec<RunRecord> {
    let scenario = read(set).unwrap_or_else(|error| panic!("{error}"));
    run_all(&scenario, 0, &|_| {}, &AtomicBool::new(false)).expect("it can be built").runs
}

const FIXED: [&str; 2] = ["aggregate.small.marker=token-bucket", "aggregate.large.marker=token-bucket"];

#[test]
fn only_adaptive_targets_bring_each_aggregate_near_its_fair_share() {
    let scenario = read(&["seeds=1"]).expect("it is good");
    let runs = run(&["seeds=1"]);
    let outcome = Outcome { runs: runs.clone(), interrupted: false };
    for judgement in judge(scenario.spec(), &report(&scenario, outcome)) {
        assert!(judgement.is_met(), "{judgement}");
    }
    let [small, large] = &runs[0].aggregates[..] else { panic!("two aggregates") };
    assert_eq!(small.groups, ["small-tcp", "small-udp"]);
    assert!(
        (small.fair_share_bps - 10e6 / 6.0).abs() < 1.0 && (large.fair_share_bps - 50e6 / 6.0).abs() < 1.0
    );
    for aggregate in [small, large] {
        // At some ratios of marks, the edge alternates between a higher and a lower target.
        let ratio = aggregate.target_bps.expect("it adapts") / aggregate.fair_share_bps;
        assert!((0.8..1.25).contains(&ratio), "{aggregate:?}");
        assert!(aggregate.gain == aggregate.throughput_bps / aggregate.fair_share_bps);
    }
    let fixed = run(&[&["seeds=1"], &FIXED[..]].concat());
    let [unfair, _] = &fixed[0].aggregates[..] else { panic!("two aggregates") };
    assert!(unfair.target_bps.is_none() && unfair.gain > 1.5, "{unfair:?}"); // printed: 1.55 to 2.25
    assert!((small.gain - 1.0).abs() < (unfair.gain - 1.0).abs() / 2.0, "{} and {}", small.gain, unfair.gain);
}

#[derive(Default)]
struct Targets(Vec<f64>);

impl Observer for Targets {
    fn interval(&self) -> Option<fairwire_core::Duration> {
        Some(fairwire_core::Duration::from_secs(1))
    }
    fn sample(&mut self, view: &View<'_>) {
        let first = view.aggregates().next().expect("there are two");
        assert!(first.mark_estimate.is_some_and(|estimate| (0.0..=1.0).contains(&estimate)));
        self.0.push(first.target_bps.expect("it adapts"));
    }
}

#[derive(Default)]
struct All(Mutex<Vec<f64>>);

impl Observers for All {
    fn observe(&self, _: RunId<'_>, go: &mut dyn FnMut(Option<&mut dyn Observer>) -> bool) {
        let mut targets = Targets::default();
        go(Some(&mut targets));
        *self.0.lock().expect("one run") = targets.0;
    }
}

#[test]
fn a_target_starts_at_its_contract_and_moves_by_half_a_percent_a_second_at_most() {
    let scenario = read(&["seeds=1", "duration=60 s", "warm_up=10 s"]).expect("it is good");
    let all = All::default();
    let stop = AtomicBool::new(false);
    run_all_observed(&scenario, 1, &|_| {}, &stop, &all).expect("it can be built");
    let targets = all.0.into_inner().expect("one run");
    assert_eq!(targets.len(), 60);
    let most = 1.0001f64.powi(51); // 50 intervals in a second, and one more with some phases
    assert!(targets[0] >= 1e6 / most && targets[0] <= 1e6 * most, "{targets:?}");
    assert!(targets.windows(2).all(|pair| pair[1] / pair[0] < most && pair[0] / pair[1] < most));
    assert!(targets[59] > 1.2e6, "the link is under-subscribed, so targets rise: {targets:?}");
}

#[test]
fn a_further_aggregate_changes_no_draw_of_the_first() {
    let short = ["seeds=[1, 2]", "duration=20 s", "warm_up=5 s"];
    let runs = run(&short);
    assert_eq!(runs, run(&short));
    assert_ne!(runs[0].aggregates, runs[1].aggregates);
}

#[test]
fn both_cadences_and_both_kinds_of_steps_run() {
    let short = ["seeds=1", "duration=40 s", "warm_up=10 s"];
    let of = |set: &[&str]| run(&[&short, set].concat())[0].aggregates[0].clone();
    let additive = of(&[]);
    let compounded = of(&["aggregate.small.marker.adaptive-token-bucket.additive=false"]);
    // `over` raises the in-profile traffic above the link's rate, so that packets are marked.
    let over = "aggregate.large.target=12 Mbit/s";
    let [slides, tumbles] = ["sliding", "tumbling"]
        .map(|cadence| of(&[over, &format!("aggregate.small.estimator.cadence={cadence}")]));
    assert!(slides.in_profile_marked > 0 && slides != tumbles, "{slides:?} {tumbles:?}");
    // The recorded targets are means over time, after 25 s of growth on average. Each second,
    // `additive` grows by 0.5 % of the contract, and `compounded` by 0.5 % of itself.
    let (additive, compounded) = (additive.target_bps.unwrap_or(0.0), compounded.target_bps.unwrap_or(0.0));
    assert!(additive < compounded && additive > 1.1e6, "{additive} and {compounded}");
}

#[test]
fn a_group_without_a_queue_belongs_to_no_aggregate() {
    const WIRED: &str = r#"format = 2
name = "wired"
nodes = ["a", "b", "c"]
duration = "2 s"
disciplines = ["tail-drop"]
[[aggregate]]
name = "gold"
target = "1 Mbit/s"
[[link]]
from = "a"
to = "b"
rate = "2 Mbit/s"
delay = "1 ms"
wire = true
[[link]]
from = "b"
to = "c"
rate = "2 Mbit/s"
delay = "1 ms"
buffer = "20 packets"
[[flow]]
group = "cbr"
source = { cbr = { rate = "1 Mbit/s" } }
aggregate = "gold"
from = "a"
to = "b"
access = { rate = "100 Mbit/s", delay = "3 ms" }
"#;
    let read = |text: &str| parse("wired.toml", text, &Overrides::default()).map(drop);
    let message =
        read(WIRED).expect_err("its packets would have no colour, and its share no bound").to_string();
    for part in [
        "wired.toml:24:13",
        "`flow.cbr.aggregate` is `gold`",
        "this group passes no queue",
        "a link with a queue",
    ] {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
    let further = WIRED.replace("from = \"a\"\nto = \"b\"\naccess", "from = \"a\"\nto = \"c\"\naccess");
    assert!(read(&further).is_ok());
}
