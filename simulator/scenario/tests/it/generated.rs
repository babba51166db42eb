//! Generated networks.

use fairwire_metrics::summary::summarize;
use fairwire_scenario::{Outcome, Overrides, Scenario, judge, parse, report, run_all};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

fn read(text: &str, set: &[&str]) -> Scenario {
    let set = set.iter().map(|text| text.to_string()).collect();
    parse("net.toml", text, &Overrides { set, ..Overrides::default() })
        .unwrap_or_else(|error| panic!("{error}"))
}

fn run(scenario: &Scenario) -> Outcome {
    run_all(scenario, 0, &|_| {}, &AtomicBool::new(false)).expect("it runs")
}

const FAT_TREE: &str = include_str!("../../../../scenarios/fat-tree.toml");
const DUMBBELLS: &str = include_str!("../../../../scenarios/dumbbells.toml");

fn whole() -> String {
    FAT_TREE.replace("count = 8 #", "#")
}

fn datagrams() -> String {
    let cbr = "source = { cbr = { rate = \"10 Mbit/s\", packet = \"1000 B\" } }";
    whole().replace("tcp = { profile = \"modern\" }\n", "").replace("source = \"bulk\"", cbr)
}

#[test]
fn the_examples_run_and_a_reduced_run_meets_their_expectations() {
    for text in [FAT_TREE, DUMBBELLS] {
        let scenario = read(text, &["seeds=[1]"]);
        let outcome = run(&scenario);
        let judgements = judge(scenario.spec(), &report(&scenario, outcome));
        assert!(!judgements.is_empty());
        judgements.iter().for_each(|judgement| assert!(judgement.is_met(), "{judgement}"));
    }
}

/// Under any stride, no two flows share a link.
#[test]
fn every_stride_over_a_fat_tree_gets_the_full_rate_without_a_drop() {
    for by in [1, 2, 3, 7, 8, 15] {
        let stride = format!("flow.all.pattern.stride.by={by}");
        let short = ["expect=[]", "seeds=[1]", "duration=1 s", "warm_up=100 ms", "flow.all.start=0 s"];
        let scenario = read(&datagrams(), &[&short[..], &[&stride]].concat());
        assert_eq!(scenario.spec().flow[0].count(), 16, "a flow for each pair");
        for run in run(&scenario).runs {
            let dropped: u64 = run.flows.iter().map(|flow| flow.packets_dropped).sum();
            assert_eq!((run.flows.len(), dropped), (16, 0));
            // The tolerance is two of 1125 packets, one at the start and one at the end.
            assert!(run.flows.iter().all(|flow| (flow.throughput_bps / 10e6 - 1.0).abs() < 0.002), "{by}");
        }
    }
}

/// An edge switch has three hosts and two upward paths. Two of its flows share a path, and one has
/// a path alone.
#[test]
fn more_hosts_than_uplinks_share_the_uplinks() {
    let sets = [
        "expect=[]",
        "seeds=[1]",
        "disciplines=[\"drr\"]",
        "network.fat-tree.hosts=3",
        "flow.all.pattern.stride.by=12",
    ];
    let scenario = read(&datagrams(), &sets);
    let outcome = run(&scenario);
    let mut got: Vec<f64> = outcome.runs[0].flows.iter().map(|flow| flow.throughput_bps / 1e6).collect();
    got.sort_by(f64::total_cmp);
    let (slow, fast) = got.split_at(16);
    assert!(slow.iter().all(|mbit| (4.9..=5.1).contains(mbit)), "{got:?}");
    assert!(fast.iter().all(|mbit| (9.9..=10.0).contains(mbit)), "{got:?}");
    assert!(outcome.runs[0].fairness.worst_share > 0.98, "max-min shares know the ways");
}

#[test]
fn the_narrower_of_inner_and_outer_links_determines_fair_shares() {
    let shared = |outer: &str| {
        let outer = format!("network.dumbbells.outer_rate={outer}");
        let scenario = read(DUMBBELLS, &["expect=[]", "seeds=[1]", "disciplines=[\"drr\"]", &outer]);
        let measures = &summarize(&run(&scenario).runs)[0].measures;
        (measures["throughput_bps.across"].mean / 6e6, measures["worst_share"].mean)
    };
    for (outer, each) in [("100 Mbit/s", 5.0), ("12 Mbit/s", 2.0)] {
        let (mbit, worst) = shared(outer);
        assert!((mbit / each - 1.0).abs() < 0.03 && worst > 0.95, "{outer}: {mbit} of {each}, {worst}");
    }
}

#[test]
fn flows_are_distributed_to_pairs_and_numbered_consecutively() {
    let counted = |count: &str, pattern: &str| {
        let sets = [
            "expect=[]",
            "seeds=[1]",
            "disciplines=[\"tail-drop\"]",
            "duration=100 ms",
            "warm_up=10 ms",
            "flow.all.start=0 s",
        ];
        let scenario = read(&whole(), &[&sets[..], &[count, pattern]].concat());
        let outcome = run(&scenario);
        let names: BTreeSet<String> =
            outcome.runs[0].flows.iter().map(|flow| flow.name.to_string()).collect();
        let links = scenario.links().filter(|link| link.starts_with('h')).count();
        (outcome.runs[0].flows.len(), names.len(), names.contains("all.1"), links)
    };
    let all = "flow.all.pattern=all-to-all";
    assert_eq!(counted("flow.all.count=5", "flow.all.pattern=stride"), (5, 5, true, 10), "and ways back");
    assert_eq!(counted("flow.all.count=40", "flow.all.pattern=stride"), (40, 40, true, 16));
    assert_eq!(counted("flow.all.count=240", all), (240, 240, true, 16));
    assert_eq!(read(&whole(), &[all]).spec().flow[0].count(), 240, "a flow for each pair");
}

