//! Running a scenario: formats, files, determinism, expectations and interruption.

use crate::common;

use common::{Contest, SCENARIO, code, fairwire, run, stderr, stdout};
use fairwire_testing::program::{Running, at_a_terminal, ends, seen};
use serde_json::Value;
use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::Duration;

fn json(args: &[&str]) -> Value {
    let output = run(args);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).expect("stdout is JSON and nothing else")
}

#[test]
fn json_fits_its_schema_and_names_the_runs() {
    let contest = Contest::of(SCENARIO);
    let report = json(&["run", &contest.file(), "--format", "json"]);
    let schema = json(&["schema", "results"]);
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let errors: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let mut broken = report.clone();
    broken["runs"][0]["seed"] = "one".into();
    assert!(!validator.is_valid(&broken), "the schema must be able to refuse");

    assert_eq!(report["schema_version"], 3);
    assert_eq!(report["manifest"]["scenario"], "short");
    assert_eq!(report["manifest"]["mode"], "simulated");
    assert_eq!(report["manifest"]["seeds"], serde_json::json!([1, 2, 3]));
    assert_eq!(report["manifest"]["interrupted"], false);
    let order: Vec<_> =
        report["runs"].as_array().unwrap().iter().map(|run| (&run["discipline"], &run["seed"])).collect();
    let expected = [("tail-drop", 1), ("tail-drop", 2), ("tail-drop", 3), ("red", 1), ("red", 2), ("red", 3)];
    assert!(
        order.iter().zip(expected).all(|((name, seed), want)| *name == want.0 && **seed == want.1),
        "{order:?}"
    );
    assert_eq!(report["runs"][0]["flows"].as_array().unwrap().len(), 4);
}

#[test]
fn every_bit_is_the_same_with_any_number_of_jobs() {
    let contest = Contest::of(SCENARIO);
    let with = |jobs: &str| {
        let text = stdout(&run(&["run", &contest.file(), "--format", "json", "--jobs", jobs]));
        let typed = format!("fairwire run {} --format json --jobs {jobs}", contest.file());
        assert!(text.contains(&format!("\"command\": \"{typed}\"")), "{}", &text[..2000]);
        text.replace(&typed, "")
    };
    let one = with("1");
    assert_eq!(one, with("4"));
    assert_eq!(one, with("1"));
    assert!(one.len() > 1000);
}

#[test]
fn seeds_differ_and_disciplines_meet_the_same_starts() {
    let contest = Contest::of(SCENARIO);
    let report = json(&["run", &contest.file(), "--format", "json", "--set", "link.buffer=4000 packets"]);
    let flows = |run: usize| &report["runs"][run]["flows"];
    assert_ne!(flows(0), flows(1), "another seed is another run");
    // The buffer never fills, and RED's average stays below its threshold, so RED behaves like
    // tail-drop.
    assert_eq!(flows(0), flows(3), "both disciplines meet the same traffic under one seed");
}

