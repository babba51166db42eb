//! Outputs of a run in addition to the report, checked by calculation and by an independent reader.

use crate::common;

use common::{Contest, SCENARIO, code, fairwire, run, stderr, stdout};
use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use fairwire_testing::program::Running;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Packet n, counted from 0, is sent at n ms. The two access links take 1.1 ms each, and the shared
/// link takes 6 ms. So the packet is delivered at (n + 8.2) ms.
const ALONE: &str = r#"format = 2
name = "alone"
duration = "100 ms"
warm_up = "20 ms"
seeds = 1
disciplines = ["tail-drop"]

[link]
rate = "8 Mbit/s"
delay = "5 ms"
buffer = "3 packets"

[[flow]]
group = "udp"
source = { cbr = { rate = "8 Mbit/s", packet = "1000 B" } }
access = { rate = "80 Mbit/s", delay = "1 ms" }
"#;

fn done(contest: &Contest, more: &[&str]) -> String {
    let file = contest.file();
    let output = run(&[&["run", file.as_str()], more].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    stdout(&output)
}

fn refused(contest: &Contest, more: &[&str]) -> String {
    let file = contest.file();
    let output = run(&[&["run", file.as_str()], more].concat());
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    stderr(&output)
}

fn path(contest: &Contest, name: &str) -> String {
    contest.path(name).display().to_string()
}

fn read(contest: &Contest, name: &str) -> String {
    fs::read_to_string(contest.path(name)).expect("it was written")
}

fn files(contest: &Contest) -> Vec<String> {
    let entries = fs::read_dir(contest.folder()).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn each_row_of_a_series_covers_the_time_since_the_previous_sample() {
    let contest = Contest::of(ALONE);
    done(&contest, &["--series", &path(&contest, "s.csv"), "--every", "10 ms"]);
    let text = read(&contest, "s.csv");
    assert!(text.starts_with("discipline,seed,time_s,kind,name,measure,unit,value\n"), "{text}");
    let of = |measure: &str| -> Vec<&str> { text.lines().filter(|line| line.contains(measure)).collect() };
    assert_eq!(of("group,udp,egress,bit/s")[1], "tail-drop,1,0.020000000,group,udp,egress,bit/s,8000000");
    let throughput = of("group,udp,throughput,bit/s");
    assert_eq!(throughput.len(), 10);
    // Two packets are delivered in the first 10 ms.
    assert_eq!(throughput[0], "tail-drop,1,0.010000000,group,udp,throughput,bit/s,1600000");
    assert_eq!(throughput[1], "tail-drop,1,0.020000000,group,udp,throughput,bit/s,8000000");
    assert_eq!(throughput[9], "tail-drop,1,0.100000000,group,udp,throughput,bit/s,8000000");
    assert_eq!(of("link,bottleneck,backlog,packets").len(), 10);
    assert_eq!(of("gauge backlog_packets").len(), 10, "the discipline's own gauges are there");
}

#[test]
fn ndjson_holds_the_same_rows_as_csv() {
    let contest = Contest::of(SCENARIO);
    for name in ["s.csv", "s.ndjson"] {
        done(&contest, &["--series", &path(&contest, name), "--series-flows", "--every", "70 ms"]);
    }
    let (csv, ndjson) = (read(&contest, "s.csv"), read(&contest, "s.ndjson"));
    let from_json = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("a line is JSON");
        let text = |key: &str| row[key].as_str().expect("a string").to_string();
        let (time, value) = (row["time_s"].as_f64().unwrap(), row["value"].as_f64().unwrap());
        (
            text("discipline"),
            row["seed"].to_string(),
            time,
            text("kind") + &text("name"),
            text("measure"),
            text("unit"),
            value,
        )
    };
    let from_csv = |line: &str| {
        let cells: Vec<String> = line.split(',').map(String::from).collect();
        let number = |at: usize| cells[at].parse::<f64>().expect("a number");
        let (time, value) = (number(2), number(7));
        (
            cells[0].clone(),
            cells[1].clone(),
            time,
            cells[3].clone() + &cells[4],
            cells[5].clone(),
            cells[6].clone(),
            value,
        )
    };
    let rows: Vec<_> = csv.lines().skip(1).map(from_csv).collect();
    assert_eq!(rows, ndjson.lines().map(from_json).collect::<Vec<_>>());
    for measure in ["cwnd", "ssthresh", "srtt"] {
        assert!(rows.iter().any(|row| row.4 == measure && row.3 == "flowtcp.1"), "{measure}");
    }
    let order: Vec<(&str, &str)> = rows.iter().map(|row| (row.0.as_str(), row.1.as_str())).collect();
    let mut runs = order.clone();
    runs.dedup();
    assert_eq!(
        runs,
        [
            ("tail-drop", "1"),
            ("tail-drop", "2"),
            ("tail-drop", "3"),
            ("red", "1"),
            ("red", "2"),
            ("red", "3")
        ]
    );
}

#[test]
fn observers_change_no_bit_of_the_report() {
    let contest = Contest::of(SCENARIO);
    let report = |args: &[&str]| {
        let mut report: Value = serde_json::from_str(&done(&contest, args)).expect("JSON");
        assert!(report["manifest"].as_object_mut().expect("an object").remove("command").is_some());
        report
    };
    let plain = report(&["--format", "json"]);
    let (series, trace, plot) =
        (path(&contest, "s.csv"), path(&contest, "t.ndjson"), path(&contest, "p.svg"));
    let all =
        ["--format", "json", "--series", &series, "--trace", &trace, "--plot", &plot, "--every", "7 ms"];
    assert_eq!(report(&all), plain);
    assert_eq!(report(&[&all[..], &["--jobs", "1"]].concat()), plain);
}

const WEB: &str = r#"format = 2
name = "web"
duration = "20 s"
warm_up = "2 s"
seeds = 1
disciplines = ["tail-drop"]
[link]
rate = "5 Mbit/s"
delay = "5 ms"
buffer = "20 packets"
[[flow]]
group = "web"
count = 3
source = { web = { reading = { fixed = "1 s" } } }
access = { rate = "100 Mbit/s", delay = "1 ms" }
tcp = { profile = "modern" }
[[flow]]
group = "bulk"
source = "bulk"
access = { rate = "100 Mbit/s", delay = "1 ms" }
tcp = { profile = "modern" }
"#;

#[test]
fn a_flow_has_one_name_in_every_file() {
    let contest = Contest::of(WEB);
    let [flows, series, trace, delays] =
        ["f.csv", "s.csv", "t.ndjson", "h.csv"].map(|name| path(&contest, name));
    done(
        &contest,
        &[
            "--flows",
            &flows,
            "--series",
            &series,
            "--series-flows",
            "--trace",
            &trace,
            "--histogram",
            &delays,
            "--one-way",
        ],
    );
    let column = |file: &str, at: usize, is_meant: &dyn Fn(&[&str]) -> bool| -> BTreeSet<String> {
        let text = read(&contest, file);
        let rows = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        rows.filter(|row| is_meant(row)).map(|row| row[at].to_string()).collect()
    };
    let names = column("f.csv", 2, &|_| true);
    assert_eq!(names.iter().map(String::as_str).collect::<Vec<_>>(), ["bulk.1", "web.1", "web.2", "web.3"]);
    assert_eq!(column("s.csv", 4, &|row| row[3] == "flow"), names);
    assert_eq!(column("h.csv", 3, &|row| row[2] == "one-way"), names);
    let connections = column("s.csv", 4, &|row| row[3] == "connection");
    assert_eq!(connections.len(), 3 * 6);
    assert!(connections.contains("web.3.6") && !connections.contains("bulk.1.1"), "{connections:?}");
    let windows = column("s.csv", 4, &|row| row[5] == "cwnd");
    assert_eq!(
        windows,
        connections.into_iter().chain(["bulk.1".to_string()]).collect(),
        "a window is a connection's"
    );

    let mut delivered: BTreeMap<String, u64> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for line in read(&contest, "t.ndjson").lines() {
        let event: Value = serde_json::from_str(line).expect("a line is JSON");
        let flow = event["flow"].as_str().expect("a name").to_string();
        assert_eq!(event["connection"].is_u64(), flow.starts_with("web."), "{line}");
        seen.extend(event["connection"].as_u64());
        if event["event"] == "drop" {
            *delivered.entry(flow).or_default() +=
                u64::from(event["time_ns"].as_u64() >= Some(2_000_000_000));
        }
    }
    assert_eq!(seen.into_iter().max(), Some(6));
    let text = read(&contest, "f.csv");
    for row in text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>()) {
        let dropped: u64 = row[9].parse().expect("a number");
        assert_eq!(delivered.get(row[2]).copied().unwrap_or(0), dropped, "{}", row[2]);
    }
}

