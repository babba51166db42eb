//! Reports for the tests of this folder.

use super::Headline;
use fairwire_metrics::record::{FlowRecord, Report, RunRecord};
use fairwire_metrics::summary::summarize;

/// A report with three runs per discipline. Each run has `groups` groups of one flow.
pub(super) fn report(disciplines: usize, groups: usize) -> Report {
    named(disciplines, groups, "g")
}

pub(super) fn named(disciplines: usize, groups: usize, prefix: &str) -> Report {
    let names: Vec<String> = (0..groups).map(|group| format!("{prefix}{group}")).collect();
    let runs: Vec<RunRecord> = (0..disciplines)
        .flat_map(|discipline| (1..=3).map(move |seed| (discipline, seed)))
        .map(|(discipline, seed)| run(&format!("d{discipline}"), seed, &names))
        .collect();
    let manifest = serde_json::json!({
        "fairwire_version": "0", "mode": "simulated", "scenario": "sample", "scenario_sha256": "", "disciplines": [],
        "seeds": [1, 2, 3], "tie_rule": "random", "duration_s": 2.0, "warm_up_s": 0.5, "interrupted": false
    });
    let manifest = serde_json::from_value(manifest).expect("a manifest");
    Report {
        schema_version: fairwire_metrics::record::SCHEMA_VERSION,
        manifest,
        summary: summarize(&runs),
        runs,
        differences: Vec::new(),
        delays: Vec::new(),
        agreement: Vec::new(),
    }
}

/// Adds the optional fields to the report, and removes some flows and an offered rate.
pub(super) fn fill(report: &mut Report) {
    let estimate = serde_json::json!({ "mean": 0.1, "min": 0.0, "max": 1e300 });
    let transfer = serde_json::json!({
        "group": "g", "kind": "page", "completed": 3, "mean_s": 0.1, "p50_s": 0.2, "p95_s": 0.3, "p99_s": 0.4, "max_s": 0.5
    });
    let difference =
        serde_json::json!({ "first": "a", "second": "b", "runs": 2, "measures": { "jain": estimate } });
    report.differences = vec![serde_json::from_value(difference).expect("a record")];
    let agreement = serde_json::json!({
        "discipline": "d0", "stage": "lab", "against": "sim", "measure": "fraction.g0", "difference": -0.0123,
        "half_width_95": 0.004, "allowed": 0.03, "verdict": "holds"
    });
    report.agreement = vec![serde_json::from_value(agreement).expect("a record")];
    report.manifest.stages = vec!["sim".into(), "lab".into()];
    let run = &mut report.runs[0];
    run.stage = "lab".into();
    run.transfers = vec![serde_json::from_value(transfer).expect("a record")];
    run.events = Some(u64::MAX);
    run.flows[0] = FlowRecord { offered_bps: None, throughput_bps: f64::NAN, ..run.flows[0].clone() };
    report.runs[1].flows.clear();
}

pub(super) fn headline() -> Headline {
    Headline { title: "A sample".into(), detail: "simulated: nothing; twice".into() }
}

fn run(discipline: &str, seed: u64, groups: &[String]) -> RunRecord {
    let value = seed as f64 / 3.0;
    let shares: serde_json::Map<_, _> = groups.iter().map(|group| (group.clone(), value.into())).collect();
    let run = serde_json::json!({
        "discipline": discipline, "seed": seed, "flows": [],
        "links": [{
            "name": "bottleneck", "rate_bps": 1e7 / 3.0, "utilization": value, "packets_in": 123_456, "packets_out": 123_400,
            "drops": { "full": 50 + seed, "early": 7 }, "marks": {},
            "sojourn": { "mean_s": value, "p50_s": value, "p90_s": value, "p99_s": value, "max_s": value },
            "backlog": { "mean_packets": value, "mean_bytes": value, "max_packets": 40 }
        }],
        "fairness": { "jain": value, "jain_throughput": value, "worst_share": value, "group_share": shares, "group_fraction": shares }
    });
    let run: RunRecord = serde_json::from_value(run).expect("a run");
    RunRecord { flows: groups.iter().map(|group| flow(group, value)).collect(), ..run }
}

fn flow(group: &str, value: f64) -> FlowRecord {
    FlowRecord {
        name: format!("{group}-1").into(),
        group: group.into(),
        kind: "tcp".into(),
        offered_bps: Some(1e7 * value),
        throughput_bps: 1e7 * value,
        goodput_bps: 1e7 * value,
        packets_sent: 1_000_000,
        packets_dropped: 1000,
        packets_marked: 10,
        packets_lost: None,
        timeouts: Some(7),
        loss_episodes: Some(12),
        timeout_episodes: Some(5),
        start_s: Some(0.25),
        access_delay_s: None,
        base_rtt_s: Some(0.04),
        fair_bps: Some(1e6),
        delivered_bytes: Some(12_345_678),
    }
}
