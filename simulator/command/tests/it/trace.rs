//! `fairwire trace rates`: the rates of flows in a capture, and the response to invalid files.

use crate::common;

use common::{Contest, SCENARIO, code, run, stderr, stdout};
use serde_json::Value;

/// A pcap file of UDP packets: time in ms, source port, bytes.
fn capture(packets: &[(u32, u16, u32)]) -> Vec<u8> {
    let mut file = Vec::new();
    file.extend(0xa1b2_c3d4_u32.to_le_bytes());
    file.extend([2, 0, 4, 0]); // version 2.4
    file.extend([0; 8]);
    file.extend(65_535_u32.to_le_bytes());
    file.extend(101_u32.to_le_bytes()); // raw IP
    for (ms, port, bytes) in packets {
        let mut headers = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        headers[2..4].copy_from_slice(&(*bytes as u16).to_be_bytes());
        headers.extend(port.to_be_bytes());
        headers.extend([0, 53]);
        headers.extend((*bytes as u16 - 20).to_be_bytes());
        headers.extend([0, 0]);
        for number in [ms / 1000, ms % 1000 * 1000, headers.len() as u32, *bytes] {
            file.extend(number.to_le_bytes());
        }
        file.extend(headers);
    }
    file
}

fn file(contest: &Contest, bytes: &[u8]) -> String {
    let path = contest.path("made.pcap").display().to_string();
    std::fs::write(&path, bytes).expect("a scratch file");
    path
}

fn rates(file: &str, more: &[&str]) -> Value {
    let output = run(&[&["trace", "rates", file, "--format", "json"], more].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).expect("JSON")
}

#[test]
fn each_flow_has_a_rate_over_each_second_in_which_it_sends() {
    let contest = Contest::of(SCENARIO);
    // Flow 1 sends 6 kbit and then 2 kbit, flow 2 sends 8 kbit, and flow 3 sends 1 kbit.
    let packets = [(0, 1, 500), (100, 2, 1000), (900, 1, 250), (1500, 1, 250), (2000, 3, 125)];
    let path = file(&contest, &capture(&packets));
    let found = rates(&path, &[]);
    for (key, value) in
        [("packets", 5.0), ("flows", 3.0), ("rates", 4.0), ("lasts_s", 2.0), ("interval_s", 1.0)]
    {
        assert_eq!(found[key].as_f64(), Some(value), "{key}: {found}");
    }
    let points: Vec<(f64, f64)> = found["complementary"]
        .as_array()
        .expect("an array")
        .iter()
        .map(|p| (p["rate_bps"].as_f64().unwrap(), p["fraction"].as_f64().unwrap()))
        .collect();
    assert_eq!(points, [(1000.0, 1.0), (2000.0, 0.75), (6000.0, 0.5), (8000.0, 0.25)]);
    // A tenth of four rates is 0.4 of the fastest rate: 3200 of 17 000 bit/s in total.
    let share = found["share_of_fastest_tenth"].as_f64().unwrap();
    assert!((share - 3200.0 / 17_000.0).abs() < 1e-12, "{share}");
    let halves = rates(&path, &["--interval", "500 ms"]);
    assert_eq!(halves["rates"], 5, "{halves}");
}

#[test]
fn the_table_and_the_csv_agree() {
    let contest = Contest::of(SCENARIO);
    let packets: Vec<(u32, u16, u32)> = (1..=20).map(|flow| (0, flow, 50 * u32::from(flow))).collect();
    let path = file(&contest, &capture(&packets));
    let table = stdout(&run(&["trace", "rates", &path]));
    assert!(table.contains("20 packets of 20 flows in 0.000 s"), "{table}");
    // The fastest tenth is two of 20 flows, with 950 + 1000 of all 10 500 bytes, or 18.6 %.
    let row = table.lines().find(|line| line.contains("| 10 %")).unwrap_or_else(|| panic!("{table}"));
    assert!(row.contains("7.600") && row.contains("18.6"), "{row}");
    let csv = stdout(&run(&["trace", "rates", &path, "--format", "csv"]));
    assert!(csv.starts_with("rate_bps,fraction\n400,1\n800,0.95\n"), "{csv}");
}

