//! Realistic links.

use fairwire_core::Duration;
use fairwire_core::units::Amount;
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{Overrides, Scenario, judge, load, network, parse, report, run_all};
use std::path::Path;
use std::sync::atomic::AtomicBool;

const TEXT: &str = "format = 2\nname = \"links\"\nduration = \"10 s\"\nseeds = 1\ndisciplines = [\"tail-drop\"]\n\
    [link]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nbuffer = \"2 bdp\"\n\
    [[flow]]\ngroup = \"tcp\"\ncount = 2\nsource = \"bulk\"\ntcp = { profile = \"ns2-2002\" }\nrtt = [\"60 ms\", \"100 ms\"]\naccess = { rate = \"1 Gbit/s\" }\n\
    [[flow]]\ngroup = \"udp\"\nsource = { cbr = { rate = \"4 Mbit/s\", packet = \"1000 B\" } }\n\
    access = { rate = \"1 Gbit/s\", delay = \"10 ms\" }\n";

fn read(text: &str, set: &[&str]) -> Scenario {
    let set = set.iter().map(ToString::to_string).collect();
    parse("links.toml", text, &Overrides { set, ..Overrides::default() })
        .unwrap_or_else(|error| panic!("{error}"))
}

fn run(scenario: &Scenario) -> RunRecord {
    let outcome = run_all(scenario, 1, &|_| (), &AtomicBool::new(false)).expect("it can be built");
    outcome.runs.into_iter().next().expect("one run")
}

fn access(scenario: &Scenario, group: &str, seed: u64) -> Vec<Duration> {
    let plan = network(scenario, 0, seed).expect("it can be built");
    let groups = plan.groups.into_iter().filter(|plan| plan.name == group);
    groups.flat_map(|plan| plan.members).map(|member| member.access_delay).collect()
}

fn buffers(scenario: &Scenario) -> Vec<Amount> {
    scenario.queues().map(|queue| queue.buffer).collect()
}

#[test]
fn access_links_take_the_rest_of_the_round_trip() {
    let scenario = read(TEXT, &[]);
    // Without the link's delay, the round trips would be 20 and 60 ms. Each round trip has four
    // access delays.
    assert_eq!(access(&scenario, "tcp", 1), [5, 15].map(Duration::from_ms));
    let drawn = read(TEXT, &["flow.tcp.count=200", "flow.tcp.rtt='40 ms..80 ms'"]);
    let delays = access(&drawn, "tcp", 1);
    assert!(delays.iter().all(|delay| *delay < Duration::from_ms(10)), "{delays:?}");
    let mean = delays.iter().map(|delay| delay.secs()).sum::<f64>() / 200.0;
    assert!((mean - 0.005).abs() < 0.0009, "{mean}"); // sd 10 ms / sqrt(12 x 200) = 0.2 ms; 4 of them
    let back = read(TEXT, &["return={ delay = '10 ms' }"]);
    assert_eq!(access(&back, "tcp", 1), [7500, 17_500].map(Duration::from_us), "30 ms there and back");
}

#[test]
fn a_round_trip_shorter_than_the_route_is_refused_with_both() {
    let set = vec!["flow.tcp.rtt='30 ms..90 ms'".to_owned()];
    let error = parse("links.toml", TEXT, &Overrides { set, ..Overrides::default() });
    let error = error.expect_err("the way takes 40 ms").to_string();
    assert!(error.contains("`flow.tcp.rtt` is 30 ms") && error.contains("40 ms there and back"), "{error}");
}

#[test]
fn a_bandwidth_delay_product_uses_the_mean_round_trip() {
    // The round trips of 60, 80 and 100 ms have a mean of 80 ms, so 2 bdp are 160 ms.
    let scenario = read(TEXT, &[]);
    assert_eq!(buffers(&scenario), [Amount::Time(Duration::from_ms(160))]);
    let both = read(TEXT, &["link.buffer=0.5 bdp", "return={}"]);
    assert_eq!(buffers(&both), [Amount::Time(Duration::from_ms(40)); 2], "that of ACKs is of their flows");
    let typed = read(TEXT, &["link.buffer=160 ms"]);
    assert_eq!(run(&scenario), run(&typed));
    let tree = "format = 2\nname = \"tree\"\nduration = \"1 s\"\nseeds = 1\ndisciplines = [\"tail-drop\"]\n\
        [network.fat-tree]\nk = 4\nroute = \"destination\"\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"1 bdp\"\n\
        [[flow]]\ngroup = \"all\"\npattern = { stride = { by = 8 } }\nsource = \"bulk\"\ntcp = { profile = \"ns2-2002\" }\nrtt = \"20 ms\"\n\
        access = { rate = \"100 Mbit/s\" }\n";
    assert!(buffers(&read(tree, &[])).iter().all(|buffer| *buffer == Amount::Time(Duration::from_ms(20))));
}

#[test]
fn losses_on_a_wire_are_counted_and_drawn_separately() {
    let set = ["flow.udp.source.cbr.rate=1 Mbit/s", "flow.tcp.start=9999 ms", "link.impair.loss=0.2"];
    let lossy = run(&read(TEXT, &set));
    let wire = lossy.links[0].wire.expect("it has faults");
    assert_eq!(lossy.flows.iter().map(|flow| flow.packets_lost).sum::<Option<u64>>(), Some(wire.lost));
    assert_eq!(wire.duplicated + wire.held_back, 0);
    let part = wire.lost as f64 / lossy.links[0].packets_out as f64;
    assert!((part - 0.2).abs() < 0.045, "{part}"); // of 1250 packets and more: 4 x sqrt(0.16 / 1250)
    let more = [&set[..], &["link.impair.jitter={ exponential = '2 ms' }"]].concat();
    let udp = |run: &RunRecord| run.flows[2].packets_lost;
    assert_eq!(udp(&run(&read(TEXT, &more))), udp(&lossy), "jitter draws from a stream of its own");
    let plain = run(&read(TEXT, &["link.impair={}"]));
    assert_eq!(plain, run(&read(TEXT, &[])), "an empty table is a wire without faults");
}

