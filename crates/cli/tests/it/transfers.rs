//! The record of each transfer and page: beside the report's own counts, and against the time that
//! a transfer takes where it is alone.

use crate::common::{Contest, code, run, stderr};
use crate::parquet::columns;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// Two web clients beside a bulk transfer.
const WEB: &str = r#"format = 2
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
access = { rate = "100 Mbit/s", delay = "5 ms" }

[[flow]]
group = "web"
count = 2
source = { web = { reading = { exponential = "500 ms" } } }
access = { rate = "100 Mbit/s", delay = "5 ms" }
"#;

/// Transfers of ten segments of 1000 bytes, all in the first window, with a pause after each.
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
tcp = { segment = "1000 B", initial_window = 10 }
"#;

type Row = BTreeMap<String, String>;

/// The rows of `--transfers`, and the report of the same command.
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

/// Alone: 0.104 ms on each access link and 1.04 ms at the link for the first segment of 1040 bytes,
/// 22 ms of propagation, and 9 more segments of 1.04 ms. Before it, the opening: 40 bytes there and
/// back in 0.048 ms and 22 ms each.
#[test]
fn a_transfer_without_others_takes_its_opening_and_the_time_that_it_takes_alone() {
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
