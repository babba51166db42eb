//! Calls and videos against values computed by hand.

use fairwire_metrics::record::RunRecord;
use fairwire_metrics::{Kind, summary};
use fairwire_scenario::{Overrides, parse, run_all};
use std::sync::atomic::AtomicBool;

fn run(seconds: u32, link: &str, flows: &str) -> RunRecord {
    let text = format!(
        "format = 2\nname = \"one\"\nduration = \"{seconds} s\"\nwarm_up = \"40 s\"\nseeds = 1\n\
         disciplines = [\"tail-drop\"]\n[link]\ndelay = \"10 ms\"\nbuffer = \"1000 packets\"\n{link}\n{flows}"
    );
    let scenario = parse("one.toml", &text, &Overrides::default()).unwrap_or_else(|error| panic!("{error}"));
    let outcome = run_all(&scenario, 1, &|_| (), &AtomicBool::new(false)).expect("it can be built");
    outcome.runs.into_iter().next().expect("one run")
}

const ACCESS: &str = "access = { rate = \"10 Gbit/s\", delay = \"5 ms\" }";

fn call(group: &str, parameters: &str) -> String {
    format!("[[flow]]\ngroup = \"{group}\"\n{ACCESS}\nsource = {{ call = {{ {parameters} }} }}\n")
}

fn video(parameters: &str) -> String {
    format!(
        "[[flow]]\ngroup = \"video\"\n{ACCESS}\nsource = {{ streaming = {{ {parameters} }} }}\n\
         tcp = {{ profile = \"modern\", segment = \"1448 B\" }}\n"
    )
}

