//! The same scenario and seed give the same bits on any machine, with any number of concurrent
//! runs, optimised or not. Every build asserts the hashes in [`GOLDEN`].

use fairwire_catalogue::{self as catalogue, Parameters, Site};
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Rate, RateLaw, Seed};
use fairwire_metrics::record::{Fairness, FlowRecord, LinkRecord, RunRecord, Sojourn, Times, TransferRecord};
use fairwire_scenario::{Overrides, Scenario, parse, run_all};
use fairwire_sim::app::{
    Arrivals, Bursts, Law, Load, OnOff, Poisson, Sequence, Telnet, Traffic, Transfers, Video, Voip, Web,
};
use fairwire_sim::{GroupPlan, LinkPlan, Member, Network, Settings, Source, TieRule};
use fairwire_tcp::{Config, Profile};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

const LINK: &str = r#"
[link]
rate = "4 Mbit/s"
delay = "10 ms"
buffer = "60 packets"
"#;

const SCENARIOS: [(&str, &str, &str); 7] = [
    (
        "newreno-against-cbr",
        r#"disciplines = ["red", "faba"]"#,
        r#"
[[flow]]
group = "tcp"
count = 4
source = "bulk"
tcp = { profile = "ns2-2002" }
access = { rate = "100 Mbit/s", delay = "3 ms" }
start = "0 s..1 s"
[[flow]]
group = "udp"
source = { cbr = { rate = "2 Mbit/s", dither = 0.5 } }
access = { rate = "100 Mbit/s", delay = "3 ms" }
"#,
    ),
    (
        "sack-at-three-distances",
        r#"disciplines = ["fq-codel", "red"]"#,
        r#"
[[flow]]
group = "near"
count = 2
source = "bulk"
tcp = { profile = "ns2-2006", recovery = "sack" }
access = { rate = "50 Mbit/s", delay = "1 ms" }
start = "0 s..1 s"
[[flow]]
group = "far"
count = 2
source = "bulk"
tcp = { profile = "ns2-2006", recovery = "sack", delayed_ack = {} }
access = { rate = "50 Mbit/s", delay = "1 ms..40 ms" }
start = "0 s..1 s"
"#,
    ),
    (
        "cubic-and-dctcp",
        r#"disciplines = ["drr", { fq-codel = { ecn = "drop" } }]"#,
        r#"
[[flow]]
group = "cubic"
count = 3
source = "bulk"
tcp = { profile = "modern", segment = "1460 B" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"
[[flow]]
group = "dctcp"
source = "bulk"
tcp = { profile = "modern", segment = "1460 B", control = "dctcp" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
"#,
    ),
    (
        "bbr-against-reno",
        r#"disciplines = ["drr", "faba"]"#,
        r#"
[[flow]]
group = "bbr"
count = 2
source = "bulk"
tcp = { profile = "modern", segment = "512 B", control = "bbr" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"
[[flow]]
group = "reno"
count = 2
source = "bulk"
tcp = { profile = "ns1-1998", recovery = "reno" }
access = { rate = "100 Mbit/s", delay = "5 ms" }
start = "0 s..1 s"
"#,
    ),
    (
        "two-way",
        "tie_rule = \"fifo\"\ndisciplines = [\"red\", \"drr\"]",
        r#"
[return]
bottleneck = true
[[flow]]
group = "there"
count = 3
source = "bulk"
tcp = { profile = "ns2-2002" }
access = { rate = "100 Mbit/s", delay = "3 ms" }
start = "0 s..1 s"
[[flow]]
group = "back"
count = 2
source = "bulk"
direction = "reverse"
tcp = { profile = "ns2-2002", control = { binomial = { k = 1, l = 0 } } }
access = { rate = "100 Mbit/s", delay = "3 ms" }
start = "0 s..1 s"
"#,
    ),
    (
        "laws-with-logarithms",
        r#"disciplines = ["codel", "rem", "pie", "choke"]"#,
        r#"
[[flow]]
group = "ledbat"
source = "bulk"
tcp = { profile = "modern", segment = "512 B", control = "ledbat" }
access = { rate = "100 Mbit/s", delay = "3 ms" }
[[flow]]
group = "tcp"
count = 5
source = "bulk"
tcp = { profile = "ns2-2002" }
access = { rate = "100 Mbit/s", delay = "3 ms" }
start = "0 s..1 s"
"#,
    ),
    (
        "adaptive-contracts",
        "disciplines = [\"rio\"]\n[discipline.rio]\necn = \"mark\"",
        r#"
[[aggregate]]
name = "small"
target = "3 Mbit/s"
marker = "adaptive-token-bucket"
[[aggregate]]
name = "large"
target = "6 Mbit/s"
marker = "adaptive-token-bucket"
[[flow]]
group = "small-tcp"
aggregate = "small"
count = 8
source = "bulk"
tcp = { profile = "ns2-2002", ecn = "ect0" }
access = { rate = "100 Mbit/s", delay = "3 ms" }
start = "0 s..1 s"
[[flow]]
group = "large-tcp"
aggregate = "large"
count = 8
source = "bulk"
tcp = { profile = "ns2-2002", ecn = "ect0" }
access = { rate = "100 Mbit/s", delay = "3 ms" }
start = "0 s..1 s"
[[flow]]
group = "large-udp"
aggregate = "large"
source = { cbr = { rate = "500 kbit/s" } }
access = { rate = "100 Mbit/s", delay = "3 ms" }
"#,
    ),
];

/// Hashes of results, recorded on x86-64 Linux.
const GOLDEN: [(&str, &str); 8] = [
    ("newreno-against-cbr", "59c32bc0847f29bd"),
    ("sack-at-three-distances", "7d4a15b51eeae01a"),
    ("cubic-and-dctcp", "8b920f82007ef8e3"),
    ("bbr-against-reno", "e9b9afce0651b957"),
    ("two-way", "b2d983fad683ac0d"),
    ("laws-with-logarithms", "c99b2c53db0beb6a"),
    ("adaptive-contracts", "d3cddf358c387c7c"),
    ("applications", "788ca7505f71bea3"),
];

fn scenario(at: usize) -> Scenario {
    let (name, settings, flows) = SCENARIOS[at];
    let head =
        format!("format = 2\nname = \"{name}\"\nduration = \"8 s\"\nwarm_up = \"2 s\"\nseeds = \"1..=2\"\n");
    let text = [&head, settings, LINK, flows].concat();
    parse("determinism.toml", &text, &Overrides::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// A hash of `records` as JSON. Different real numbers have different texts in JSON, so each
/// changed bit changes the hash.
fn mark(records: &impl serde::Serialize) -> String {
    let text = serde_json::to_string(records).expect("records have a JSON form");
    assert!(text.len() > 1000 && !text.contains("null"), "a number that JSON cannot write: {text}");
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn mark_of(at: usize, jobs: usize) -> String {
    let outcome = run_all(&scenario(at), jobs, &|_| {}, &AtomicBool::new(false)).expect("it can be built");
    assert!(!outcome.interrupted);
    mark_of_runs(&outcome.runs)
}

/// A hash of `runs`, which a new field does not change.
fn mark_of_runs(runs: &[RunRecord]) -> String {
    let part = |run: &RunRecord| {
        let RunRecord { discipline, seed, flows, links, transfers, fairness, .. } = run.clone();
        let Fairness { jain_throughput, worst_share, group_share, group_fraction, .. } = fairness;
        let fairness = Recorded { jain: jain_throughput, worst_share, group_share, group_fraction };
        (
            discipline,
            seed,
            uncounted(flows),
            in_products(links),
            transfers.into_iter().map(timed).collect::<Vec<_>>(),
            fairness,
        )
    };
    mark(&runs.iter().map(part).collect::<Vec<_>>())
}

/// The fairness of a run, in the form that is hashed. When the hashes were recorded, Jain's index
/// was computed from throughputs.
#[derive(serde::Serialize)]
struct Recorded {
    jain: f64,
    worst_share: f64,
    group_share: BTreeMap<String, f64>,
    group_fraction: BTreeMap<String, f64>,
}

/// When the hashes were recorded, times were computed as this product.
fn product(seconds: f64) -> f64 {
    (seconds * 1e9).round() * 1e-9
}

fn in_products(mut links: Vec<LinkRecord>) -> Vec<LinkRecord> {
    for Sojourn { p50_s, p90_s, p95_s, p99_s, max_s, .. } in
        links.iter_mut().filter_map(|link| link.sojourn.as_mut())
    {
        *p95_s = None; // it did not exist
        [p50_s, p90_s, p99_s, max_s].into_iter().for_each(|time| *time = product(*time));
    }
    links
}

/// Clears the fields that did not exist when the hashes were recorded.
fn uncounted(mut flows: Vec<FlowRecord>) -> Vec<FlowRecord> {
    for flow in &mut flows {
        let FlowRecord { timeouts, loss_episodes, timeout_episodes, delivered_bytes, .. } = flow;
        [timeouts, loss_episodes, timeout_episodes, delivered_bytes]
            .into_iter()
            .for_each(|count| *count = None);
        let FlowRecord { start_s, access_delay_s, base_rtt_s, fair_bps, .. } = flow;
        [start_s, access_delay_s, base_rtt_s, fair_bps].into_iter().for_each(|given| *given = None);
    }
    flows
}

fn timed(mut record: TransferRecord) -> TransferRecord {
    (record.slowdown, record.sizes) = (None, Vec::new()); // they did not exist
    (record.times.p90_s, record.times.p99_9_s) = (None, None);
    let Times { p50_s, p95_s, p99_s, max_s, .. } = &mut record.times;
    [p50_s, p95_s, p99_s, max_s].into_iter().for_each(|time| *time = product(*time));
    record
}

fn group(name: &str, source: Source, members: usize) -> GroupPlan {
    GroupPlan {
        name: name.into(),
        source,
        forward: Vec::new(), // set by the dumbbell
        back: Vec::new(),
        access_rate: Rate::from_bps(100_000_000).expect("not zero"),
        class: 0,
        dscp: 0,
        ecn: fairwire_core::Ecn::NotEct,
        members: vec![Member { start: Duration::ZERO, access_delay: Duration::from_ms(2) }; members],
        on: Vec::new(),
    }
}

fn applications() -> Vec<GroupPlan> {
    let user = |name, load| group(name, Source::Tcp { tcp: Config::new(Profile::Modern, 960), load }, 2);
    let datagrams = |name, traffic| group(name, Source::Datagrams { traffic, header_bytes: 28 }, 2);
    let arrivals = Arrivals::Poisson { mean_gap: Duration::from_ms(200), connections: 20 };
    let size = Law::Pareto { mean: 20_000.0, shape: 1.3 };
    let web = Web { reading: Law::Exponential { mean: 0.5 }, ..Web::default() };
    let on_off = OnOff {
        rate: Rate::from_bps(1_000_000).expect("not zero"),
        packet_bytes: 500,
        burst: Law::Pareto { mean: 15.0, shape: 1.5 },
        idle: Law::Exponential { mean: 0.3 },
    };
    let size_of_datagrams = Law::Exponential { mean: 600.0 };
    let poisson = Poisson { mean_gap: Duration::from_ms(10), size: size_of_datagrams };
    vec![
        user("files", Load::Transfers(Transfers { size, arrivals })),
        user("web", Load::Web(Box::new(web))),
        user("bursts", Load::Bursts(Bursts::default())),
        user("http", Load::Sequence(Sequence { lasts: Duration::from_secs(1) })),
        user("telnet", Load::Telnet(Telnet::default())),
        datagrams("on-off", Traffic::OnOff(on_off)),
        datagrams("poisson", Traffic::Poisson(poisson)),
        datagrams("voip", Traffic::Voip(Voip::default())),
        datagrams("video", Traffic::Video(Video::default())),
    ]
}

fn mark_of_applications() -> String {
    let rate = Rate::from_bps(6_000_000).expect("not zero");
    let one = |discipline: &str| {
        let seed = Seed(1);
        let buffer = Amount::Packets(60);
        let site = Site { rate, buffer, packet_bytes: 1000, seed, stream: "link/bottleneck" };
        let link = LinkPlan {
            wire: None,
            name: "bottleneck".into(),
            rate,
            law: RateLaw::Fixed,
            delay: Duration::from_ms(10),
            discipline: catalogue::build(discipline, &Parameters::default(), &site).expect("it is there"),
        };
        let (duration, warm_up) = (Duration::from_secs(20), Duration::from_secs(2));
        let settings = Settings { duration, warm_up, seed, tie_rule: TieRule::Random };
        let network = Network::dumbbell(link, applications());
        let measured = fairwire_sim::run(network, &settings, &mut |_| ControlFlow::Continue(()));
        let measured = measured.expect("it is never stopped");
        assert!(measured.links[0].drops.values().sum::<u64>() > 0, "{discipline} has something to decide");
        let transfers: Vec<_> = measured.transfers.into_iter().map(timed).collect();
        (uncounted(measured.flows), in_products(measured.links), transfers, measured.events)
    };
    mark(&["red", "faba", "fq-codel", "drr"].map(one))
}

#[test]
fn every_bit_matches_the_record_in_every_build_despite_other_runs() {
    let beside: Vec<String> = std::thread::scope(|threads| {
        let scenarios: Vec<_> =
            (0..SCENARIOS.len()).map(|at| threads.spawn(move || mark_of(at, 2))).collect();
        let applications = threads.spawn(mark_of_applications);
        scenarios.into_iter().chain([applications]).map(|run| run.join().expect("it ends")).collect()
    });
    let names = SCENARIOS.iter().map(|scenario| scenario.0).chain(["applications"]);
    let found: Vec<_> = names.zip(beside.iter().map(String::as_str)).collect();
    assert_eq!(found, GOLDEN, "another result is a change of behaviour: say in the commit why");
}

#[test]
fn serial_and_parallel_runs_give_the_same_bits() {
    let (applications, scenarios) = GOLDEN.split_last().expect("there are some");
    for (at, (name, golden)) in scenarios.iter().enumerate() {
        assert_eq!(mark_of(at, 1), *golden, "{name}");
    }
    assert_eq!(mark_of_applications(), applications.1);
}

#[test]
fn the_mark_detects_a_change_of_the_last_bit() {
    let outcome = run_all(&scenario(0), 2, &|_| {}, &AtomicBool::new(false)).expect("it can be built");
    let mut runs = outcome.runs;
    let before = mark_of_runs(&runs);
    let jain = &mut runs[3].fairness.jain_throughput;
    *jain = f64::from_bits(jain.to_bits() ^ 1);
    assert_ne!(mark_of_runs(&runs), before);
}
