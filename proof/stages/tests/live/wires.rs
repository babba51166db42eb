//! Wires with faults, on stages with real senders.

use super::{LAB, NEVER, contest, run};
use fairwire_experiment::sim::Sim;
use fairwire_experiment::{Plan, Stage};
use fairwire_metrics::record::{RunRecord, WireRecord};
use fairwire_scenario::Scenario;
use fairwire_stages::gateway::Gateway;
use fairwire_stages::linux::Linux;

/// A contest with datagrams that never queue: 1000 a second for two measured seconds.
fn datagrams(impair: &str) -> Scenario {
    contest(
        "tail-drop",
        &[
            "flow.tcp.count=1",
            "flow.tcp.tcp={ segment = '460 B', window = 1 }",
            "flow.udp.start=0 s",
            "flow.udp.source.cbr={ rate = '4 Mbit/s', packet = '500 B' }",
            "duration=3 s",
            "warm_up=1 s",
            &format!("link.impair={impair}"),
        ],
    )
}

fn wire_of(record: &RunRecord) -> WireRecord {
    record.links[0].wire.expect("the wire has faults")
}

fn held(stage: &dyn Stage, scenario: &Scenario) -> RunRecord {
    run(stage, scenario, &mut |_| {}, &NEVER).expect("it can be run").expect("it is not stopped")
}

/// All stages draw a wire's faults from the same random streams, but send different numbers of
/// packets. So fractions are compared.
pub(crate) fn a_wire_loses_the_same_part() {
    let scenario = datagrams("{ loss = 0.02, to_bad = 0.02, to_good = 0.3, duplicate = 0.1 }");
    for stage in [&Sim as &dyn Stage, LAB, &Gateway] {
        let record = held(stage, &scenario);
        let (wire, sent) = (wire_of(&record), record.links[0].packets_out as f64);
        let lost: u64 = record.flows.iter().map(|flow| flow.packets_lost.expect("it is known")).sum();
        assert_eq!(lost, wire.lost, "{}", stage.name());
        // Single losses take 2 %. Bursts take 0.02 / (0.02 + 0.3) of the rest. The tolerance is 4
        // standard deviations of under 1.2 %.
        let part = wire.lost as f64 / sent;
        assert!((part - 0.081).abs() < 0.048, "{}: {part}", stage.name());
        // The tolerance is 4 standard deviations of 0.7 %.
        let twice = wire.duplicated as f64 / (sent - wire.lost as f64);
        assert!((twice - 0.1).abs() < 0.028, "{}: {twice}", stage.name());
    }
}

pub(crate) fn netem_has_the_faults_of_a_wire() {
    let scenario = datagrams("{ to_bad = 0.05, to_good = 0.5, reorder = 0.2, reorder_by = '30 ms' }");
    let plan = Plan { scenario: &scenario, discipline: 0 };
    if let Err(why) = Linux.can_run(&plan) {
        return fairwire_testing::skipped_for_want_of_a_peer(format_args!("netem beside a wire: {why}"));
    }
    let record = held(&Linux, &scenario);
    let (wire, sent) = (wire_of(&record), record.links[0].packets_out as f64);
    let lost = wire.lost as f64 / sent;
    // Bursts take 0.05 / (0.05 + 0.5) of the packets. The tolerance is 4 standard deviations of 1.1
    // %.
    assert!((lost - 1.0 / 11.0).abs() < 0.044, "{lost}");
    let late = wire.held_back as f64 / (sent - wire.lost as f64);
    assert!((late - 0.2).abs() < 0.036, "{late}"); // the standard deviation is 0.9 %
    for (impair, named) in [
        ("{ jitter = { uniform = '4 ms' } }", "`jitter` that keeps the order"),
        ("{ loss = 0.1, duplicate = 0.1 }", "`duplicate` beside `loss`"),
    ] {
        let scenario = datagrams(impair);
        let why = Linux.can_run(&Plan { scenario: &scenario, discipline: 0 }).unwrap_err().to_string();
        assert!(why.contains(named), "{impair}: {why}");
    }
}
