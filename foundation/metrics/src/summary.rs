//! Means over the runs of each discipline.

use crate::Kind;
use crate::interval::{estimate, paired_difference};
use crate::record::{
    AggregateRecord, Difference, Estimate, LinkRecord, RunRecord, Sojourn, Summary, WireRecord,
};
use crate::transfers::{OfTransfers, Statistic};
use std::collections::{BTreeMap, BTreeSet};

/// One summary per discipline and stage, in order of first appearance.
///
/// The measures are:
///
/// - per group of flows, `share.<group>` (throughput over max-min share), `fraction.<group>` (of
///   all data delivered) and `throughput_bps.<group>`;
/// - `jain`, `jain_throughput` and `worst_share`;
/// - over all links, `drops`, `drops.<cause>` and `marks`, in packets, and if a wire has faults,
///   the [`WIRE_MEASURES`];
/// - for each timed [`Kind`] of event, the number completed, such as `transfers.<group>`, and each
///   plain [`Statistic`], such as `transfer_mean_s.<group>`;
/// - for aggregates, each of the [`AGGREGATE_MEASURES`] with `.<aggregate>`;
/// - for the first link, the bottleneck, `utilization`, `sojourn_mean_s`, `sojourn_p99_s` and
///   `backlog_mean_packets`;
/// - if flows stop, [`reached_s`](REACHED);
/// - for each of several links, the [`LINK_MEASURES`], and the [`WIRE_MEASURES`] if its wire has
///   faults, with the prefix `link.<name>.`.
///
/// A run without drops of a cause counts as zero for `drops.<cause>`, if other runs of the
/// discipline had such drops. Any other measure is over the runs that have it.
pub fn summarize(runs: &[RunRecord]) -> Vec<Summary> {
    summarize_with(runs, &[])
}

/// Like [`summarize`], but includes the [further measures](is_further) that `further` names.
pub fn summarize_with(runs: &[RunRecord], further: &[String]) -> Vec<Summary> {
    let mut summaries: Vec<Summary> = Vec::new();
    for run in runs {
        let is_of = |summary: &Summary| summary.discipline == run.discipline && summary.stage == run.stage;
        if !summaries.iter().any(is_of) {
            summaries.push(summary_of(run, runs, further));
        }
    }
    summaries
}

/// The measures of each other discipline minus those of `baseline`, over common seeds; empty
/// without a common seed.
///
/// Under one seed, all disciplines have the same traffic, so traffic variation cancels (Law, as in
/// [`crate::interval`], section 10.2.1).
pub fn differences(runs: &[RunRecord], baseline: &str) -> Vec<Difference> {
    let of = |name: &str| -> BTreeMap<u64, BTreeMap<String, f64>> {
        runs.iter().filter(|run| run.discipline == name).map(|run| (run.seed, measures(run))).collect()
    };
    let second = of(baseline);
    let mut names: Vec<&str> = Vec::new();
    for run in runs {
        if run.discipline != baseline && !names.contains(&run.discipline.as_str()) {
            names.push(&run.discipline);
        }
    }
    names.into_iter().filter_map(|name| difference((name, &of(name)), (baseline, &second))).collect()
}

/// One measure under one discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Under<'a> {
    /// A measure of [`summarize`].
    pub measure: &'a str,
    /// The discipline.
    pub discipline: &'a str,
}

/// `first` minus `second`, over the seeds with both measures, as in [`differences`]. `None` without
/// such a seed.
pub fn difference_of(runs: &[RunRecord], first: Under<'_>, second: Under<'_>) -> Option<Estimate> {
    let of = |Under { measure, discipline }: Under<'_>| -> BTreeMap<u64, f64> {
        let value = |run: &RunRecord| self::measure(run, measure).or(if_absent(measure));
        let runs = runs.iter().filter(|run| run.discipline == discipline);
        runs.filter_map(|run| Some((run.seed, value(run)?))).collect()
    };
    let second = of(second);
    let pairs: Vec<(f64, f64)> =
        of(first).iter().filter_map(|(seed, first)| Some((*first, *second.get(seed)?))).collect();
    paired_difference(&pairs)
}

type BySeed = BTreeMap<u64, BTreeMap<String, f64>>;