#[test]
fn departures_never_exceed_the_rate_even_while_holes_are_filled() {
    let contest = Contest::of(SCENARIO);
    done(
        &contest,
        &["--series", &path(&contest, "s.csv"), "--every", "50 ms", "--plot", &path(&contest, "p.svg")],
    );
    let text = read(&contest, "s.csv");
    let highest = |measure: &str| {
        let mut sums: BTreeMap<(&str, &str, &str), f64> = BTreeMap::new();
        for line in text.lines().filter(|line| line.contains(&format!(",{measure},bit/s,"))) {
            let row: Vec<&str> = line.split(',').collect();
            if row[3] == "group" {
                *sums.entry((row[0], row[1], row[2])).or_default() +=
                    row[7].parse::<f64>().expect("a number");
            }
        }
        sums.into_values().fold(0.0, f64::max)
    };
    // A packet counts when its transmission starts. So an interval of 50 ms may count one packet of
    // 552 B too many.
    assert!(highest("egress") <= 2e6 + 88_320.0, "{}", highest("egress"));
    assert!(highest("egress") > 1.9e6, "{}", highest("egress"));
    assert!(highest("throughput") > 2.2e6, "a filled hole is a spike: {}", highest("throughput"));
    let picture = read(&contest, "p.svg");
    assert_eq!(picture.matches("<path class=\"limit\"").count(), 1 + 2, "in the key and in each panel");
    assert!(
        picture.contains(">what leaves the link</text>") || picture.contains(": what leaves the link<"),
        "{picture}"
    );
}

