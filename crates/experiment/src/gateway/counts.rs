//! From a gateway's counters at two instants to what was counted between them.
//!
//! Totals are as of the gateway's last interval. The counters of flows are copied twice a second, so what they were at an instant is
//! found between the copies before and after it, as if each flow had sent evenly in that half second.

use crate::contest::{ContestPlan, Counted, add_losses, add_unseen};
use crate::series::Count;
use fairwire_core::{Backlog, Duration, Time};
use fairwire_gateway::account::FlowCount;
use fairwire_gateway::telemetry::snapshot::{
    CountsSnapshot, FlowCounts, PortSnapshot, SojournHistogram, TotalsSnapshot, WayCounts,
};
use fairwire_linux::port::PortHealth;
use fairwire_metrics::record::{BacklogRecord, LinkRecord, Sojourn};
use std::collections::{BTreeMap, HashMap};

/// What a gateway answered.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    /// When totals were taken, seconds after the gateway began.
    at_s: f64,
    /// The way to the sink; its flows are in `flows`.
    pub way: WayCounts,
    /// By sender; none of those that have not sent.
    flows: Vec<Option<FlowCounts>>,
    /// When the counters of the flow that was copied first were copied; none where no flow was.
    copied_s: Option<f64>,
    ports: Vec<PortSnapshot>,
}

impl Reading {
    /// The answer `counts`, where flows have `names`. None where it has no upload.
    pub(super) fn of(counts: CountsSnapshot, names: &[String]) -> Option<Reading> {
        let CountsSnapshot { uptime_s, ways, ports, .. } = counts;
        let mut way = ways.into_iter().find(|way| way.way == "upload")?;
        let told = std::mem::take(&mut way.flows);
        let copied_s = told.iter().map(|flow| flow.at_s).reduce(f64::min);
        let mut by_name: HashMap<String, FlowCounts> =
            told.into_iter().map(|flow| (flow.flow.clone(), flow)).collect();
        let flows = names.iter().map(|name| by_name.remove(name)).collect();
        Some(Reading { at_s: uptime_s, way, flows, copied_s, ports })
    }

    /// Nothing was counted of any of `flows` flows yet, `copied` after the gateway began.
    pub(super) fn before_all(flows: usize, copied: Duration) -> Reading {
        Reading {
            at_s: 0.0,
            way: WayCounts::default(),
            flows: vec![None; flows],
            copied_s: Some(copied.secs()),
            ports: Vec::new(),
        }
    }

    /// When the gateway began to forward, if what it answered had been so `now`.
    pub(super) fn began(&self, now: Time) -> Time {
        Time::from_ns(now.ns().saturating_sub(Duration::from_secs_f64(self.at_s).ns()))
    }

    /// When the counters of flows were copied by a gateway that `began` then.
    pub(super) fn copied(&self, began: Time) -> Time {
        began + Duration::from_secs_f64(self.copied_s.unwrap_or(0.0))
    }

    /// Was the copy of flows made after that of `other`?
    pub(super) fn is_copied_after(&self, other: &Reading) -> bool {
        self.copied_s > other.copied_s
    }

    /// What waits.
    pub(super) fn backlog(&self) -> Backlog {
        let WayCounts { backlog_packets, backlog_bytes, .. } = self.way;
        Backlog { packets: u32::try_from(backlog_packets).unwrap_or(u32::MAX), bytes: backlog_bytes }
    }

    /// All that was counted on the link.
    pub(super) fn link(&self) -> Count {
        let TotalsSnapshot { bytes_out, dropped, marked, .. } = &self.way.totals;
        Count { left_bytes: *bytes_out, dropped: dropped.values().sum(), marked: marked.values().sum() }
    }

    /// The counters of each flow at `at_s`, between this copy and the one `after` it.
    fn flows_at(&self, after: &Reading, at_s: f64) -> Vec<FlowCount> {
        let first = FlowCounts { at_s: self.copied_s.unwrap_or(0.0), ..FlowCounts::default() };
        let flows = self.flows.iter().zip(&after.flows);
        flows
            .map(|(before, after)| {
                let before = before.as_ref().unwrap_or(&first);
                between(before, after.as_ref().unwrap_or(before), at_s)
            })
            .collect()
    }

