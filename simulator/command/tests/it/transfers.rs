//! The record of each transfer and page, compared with the report's counts and with the time of an
//! isolated transfer.

use crate::common::{Contest, code, run, stderr};
use crate::parquet::columns;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

pub(crate) const WEB: &str = r#"format = 2
name = "web"
duration = "20 s"
warm_up = "4 s"
seeds = 1
disciplines = ["tail-drop", "fq-codel"]

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "100 ms"

[[flow]]
group = "bulk"
source = "bulk"
tcp = { profile = "ns2-2002" }
access = { rate = "100 Mbit/s", delay = "5 ms" }

[[flow]]
group = "web"
count = 2
source = { web = { reading = { exponential = "500 ms" } } }
access = { rate = "100 Mbit/s", delay = "5 ms" }
"#;

const ALONE: &str = r#"format = 2
name = "alone"
duration = "10 s"
warm_up = "1 s"
seeds = 1
disciplines = ["tail-drop"]

[link]
rate = "8 Mbit/s"
delay = "20 ms"
buffer = "100 packets"

[[flow]]
group = "one"
source = { transfers = { size = { fixed = "10 kB" }, think = { fixed = "1 s" } } }
access = { rate = "80 Mbit/s", delay = "1 ms" }
tcp = { profile = "ns2-2002", segment = "1000 B", initial_window = 10 }
"#;

type Row = BTreeMap<String, String>;