/// A frame in a pcapng file, with its time in ns.
struct Frame {
    interface: String,
    at: u64,
    bytes: Vec<u8>,
    length: u32,
    comment: Option<String>,
}

/// Reads pcapng according to the draft, independently of the writer.
fn frames(file: &[u8]) -> Vec<Frame> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let half = |at: usize| usize::from(u16::from_le_bytes(file[at..at + 2].try_into().unwrap()));
    let option = |mut at: usize, end: usize, code: usize| {
        while at + 4 <= end && half(at) != 0 {
            let (found, length) = (half(at), half(at + 2));
            if found == code {
                return Some(file[at + 4..at + 4 + length].to_vec());
            }
            at += 4 + length.next_multiple_of(4);
        }
        None
    };
    let (mut at, mut interfaces, mut frames) = (0, Vec::new(), Vec::new());
    while at < file.len() {
        let length = word(at + 4) as usize;
        let end = at + length - 4;
        assert_eq!((length % 4, word(end) as usize), (0, length), "a block says its length twice");
        match word(at) {
            0x0a0d_0d0a => assert_eq!(word(at + 8), 0x1a2b_3c4d),
            1 => {
                assert_eq!(
                    (half(at + 8), option(at + 16, end, 9)),
                    (1, Some(vec![9])),
                    "Ethernet, nanoseconds"
                );
                interfaces.push(String::from_utf8(option(at + 16, end, 2).expect("a name")).unwrap());
            }
            6 => {
                let captured = word(at + 20) as usize;
                let comment = option(at + 28 + captured.next_multiple_of(4), end, 1);
                frames.push(Frame {
                    interface: interfaces[word(at + 8) as usize].clone(),
                    at: u64::from(word(at + 12)) << 32 | u64::from(word(at + 16)),
                    bytes: file[at + 28..at + 28 + captured].to_vec(),
                    length: word(at + 24),
                    comment: comment.map(|comment| String::from_utf8(comment).unwrap()),
                });
            }
            other => panic!("block {other}"),
        }
        at += length;
    }
    frames
}