    /// The same, as series have it.
    pub(super) fn counts_at(&self, after: &Reading, at_s: f64) -> Vec<Count> {
        let count =
            |FlowCount { bytes_out, dropped, marked, .. }| Count { left_bytes: bytes_out, dropped, marked };
        self.flows_at(after, at_s).into_iter().map(count).collect()
    }
}

/// An instant: what was told at it, and the first copy of flows after it.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    at: Reading,
    after: Option<Reading>,
}

impl Mark {
    /// The instant of `reading`.
    pub(super) fn at(reading: Reading) -> Mark {
        Mark { at: reading, after: None }
    }

    /// A later answer came.
    pub(super) fn take(&mut self, reading: &Reading) {
        let is_after = reading.copied_s.is_some_and(|copied_s| copied_s >= self.at.at_s);
        if self.after.is_none() && is_after {
            self.after = Some(reading.clone());
        }
    }

    /// What was counted from here until `end`; none where that is not known yet.
    pub(super) fn until(&self, end: &Mark, plan: &ContestPlan, most_waiting: u64) -> Option<Counted> {
        let (before, after) = (self.flows()?, end.flows()?);
        let window = Duration::from_secs_f64(end.at.at_s - self.at.at_s);
        let flows = before.iter().zip(&after).map(|(before, after)| after.since(before)).collect();
        let link = link_record(&self.at, &end.at, plan, most_waiting);
        Some(Counted { window, flows, link })
    }

    /// The counters of each flow at this instant.
    fn flows(&self) -> Option<Vec<FlowCount>> {
        Some(self.at.flows_at(self.after.as_ref()?, self.at.at_s))
    }
}

/// The counters of a flow at `at_s`, between two copies.
fn between(before: &FlowCounts, after: &FlowCounts, at_s: f64) -> FlowCount {
    let span = after.at_s - before.at_s;
    let part = if span > 0.0 { ((at_s - before.at_s) / span).clamp(0.0, 1.0) } else { 0.0 };
    let at = |of: fn(&FlowCounts) -> u64| {
        let (before, after) = (of(before), of(after));
        before + (after.saturating_sub(before) as f64 * part).round() as u64
    };
    FlowCount {
        packets_in: at(|flow| flow.packets_in),
        bytes_in: at(|flow| flow.bytes_in),
        dropped: at(|flow| flow.dropped),
        marked: at(|flow| flow.marked),
        packets_out: at(|flow| flow.packets_out),
        bytes_out: at(|flow| flow.bytes_out),
    }
}

fn link_record(from: &Reading, to: &Reading, plan: &ContestPlan, most_waiting: u64) -> LinkRecord {
    let window_s = to.at_s - from.at_s;
    let (before, now) = (&from.way.totals, &to.way.totals);
    let [drops, marks, lost] = [
        since(&before.dropped, &now.dropped),
        since(&before.marked, &now.marked),
        since(&before.lost, &now.lost),
    ];
    let waits = Waits::between(&from.way.waits, &to.way.waits);
    let unshaped = now.unshaped - before.unshaped;
    let bytes = now.bytes_out - before.bytes_out;
    // Little's law: what waited is what came, as often as it was there.
    let mean_packets = waits.sum_s / window_s;
    let mut link = LinkRecord {
        name: plan.name.clone(),
        rate_bps: plan.rate.bps() as f64,
        utilization: (bytes as f64 * 8.0 / window_s / plan.rate.bps() as f64).min(1.0),
        packets_in: now.packets_in - before.packets_in - unshaped - lost.values().sum::<u64>(),
        packets_out: waits.count,
        drops,
        marks,
        sojourn: Some(waits.sojourn()),
        backlog: BacklogRecord {
            mean_packets,
            mean_bytes: mean_packets * bytes as f64 / waits.count.max(1) as f64,
            max_packets: Some(most_waiting),
        },
    };
    add_losses(&mut link, lost.iter().map(|(name, count)| (name.as_str(), *count)));
    for port in &to.ports {
        let PortSnapshot { overflows, truncated, .. } = *port;
        add_unseen(&mut link, PortHealth { overflows, truncated, ..PortHealth::default() });
    }
    link
}