#[test]
fn the_table_has_a_row_per_discipline_with_intervals() {
    let contest = Contest::of(SCENARIO);
    let output = run(&["run", &contest.file()]);
    let text = stdout(&output);
    assert!(text.starts_with("Three against one\n"), "{text}");
    for column in [
        "share of tcp",
        "share of udp",
        "Jain",
        "drops",
        "sojourn mean, ms",
        "sojourn p99, ms",
        "utilization, %",
    ] {
        assert!(text.contains(column), "no `{column}` in {text}");
    }
    let rows: Vec<&str> = text.lines().filter(|line| line.contains('±') && line.starts_with('|')).collect();
    assert_eq!(rows.len(), 2, "{text}");
    assert!(rows[0].contains("tail-drop") && rows[1].contains("red"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colours outside of a terminal");
    let single = stdout(&run(&["run", &contest.file(), "--seeds", "7"]));
    assert!(!single.contains('±'), "one run has no interval: {single}");
}

#[test]
fn csv_is_the_summary() {
    let contest = Contest::of(SCENARIO);
    let text = stdout(&run(&["run", &contest.file(), "--format", "csv"]));
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("discipline,runs,measure,mean,half_width_95,min,max"));
    assert!(lines.all(|line| line.split(',').count() == 7 && line.contains(",3,")));
    assert!(text.contains("red,3,share.tcp,"), "{text}");
}

#[test]
fn out_writes_every_file_completely() {
    let contest = Contest::of(SCENARIO);
    let out = contest.path("a/b");
    let output = run(&["run", &contest.file(), "--format", "json", "--out", &out.display().to_string()]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let file = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(file("report.json"), stdout(&output));
    assert_eq!(file("runs.csv").lines().count(), 1 + 6);
    assert_eq!(file("flows.csv").lines().count(), 1 + 6 * 4);
    assert!(file("summary.csv").contains("share.tcp"));
    let picture = file("shares.svg");
    assert!(picture.starts_with("<svg ") && picture.trim_end().ends_with("</svg>"));
    assert!(!picture.contains("NaN") && !picture.contains("href"), "self-contained");
    for text in ["tail-drop", "red", "fair share", "Three against one"] {
        assert!(picture.contains(text), "no `{text}` in the picture");
    }
    let mut names: Vec<_> =
        std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(
        names,
        ["flows.csv", "report.json", "runs.csv", "scenario.toml", "shares.svg", "summary.csv"],
        "no scratch files"
    );
}

/// Makes a run take minutes. An error found only after the run would give exit code 1, not 2.
const ENDLESS: &[&str] = &["--set", "duration=200000 s"];

#[track_caller]
fn out_is_refused(contest: &Contest, out: &str, part: &str) {
    let file = contest.file();
    let output = run(&[&["run", file.as_str(), "--out", out], ENDLESS].concat());
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    let message = stderr(&output);
    assert!(message.contains(part) && message.contains(out) && message.contains("allowed"), "{message}");
}

#[test]
fn an_unwritable_location_is_an_error_before_the_run() {
    let contest = Contest::of(SCENARIO);
    let is_file = format!("but `{}` is a file", contest.file());
    out_is_refused(&contest, &contest.file(), &is_file);
    out_is_refused(&contest, &format!("{}/below", contest.file()), &is_file);
    out_is_refused(&contest, "/proc/fairwire", "cannot be made");
    std::fs::create_dir_all(contest.path("taken/report.json")).unwrap();
    out_is_refused(&contest, &contest.path("taken").display().to_string(), "its `report.json` is a folder");
}

fn mounting(script: &str) -> std::io::Result<std::process::Output> {
    let rights: &[&str] = if is_root() { &["--mount"] } else { &["--user", "--map-root-user", "--mount"] };
    std::process::Command::new("unshare").args(rights).args(["sh", "-c", script]).output()
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

#[test]
fn a_full_disk_is_an_error_and_leaves_nothing_half_written() {
    let contest = Contest::of(SCENARIO);
    let small = contest.path("small");
    fs::create_dir(&small).unwrap();
    let mount = format!("mount -t tmpfs -o size=16k tmpfs {}", small.display());
    // Mounts once without fairwire, to find out whether the machine can mount.
    let tried = mounting(&mount).map_or_else(
        |error| Err(error.to_string()),
        |output| if output.status.success() { Ok(()) } else { Err(stderr(&output).trim().to_string()) },
    );
    if let Err(why) = tried {
        return fairwire_testing::skipped(format_args!("fairwire on a full disk: {why}"));
    }
    let script = format!(
        "{mount} && {{ {binary} run {file} --out {small}/out; code=$?; find {small} -type f; exit $code; }}",
        small = small.display(),
        binary = env!("CARGO_BIN_EXE_fairwire"),
        file = contest.file()
    );
    let output = mounting(&script).unwrap();
    let message = stderr(&output);
    assert_eq!(code(&output), 1, "{message}");
    assert!(message.contains("report.json` could not be written: No space left"), "{message}");
    let shown = stdout(&output);
    assert!(shown.contains("share of tcp"), "what was run is printed all the same: {shown}");
    assert!(!shown.contains(small.to_str().expect("UTF-8")), "no file, whole or half: {shown}");
}

#[test]
fn a_failed_expectation_is_exit_code_3_and_is_reported() {
    let expect = |min: &str| {
        format!(
            "{SCENARIO}\n[[expect]]\ndiscipline = \"red\"\nmeasure = \"utilization\"\nmin = {min}\nbecause = \"a link cannot do more\"\n"
        )
    };
    let output = run(&["run", &Contest::of(&expect("1.5")).file()]);
    assert_eq!(code(&output), 3);
    let message = stderr(&output);
    assert!(message.contains("expectation failed: red: utilization is 0."), "{message}");
    assert!(message.contains("expected at least 1.5 (a link cannot do more)"), "{message}");
    assert!(stdout(&output).contains("share of tcp"), "the results are printed all the same");
    assert_eq!(code(&run(&["run", &Contest::of(&expect("0.1")).file()])), 0);
    let other = run(&["run", &Contest::of(&expect("1.5")).file(), "--discipline", "tail-drop"]);
    assert_eq!(code(&other), 0, "an expectation on what was not run is not judged");
    let message = stderr(&other);
    assert!(message.contains("1 expectation not judged: red was not run"), "{message}");
}

#[test]
fn set_and_choices_change_the_run() {
    let contest = Contest::of(SCENARIO);
    let report = json(&[
        "run",
        &contest.file(),
        "--format",
        "json",
        "--discipline",
        "faba",
        "--seeds",
        "5,9",
        "--set",
        "flow.tcp.count=5",
    ]);
    assert_eq!(report["manifest"]["disciplines"], serde_json::json!(["faba"]));
    assert_eq!(report["manifest"]["seeds"], serde_json::json!([5, 9]));
    assert_eq!(report["runs"][0]["flows"].as_array().unwrap().len(), 6);
    let base = json(&["run", &contest.file(), "--format", "json"]);
    assert_ne!(report["manifest"]["scenario_sha256"], base["manifest"]["scenario_sha256"]);
}

#[test]
fn an_interrupted_run_keeps_finished_results() {
    // A run takes about 10 ms. So some but not all of 19 998 runs finish in two seconds, even on a
    // machine ten times faster or slower.
    let contest = Contest::of(SCENARIO);
    let out = contest.path("out");
    let mut command = fairwire();
    command.args(["run", &contest.file(), "--jobs", "1", "--seeds", "1..=9999", "--format", "json"]);
    command.args(["--out", &out.display().to_string(), "--set", "duration=100 s"]);
    let mut child = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped())).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let (mut text, mut message) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{message}");
    assert!(message.contains("of 19998 runs finished"), "{message}");
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["manifest"]["interrupted"], true);
    let runs = report["runs"].as_array().unwrap();
    assert!(!runs.is_empty() && runs.len() < 19_998, "{} runs", runs.len());
    assert_eq!(runs[0]["seed"], 1);
    assert_eq!(std::fs::read_to_string(out.join("report.json")).unwrap(), text);
}

