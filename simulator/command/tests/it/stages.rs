//! One scenario on several stages.

use crate::common::{Contest, SCENARIO, code, run, stderr, stdout};
use serde_json::Value;

const CHANGES: [&str; 4] = ["--seeds", "1", "--discipline", "tail-drop,faba"];

#[test]
fn a_stage_has_a_column_and_leaves_results_of_the_simulator_unchanged() {
    let contest = Contest::of(SCENARIO);
    let file = contest.file();
    let report = |more: &[&str]| -> Value {
        let args = [&["run", file.as_str(), "--format", "json"], &CHANGES[..], more].concat();
        let output = run(&args);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        serde_json::from_str(&stdout(&output)).expect("a report")
    };
    let (plain, mut staged) = (report(&[]), report(&["--on", "sim"]));
    assert_eq!(staged["manifest"]["stages"], serde_json::json!(["sim"]));
    assert!(plain["manifest"].get("stages").is_none() && plain.get("agreement").is_none());
    for of in ["runs", "summary"] {
        for one in staged[of].as_array_mut().expect("an array") {
            assert_eq!(one.as_object_mut().and_then(|one| one.remove("stage")), Some("sim".into()));
        }
        assert_eq!(plain[of], staged[of], "{of}");
    }
    let table = run(&[&["run", file.as_str(), "--on", "sim"], &CHANGES[..]].concat());
    assert!(stdout(&table).contains("| discipline | stage |"), "{}", stdout(&table));
}

#[test]
fn the_laboratory_is_compared_with_the_simulator_for_each_group() {
    let contest = Contest::of(SCENARIO);
    let file = contest.file();
    let folder = contest.folder();
    let place = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (series, plot) = (place("s.csv"), place("p.svg"));
    let files = ["--series", &series, "--series-flows", "--every", "100 ms", "--plot", &plot];
    let args =
        [&["run", file.as_str(), "--on", "sim,lab", "--format", "json"], &CHANGES[..], &files].concat();
    let output = run(&args);
    let report: Value = serde_json::from_str(&stdout(&output)).expect("a report");
    let notes = report["manifest"]["notes"].to_string();
    if notes.contains("may not make network namespaces") {
        return fairwire_testing::skipped("the laboratory beside the simulator: no right to make namespaces");
    }
    let runs = report["runs"].as_array().expect("an array");
    let stages: Vec<_> = runs.iter().map(|run| (run["discipline"].as_str(), run["stage"].as_str())).collect();
    let expected = [("tail-drop", "sim"), ("tail-drop", "lab"), ("faba", "sim"), ("faba", "lab")];
    assert_eq!(stages, expected.map(|(discipline, stage)| (Some(discipline), Some(stage))), "{notes}");
    let agreement = report["agreement"].as_array().expect("an array");
    let judged: Vec<&Value> = agreement.iter().filter(|one| one.get("allowed").is_some()).collect();
    assert_eq!(judged.len(), 8, "two groups, the link and goodput, under two disciplines: {agreement:?}");
    let text = std::fs::read_to_string(&series).expect("it was requested");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("discipline,stage,seed,time_s,kind,name,measure,unit,value"));
    for stage in ["sim", "lab"] {
        for measure in ["link,bottleneck,backlog", "group,udp,egress", "flow,tcp.1,cwnd"] {
            let rows = lines.clone().filter(|line| {
                line.starts_with(&format!("faba,{stage},1,")) && line.contains(&format!(",{measure},"))
            });
            assert!(rows.count() >= 5, "{stage}: {measure}");
        }
    }
    assert!(text.contains("flow,tcp.1,retransmissions,segments,"), "the kernel's own account");
    let picture = std::fs::read_to_string(&plot).expect("it was requested");
    for title in ["tail-drop: tcp", "tail-drop: udp", "faba: tcp", "faba: udp"] {
        assert!(picture.contains(title), "a panel for each discipline and group: {title}");
    }
    assert!(
        ["sim", "lab"].iter().all(|stage| picture.contains(&format!(">{stage}<"))),
        "a line for each stage"
    );
    // The stages may differ in a short contest.
    let differs = judged.iter().any(|one| one["verdict"] == "does not hold");
    assert_eq!(code(&output), if differs { 3 } else { 0 }, "{}", stderr(&output));
}

const COMES_AND_GOES: &str = r#"format = 2
name = "comes-and-goes"
duration = "8 s"
seeds = 1
disciplines = ["drr"]

[link]
rate = "5 Mbit/s"
delay = "5 ms"
buffer = "1 bdp"

[[flow]]
group = "tcp"
source = "bulk"
tcp = { control = "cubic" }
rtt = "20 ms"
access = { rate = "100 Mbit/s" }
stop = "7 s"

[[flow]]
group = "udp"
source = { cbr = { rate = "4 Mbit/s", packet = "1000 B" } }
rtt = "20 ms"
access = { rate = "100 Mbit/s" }
on = [["1 s", "3 s"], ["5 s", "8 s"]]
"#;

#[test]
fn flows_start_and_stop_alike_in_the_laboratory_and_the_simulator() {
    let contest = Contest::of(COMES_AND_GOES);
    let output = run(&["run", &contest.file(), "--on", "sim,lab", "--format", "json"]);
    let report: Value = serde_json::from_str(&stdout(&output)).expect("a report");
    let notes = report["manifest"]["notes"].to_string();
    if notes.contains("may not make network namespaces") {
        return fairwire_testing::skipped("flows that come and go in the lab: no right to make namespaces");
    }
    let runs = report["runs"].as_array().expect("an array");
    assert_eq!(runs.len(), 2, "{notes}");
    for run in runs {
        let presence = &run["presence"];
        assert_eq!(presence["active_s"], serde_json::json!([7.0, 5.0]), "{run}");
        let changes = presence["changes"].as_array().expect("an array");
        let at: Vec<f64> = changes.iter().filter_map(|one| one["at_s"].as_f64()).collect();
        assert_eq!(at, [0.0, 1.0, 3.0, 5.0, 7.0]);
        let reached = changes[2]["reached_s"].as_f64();
        assert!(reached.is_some_and(|s| s <= 1.0), "{presence}");
        for group in ["tcp", "udp"] {
            // Each start and stop costs a flow a few round trips: under 10 % of its on-time.
            let share = run["fairness"]["group_share"][group].as_f64().expect("a share");
            assert!((share - 1.0).abs() < 0.1, "{group}: {share}, {run}");
        }
        assert_eq!(run["flows"].as_array().map(Vec::len), Some(2), "on-times are no flows of their own");
    }
}
