//! Every source that a scenario can name is parsed, built and run. Invalid sources are refused.

use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{
    CbrSpec, Overrides, Scenario, ScenarioError, TelnetSpec, judge, load, parse, report, run_all, source,
};
use std::path::Path;
use std::sync::atomic::AtomicBool;

const SECONDS: f64 = 60.0;

/// One flow on a link wide enough for every source here.
fn text(flow: &str) -> String {
    format!(
        "format = 2\nname = \"one\"\nduration = \"{SECONDS} s\"\nseeds = 1\ndisciplines = [\"tail-drop\"]\n\
         [link]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"200 packets\"\n\
         [[flow]]\ngroup = \"g\"\naccess = {{ rate = \"100 Mbit/s\", delay = \"1 ms\" }}\n{flow}\n"
    )
}

fn scenario(flow: &str) -> Scenario {
    parse("one.toml", &text(flow), &Overrides::default()).unwrap_or_else(|error| panic!("{flow}: {error}"))
}

fn run(scenario: &Scenario) -> RunRecord {
    let outcome = run_all(scenario, 1, &|_| (), &AtomicBool::new(false)).expect("it can be built");
    outcome.runs.into_iter().next().expect("one run")
}

fn offered(flow: &str) -> f64 {
    let run = run(&scenario(flow));
    assert!(run.flows[0].throughput_bps > 0.0, "{flow}");
    run.flows[0].offered_bps.expect("it offers whatever becomes of it")
}

fn message(flow: &str) -> String {
    refusal(parse("one.toml", &text(flow), &Overrides::default()), flow)
}

fn refusal(result: Result<Scenario, ScenarioError>, what: &str) -> String {
    match result {
        Ok(_) => panic!("taken: {what}"),
        Err(error) => error.to_string(),
    }
}

fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "no `{part}` in: {message}");
    }
}

fn is_about(flow: &str, expected_bps: f64, part: f64) {
    let measured = offered(flow);
    assert!((measured / expected_bps - 1.0).abs() < part, "{flow}: {measured}, not {expected_bps}");
}

#[test]
fn datagrams_arrive_at_the_rate_of_their_laws() {
    // A burst takes 40 ms and a pause 60 ms, so there are 600 bursts. The tolerance is one burst.
    is_about(
        "source = { on-off = { rate = \"1 Mbit/s\", packet = \"1000 B\", burst = { fixed = \"5 packets\" }, \
         idle = { fixed = \"60 ms\" } } }",
        400_000.0,
        0.002,
    );
    // The tolerances are 3.3 standard errors. For 6000 packets, one standard error is 1.3 %, or
    // 1.8 % with exponential sizes.
    is_about("source = { poisson = { mean_gap = \"10 ms\" } }", 512.0 * 8.0 * 100.0, 0.043);
    let exponential = "source = { poisson = { mean_gap = \"10 ms\", size = { exponential = \"1 kB\" } } }";
    is_about(exponential, 800_000.0, 0.06);
    // 50 packets of 200 bytes each second.
    is_about("source = { voip = { continuous = true } }", 80_000.0, 0.001);
    // Headers of 28 bytes per 1172 bytes of payload add about 3 %. The mean of 1800 frames has a
    // standard error of 1 %, so the tolerance exceeds 3.3 standard errors.
    is_about("source = \"video\"", 3_000_000.0 * 1.03, 0.045);
}

#[test]
fn a_call_with_silences_talks_for_39_percent_of_the_time() {
    // One cycle deviates by sqrt(2) × (1 - 0.39) = 0.87 of the mean. A minute has 23 cycles, so the
    // tolerance is 0.48 / (0.87 / sqrt(23)) = 2.6 standard errors.
    is_about("source = \"voip\"", 31_000.0, 0.48);
}

#[test]
fn users_of_tcp_offer_the_load_of_their_laws() {
    // The number of segments, 12 000, has a standard error of 0.9 %.
    let of_512 = "tcp = { segment = \"512 B\" }";
    is_about(&format!("source = \"telnet\"\n{of_512}"), 200.0 * 552.0 * 8.0, 0.03);
    // The number of files, 600, has a standard error of 4 %.
    let files = "source = { transfers = { size = { fixed = \"10 kB\" }, mean_gap = \"100 ms\" } }";
    is_about(&format!("{files}\n{of_512}"), 10.0 * 20.0 * 552.0 * 8.0, 0.14);
}