fn measure(run: &RunRecord, name: &str) -> f64 {
    summary::measure(run, name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn a_lone_call_fills_the_link_with_its_equilibrium_queue() {
    for (rate, queue_s) in [(50, 0.020), (25, 0.040)] {
        let flow = call("call", "least = \"5 Mbit/s\", most = \"100 Mbit/s\"");
        let run = run(120, &format!("rate = \"{rate} Mbit/s\""), &flow);
        assert!(run.links[0].utilization > 0.99, "{}", run.links[0].utilization);
        let sojourn_s = run.links[0].sojourn.as_ref().expect("packets waited").mean_s;
        // RFC 8698, equation (5): `queue_s` is 10 ms × 100 Mbit/s / `rate`. NADA uses the minimum
        // delay of the latest 15 packets, so the mean is longer by a few transmission times, each
        // of at most 0.4 ms.
        assert!((sojourn_s / queue_s - 1.0).abs() < 0.10, "{sojourn_s} s, not {queue_s} s");
        assert_eq!((measure(&run, "freezes.call"), measure(&run, "lost_frames.call")), (0.0, 0.0));
    }
}

#[test]
fn calls_share_in_proportion_to_priority_times_maximum() {
    let of = |most: &str, priority: &str| {
        format!("least = \"1 Mbit/s\", most = \"{most} Mbit/s\", priority = {priority}")
    };
    for (most, priority, ratio) in [("100", "1.0", 1.0), ("100", "2.0", 2.0), ("50", "1.0", 0.5)] {
        let flows = call("a", &of("100", "1.0")) + &call("b", &of(most, priority));
        let run = run(300, "rate = \"50 Mbit/s\"", &flows);
        let actual = measure(&run, "throughput_bps.b") / measure(&run, "throughput_bps.a");
        assert!((actual / ratio - 1.0).abs() < 0.10, "{actual}, not {ratio}");
    }
}

#[test]
fn a_video_on_a_link_between_two_bitrates_plays_their_mean_and_never_stalls() {
    let parameters = "rates = [\"1 Mbit/s\", \"3 Mbit/s\"], buffer = \"24 s\", chunk = \"1 s\"";
    let run = run(3000, "rate = \"2 Mbit/s\"", &video(parameters));
    // A chunk arrives in 0.5 or 1.6 s. Then the link is idle for a round trip of 30 ms and a
    // delayed acknowledgement.
    let good = run.flows[0].goodput_bps;
    assert!((0.90..0.98).contains(&(good / (2e6 * 1448.0 / 1500.0))), "{good}");
    // Played and received data differ by at most a full buffer: 24 s at 3 Mbit/s, or 1.3 % of the
    // total.
    let bps = measure(&run, "play_bps.video");
    assert!((bps / good - 1.0).abs() < 0.013, "{bps} of {good}");
    assert_eq!((measure(&run, "stalls.video"), measure(&run, "stall_part.video")), (0.0, 0.0));
    assert!((measure(&run, "play_part.video") - 1.0).abs() < 1e-9);
    // At 1 Mbit/s, the buffered time rises from 9 to 21.6 s. At 3 Mbit/s, it falls back.
    let cycle_s = 12.6 / (good / 1e6 - 1.0) + 12.6 / (1.0 - good / 3e6);
    let switches = measure(&run, "switches.video");
    assert!((switches / (2.0 * 2960.0 / cycle_s) - 1.0).abs() < 0.15, "{switches}"); // a chunk of 12.6 s at either end
}

#[test]
fn an_outage_beyond_the_buffer_stalls_a_video_once_for_the_excess() {
    let video = video("rates = [\"1 Mbit/s\"], buffer = \"20 s\", chunk = \"2 s\"");
    let link =
        |down: &str| format!("rate = \"8 Mbit/s\"\nchanges = [{{ at = \"100 s\", down = \"{down}\" }}]");
    // A chunk is requested when the buffer holds 18 s, so the buffer outlasts 15 s.
    let short = run(300, &link("15 s"), &video);
    assert_eq!(measure(&short, "stalls.video"), 0.0);
    let long = run(300, &link("60 s"), &video);
    assert_eq!(measure(&long, "stalls.video"), 1.0);
    let stall = Kind::Stall.record_of("video", &long.transfers).expect("a record").times.max_s;
    // The buffer of 18 to 20 s runs empty 40 to 42 s before the link returns. Timeouts double, so
    // the next retransmission may come 60 s after the link's return.
    assert!((40.0..42.0 + 60.0).contains(&stall), "{stall}");
    assert!((measure(&long, "stall_part.video") - stall / 260.0).abs() < 1e-9);
    assert!((measure(&long, "play_part.video") + measure(&long, "stall_part.video") - 1.0).abs() < 1e-9);
}

#[test]
fn a_video_above_its_link_stalls_after_each_chunk_for_the_excess() {
    // A chunk is 4 s × 4 Mbit/s = 16 Mbit.
    let run = run(440, "rate = \"2 Mbit/s\"", &video("rates = [\"4 Mbit/s\"]"));
    let takes_s = 16e6 / (2e6 * 1448.0 / 1500.0);
    let stalls = measure(&run, "stalls.video");
    assert!((stalls - 400.0 / takes_s).abs() <= 1.0, "{stalls}");
    // The tolerance allows for the round trip after a chunk.
    let mean_s = measure(&run, "stall_mean_s.video");
    assert!((mean_s - (takes_s - 4.0)).abs() < 0.1, "{mean_s}");
    // The played bytes of an unfinished chunk are rounded down.
    assert!((measure(&run, "play_bps.video") / 4e6 - 1.0).abs() < 1e-6);
}

#[test]
fn a_video_that_never_starts_has_waited_all_the_time() {
    let run = run(100, "rate = \"2 Mbit/s\"\nchanges = [{ at = \"1 us\", down = \"200 s\" }]", &video(""));
    assert_eq!((measure(&run, "startups.video"), measure(&run, "startup_part.video")), (1.0, 1.0));
    assert_eq!((measure(&run, "startup_mean_s.video"), measure(&run, "stalls.video")), (100.0, 0.0));
}