fn difference(first: (&str, &BySeed), second: (&str, &BySeed)) -> Option<Difference> {
    let pairs: Vec<_> =
        first.1.iter().filter_map(|(seed, measures)| Some((measures, second.1.get(seed)?))).collect();
    let names: BTreeSet<&String> = pairs.iter().flat_map(|(a, b)| a.keys().chain(b.keys())).collect();
    let one = |name: &String| {
        let value = |run: &BTreeMap<String, f64>| run.get(name).copied().or(if_absent(name));
        let values: Vec<_> = pairs.iter().filter_map(|(a, b)| Some((value(a)?, value(b)?))).collect();
        Some((name.clone(), paired_difference(&values)?))
    };
    let measures: BTreeMap<_, _> = names.into_iter().filter_map(one).collect();
    (!pairs.is_empty()).then(|| Difference {
        first: first.0.into(),
        second: second.0.into(),
        runs: pairs.len() as u64,
        measures,
    })
}

fn summary_of(of: &RunRecord, runs: &[RunRecord], further: &[String]) -> Summary {
    let is_like = |run: &&RunRecord| run.discipline == of.discipline && run.stage == of.stage;
    let runs: Vec<_> = runs.iter().filter(is_like).map(|run| measures_with(run, further)).collect();
    let names: BTreeSet<&String> = runs.iter().flat_map(BTreeMap::keys).collect();
    Summary {
        discipline: of.discipline.clone(),
        stage: of.stage.clone(),
        runs: runs.len() as u64,
        measures: names.into_iter().filter_map(|name| Some((name.clone(), over(&runs, name)?))).collect(),
    }
}

fn over(runs: &[BTreeMap<String, f64>], name: &str) -> Option<Estimate> {
    let values: Vec<f64> = runs.iter().filter_map(|run| run.get(name).copied().or(if_absent(name))).collect();
    estimate(&values)
}

/// The value of a measure that a run lacks: 0 for the drops of a cause, else `None`.
fn if_absent(name: &str) -> Option<f64> {
    name.starts_with("drops.").then_some(0.0)
}

/// One measure in one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InRun<'a> {
    /// The seed of the run.
    pub seed: u64,
    /// A measure of the summary.
    pub measure: &'a str,
    /// The value, in the unit of the measure.
    pub value: f64,
}

/// The values of `summary`'s measures in each of the summary's runs.
pub fn in_runs<'a>(summary: &'a Summary, runs: &'a [RunRecord]) -> Vec<InRun<'a>> {
    let names: Vec<&String> = summary.measures.keys().collect();
    let further: Vec<String> =
        names.iter().filter(|name| is_further(name)).map(ToString::to_string).collect();
    let is_of = |run: &&RunRecord| run.discipline == summary.discipline && run.stage == summary.stage;
    let of_run = |run: &RunRecord| {
        let all = measures_with(run, &further);
        let value = |name: &&'a String| {
            let value = all.get(*name).copied().or(if_absent(name))?;
            Some(InRun { seed: run.seed, measure: name.as_str(), value })
        };
        names.iter().filter_map(value).collect::<Vec<_>>()
    };
    runs.iter().filter(is_of).flat_map(of_run).collect()
}

/// The measures of one run, by their names in [`summarize`].
pub fn measures(run: &RunRecord) -> BTreeMap<String, f64> {
    let mut measures = BTreeMap::from([
        ("jain".to_string(), run.fairness.jain),
        ("jain_throughput".to_string(), run.fairness.jain_throughput),
        ("worst_share".to_string(), run.fairness.worst_share),
    ]);
    add_groups(run, &mut measures);
    add_signals(run, &mut measures);
    add_bottleneck(run, &mut measures);
    add_transfers(run, &mut measures);
    add_aggregates(run, &mut measures);
    add_links(run, &mut measures);
    let reached: Vec<f64> =
        run.presence.iter().flat_map(|all| &all.changes).filter_map(|one| one.reached_s).collect();
    if !reached.is_empty() {
        measures.insert(REACHED.into(), reached.iter().sum::<f64>() / reached.len() as f64);
    }
    measures
}

/// The mean of [`reached_s`](crate::record::ChangeRecord::reached_s) over the changes that have
/// one.
pub const REACHED: &str = "reached_s";

pub(crate) fn measures_with(run: &RunRecord, further: &[String]) -> BTreeMap<String, f64> {
    let mut all = measures(run);
    all.extend(further.iter().filter_map(|name| Some((name.clone(), further_measure(run, name)?))));
    all
}

/// One run's values of the measures `names`, in order. These are measures of [`summarize`] or
/// [further measures](is_further). A value is `None` if the run lacks the measure.
pub fn values<N: AsRef<str>>(run: &RunRecord, names: &[N]) -> Vec<Option<f64>> {
    let all = measures(run);
    let value = |name: &str| further_measure(run, name).or_else(|| all.get(name).copied());
    names.iter().map(|name| value(name.as_ref())).collect()
}