/// The first eight of 16 pairs have three flows each, and the others two.
#[test]
fn a_late_flow_keeps_its_number() {
    let scenario = read(
        &whole(),
        &[
            "expect=[]",
            "seeds=[1]",
            "disciplines=[\"tail-drop\"]",
            "flow.all.count=40",
            "flow.all.access.delay=[\"1 ms\", \"1 ms\", \"100 ms\"]",
        ],
    );
    let flows = &run(&scenario).runs[0].flows;
    let names: Vec<String> = flows.iter().map(|flow| flow.name.to_string()).collect();
    let expected: Vec<String> = (1..=40).map(|number| format!("all.{number}")).collect();
    assert_eq!(names, expected);
    let mbit = |number: usize| flows[number - 1].throughput_bps / 1e6;
    assert!(mbit(3) < mbit(1) && mbit(3) < mbit(2), "the third of the first host's has the longer way");
}

#[test]
fn a_single_flow_goes_between_the_hosts_that_it_names() {
    let text = whole().replace("pattern = { stride = { by = 8 } }", "from = \"h1\"\nto = \"h4\"");
    let scenario = read(&text, &["expect=[]"]);
    let links: Vec<&str> = scenario.links().collect();
    // The hosts are in one pod, so each direction passes one aggregation switch.
    assert_eq!(links, ["h1-e1", "h4-e2", "e1-h1", "e2-h4", "e1-a2", "e2-a1", "a1-e1", "a2-e2"]);
}

#[test]
fn a_pattern_needs_a_generated_network() {
    let text = include_str!("../../../../scenarios/selfish-flow.toml");
    let set = vec!["flow.tcp.pattern=stride".to_owned()];
    let error =
        parse("one.toml", text, &Overrides { set, ..Overrides::default() }).expect_err("it is refused");
    assert!(
        error.to_string().contains("`flow.tcp.pattern` is given, but it works only with `network`"),
        "{error}"
    );
}

/// Each host sends to a host in another pod, so every packet crosses six links.
#[test]
fn each_wire_of_a_generated_network_loses_its_share() {
    let set = ["expect=[]", "seeds=[1]", "duration=1 s", "warm_up=100 ms", "flow.all.start=0 s"];
    let lossy = ["network.fat-tree.impair.loss=0.1"];
    for run in run(&read(&datagrams(), &[&set[..], &lossy].concat())).runs {
        let lost: u64 = run.flows.iter().filter_map(|flow| flow.packets_lost).sum();
        let on_links: u64 = run.links.iter().filter_map(|link| link.wire).map(|wire| wire.lost).sum();
        assert_eq!(lost, on_links);
        // The wires lose 1 - 0.9^6 = 0.469 of 18 000 packets. The bound covers 4 standard
        // deviations of 0.4 %, and packets in flight.
        let part = lost as f64 / run.flows.iter().map(|flow| flow.packets_sent).sum::<u64>() as f64;
        assert!((part - 0.469).abs() < 0.02, "{part}");
    }
}

const INCAST: &str = "format = 2\nname = \"incast\"\nduration = \"20 ms\"\nseeds = 1\ndisciplines = [\"tail-drop\"]\n\
    [network.fat-tree]\nk = 4\nrate = \"1 Gbit/s\"\ndelay = \"5 us\"\nbuffer = \"100 packets\"\n\
    [[flow]]\ngroup = \"senders\"\ncount = 12\npattern = { incast = { from = 5 } }\n\
    source = { transfers = { size = { fixed = \"64 kB\" }, think = { fixed = \"10 s\" } } }\n\
    tcp = { control = \"dctcp\", min_rto = \"10 ms\" }\naccess = { rate = \"1 Gbit/s\", delay = \"1 us\" }\n";

#[test]
fn an_incast_queues_at_its_receiver_whose_link_comes_first_in_results() {
    let scenario = read(INCAST, &[]);
    for run in run(&scenario).runs {
        assert_eq!((run.fairness.group_share.len(), run.flows.len()), (1, 12));
        let link = &run.links[0];
        assert_eq!(link.name, "e1-h1");
        assert!(run.links.iter().all(|other| other.utilization <= link.utilization));
        // The 12 transfers of 64 kB, with headers, take 6.31 of 20 ms, so `utilization` is 0.316.
        assert!(link.utilization > 0.3 && link.backlog.mean_packets > 1.0, "{link:?}");
    }
    // With routes by destination, all traffic to one host queues at one core link.
    let old = run(&read(INCAST, &["network.fat-tree.route=destination"])).runs;
    let name = |run: &fairwire_metrics::record::RunRecord| {
        run.links.iter().max_by_key(|link| link.backlog.max_packets).map(|link| link.name.clone())
    };
    assert_eq!(name(&old[0]).as_deref(), Some("c1-a1"));
}

#[test]
fn an_incast_of_missing_hosts_is_refused() {
    let refused = |set: &str| {
        let overrides = Overrides { set: vec![set.into()], ..Overrides::default() };
        parse("net.toml", INCAST, &overrides).expect_err("there is no such host").to_string()
    };
    let error = refused("flow.senders.pattern.incast.to=17");
    assert!(
        error.contains("pattern.incast.to` is 17") && error.contains("1 to 16: there are 16 hosts"),
        "{error}"
    );
    let error = refused("flow.senders.pattern.incast.from=1");
    assert!(
        error.contains("pattern.incast.from` is 1") && error.contains("another host than `to`"),
        "{error}"
    );
}
