//! `fairwire reproduce` and `fairwire list exhibits` from a user's view.

use crate::common;

use common::{code, fairwire, run, stderr, stdout};
use fairwire_testing::program::Running;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

const SCENARIO: &str = r#"format = 2
name = "short"
duration = "2 s"
warm_up = "500 ms"
disciplines = [{ tail-drop = {}, label = "DropTail" }, { fbfq = {}, label = "Fair" }]
[link]
rate = "2 Mbit/s"
delay = "10 ms"
buffer = "20 packets"
[[flow]]
group = "tcp"
count = 2
source = "bulk"
tcp = { profile = "ns2-2002" }
access = { rate = "100 Mbit/s", delay = "3 ms" }
[[flow]]
group = "cbr"
source = { cbr = { rate = "3 Mbit/s" } }
access = { rate = "100 Mbit/s", delay = "3 ms" }
"#;

const STUDY: &str = r#"format = 2
paper = "made"
title = "A made-up study"
source = "No author, nothing, never"
[[exhibit]]
id = "fig1"
title = "Share of TCP"
scenario = "base.toml"
[[exhibit.measure]]
id = "tcp"
of = "share.tcp"
[exhibit.figure]
kind = "bars"
[[exhibit.claim]]
id = "fairer"
says = "Fair queueing protects TCP"
where = "nowhere"
origin = "printed"
order = { more = "Fair", than = "DropTail" }
[[exhibit.claim]]
id = "perfect"
says = "It gives them what is fair"
where = "nowhere"
origin = "printed"
because = "a test"
bound = { of = "DropTail", min = 0.9 }
"#;

struct Studies {
    folder: tempfile::TempDir,
}