/// The value of one measure in one run. [`values`] reads several measures at the same cost.
pub fn measure(run: &RunRecord, name: &str) -> Option<f64> {
    values(run, &[name]).pop().flatten()
}

/// The measures that a summary has only if a scenario names them. The first is the payload of all
/// receivers, bit/s. The others are of the first link: the 95th percentile of the wait, the
/// fractions of arrivals dropped and marked, and of sent packets lost on the wire.
pub const FURTHER: [&str; 5] =
    ["goodput_bps", "sojourn_p95_s", "drop_fraction", "mark_fraction", "loss_fraction"];

/// The [further measures](is_further) of a group of flows: the group's dropped packets. A full name
/// ends with `.<group>`.
pub const FURTHER_OF_GROUPS: [&str; 1] = ["packets_dropped"];

/// Is `name` a measure that a summary has only if a scenario names it?
pub fn is_further(name: &str) -> bool {
    FURTHER.contains(&name)
        || FURTHER_OF_GROUPS.iter().any(|kind| of_group(name, kind).is_some())
        || OfTransfers::parse(name).is_some_and(|of| !of.is_plain())
}

fn of_group<'a>(name: &'a str, kind: &str) -> Option<&'a str> {
    name.strip_prefix(kind)?.strip_prefix('.')
}

/// The value of a [further measure](is_further) in one run.
pub fn further_measure(run: &RunRecord, name: &str) -> Option<f64> {
    if let Some(of) = OfTransfers::parse(name) {
        return of.value(&run.transfers);
    }
    let [packets_dropped] = FURTHER_OF_GROUPS;
    if let Some(group) = of_group(name, packets_dropped) {
        let flows = run.flows.iter().filter(|flow| *flow.group == *group);
        return Some(flows.map(|flow| flow.packets_dropped).sum::<u64>() as f64);
    }
    let link = run.links.first();
    let part = |counts: fn(&LinkRecord) -> &BTreeMap<String, u64>| {
        let link = link.filter(|link| link.packets_in > 0)?;
        Some(counts(link).values().sum::<u64>() as f64 / link.packets_in as f64)
    };
    match name {
        "goodput_bps" => Some(run.flows.iter().map(|flow| flow.goodput_bps).sum()),
        "sojourn_p95_s" => link?.sojourn.as_ref()?.p95_s,
        "drop_fraction" => part(|link| &link.drops),
        "mark_fraction" => part(|link| &link.marks),
        "loss_fraction" => {
            let link = link.filter(|link| link.packets_out > 0)?;
            Some(link.wire.map_or(0, |wire| wire.lost) as f64 / link.packets_out as f64)
        }
        _ => None,
    }
}

fn add_groups(run: &RunRecord, measures: &mut BTreeMap<String, f64>) {
    for (group, share) in &run.fairness.group_share {
        measures.insert(format!("share.{group}"), *share);
    }
    for (group, fraction) in &run.fairness.group_fraction {
        measures.insert(format!("fraction.{group}"), *fraction);
    }
    // There may be a million flows, so names are made once per group.
    let mut of_groups: BTreeMap<&str, f64> = BTreeMap::new();
    for flow in &run.flows {
        *of_groups.entry(&flow.group).or_default() += flow.throughput_bps;
    }
    measures.extend(of_groups.into_iter().map(|(group, bps)| (format!("throughput_bps.{group}"), bps)));
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
    for wire in run.links.iter().filter_map(|link| link.wire.as_ref()) {
        for (measure, value) in WIRE_MEASURES.into_iter().zip(wire_values(wire)) {
            *measures.entry(measure.into()).or_default() += value;
        }
    }
}

/// The packets that suffered a wire's faults, over all links. With several links, each link also
/// has these measures, with the prefix `link.<name>.`.
pub const WIRE_MEASURES: [&str; 3] = ["lost", "held_back", "duplicated"];

fn wire_values(wire: &WireRecord) -> [f64; WIRE_MEASURES.len()] {
    [wire.lost, wire.held_back, wire.duplicated].map(|count| count as f64)
}

fn add_bottleneck(run: &RunRecord, measures: &mut BTreeMap<String, f64>) {
    let Some(link) = run.links.first() else { return };
    measures.insert("utilization".into(), link.utilization);
    if let Some(sojourn) = &link.sojourn {
        measures.insert("sojourn_mean_s".into(), sojourn.mean_s);
        measures.insert("sojourn_p99_s".into(), sojourn.p99_s);
    }
    measures.insert("backlog_mean_packets".into(), link.backlog.mean_packets);
}