#[test]
fn a_trace_has_each_packet_with_its_place_and_time() {
    let contest = Contest::of(ALONE);
    done(&contest, &["--trace", &path(&contest, "t.pcapng")]);
    let frames = frames(&fs::read(contest.path("t.pcapng")).expect("it was written"));
    assert!(frames.is_sorted_by_key(|frame| frame.at));
    let of = |interface: &str| -> Vec<u64> {
        frames.iter().filter(|frame| frame.interface == interface).map(|frame| frame.at).collect()
    };
    assert_eq!(of("bottleneck in"), (0..99).map(|n| n * 1_000_000 + 1_100_000).collect::<Vec<_>>());
    assert_eq!(of("bottleneck out"), of("bottleneck in"), "nothing waits");
    assert_eq!(of("delivered"), (0..92).map(|n| n * 1_000_000 + 8_200_000).collect::<Vec<_>>());
    assert!(frames.iter().all(|frame| frame.length == 14 + 1000 && frame.comment.is_none()));
}

#[test]
fn every_drop_is_in_the_trace_with_its_cause_and_every_frame_has_valid_headers() {
    let contest = Contest::of(SCENARIO);
    let (trace, line) = (path(&contest, "t.pcapng"), path(&contest, "t.ndjson"));
    let more = ["--set", "warm_up=0 s", "--set", "link.buffer=8 packets", "--format", "json"];
    let report = done(&contest, &[&more[..], &["--trace", &trace]].concat());
    done(&contest, &[&more[..], &["--trace", &line]].concat());
    let report: Value = serde_json::from_str(&report).unwrap();
    let run = &report["runs"][3];
    assert_eq!((&run["discipline"], &run["seed"]), (&"red".into(), &1.into()));
    let frames = frames(&fs::read(contest.path("t.red.1.pcapng")).expect("a file for each run"));
    let lines = read(&contest, "t.red.1.ndjson");
    for (cause, count) in run["links"][0]["drops"].as_object().unwrap() {
        let comment = format!("drop: {cause}");
        let shown = frames.iter().filter(|frame| frame.comment.as_deref() == Some(&comment)).count();
        assert_eq!(shown as u64, count.as_u64().unwrap(), "{cause}");
        let part = format!("\"event\":\"drop\",\"cause\":\"{cause}\"");
        assert_eq!(lines.lines().filter(|line| line.contains(&part)).count(), shown);
    }
    let dropped = frames.iter().filter(|frame| frame.interface == "bottleneck drop").count();
    assert!(dropped > 0);
    let mut tcp_seen = 0;
    for frame in &frames {
        let mut bytes = frame.bytes.clone();
        bytes.resize(frame.length as usize, 0);
        let sliced = SlicedPacket::from_ethernet(&bytes).expect("valid headers");
        let Some(NetSlice::Ipv4(ip)) = &sliced.net else { panic!("no IPv4") };
        let header = ip.header();
        assert_eq!(header.to_header().calc_header_checksum(), header.header_checksum());
        if let Some(TransportSlice::Tcp(tcp)) = &sliced.transport {
            let sum = tcp.to_header().calc_checksum_ipv4(&header.to_header(), tcp.payload()).unwrap();
            assert_eq!(sum, tcp.checksum());
            assert_eq!(
                (tcp.sequence_number().wrapping_sub(1)) % 512 * u32::from(!tcp.syn()),
                0,
                "whole segments"
            );
            tcp_seen += 1;
        }
    }
    assert!(tcp_seen > 100);
    for line in lines.lines().take(50) {
        assert!(serde_json::from_str::<Value>(line).unwrap()["time_ns"].is_u64());
    }
}

