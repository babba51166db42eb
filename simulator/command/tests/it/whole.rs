//! Neither a full disk nor a signal at any time leaves incomplete files.

#![allow(clippy::disallowed_methods, reason = "a signal takes real time")]

use crate::common::{Contest, SCENARIO, code, fairwire, stderr};
use fairwire_testing::program::Running;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const OUTPUTS: [&str; 20] = [
    "--series",
    "s.csv",
    "--series-flows",
    "--trace",
    "t.ndjson",
    "--flows",
    "f.csv",
    "--histogram",
    "h.csv",
    "--percentiles",
    "p.csv",
    "--plot",
    "p.svg",
    "--flent",
    "f.flent.gz",
    "--one-way",
    "--every",
    "10 ms",
    "--out",
    "out",
];

fn all(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("it is below").display().to_string();
                found.insert(name, fs::read(&path).expect("it can be read"));
            }
        }
    }
    found
}

/// Runs `fairwire` on a disk of `size`. Returns stderr and the remaining files, or `None` if no
/// disk can be mounted.
fn on_disk(size: &str, args: &[&str]) -> Option<(String, BTreeMap<String, Vec<u8>>)> {
    let kept = tempfile::tempdir().expect("a scratch folder");
    let disk = tempfile::tempdir().expect("a scratch folder");
    // The disk disappears with the namespace, so the disk's files are copied first.
    let script = format!(
        "mount -t tmpfs -o size={size} none \"$0\" || exit 77; cd \"$0\"; \"$@\" >/dev/null; code=$?; cp -a . {}; exit $code",
        kept.path().display()
    );
    let program = fairwire().get_program().to_owned();
    let mut unshare = Command::new("unshare");
    unshare.args(["-m", "--propagation", "private", "sh", "-c", &script]).arg(disk.path()).arg(program);
    let output = unshare.args(args).env("XDG_CACHE_HOME", kept.path().join("cache")).output().ok()?;
    let _ = fs::remove_dir_all(kept.path().join("cache"));
    (code(&output) != 77 && !stderr(&output).contains("unshare: ")).then(|| {
        assert_eq!(code(&output), 1, "{}", stderr(&output));
        (stderr(&output), all(kept.path()))
    })
}

#[test]
fn a_full_disk_leaves_no_partial_file_and_none_is_reported_as_written() {
    let contest = Contest::of(SCENARIO);
    let file = contest.file();
    let args = [&["run", "--no-cache", file.as_str(), "--seeds", "1..=2"], &OUTPUTS[..]].concat();
    let whole = contest.path("whole");
    fs::create_dir(&whole).expect("a scratch folder");
    let output = fairwire().args(&args).current_dir(&whole).output().expect("the binary starts");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let whole = all(&whole);
    for size in ["30k", "120k", "300k", "1200k"] {
        let Some((said, found)) = on_disk(size, &args) else {
            return fairwire_testing::skip::skipped("a full disk: this needs root, unshare and mount");
        };
        assert!(said.contains("could not be written: No space left on device"), "{size}: {said}");
        let is_list = |line: &&str| line.starts_with("written: ") || line.starts_with("results: ");
        let written = said.lines().filter(is_list);
        let named: Vec<&str> = written
            .filter_map(|line| line.split_once(": "))
            .flat_map(|(_, names)| names.split(", "))
            .collect();
        for (name, content) in &found {
            assert!(
                Path::new(name).file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b"."))
            );
            let is_report = name == "out/report.json"; // it names its command
            assert!(is_report || whole.get(name) == Some(content), "{size}: {name} is half of it\n{said}");
        }
        let is_there = |name: &&str| found.contains_key(*name);
        assert!(named.iter().all(is_there), "{size}: {named:?} is not there\n{said}");
        let in_out = found.keys().filter(|name| name.starts_with("out/")).count();
        let all_in_out = whole.keys().filter(|name| name.starts_with("out/")).count();
        assert!([0, all_in_out].contains(&in_out), "{size}: {in_out} files of {all_in_out}");
    }
}

