//! Links as people measured them.

use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{Observer, Overrides, PacketEvent, Scenario, load, run_single};
use fairwire_sim::What;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

fn text(link: &str, more: &str) -> String {
    format!(
        "format = 2\nname = \"one\"\nduration = \"60 s\"\nseeds = 1\ndisciplines = [\"tail-drop\"]\n\
         [link]\nbuffer = \"200 packets\"\n{link}\n\
         [[flow]]\ngroup = \"g\"\naccess = {{ rate = \"1 Gbit/s\", delay = \"0 s\" }}\n\
         source = {{ cbr = {{ rate = \"100 kbit/s\", packet = \"125 B\" }} }}\n{more}\n"
    )
}

fn read(files: &[(&str, &str)], text: &str) -> Result<Scenario, String> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files.iter().chain(&[("one.toml", text)]) {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    load(Path::new(&folder.path().join("one.toml")), &Overrides::default()).map_err(|error| error.to_string())
}

/// The record, and the delays in ms of the first flow's packets from source to receiver, in order
/// of arrival.
fn run(files: &[(&str, &str)], text: &str) -> (RunRecord, Vec<f64>) {
    let scenario = read(files, text).unwrap_or_else(|error| panic!("{error}"));
    let mut seen = Seen::default();
    let go_on = &mut |_| ControlFlow::Continue(());
    let record = run_single(&scenario, 0, 1, go_on, Some(&mut seen)).expect("it can be built");
    (record.expect("it is not stopped"), seen.0)
}

#[derive(Default)]
struct Seen(Vec<f64>);