#[test]
fn a_trace_has_the_sack_blocks_of_acknowledgements() {
    let contest = Contest::of(SCENARIO);
    let (trace, line) = (path(&contest, "t.pcapng"), path(&contest, "t.ndjson"));
    let more = ["--seeds", "1", "--discipline", "tail-drop", "--set", "link.buffer=8 packets"];
    let modern = ["--set", "flow.tcp.tcp={ profile = \"modern\", segment = \"512 B\" }"];
    for file in [&trace, &line] {
        done(&contest, &[&more[..], &modern, &["--trace", file]].concat());
    }
    let mut from_frames = Vec::new();
    let mut most = 0;
    for frame in frames(&fs::read(&trace).expect("it was written")) {
        let mut bytes = frame.bytes.clone();
        bytes.resize(frame.length as usize, 0);
        let sliced = SlicedPacket::from_ethernet(&bytes).expect("valid headers");
        let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else { continue };
        if frame.interface != "delivered" || !tcp.ack() || tcp.source_port() != 5001 {
            continue;
        }
        let number = |seq: u32| (seq - 1) / 512; // data starts at 1
        for option in tcp.options_iterator() {
            if let etherparse::TcpOptionElement::SelectiveAcknowledgement(first, rest) =
                option.expect("valid")
            {
                let blocks: Vec<_> = std::iter::once(first).chain(rest.into_iter().flatten()).collect();
                assert!(
                    blocks.iter().all(|(left, right)| tcp.acknowledgment_number() < *left && left < right)
                );
                most = most.max(blocks.len());
                let numbers: Vec<_> =
                    blocks.iter().map(|&(left, right)| [number(left), number(right)]).collect();
                from_frames.push((frame.at, number(tcp.acknowledgment_number()), numbers));
            }
        }
    }
    assert!(from_frames.len() > 20 && most >= 2, "{} with {most} at most", from_frames.len());
    let mut from_lines = Vec::new();
    for line in read(&contest, "t.ndjson").lines() {
        let line: Value = serde_json::from_str(line).expect("a line is JSON");
        let blocks =
            line["sack"].as_array().filter(|blocks| !blocks.is_empty() && line["event"] == "deliver");
        let Some(blocks) = blocks else { continue };
        let edge = |of: &Value| u32::try_from(of.as_u64().expect("a number")).expect("a short run");
        let blocks: Vec<_> = blocks.iter().map(|block| [edge(&block[0]), edge(&block[1])]).collect();
        from_lines.push((line["time_ns"].as_u64().expect("a time"), edge(&line["next"]), blocks));
    }
    assert_eq!(from_frames, from_lines);
}

const OUTPUTS: &str = "[output]\nevery = \"10 ms\"\nseries = \"s.csv\"\nflows = \"f.csv\"\nhistogram = \"h.csv\"\none_way = true\n\
    paired = \"red\"\n";

#[test]
fn a_scenario_can_request_outputs_and_options_override_it() {
    let contest = Contest::of(&format!("{SCENARIO}{OUTPUTS}"));
    let go = |more: &[&str]| {
        let output = fairwire()
            .args([&["run", "short.toml", "--seeds", "1,2", "--format", "json"], more].concat())
            .current_dir(contest.folder())
            .output()
            .expect("the binary starts");
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let report: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        report
    };
    let requested = go(&[]);
    assert_eq!(files(&contest), ["f.csv", "h.csv", "s.csv", "short.toml"]);
    let second = read(&contest, "s.csv").lines().nth(1).expect("a row").to_owned();
    assert!(second.starts_with("tail-drop,1,0.010000000,"), "{second}");
    assert_eq!(
        (requested["differences"].as_array().unwrap().len(), &requested["differences"][0]["second"]),
        (1, &"red".into())
    );
    assert!(requested["delays"].as_array().unwrap().iter().any(|delays| delays["kind"] == "one-way"));
    fs::remove_file(contest.path("s.csv")).expect("it is there");
    let shown = go(&["--series", "other.csv", "--every", "50 ms", "--paired=tail-drop"]);
    assert!(!files(&contest).contains(&"s.csv".to_owned()), "the option's place, and not the table's");
    assert!(
        read(&contest, "other.csv").lines().nth(1).expect("a row").starts_with("tail-drop,1,0.050000000,")
    );
    assert_eq!(shown["differences"][0]["second"], "tail-drop");
    let alone = go(&["--discipline", "tail-drop"]);
    assert!(alone.get("differences").is_none(), "nothing to compare with is no error here");
    let plain = Contest::of(SCENARIO);
    let report: Value =
        serde_json::from_str(&done(&plain, &["--seeds", "1,2", "--format", "json"])).expect("JSON");
    let manifest = |of: &Value| {
        let mut manifest = of["manifest"].clone();
        for key in ["command", "scenario_toml"] {
            manifest.as_object_mut().expect("an object").remove(key).expect("it says what was run");
        }
        manifest
    };
    assert_eq!(
        (manifest(&report), &report["runs"]),
        (manifest(&requested), &requested["runs"]),
        "nor the hash"
    );
}