#[test]
fn a_cached_run_is_reused_unless_it_is_observed() {
    let contest = Contest::of(SCENARIO);
    let cache = contest.path("cache");
    let series = contest.path("series.csv").display().to_string();
    let report = |more: &[&str]| -> Value {
        let file = contest.file();
        // The run takes long enough on any machine to be kept in the cache.
        let args =
            ["run", file.as_str(), "--set", "duration=600 s", "--discipline", "red", "--format", "json"];
        let output = fairwire().args(args).args(more).env("XDG_CACHE_HOME", &cache).output().unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let mut report: Value = serde_json::from_str(&stdout(&output)).unwrap();
        report["manifest"]["command"].take();
        report
    };
    let made = report(&["--no-cache"]);
    assert!(!cache.exists(), "nothing is kept");
    assert_eq!(report(&[]), made);
    assert_eq!(report(&[]), made);
    let kept = || -> Vec<PathBuf> {
        let all = std::fs::read_dir(cache.join("fairwire")).unwrap();
        all.map(|entry| entry.unwrap().path()).collect()
    };
    assert_eq!(kept().len(), 3, "a file for each seed");
    // If the results change when the files are exchanged, the kept files were used.
    let contents: Vec<Vec<u8>> = kept().iter().map(|path| std::fs::read(path).unwrap()).collect();
    for (at, path) in kept().iter().enumerate() {
        std::fs::write(path, &contents[(at + 1) % 3]).unwrap();
    }
    let taken = report(&[]);
    assert_ne!(taken["runs"], made["runs"]);
    assert_eq!(report(&["--no-cache"]), made);
    assert_eq!(report(&["--series", &series, "--every", "100 s"]), made, "a series needs the run");
    assert_eq!(report(&[]), made, "and what it gave is kept");
    assert_ne!(report(&["--set", "link.buffer=41 packets"])["runs"], made["runs"]);
    assert_eq!(kept().len(), 9, "three runs with their samples, and three runs");
}

