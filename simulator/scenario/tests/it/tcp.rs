//! Every constant of a TCP can be entered, and invalid constants are refused.

use fairwire_scenario::{Overrides, parse, run_all};
use std::sync::atomic::AtomicBool;

const TEXT: &str = r#"
format = 2
name = "tcp"
duration = "5 s"
seeds = 1
disciplines = ["tail-drop"]
[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "40 packets"
[discipline.tail-drop]
[[flow]]
group = "tcp"
source = "bulk"
tcp = { TCP }
access = { rate = "100 Mbit/s", delay = "1 ms" }
"#;

fn kind(tcp: &str) -> String {
    let scenario =
        parse("tcp.toml", &TEXT.replace("TCP", tcp), &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    let outcome = run_all(&scenario, 1, &|_| {}, &AtomicBool::new(false)).unwrap();
    let flow = &outcome.runs[0].flows[0];
    assert!(flow.throughput_bps > 0.5e6, "{tcp}: {}", flow.throughput_bps);
    flow.kind.to_string()
}

fn message(tcp: &str) -> String {
    parse("tcp.toml", &TEXT.replace("TCP", tcp), &Overrides::default()).expect_err("refused").to_string()
}

#[track_caller]
fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "no `{part}` in: {message}");
    }
}

#[test]
fn every_recovery_profile_and_controller_can_be_chosen() {
    for recovery in ["tahoe", "reno", "newreno", "sack"] {
        let old = format!("profile = \"ns2-2002\", recovery = \"{recovery}\"");
        assert_eq!(kind(&old), format!("bulk {recovery}"));
    }
    assert_eq!(kind("profile = \"modern\", recovery = \"rack\", control = \"reno\""), "bulk rack");
    for control in
        ["binomial", "cubic", "dctcp", "prague", "ledbat", "bbr", "bbr3", "vegas", "bic", "westwood"]
    {
        assert_eq!(kind(&format!("recovery = \"sack\", control = \"{control}\"")), format!("bulk {control}"));
    }
    for (profile, expected) in
        [("ns1-1998", "newreno"), ("ns2-2002", "newreno"), ("ns2-2006", "newreno"), ("modern", "cubic")]
    {
        assert_eq!(kind(&format!("profile = \"{profile}\"")), format!("bulk {expected}"));
    }
    let all = "control = { cubic = { beta = 0.8, hystart = false } }, delayed_ack = { segments = 3, timeout = \"100 ms\", quick_acks = 16 }, \
               ecn = \"ect0\", exact_rtt = true, restart_window = 0, quirks = { max_per_ack = 4, grows_unused = false }";
    assert_eq!(kind(all), "bulk cubic");
}