#[test]
fn a_signal_at_any_time_leaves_nothing_half_done() {
    let long = SCENARIO.replace("duration = \"2 s\"", "duration = \"2000 s\"");
    let mut random = 0x9e37_79b9_u64; // an arbitrary seed
    for round in 0..12 {
        let contest = Contest::of(&long);
        let (file, folder) = (contest.file(), contest.path("in"));
        fs::create_dir(&folder).expect("a scratch folder");
        let mut child = Running::start(
            fairwire()
                .args([&["run", "--no-cache", "--yes", file.as_str()], &OUTPUTS[..]].concat())
                .current_dir(&folder)
                .stdout(Stdio::null())
                .stderr(Stdio::null()),
        )
        .expect("the binary starts");
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        thread::sleep(Duration::from_millis(30 + (random >> 33) % 500));
        let id = child.id().to_string();
        let sent = Instant::now();
        for signal in ["-INT", "-TERM"].iter().take(1 + round % 2) {
            let _ = Command::new("kill").args([*signal, id.as_str()]).status();
            thread::sleep(Duration::from_millis((random >> 13) % 30));
        }
        let ended = child.wait().expect("it ends").code();
        // Stopping takes at most 0.3 s on an idle machine. The limit of 5 s leaves room for other
        // tests.
        assert!(sent.elapsed() < Duration::from_secs(5), "round {round}: {:?}", sent.elapsed());
        let names: Vec<String> = all(&folder).into_keys().collect();
        let is_hidden = |name: &String| name.split('/').any(|part| part.starts_with('.'));
        assert!(!names.iter().any(is_hidden), "round {round}: {names:?}");
        // A signal sent before the handler is installed ends the process without a code.
        assert!(ended.is_none_or(|code| code == 130), "round {round}: {ended:?}");
    }
}

#[test]
fn a_constantly_sampling_run_stops_at_once() {
    let contest = Contest::of(SCENARIO);
    let (file, series) = (contest.file(), contest.path("s.csv").display().to_string());
    let mut child = Running::start(
        fairwire()
            .args(["run", "--no-cache", "--yes", &file, "--every", "1 ns", "--series", &series])
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    )
    .expect("the binary starts");
    while fs::read_dir(contest.folder()).expect("a folder").count() < 2 {
        thread::yield_now();
    }
    thread::sleep(Duration::from_millis(300));
    let sent = Instant::now();
    let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(sent.elapsed() < Duration::from_secs(5), "{:?}", sent.elapsed()); // 0.3 s if alone
    assert_eq!(fs::read_dir(contest.folder()).expect("a folder").count(), 1, "the scenario alone");
}

#[test]
fn a_signal_during_a_write_ends_the_process_and_leaves_no_results() {
    let contest = Contest::of(&SCENARIO.replace("count = 3", "count = 100000"));
    let out = contest.path("out");
    let mut child = Running::start(
        fairwire()
            .args([
                "run",
                "--no-cache",
                "--yes",
                "--seeds",
                "1",
                "--discipline",
                "red",
                "--set",
                "duration=0.2 s",
                "--set",
                "warm_up=0 s",
                "--out",
            ])
            .arg(&out)
            .arg(contest.file())
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    )
    .expect("the binary starts");
    let is_begun = || fs::read_dir(&out).is_ok_and(|mut entries| entries.next().is_some());
    while !is_begun() && child.try_wait().expect("it is ours").is_none() {
        thread::yield_now();
    }
    let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    // A run that stops cleanly removes `out`. A process that exits at once leaves `out` empty.
    assert!(!out.exists() || all(&out).is_empty());
}

#[test]
fn a_file_beyond_the_size_limit_fails_and_is_removed() {
    let contest = Contest::of(SCENARIO);
    let line = format!(
        "ulimit -f 40; exec {} run --no-cache {} --trace {}",
        fairwire().get_program().display(),
        contest.file(),
        contest.path("t.ndjson").display()
    );
    let output = Command::new("sh").args(["-c", &line]).output().expect("a shell");
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(stderr(&output).contains("could not be written: File too large"), "{}", stderr(&output));
    assert_eq!(all(contest.folder()).len(), 1);
}