#[test]
fn an_access_link_loses_sent_packets_of_its_group_only() {
    let set =
        ["flow.udp.source.cbr.rate=1 Mbit/s", "flow.tcp.start=9999 ms", "flow.udp.access.impair.loss=0.2"];
    let [lossy, plain] = [&set[..], &set[..2]].map(|set| run(&read(TEXT, set)));
    assert_eq!(lossy.links[1].name, "udp-access");
    let wire = lossy.links[1].wire.expect("it has faults");
    assert_eq!(lossy.flows[2].packets_lost, Some(wire.lost));
    assert_eq!(lossy.flows[0].packets_lost.unwrap_or(0), 0, "of the other group nothing is lost");
    let part = wire.lost as f64 / lossy.links[1].packets_out as f64;
    assert!((part - 0.2).abs() < 0.045, "{part}"); // of 1250 packets and more: 4 x sqrt(0.16 / 1250)
    assert_eq!(lossy.links[0].packets_out, plain.links[0].packets_out, "it is behind the queue");
    assert_eq!(lossy.links[1].drops, plain.links[0].drops, "nothing is dropped");
    let empty = run(&read(TEXT, &["flow.udp.access.impair={}"]));
    assert_eq!(empty, run(&read(TEXT, &[])), "an empty table is a wire without faults");
}

#[test]
fn an_outage_stops_the_link_and_a_handover_changes_the_delay() {
    let capacity = |changes: &str| {
        let scenario = read(TEXT, &[&format!("link.changes=[{changes}]")]);
        run(&scenario).links[0].rate_bps
    };
    assert_eq!(capacity("{ at = '2 s', down = '1 s' }"), 9e6);
    assert_eq!(capacity("{ at = '2 s', down = '1 s', rate = '5 Mbit/s' }"), 5.5e6);
    assert_eq!(capacity("{ at = '2 s', delay = '50 ms' }"), 10e6);
    let sends = |changes: &str| {
        let set = ["flow.tcp.tcp.window=20", "flow.tcp.rtt=60 ms", "flow.udp.start=9 s", changes];
        run(&read(TEXT, &set)).flows[0].throughput_bps
    };
    let (near, far) = (sends("seeds=1"), sends("link.changes=[{ at = '1 ms', delay = '80 ms' }]"));
    assert!((near / far - 2.0).abs() < 0.1, "60 ms against 120 ms: {near} {far}");
}

#[test]
fn a_lossy_outage_does_not_affect_the_queue_and_bad_ones_are_refused() {
    let lossy = "link.changes=[{ at = '4 s', down = { for = '2 s', packets = 'lost' } }]";
    // In the outage of 2 s, only UDP sends, 500 packets per second, so 1000 are lost.
    let udp = ["flow.tcp.start=9 s", "flow.udp.start=0 s"];
    let (plain, out) = (run(&read(TEXT, &udp)), run(&read(TEXT, &[&udp[..], &[lossy]].concat())));
    let lost = out.links[0].wire.expect("a wire that loses").lost;
    assert!(lost.abs_diff(1000) <= 1, "{lost}");
    assert_eq!((out.links[0].rate_bps, &out.links[0].drops), (10e6, &plain.links[0].drops));
    let refused = |down: &str| {
        let set = vec![format!("link.changes=[{{ at = '4 s', down = {down} }}]")];
        parse("links.toml", TEXT, &Overrides { set, ..Overrides::default() }).expect_err(down).to_string()
    };
    let negative: &[&str] = &["--set:1:", "`-2 s`", "is negative", "allowed"];
    let cases: [(&str, &[&str]); 7] = [
        ("{ for = '2 s', packets = 'dropped' }", &["--set:1:61", "`dropped`", "allowed: `held` or `lost`"]),
        ("{ for = '-2 s', packets = 'lost' }", negative),
        ("'-2 s'", negative),
        ("{ packets = 'lost' }", &["--set:1:", "`for`"]),
        ("{ for = '2 s', loses = true }", &["--set:1:", "`loses`", "`for`", "`packets`"]),
        ("2", &["--set:1:", "a time such as \"2 s\"", "packets = \"lost\""]),
        ("{ for = '0 s' }", &["changes.#1.down.for", "0 ns", "no time", "a time above 0"]),
    ];
    for (down, parts) in cases {
        let error = refused(down);
        assert!(parts.iter().all(|part| error.contains(part)), "{down}: {error}");
    }
}

#[test]
fn the_examples_meet_their_expectations() {
    for name in [
        "faulty-wire",
        "handover",
        "lte",
        "dsl",
        "satellite",
        "autorate",
        "autorate-steps",
        "autorate-beside-keystrokes",
    ] {
        let path = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let scenario =
            load(Path::new(&path), &Overrides::default()).unwrap_or_else(|error| panic!("{error}"));
        let outcome = run_all(&scenario, 0, &|_| (), &AtomicBool::new(false)).expect("it can be built");
        let judgements = judge(scenario.spec(), &report(&scenario, outcome));
        assert!(!judgements.is_empty(), "{name}");
        for judgement in judgements {
            assert!(judgement.is_met(), "{name}: {judgement}");
        }
    }
}