#[test]
fn a_table_of_delays_is_in_its_file_and_in_the_report() {
    let contest = Contest::of(ALONE);
    let (file, bins) = (path(&contest, "p.csv"), path(&contest, "h.csv"));
    let requested = ["--percentiles", &file, "--histogram", &bins, "--one-way", "--format", "json"];
    let report: Value = serde_json::from_str(&done(&contest, &requested)).unwrap();
    let delays = report["delays"].as_array().unwrap();
    assert_eq!(delays.len(), 2, "a link and a flow");
    assert_eq!((&delays[0]["kind"], &delays[0]["of"]), (&"queueing".into(), &"bottleneck".into()));
    assert_eq!((&delays[1]["kind"], &delays[1]["of"]), (&"one-way".into(), &"udp.1".into()));
    assert_eq!(delays[0]["mean_s"], 0.0);
    // Packets 12 to 91 are delivered after the warm-up. The histogram gives percentiles to within
    // 0.4 %, and the maximum exactly.
    assert_eq!(delays[1]["packets"], 80);
    let percentiles = delays[1]["percentiles"].as_array().unwrap();
    assert!(percentiles.iter().all(|at| (at["delay_s"].as_f64().unwrap() / 0.0082 - 1.0).abs() < 0.004));
    assert_eq!(percentiles.last().unwrap()["delay_s"], 0.0082);
    let text = read(&contest, "p.csv");
    assert_eq!(text.lines().count(), 1 + 2 * percentiles.len(), "{text}");
    let text = read(&contest, "h.csv");
    assert!(text.starts_with("discipline,seed,kind,of,from_s,to_s,packets\n"), "{text}");
    let one_way = text.lines().filter(|line| line.contains(",one-way,udp.1,"));
    let bins: Vec<Vec<f64>> =
        one_way.map(|line| line.split(',').skip(4).map(|cell| cell.parse().unwrap()).collect()).collect();
    assert_eq!(bins.iter().map(|bin| bin[2]).sum::<f64>(), 80.0, "{text}");
    assert!(bins.iter().all(|bin| bin[0] <= 0.0082 && 0.0082 < bin[1]), "{text}");
    let schema: Value = serde_json::from_str(&stdout(&run(&["schema", "results"]))).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&report));
}

#[test]
fn paired_differences_are_those_of_the_runs() {
    let contest = Contest::of(SCENARIO);
    let report: Value = serde_json::from_str(&done(&contest, &["--paired=red", "--format", "json"])).unwrap();
    let share = |run: usize| report["runs"][run]["fairness"]["group_share"]["udp"].as_f64().unwrap();
    let by_hand = (0..3).map(|seed| share(seed) - share(seed + 3)).sum::<f64>() / 3.0;
    let shown = &report["differences"][0];
    assert_eq!(
        (&shown["first"], &shown["second"], &shown["runs"]),
        (&"tail-drop".into(), &"red".into(), &3.into())
    );
    let mean = shown["measures"]["share.udp"]["mean"].as_f64().unwrap();
    assert!((mean - by_hand).abs() < 1e-12, "{mean} {by_hand}"); // rounding error of sums near one
    assert!(done(&contest, &["--paired"]).contains("share.udp: red - tail-drop = "));
    let csv = done(&contest, &["--paired", "--format", "csv"]);
    assert!(
        csv.starts_with("discipline,minus,runs,measure,mean,half_width_95,min,max\ntail-drop,,3,"),
        "{csv}"
    );
    assert!(csv.contains("\nred,tail-drop,3,share.udp,"), "{csv}");
    let columns: Vec<usize> = csv.lines().map(|line| line.matches(',').count()).collect();
    assert!(columns.iter().all(|count| *count == 7), "{csv}");
    done(&contest, &["--paired", "--format", "csv", "--out", &path(&contest, "out")]);
    let differences = read(&contest, "out/differences.csv");
    assert!(
        differences
            .starts_with("first,second,runs,measure,difference,half_width_95,min,max\nred,tail-drop,3,")
    );
    for line in differences.lines().skip(1) {
        assert!(csv.contains(line), "{line}");
    }
    assert!(!done(&contest, &["--format", "csv"]).contains("minus"), "only where requested");
    assert!(!done(&contest, &["--format", "json"]).contains("differences"), "only where requested");
}