#[test]
fn a_series_and_a_picture_in_another_form_cost_no_run() {
    let contest = Contest::of(SCENARIO);
    let cache = contest.path("cache");
    let written = |option: &str, name: &str, more: &[&str]| -> String {
        let (file, path) = (contest.file(), contest.path(name));
        let output = fairwire()
            .args(["run", &file, "--set", "duration=600 s", "--discipline", "red", "--every", "100 s"])
            .args([option, &path.display().to_string()])
            .args(more)
            .env("XDG_CACHE_HOME", &cache)
            .output()
            .unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        std::fs::read_to_string(path).unwrap()
    };
    let series = written("--series", "a.csv", &[]);
    let samples = || -> Vec<PathBuf> {
        let all = std::fs::read_dir(cache.join("fairwire")).unwrap().map(|entry| entry.unwrap().path());
        // The longer file of each run is its record, and the shorter file has its samples.
        let mut all: Vec<PathBuf> = all.collect();
        all.sort_by_key(|path| std::fs::metadata(path).unwrap().len());
        all
    };
    assert_eq!(samples().len(), 6, "three runs, and their samples");
    let forms = [("--series", "b.csv"), ("--series", "b.ndjson"), ("--plot", "b.svg"), ("--plot", "b.tex")];
    for (option, name) in forms {
        assert_eq!(written(option, name, &[]), written(option, name, &["--no-cache"]), "{name}");
    }
    assert_eq!(samples().len(), 6);
    // If the series changes when the files are exchanged, the kept files were used.
    let paths: Vec<PathBuf> = samples();
    let contents: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    for half in [0, 3] {
        for at in 0..3 {
            std::fs::write(&paths[half + at], &contents[half + (at + 1) % 3]).unwrap();
        }
    }
    assert_ne!(written("--series", "c.csv", &[]), series);
}

#[test]
fn a_new_scenario_is_written_once_and_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let file = path.display().to_string();
    let args = ["new", &file, "--rate", "2 Mbit/s", "--rtt", "30 ms", "--senders", "2 cubic, cbr 1 Mbit/s"];
    let more = ["--disciplines", "tail-drop,codel", "--duration", "2 s"];
    let output = run(&[&args[..], &more].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("# The propagation delay, one way.") && text.contains("\ndelay = \"15 ms\""),
        "{text}"
    );
    let again = run(&["new", &file]);
    assert_eq!((code(&again), std::fs::read_to_string(&path).unwrap()), (2, text));
    assert!(stderr(&again).contains("exists, and nothing is written over it"), "{}", stderr(&again));
    let ran = run(&["run", &file, "--seeds", "1"]);
    assert_eq!(code(&ran), 0, "{}", stderr(&ran));
    assert!(stdout(&ran).contains("share of cubic") && stdout(&ran).contains("codel"), "{}", stdout(&ran));
    // After the end of the input, missing answers have their defaults.
    let other = folder.path().join("other.toml").display().to_string();
    assert_eq!(code(&run(&["new", &other])), 0);
}

fn new_of(file: &std::path::Path, answers: &str) -> Output {
    let mut child = fairwire();
    child.args(["new", &file.display().to_string()]);
    child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Running::start(&mut child).unwrap();
    // The write may fail if `fairwire new` refused the file before it read the input.
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), answers.as_bytes());
    child.output()
}

#[test]
fn piped_answers_are_read_and_a_refused_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("piped.toml");
    let output = new_of(&path, "50 Mbit/s\n\n1 on-off 5 Mbit/s\n");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = std::fs::read_to_string(&path).unwrap();
    for said in ["rate = \"50 Mbit/s\"", "delay = \"20 ms\"", "on-off = { rate = \"5 Mbit/s\", burst"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let path = folder.path().join("short.toml");
    let output = new_of(&path, "\n\n\n\n1 s\n");
    assert_eq!((code(&output), path.exists()), (2, false));
    assert!(stderr(&output).contains("how long: "), "{}", stderr(&output));
    let output = new_of(&folder.path().join("missing/mine.toml"), "");
    assert!(stderr(&output).contains("there is no folder"), "{}", stderr(&output));
}

fn unread(args: &[&str]) -> (Option<i32>, String) {
    let mut command = fairwire();
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Running::start(&mut command).unwrap();
    drop(child.stdout.take());
    let output = child.output();
    (output.status.code(), stderr(&output))
}