fn add_transfers(run: &RunRecord, measures: &mut BTreeMap<String, f64>) {
    for record in &run.transfers {
        let (kind, group) = (&record.kind, &record.group);
        let plural: &str = match Kind::of(kind) {
            Some(kind) => kind.plural(),
            None => kind,
        };
        measures.insert(format!("{plural}.{group}"), record.completed as f64);
        let plain = Statistic::ALL.iter().filter(|statistic| statistic.is_plain);
        measures.extend(plain.filter_map(|statistic| {
            Some((format!("{kind}_{}.{group}", statistic.name), statistic.of(record)?))
        }));
    }
}

fn add_aggregates(run: &RunRecord, measures: &mut BTreeMap<String, f64>) {
    for aggregate in &run.aggregates {
        for (measure, value) in AGGREGATE_MEASURES.into_iter().zip(aggregate_values(aggregate)) {
            if let Some(value) = value {
                measures.insert(format!("{measure}.{}", aggregate.name), value);
            }
        }
    }
}

/// The measures of an aggregate. A full name ends with `.<aggregate>`. `target_bps` exists if the
/// marker changes the target, `in_profile` if there are packets, and `in_profile_marked` if packets
/// in profile were received.
pub const AGGREGATE_MEASURES: [&str; 5] =
    ["gain", "aggregate_bps", "target_bps", "in_profile", "in_profile_marked"];

fn aggregate_values(aggregate: &AggregateRecord) -> [Option<f64>; AGGREGATE_MEASURES.len()] {
    let part = |some: u64, all: u64| (all > 0).then(|| some as f64 / all as f64);
    let AggregateRecord { packets, in_profile, in_profile_received, in_profile_marked, .. } = *aggregate;
    [
        Some(aggregate.gain),
        Some(aggregate.throughput_bps),
        aggregate.target_bps,
        part(in_profile, packets),
        part(in_profile_marked, in_profile_received),
    ]
}

fn add_links(run: &RunRecord, measures: &mut BTreeMap<String, f64>) {
    for link in run.links.iter().filter(|_| run.links.len() > 1) {
        for (measure, value) in LINK_MEASURES.into_iter().zip(link_values(link)) {
            if let Some(value) = value {
                measures.insert(format!("link.{}.{measure}", link.name), value);
            }
        }
        if let Some(wire) = &link.wire {
            let values = WIRE_MEASURES.into_iter().zip(wire_values(wire));
            measures.extend(values.map(|(measure, value)| (format!("link.{}.{measure}", link.name), value)));
        }
    }
}

/// The measures of one link among several, after the prefix `link.<name>.`.
pub const LINK_MEASURES: [&str; 6] =
    ["utilization", "drops", "marks", "sojourn_mean_s", "sojourn_p99_s", "backlog_mean_packets"];

