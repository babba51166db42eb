//! Networks that are generated: what flows on them get, and what is refused.

use fairwire_metrics::summary::summarize;
use fairwire_scenario::{Outcome, Overrides, Scenario, judge, parse, report, run_all};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

fn read(text: &str, set: &[&str]) -> Scenario {
    let set = set.iter().map(|text| text.to_string()).collect();
    parse("net.toml", text, &Overrides { set, ..Overrides::default() })
        .unwrap_or_else(|error| panic!("{error}"))
}

fn refused(set: &[&str]) -> String {
    let set = set.iter().map(|text| text.to_string()).collect();
    parse("net.toml", &whole(), &Overrides { set, ..Overrides::default() })
        .map(|_| panic!("it was taken"))
        .unwrap_or_else(|error| error.to_string())
}

fn run(scenario: &Scenario) -> Outcome {
    run_all(scenario, 0, &|_| {}, &AtomicBool::new(false)).expect("it runs")
}

const FAT_TREE: &str = include_str!("../../../../scenarios/fat-tree.toml");
const DUMBBELLS: &str = include_str!("../../../../scenarios/dumbbells.toml");

/// The fat-tree with a flow for each pair.
fn whole() -> String {
    FAT_TREE.replace("count = 8 #", "#")
}

/// The same with data alone, of which each host sends as much as its link carries.
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

/// What fills the links of all hosts is delivered whole, under any stride, and nothing waits: no
/// two flows share a link.
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
            // Of 0.9 s a packet more or less at either end, of 1125.
            assert!(run.flows.iter().all(|flow| (flow.throughput_bps / 10e6 - 1.0).abs() < 0.002), "{by}");
        }
    }
}

/// With three hosts at each edge switch and two ways up, two of three destinations share a way: 24
/// flows of 10 Mbit/s over a stride of 12 have 10 and twice 5 Mbit/s.
#[test]
fn more_hosts_than_ways_up_share_these() {
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
fn the_narrower_of_inner_and_outer_links_says_what_is_fair() {
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
fn flows_are_dealt_out_to_the_pairs_and_numbered_through() {
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

/// The last of 40 flows over 16 pairs goes from the last host: the first eight pairs have three
/// flows each, the others two.
#[test]
fn a_flow_that_starts_late_is_the_one_of_its_number() {
    let scenario = read(
        &whole(),
        &[
            "expect=[]",
            "seeds=[1]",
            "disciplines=[\"tail-drop\"]",
            "flow.all.count=40",
            "flow.all.access.delay=[\"1 ms\", \"1 ms\", \"30 ms\"]",
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
    // In one pod, so by an aggregation switch: at the one for the second port there, and back for
    // the first.
    assert_eq!(links, ["h1-e1", "h4-e2", "e1-h1", "e2-h4", "e1-a2", "e2-a1", "a1-e1", "a2-e2"]);
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place() {
    for (sets, parts) in [
        (&["network.fat-tree.k=5"][..], &["--set:1:20", "`network.fat-tree.k` is 5", "an even number"][..]),
        (&["network.fat-tree.k=0"], &["`network.fat-tree.k` is 0", "a whole number from 2 to 64"]),
        (&["network.fat-tree.hosts=0"], &["`network.fat-tree.hosts` is 0", "from 1 to 1000"]),
        (&["network.fat-tree.kk=4"], &["unknown key `kk`"]),
        (&["network={ fat-tre = {} }"], &["unknown key `fat-tre`", "did you mean `fat-tree`?"]),
        (&["network=fat-tree"], &["`fat-tree` alone does not say its `k`"]),
        (&["network={ fat-tree = { k = 4 } }"], &["the key `rate` is missing in `network.fat-tree`"]),
        (
            &["link={ rate = \"1 Mbit/s\", delay = \"1 ms\", buffer = \"9 packets\" }"],
            &["`network`", "one of the two"],
        ),
        (&["nodes=[\"a\", \"b\"]"], &["`nodes`", "belongs to `[[link]]`"]),
        (&["return={}"], &["`return`", "belongs to `[link]`"]),
        (&["flow.all.from=h1"], &["`flow.all.from`", "`pattern` says who sends to whom"]),
        (&["flow.all.via=[\"h2\"]"], &["`flow.all.via`", "leave it out"]),
        (&["flow.all.direction=reverse"], &["`flow.all.direction`", "belongs to `[link]`"]),
        (
            &["flow.all.pattern.stride.by=16"],
            &["`flow.all.pattern.stride.by` is 16", "1 to 15: there are 16 hosts"],
        ),
        (&["flow.all.pattern=strid"], &["`strid`", "did you mean `stride`?"]),
        (&["network.fat-tree.buffer=100 B"], &["`network.fat-tree.buffer`", "a packet of `all` has 1488 B"]),
        (&["network.fat-tree.k=64", "flow.all.pattern=all-to-all"], &["`flow.all.count` is 4294901760"]),
        (&["disciplines=[{ red = { lambda2 = 2 } }]"], &["it is a parameter of `sfed`, `faba` and `hfaba`"]),
    ] {
        let message = refused(sets);
        parts.iter().for_each(|part| assert!(message.contains(part), "no `{part}` in: {message}"));
    }
    let alone = |from: &str| {
        let text = whole().replace("pattern = { stride = { by = 8 } }", from);
        parse("net.toml", &text, &Overrides::default()).expect_err("it must be refused").to_string()
    };
    for (from, part) in [
        (
            "from = \"h1\"\nto = \"h17\"",
            "`flow.all.to` is `h17`, but that is none of its 16 hosts; allowed: `h1` to `h16`",
        ),
        ("from = \"h01\"\nto = \"h2\"", "`flow.all.from` is `h01`"),
        ("from = \"e1\"\nto = \"h2\"", "`flow.all.from` is `e1`"),
        ("from = \"h2\"\nto = \"h2\"", "that is where it comes from"),
        ("from = \"h2\"", "without `to`"),
        ("", "`from` and `to`, or `pattern`"),
    ] {
        let message = alone(from);
        assert!(message.contains(part), "no `{part}` in: {message}");
    }
    let without = FAT_TREE.replace(
        "[network.fat-tree]\nk = 4\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"100 packets\"\n",
        "",
    );
    let message = parse("net.toml", &without, &Overrides::default()).expect_err("no link").to_string();
    assert!(message.contains("the key `link` is missing (or `network`)"), "{message}");
}

#[test]
fn a_pattern_belongs_to_networks_that_are_generated() {
    let text = include_str!("../../../../scenarios/selfish-flow.toml");
    let set = vec!["flow.tcp.pattern=stride".to_owned()];
    let error =
        parse("one.toml", text, &Overrides { set, ..Overrides::default() }).expect_err("it is refused");
    assert!(
        error.to_string().contains("`flow.tcp.pattern` is given, but it belongs to `network`"),
        "{error}"
    );
}
