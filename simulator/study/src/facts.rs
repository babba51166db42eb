//! The measures of a run, by name.

use crate::packets;
use crate::text::{hint, listed};
use fairwire_metrics::record::{FlowRecord, LinkRecord, RunRecord, Sojourn};
use fairwire_metrics::summary;
use fairwire_metrics::{Kind, OfTransfers, jain};
use fairwire_scenario::{FlowSpec, Scenario};
use std::collections::BTreeMap;

/// Measures of all flows of one group or of several groups: `goodput_bps.tcp`,
/// `jain_throughput.ftp+web`.
const OF_GROUPS: [&str; 23] = [
    "throughput_bps",
    "throughput_mean_bps",
    "throughput_least_bps",
    "throughput_most_bps",
    "goodput_bps",
    "goodput_mean_bps",
    "goodput_least_bps",
    "goodput_most_bps",
    "offered_bps",
    "packets_sent",
    "packets_dropped",
    "packets_marked",
    "drop_share",
    "mark_share",
    "timeouts",
    "loss_episodes",
    "timeout_episodes",
    "timeout_share",
    "jain_throughput",
    "jain_goodput",
    "cov",
    "cov_goodput",
    "flows",
];

/// Measures of one flow: `flow.tcp.3.goodput_bps`.
const OF_FLOWS: [&str; 12] = [
    "throughput_bps",
    "goodput_bps",
    "offered_bps",
    "packets_sent",
    "packets_dropped",
    "packets_marked",
    "drop_share",
    "mark_share",
    "timeouts",
    "loss_episodes",
    "timeout_episodes",
    "timeout_share",
];

/// Measures of the bottleneck, or of a named link, as in `link.back.packets_in`.
const OF_LINKS: [&str; 15] = [
    "utilization",
    "rate_bps",
    "packets_in",
    "packets_out",
    "drops",
    "marks",
    "loss_share",
    "sojourn_mean_s",
    "sojourn_p50_s",
    "sojourn_p90_s",
    "sojourn_p99_s",
    "sojourn_max_s",
    "backlog_mean_packets",
    "backlog_mean_bytes",
    "backlog_max_packets",
];

/// For all flows.
const OF_ALL: [&str; 7] =
    ["jain", "jain_throughput", "worst_share", "cov", "cov_goodput", "jain_goodput", "events"];

/// Measures of a group relative to its fair share. [`OfTransfers`] has the measures of its
/// transfers.
const OF_ONE_GROUP: [&str; 2] = ["share", "fraction"];

pub(crate) struct Facts<'a> {
    run: &'a RunRecord,
    summary: BTreeMap<String, f64>,
}

impl<'a> Facts<'a> {
    pub(crate) fn of(run: &'a RunRecord) -> Self {
        Facts { run, summary: summary::measures(run) }
    }

    pub(crate) fn value(&self, name: &str) -> Option<f64> {
        if let Some(value) = self.summary.get(name) {
            return Some(*value);
        }
        if let Some(of) = OfTransfers::parse(name) {
            return of.value(&self.run.transfers);
        }
        if name.starts_with("drops.") {
            return Some(0.0); // a cause that dropped nothing
        }
        if let Some(flow) = name.strip_prefix("flow.") {
            let (flow, what) = flow.rsplit_once('.')?;
            return of_flows(what, &[self.run.flows.iter().find(|record| record.name == flow)?]);
        }
        if let Some(link) = name.strip_prefix("link.") {
            let (link, what) = link.rsplit_once('.')?;
            return of_link(what, self.run.links.iter().find(|record| record.name == link)?);
        }
        match name.split_once('.') {
            Some((what, groups)) => of_flows(what, &members(&self.run.flows, groups)),
            None if name == "events" => self.run.events.map(|events| events as f64),
            None if OF_ALL.contains(&name) => of_flows(name, &self.run.flows.iter().collect::<Vec<_>>()),
            None => of_link(name, self.run.links.first()?),
        }
    }
}