fn link_values(link: &LinkRecord) -> [Option<f64>; LINK_MEASURES.len()] {
    let drops = link.drops.values().sum::<u64>() as f64;
    let marks = link.marks.values().sum::<u64>() as f64;
    let sojourn = |of: fn(&Sojourn) -> f64| link.sojourn.as_ref().map(of);
    [
        Some(link.utilization),
        Some(drops),
        Some(marks),
        sojourn(|sojourn| sojourn.mean_s),
        sojourn(|sojourn| sojourn.p99_s),
        Some(link.backlog.mean_packets),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{BacklogRecord, Fairness, FlowRecord};

    fn link(drops: &[(&str, u64)]) -> LinkRecord {
        LinkRecord {
            name: "bottleneck".into(),
            rate_bps: 10e6,
            utilization: 0.75,
            packets_in: 10,
            packets_out: 8,
            drops: drops.iter().map(|&(cause, count)| (cause.to_string(), count)).collect(),
            marks: BTreeMap::from([("early".into(), 3)]),
            sojourn: Some(Sojourn { mean_s: 0.1, p99_s: 0.4, ..Sojourn::default() }),
            wire: None,
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
            packets_lost: None,
            timeouts: None,
            loss_episodes: None,
            timeout_episodes: None,
            start_s: None,
            access_delay_s: None,
            base_rtt_s: None,
            fair_bps: None,
            delivered_bytes: None,
        }
    }

    fn run(discipline: &str, share: f64, drops: &[(&str, u64)]) -> RunRecord {
        RunRecord {
            stage: String::new(),
            discipline: discipline.into(),
            seed: 1,
            flows: vec![flow(share * 1e6), flow(share * 2e6)],
            links: vec![link(drops)],
            transfers: Vec::new(),
            aggregates: Vec::new(),
            presence: None,
            fairness: Fairness {
                jain: share,
                jain_throughput: share / 4.0,
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
    fn disciplines_are_in_order_of_first_appearance() {
        let runs = [run("red", 0.5, &[]), run("faba", 1.0, &[]), run("red", 0.5, &[])];
        let actual: Vec<_> = summarize(&runs).into_iter().map(|s| (s.discipline, s.runs)).collect();
        assert_eq!(actual, [("red".to_string(), 2), ("faba".to_string(), 1)]);
    }

    #[test]
    fn every_measure_has_its_mean() {
        let actual = summarize(&[run("red", 0.5, &[("early", 4)]), run("red", 0.7, &[("early", 8)])]);
        let expected = [
            ("backlog_mean_packets", 12.5),
            ("drops", 6.0),
            ("drops.early", 6.0),
            ("fraction.tcp", 1.0),
            ("jain", 0.6),
            ("jain_throughput", 0.15),
            ("marks", 3.0),
            ("share.tcp", 0.6),
            ("sojourn_mean_s", 0.1),
            ("sojourn_p99_s", 0.4),
            ("throughput_bps.tcp", 1.8e6),
            ("utilization", 0.75),
            ("worst_share", 0.3),
        ];
        assert_eq!(actual[0].measures.keys().collect::<Vec<_>>(), expected.map(|(name, _)| name));
        for (name, value) in expected {
            assert!((mean(&actual[0], name) / value - 1.0).abs() < 1e-12, "{name}: {actual:?}");
        }
        assert!(actual[0].measures["share.tcp"].half_width_95.is_some());
    }

    #[test]
    fn a_cause_absent_from_a_run_counts_as_zero_in_the_mean() {
        let actual = summarize(&[run("red", 0.5, &[("overflow", 9)]), run("red", 0.5, &[])]);
        assert_eq!((mean(&actual[0], "drops.overflow"), mean(&actual[0], "drops")), (4.5, 4.5));
        assert_eq!(actual[0].measures["drops.overflow"].min, 0.0);
    }

    #[test]
    fn drops_and_marks_are_over_all_links_and_delays_of_the_first() {
        let mut two = run("red", 0.5, &[("early", 1)]);
        two.links.push(LinkRecord {
            name: "second".into(),
            utilization: 0.1,
            ..link(&[("early", 2), ("overflow", 4)])
        });
        let actual = summarize(&[two]);
        let of = |name| mean(&actual[0], name);
        assert_eq!((of("drops.early"), of("drops.overflow"), of("drops"), of("marks")), (3.0, 4.0, 7.0, 6.0));
        assert_eq!(of("utilization"), 0.75);
        assert_eq!((of("link.bottleneck.utilization"), of("link.second.utilization")), (0.75, 0.1));
        assert_eq!((of("link.bottleneck.drops"), of("link.second.drops")), (1.0, 6.0));
        assert_eq!((of("link.second.marks"), of("link.second.sojourn_p99_s")), (3.0, 0.4));
    }

    #[test]
    fn differences_are_taken_seed_by_seed_against_the_baseline() {
        let with =
            |discipline: &str, seed: u64, share: f64| RunRecord { seed, ..run(discipline, share, &[]) };
        let runs = [
            with("red", 1, 0.25),
            with("red", 2, 0.5),
            with("red", 3, 0.75),
            with("faba", 3, 1.0),
            with("faba", 1, 0.5),
            with("faba", 2, 0.75),
            with("faba", 4, 9.0),
        ];
        let actual = differences(&runs, "red");
        assert_eq!(actual.len(), 1);
        assert_eq!((actual[0].first.as_str(), actual[0].second.as_str(), actual[0].runs), ("faba", "red", 3));
        let share = actual[0].measures["share.tcp"];
        assert_eq!((share.mean, share.half_width_95), (0.25, Some(0.0)));
        assert_eq!(differences(&runs, "faba")[0].measures["share.tcp"].mean, -0.25);
    }

    #[test]
    fn a_cause_of_one_discipline_counts_as_zero_for_the_other() {
        let actual =
            differences(&[run("red", 0.5, &[("early", 4)]), run("faba", 0.5, &[("no-tokens", 6)])], "red");
        let of = |name: &str| actual[0].measures[name].mean;
        assert_eq!((of("drops.early"), of("drops.no-tokens"), of("drops")), (-4.0, 6.0, 2.0));
    }

    #[test]
    fn without_a_common_seed_there_is_no_difference() {
        let other = RunRecord { seed: 2, ..run("faba", 0.5, &[]) };
        assert!(differences(&[run("red", 0.5, &[]), other], "red").is_empty());
    }

    #[test]
    fn no_runs_give_an_empty_summary() {
        assert!(summarize(&[]).is_empty());
    }
}