#[test]
fn flows_and_the_picture_are_written_where_requested() {
    let contest = Contest::of(SCENARIO);
    let (flows, plot) = (path(&contest, "f.csv"), path(&contest, "p.svg"));
    done(&contest, &["--flows", &flows, "--plot", &plot, "--out", &path(&contest, "out")]);
    assert_eq!(read(&contest, "f.csv"), read(&contest, "out/flows.csv"));
    assert_eq!(read(&contest, "p.svg").matches("class=\"name\"").count(), 2, "a panel for each discipline");
    assert_eq!(files(&contest), ["f.csv", "out", "p.svg", "short.toml"], "nothing half done is left");
}

#[test]
fn an_unwritable_output_is_refused_before_the_run() {
    let contest = Contest::of(SCENARIO);
    let says = |more: &[&str], parts: &[&str]| {
        let message = refused(&contest, more);
        for part in parts {
            assert!(message.contains(part), "no `{part}` in {message}");
        }
    };
    says(
        &["--series", "x.txt"],
        &["`--series` is `x.txt`, but no format has the extension `.txt`", ".csv or .ndjson"],
    );
    says(
        &["--trace", "x"],
        &["`--trace` is `x`, but it has no extension to select the format", ".pcapng or .ndjson"],
    );
    says(&["--flows", "x.feather"], &["the extension `.feather`", ".csv or .parquet"]);
    let nowhere = path(&contest, "no/where.csv");
    says(&["--histogram", &nowhere], &["cannot be written", "a folder that exists"]);
    says(&["--paired=faba"], &["`--paired` is `faba`, but that discipline is not run"]);
    says(&["--paired", "--discipline", "red"], &["only one discipline is run"]);
    let series = path(&contest, "s.csv");
    says(&["--series", &series, "--every", "3 s"], &["`--every` is 3 s", "the duration of a run, 2 s"]);
    assert_eq!(files(&contest), ["short.toml"], "nothing was made");
}

#[test]
fn too_short_a_warm_up_is_reported() {
    let contest = Contest::of(ALONE);
    let file = contest.file();
    // Delivery starts at 8.2 ms. So the last batch of five samples with a lower rate ends at 10 ms.
    let said = |warm_up: &str| {
        let set = format!("warm_up={warm_up}");
        stderr(&run(&["run", &file, "--check-warm-up", "--every", "1 ms", "--set", &set]))
    };
    assert!(
        said("5 ms").contains("MSER-5 would leave out 0.010 s, the scenario leaves out 0.005 s"),
        "{}",
        said("5 ms")
    );
    assert!(!said("10 ms").contains("MSER"), "{}", said("10 ms"));
}

#[test]
fn an_interrupted_command_keeps_only_series_of_finished_runs() {
    let contest = Contest::of(SCENARIO);
    let (series, trace) = (path(&contest, "s.csv"), path(&contest, "t.ndjson"));
    let mut child = Running::start(
        fairwire()
            .args([
                "run",
                &contest.file(),
                "--jobs",
                "1",
                "--seeds",
                "1..=5000",
                "--series",
                &series,
                "--trace",
                &trace,
            ])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null()),
    )
    .expect("the binary starts");
    let mut is_running = || child.try_wait().expect("it is ours").is_none();
    while !contest.path("t.tail-drop.1.ndjson").exists() && is_running() {
        std::thread::yield_now();
    }
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(read(&contest, "s.csv").lines().any(|line| line.starts_with("tail-drop,1,2.000000000,")));
    assert!(files(&contest).iter().all(|name| !name.starts_with('.')), "{:?}", files(&contest).len());
}