pub(crate) fn check(name: &str, scenario: &Scenario) -> Result<(), String> {
    let groups: Vec<&str> = scenario.spec().flow.iter().map(|flow| flow.group.as_str()).collect();
    let links: Vec<&str> = scenario.links().collect();
    let is_group = |name: &str| groups.contains(&name);
    let is_aggregate = |name: &str| scenario.spec().aggregate.iter().any(|aggregate| aggregate.name == name);
    let is_known = if let Some(flow) = name.strip_prefix("flow.") {
        flow.rsplit_once('.').is_some_and(|(flow, what)| is_flow(flow, scenario) && OF_FLOWS.contains(&what))
    } else if let Some(link) = name.strip_prefix("link.") {
        link.rsplit_once('.').is_some_and(|(link, what)| links.contains(&link) && OF_LINKS.contains(&what))
    } else if let Some((what, of)) = name.split_once('.') {
        what == "drops"
            || OF_GROUPS.contains(&what) && of.split('+').all(is_group)
            || (OF_ONE_GROUP.contains(&what) || packets::NAMES.contains(&what)) && is_group(of)
            || OfTransfers::parse(name).is_some_and(|of| is_group(of.group))
            || summary::AGGREGATE_MEASURES.contains(&what) && is_aggregate(of)
    } else {
        OF_ALL.contains(&name) || OF_LINKS.contains(&name)
    };
    if is_known {
        return Ok(());
    }
    let aggregates: Vec<&str> =
        scenario.spec().aggregate.iter().map(|aggregate| aggregate.name.as_str()).collect();
    Err(refusal(name, &groups, &links, &aggregates))
}

fn refusal(name: &str, groups: &[&str], links: &[&str], aggregates: &[&str]) -> String {
    let all = |heads: &[&str], of: &[String]| -> Vec<String> {
        heads.iter().flat_map(|head| of.iter().map(move |name| format!("{head}.{name}"))).collect()
    };
    let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let flows: Vec<String> = groups.iter().map(|group| format!("flow.{group}.1")).collect();
    let of_links: Vec<String> = links.iter().map(|link| format!("link.{link}")).collect();
    let mut known = owned(&OF_ALL);
    known.extend(owned(&OF_LINKS));
    known.extend(
        [&OF_GROUPS[..], &OF_ONE_GROUP, &packets::NAMES].iter().flat_map(|of| all(of, &owned(groups))),
    );
    let names =
        |group: &&str| Kind::ALL.iter().flat_map(|kind| OfTransfers::names(*kind, group)).collect::<Vec<_>>();
    known.extend(groups.iter().flat_map(names));
    known.extend(all(&summary::AGGREGATE_MEASURES, &owned(aggregates)));
    for (of, whats) in [(&flows, &OF_FLOWS[..]), (&of_links, &OF_LINKS)] {
        known.extend(of.iter().flat_map(|of| whats.iter().map(move |what| format!("{of}.{what}"))));
    }
    let near = hint(name, &known);
    format!(
        "there is no measure `{name}` here; allowed: {} and more (docs/studies.md), each followed by {}; or {}{near}",
        OF_GROUPS[..6].join(", "),
        listed(&groups.iter().map(|group| format!(".{group}")).collect::<Vec<_>>()),
        OF_ALL.join(", ")
    )
}

pub(crate) fn is_flow(name: &str, scenario: &Scenario) -> bool {
    let Some((group, number)) = name.rsplit_once('.') else { return false };
    let count = scenario.spec().flow.iter().find(|flow| flow.group == group).map_or(0, FlowSpec::count);
    number.parse::<u32>().is_ok_and(|number| (1..=count).contains(&number))
}

fn members<'a>(flows: &'a [FlowRecord], groups: &str) -> Vec<&'a FlowRecord> {
    flows.iter().filter(|flow| groups.split('+').any(|group| *group == *flow.group)).collect()
}

