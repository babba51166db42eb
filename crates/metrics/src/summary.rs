//! Means over the runs of each discipline.

use crate::interval::estimate;
use crate::record::{Estimate, RunRecord, Summary};
use std::collections::{BTreeMap, BTreeSet};

/// One summary per discipline, in order of first appearance.
///
/// The measures are, per group of flows, `share.<group>` (of its max-min share), `fraction.<group>` (of all delivered)
/// and `throughput_bps.<group>`; `jain` and `worst_share`; over all links `drops`, `drops.<cause>` and `marks`, in
/// packets; and of the first link, the bottleneck, `utilization`, `sojourn_mean_s`, `sojourn_p99_s` and
/// `backlog_mean_packets`. A run without drops of a cause that other runs of the discipline had counts as zero; any
/// other measure is over the runs that have it.
pub fn summarize(runs: &[RunRecord]) -> Vec<Summary> {
    let mut summaries: Vec<Summary> = Vec::new();
    for run in runs {
        if summaries.iter().all(|summary| summary.discipline != run.discipline) {
            summaries.push(summary_of(&run.discipline, runs));
        }
    }
    summaries
}

fn summary_of(discipline: &str, runs: &[RunRecord]) -> Summary {
    let runs: Vec<_> = runs.iter().filter(|run| run.discipline == discipline).map(measures).collect();
    let names: BTreeSet<&String> = runs.iter().flat_map(BTreeMap::keys).collect();
    Summary {
        discipline: discipline.to_string(),
        runs: runs.len() as u64,
        measures: names.into_iter().filter_map(|name| Some((name.clone(), over(&runs, name)?))).collect(),
    }
}

fn over(runs: &[BTreeMap<String, f64>], name: &str) -> Option<Estimate> {
    let absent = name.starts_with("drops.").then_some(0.0);
    let values: Vec<f64> = runs.iter().filter_map(|run| run.get(name).copied().or(absent)).collect();
    estimate(&values)
}

/// The measures of one run.
fn measures(run: &RunRecord) -> BTreeMap<String, f64> {
    let mut measures = BTreeMap::from([
        ("jain".to_string(), run.fairness.jain),
        ("worst_share".to_string(), run.fairness.worst_share),
    ]);
    add_groups(run, &mut measures);
    add_signals(run, &mut measures);
    add_bottleneck(run, &mut measures);
    measures
}

fn add_groups(run: &RunRecord, measures: &mut BTreeMap<String, f64>) {
    for (group, share) in &run.fairness.group_share {
        measures.insert(format!("share.{group}"), *share);
    }
    for (group, fraction) in &run.fairness.group_fraction {
        measures.insert(format!("fraction.{group}"), *fraction);
    }
    for flow in &run.flows {
        *measures.entry(format!("throughput_bps.{}", flow.group)).or_default() += flow.throughput_bps;
    }
}

fn add_signals(run: &RunRecord, measures: &mut BTreeMap<String, f64>) {
    let (mut drops, mut marks) = (0, 0);
    for link in &run.links {
        for (cause, &count) in &link.drops {
            *measures.entry(format!("drops.{cause}")).or_default() += count as f64;
            drops += count;
        }
        marks += link.marks.values().sum::<u64>();
    }
    measures.insert("drops".into(), drops as f64);
    measures.insert("marks".into(), marks as f64);
}

