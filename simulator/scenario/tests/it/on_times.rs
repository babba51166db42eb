//! Flows that start and stop.

use fairwire_core::{Duration, Time};
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{Overrides, Scenario, parse, run_single};
use fairwire_sim::{Observer, View};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

fn text(seconds: u64, discipline: &str, flows: &str) -> String {
    format!(
        "format = 2\nname = \"on\"\nduration = \"{seconds} s\"\nseeds = 1\ndisciplines = [\"{discipline}\"]\n\
         [link]\nrate = \"12 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"1 bdp\"\n{flows}"
    )
}

fn flow(group: &str, source: &str, more: &str) -> String {
    format!(
        "[[flow]]\ngroup = \"{group}\"\nsource = {source}\nrtt = \"40 ms\"\n\
         access = {{ rate = \"100 Mbit/s\" }}\n{more}\n"
    )
}

fn read(text: &str) -> Scenario {
    parse("on.toml", text, &Overrides::default()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[derive(Default)]
struct Seconds(BTreeMap<String, Vec<u64>>);

impl Observer for Seconds {
    fn interval(&self) -> Option<Duration> {
        Some(Duration::from_secs(1))
    }

    fn sample(&mut self, view: &View<'_>) {
        let second = view.now().since(Time::ZERO).ns() as usize / 1_000_000_000;
        for flow in view.flows() {
            let all = self.0.entry(flow.group.into()).or_default();
            all.resize(second, 0);
            all[second - 1] += flow.delivered_bytes;
        }
    }
}

fn run(scenario: &Scenario) -> (RunRecord, BTreeMap<String, Vec<u64>>) {
    let mut seconds = Seconds::default();
    let go_on = &mut |_| ControlFlow::Continue(());
    let record = run_single(scenario, 0, 1, go_on, Some(&mut seconds)).expect("it can be built");
    (record.expect("the watcher goes on"), seconds.0)
}

fn four(discipline: &str) -> String {
    let one = |(at, name): (u64, &str)| {
        flow(name, "\"bulk\"", &format!("start = \"{} s\"\nstop = \"{} s\"", 10 * at, 60 + 10 * at))
    };
    let flows: String = (0..).zip(["a", "b", "c", "d"]).map(one).collect();
    text(90, discipline, &flows)
}

#[test]
fn four_changing_flows_have_their_fair_share_at_each_time() {
    let (record, seconds) = run(&read(&four("drr")));
    for stretch in 0..9 {
        let is_on = |number: usize| (number..number + 6).contains(&stretch);
        let flows = (0..4).filter(|number| is_on(*number)).count() as f64;
        for (number, of_flow) in seconds.values().enumerate() {
            let bytes: u64 = of_flow[10 * stretch + 2..10 * stretch + 10].iter().sum();
            let mbps = bytes as f64 * 8.0 / 8e6;
            let fair = if is_on(number) { 12.0 / flows } else { 0.0 };
            assert!((mbps - fair).abs() <= 0.03 * fair, "flow {number}, {stretch}: {mbps}, not {fair}");
        }
    }
    for (group, share) in &record.fairness.group_share {
        assert!((share - 1.0).abs() < 0.03, "{group}: {share}");
    }
    assert!(record.fairness.jain > 0.999, "{}", record.fairness.jain);
    let presence = record.presence.expect("flows stop");
    assert_eq!(presence.active_s, [60.0; 4]);
    let changes = &presence.changes;
    assert_eq!(changes.iter().map(|one| one.at_s as u64 / 10).collect::<Vec<_>>(), [0, 1, 2, 3, 6, 7, 8]);
    assert_eq!((&*changes[1].starts, &*changes[4].stops), (&["b".to_owned()][..], &["a".to_owned()][..]));
    // Here, a window that grows by a packet per 40 ms reaches the new share within 2 s.
    for change in changes {
        assert!(change.reached_s.is_some_and(|s| (0.1..=2.0).contains(&s)), "{change:?}");
    }
}

#[test]
fn under_tail_drop_each_change_has_a_reaction_time_or_none() {
    let (record, _) = run(&read(&four("tail-drop")));
    let changes = record.presence.expect("flows stop").changes;
    assert_eq!(changes.len(), 7);
    assert!(changes.iter().filter(|one| one.reached_s.is_some()).count() >= 5, "{changes:?}");
}

#[test]
fn without_stops_nothing_is_reported_and_results_are_unchanged() {
    let alone = flow("a", "\"bulk\"", "");
    let (plain, _) = run(&read(&text(10, "drr", &alone)));
    assert!(plain.presence.is_none());
    let (stopped, _) = run(&read(&text(10, "drr", &flow("a", "\"bulk\"", "stop = \"20 s\""))));
    assert_eq!((&plain.flows, &plain.links, plain.events), (&stopped.flows, &stopped.links, stopped.events));
}

#[test]
fn every_source_is_silent_between_its_on_times() {
    let sources = [
        "\"bulk\"",
        "{ cbr = { rate = \"1 Mbit/s\" } }",
        "{ on-off = { rate = \"2 Mbit/s\", \
         burst = { exponential = \"20 packets\" }, idle = { fixed = \"0.05 s\" } } }",
        "{ poisson = { mean_gap = \"10 ms\" } }",
        "\"voip\"",
        "\"video\"",
        "{ web = { reading = { fixed = \"0.1 s\" } } }",
        "{ transfers = { size = { fixed = \"50 kB\" }, think = { fixed = \"0.05 s\" } } }",
        "{ transfers = { size = { fixed = \"50 kB\" }, mean_gap = \"50 ms\" } }",
        "{ bursts = { idle = { fixed = \"0.1 s\" } } }",
        "\"telnet\"",
        "{ sequence = { lasts = \"0.3 s\" } }",
        "\"streaming\"",
        "\"call\"",
    ];
    for source in sources {
        let flow = flow("g", source, "on = [[\"1 s\", \"3 s\"], [\"6 s\", \"8 s\"]]");
        let (record, seconds) = run(&read(&text(10, "fq-codel", &flow)));
        let of = |range: std::ops::Range<usize>| seconds["g"][range].iter().sum::<u64>();
        assert!(of(1..3) > 0 && of(6..8) > 0, "{source}: {:?}", seconds["g"]);
        // A packet waits at most 40 ms, so packets sent in an on-time arrive within a second of its
        // end.
        assert_eq!((of(0..1), of(4..6), of(9..10)), (0, 0, 0), "{source}: {:?}", seconds["g"]);
        let all = seconds["g"].iter().sum::<u64>() as f64 * 8.0;
        let measured = record.flows[0].throughput_bps * 4.0;
        assert!((measured / all - 1.0).abs() < 1e-9, "{source}: {measured}, not {all}");
        assert_eq!(record.flows.len(), 1, "{source}");
    }
}

#[test]
fn nonsensical_times_are_refused_with_the_allowed_ones() {
    let refused = |more: &str, parts: &[&str]| {
        let text = text(10, "drr", &flow("a", "\"bulk\"", more));
        let message = parse("on.toml", &text, &Overrides::default()).expect_err(more).to_string();
        parts.iter().for_each(|part| assert!(message.contains(part), "no `{part}` in: {message}"));
    };
    refused(
        "start = \"2 s\"\nstop = \"2 s\"",
        &["on.toml:16:8", "2 s", "it starts at 2 s; allowed: after 2 s"],
    );
    refused("start = \"1 s..3 s\"\nstop = \"2 s\"", &["it starts at 3 s", "after 3 s"]);
    refused("stop = \"-1 s\"", &["on.toml:15:8", "-1 s"]);
    refused("on = []", &["on.toml:15:6", "empty", "it would never send", "one time or more"]);
    refused("on = [[\"1 s\"]]", &["on.toml:15", "1 times", "allowed: two"]);
    refused("on = [[\"1 s\", \"2 s\", \"3 s\"]]", &["on.toml:15", "3 times", "allowed: two"]);
    refused("on = [[\"3 s\", \"3 s\"]]", &["this time begins at 3 s", "after 3 s"]);
    refused(
        "on = [[\"1 s\", \"3 s\"], [\"2 s\", \"4 s\"]]",
        &["on.toml:15", "2 s", "ends at 3 s", "3 s or later"],
    );
    refused("on = [[\"5 s\", \"6 s\"], [\"2 s\", \"4 s\"]]", &["2 s", "in order"]);
    refused("on = [[\"1 s\", \"2 s\"], [\"10 s\", \"14 s\"]]", &["the run is over by then", "before 10 s"]);
    refused("stop = \"5 s\"\non = [[\"1 s\", \"2 s\"]]", &["`stop` is given, too", "either `on`"]);
    refused("start = \"0 s\"\non = [[\"6 s\", \"7 s\"]]", &["`start` is given, too", "either `on`"]);
    refused("start = \"5 s\"\non = [[\"6 s\", \"7 s\"]]", &["`start` is given, too"]);
}

#[test]
fn a_late_flow_has_its_share_of_its_active_time() {
    let flows = flow("a", "\"bulk\"", "") + &flow("b", "\"bulk\"", "start = \"45 s\"");
    let (late, _) = run(&read(&text(60, "drr", &flows)));
    for share in late.fairness.group_share.values() {
        assert!((share - 1.0).abs() < 0.03, "{:?}", late.fairness);
    }
    assert!(late.fairness.jain > 0.999, "{}", late.fairness.jain);
    // A stop at the end of the run changes no packet.
    let stops = flows.replace("start = \"45 s\"", "start = \"45 s\"\nstop = \"60 s\"");
    let (stopped, _) = run(&read(&text(60, "drr", &stops)));
    assert_eq!((&late.flows, &late.links, late.events), (&stopped.flows, &stopped.links, stopped.events));
}

#[test]
fn late_starts_and_stops_after_the_end_are_noted() {
    let notes = |more: &str| {
        let flows = flow("a", "\"bulk\"", "") + &flow("b", "\"bulk\"", more);
        read(&text(60, "drr", &flows)).notes().to_vec()
    };
    let has = |notes: &[String], part: &str| notes.iter().any(|note| note.contains(part));
    assert!(has(&notes("start = \"45 s\""), "`b`: begins long after the warm-up"));
    assert!(!has(&notes("start = \"10 s\""), "begins long after"));
    let beyond = notes("start = \"45 s\"\nstop = \"80 s\"");
    assert!(has(&beyond, "`b` stops at 80 s, after the end") && !has(&beyond, "begins long after"));
}

#[test]
fn a_group_active_only_in_the_warm_up_has_a_note_and_no_share() {
    let flows = flow("a", "\"bulk\"", "") + &flow("b", "\"bulk\"", "on = [[\"1 s\", \"3 s\"]]");
    let scenario = read(&text(10, "drr", &flows).replace("seeds", "warm_up = \"5 s\"\nseeds"));
    let note = "`b`: is on in the warm-up alone, until 5 s at the latest, and has no share";
    assert!(scenario.notes().iter().any(|one| one == note), "{:?}", scenario.notes());
    let (record, _) = run(&scenario);
    let fairness = &record.fairness;
    assert_eq!(fairness.group_share.keys().collect::<Vec<_>>(), ["a"]);
    assert!(fairness.worst_share > 0.9 && fairness.jain_throughput == 1.0, "{fairness:?}");
    assert_eq!(record.flows[1].fair_bps, None);
}