#[test]
fn a_closed_pipe_is_no_error_and_the_files_are_still_written() {
    let contest = Contest::of(SCENARIO);
    let out = contest.path("out");
    let (code, message) =
        unread(&["run", &contest.file(), "--format", "json", "--out", &out.display().to_string()]);
    assert_eq!(code, Some(0), "{message}");
    assert_eq!(fs::read_dir(out).unwrap().count(), 6);
}

#[test]
fn a_failed_expectation_is_reported_despite_a_closed_pipe() {
    let expect = "[[expect]]\ndiscipline = \"red\"\nmeasure = \"utilization\"\nmin = 1.5\n";
    let contest = Contest::of(&format!("{SCENARIO}\n{expect}"));
    let (code, message) = unread(&["run", &contest.file()]);
    assert_eq!(code, Some(3), "{message}");
    assert!(message.contains("expectation failed: red"), "{message}");
}

#[test]
fn results_that_cannot_be_printed_are_in_the_folder_and_judged() {
    let contest = Contest::of(SCENARIO);
    let out = contest.path("out");
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = fairwire()
        .args(["run", &contest.file(), "--out", &out.display().to_string()])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("could not be printed"), "{}", stderr(&output));
    assert_eq!(fs::read_dir(out).unwrap().count(), 6);
}