#[test]
fn users_that_wait_for_their_data_are_served_and_timed() {
    let timed = |flow: &str| {
        let run = run(&scenario(flow));
        assert!(run.flows[0].throughput_bps > 0.0, "{flow}");
        run.transfers.into_iter().map(|record| (record.kind, record.completed)).collect::<Vec<_>>()
    };
    let think = "source = { transfers = { size = { fixed = \"1 kB\" }, think = { fixed = \"1 s\" } } }";
    let [(kind, completed)] = &timed(think)[..] else { panic!("one kind") };
    // A transfer takes about three round trips of 14 ms.
    assert!(kind == "transfer" && (54..=59).contains(completed), "{kind}: {completed}");
    let bursts = timed("source = { bursts = { idle = { fixed = \"1 s\" }, renews = true } }");
    assert!((40..=59).contains(&bursts[0].1), "{bursts:?}");
    let web =
        timed("source = { web = { reading = { fixed = \"2 s\" }, objects = { fixed = \"3 objects\" } } }");
    let pages = web.iter().find(|(kind, _)| kind == "page").expect("pages are timed").1;
    let objects = web.iter().find(|(kind, _)| kind == "transfer").expect("objects are timed").1;
    assert!((15..=30).contains(&pages), "{pages}");
    assert!((4 * pages..=4 * pages + 4).contains(&objects), "{objects} objects of {pages} pages");
    assert_eq!(timed("source = { sequence = { lasts = \"2 s\" } }"), []);
}

#[test]
fn measures_of_transfers_may_be_expected_of_sources_with_transfers() {
    let expect = |measure: &str| format!("source = \"web\"\n[[expect]]\nmeasure = \"{measure}\"\nmin = 0");
    for measure in ["transfers.g", "transfer_p95_s.g", "pages.g", "page_mean_s.g", "page_p99_s.g"] {
        scenario(&expect(measure));
    }
    says(&message(&expect("page_p96_s.g")), &["unknown measure", "did you mean `page_p95_s.g`"]);
    let bulk = expect("pages.g").replace("web", "bulk");
    says(&message(&bulk), &["unknown measure `pages.g`"]);
}

#[test]
fn every_source_has_an_example_that_can_be_read() {
    for entry in source::all().iter().filter(|entry| entry.name != "replay") {
        let example = match entry.about.example {
            "" => format!("source = \"{}\"", entry.name),
            example => format!("source = {{ {} = {{ {example} }} }}", entry.name),
        };
        assert_eq!(entry.about.example.is_empty(), entry.needed().is_none(), "{}", entry.name);
        assert_eq!(scenario(&example).spec().flow[0].source.name(), entry.name);
    }
}

#[test]
fn the_table_of_a_source_may_be_below_its_group() {
    let below = scenario("[flow.source.cbr]\nrate = \"1 Mbit/s\"\ndither = 0.5");
    let spec = below.spec().flow[0].source.given::<CbrSpec>().expect("a constant rate");
    assert_eq!((spec.rate.expect("it was given").0.bps(), spec.dither), (1_000_000, Some(0.5)));
}

#[test]
fn set_can_reach_into_a_source_given_by_name() {
    let set = |set: &str| {
        let overrides = Overrides { set: vec![set.into()], ..Overrides::default() };
        parse("one.toml", &text("source = \"telnet\""), &overrides)
    };
    let read = set("flow.g.source.telnet.mean_gap=9 ms").expect("a good one");
    let given = read.spec().flow[0].source.given::<TelnetSpec>().expect("keystrokes").mean_gap;
    assert_eq!(given.map(|gap| gap.to_string()).as_deref(), Some("9 ms"));
    let other = refusal(set("flow.g.source.web.connections=3"), "web");
    says(&other, &["--set:1:15", "`source` is a string", "one through `source.telnet`"]);
    let gone = refusal(set("flow.g.telnet.mean_gap=9 ms"), "beside");
    says(&gone, &["--set:1:8", "`source = { telnet = { … } }`"]);
}

