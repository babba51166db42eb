//! flent data files: read by flent itself, and drawn by `fairwire plot`.

use crate::common;

use common::{Contest, code, run, stderr, stdout};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

const BOTH_WAYS: &str = r#"format = 2
name = "both-ways"
duration = "12 s"
warm_up = "2 s"
seeds = 7
disciplines = ["fq-codel"]

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "1 bdp"

[return]
rate = "2 Mbit/s"
delay = "10 ms"
buffer = "1 bdp"

[[flow]]
group = "down"
count = 2
source = "bulk"
tcp = { profile = "ns2-2002" }
access = { rate = "100 Mbit/s", delay = "5 ms" }

[[flow]]
group = "up"
source = "bulk"
tcp = { profile = "ns2-2002" }
direction = "reverse"
access = { rate = "100 Mbit/s", delay = "5 ms" }

[[flow]]
group = "call"
source = { cbr = { rate = "64 kbit/s", packet = "200 B" } }
on = [["1 s", "5 s"], ["8 s", "10 s"]]
access = { rate = "100 Mbit/s", delay = "5 ms" }
"#;

/// The data file of a run, and the throughput of each flow in Mbit/s.
fn written(contest: &Contest, name: &str) -> (String, BTreeMap<String, f64>) {
    let path = contest.path(name).display().to_string();
    let output = run(&["run", &contest.file(), "--flent", &path, "--format", "json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).expect("a report");
    let flows = report["runs"][0]["flows"].as_array().expect("flows");
    let mbps = |flow: &Value| flow["throughput_bps"].as_f64().expect("a number") / 1e6;
    let flows = flows.iter().map(|flow| (flow["name"].as_str().expect("a name").to_owned(), mbps(flow)));
    (path, flows.collect())
}

fn flent() -> Option<String> {
    let program = std::env::var("FLENT").unwrap_or_else(|_| "flent".into());
    Command::new(&program).arg("--version").output().ok().map(|_| program)
}

#[test]
fn flent_opens_a_run_and_has_the_means_of_its_report() {
    let contest = Contest::of(BOTH_WAYS);
    let (path, flows) = written(&contest, "run.flent.gz");
    let Some(program) = flent() else {
        return fairwire_testing::skipped_for_want_of_a_peer(
            "flent opens a run: no flent (pip install flent)",
        );
    };
    let out = contest.path("run.csv");
    let done = Command::new(program).args(["-i", &path, "-f", "csv", "-o"]).arg(&out).output();
    let done = done.expect("it was found");
    let text = fs::read_to_string(&out).unwrap_or_default();
    assert!(done.status.success() && !text.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
    let mut lines = text.lines().map(|line| line.split(',').map(|cell| cell.trim_matches(['"', '\r'])));
    let names: Vec<&str> = lines.next().expect("a header").collect();
    let rows: Vec<Vec<f64>> =
        lines.map(|row| row.map(|cell| cell.parse().unwrap_or(f64::NAN)).collect()).collect();
    let mean = |series: &str| {
        let at =
            names.iter().position(|name| *name == series).unwrap_or_else(|| panic!("{series}: {names:?}"));
        let values: Vec<f64> = rows.iter().map(|row| row[at]).filter(|value| !value.is_nan()).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    assert_eq!(rows.len(), 100, "a sample each 100 ms after the warm-up");
    for (series, flow) in [
        ("TCP download BE::1", "down.1"),
        ("TCP download BE::2", "down.2"),
        ("TCP upload BE::1", "up.1"),
        ("UDP download::1", "call.1"),
    ] {
        let (read, reported) = (mean(series), flows[flow]);
        assert!((read / reported - 1.0).abs() < 0.01, "{series}: {read}, not {reported}");
    }
    let sum = flows["down.1"] + flows["down.2"];
    assert!((mean("TCP download sum") / sum - 1.0).abs() < 0.01);
    assert!((30.0..200.0).contains(&mean("Ping (ms) ICMP")), "{}", mean("Ping (ms) ICMP"));
}

#[test]
fn a_data_file_is_drawn_and_other_files_are_refused() {
    let contest = Contest::of(BOTH_WAYS);
    let (path, _) = written(&contest, "run.flent.gz");
    let figure = contest.path("run.svg").display().to_string();
    for more in [&[][..], &["--of", "ping"]] {
        let output = run(&[&["plot", path.as_str(), "--figure", figure.as_str()], more].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    }
    let drawn = fs::read_to_string(contest.path("run.svg")).expect("it was drawn");
    assert!(drawn.contains("ping"), "the last one");
    let mut bytes = fs::read(&path).expect("it was written");
    bytes[40] ^= 1;
    fs::write(&path, bytes).expect("it can be written");
    let output = run(&["plot", &path, "--figure", &figure]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("run.flent.gz` cannot be read"), "{}", stderr(&output));
    let output = run(&["run", &contest.file(), "--flent", &contest.path("run.gz").display().to_string()]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("ends with .flent.gz"), "{}", stderr(&output));
}