/// Returns a segment's payload in bytes, and the scenario's notes.
fn taken(tcp: &str) -> (f64, Vec<String>) {
    let scenario =
        parse("tcp.toml", &TEXT.replace("TCP", tcp), &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    let outcome = run_all(&scenario, 1, &|_| {}, &AtomicBool::new(false)).unwrap();
    let flow = &outcome.runs[0].flows[0];
    let headers = 1.0 - flow.goodput_bps / flow.throughput_bps; // 40 bytes of each packet
    ((40.0 / headers - 40.0).round(), scenario.notes().to_vec())
}

#[test]
fn every_controller_has_the_modern_profile_by_default() {
    let runs = |tcp: &str| {
        let text = TEXT.replace("TCP", tcp);
        let scenario = parse("tcp.toml", &text, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
        let outcome = run_all(&scenario, 1, &|_| {}, &AtomicBool::new(false)).unwrap();
        (outcome.runs[0].flows[0].clone(), outcome.runs[0].events)
    };
    for control in fairwire_scenario::control::all().iter().map(|controller| controller.name) {
        let alone = runs(&format!("control = \"{control}\""));
        for profile in ["modern", "linux"] {
            let typed = format!("profile = \"{profile}\", control = \"{control}\"");
            assert_eq!(runs(&typed), alone, "{control}");
        }
        let (segment, notes) = taken(&format!("control = \"{control}\""));
        assert_eq!((segment, notes), (1448.0, Vec::new()), "{control}");
    }
    assert_eq!(taken(""), (1448.0, Vec::new()));
    assert_eq!(runs(""), runs("control = \"cubic\""));
    for control in ["reno", "cubic"] {
        let (old, default) =
            (format!("profile = \"ns2-2002\", control = \"{control}\""), format!("control = \"{control}\""));
        assert_ne!(runs(&old), runs(&default), "what is typed stays");
        assert_eq!(taken(&old).0, 512.0);
    }
}

#[test]
fn groups_whose_profiles_differ_are_noted() {
    let notes = |first: &str, second: &str| {
        let other = TEXT.split_once("[[flow]]").expect("a group").1.replace("\"tcp\"", "\"other\"");
        let text = format!("{}[[flow]]{}", TEXT.replace("TCP", first), other.replace("TCP", second));
        parse("tcp.toml", &text, &Overrides::default()).unwrap_or_else(|e| panic!("{e}")).notes().to_vec()
    };
    let noted = notes("profile = \"ns2-2006\"", "control = \"reno\"");
    says(&noted[0], &["TCP profiles differ", "`tcp` \"ns2-2006\"; `other` \"modern\""]);
    assert_eq!(notes("control = \"reno\"", "profile = \"linux\", control = \"bbr3\""), [""; 0]);
}

#[test]
fn rack_needs_exact_flight_counts_and_processing_is_bounded() {
    says(
        &message("profile = \"ns2-2002\", recovery = \"rack\""),
        &["`flow.tcp.tcp.recovery` is `rack`", "the profile \"ns2-2002\" counts", "sack_counts_acks = false"],
    );
    says(
        &message("profile = \"modern\", processing = \"24 ms\""),
        &["`flow.tcp.tcp.processing` is 24 ms", "a round trip takes 24 ms", "\"packet\""],
    );
    says(&message("profile = \"modern\", processing = \"2 s\""), &["above the maximum", "1 s"]);
    for processing in ["packet", "0 s", "23 ms"] {
        assert_eq!(kind(&format!("profile = \"modern\", processing = \"{processing}\"")), "bulk cubic");
    }
    says(
        &message("processing = \"0.4 ns\""),
        &["`flow.tcp.tcp.processing`", "\"0.4 ns\" is less than a nanosecond", "\"1 ns\""],
    );
    for key in ["limited_transmit", "exact_rtt"] {
        let given = message(&format!("profile = \"modern\", {key} = false"));
        says(&given, &[&format!("`flow.tcp.tcp.{key}` is `false`"), "\"rack\"", "recovery = \"sack\""]);
        assert_eq!(kind(&format!("profile = \"modern\", recovery = \"sack\", {key} = false")), "bulk cubic");
    }
    says(&message("processing = \"pocket\""), &["`flow.tcp.tcp.processing`", "pocket", "or \"packet\""]);
}

#[test]
fn hosts_without_processing_time_are_noted_under_disciplines_that_drop_by_place() {
    let notes = |tcp: &str, disciplines: &str| {
        let text = TEXT.replace("TCP", tcp).replace("source = \"bulk\"", "source = \"bulk\"\ncount = 2");
        let text = text.replace("[\"tail-drop\"]", disciplines).replace("[discipline.tail-drop]\n", "");
        parse("tcp.toml", &text, &Overrides::default()).unwrap_or_else(|e| panic!("{e}")).notes().to_vec()
    };
    let noted = notes("profile = \"ns2-2006\"", "[\"fifo\", \"drr+lqd\", \"fq-codel\"]");
    says(&noted[0], &["`tcp`: hosts take no time, so under `tail-drop`, `drr+lqd` the losers", "processing"]);
    for (tcp, disciplines) in [
        ("profile = \"modern\"", "[\"tail-drop\"]"),
        ("profile = \"ns2-2006\", processing = \"packet\"", "[\"tail-drop\"]"),
        ("profile = \"ns2-2006\"", "[\"fq-codel\"]"),
    ] {
        assert_eq!(notes(tcp, disciplines), [""; 0], "{tcp} {disciplines}");
    }
}

#[test]
fn bbr_without_selective_acknowledgements_is_refused() {
    says(
        &message("profile = \"ns2-2002\", control = \"bbr\""),
        &[
            "`flow.tcp.tcp.control` is `bbr`",
            "the profile \"ns2-2002\" has no selective acknowledgements",
            "`recovery = \"rack\"` or",
        ],
    );
    says(&message("recovery = \"newreno\", control = \"bbr\""), &["`recovery` is not \"sack\""]);
    assert_eq!(kind("profile = \"ns2-2002\", recovery = \"sack\", control = \"bbr\""), "bulk bbr");
}

/// The mean queueing delay, ms, of one Vegas flow with Linux's arithmetic.
fn wait_ms_of_vegas(delayed_ack: &str) -> f64 {
    let text = format!(
        r#"
format = 2
name = "vegas"
duration = "30 s"
warm_up = "10 s"
seeds = 1
disciplines = ["tail-drop"]
[link]
rate = "10 Mbit/s"
delay = "0 s"
buffer = "66 packets"
[[flow]]
group = "vegas"
source = "bulk"
tcp = {{ control = {{ vegas = {{ over_least = true }} }}, header = "52 B", ack = "52 B", delayed_ack = {delayed_ack}, processing = "0 s" }}
access = {{ rate = "100 Gbit/s", delay = "9.7 ms" }}
"#
    );
    let scenario = parse("vegas.toml", &text, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    let outcome = run_all(&scenario, 1, &|_| {}, &AtomicBool::new(false)).unwrap();
    outcome.runs[0].links[0].sojourn.as_ref().expect("it is measured").mean_s * 1e3
}

/// Segments are acknowledged in pairs, so w segments have a queue of (w - 1/2) × 1.2 ms - 40.042
/// ms. The round trip of 40.042 ms includes 1.2 ms for a segment and 0.042 ms for the
/// acknowledgement.
///
/// After slow start, w falls until fewer than 5 segments seem to wait. It ends at 37 if the first
/// segment is acknowledged at once, because that round trip is the minimum. Otherwise it ends at
/// 39.
#[test]
fn vegas_queues_less_if_first_segments_are_acknowledged_at_once() {
    for (delayed_ack, window) in [("{ quick_acks = 16 }", 37.0), ("{ quick_acks = 1 }", 37.0), ("{}", 39.0)] {
        let (wait_ms, expected) = (wait_ms_of_vegas(delayed_ack), (window - 0.5) * 1.2 - 40.0416);
        // The access links add 0.0003 ms.
        assert!((wait_ms - expected).abs() < 0.001, "{delayed_ack}: {wait_ms}");
    }
}
