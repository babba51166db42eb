//! The protocol works like fairwire's built-in sources.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_own-endpoint"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    command.output().expect("the command was built")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn outcome(set: &[&str]) -> String {
    let sets = set.iter().flat_map(|set| ["--set", set]);
    let arguments: Vec<_> = ["run", "steady.toml", "-q", "--format", "csv"].into_iter().chain(sets).collect();
    let output = run(&arguments);
    assert!(output.status.success(), "{}", text(&output));
    text(&output)
}

fn mean(outcome: &str, queue: &str, measure: &str) -> f64 {
    let mut rows = outcome.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let row = rows.find(|cells| cells.contains(&queue) && cells.contains(&measure)).expect("a row");
    row[3].parse().expect("a mean")
}

#[test]
fn it_shares_a_link_with_cubic_under_fair_queueing_and_two_runs_agree() {
    let found = outcome(&[]);
    assert_eq!(found, outcome(&[]));
    let [steady, cubic] =
        ["steady", "cubic"].map(|group| mean(&found, "fq-codel", &format!("throughput_bps.{group}")));
    // The fair share of a group is 10 Mbit/s; `steady` varies between 85 % and 100 % of it.
    assert!(steady > 8.0e6 && cubic > 8.0e6 && steady < 10.5e6, "{found}");
}

#[test]
fn it_reacts_to_marks_and_its_parameters_have_an_effect() {
    let marked = outcome(&["discipline.fq-codel.ecn=mark"]);
    // Only packets of `steady` can be marked. CUBIC's packets are dropped instead.
    assert!(mean(&marked, "fq-codel", "marks") > 500.0, "{marked}");
    assert!(mean(&marked, "fq-codel", "throughput_bps.steady") > 7.5e6, "{marked}");
    let seldom = outcome(&["flow.steady.source.steady.every=10 s"]);
    // In 40 s, at most three reports raise each of the four flows from at most 1 Mbit/s to 1.3
    // Mbit/s.
    assert!(mean(&seldom, "fq-codel", "throughput_bps.steady") < 4.0 * 1.3e6, "{seldom}");
}

#[test]
fn it_is_listed_described_checked_and_has_a_schema_like_the_others() {
    assert!(text(&run(&["list", "sources"])).contains("steady"));
    let page = text(&run(&["describe", "steady"]));
    assert!(page.contains("The time from one report to the next (from 1 ms to 10 s)."), "{page}");
    assert!(text(&run(&["schema", "scenario"])).contains("Parameters of `steady`."));
    let output = run(&["run", "steady.toml", "-q", "--set", "flow.steady.source.steady.every=0 s"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("allowed: a time from 1 ms to 10 s"), "{}", text(&output));
}

#[test]
fn another_stage_says_that_it_cannot_run_it() {
    let output = text(&run(&["run", "steady.toml", "--on", "sim,lab"]));
    assert!(output.contains("lab cannot run this: the source of `steady`"), "{output}");
}
