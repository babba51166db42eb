//! Limits of a sender: host queue, access link and receiver's window.

use fairwire_core::Duration;
use fairwire_scenario::{Overrides, Scenario, parse, run_single};
use fairwire_sim::{Observer, View};
use std::ops::ControlFlow;

fn read(link: &str, access: &str, flow: &str) -> Scenario {
    let text = format!(
        "format = 2\nname = \"limits\"\nduration = \"20 s\"\nseeds = 1\ndisciplines = [\"tail-drop\"]\n\
         link = {{ rate = \"{link}\", delay = \"5 ms\", buffer = \"1 bdp\" }}\n\
         [[flow]]\ngroup = \"a\"\naccess = {{ rate = \"{access}\", delay = \"1 ms\" }}\n{flow}"
    );
    parse("limits.toml", &text, &Overrides::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[derive(Default)]
struct Widest {
    srtt: Duration,
    window: f64,
}

impl Observer for Widest {
    fn interval(&self) -> Option<Duration> {
        Some(Duration::from_secs(1))
    }

    fn sample(&mut self, view: &View<'_>) {
        for window in view.flows().filter_map(|flow| flow.window).filter(|_| view.now().ns() > 5_000_000_000)
        {
            self.srtt = self.srtt.max(window.srtt.unwrap_or_default());
            self.window = self.window.max(window.cwnd);
        }
    }
}

fn widest(tcp: &str) -> (Widest, f64) {
    let flows = format!("source = \"bulk\"\ncount = 4\ntcp = {{ {tcp} }}\n");
    let (scenario, mut widest) = (read("1 Gbit/s", "100 Mbit/s", &flows), Widest::default());
    let go_on = &mut |_| ControlFlow::Continue(());
    let record =
        run_single(&scenario, 0, 1, go_on, Some(&mut widest)).expect("it can be built").expect("it ends");
    (widest, record.flows.iter().map(|flow| flow.throughput_bps).sum::<f64>() / 400e6)
}

#[test]
fn a_sender_of_today_queues_some_milliseconds_at_the_link_of_its_host_and_fills_it() {
    for control in ["cubic", "reno", "bbr", "dctcp"] {
        let (widest, used) = widest(&format!("control = \"{control}\""));
        // Without queues, `srtt` is 14.2 ms. The host's queue adds at most 2 ms, and delayed
        // acknowledgements add some time.
        assert!(widest.srtt < Duration::from_ms(20), "{control}: {}", widest.srtt);
        // At 100 Mbit/s, 20 ms hold about 170 segments. The bound is 3.5 times this number.
        assert!(widest.window < 600.0, "{control}: {}", widest.window);
        assert!(used > 0.98, "{control}: {used}");
    }
}

#[test]
fn the_host_queue_is_configurable_and_unbounded_in_simulator_profiles() {
    let srtt = |tcp: &str| widest(tcp).0.srtt;
    assert!((25..32).contains(&(srtt("host_queue = \"12 ms\"").ns() / 1_000_000)));
    assert!(srtt("host_queue = \"0 s\"") < Duration::from_ms(17));
    assert!(srtt("host_queue = \"1 h\"") > Duration::from_ms(300));
    assert!(srtt("profile = \"ns2-2002\"") > Duration::from_ms(40));
    let text = "source = \"bulk\"\ntcp = { host_queue = \"2 h\" }\n";
    let text = format!(
        "format = 2\nname = \"l\"\nduration = \"1 s\"\nseeds = 1\ndisciplines = [\"tail-drop\"]\n\
         link = {{ rate = \"1 Mbit/s\", delay = \"5 ms\", buffer = \"9 packets\" }}\n\
         [[flow]]\ngroup = \"a\"\naccess = {{ rate = \"1 Mbit/s\", delay = \"1 ms\" }}\n{text}"
    );
    let error = parse("l.toml", &text, &Overrides::default()).expect_err("too long").to_string();
    assert!(error.contains("`flow.a.tcp.host_queue` is 7200 s") && error.contains("3600 s"), "{error}");
}

#[test]
fn the_limit_of_flows_that_cannot_fill_a_link_is_noted() {
    let notes = |access: &str, flow: &str| read("500 Mbit/s", access, flow).notes().join("\n");
    let has = |note: &str, parts: &[&str]| {
        parts.iter().for_each(|part| assert!(note.contains(part), "no `{part}` in: {note}"));
    };
    let window = notes("1 Gbit/s", "source = \"bulk\"\ntcp = { window = 75 }\n");
    // 75 packets × 1488 B per round trip of 14 ms are 63.8 Mbit/s.
    has(
        &window,
        &[
            "send at most 63.8 Mbit/s over its 500 Mbit/s (13 %)",
            "`a`: limited by the receiver's window of 75 segments",
        ],
    );
    let access = notes("100 Mbit/s", "source = \"bulk\"\ncount = 4\n");
    has(
        &access,
        &["(80 %)", "`a`: limited by the access link of 100 Mbit/s, at which 2 ms of it wait at most"],
    );
    let old = notes("100 Mbit/s", "source = \"bulk\"\ntcp = { profile = \"ns2-2002\" }\n");
    has(&old, &["the access link of 100 Mbit/s, at which the rest waits"]);
    has(
        &notes("1 Gbit/s", "source = { cbr = { rate = \"5 Mbit/s\" } }\n"),
        &["(1 %)", "`a`: limited by their own rate of 5 Mbit/s"],
    );
    assert_eq!(notes("1 Gbit/s", "source = \"bulk\"\ntcp = { window = 1000 }\n"), "");
}