fn add_bottleneck(run: &RunRecord, measures: &mut BTreeMap<String, f64>) {
    let Some(link) = run.links.first() else { return };
    measures.insert("utilization".into(), link.utilization);
    measures.insert("sojourn_mean_s".into(), link.sojourn.mean_s);
    measures.insert("sojourn_p99_s".into(), link.sojourn.p99_s);
    measures.insert("backlog_mean_packets".into(), link.backlog.mean_packets);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{BacklogRecord, Fairness, FlowRecord, LinkRecord, Sojourn};

    fn link(drops: &[(&str, u64)]) -> LinkRecord {
        LinkRecord {
            name: "bottleneck".into(),
            rate_bps: 10e6,
            utilization: 0.75,
            packets_in: 10,
            packets_out: 8,
            drops: drops.iter().map(|&(cause, count)| (cause.to_string(), count)).collect(),
            marks: BTreeMap::from([("early".into(), 3)]),
            sojourn: Sojourn { mean_s: 0.1, p99_s: 0.4, ..Sojourn::default() },
            backlog: BacklogRecord { mean_packets: 12.5, ..BacklogRecord::default() },
        }
    }

    fn flow(throughput_bps: f64) -> FlowRecord {
        FlowRecord {
            name: "tcp.1".into(),
            group: "tcp".into(),
            kind: "bulk newreno".into(),
            offered_bps: None,
            throughput_bps,
            goodput_bps: throughput_bps,
            packets_sent: 0,
            packets_dropped: 0,
            packets_marked: 0,
        }
    }

    fn run(discipline: &str, share: f64, drops: &[(&str, u64)]) -> RunRecord {
        RunRecord {
            discipline: discipline.into(),
            seed: 1,
            flows: vec![flow(share * 1e6), flow(share * 2e6)],
            links: vec![link(drops)],
            fairness: Fairness {
                jain: share,
                worst_share: share / 2.0,
                group_share: BTreeMap::from([("tcp".into(), share)]),
                group_fraction: BTreeMap::from([("tcp".into(), 1.0)]),
            },
            events: None,
        }
    }

    fn mean(summary: &Summary, name: &str) -> f64 {
        summary.measures[name].mean
    }

    #[test]
    fn disciplines_stand_in_order_of_first_appearance() {
        let runs = [run("red", 0.5, &[]), run("faba", 1.0, &[]), run("red", 0.5, &[])];
        let told: Vec<_> = summarize(&runs).into_iter().map(|s| (s.discipline, s.runs)).collect();
        assert_eq!(told, [("red".to_string(), 2), ("faba".to_string(), 1)]);
    }

    #[test]
    fn every_measure_is_there_with_its_mean() {
        let told = summarize(&[run("red", 0.5, &[("early", 4)]), run("red", 0.7, &[("early", 8)])]);
        let expected = [
            ("backlog_mean_packets", 12.5),
            ("drops", 6.0),
            ("drops.early", 6.0),
            ("fraction.tcp", 1.0),
            ("jain", 0.6),
            ("marks", 3.0),
            ("share.tcp", 0.6),
            ("sojourn_mean_s", 0.1),
            ("sojourn_p99_s", 0.4),
            ("throughput_bps.tcp", 1.8e6),
            ("utilization", 0.75),
            ("worst_share", 0.3),
        ];
        assert_eq!(told[0].measures.keys().collect::<Vec<_>>(), expected.map(|(name, _)| name));
        for (name, value) in expected {
            // A few roundings of numbers near one (or a million).
            assert!((mean(&told[0], name) / value - 1.0).abs() < 1e-12, "{name}: {told:?}");
        }
        assert!(told[0].measures["share.tcp"].half_width_95.is_some());
    }

    #[test]
    fn a_cause_that_a_run_did_not_have_counts_as_zero_in_the_mean() {
        let told = summarize(&[run("red", 0.5, &[("overflow", 9)]), run("red", 0.5, &[])]);
        assert_eq!((mean(&told[0], "drops.overflow"), mean(&told[0], "drops")), (4.5, 4.5));
        assert_eq!(told[0].measures["drops.overflow"].min, 0.0);
    }

    #[test]
    fn drops_and_marks_are_over_all_links_and_delays_of_the_first() {
        let mut two = run("red", 0.5, &[("early", 1)]);
        two.links.push(LinkRecord { utilization: 0.1, ..link(&[("early", 2), ("overflow", 4)]) });
        let told = summarize(&[two]);
        let of = |name| mean(&told[0], name);
        assert_eq!((of("drops.early"), of("drops.overflow"), of("drops"), of("marks")), (3.0, 4.0, 7.0, 6.0));
        assert_eq!(of("utilization"), 0.75);
    }

    #[test]
    fn nothing_run_is_nothing_summarized() {
        assert!(summarize(&[]).is_empty());
    }
}
