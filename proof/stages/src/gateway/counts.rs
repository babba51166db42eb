//! Derives counts between two instants from a gateway's counters.
//!
//! A gateway updates its totals each interval, and copies its flow counters twice a second. A
//! flow's count at an instant is interpolated between the copies before and after the instant. The
//! interpolation is in proportion to the link's counter. So the flows' counts sum to the link's,
//! even if a full buffer drops in bursts. But the division of a burst among flows is known only to
//! half a second.

use fairwire_control::snapshot::{
    CountsSnapshot, FlowCounts, PortSnapshot, SojournHistogram, TotalsSnapshot, WayCounts,
};
use fairwire_core::{Backlog, Duration};
use fairwire_datapath::account::FlowCount;
use fairwire_datapath::ledger::Loss;
use fairwire_experiment::contest::{ContestPlan, Counted, add_losses, add_unseen};
use fairwire_linux::port::PortHealth;
use fairwire_metrics::record::{BacklogRecord, LinkRecord, Sojourn};
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Debug)]
pub(super) struct Reading {
    /// The time of the totals, seconds after the gateway's start.
    pub at_s: f64,
    /// The counts towards the sink. The flows' counts are in `flows`.
    pub way: WayCounts,
    /// Per sender.
    flows: Vec<FlowCount>,
    /// The sum of the flows' copied counters: the link's count at the time of the copy.
    copied: FlowCount,
    /// The time of the oldest copy of a flow's counters; negative infinity if there are no flows.
    pub copied_s: f64,
    ports: Vec<PortSnapshot>,
}

impl Reading {
    pub(super) fn of(counts: CountsSnapshot, names: &[String]) -> Option<Reading> {
        let CountsSnapshot { uptime_s, ways, ports, .. } = counts;
        let mut way = ways.into_iter().find(|way| way.way == "upload")?;
        let counted_flows = std::mem::take(&mut way.flows);
        let copied_s =
            counted_flows.iter().map(|flow| flow.at_s).reduce(f64::min).unwrap_or(f64::NEG_INFINITY);
        let mut copied = FlowCount::default();
        let mut by_name: HashMap<String, FlowCount> = HashMap::new();
        for flow in counted_flows {
            let count = counted(&flow);
            copied.add(&count);
            by_name.insert(flow.flow, count);
        }
        let flows = names.iter().map(|name| by_name.get(name).copied().unwrap_or_default()).collect();
        Some(Reading { at_s: uptime_s, way, flows, copied, copied_s, ports })
    }

    pub(super) fn before_all(flows: usize) -> Reading {
        Reading {
            at_s: 0.0,
            way: WayCounts::default(),
            flows: vec![FlowCount::default(); flows],
            copied: FlowCount::default(),
            copied_s: f64::NEG_INFINITY,
            ports: Vec::new(),
        }
    }

    /// The queue.
    pub(super) fn backlog(&self) -> Backlog {
        let WayCounts { backlog_packets, backlog_bytes, .. } = self.way;
        Backlog { packets: u32::try_from(backlog_packets).unwrap_or(u32::MAX), bytes: backlog_bytes }
    }

    pub(super) fn link(&self) -> FlowCount {
        let TotalsSnapshot { packets_in, bytes_in, packets_out, bytes_out, dropped, marked, lost, .. } =
            &self.way.totals;
        let for_want_of_room = CHARGED.iter().filter_map(|loss| lost.get(loss.name()));
        FlowCount {
            packets_in: *packets_in,
            bytes_in: *bytes_in,
            dropped: dropped.values().chain(for_want_of_room).sum(),
            marked: marked.values().sum(),
            packets_out: *packets_out,
            bytes_out: *bytes_out,
        }
    }

    /// Interpolates the flow counters between this reading and `after`, to the moment when the
    /// link's counters were `link`.
    pub(super) fn flows_at(&self, after: &Reading, link: &FlowCount) -> Vec<FlowCount> {
        let part = |of: fn(&FlowCount) -> u64| {
            let (before, now, then) = (of(&self.copied), of(link), of(&after.copied));
            let all = then.saturating_sub(before).max(1);
            (now.saturating_sub(before) as f64 / all as f64).min(1.0)
        };
        let came = part(|count| count.packets_in);
        let dropped = part(|count| count.dropped);
        let marked = part(|count| count.marked);
        // Flow counters and the link's `bytes_out` count packets when transmission starts. The
        // link's `packets_out` counts packets when transmission ends.
        let left = part(|count| count.bytes_out);
        let flows = self.flows.iter().zip(&after.flows);
        flows
            .map(|(before, after)| {
                let since = after.since(before);
                let had = |before: u64, since: u64, part: f64| before + (since as f64 * part).round() as u64;
                FlowCount {
                    packets_in: had(before.packets_in, since.packets_in, came),
                    bytes_in: had(before.bytes_in, since.bytes_in, came),
                    dropped: had(before.dropped, since.dropped, dropped),
                    marked: had(before.marked, since.marked, marked),
                    packets_out: had(before.packets_out, since.packets_out, left),
                    bytes_out: had(before.bytes_out, since.bytes_out, left),
                }
            })
            .collect()
    }
}

/// The losses that the gateway counts as drops of the packet's flow.
const CHARGED: [Loss; 3] = [Loss::NoBuffer, Loss::TooLong, Loss::NotIp];

