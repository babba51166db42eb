//! Links and disciplines, compared with figures that people know from other tools.

use fairwire_metrics::record::{FlowRecord, LinkRecord, RunRecord, Sojourn};
use fairwire_scenario::{Overrides, Scenario, parse, run_all};
use std::sync::atomic::AtomicBool;

fn parsed(text: &str) -> Result<Scenario, String> {
    parse("case.toml", text, &Overrides::default()).map_err(|error| error.to_string())
}

fn runs(text: &str) -> Vec<RunRecord> {
    let scenario = parsed(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run_all(&scenario, 0, &|_| {}, &AtomicBool::new(false)).expect("it runs").runs
}

fn link<'a>(run: &'a RunRecord, name: &str) -> &'a LinkRecord {
    run.links.iter().find(|link| link.name == name).unwrap_or_else(|| panic!("no link {name}"))
}

fn waits(run: &RunRecord, name: &str) -> Sojourn {
    link(run, name).sojourn.clone().expect("packets went")
}

fn flows<'a>(run: &'a RunRecord, group: &str) -> impl Iterator<Item = &'a FlowRecord> {
    run.flows.iter().filter(move |flow| &*flow.group == group)
}

fn goodput(run: &RunRecord, group: &str) -> f64 {
    flows(run, group).map(|flow| flow.goodput_bps).sum::<f64>() / 1e6
}

fn flood(discipline: &str, link: &str, source: &str) -> String {
    format!(
        "format = 2\nname = \"flood\"\nduration = \"1 s\"\nseeds = [1]\n{discipline}\n\
         [link]\n{link}\n[[flow]]\ngroup = \"udp\"\nsource = {{ cbr = {{ {source} }} }}\n\
         access = {{ rate = \"10 Gbit/s\", delay = \"0 s\" }}\n"
    )
}

#[test]
fn a_policer_passes_8376_packets_at_twice_its_rate_in_a_second() {
    let text = |policer: &str| {
        flood(
            &format!("disciplines = [\"policer\"]\n[discipline.policer]\n{policer}"),
            "rate = \"1 Gbit/s\"\ndelay = \"0 s\"\nbuffer = \"100 packets\"",
            "rate = \"200 Mbit/s\", packet = \"1500 B\"",
        )
    };
    let run = &runs(&text("rate = \"100 Mbit/s\"\nbucket = \"64 kB\""))[0];
    let udp = flows(run, "udp").next().expect("one");
    let passed = udp.packets_sent - udp.packets_dropped;
    assert!((8375..=8377).contains(&passed), "{passed}");
    assert_eq!(waits(run, "bottleneck").max_s, 0.0, "none waits");
    for (without, given) in
        [("rate = \"100 Mbit/s\"", "not given beside `rate`"), ("bucket = \"0 B\"", "0 B")]
    {
        let message = parsed(&text(without)).expect_err("there is no bucket");
        assert!(message.contains("bucket") && message.contains(given), "{message}");
        assert!(message.contains("allowed: a size of a typical packet, 1500 B, or more"), "{message}");
    }
}

#[test]
fn a_threshold_may_be_a_fraction_of_a_packet_and_a_buffer_may_not() {
    let text = |red: &str| {
        let discipline = format!("disciplines = [\"red\"]\n[discipline.red]\n{red}");
        flood(
            &discipline,
            "rate = \"10 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"200 packets\"",
            "rate = \"1 Mbit/s\"",
        )
    };
    assert!(parsed(&text("min_threshold = \"77.5 packets\"\nmax_threshold = \"78 packets\"")).is_ok());
    let message = parsed(&text("buffer = \"77.5 packets\"")).expect_err("no half of a packet waits");
    assert!(message.contains("`77.5 packets` is not a whole number"), "{message}");
}

/// Floods a link at twice its rate. Returns the dropped fraction, the marked fraction of the rest,
/// and the median wait, ms.
fn under(law: &str, ecn: &str) -> [f64; 3] {
    let disciplines = format!(
        "disciplines = [\"{law}\"]\n[discipline.codel]\necn = \"mark\"\n[discipline.pie]\necn = \"mark\""
    );
    let link = "rate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"200 ms\"";
    let source = format!("rate = \"20 Mbit/s\", packet = \"1500 B\", ecn = \"{ecn}\"");
    let text = flood(&disciplines, link, &source).replace("\"1 s\"", "\"20 s\"\nwarm_up = \"10 s\"");
    let run = &runs(&text)[0];
    let udp = flows(run, "udp").next().expect("one");
    let [sent, dropped, marked] =
        [udp.packets_sent, udp.packets_dropped, udp.packets_marked].map(|count| count as f64);
    [dropped / sent, marked / (sent - dropped), waits(run, "bottleneck").p50_s * 1e3]
}

#[test]
fn an_ecn_capable_flood_fills_the_buffer_of_codel_but_not_pie_or_dualpi2() {
    let about = |[dropped, marked, wait]: [f64; 3], expected: [f64; 3]| {
        assert!((dropped - 0.5).abs() < 0.01, "half of it must go: {dropped}");
        assert!(
            (marked - expected[1]).abs() < 0.2 && (wait / expected[2] - 1.0).abs() < 0.1,
            "{marked} {wait}"
        );
    };
    for ecn in ["ect0", "ect1", "ce"] {
        about(under("codel", ecn), [0.5, 0.87, 199.0]); // marks drop nothing, so packets wait the buffer's 200 ms
        about(under("pie", ecn), [0.5, 0.0, 15.0]); // above `mark_limit`, 10 %, it drops capable packets too
    }
    about(under("codel", "none"), [0.5, 0.0, 104.0]);
    about(under("dualpi2", "ect0"), [0.5, 0.0, 14.4]); // as the RFC's overload: drops in both queues
    about(under("dualpi2", "ect1"), [0.5, 1.0, 14.4]); // and the rest of the L4S queue is marked
    let unknown = flood(
        "disciplines = [\"codel\"]",
        "rate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"9 packets\"",
        "rate = \"1 Mbit/s\", ecn = \"ect2\"",
    );
    let message = parsed(&unknown).expect_err("no codepoint");
    assert!(message.contains("ect2") && message.contains("`none`, `ect0`, `ect1` or `ce`"), "{message}");
}