#[test]
fn our_trace_has_the_flows_of_its_scenario() {
    let contest = Contest::of(SCENARIO);
    let trace = contest.path("t.pcapng").display().to_string();
    let file = contest.file();
    let args = ["run", &file, "--discipline", "tail-drop", "--seeds", "1", "--trace", &trace];
    assert_eq!(code(&run(&args)), 0);
    let found = rates(&trace, &[]);
    // The scenario has four flows. Acknowledgements add at most three flows to the trace.
    let flows = found["flows"].as_u64().unwrap();
    assert!((4..=7).contains(&flows), "{flows}");
}

#[test]
fn our_trace_has_the_sending_rates_of_its_flows() {
    // Each packet has a frame on arrival, departure and delivery.
    let start = SCENARIO.find("[[flow]]").expect("it has flows");
    let flow = r#"[[flow]]
group = "cbr"
source = { cbr = { rate = "1 Mbit/s" } }
access = { rate = "100 Mbit/s", delay = "3 ms" }
"#;
    let contest = Contest::of(&format!("{}{flow}", &SCENARIO[..start]));
    let (file, trace) = (contest.file(), contest.path("t.pcapng").display().to_string());
    let args = ["run", &file, "--discipline", "tail-drop", "--seeds", "1", "--trace", &trace];
    let output = run(&args);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let found = rates(&trace, &[]);
    let points = found["complementary"].as_array().expect("an array");
    let fastest = points.last().expect("a rate")["rate_bps"].as_f64().unwrap();
    // `fastest` also counts Ethernet headers of 14 bytes, and at most one extra packet per second.
    assert!((1e6..1.1e6).contains(&fastest), "{found}");
}

#[test]
fn a_truncated_capture_is_read_to_its_end_with_a_note() {
    let contest = Contest::of(SCENARIO);
    let whole = capture(&[(0, 1, 500), (5, 2, 500)]);
    let path = file(&contest, &whole[..whole.len() - 1]);
    let output = run(&["trace", "rates", &path]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("1 packets of 1 flows"), "{}", stdout(&output));
    let note = "it ends in the record or block at byte 68; packets before it, which are taken: 1";
    assert!(stderr(&output).contains(note), "{}", stderr(&output));
}

#[test]
fn a_file_that_is_no_capture_is_refused_with_a_reason() {
    let contest = Contest::of(SCENARIO);
    let whole = capture(&[(0, 1, 500), (5, 2, 500)]);
    let mut hostile = whole.clone();
    hostile[24 + 8..24 + 12].copy_from_slice(&u32::MAX.to_le_bytes());
    for (bytes, why) in [
        (b"format = 1".to_vec(), "this is no capture"),
        (Vec::new(), "this is no capture"),
        (whole[..60].to_vec(), "ends in the header, record or block at byte 24"),
        (whole[..24].to_vec(), "it has no packets"),
        (hostile, "cannot be"),
    ] {
        let path = file(&contest, &bytes);
        let output = run(&["trace", "rates", &path]);
        let said = stderr(&output);
        assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{said}");
        assert!(said.contains(why) && said.contains("allowed: a capture"), "{why}: {said}");
    }
    let folder = contest.path("").display().to_string();
    for (path, why) in [(folder.as_str(), "directory"), ("nowhere.pcap", "nowhere.pcap")] {
        let output = run(&["trace", "rates", path]);
        assert_eq!(code(&output), 2, "{path}");
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
}

#[test]
fn it_survives_arbitrary_bytes() {
    let contest = Contest::of(SCENARIO);
    let whole = capture(&[(0, 1, 500), (5, 2, 500), (1200, 1, 900)]);
    for at in (0..whole.len() - 4).step_by(4) {
        let mut bytes = whole.clone();
        bytes[at..at + 4].copy_from_slice(&[0xff; 4]);
        let output = run(&["trace", "rates", &file(&contest, &bytes)]);
        let said = stderr(&output);
        assert!([0, 2].contains(&code(&output)) && !said.contains("panicked"), "at {at}: {said}");
    }
}