impl Studies {
    fn new() -> Self {
        let studies = Studies { folder: tempfile::tempdir().unwrap() };
        let made = studies.path("studies/2000-made");
        fs::create_dir_all(&made).unwrap();
        fs::write(made.join("study.toml"), STUDY).unwrap();
        fs::write(made.join("base.toml"), SCENARIO).unwrap();
        studies
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn reproduce(&self, more: &[&str]) -> std::process::Output {
        let (out, studies) = (self.text("out"), self.text("studies"));
        let mut args = vec!["reproduce", "--studies", &studies, "--out", &out, "--jobs", "2"];
        args.extend(more);
        self.command().args(&args).output().expect("the binary starts")
    }

    /// Tests share no cached results.
    fn command(&self) -> std::process::Command {
        let mut command = fairwire();
        command.env("XDG_CACHE_HOME", self.path("caches"));
        command
    }

    fn cache(&self) -> PathBuf {
        self.path("caches/fairwire")
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn claims_that_do_not_hold_are_results_and_no_failure() {
    let studies = Studies::new();
    let output = studies.reproduce(&[]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let table = stdout(&output);
    assert!(table.contains("1 holds, 1 does not hold, 0 not testable as printed"), "{table}");
    assert!(table.contains("against it: DropTail: 0.") && table.contains("\u{2713} holds: "), "{table}");
    let results = json(&studies.path("out/results.json"));
    assert_eq!(results["exhibits"][0]["claims"][0]["verdict"], "holds");
    let command = results["exhibits"][0]["command"].as_str().expect("a command");
    assert_eq!(
        command,
        format!("fairwire reproduce made.fig1 --quick --studies {}", studies.text("studies"))
    );
    let place = studies.text("again");
    let again = [&command.split(' ').skip(1).collect::<Vec<_>>()[..], &["--out", &place]].concat();
    assert_eq!(code(&run(&again)), 0, "the command works as it is printed");
    let page = fs::read_to_string(studies.path("out/report.html")).unwrap();
    assert!(page.contains("<h1>A made-up study</h1>") && !page.contains("The papers"), "{}", &page[..3000]);
    for name in ["out/report.html", "out/made.fig1.svg", "out/made.fig1.csv"] {
        assert!(studies.path(name).is_file(), "{name}");
    }
}

#[test]
fn json_on_stdout_matches_the_folder_and_a_second_call_reuses_it() {
    let studies = Studies::new();
    let first = studies.reproduce(&["made.fig1", "--format", "json"]);
    assert_eq!(code(&first), 0, "{}", stderr(&first));
    assert_eq!(stdout(&first), fs::read_to_string(studies.path("out/results.json")).unwrap());
    let second = studies.reproduce(&["made", "--format", "json"]);
    assert_eq!(stdout(&second), stdout(&first));
    assert!(stderr(&second).contains("0 runs made, 6 taken from earlier"), "{}", stderr(&second));
    let fresh = studies.reproduce(&["--fresh"]);
    assert!(!stderr(&fresh).contains("taken from earlier"), "{}", stderr(&fresh));
}

#[test]
fn bad_formats_and_unwritable_pages_are_refused_before_any_run() {
    let studies = Studies::new();
    let page = studies.text("not/there.md");
    let page = format!("--write-docs={page}");
    for (given, shown) in [
        (&["--format", "csv"][..], "allowed: `table` or `json`"),
        (&[&page], "a file in a folder that exists"),
        (&["--write-docs=page.html"], "allowed: a file with the extension .md"),
    ] {
        let output = studies.reproduce(given);
        assert_eq!(code(&output), 2, "{given:?}");
        assert!(stderr(&output).contains(shown), "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
        assert!(!studies.path("out").exists(), "nothing was begun: {given:?}");
    }
}

#[test]
fn numbers_in_a_readme_come_from_the_results() {
    let studies = Studies::new();
    let readme = studies.path("studies/2000-made/README.md");
    let page = format!("--write-docs={}", studies.text("claims.md"));
    fs::write(&readme, "TCP: <!-- = fig1 tcp Fairr -->?<!-- / -->\n").unwrap();
    let refused = studies.reproduce(&["--full", &page]);
    let message = stderr(&refused);
    assert_eq!(code(&refused), 2, "{message}");
    assert!(message.contains("README.md:1: there is no series `Fairr`"), "{message}");
    assert!(message.contains("did you mean `Fair`?") && !studies.path("out").exists(), "{message}");

    fs::write(
        &readme,
        "TCP: <!-- = fig1 tcp Fair -->?<!-- / -->\n\n<!-- results: fig1 tcp -->\n<!-- end -->\n",
    )
    .unwrap();
    let output = studies.reproduce(&["--full", &page]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let filled = fs::read_to_string(&readme).unwrap();
    assert!(filled.contains("fig1 tcp Fair -->0.9") || filled.contains("fig1 tcp Fair -->1."), "{filled}");
    assert!(filled.contains("| Fair | ") && filled.contains("| DropTail | 0."), "{filled}");
    assert!(fs::read_to_string(studies.path("claims.md")).unwrap().contains("made: 2 claims"));
}

#[test]
fn a_mistake_in_a_study_is_shown_at_its_place() {
    let studies = Studies::new();
    let file = studies.path("studies/2000-made/study.toml");
    fs::write(&file, STUDY.replace("share.tcp", "shrae.tcp")).unwrap();
    let output = studies.reproduce(&[]);
    assert_eq!(code(&output), 2);
    let message = stderr(&output);
    assert!(
        message.contains("study.toml:11:6") && message.contains("did you mean `share.tcp`?"),
        "{message}"
    );
}

#[test]
fn verdicts_are_recorded_and_checked_against_the_record() {
    let studies = Studies::new();
    let never = studies.reproduce(&["--expect-recorded"]);
    assert_eq!(code(&never), 3);
    assert!(stderr(&never).contains("made.fig1.fairer: holds, recorded: nothing"), "{}", stderr(&never));

    assert_eq!(code(&studies.reproduce(&["--record"])), 0);
    let held = studies.reproduce(&["--expect-recorded"]);
    assert_eq!(code(&held), 0, "{}", stderr(&held));

    let listed = |format: &str| {
        stdout(&run(&["list", "exhibits", "--studies", &studies.text("studies"), "--format", format]))
    };
    assert!(listed("table").contains("1 hold, 1 do not, 0 not testable (quick)"), "{}", listed("table"));
    let list: Value = serde_json::from_str(&listed("json")).unwrap();
    assert_eq!(list[0]["recorded"]["does_not_hold"], 1);

    let verdicts = studies.path("studies/2000-made/verdicts.toml");
    let text = fs::read_to_string(&verdicts).unwrap();
    fs::write(&verdicts, text.replace("\"does not hold\"", "\"holds\"")).unwrap();
    let other = studies.reproduce(&["--expect-recorded"]);
    assert_eq!(code(&other), 3);
    assert!(
        stderr(&other).contains("made.fig1.perfect: does not hold, recorded: holds"),
        "{}",
        stderr(&other)
    );
}

#[test]
fn an_interrupted_study_reports_finished_exhibits_and_resumes() {
    let studies = Studies::new();
    let made = studies.path("studies/2000-made");
    let long = STUDY[STUDY.find("[[exhibit]]").unwrap()..].replace("fig1", "fig2");
    let long = long.replace("scenario =", "set = [\"duration=1000000 s\"]\nscenario =");
    fs::write(made.join("study.toml"), format!("{STUDY}{long}")).unwrap();
    let (out, folder) = (studies.text("out"), studies.text("studies"));
    let args =
        ["reproduce", "--full", "--studies", &folder, "--out", &out, "--jobs", "1", "--format", "json"];
    let mut command = studies.command();
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = Running::start(&mut command).unwrap();
    let cache = studies.cache();
    let is_result = |file: &fs::DirEntry| file.file_name().to_string_lossy().ends_with(".result");
    let finished = || fs::read_dir(&cache).map_or(0, |all| all.flatten().filter(is_result).count());
    let mut patience = 6000;
    while finished() < 20 && patience > 0 {
        std::thread::sleep(Duration::from_millis(10));
        patience -= 1;
    }
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.output();
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    assert!(stderr(&output).contains("1 of 2 exhibits are whole"), "{}", stderr(&output));
    let results: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(results["interrupted"], true);
    let exhibits: Vec<&Value> = results["exhibits"].as_array().unwrap().iter().map(|e| &e["id"]).collect();
    assert_eq!(exhibits, ["fig1"]);
    let again = studies.reproduce(&["made.fig1", "--full"]);
    assert!(stderr(&again).contains("0 runs made, 20 taken from earlier"), "{}", stderr(&again));
}

#[test]
fn finished_runs_are_kept_in_the_user_cache_and_can_be_deleted() {
    let studies = Studies::new();
    assert_eq!(code(&studies.reproduce(&[])), 0);
    let written: Vec<String> = fs::read_dir(studies.path("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(written.iter().all(|name| !name.contains("cache")), "{written:?}");
    assert_eq!(fs::read_dir(studies.cache()).unwrap().count(), 6);
    let cache = |args: &[&str]| stdout(&studies.command().arg("cache").args(args).output().unwrap());
    let shown = cache(&[]);
    let folder = studies.cache().display().to_string();
    assert!(
        shown.contains(&folder) && shown.contains("runs     6") && shown.contains("at most  1 GiB"),
        "{shown}"
    );
    assert!(cache(&["clean"]).starts_with("6 runs removed, "));
    assert!(!studies.cache().exists());
    assert!(cache(&[]).contains("runs     0"));
    assert!(!stderr(&studies.reproduce(&[])).contains("taken from earlier"));
}

#[test]
fn a_broken_result_is_computed_again() {
    let studies = Studies::new();
    let first = studies.reproduce(&["--format", "json"]);
    let files: Vec<PathBuf> =
        fs::read_dir(studies.cache()).unwrap().map(|entry| entry.unwrap().path()).collect();
    fs::write(&files[0], "nonsense").unwrap();
    fs::write(&files[1], "").unwrap();
    let second = studies.reproduce(&["--format", "json"]);
    assert!(stderr(&second).contains("2 runs made, 4 taken from earlier"), "{}", stderr(&second));
    assert_eq!(stdout(&second), stdout(&first));
}

#[test]
fn without_a_writable_cache_everything_works_with_a_note() {
    let studies = Studies::new();
    fs::write(studies.path("caches"), "a file in the way").unwrap();
    let output = studies.reproduce(&[]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stderr(&output).contains("note: runs are not kept: `"), "{}", stderr(&output));
    assert!(studies.path("out/results.json").is_file());
    let homeless = |command: &mut std::process::Command| {
        command.env_remove("XDG_CACHE_HOME").env_remove("HOME").output().unwrap()
    };
    let (out, folder) = (studies.text("other"), studies.text("studies"));
    let output = homeless(studies.command().args(["reproduce", "--studies", &folder, "--out", &out]));
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stderr(&output).contains("set XDG_CACHE_HOME or HOME"), "{}", stderr(&output));
    assert_eq!(code(&homeless(studies.command().arg("cache"))), 2);
}

#[test]
fn a_full_disk_under_the_cache_costs_only_the_cache() {
    let studies = Studies::new();
    let small = studies.path("small");
    fs::create_dir(&small).unwrap();
    // The disk has room for the cache's folder and two or three of the six results.
    let mount = format!("mount -t tmpfs -o size=20k tmpfs {}", small.display());
    let mounting = |script: &str| {
        let mut command = std::process::Command::new("unshare");
        command
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
            .env("NO_COLOR", "1")
            .env("CI", "true")
            .env("XDG_CACHE_HOME", &small)
            .output()
    };
    let tried = mounting(&mount).map_err(|error| error.to_string());
    let tried = tried
        .and_then(|output| if output.status.success() { Ok(()) } else { Err(stderr(&output).trim().into()) });
    if let Err(why) = tried {
        return fairwire_testing::skipped(format_args!("fairwire reproduce on a full disk: {why}"));
    }
    let script = format!(
        "{mount} && {{ {binary} reproduce --studies {studies} --out {out} --jobs 1; code=$?; ls -A {small}/fairwire >&2; exit $code; }}",
        small = small.display(),
        binary = env!("CARGO_BIN_EXE_fairwire"),
        studies = studies.text("studies"),
        out = studies.text("out"),
    );
    let output = mounting(&script).unwrap();
    let message = stderr(&output);
    assert_eq!(code(&output), 0, "{message}");
    assert!(message.contains("runs are not kept: ") && message.contains("No space left"), "{message}");
    assert!(
        !message.lines().any(|line| line.ends_with(".half")),
        "whole results and nothing else: {message}"
    );
    assert!(studies.path("out/results.json").is_file());
}

#[test]
fn printed_claims_fit_the_terminal() {
    let studies = Studies::new();
    let (out, folder) = (studies.text("out"), studies.text("studies"));
    let args = ["reproduce", "--studies", &folder, "--out", &out];
    for columns in ["60", "80", "120"] {
        let output = studies.command().args(args).env("COLUMNS", columns).output().unwrap();
        let widest = stdout(&output).lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.parse().unwrap(), "{widest}: {}", stdout(&output));
    }
}

#[test]
fn fast_exhibits_of_the_repository_match_the_record() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path().display().to_string();
    let output = run(&["reproduce", "faba.fig10", "--quick", "--expect-recorded", "--out", &out]);
    assert_eq!(code(&output), 0, "{}\n{}", stderr(&output), stdout(&output));
}