/// Returns the 95th percentile of the waits in the provider's queue, ms, and the rate of `count`
/// downloads, Mbit/s.
fn behind_a_provider(count: u32, discipline: &str) -> (f64, f64) {
    let text = include_str!("../../../../scenarios/ingress.toml");
    let set = vec![format!("flow.updater.count={count}")];
    let disciplines = vec![discipline.to_owned()];
    let overrides = Overrides { set, disciplines, ..Overrides::default() };
    let scenario = parse("ingress.toml", text, &overrides).unwrap_or_else(|error| panic!("{error}"));
    let runs = run_all(&scenario, 0, &|_| {}, &AtomicBool::new(false)).expect("it runs").runs;
    let mean = |of: &dyn Fn(&RunRecord) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
    let carried = mean(&|run| flows(run, "updater").map(|flow| flow.throughput_bps).sum());
    (mean(&|run| waits(run, "isp").p95_s.expect("measured")) * 1e3, carried / 1e6)
}

#[test]
fn a_shaper_that_charges_its_drops_keeps_the_queue_of_the_provider_short() {
    let (wait, carried) = behind_a_provider(150, "plain");
    assert!(wait > 200.0 && carried > 18.0, "its drops have crossed the line: {wait} ms, {carried}");
    let (wait, carried) = behind_a_provider(150, "ingress-long");
    assert!(wait <= 15.0 && carried >= 15.0, "{wait} ms, {carried} Mbit/s"); // 13.1 ms, 10 to 16 by seed, and 16.9
    for count in [8, 32, 64] {
        let (wait, carried) = behind_a_provider(count, "ingress");
        assert!(wait <= 15.0 && carried >= 15.0, "{count}: {wait} ms, {carried} Mbit/s");
    }
}

fn thin_upload(uploads: u32, parameters: &str) -> RunRecord {
    let flow = |group: &str, count: u32, direction: &str| {
        format!(
            "[[flow]]\ngroup = \"{group}\"\ncount = {count}\nsource = \"bulk\"\ndirection = \"{direction}\"\n\
             access = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
             tcp = {{ profile = \"modern\", ack = \"84 B\" }}\n"
        )
    };
    let text = format!(
        "format = 2\nname = \"thin\"\nduration = \"40 s\"\nwarm_up = \"10 s\"\nseeds = [1]\n\
         disciplines = [\"cake-like\"]\n[discipline.cake-like]\n{parameters}\n\
         [link]\nrate = \"50 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"100 ms\"\n\
         [return]\nrate = \"1 Mbit/s\"\nbuffer = \"100 ms\"\nbottleneck = true\n{}{}",
        flow("down", 1, "forward"),
        flow("up", uploads, "reverse")
    );
    runs(&text).remove(0)
}

#[test]
fn filtered_acknowledgements_leave_a_thin_upload_to_data() {
    let measured = |uploads, filter: &str| {
        let run = thin_upload(uploads, &format!("ack_filter = \"{filter}\""));
        let down: f64 = flows(&run, "down").map(|flow| flow.throughput_bps).sum();
        (down / 1e6, goodput(&run, "up"))
    };
    let (down, up) = measured(1, "off");
    assert!(down > 40.0 && up < 0.5, "half of the upload is acknowledgements: {down} {up}");
    for filter in ["on", "aggressive"] {
        let (down, up) = measured(1, filter);
        assert!(down >= 45.0 && up >= 0.85, "{filter}: {down} {up} Mbit/s");
        for uploads in [4, 8] {
            let (without, with) = (measured(uploads, "off"), measured(uploads, filter));
            // Each acknowledgement waits for one packet of each upload, so the download may lose a
            // quarter of its rate.
            assert!(with.1 > without.1 && with.0 > 0.75 * without.0, "{uploads}: {without:?} {with:?}");
        }
    }
}

#[test]
fn a_device_queue_behind_a_discipline_adds_delay_beyond_its_control() {
    let text = |device: &str| {
        format!(
            "format = 2\nname = \"device\"\nduration = \"20 s\"\nwarm_up = \"5 s\"\nseeds = [1]\n\
             disciplines = [\"fq-codel\"]\n\
             [link]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"1000 packets\"\n{device}\n\
             [[flow]]\ngroup = \"tcp\"\ncount = 4\nsource = \"bulk\"\n\
             access = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\ntcp = {{ profile = \"modern\" }}\n"
        )
    };
    let wait = |device: &str| waits(&runs(&text(device))[0], "bottleneck").p50_s * 1e3;
    let (without, with) = (wait(""), wait("device = \"100 packets\""));
    // The device's 100 packets of 1500 B take 120 ms.
    assert!(without < 15.0 && (with - 120.0).abs() < 5.0, "{without} {with}");
    for (device, given) in
        [("'64 KiB'", "64 KiB"), ("'65537 packets'", "65537 packets"), ("'0 packets'", "0 packets")]
    {
        let message = parsed(&text(&format!("device = {device}"))).expect_err("no such device");
        assert!(
            message.contains("device") && message.contains(given) && message.contains("allowed"),
            "{message}"
        );
    }
}