#[test]
fn values_out_of_range_are_refused() {
    says(&message("source = { telnet = { mean_gap = \"1 ns\" } }"), &["telnet.mean_gap", "1 us to"]);
    says(&message("source = { sequence = { lasts = \"0 s\" } }"), &["sequence.lasts"]);
    says(&message("source = { web = { connections = 0 } }"), &["web.connections", "1 to 1024"]);
    says(
        &message("source = { video = { packet = \"28 B\" } }"),
        &["packets of 28 bytes have room for headers alone"],
    );
    says(&message("source = { video = { group = 0 } }"), &["flow.g.source.video", "a group has no frames"]);
    says(
        &message("source = { voip = { payload = \"1 MB\", frame = \"1 s\" } }"),
        &["flow.g.source.voip", "IP carries 1 to 65535"],
    );
    let both = "source = { voip = { continuous = true, spurt = { fixed = \"1 s\" } } }";
    says(&message(both), &["flow.g.source.voip.spurt", "no silences with `continuous`"]);
    let instant = "source = { voip = { spurt = { fixed = \"0 s\" }, silence = { fixed = \"0 s\" } } }";
    says(&message(instant), &["flow.g.source.voip.spurt", "days"]);
    let fast = "source = { on-off = { rate = \"1 Gbit/s\", burst = { fixed = \"1 packet\" }, idle = { fixed = \"1 s\" } } }";
    says(&message(fast), &["flow.g.source.on-off.rate", "a mean rate of at most 100 Mbit/s"]);
    let large = "source = { video = { p_frame = { exponential = \"1 GB\" } } }";
    says(&message(large), &["flow.g.source.video.frame", "a mean rate of at most 100 Mbit/s"]);
    let dense = "source = { poisson = { mean_gap = \"1 us\" } }";
    says(&message(dense), &["flow.g.source.poisson.mean_gap", "the mean rate is then 4096.0 Mbit/s"]);
    says(&message("source = { voip = { frame = \"1 us\" } }"), &["flow.g.source.voip.frame"]);
    says(&message("count = 400000\nsource = \"web\""), &["2400000 flows and connections"]);
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    fn file(self, name: &str, bytes: &[u8]) -> Self {
        std::fs::write(self.0.path().join(name), bytes).expect("written");
        self
    }

    fn load(&self, text: &str) -> Result<Scenario, ScenarioError> {
        let path = self.0.path().join("one.toml");
        std::fs::write(&path, text).expect("written");
        load(Path::new(&path), &Overrides::default())
    }
}