/// What was counted by name since `before`; only what was.
fn since(before: &BTreeMap<String, u64>, now: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let counted = now.iter().map(|(name, now)| (name.clone(), now - before.get(name).copied().unwrap_or(0)));
    counted.filter(|(_, count)| *count > 0).collect()
}

/// How long packets waited between two instants.
struct Waits<'a> {
    bounds_s: &'a [f64],
    counts: Vec<u64>,
    count: u64,
    sum_s: f64,
}

impl<'a> Waits<'a> {
    fn between(before: &SojournHistogram, now: &'a SojournHistogram) -> Self {
        let counts: Vec<u64> =
            now.counts.iter().zip(&before.counts).map(|(now, before)| now - before).collect();
        let count = counts.iter().sum();
        Waits { bounds_s: &now.bounds_s, counts, count, sum_s: now.sum_s - before.sum_s }
    }

    /// The mean is exact, the rest to half a bucket: 3.2 %.
    fn sojourn(&self) -> Sojourn {
        if self.count == 0 {
            return Sojourn::default();
        }
        Sojourn {
            mean_s: self.sum_s / self.count as f64,
            p50_s: self.quantile(0.5),
            p90_s: self.quantile(0.9),
            p95_s: Some(self.quantile(0.95)),
            p99_s: self.quantile(0.99),
            max_s: self.quantile(1.0),
        }
    }

    /// The middle of the bucket in which the packet stands before which the part `q` of all waited less.
    fn quantile(&self, q: f64) -> f64 {
        let wanted = ((q * self.count as f64).ceil() as u64).max(1);
        let mut sum = 0;
        let reached = self.counts.iter().position(|count| {
            sum += count;
            sum >= wanted
        });
        let Some(bucket) = reached else { return 0.0 };
        let low = bucket.checked_sub(1).map_or(0.0, |below| self.bounds_s[below]);
        let high = self.bounds_s.get(bucket).copied().unwrap_or(low);
        (low + high) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(at_s: f64, packets: u64) -> FlowCounts {
        FlowCounts {
            flow: "a".into(),
            at_s,
            packets_out: packets,
            bytes_out: packets * 100,
            ..Default::default()
        }
    }

    fn reading(uptime_s: f64, flows: Vec<FlowCounts>) -> Reading {
        let way = WayCounts { way: "upload".into(), flows, ..WayCounts::default() };
        let counts = CountsSnapshot { uptime_s, ways: vec![way], ..CountsSnapshot::default() };
        Reading::of(counts, &["a".into(), "b".into()]).expect("there is an upload")
    }

    #[test]
    fn what_a_flow_was_counted_for_at_an_instant_lies_between_two_copies() {
        let mut mark = Mark::at(reading(10.2, vec![flow(10.0, 100)]));
        assert!(mark.flows().is_none());
        mark.take(&reading(10.3, vec![flow(10.0, 100)]));
        assert!(mark.flows().is_none(), "that is the same copy");
        mark.take(&reading(10.6, vec![flow(10.5, 150)]));
        mark.take(&reading(11.1, vec![flow(11.0, 999)]));
        let flows = mark.flows().expect("a copy came");
        assert_eq!((flows[0].packets_out, flows[0].bytes_out), (120, 12_000));
        assert_eq!(flows[1], FlowCount::default(), "it never sent");
    }

    #[test]
    fn who_sends_first_between_two_copies_had_nothing_at_the_one_before() {
        let mut mark = Mark::at(reading(0.25, Vec::new()));
        mark.take(&reading(0.6, vec![flow(0.5, 40)]));
        assert_eq!(mark.flows().expect("a copy came")[0].packets_out, 20);
    }

    #[test]
    fn waits_are_those_between_two_instants() {
        let histogram = |counts: [u64; 3], sum_s| SojournHistogram {
            bounds_s: vec![0.010, 0.012],
            counts: counts.to_vec(),
            sum_s,
        };
        let (before, now) = (histogram([5, 1, 0], 0.1), histogram([5, 99, 2], 1.3));
        let waits = Waits::between(&before, &now);
        assert_eq!((waits.count, waits.quantile(0.5), waits.quantile(1.0)), (100, 0.011, 0.012));
        assert!((waits.sojourn().mean_s - 0.012).abs() < 1e-12);
        assert_eq!(Waits::between(&now, &now).sojourn(), Sojourn::default());
    }
}