fn rows(contest: &Contest) -> (Vec<Row>, Value) {
    let path = contest.path("t.csv").display().to_string();
    let output = run(&["run", &contest.file(), "--transfers", &path, "--format", "json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = fs::read_to_string(contest.path("t.csv")).expect("it was written");
    let mut lines = text.lines().map(|line| line.split(',').map(String::from).collect::<Vec<_>>());
    let head = lines.next().expect("a head");
    let rows = lines.map(|line| head.iter().cloned().zip(line).collect()).collect();
    (rows, serde_json::from_slice(&output.stdout).expect("a report"))
}

fn number(row: &Row, key: &str) -> f64 {
    row[key].parse().unwrap_or_else(|_| panic!("{key} in {row:?}"))
}

#[test]
fn every_transfer_and_page_that_the_report_counts_has_a_row() {
    let (rows, report) = rows(&Contest::of(WEB));
    let mut counted = 0;
    for run in report["runs"].as_array().expect("runs") {
        for record in run["transfers"].as_array().expect("transfers") {
            let of = |row: &&Row| {
                row["discipline"] == run["discipline"].as_str().expect("a name")
                    && row["kind"] == record["kind"].as_str().expect("a kind")
            };
            let own: Vec<&Row> = rows.iter().filter(of).collect();
            assert_eq!(own.len() as u64, record["completed"].as_u64().expect("a count"), "{record}");
            let mean = own.iter().map(|row| number(row, "seconds")).sum::<f64>() / own.len() as f64;
            assert!(
                (mean / record["mean_s"].as_f64().expect("a mean") - 1.0).abs() < 1e-9,
                "{record}: {mean}"
            );
            counted += own.len();
        }
    }
    assert!(counted == rows.len() && counted > 100, "{counted} of {}", rows.len());
    let slowdowns = rows.iter().filter(|row| row["kind"] == "transfer").map(|row| number(row, "slowdown"));
    assert!(slowdowns.fold(f64::INFINITY, f64::min) >= 1.0, "nothing is faster than alone");
    assert!(rows.iter().all(|row| row["flow"].starts_with("web.") && row["group"] == "web"));
}

#[test]
fn a_page_has_the_bytes_of_its_transfers() {
    let (rows, _) = rows(&Contest::of(WEB));
    let mut pages = 0;
    for page in rows.iter().filter(|row| row["kind"] == "page" && number(row, "start_s") >= 4.0) {
        let (from, to) = (number(page, "start_s"), number(page, "start_s") + number(page, "seconds"));
        let is_part = |row: &&Row| {
            let same = ["discipline", "flow"].iter().all(|key| row[*key] == page[*key]);
            same && row["kind"] == "transfer" && (from..to).contains(&number(row, "start_s"))
        };
        let bytes: f64 = rows.iter().filter(is_part).map(|row| number(row, "bytes")).sum();
        assert_eq!(bytes, number(page, "bytes"), "{page:?}");
        pages += 1;
    }
    assert!(pages > 10, "{pages} pages");
}

/// `ALONE_S` is 22 ms of propagation, 2 × 0.104 ms on access links, and 10 × 1.04 ms on the shared
/// link. `OPENING_S` is 2 × (22 + 0.048) ms, for a packet of 40 bytes in each direction.
#[test]
fn a_lone_transfer_takes_its_opening_plus_its_ideal_time() {
    const ALONE_S: f64 = 0.032_608;
    const OPENING_S: f64 = 0.044_096;
    let (rows, _) = rows(&Contest::of(ALONE));
    assert!(rows.len() >= 8, "{rows:?}");
    for row in &rows {
        assert_eq!(row["bytes"], "10000");
        assert!((number(row, "seconds") - OPENING_S - ALONE_S).abs() < 1e-9, "{row:?}");
        assert!((number(row, "slowdown") - (OPENING_S + ALONE_S) / ALONE_S).abs() < 1e-6, "{row:?}");
    }
}

#[test]
fn parquet_has_the_same_rows() {
    let contest = Contest::of(WEB);
    let (rows, _) = rows(&contest);
    let path = contest.path("t.parquet").display().to_string();
    let output = run(&["run", &contest.file(), "--transfers", &path]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let columns = columns(&path);
    assert_eq!(columns.len(), rows[0].len());
    for (name, values) in columns {
        let as_csv = |text: &String| text.parse::<f64>().map_or(text.clone(), |number| number.to_string());
        let expected: Vec<String> = rows.iter().map(|row| as_csv(&row[&name])).collect();
        assert_eq!(values.iter().map(as_csv).collect::<Vec<_>>(), expected, "{name}");
    }
}

#[test]
fn percentiles_in_the_report_are_those_of_its_rows() {
    let (rows, report) = rows(&Contest::of(WEB));
    let mut held = 0;
    for run in report["runs"].as_array().expect("runs") {
        for record in run["transfers"].as_array().expect("transfers") {
            let of = |row: &&Row| {
                row["discipline"] == run["discipline"].as_str().expect("a name")
                    && row["kind"] == record["kind"].as_str().expect("a kind")
            };
            let sorted = |key: &str, most: f64, least: f64| -> Vec<f64> {
                let own = rows.iter().filter(of).filter(|row| {
                    let bytes = number(row, "bytes");
                    bytes > least && bytes <= most
                });
                let mut values: Vec<f64> =
                    own.filter(|row| !row[key].is_empty()).map(|row| number(row, key)).collect();
                values.sort_by(f64::total_cmp);
                values
            };
            // The recorded percentile `key` must be within half a bin of the exact percentile of
            // `values`.
            let mut holds = |record: &Value, key: &str, values: &[f64], part: f64| {
                let at = (part * values.len() as f64 - 1e-9).ceil().max(1.0) as usize - 1;
                let (actual, truth) = (record[key].as_f64().expect("a percentile"), values[at]);
                assert!((actual / truth - 1.0).abs() < 0.004, "{key}: {actual}, not {truth}");
                held += 1;
            };
            let times = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999)];
            for (name, part) in times {
                holds(record, &format!("{name}_s"), &sorted("seconds", 1e18, 0.0), part);
                if record["kind"] == "transfer" {
                    holds(&record["slowdown"], name, &sorted("slowdown", 1e18, 0.0), part);
                }
            }
            let small = record["sizes"].as_array().expect("classes");
            let small = small.iter().find(|size| size["size"] == "to_100kB").expect("some are of this size");
            let of_size = sorted("seconds", 100e3, 10e3);
            assert_eq!(small["completed"].as_u64(), Some(of_size.len() as u64));
            holds(small, "p90_s", &of_size, 0.9);
        }
    }
    assert!(held > 20, "{held}");
}

#[test]
fn a_transfer_alone_takes_its_base_round_trip_time_and_slowdowns_can_be_expected() {
    // The data alone take 32.6 ms, and the handshake 44.1 ms. The slowdown is 76.7 / 32.6 = 2.35.
    let expect = "\n[[expect]]\nmeasure = \"transfer_slowdown_p99.one.to_10kB\"\nmin = 1.5\nmax = 3.0\n\
                  because = \"the handshake is a round trip more\"\n\
                  [[expect]]\nmeasure = \"transfer_p99_s.one\"\nmin = 0.0\nbecause = \"it takes some time\"\n";
    let contest = Contest::of(&format!("{ALONE}{expect}"));
    let flows = contest.path("f.csv").display().to_string();
    let output = run(&["run", &contest.file(), "--flows", &flows, "--format", "json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    // A summary contains a size class only if the scenario names it.
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let has = |name: &str| report["summary"][0]["measures"].get(name).is_some();
    assert!(has("transfer_slowdown_p99.one.to_10kB") && has("transfer_p99_s.one"));
    assert!(!has("transfer_p99_s.one.to_10kB") && !has("transfer_p90_s.one"));
    let text = fs::read_to_string(flows).expect("it was written");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let cell = |name: &str| -> f64 {
        let at = lines[0].iter().position(|head| *head == name).expect("a column");
        lines[1][at].parse().expect("a number")
    };
    let there = 2.0 * (1040.0 * 8.0 / 80e6 + 1e-3) + 1040.0 * 8.0 / 8e6 + 20e-3;
    let back = 2.0 * (40.0 * 8.0 / 80e6 + 1e-3) + 40.0 * 8.0 / 8e6 + 20e-3;
    assert!((cell("base_rtt_s") - there - back).abs() < 10e-9, "{} {}", cell("base_rtt_s"), there + back);
    assert_eq!((cell("start_s"), cell("access_delay_s")), (0.0, 0.001));
    assert!(cell("delivered_bytes") > 80e3 && cell("delivered_bytes") % 1000.0 == 0.0);
    assert!(cell("fair_bps") > 0.0);
}
