//! Networks of links.

use fairwire_metrics::summary::summarize;
use fairwire_scenario::{Overrides, Scenario, judge, parse, report, run_all};
use std::sync::atomic::AtomicBool;

fn read(text: &str, set: &[&str]) -> Scenario {
    let set = set.iter().map(|text| text.to_string()).collect();
    parse("net.toml", text, &Overrides { set, ..Overrides::default() })
        .unwrap_or_else(|error| panic!("{error}"))
}

fn message(text: &str) -> String {
    parse("net.toml", text, &Overrides::default()).expect_err("it must be refused").to_string()
}

#[track_caller]
fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "no `{part}` in: {message}");
    }
}

fn link(from: &str, to: &str, mbit: u32, more: &str) -> String {
    format!(
        "[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{mbit} Mbit/s\"\ndelay = \"5 ms\"\n\
         buffer = \"100 packets\"\n{more}\n"
    )
}

fn flow(group: &str, from: &str, to: &str, more: &str) -> String {
    format!(
        "[[flow]]\ngroup = \"{group}\"\nsource = \"bulk\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
         access = {{ rate = \"100 Mbit/s\", delay = \"1 ms\" }}\nstart = \"0 s..1 s\"\n{more}\n"
    )
}

fn head(nodes: &str, disciplines: &str) -> String {
    format!(
        "format = 2\nname = \"net\"\nduration = \"40 s\"\nwarm_up = \"20 s\"\nseeds = [1, 2]\n\
         disciplines = {disciplines}\nnodes = {nodes}\n"
    )
}

/// Asserts that greedy flows get their max-min shares, within 2 %. Buffers exceed the
/// bandwidth-delay products, so no flow misses a turn.
#[track_caller]
fn is_max_min(text: &str, expected_mbit: &[(&str, f64)]) {
    let outcome = run_all(&read(text, &[]), 0, &|_| {}, &AtomicBool::new(false)).unwrap();
    for summary in summarize(&outcome.runs) {
        for &(group, expected) in expected_mbit {
            let got = summary.measures[&format!("throughput_bps.{group}")].mean / 1e6;
            let of = format!("{} gives {group} {got} Mbit/s of {expected}", summary.discipline);
            assert!((got / expected - 1.0).abs() < 0.02, "{of}");
            let share = summary.measures[&format!("share.{group}")].mean;
            assert!(
                (share * expected / got - 1.0).abs() < 1e-9,
                "the record's share is of another allocation"
            );
        }
    }
}

/// Acknowledgements have a separate queue here, so they take no capacity from data.
#[test]
fn a_parking_lot_under_fair_queueing_is_shared_max_min_fairly() {
    let text = head("[\"a\", \"b\", \"c\", \"d\"]", "[\"drr\", \"sfq-start\"]")
        + &link("a", "b", 10, "")
        + &link("b", "c", 6, "")
        + &link("c", "d", 10, "")
        + &flow("long", "a", "d", "")
        + &flow("one", "a", "b", "")
        + &flow("two", "b", "c", "")
        + &flow("three", "c", "d", "");
    is_max_min(&text, &[("long", 3.0), ("one", 7.0), ("two", 3.0), ("three", 7.0)]);
}

#[test]
fn overlapping_routes_under_fair_queueing_are_shared_max_min_fairly() {
    let text = head("[\"a\", \"b\", \"c\", \"d\"]", "[\"drr\"]")
        + &link("a", "b", 4, "")
        + &link("b", "c", 9, "")
        + &link("c", "d", 8, "")
        + &flow("x", "a", "b", "")
        + &flow("y", "a", "c", "")
        + &flow("z", "b", "d", "count = 2")
        + &flow("w", "c", "d", "");
    // The bottleneck of x and y is a-b. The bottleneck of w and z is c-d.
    is_max_min(&text, &[("x", 2.0), ("y", 2.0), ("z", 16.0 / 3.0), ("w", 8.0 / 3.0)]);
}

#[test]
fn the_examples_run_and_a_reduced_run_meets_their_expectations() {
    for (name, text) in [
        ("parking-lot", include_str!("../../../../scenarios/parking-lot.toml")),
        ("two-way", include_str!("../../../../scenarios/two-way.toml")),
        ("asymmetric", include_str!("../../../../scenarios/asymmetric.toml")),
        ("star", include_str!("../../../../scenarios/star.toml")),
        ("mixed-rtt", include_str!("../../../../scenarios/mixed-rtt.toml")),
    ] {
        let scenario = read(text, &["seeds=[1, 2]", "duration=60 s"]);
        let outcome = run_all(&scenario, 0, &|_| {}, &AtomicBool::new(false)).unwrap();
        let judgements = judge(scenario.spec(), &report(&scenario, outcome));
        assert!(!judgements.is_empty());
        for judgement in judgements {
            assert!(judgement.is_met(), "{name}: {judgement}");
        }
    }
}

#[test]
fn results_have_the_marked_link_first_and_each_direction_by_its_name() {
    let text = head("[\"a\", \"b\", \"c\"]", "[\"red\"]")
        + &link("a", "b", 10, "name = \"core\"\nback = { rate = \"1 Mbit/s\" }")
        + &link("b", "c", 10, "bottleneck = true\none_way = true")
        + &link("c", "b", 10, "one_way = true")
        + &flow("tcp", "a", "c", "");
    let scenario = read(&text, &[]);
    assert_eq!(scenario.links().collect::<Vec<_>>(), ["b-c", "core", "core-back", "c-b"]);
    let outcome = run_all(&scenario, 0, &|_| {}, &AtomicBool::new(false)).unwrap();
    let links = &outcome.runs[0].links;
    assert_eq!((links[0].name.as_str(), links[2].rate_bps), ("b-c", 1e6));
    assert!(links[3].packets_out > 0, "acknowledgements come back over c-b");
}

#[test]
fn a_flow_takes_the_shortest_or_the_given_route() {
    let busy = |via: &str| {
        let udp = "[[flow]]\ngroup = \"udp\"\nsource = { cbr = { rate = \"2 Mbit/s\" } }\nfrom = \"a\"\nto = \"c\"\n";
        let access = "access = { rate = \"100 Mbit/s\", delay = \"1 ms\" }\n";
        let text = head("[\"a\", \"b\", \"c\"]", "[\"tail-drop\"]")
            + &link("a", "b", 10, "")
            + &link("b", "c", 10, "")
            + &link("a", "c", 10, "")
            + &format!("{udp}{access}{via}");
        let outcome = run_all(&read(&text, &["duration=21 s"]), 0, &|_| {}, &AtomicBool::new(false)).unwrap();
        let links = &outcome.runs[0].links;
        let is_used = |name| links.iter().any(|link| link.name == name && link.packets_out > 0);
        ["a-b", "b-c", "a-c"].map(is_used)
    };
    assert_eq!(busy(""), [false, false, true]);
    assert_eq!(busy("via = [\"b\"]\n"), [true, true, false]);
}

#[test]
fn delays_of_a_group_are_drawn_or_taken_in_turn() {
    let text = include_str!("../../../../scenarios/mixed-rtt.toml");
    let longer = text.replace("\"1 ms..50 ms\"", "\"50 ms..1 ms\"");
    says(&message(&longer), &["flow.between.access.delay", "ends before it begins"]);
    let far = text.replace("\"50 ms\"]", "\"2 h\"]");
    says(&message(&far), &["`flow.far.access.delay` is 7200 s", "0 ns to 3600 s"]);
}

fn net(from: &str, to: &str) -> String {
    let text = head("[\"a\", \"b\", \"c\"]", "[\"drr\"]")
        + &link("a", "b", 10, "one_way = true")
        + &link("b", "c", 10, "")
        + &flow("tcp", "b", "c", "");
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

#[test]
fn an_unknown_measure_of_a_link_is_refused_with_the_known_ones() {
    let text = net("nodes", "nodes") + "[[expect]]\nmeasure = \"link.b-d.drops\"\nmax = 1\n";
    says(
        &message(&text),
        &["unknown measure `link.b-d.drops`", "did you mean `link.b-c.drops`", "`link.c-b.sojourn_p99_s`"],
    );
}

#[test]
fn reverse_flows_need_a_reverse_queue() {
    let text = include_str!("../../../../scenarios/two-way.toml");
    says(
        &message(&text.replace("[return]\nbottleneck = true", "")),
        &["`flow.back.direction` is `reverse`", "a table `[return]`"],
    );
    says(
        &message(&text.replace("bottleneck = true", "buffer = \"20 B\"")),
        &["`return.buffer`", "552 B on the wire"],
    );
    says(
        &message(&text.replace("bottleneck = true", "discipline = { red = {}, label = \"x\" }")),
        &["`return.discipline.label`", "only disciplines that are compared"],
    );
    says(
        &message(&text.replace("direction = \"reverse\"", "from = \"a\"")),
        &["`flow.back.from`", "only with `[[link]]` or `network`"],
    );
}