impl Observer for Seen {
    fn wants_packets(&self) -> bool {
        true
    }
    fn packet(&mut self, event: &PacketEvent) {
        if event.flow == 0 && event.what == What::Deliver {
            self.0.push(event.at.since(event.sent).seconds() * 1e3);
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn a_pattern_repeats_for_600_s_with_its_mean() {
    let pattern = "delay = \"1 ms\"\npattern = [{ rate = \"12 Mbit/s\", for = \"1 s\" }, { rate = \"24 Mbit/s\", for = \"1 s\" }]";
    let long = text(pattern, "").replace("\"60 s\"", "\"600 s\"").replace("100 kbit/s", "1 kbit/s");
    let queue_rate = read(&[], &long).expect("a scenario").queues().next().expect("a link").rate.bps();
    assert_eq!(queue_rate, 18_000_000, "disciplines go by the mean");
    assert_eq!(run(&[], &long).0.links[0].rate_bps, 18e6);
    let wifi = "delay = \"1 ms\"\nrate = \"50 Mbit/s\"\n\
        pattern = [{ rate = \"50 Mbit/s\", for = \"1800 ms\" }, { down = \"200 ms\" }]";
    let (record, takes) = run(&[], &text(wifi, ""));
    assert_eq!(record.links[0].rate_bps, 45e6);
    // Each of 30 pauses delays 20 packets.
    let waits = takes.iter().map(|ms| ms - 1.0).filter(|ms| *ms > 0.03).count();
    assert!((570..=620).contains(&waits), "{waits}");
    assert!(takes.iter().all(|ms| *ms < 201.1), "no pause is longer");
}

#[test]
fn a_trace_of_two_columns_is_the_rate_and_is_scaled_to_a_mean() {
    let trace = ("bus.txt", "0.00\t3.10\r\n0.52\t2.75\r\n1.01\t0.40\r\n2.00\t5.20");
    let keys = "delay = \"1 ms\"\ntrace = \"bus.txt\"";
    let rates = |keys: &str| {
        let queue_rate =
            read(&[trace], &text(keys, "")).expect("a scenario").queues().next().expect("a link").rate;
        (run(&[trace], &text(keys, "")).0.links[0].rate_bps, queue_rate.bps())
    };
    assert_eq!(rates(keys), (1_677_750.0, 1_677_750));
    assert_eq!(rates(&format!("{keys}\nscale_to = \"1 Mbit/s\"")), (1e6, 1_000_000));
    assert_eq!(rates(&format!("{keys}\nscale_to = \"1 Mbit/s\"\nrate = \"2 Mbit/s\"")), (1e6, 2_000_000));
    let (scaled, _) = rates("delay = \"1 ms\"\ntrace = \"lte\"\nscale_to = \"5 Mbit/s\"");
    assert!((scaled / 5e6 - 1.0).abs() < 0.001, "{scaled}");
}

#[test]
fn each_direction_takes_half_of_a_round_trip_of_a_file() {
    let rows = |value: &dyn Fn(u32) -> String| {
        (0..3_000).fold(String::from("since,relative_seconds,rtt\n"), |mut text, row| {
            writeln!(text, "x,{:.2},{}", f64::from(row) / 100.0, value(row)).expect("a string");
            text
        })
    };
    // The file has an outage from 20 s to 21 s, and repeats after 30 s.
    let dish = rows(&|row| {
        if (2_000..2_100).contains(&row) { "-1".into() } else { (40 + row / 1000 % 2 * 40).to_string() }
    });
    let keys = "rate = \"100 Mbit/s\"\ndelays = \"dish.csv\"";
    let (record, takes) = run(&[("dish.csv", &dish)], &text(keys, ""));
    assert_eq!(record.links[0].wire.expect("it loses").lost, 200);
    // 2000 of 5800 packets take 40 ms, and the others 20 ms.
    assert!((mean(&takes) - 26.906).abs() < 0.05, "{}", mean(&takes));
    assert!(takes.iter().all(|ms| (ms - 20.0).abs() < 0.5 || (ms - 40.0).abs() < 0.5));
    let delays: Vec<u64> = read(&[("dish.csv", &dish)], &text(keys, "[return]"))
        .expect("a scenario")
        .queues()
        .map(|queue| queue.delay.ns() / 1_000_000)
        .collect();
    assert_eq!(delays, [26; 2], "the mean of the file, without its outages");

    // A flow with a window of one segment sends once per round trip.
    let sends = |trip: u32| {
        let file = rows(&|_| trip.to_string());
        let more = "[return]\n[[flow]]\ngroup = \"t\"\nsource = \"bulk\"\ntcp = { profile = \"ns2-2002\", window = 1 }\n\
                    access = { rate = \"1 Gbit/s\", delay = \"0 s\" }";
        run(&[("dish.csv", &file)], &text(keys, more)).0.flows[1].throughput_bps * 60.0 / 8.0 / 552.0 // segments
    };
    let [near, far] = [50, 100].map(sends);
    assert!((near - 1_200.0).abs() < 12.0 && (far - 600.0).abs() < 6.0, "{near} {far}");
}

#[test]
fn normal_jitter_is_as_configured_and_keeps_the_order_by_default() {
    let jitter = |overtakes: bool, every_ms: u64| {
        let keys = format!(
            "rate = \"1 Gbit/s\"\ndelay = \"0 s\"\nimpair = {{ jitter = {{ normal = {{ mean = \"300 ms\", \
             deviation = \"15 ms\" }} }}, jitter_correlation = 0.25, overtakes = {overtakes} }}"
        );
        let rate = format!("{} bit/s", 1_000_000 / every_ms);
        let text = text(&keys, "").replace("100 kbit/s", &rate);
        run(&[], &text.replace("\"60 s\"", &format!("\"{} s\"", 100 * every_ms + 1))).1
    };
    // The packets are so far apart that no packet waits for an earlier packet.
    let takes = jitter(false, 200);
    let (n, mean) = (takes.len() as f64, mean(&takes));
    let variance = takes.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    let lag_1 = takes.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum::<f64>() / n / variance;
    assert!(takes.len() >= 100_000 && takes.iter().all(|ms| *ms > 0.0));
    // Each bound is at least seven times the standard error, which is 0.06 ms for the mean, 0.04 ms
    // for the deviation, and 0.003 for the correlation.
    assert!((mean - 300.0).abs() < 0.5, "{mean}");
    assert!((variance.sqrt() - 15.0).abs() < 0.3, "{}", variance.sqrt());
    assert!((lag_1 - 0.25).abs() < 0.03, "{lag_1}");
    let [free, in_order] = [true, false].map(|overtakes| self::mean(&jitter(overtakes, 10)));
    assert!((free - 300.0).abs() < 0.5 && in_order > free + 2.0, "{free} {in_order}");
}

#[test]
fn nonsensical_files_and_patterns_are_refused_with_their_location() {
    let files = [
        ("bus.txt", "0 3.1\n1 x\n"),
        ("good.txt", "0 3.1\n1 2\n"),
        ("fast.txt", "0 2000000\n1 1\n"),
        ("one.csv", "seconds,rtt\n0,40\n0.5,-3\n"),
        ("past.csv", "0,40\n1,40\n0.5,40\n"),
        ("good.csv", "0,40\n1,40\n"),
    ];
    let delay = "delay = \"1 ms\"";
    for (keys, parts) in [
        ("trace = \"bus.txt\"", ["link.trace", "line 2 (`1 x`) of the trace is no time in seconds"]),
        ("trace = \"fast.txt\"", ["link.trace", "1 bit/s to 1000 Gbit/s"]),
        (
            "trace = \"good.txt\"\nscale_to = \"0 Mbit/s\"",
            ["scale_to", "is zero; allowed: a rate above zero"],
        ),
        ("trace = \"lte\"\nscale_to = \"900 Gbit/s\"", ["link.scale_to", "4 million opportunities"]),
        ("rate = \"1 Mbit/s\"\nscale_to = \"1 Mbit/s\"", ["link.scale_to", "no `trace` to scale"]),
        ("trace = \"good.txt\"\npattern = [{ down = \"1 s\" }]", ["link.pattern", "`trace` says already"]),
        (
            "rate = \"1 Mbit/s\"\nchanges = [{ at = \"1 s\", rate = \"2 Mbit/s\" }]\n\
             pattern = [{ rate = \"1 Mbit/s\", for = \"1 s\" }]",
            ["link.pattern", "`changes` say already"],
        ),
        ("pattern = [{ rate = \"1 Mbit/s\", for = \"0 s\" }]", ["`link.pattern.#1.for` is 0 ns", "no time"]),
        (
            "rate = \"1 Mbit/s\"\ndelays = \"one.csv\"",
            ["link.delays", "line 3 (`0.5,-3`) of the delays has no round trip"],
        ),
        (
            "rate = \"1 Mbit/s\"\ndelays = \"past.csv\"",
            ["link.delays", "line 3 (`0.5,40`) of the delays is before the line"],
        ),
        (
            "rate = \"1 Mbit/s\"\ndelays = \"good.csv\"\nchanges = [{ at = \"1 s\", delay = \"2 ms\" }]",
            ["link.delays", "`changes` say already how the delay"],
        ),
        ("rate = \"1 Mbit/s\"\ndelay = \"-1 ms\"", ["-1 ms", "negative"]),
    ] {
        let given = if keys.contains("delay = \"-") { keys.into() } else { format!("{delay}\n{keys}") };
        let error = read(&files, &text(&given, "")).expect_err(keys);
        for part in parts {
            assert!(error.contains(part), "no `{part}` in: {error}");
        }
    }
    let scaled = "[return]\nscale_to = \"1 Mbit/s\"";
    let of_link = "`return.scale_to` is given, but what it follows is not its own, but that of `link`";
    for (link, why) in [("trace = \"good.txt\"", of_link), ("rate = \"1 Mbit/s\"", "no `trace` to scale")] {
        let error = read(&files, &text(&format!("{delay}\n{link}"), scaled)).expect_err(link);
        assert!(error.contains(why), "no `{why}` in: {error}");
    }
    let error = read(&files, &text("rate = \"1 Mbit/s\"", "")).expect_err("no delay");
    assert!(error.contains("the key `delay` is missing in `link`; add `delay = …`, or `delays`"), "{error}");
    let gzip = tempfile::tempdir().expect("a folder");
    std::fs::write(gzip.path().join("a.gz"), [0x1f, 0x8b, 8]).expect("written");
    std::fs::write(gzip.path().join("one.toml"), text("rate = \"1 Mbit/s\"\ndelays = \"a.gz\"", ""))
        .expect("written");
    let error = load(&gzip.path().join("one.toml"), &Overrides::default()).expect_err("no text").to_string();
    assert!(error.contains("`gunzip` makes text of it"), "{error}");
}
