//! One scenario on several stages.

use crate::common::{Contest, SCENARIO, code, run, stderr, stdout};
use serde_json::Value;

/// What the contest of the other tests lets real senders do: no more than `bulk` and `cbr`.
const CHANGES: [&str; 4] = ["--seeds", "1", "--discipline", "tail-drop,faba"];

#[test]
fn a_stage_has_a_column_and_the_simulator_alone_gives_what_it_gives_without() {
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
fn the_laboratory_is_beside_the_simulator_with_a_verdict_for_each_group() {
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
    // A short contest may differ; the exit code says so.
    let differs = judged.iter().any(|one| one["verdict"] == "does not hold");
    assert_eq!(code(&output), if differs { 3 } else { 0 }, "{}", stderr(&output));
}
