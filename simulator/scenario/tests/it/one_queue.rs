//! The limits of FABA, which shares a single queue by drops. The figures are in
//! docs/gateway/measured.md.

use fairwire_metrics::record::Summary;
use fairwire_metrics::summary::summarize;
use fairwire_scenario::{Overrides, parse, run_all};
use std::sync::atomic::AtomicBool;

fn run(text: &str) -> Vec<Summary> {
    let scenario =
        parse("one.toml", text, &Overrides::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    summarize(&run_all(&scenario, 0, &|_| {}, &AtomicBool::new(false)).expect("it runs").runs)
}

/// The shares that a host with one download gets against a host with three, under `faba` and under
/// `drr`.
fn part_of_one(buffer: &str, tcp: &str) -> [f64; 2] {
    let host = |class: u32| {
        format!(
            "[[flow]]\ngroup = \"h{class}\"\ncount = {class}\nclass = {class}\nsource = \"bulk\"\n\
             start = \"0 s..1 s\"\ntcp = {{ profile = \"modern\", segment = \"1448 B\", header = \"52 B\", {tcp} }}\n\
             access = {{ rate = \"10 Gbit/s\", delay = \"0.02 ms\" }}\n"
        )
    };
    let text = format!(
        "format = 2\nname = \"hosts\"\nduration = \"25 s\"\nwarm_up = \"5 s\"\nseeds = [1, 2]\n\
         disciplines = [\"faba\", \"drr\"]\n[link]\nrate = \"100 Mbit/s\"\ndelay = \"0.01 ms\"\nbuffer = \"{buffer}\"\n\
         [discipline.faba]\nmeasure = \"bytes\"\nshare_between = \"classes\"\n[discipline.drr]\nper = \"class\"\n{}{}",
        host(1),
        host(3)
    );
    let summaries = run(&text);
    ["faba", "drr"].map(|discipline| {
        let of = summaries.iter().find(|summary| summary.discipline == discipline).expect("compared");
        of.measures["fraction.h1"].mean / (of.measures["fraction.h1"].mean + of.measures["fraction.h3"].mean)
    })
}

#[test]
fn in_one_queue_a_host_gets_its_part_of_all_windows() {
    // No packet is dropped, because the four windows hold 60 kB and the tokens are 625 kB.
    let [faba, drr] = part_of_one("50 ms", "control = \"reno\", window = 10");
    assert!((faba - 0.25).abs() < 0.01 && (drr - 0.5).abs() < 0.01, "{faba} {drr}");
    // Here the windows grow until a loss. Measured: 0.47.
    for control in ["reno", "cubic"] {
        let [faba, drr] = part_of_one("50 ms", &format!("control = \"{control}\""));
        assert!((0.45..0.5).contains(&faba) && (drr - 0.5).abs() < 0.01, "{control}: {faba} {drr}");
    }
}

#[test]
fn bbr_bounds_its_own_windows_unless_tokens_are_fewer() {
    // Four BBR windows hold the data that the link carries in about 7 ms. Measured over 60 s:
    // `long` is 0.27, `short` 0.49.
    let [long, drr] = part_of_one("200 ms", "control = \"bbr\"");
    let [short, _] = part_of_one("10 ms", "control = \"bbr\"");
    assert!(long < 0.35 && short > 0.45 && (drr - 0.5).abs() < 0.02, "{long} {short} {drr}");
}

/// The throughput of ten CUBIC uploads against a flood, divided by their fair share. The set-up
/// follows `hfaba/tree-both` of `proof/field`.
fn uploads_beside_a_flood(buffer: &str) -> f64 {
    let flow = |group: &str, class: u32, more: &str| {
        format!(
            "[[flow]]\ngroup = \"{group}\"\nclass = {class}\nstart = \"0 s..1 s\"\n\
             access = {{ rate = \"10 Gbit/s\", delay = \"0.05 ms\" }}\n{more}\n"
        )
    };
    let tcp = "count = 10\nsource = \"bulk\"\n\
         tcp = { profile = \"modern\", segment = \"1448 B\", header = \"90 B\", ack = \"90 B\" }";
    let cbr = |mbps: u32| {
        format!("source = {{ cbr = {{ rate = \"{mbps} Mbit/s\", packet = \"1500 B\", dither = 0.5 }} }}")
    };
    let reverse = |what: &str| format!("{what}\ndirection = \"reverse\"");
    let text = format!(
        "format = 2\nname = \"tree\"\nduration = \"40 s\"\nwarm_up = \"5 s\"\nseeds = [1, 2]\ndisciplines = [\"hfaba\"]\n\
         [link]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"{buffer}\"\n\
         [return]\nrate = \"50 Mbit/s\"\nbuffer = \"60 ms\"\nbottleneck = true\n\
         [discipline.hfaba]\nmeasure = \"bytes\"\nclass = [ {{ id = 1 }}, {{ id = 6, weight = 3.0 }}, {{ id = 2, parent = 6 }}, \
         {{ id = 3, weight = 3.0, parent = 6 }}, {{ id = 4, weight = 2.0 }} ]\n{}{}{}{}{}{}",
        flow("office-up", 1, tcp),
        flow("school-up", 4, &cbr(40)),
        flow("office", 1, &reverse(&cbr(100))),
        flow("basic", 2, &reverse(tcp)),
        flow("plus", 3, &reverse(tcp)),
        flow("school", 4, &reverse(tcp)),
    );
    let summaries = run(&text);
    let mbps = |group: &str| summaries[0].measures[&format!("throughput_bps.{group}")].mean / 1e6;
    // The flood's class has twice the uploads' weight. Acknowledgements in this class add 4.5 % to
    // `flood`.
    let flood = mbps("school-up") * 1.045;
    mbps("office-up") / ((mbps("office-up") + flood) / 3.0)
}

#[test]
fn tcp_gets_its_part_against_a_flood_if_tokens_last_a_round_trip() {
    // Measured over 60 s: `few` is 0.89, `many` 0.99.
    let (few, many) = (uploads_beside_a_flood("60 ms"), uploads_beside_a_flood("240 ms"));
    assert!((0.8..0.95).contains(&few) && (many - 1.0).abs() < 0.04, "{few} {many}");
}
