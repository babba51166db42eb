//! If a wrong unit would cause excessive records, the scenario is refused before a run. The error
//! states their number and the remedy.

use fairwire_core::Duration;
use fairwire_scenario::estimate::{Keys, Recorded, check};
use fairwire_scenario::{Overrides, RunError, Scenario, parse, run_single};
use std::ops::ControlFlow;

const TEXT: &str = r#"format = 2
name = "short"
duration = "2 s"
seeds = "1..=3"
disciplines = ["tail-drop", "red"]

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "40 packets"

[[flow]]
group = "tcp"
count = 3
source = "bulk"
access = { rate = "100 Mbit/s", delay = "3 ms" }
"#;

fn said(text: &str, recorded: Recorded) -> String {
    let scenario = parse("short.toml", text, &Overrides::default()).expect("a scenario");
    let keys = Keys { every: "--every", jobs: "--jobs" };
    check(&scenario, recorded, keys).map_or_else(|refused| refused.to_string(), |()| "fine".into())
}

fn sampled(every: Duration, has_flows: bool) -> Recorded {
    Recorded { every: Some(every), has_flows, ..Recorded::default() }
}

#[test]
fn too_many_samples_are_refused_with_a_suitable_interval() {
    assert_eq!(said(TEXT, sampled(Duration::from_ms(1), true)), "fine");
    assert_eq!(
        said(TEXT, sampled(Duration::from_ns(1), false)),
        "`--every` is 1 ns, which makes 220 billion rows of samples; allowed: 30 million rows, by `--every` of at least 10 us"
    );
    let many = TEXT.replace("count = 3", "count = 100000");
    assert_eq!(said(&many, sampled(Duration::from_ms(100), false)), "fine");
    assert!(said(&many, sampled(Duration::from_ms(100), true)).ends_with("`--every` of at least 500 ms"));
    let million = TEXT.replace("count = 3", "count = 1000000").replace("1..=3", "1..=100");
    assert!(said(&million, sampled(Duration::from_secs(1), true)).ends_with("samples without flows"));
}

#[test]
fn traces_as_large_as_a_disk_are_refused() {
    let packets = Recorded { has_packets: true, ..Recorded::default() };
    assert_eq!(said(TEXT, packets), "fine");
    let fast = TEXT.replace("10 Mbit/s", "100 Gbit/s").replace("100 Mbit/s", "100 Gbit/s");
    assert!(said(&fast, packets).starts_with("the traces would have "), "{}", said(&fast, packets));
    let idle = TEXT.replace("10 Mbit/s", "100 Gbit/s");
    assert_eq!(said(&idle, packets), "fine");
}

#[test]
fn timers_and_transfers_that_fill_the_memory_are_refused() {
    let timers =
        format!("{TEXT}tcp = {{ min_rto = \"1 ns\", max_rto = \"1 ns\", initial_rto = \"1 ns\" }}\n");
    let refused = said(&timers, Recorded::default());
    assert!(refused.starts_with("`flow.tcp.tcp.max_rto` is 1 ns, so up to 6 billion timers"), "{refused}");
    let transfers = TEXT
        .replace("count = 3", "count = 1000")
        .replace("\"bulk\"", "{ transfers = { size = { fixed = \"1 kB\" }, mean_gap = \"1 us\" } }");
    let refused = said(&transfers, Recorded::default());
    assert!(refused.contains("mean_gap` is 1 us, which requests 2 billion transfers"), "{refused}");
    assert_eq!(
        said(&transfers.replace("1 us", "1 s"), Recorded { has_transfers: true, ..Recorded::default() }),
        "fine"
    );
}

const FAT_TREE: &str = r#"format = 2
name = "fat-tree"
duration = "1 us"
seeds = 1
disciplines = ["tail-drop"]

[network.fat-tree]
k = 64
rate = "1 Gbit/s"
delay = "5 us"
buffer = "100 packets"

[[flow]]
group = "a"
source = "bulk"
pattern = { stride = { by = 1 } }
access = { rate = "1 Gbit/s", delay = "1 us" }
"#;

#[test]
fn excessive_memory_is_refused_with_remedies() {
    let at_once = |at_once| Recorded { at_once, ..Recorded::default() };
    assert_eq!(said(TEXT, at_once(1024)), "fine");
    let million = TEXT.replace("count = 3", "count = 1000000");
    assert_eq!(said(&million, at_once(2)), "fine");
    assert_eq!(
        said(&million, at_once(8)),
        "8 runs at once would take about 18 GB of memory; allowed: 8 GB, by `--jobs` of at most 3"
    );
    let seeds = million.replace("1..=3", "1..=100");
    assert_eq!(
        said(&seeds, at_once(1)),
        "the records of all runs would take about 62 GB of memory; allowed: 8 GB, by fewer `seeds`"
    );
    // Three flows of 100 Gbit/s send six billion packets of 64 bytes during the `delay` of 10 s.
    let far = TEXT
        .replace("2 s", "60 s")
        .replace("100 Mbit/s", "100 Gbit/s")
        .replace("delay = \"3 ms\"", "delay = \"10 s\"");
    let datagrams = far.replace("\"bulk\"", "{ cbr = { rate = \"100 Gbit/s\", packet = \"64 B\" } }");
    assert_eq!(
        said(&datagrams, at_once(1)),
        "a run would take about 590 GB of memory; allowed: 8 GB, by less of `flow.tcp` under way: shorter \
         delays, or slower links"
    );
    assert_eq!(said(&far, at_once(1)), "fine", "10 Mbit/s of it pass");
}

fn stopped(scenario: &Scenario, at: usize) -> Result<bool, RunError> {
    let mut calls = 0;
    let mut watch = |_| {
        calls += 1;
        if calls == at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    Ok(run_single(scenario, 0, 1, &mut watch, None)?.is_none())
}

#[test]
fn a_run_is_stopped_while_it_is_set_up() {
    let text = TEXT.replace("count = 3", "count = 20000").replace("2 s", "1 ns");
    let scenario = parse("many.toml", &text, &Overrides::default()).expect("a scenario");
    // The watcher is called every 1024 flows: 19 times during building and 19 times during set-up.
    for at in [1, 19, 20, 38] {
        assert!(stopped(&scenario, at).expect("it can be built"), "call {at}");
    }
}

/// This test would take a minute if every link were inspected for each flow's record.
#[test]
fn a_fat_tree_of_65_536_hosts_is_run_with_a_flow_each() {
    let scenario = parse("fat.toml", FAT_TREE, &Overrides::default()).expect("a scenario");
    let run = run_single(&scenario, 0, 1, &mut |_| ControlFlow::Continue(()), None).expect("it can be built");
    assert_eq!(run.expect("it was not stopped").flows.len(), 65_536);
}