fn of_flows(what: &str, flows: &[&FlowRecord]) -> Option<f64> {
    if flows.is_empty() {
        return None;
    }
    let throughputs = || flows.iter().map(|flow| flow.throughput_bps).collect::<Vec<f64>>();
    let goodputs = || flows.iter().map(|flow| flow.goodput_bps).collect::<Vec<f64>>();
    let packets =
        |count: &dyn Fn(&FlowRecord) -> u64| flows.iter().map(|flow| count(flow)).sum::<u64>() as f64;
    let (sent, dropped, marked) = (
        packets(&|flow| flow.packets_sent),
        packets(&|flow| flow.packets_dropped),
        packets(&|flow| flow.packets_marked),
    );
    let number = flows.len() as f64;
    Some(match what {
        "throughput_bps" => throughputs().iter().sum(),
        "throughput_mean_bps" => throughputs().iter().sum::<f64>() / number,
        "throughput_least_bps" => least(&throughputs()),
        "throughput_most_bps" => most(&throughputs()),
        "goodput_bps" => goodputs().iter().sum(),
        "goodput_mean_bps" => goodputs().iter().sum::<f64>() / number,
        "goodput_least_bps" => least(&goodputs()),
        "goodput_most_bps" => most(&goodputs()),
        "offered_bps" => flows.iter().map(|flow| flow.offered_bps).sum::<Option<f64>>()?,
        "packets_sent" => sent,
        "packets_dropped" => dropped,
        "packets_marked" => marked,
        "drop_share" => dropped / sent,
        "mark_share" => marked / sent,
        "timeouts" => known(flows, |flow| flow.timeouts)?,
        "loss_episodes" => known(flows, |flow| flow.loss_episodes)?,
        "timeout_episodes" => known(flows, |flow| flow.timeout_episodes)?,
        "timeout_share" => {
            let episodes = known(flows, |flow| flow.loss_episodes)?;
            // Without loss episodes, the share is 0 rather than 0 / 0.
            known(flows, |flow| flow.timeout_episodes)? / episodes.max(1.0)
        }
        "jain_throughput" => jain::jain(&throughputs()),
        "jain_goodput" => jain::jain(&goodputs()),
        "cov" => coefficient_of_variation(&throughputs()),
        "cov_goodput" => coefficient_of_variation(&goodputs()),
        "flows" => number,
        _ => return None,
    })
}

fn known(flows: &[&FlowRecord], count: fn(&FlowRecord) -> Option<u64>) -> Option<f64> {
    flows.iter().map(|flow| count(flow)).sum::<Option<u64>>().map(|sum| sum as f64)
}

fn of_link(what: &str, link: &LinkRecord) -> Option<f64> {
    let drops = link.drops.values().sum::<u64>() as f64;
    let sojourn = |of: fn(&Sojourn) -> f64| link.sojourn.as_ref().map(of);
    Some(match what {
        "utilization" => link.utilization,
        "rate_bps" => link.rate_bps,
        "packets_in" => link.packets_in as f64,
        "packets_out" => link.packets_out as f64,
        "drops" => drops,
        "marks" => link.marks.values().sum::<u64>() as f64,
        "loss_share" => drops / link.packets_in as f64,
        "sojourn_mean_s" => return sojourn(|sojourn| sojourn.mean_s),
        "sojourn_p50_s" => return sojourn(|sojourn| sojourn.p50_s),
        "sojourn_p90_s" => return sojourn(|sojourn| sojourn.p90_s),
        "sojourn_p99_s" => return sojourn(|sojourn| sojourn.p99_s),
        "sojourn_max_s" => return sojourn(|sojourn| sojourn.max_s),
        "backlog_mean_packets" => link.backlog.mean_packets,
        "backlog_mean_bytes" => link.backlog.mean_bytes,
        "backlog_max_packets" => link.backlog.max_packets? as f64,
        _ => return None,
    })
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// `values` covers all flows, not a sample, so the sum of squares is divided by the number of
/// flows.
fn coefficient_of_variation(values: &[f64]) -> f64 {
    let number = values.len() as f64;
    let mean = values.iter().sum::<f64>() / number;
    (values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / number).sqrt() / mean
}