/// A classic pcap of raw IP packets of 1000 bytes, one per 10 ms.
fn capture(packets: u32) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101] {
        file.extend(word.to_le_bytes());
    }
    for number in 0..packets {
        let micros = number * 10_000;
        for word in [micros / 1_000_000, micros % 1_000_000, 20, 1000] {
            file.extend(word.to_le_bytes());
        }
        file.extend([0x45, 0, 3, 232, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    }
    file
}

const REPLAY: &str = "source = { replay = { file = \"a.pcap\", repeats = true } }";

#[test]
fn a_capture_is_played_again() {
    let folder = Folder::new().file("a.pcap", &capture(100));
    let played = run(&folder.load(&text(REPLAY)).expect("a good one"));
    let offered = played.flows[0].offered_bps.expect("open loop");
    // The tolerance is six of 6000 packets.
    assert!((offered / 800_000.0 - 1.0).abs() < 0.001, "{offered}");
    let fast = folder.load(&text(&REPLAY.replace("repeats", "speed = 2.0, repeats"))).expect("a good one");
    let offered = run(&fast).flows[0].offered_bps.expect("open loop");
    assert!((offered / 1_600_000.0 - 1.0).abs() < 0.001, "{offered}");
}

#[test]
fn the_hash_of_a_scenario_is_over_its_files_too() {
    let hash = |packets| {
        let folder = Folder::new().file("a.pcap", &capture(packets));
        folder.load(&text(REPLAY)).expect("a good one").sha256().to_owned()
    };
    assert_eq!(hash(100), hash(100));
    assert_ne!(hash(100), hash(101));
}

#[test]
fn a_bad_capture_is_refused_at_its_key() {
    let refused = |folder: Folder, flow: &str| refusal(folder.load(&text(flow)), flow);
    says(
        &refused(Folder::new(), REPLAY),
        &["one.toml:13:", "flow.g.source.replay.file", "there is no file", "pcap"],
    );
    says(
        &refused(Folder::new().file("a.pcap", b"none of it"), REPLAY),
        &["flow.g.source.replay.file", "`a.pcap`"],
    );
    says(&refused(Folder::new().file("a.pcap", &capture(0)), REPLAY), &["it has no packets"]);
    says(&refused(Folder::new().file("a.pcap", &capture(1)), REPLAY), &["without length cannot repeat"]);
    let slow = REPLAY.replace("repeats", "speed = 0.0, repeats");
    says(
        &refused(Folder::new().file("a.pcap", &capture(9)), &slow),
        &["flow.g.source.replay", "is not above 0"],
    );
    let fast = REPLAY.replace("repeats", "speed = 1e3, repeats");
    says(
        &refused(Folder::new().file("a.pcap", &capture(9)), &fast),
        &["flow.g.source.replay.speed", "a mean rate of at most 100 Mbit/s"],
    );
    let mut of_usb = capture(9);
    of_usb[20] = 189;
    says(
        &refused(Folder::new().file("a.pcap", &of_usb), REPLAY),
        &["flow.g.source.replay.file", "link type 189 (USB of Linux)", "Ethernet (1)"],
    );
    says(&message(REPLAY), &["a scenario that is no file itself can name no files"]);
}

#[test]
fn a_capture_is_active_only_until_its_end() {
    let folder = Folder::new().file("a.pcap", &capture(101)); // over a second
    let once = REPLAY.replace("true", "false");
    let refused = |more: &str| refusal(folder.load(&text(&format!("{once}\n{more}"))), more);
    says(
        &refused("stop = \"2 s\""),
        &["flow.g.stop", "2 s", "ends by itself 1 s after it begins", "at most 1 s"],
    );
    says(
        &refused("on = [[\"0 s\", \"1 s\"], [\"5 s\", \"7 s\"]]"),
        &["flow.g.on.#2.#2", "at most 6 s", "repeats"],
    );
    for (replay, more) in
        [(REPLAY, "stop = \"2 s\""), (&once, "on = [[\"0 s\", \"1 s\"], [\"5 s\", \"6 s\"]]")]
    {
        let played = run(&folder.load(&text(&format!("{replay}\n{more}"))).expect("a good one"));
        let offered = played.flows[0].offered_bps.expect("open loop");
        // The capture gives 100 packets per second. Each on-time ends with one more packet, which
        // adds at most 1 %.
        assert!((offered / 800_000.0 - 1.0).abs() < 0.011, "{offered}");
        assert!((played.fairness.jain - 1.0).abs() < 1e-12);
    }
}

#[test]
fn packets_not_found_after_their_link_header_are_noted() {
    let mut of_wifi = capture(9);
    of_wifi[20] = 105; // frames that begin with 0x45 are not data frames
    let folder = Folder::new().file("a.pcap", &of_wifi);
    let notes = folder.load(&text(REPLAY)).expect("a good one").notes().to_vec();
    assert!(
        notes.iter().any(|note| note.starts_with("`a.pcap`: 9 of its packets show no packet")),
        "{notes:?}"
    );
}

#[test]
fn too_short_packets_are_omitted_and_truncated_captures_are_noted() {
    let mut small = capture(100);
    small[24 + 36 + 8] = 10; // 10 bytes of the second packet were captured
    small[24 + 36 + 12..][..4].copy_from_slice(&10_u32.to_le_bytes());
    small.drain(24 + 36 + 16 + 10..24 + 72);
    let loaded = |file: &[u8]| Folder::new().file("a.pcap", file).load(&text(REPLAY));
    let noted = |scenario: &Scenario, note: &str| {
        assert!(scenario.notes().iter().any(|one| one == note), "{:?}", scenario.notes());
    };
    let scenario = loaded(&small).expect("a good one");
    noted(&scenario, "`a.pcap`: packets that are smaller than headers of 28 B, and are not sent: 1");
    let (played, whole) = (run(&scenario), run(&loaded(&capture(100)).expect("a good one")));
    let parts = played.flows[0].packets_sent as f64 / whole.flows[0].packets_sent as f64;
    assert!((parts - 0.99).abs() < 0.001, "{parts}");

    let whole = capture(100);
    let scenario = loaded(&whole[..whole.len() - 7]).expect("a good one");
    noted(
        &scenario,
        "`a.pcap`: it ends in the record or block at byte 3588; packets before it, which are taken: 99",
    );

    small.truncate(24);
    small.extend([[0_u8; 8].as_slice(), &[10, 0, 0, 0, 10, 0, 0, 0], &[0x45; 10]].concat());
    let error = loaded(&small).expect_err("headers have more").to_string();
    says(&error, &["flow.g.source.replay.file", "all of its packets are smaller than headers of 28 B"]);
}

const BULK: &str = "source = \"bulk\"";

fn on_link(keys: &str) -> String {
    text(BULK).replace("buffer = \"200 packets\"", &format!("buffer = \"200 packets\"\n{keys}"))
}

#[test]
fn shares_are_relative_to_the_changing_rate_of_a_link() {
    let changes =
        "changes = [{ at = \"20 s\", rate = \"1 Mbit/s\" }, { at = \"40 s\", rate = \"4 Mbit/s\" }]";
    let text = on_link(changes);
    let run = run(&parse("one.toml", &text, &Overrides::default()).expect("a good one"));
    let rate = run.links[0].rate_bps;
    assert!((rate - 5e6).abs() < 1.0, "{rate}");
    let share = run.fairness.group_share["g"];
    // The queue is empty in slow start, and in timeouts when the rate falls.
    assert!((0.9..=1.0).contains(&share), "{share}");
}

#[test]
fn a_link_follows_a_trace() {
    // An opportunity of 1504 bytes every 4 ms gives 3.008 Mbit/s.
    let text = on_link("trace = \"a.trace\"");
    let run = run(&Folder::new().file("a.trace", b"4\n").load(&text).expect("a good one"));
    assert!((run.links[0].rate_bps / 3.008e6 - 1.0).abs() < 1e-3, "{}", run.links[0].rate_bps);
    assert!(run.links[0].utilization > 0.9, "{}", run.links[0].utilization);
}

#[test]
fn links_change_in_both_directions_unless_the_reverse_has_its_own_rate() {
    let network = |back: &str| {
        let text = format!(
            "format = 2\nname = \"net\"\nduration = \"4 s\"\nseeds = 1\ndisciplines = [\"tail-drop\"]\n\
             nodes = [\"a\", \"b\"]\n\
             [[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"2 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"50 packets\"\n\
             changes = [{{ at = \"2 s\", rate = \"4 Mbit/s\" }}]\n{back}\n\
             [[flow]]\ngroup = \"g\"\nfrom = \"a\"\nto = \"b\"\nsource = \"bulk\"\n\
             access = {{ rate = \"10 Mbit/s\", delay = \"1 ms\" }}\n"
        );
        let run = run(&parse("net.toml", &text, &Overrides::default()).expect("a good one"));
        run.links.iter().map(|link| (link.rate_bps / 1e5).round() as u32).collect::<Vec<_>>()
    };
    assert_eq!(network(""), [30, 30]);
    assert_eq!(network("back = { rate = \"1 Mbit/s\" }"), [30, 10]);
    let own = "back = { rate = \"1 Mbit/s\", changes = [{ at = \"2 s\", rate = \"3 Mbit/s\" }] }";
    assert_eq!(network(own), [30, 20]);
}

#[test]
fn a_share_is_relative_to_the_demand_of_a_user() {
    let text = "format = 2\nname = \"two\"\nduration = \"60 s\"\nwarm_up = \"10 s\"\nseeds = 1\ndisciplines = [\"drr\"]\n\
        [link]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"100 packets\"\n\
        [[flow]]\ngroup = \"bulk\"\nsource = \"bulk\"\naccess = { rate = \"100 Mbit/s\", delay = \"1 ms\" }\n\
        [[flow]]\ngroup = \"user\"\nsource = \"bursts\"\naccess = { rate = \"100 Mbit/s\", delay = \"1 ms\" }\n";
    let run = run(&parse("two.toml", text, &Overrides::default()).expect("a good one"));
    let [bulk, user] = &run.flows[..] else { panic!("two flows") };
    let requested = user.offered_bps.expect("bursts are requested one by one");
    assert!(user.throughput_bps < 0.1 * 10e6, "much less than half of the link: {user:?}");
    let share = &run.fairness.group_share;
    assert!((share["user"] - user.throughput_bps / requested).abs() < 1e-9, "{share:?}");
    assert!(share["user"] > 0.95 && share["user"] <= 1.0, "DRR delivers the demand: {share:?}");
    assert!((share["bulk"] - bulk.throughput_bps / (10e6 - requested)).abs() < 1e-9, "{share:?}");
}

#[test]
fn the_examples_meet_their_expectations() {
    for name in ["web-beside-bulk", "changing-rate"] {
        let path = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let scenario = load(Path::new(&path), &Overrides::default()).expect("a good one");
        let outcome = run_all(&scenario, 0, &|_| (), &AtomicBool::new(false)).expect("it can be built");
        let judgements = judge(scenario.spec(), &report(&scenario, outcome));
        assert!(judgements.len() >= 3, "{name}");
        for judgement in judgements {
            assert!(judgement.is_met(), "{name}: {judgement}");
        }
    }
}

#[test]
fn a_trace_without_a_rate_uses_its_mean() {
    let folder = Folder::new().file("a.trace", b"4\n").file("b.trace", b"2\n");
    let without = |text: String| text.replace("rate = \"10 Mbit/s\"\n", "");
    let text = without(on_link("trace = \"a.trace\"")).replace("200 packets", "100 ms");
    let scenario = folder.load(&text).expect("a good one");
    let queue = scenario.queues().next().expect("a link");
    assert_eq!((queue.rate.bps(), queue.trace_mean.map(|rate| rate.bps())), (3_008_000, Some(3_008_000)));
    let typed = folder.load(&text.replace("buffer", "rate = \"3008 kbit/s\"\nbuffer")).expect("a good one");
    assert_eq!(run(&scenario), run(&typed), "as if the mean were typed");
    let other = folder.load(&on_link("trace = \"a.trace\"")).expect("a good one");
    let queue = other.queues().next().expect("a link");
    assert_eq!((queue.rate.bps(), queue.trace_mean.map(|rate| rate.bps())), (10_000_000, Some(3_008_000)));

    let back = format!("{text}[return]\ntrace = \"b.trace\"\n");
    let rates = |text: &str| {
        let scenario = folder.load(text).unwrap_or_else(|error| panic!("{error}"));
        scenario.queues().map(|queue| queue.rate.bps()).collect::<Vec<_>>()
    };
    assert_eq!(rates(&back), [3_008_000, 6_016_000]);
    assert_eq!(rates(&format!("{text}[return]\n")), [3_008_000; 2]);
    let network = "format = 2\nname = \"net\"\nduration = \"4 s\"\nseeds = 1\ndisciplines = [\"tail-drop\"]\n\
        nodes = [\"a\", \"b\"]\n\
        [[link]]\nfrom = \"a\"\nto = \"b\"\ntrace = \"a.trace\"\ndelay = \"1 ms\"\nbuffer = \"50 packets\"\n\
        back = { trace = \"b.trace\" }\n\
        [[flow]]\ngroup = \"g\"\nfrom = \"a\"\nto = \"b\"\nsource = \"bulk\"\n\
        access = { rate = \"10 Mbit/s\", delay = \"1 ms\" }\n";
    assert_eq!(rates(network), [3_008_000, 6_016_000]);
    let notes = folder.load(network).expect("a good one").notes().to_vec();
    says(&notes[0], &["`a-b` follows a trace, mean 3.01 Mbit/s; disciplines there go by 3.01 Mbit/s"]);

    let nothing = without(on_link(""));
    says(
        &refusal(folder.load(&nothing), "no rate"),
        &["the key `rate` is missing in `link`", "or `trace` or `pattern`"],
    );
    let changes = without(on_link("changes = [{ at = \"1 s\", rate = \"1 Mbit/s\" }]"));
    says(&refusal(folder.load(&changes), "no rate"), &["the key `rate` is missing"]);
    let fast = Folder::new().file("a.trace", "1\n".repeat(200_000).as_bytes()); // 2.4 Tbit/s
    says(&refusal(fast.load(&text), "fast"), &["link.trace", "1 bit/s to 1000 Gbit/s"]);
}

#[test]
fn a_link_that_no_flow_can_fill_is_noted() {
    let notes = |access: &str, more: &str| {
        let flows = format!("{BULK}\ntcp = {{ profile = \"modern\" }}\ncount = 3\n{more}");
        let text = text(&flows).replace("rate = \"100 Mbit/s\"", &format!("rate = \"{access}\""));
        parse("one.toml", &text, &Overrides::default()).expect("a good one").notes().to_vec()
    };
    let slow = notes("1 kbit/s", "");
    assert_eq!(slow.len(), 1, "{slow:?}");
    says(&slow[0], &["no flow can fill `bottleneck`", "at most 3 kbit/s over its 10 Mbit/s"]);
    assert_eq!(notes("4 Mbit/s", ""), [""; 0], "three of them can");
    let cbr = "[[flow]]\ngroup = \"cbr\"\nsource = { cbr = { rate = \"9 Mbit/s\" } }\n\
        access = { rate = \"1 Gbit/s\", delay = \"1 ms\" }";
    assert_eq!(notes("334 kbit/s", cbr), [""; 0], "nor where others fill it");
    says(&notes("333 kbit/s", cbr)[0], &["no flow can fill `bottleneck`", "at most 10 Mbit/s"]);
    assert_eq!(notes("1 kbit/s", "[return]\n").len(), 1, "where only ACKs go nothing is to be filled");
}