fn counted(flow: &FlowCounts) -> FlowCount {
    let FlowCounts { packets_in, bytes_in, packets_out, bytes_out, dropped, marked, .. } = *flow;
    FlowCount { packets_in, bytes_in, dropped, marked, packets_out, bytes_out }
}

/// The counts at an instant, and the first reading with later flow counters.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    at: Reading,
    after: Option<Reading>,
}

impl Mark {
    pub(super) fn at(reading: Reading) -> Mark {
        Mark { at: reading, after: None }
    }

    pub(super) fn take(&mut self, reading: &Reading) {
        if self.after.is_none() && reading.copied_s >= self.at.at_s {
            self.after = Some(reading.clone());
        }
    }

    /// The counts up to `end`; `None` until the flow counters are copied after `end`.
    pub(super) fn until(&self, end: &Mark, plan: &ContestPlan, most_waiting: u64) -> Option<Counted> {
        let (before, after) = (self.flows()?, end.flows()?);
        let window = Duration::from_secs_f64(end.at.at_s - self.at.at_s);
        let flows = before.iter().zip(&after).map(|(before, after)| after.since(before)).collect();
        let link = link_record(&self.at, &end.at, plan, most_waiting);
        Some(Counted { window, flows, link })
    }

    fn flows(&self) -> Option<Vec<FlowCount>> {
        Some(self.at.flows_at(self.after.as_ref()?, &self.at.link()))
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
    let rate_bps = plan.mean_rate().bps() as f64;
    // Little's law: the mean queue is the arrival rate times the mean wait.
    let mean_packets = waits.sum_s / window_s;
    let mut link = LinkRecord {
        name: plan.name.clone(),
        rate_bps,
        utilization: (bytes as f64 * 8.0 / window_s / rate_bps).min(1.0),
        packets_in: now.packets_in - before.packets_in - unshaped - lost.values().sum::<u64>(),
        packets_out: waits.count,
        drops,
        marks,
        sojourn: Some(waits.sojourn()),
        wire: None,
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

fn since(before: &BTreeMap<String, u64>, now: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let counted = now.iter().map(|(name, now)| (name.clone(), now - before.get(name).copied().unwrap_or(0)));
    counted.filter(|(_, count)| *count > 0).collect()
}

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

    /// The mean is exact. A quantile may be wrong by half a bucket (3.2 %).
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

    fn flow(name: &str, at_s: f64, packets: u64, dropped: u64) -> FlowCounts {
        let bytes_out = packets * 100;
        FlowCounts {
            flow: name.into(),
            at_s,
            packets_out: packets,
            bytes_out,
            dropped,
            ..FlowCounts::default()
        }
    }

    fn reading(uptime_s: f64, [packets, dropped]: [u64; 2], flows: Vec<FlowCounts>) -> Reading {
        let mut way = WayCounts { way: "upload".into(), flows, ..WayCounts::default() };
        (way.totals.packets_out, way.totals.bytes_out) = (packets, packets * 100);
        way.totals.dropped.insert("overflow".into(), dropped);
        let counts = CountsSnapshot { uptime_s, ways: vec![way], ..CountsSnapshot::default() };
        Reading::of(counts, &["a".into(), "b".into()]).expect("there is an upload")
    }

    #[test]
    fn counts_of_a_flow_at_an_instant_are_interpolated_between_copies() {
        let before = || vec![flow("a", 10.0, 100, 0)];
        let mut mark = Mark::at(reading(10.2, [120, 0], before()));
        assert!(mark.flows().is_none());
        mark.take(&reading(10.3, [130, 0], before()));
        assert!(mark.flows().is_none(), "that is the same copy");
        mark.take(&reading(10.6, [160, 0], vec![flow("a", 10.5, 150, 0)]));
        mark.take(&reading(11.1, [999, 0], vec![flow("a", 11.0, 999, 0)]));
        let flows = mark.flows().expect("a copy came");
        assert_eq!((flows[0].packets_out, flows[0].bytes_out), (120, 12_000));
        assert_eq!(flows[1], FlowCount::default(), "it never sent");
    }

    #[test]
    fn drops_in_a_burst_follow_the_drops_of_the_link() {
        let copy = |at_s, a, b| vec![flow("a", at_s, 0, a), flow("b", at_s, 0, b)];
        // The link has 19 - 7 = 12 of the 60 new drops between the copies, which is a fifth.
        for at_s in [10.1, 10.4] {
            let mut mark = Mark::at(reading(at_s, [0, 19], copy(10.0, 5, 2)));
            mark.take(&reading(10.7, [0, 80], copy(10.5, 45, 22)));
            let flows = mark.flows().expect("a copy came");
            assert_eq!((flows[0].dropped, flows[1].dropped), (5 + 8, 2 + 4), "{at_s}");
        }
        // At 10.4 s, the link has only the 5 + 2 drops of the first copy.
        let mut mark = Mark::at(reading(10.4, [0, 7], copy(10.0, 5, 2)));
        mark.take(&reading(10.7, [0, 80], copy(10.5, 45, 22)));
        assert_eq!(mark.flows().expect("a copy came")[0].dropped, 5);
    }

    #[test]
    fn a_flow_new_between_two_copies_starts_from_zero() {
        let mut mark = Mark::at(reading(0.25, [20, 0], Vec::new()));
        mark.take(&reading(0.6, [50, 0], vec![flow("a", 0.5, 40, 0)]));
        assert_eq!(mark.flows().expect("a copy came")[0].packets_out, 20);
    }

    #[test]
    fn waits_are_taken_between_two_instants() {
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