#[test]
fn help_that_cannot_be_printed_is_a_failure() {
    for requested in [&["--help"][..], &["--version"], &["run", "--help"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = fairwire().args(requested).stdout(full).output().unwrap();
        assert_eq!(code(&output), 1, "{requested:?}");
        assert!(stderr(&output).contains("could not be printed"), "{}", stderr(&output));
    }
}

#[test]
fn an_unwritable_stderr_loses_nothing() {
    let contest = Contest::of(SCENARIO);
    let out = contest.path("out").display().to_string();
    // Without the variable `CI`, progress is also written to stderr.
    let with = |args: &[&str]| {
        let full = File::options().write(true).open("/dev/full").unwrap();
        fairwire().env_remove("CI").args(args).stderr(full).output().unwrap()
    };
    let output = with(&["run", &contest.file(), "--format", "json", "--out", &out]);
    assert_eq!(code(&output), 0);
    let report: Value = serde_json::from_str(&stdout(&output)).expect("all of the results");
    assert_eq!(report["runs"].as_array().unwrap().len(), 6);
    assert_eq!(fs::read_dir(out).unwrap().count(), 6);
    assert_eq!(code(&with(&["run", &contest.path("missing.toml").display().to_string()])), 2);
    assert_eq!(code(&with(&["lab", "share", "--discipline", "nonesuch"])), 2);
}

#[test]
fn the_lab_writes_its_files_despite_a_closed_pipe() {
    let contest = Contest::of(SCENARIO);
    let out = contest.path("new/lab");
    let place = out.display().to_string();
    let (code, message) =
        unread(&["lab", "share", "--discipline", "faba", "--seconds", "1", "--out", &place]);
    if code == Some(2) && message.contains("may not make network namespaces") {
        assert!(!contest.path("new").exists(), "what was made for nothing is gone");
        return fairwire_testing::skipped(
            "results of the lab without a reader: no right to make network namespaces",
        );
    }
    assert_eq!(code, Some(0), "{message}");
    assert_eq!(fs::read_dir(out).unwrap().count(), 6, "five files of results, and the scenario");
}

#[test]
fn a_run_whose_terminal_closes_ends_and_writes_its_files() {
    let contest = Contest::of(SCENARIO);
    let out = contest.path("out");
    let place = out.display().to_string();
    let file = contest.file();
    let (master, child) = at_a_terminal(fairwire().args([
        "run",
        &file,
        "--jobs",
        "1",
        "--seeds",
        "1..=20",
        "--set",
        "duration=20 s",
        "--out",
        &place,
    ]));
    seen(&master, "[");
    drop(master);
    let code = ends(child);
    let report: Value =
        serde_json::from_str(&fs::read_to_string(out.join("report.json")).expect("a report")).unwrap();
    assert_eq!(report["runs"].as_array().map(Vec::len), Some(40), "{code:?}");
}

#[test]
fn the_long_version_and_the_manifest_name_the_engine() {
    let contest = Contest::of(SCENARIO);
    let report = json(&["run", &contest.file(), "--format", "json", "--seeds", "1"]);
    let engine = report["manifest"]["engine"].as_str().expect("an engine");
    assert!(engine.len() == 16 && engine.chars().all(|c| c.is_ascii_hexdigit()), "{engine}");
    let long = stdout(&run(&["--version"]));
    assert!(long.contains(&format!("\nengine {engine} ")), "{long}");
    let short = stdout(&run(&["-V"]));
    assert_eq!(short, format!("fairwire {}\n", report["manifest"]["fairwire_version"].as_str().unwrap()));
}

fn with_files(contest: &Contest) -> String {
    let home = contest.path("home");
    fs::create_dir_all(home.join("traces")).unwrap();
    fs::write(home.join("traces/lte.trace"), "2\n4\n4\n7\n").unwrap();
    let capture = contest.path("outside.pcapng");
    let made = run(&[
        "-q",
        "run",
        &contest.file(),
        "--seeds",
        "1",
        "--discipline",
        "red",
        "--trace",
        capture.to_str().unwrap(),
    ]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let text = SCENARIO
        .replace("rate = \"2 Mbit/s\"", "trace = \"traces/lte.trace\"")
        .replace("\"red\"]", "\"red\", { red = { max_probability = 0.5 }, label = \"high\" }]");
    let flow = "[[flow]]\ngroup = \"again\"\nsource = { replay = { file = \"../outside.pcapng\" } }\n\
                access = { rate = \"100 Mbit/s\", delay = \"1 ms\" }\n";
    let expect = "[[expect]]\ndiscipline = \"tail-drop\"\nmeasure = \"utilization\"\nmin = 0.1\n";
    fs::write(home.join("mine.toml"), format!("{text}{flow}{expect}")).unwrap();
    home.join("mine.toml").display().to_string()
}

#[test]
fn a_folder_of_results_can_be_run_again_anywhere() {
    let contest = Contest::of(SCENARIO);
    let file = with_files(&contest);
    let out = contest.path("out").display().to_string();
    let first = json(&[
        "run",
        &file,
        "--format",
        "json",
        "--out",
        &out,
        "--set",
        "link.buffer=30 packets",
        "--set",
        "flow.tcp.count=2",
        "--discipline",
        "high",
        "--seeds",
        "4,2",
    ]);
    let manifest = &first["manifest"];
    assert_eq!(manifest["set"], serde_json::json!(["link.buffer=30 packets", "flow.tcp.count=2"]));
    let command = manifest["command"].as_str().expect("a command");
    assert!(
        command.starts_with("fairwire run ") && command.contains("--set 'link.buffer=30 packets'"),
        "{command}"
    );
    let moved = contest.path("far/away");
    fs::create_dir_all(contest.path("far")).unwrap();
    fs::rename(contest.path("out"), &moved).unwrap();
    fs::remove_dir_all(contest.path("home")).unwrap();
    fs::remove_file(contest.path("outside.pcapng")).unwrap();
    let again = moved.join("scenario.toml").display().to_string();
    let second = json(&["run", &again, "--format", "json"]);
    for part in ["runs", "summary"] {
        assert_eq!(first[part], second[part], "{part}");
    }
    assert_eq!(
        (&manifest["disciplines"], &manifest["seeds"]),
        (&serde_json::json!(["high"]), &serde_json::json!([4, 2]))
    );
    for key in ["disciplines", "seeds", "duration_s", "warm_up_s", "engine", "tie_rule"] {
        assert_eq!(manifest[key], second["manifest"][key], "{key}");
    }
    let text = fs::read_to_string(&again).unwrap();
    for part in
        ["trace = \"traces/lte.trace\"", "file = \"files/outside.pcapng\"", "30 packets", "max_probability"]
    {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    let place = moved.display().to_string();
    assert_eq!(code(&run(&["run", &again, "--out", &place])), 0);
    assert_eq!(fs::read_to_string(&again).unwrap(), text);
    assert!(moved.join("files/outside.pcapng").is_file());
}

#[test]
fn the_report_contains_the_scenario_as_run() {
    let contest = Contest::of(SCENARIO);
    let first = json(&["run", &contest.file(), "--format", "json", "--set", "link.buffer=20 packets"]);
    let text = first["manifest"]["scenario_toml"].as_str().expect("a scenario");
    fs::write(contest.path("again.toml"), text).unwrap();
    let second = json(&["run", &contest.path("again.toml").display().to_string(), "--format", "json"]);
    assert_eq!((&first["runs"], &first["summary"]), (&second["runs"], &second["summary"]));
    assert_eq!(first["manifest"]["scenario_sha256"], second["manifest"]["scenario_sha256"]);
    let plain = json(&["run", &contest.file(), "--format", "json"]);
    assert_eq!(plain["manifest"]["scenario_toml"], SCENARIO, "unchanged where nothing was changed");
    assert!(plain["manifest"].get("set").is_none());
}

#[test]
fn earlier_results_in_a_folder_are_replaced_and_a_foreign_scenario_is_not() {
    let contest = Contest::of(SCENARIO);
    let out = contest.path("out");
    let place = out.display().to_string();
    let go =
        |more: &[&str]| run(&[&["run", &contest.file(), "--seeds", "1,2", "--out", &place], more].concat());
    assert_eq!(code(&go(&["--paired"])), 0);
    assert!(out.join("differences.csv").is_file());
    fs::write(out.join("notes.txt"), "mine").unwrap();
    assert_eq!(code(&go(&[])), 0);
    assert!(!out.join("differences.csv").exists(), "it was of another run");
    assert_eq!(fs::read_to_string(out.join("notes.txt")).unwrap(), "mine");

    let own = contest.path("own");
    fs::create_dir(&own).unwrap();
    fs::write(own.join("scenario.toml"), format!("# mine\n{SCENARIO}")).unwrap();
    out_is_refused(&contest, &own.display().to_string(), "a `scenario.toml` is there that is no result");
    assert!(fs::read_to_string(own.join("scenario.toml")).unwrap().starts_with("# mine"));
    let same = own.join("scenario.toml").display().to_string();
    let beside = run(&["run", &same, "--out", &own.display().to_string()]);
    assert_eq!(code(&beside), 0, "its own, unchanged, is not lost: {}", stderr(&beside));
}

#[test]
fn a_link_with_a_trace_is_announced_by_its_mean_rate() {
    let contest = Contest::of(&SCENARIO.replace("rate = \"2 Mbit/s\"", "trace = \"lte.trace\""));
    fs::write(contest.path("lte.trace"), "2\n4\n4\n7\n").unwrap(); // 4 x 1504 bytes in 7 ms
    let said = |more: &[&str]| stdout(&run(&[&["run", &contest.file(), "--seeds", "1"], more].concat()));
    assert!(
        said(&[]).contains("simulated: trace lte.trace, mean 6.88 Mbit/s, one-way delay 10 ms, buffer 40"),
        "{}",
        said(&[])
    );
    let typed = said(&["--set", "link.rate=12 Mbit/s"]);
    assert!(
        typed.contains("trace lte.trace, mean 6.88 Mbit/s (disciplines go by 12 Mbit/s), one-way"),
        "{typed}"
    );
}

#[test]
fn conditions_that_may_determine_shares_are_noted() {
    let contest = Contest::of(SCENARIO);
    let note = "`tcp`: hosts take no time";
    let table = run(&["run", &contest.file(), "--seeds", "1"]);
    assert!(stdout(&table).contains(&format!("\nnote: {note}")), "{}", stdout(&table));
    let output = run(&["run", &contest.file(), "--seeds", "1", "--format", "json"]);
    assert!(stderr(&output).contains(&format!("note: {note}")), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(report["manifest"]["notes"][0].as_str().unwrap().starts_with(note));
    let bbr = ["--set", "flow.tcp.tcp.profile=ns2-2002", "--set", "flow.tcp.tcp.control=bbr"];
    let refused = run(&[&["run", &contest.file()], &bbr[..]].concat());
    assert_eq!(code(&refused), 2);
    assert!(stderr(&refused).contains("selective acknowledgements"), "{}", stderr(&refused));
}

#[test]
fn seconds_are_whole_where_they_were_typed_so() {
    let contest = Contest::of(SCENARIO);
    let set = ["--set", "duration=60 s", "--set", "warm_up=7 s"];
    let report =
        stdout(&run(&[&["run", &contest.file(), "--format", "json", "--seeds", "1"], &set[..]].concat()));
    assert!(
        report.contains("\"duration_s\": 60.0,") && report.contains("\"warm_up_s\": 7.0,"),
        "{}",
        &report[..3000]
    );
    let longest = report.split("\"max_s\": ").nth(1).unwrap().split('\n').next().unwrap();
    assert!(longest.split('.').nth(1).unwrap().len() <= 9, "whole nanoseconds: {longest}");
}
