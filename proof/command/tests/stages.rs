//! Tests of scenarios that require other programs as stages.

use fairwire_testing::program::{Program, code, stderr, stdout};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Output;

const PROOF: Program = Program {
    name: "fairwire-proof",
    file: env!("CARGO_BIN_EXE_fairwire-proof"),
    cache: env!("CARGO_TARGET_TMPDIR"),
};

const SHORT: [&str; 4] = ["--seeds", "1", "--discipline", "tail-drop"];

pub(crate) const SCENARIO: &str = r#"format = 2
name = "short"
title = "Three against one"
duration = "2 s"
warm_up = "500 ms"
seeds = "1..=3"
disciplines = ["tail-drop", "red"]

[link]
rate = "2 Mbit/s"
delay = "10 ms"
buffer = "40 packets"

[[flow]]
group = "tcp"
count = 3
source = "bulk"
tcp = { profile = "ns2-2002" }
access = { rate = "100 Mbit/s", delay = "3 ms" }
start = "0 s..100 ms"

[[flow]]
group = "udp"
source = { cbr = { rate = "1 Mbit/s" } }
access = { rate = "100 Mbit/s", delay = "3 ms" }
"#;

fn agreeing(entry: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("short.toml");
    std::fs::write(&file, format!("{SCENARIO}\n[[agree]]\n{entry}\n")).expect("a scratch file");
    (folder, file)
}

#[test]
fn missing_tools_are_skipped_with_a_note_and_fail_nothing() {
    let (scratch, file) = agreeing("measure = \"jain\"\ntolerance = 1\nbecause = \"it is a test\"");
    let set = "flow.tcp.tcp={ profile = 'ns2-2006' }";
    std::fs::copy(&file, scratch.path().join("other.toml")).expect("a scratch file");
    let on = |path: &str| {
        let args = [&["run", path, "--on", "sim,ns2", "--set", set], &SHORT[..]].concat();
        PROOF.command().args(args).env("PATH", "/nowhere").output().expect("the binary starts")
    };
    let why = "ns-2 (`ns`) is missing; allowed: `apt-get install ns2` on Debian and Ubuntu";
    let alone = on(&file.display().to_string());
    assert_eq!(code(&alone), 0, "{}", stderr(&alone));
    assert!(
        stderr(&alone).contains(&format!("SKIPPED: ns2 cannot run this here: {why}")),
        "{}",
        stderr(&alone)
    );
    let folder = on(&scratch.path().display().to_string());
    assert_eq!(code(&folder), 0, "{}", stderr(&folder));
    let text = stdout(&folder);
    assert!(text.contains("2 files: 2 skipped\nSKIPPED on ns2, 2 disciplines of "), "{text}");
    assert!(text.trim_end().ends_with(why), "{text}");
}

#[test]
fn differences_of_stages_are_judged_by_the_scenario_and_known_ones_are_no_miss() {
    let of = |entry: &str| {
        let (_scratch, file) =
            agreeing(&format!("measure = \"packets_dropped\"\nbecause = \"a test\"\n{entry}"));
        PROOF.run(&[
            "run",
            &file.display().to_string(),
            "--on",
            "sim,ns2",
            "--format",
            "json",
            "--seeds",
            "1",
            "--discipline",
            "red",
        ])
    };
    let first = of("tolerance = 1e9");
    if stdout(&first).contains("ns-2 (`ns`) is missing") {
        return fairwire_testing::skipped_for_want_of_a_peer(format_args!(
            "stages that differ: there is no ns-2"
        ));
    }
    let verdicts = |output: &Output| -> Vec<String> {
        let report: Value = serde_json::from_str(&stdout(output)).expect("a report");
        let all = report["agreement"].as_array().expect("an array").iter();
        all.filter_map(|one| one["verdict"].as_str().map(String::from)).collect()
    };
    assert_eq!((code(&first), verdicts(&first)), (0, vec!["holds".to_string(); 2]));
    // RED is random, and the two simulators have different random generators.
    let strict = of("tolerance = 0");
    assert_eq!((code(&strict), verdicts(&strict)), (3, vec!["does not hold".to_string(); 2]));
    let known = of("tolerance = 0\nknown = \"another simulator\"");
    assert_eq!((code(&known), verdicts(&known)), (0, vec!["known".to_string(); 2]), "{}", stderr(&known));
    let needless = of("tolerance = 1e9\nknown = \"another simulator\"");
    assert!(
        stderr(&needless).contains("agrees on ns2, though `known` says that it differs"),
        "{}",
        stderr(&needless)
    );
}
