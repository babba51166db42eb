//! Typing mistakes: the message names the correction, or the command applies it.

#![allow(clippy::disallowed_methods, reason = "what is kept of a sweep is a matter of real time")]

use crate::common::{Contest, SCENARIO, code, fairwire, run, stderr, stdout};
use fairwire_testing::program::Running;
use std::process::Stdio;
use std::time::{Duration, Instant};

const PLAN: &str =
    "format = 1\nscenario = \"short.toml\"\nmeasures = [\"jain\"]\nseeds = \"1..=2\"\n\n[vary]\n";

fn refused(contest: &Contest, args: &[&str]) -> String {
    let output = fairwire().args(args).current_dir(contest.folder()).output().expect("the binary starts");
    assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{args:?}: {}", stderr(&output));
    let said = stderr(&output);
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn bits_and_bytes_are_distinguished_and_exponents_are_read() {
    let contest = Contest::of(SCENARIO);
    let said = refused(&contest, &["run", "short.toml", "--set", "link.rate=10 Mb/s"]);
    assert!(said.ends_with("did you mean `10 Mbit/s`?"), "{said}");
    let csv = |set: &str| {
        let file = contest.file();
        stdout(&run(&["run", &file, "--no-cache", "--seeds", "1", "--set", set, "--format", "csv"]))
    };
    let plain = csv("link.rate=2 Mbit/s");
    assert!(plain.contains(",jain,") && plain == csv("link.rate=2e6 bit/s"));
}

#[test]
fn a_file_for_another_command_is_directed_there() {
    let contest = Contest::of(SCENARIO);
    std::fs::write(contest.path("plan.toml"), format!("{PLAN}\"link.buffer\" = [\"9 packets\"]\n"))
        .expect("a scratch file");
    let said = refused(&contest, &["run", "plan.toml"]);
    assert!(said.contains("`fairwire sweep plan.toml` runs a plan"), "{said}");
    let said = refused(&contest, &["sweep", "short.toml"]);
    assert!(said.contains("`fairwire run short.toml` runs a scenario"), "{said}");
}

#[test]
fn a_key_in_the_wrong_table_is_directed_to_its_own() {
    let contest = Contest::of(SCENARIO);
    let said = |set: &str| refused(&contest, &["run", "short.toml", "--set", set]);
    assert!(
        said("impair={}").contains("a parameter of `link`, `return` and `flow.access`"),
        "{}",
        said("impair={}")
    );
    assert!(said("flow.tcp.min_rto=1 s").contains("it is a parameter of `flow.tcp`"));
    let count = said("flow.tcp.count=-3");
    assert!(count.ends_with("allowed: a whole number from 1 to 1000000"), "{count}");
    let flow = SCENARIO.split("[[flow]]").next().expect("a head");
    let bare = Contest::of(flow);
    assert!(refused(&bare, &["run", "short.toml"]).contains("help: add `[[flow]]`"));
}

#[test]
fn a_change_without_effect_is_refused() {
    let contest = Contest::of(SCENARIO);
    let one_way = refused(&contest, &["run", "short.toml", "--one-way"]);
    assert!(one_way.contains("`--one-way` is given, but no output shows one-way delays"), "{one_way}");
    let every = refused(&contest, &["run", "short.toml", "--every", "10 ms"]);
    assert!(every.contains("`--every` is given, but nothing is sampled"), "{every}");
    let slip = refused(&contest, &["run", "short.toml", "--series", "s.csv", "--every", "1 ns"]);
    assert!(slip.contains("billion rows of samples") && slip.contains("or more with `--yes`"), "{slip}");
    assert!(!contest.path("s.csv").exists());
}

#[test]
fn set_can_remove_changes_and_delays_of_a_file() {
    let changing = SCENARIO.replace(
        "[[flow]]\ngroup = \"tcp\"",
        "changes = [{ at = \"1 s\", rate = \"1 Mbit/s\" }]\n\n[[flow]]\ngroup = \"tcp\"",
    );
    let (plain, changing) = (Contest::of(SCENARIO), Contest::of(&changing));
    let csv = |contest: &Contest, set: &[&str]| {
        let file = contest.file();
        let set: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
        let args =
            [&["run", file.as_str(), "--no-cache", "--seeds", "1", "--format", "csv"], &set[..]].concat();
        let output = run(&args);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        stdout(&output)
    };
    assert_ne!(csv(&changing, &[]), csv(&plain, &[]));
    assert_eq!(csv(&changing, &["link.changes=[]"]), csv(&plain, &[]));
    // A round trip takes 2 × 10 ms on the link + 4 × 3 ms on access links = 32 ms.
    assert_eq!(csv(&plain, &["flow.tcp.rtt=32 ms"]), csv(&plain, &[]));
    let both = ["--set", "flow.tcp.rtt=32 ms", "--set", "flow.tcp.access.delay=3 ms"];
    let said = refused(&plain, &[&["run", "short.toml"], &both[..]].concat());
    assert!(said.contains("one of the two"), "{said}");
}

#[test]
fn a_single_seed_is_noted_unless_quiet() {
    let contest = Contest::of(SCENARIO);
    let file = contest.file();
    let said = |more: &[&str]| stderr(&run(&[&["run", &file, "--seeds", "8", "--jobs", "0"], more].concat()));
    assert!(said(&[]).contains("note: `--seeds 8` is one run with the seed 8; `--seeds 1..=8` is 8"));
    assert!(!said(&["--quiet", "--format", "csv"]).contains("note:"));
}

#[test]
fn notes_of_a_sweep_are_on_stderr_unless_quiet() {
    let contest = Contest::of(SCENARIO);
    let path = |name: &str| contest.path(name).display().to_string();
    let vary = "\"flow.tcp.tcp.control\" = [\"reno\", \"dctcp\"]\n";
    std::fs::write(path("plan.toml"), format!("{PLAN}{vary}")).expect("a scratch file");
    let (plan, store) = (path("plan.toml"), path("store"));
    let said = |more: &[&str]| {
        stderr(&run(&[&["sweep", &plan, "--store", &store, "--format", "csv"], more].concat()))
    };
    assert!(said(&[]).contains("note: cells differ in more than what varies: `flow.tcp.tcp.ecn`"));
    assert!(!said(&["--quiet"]).contains("note:"));
}

#[test]
fn a_killed_sweep_keeps_runs_finished_a_second_before() {
    let contest = Contest::of(&SCENARIO.replace("2 s", "30 s"));
    std::fs::write(
        contest.path("plan.toml"),
        format!("{PLAN}\"link.buffer\" = {{ from = \"10 packets\", to = \"400 packets\", points = 100 }}\n"),
    )
    .expect("a scratch file");
    let child = Running::start(
        fairwire()
            .args(["sweep", "plan.toml", "--store", "st", "--jobs", "1"])
            .current_dir(contest.folder())
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    )
    .expect("the binary starts");
    let begun = Instant::now();
    let missing = || {
        let mut command = fairwire();
        command.args(["sweep", "missing", "plan.toml", "--store", "st"]).current_dir(contest.folder());
        stdout(&command.output().expect("the binary starts")).lines().count().saturating_sub(1)
    };
    // The loop ends when at least two runs are stored. The first shard is a single run; the next
    // shard takes two CPU seconds.
    let all = 400;
    while missing() + 1 >= all && begun.elapsed() < Duration::from_secs(60) {}
    let (first, since) = (missing(), Instant::now());
    std::thread::sleep(Duration::from_millis(1300));
    let later = missing();
    drop(child);
    assert!(later < first || later == 0, "{first} and after {:?} {later}", since.elapsed());
    assert!(missing() <= later, "what was there stays");
}
