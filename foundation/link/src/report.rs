//! The counts of a link, flow by flow.

use fairwire_core::Time;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The counts of a link since its start, or since [`restart_report`](crate::Link::restart_report).
#[derive(Clone, Debug, PartialEq)]
pub struct LinkReport {
    /// The time covered, up to the latest time passed to a call.
    pub time: Duration,
    /// The counts of each flow, in order of flow number.
    pub flows: Vec<FlowReport>,
    /// The fraction of the link's capacity in bits that was used, 0 to 1; 0 if no time has passed.
    pub utilization: f64,
    /// Jain's index of the flows' rates (DEC-TR-301, 1984): 1 if all are equal or nothing was
    /// delivered, and `1 / flows` if one flow has everything.
    pub jain: f64,
    /// The number of calls, since the start of the link, with an earlier time than a previous call.
    pub backward_calls: u64,
}

/// The counts of one flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowReport {
    /// The flow's number, as given with each packet.
    pub flow: u64,
    /// Packets sent into the link.
    pub sent: u64,
    /// Packets that [`receive`](crate::Link::receive) returned, including copies.
    pub delivered: u64,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// Packets lost on the wire.
    pub lost: u64,
    /// Copies made by the wire.
    pub duplicated: u64,
    /// Marks made by the queue, including those of packets not delivered yet.
    pub marked: u64,
    /// Bytes of the packets delivered.
    pub delivered_bytes: u64,
    /// The delivered rate over the time of the report, in bit/s; 0 if no time has passed.
    pub rate_bps: f64,
    /// The delays of delivered packets from sending to the far end.
    pub delay: Delays,
}

/// The delays of packets. The n-th percentile is exact: the smallest delay that at least n % of the
/// packets do not exceed. Without packets, all fields are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// The shortest.
    pub min: Duration,
    /// The mean, rounded down to a nanosecond.
    pub mean: Duration,
    /// The median.
    pub p50: Duration,
    /// The 90th percentile.
    pub p90: Duration,
    /// The 99th percentile.
    pub p99: Duration,
    /// The longest.
    pub max: Duration,
}

impl LinkReport {
    /// The counts of `flow`; `None` if it sent nothing.
    pub fn flow(&self, flow: u64) -> Option<&FlowReport> {
        self.flows.iter().find(|report| report.flow == flow)
    }
}

impl fmt::Display for LinkReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads = ["flow", "Mbit/s", "sent", "delivered", "dropped", "lost", "marked"];
        for head in heads {
            write!(f, "{head:>10}")?;
        }
        writeln!(f, "{:>12}{:>12}{:>12}", "p50", "p99", "max")?;
        for flow in &self.flows {
            // A space before each count keeps wide numbers apart.
            write!(f, "{:>10} {:>9.3}", flow.flow, flow.rate_bps / 1e6)?;
            for count in [flow.sent, flow.delivered, flow.dropped, flow.lost, flow.marked] {
                write!(f, " {count:>9}")?;
            }
            for delay in [flow.delay.p50, flow.delay.p99, flow.delay.max] {
                write!(f, " {:>8.3} ms", delay.as_secs_f64() * 1e3)?;
            }
            writeln!(f)?;
        }
        let (seconds, percent) = (self.time.as_secs_f64(), self.utilization * 100.0);
        write!(f, "{seconds:.3} s, utilization {percent:.1} %, Jain's index {:.4}", self.jain)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) dropped: u64,
    pub(crate) lost: u64,
    pub(crate) duplicated: u64,
    pub(crate) marked: u64,
    pub(crate) delivered_bytes: u64,
    /// The delay of each delivered packet, in nanoseconds.
    pub(crate) delays: Vec<u64>,
}

/// The flows of a link, looked up once per packet by number, and then by index.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    places: BTreeMap<u64, u32>,
    counts: Vec<Counts>,
    latest: Option<(u64, u32)>,
}

impl Flows {
    #[inline]
    pub(crate) fn place(&mut self, flow: u64) -> u32 {
        if let Some((latest, place)) = self.latest
            && latest == flow
        {
            return place;
        }
        let next = self.counts.len() as u32;
        let place = *self.places.entry(flow).or_insert(next);
        if place == next {
            self.counts.push(Counts::default());
        }
        self.latest = Some((flow, place));
        place
    }

    #[inline]
    pub(crate) fn at(&mut self, place: u32) -> &mut Counts {
        &mut self.counts[place as usize]
    }

    /// Resets the counts.
    pub(crate) fn clear(&mut self) {
        self.counts.iter_mut().for_each(|counts| *counts = Counts::default());
    }

    pub(crate) fn reports(&self, time: fairwire_core::Duration) -> Vec<FlowReport> {
        let counted = self.places.iter().map(|(flow, place)| (*flow, &self.counts[*place as usize]));
        let any = |counts: &Counts| counts.sent + counts.delivered + counts.dropped + counts.lost > 0;
        counted.filter(|(_, counts)| any(counts)).map(|(flow, counts)| counts.report(flow, time)).collect()
    }
}

impl Counts {
    fn report(&self, flow: u64, time: fairwire_core::Duration) -> FlowReport {
        let rate_bps = if time.is_zero() { 0.0 } else { self.delivered_bytes as f64 * 8.0 / time.seconds() };
        FlowReport {
            flow,
            sent: self.sent,
            delivered: self.delivered,
            dropped: self.dropped,
            lost: self.lost,
            duplicated: self.duplicated,
            marked: self.marked,
            delivered_bytes: self.delivered_bytes,
            rate_bps,
            delay: Delays::of(self.delays.clone()),
        }
    }
}

impl Delays {
    fn of(mut ns: Vec<u64>) -> Self {
        ns.sort_unstable();
        let [Some(min), Some(max)] = [ns.first(), ns.last()] else { return Delays::default() };
        let sum: u128 = ns.iter().map(|ns| u128::from(*ns)).sum();
        let percentile = |percent: usize| Duration::from_nanos(ns[(ns.len() * percent).div_ceil(100) - 1]);
        Delays {
            min: Duration::from_nanos(*min),
            mean: Duration::from_nanos((sum / ns.len() as u128) as u64),
            p50: percentile(50),
            p90: percentile(90),
            p99: percentile(99),
            max: Duration::from_nanos(*max),
        }
    }
}

/// Jain's index.
pub(crate) fn jain(flows: &[FlowReport]) -> f64 {
    let (sum, squares) = flows.iter().fold((0.0, 0.0), |(sum, squares), flow| {
        (sum + flow.rate_bps, squares + flow.rate_bps * flow.rate_bps)
    });
    if squares > 0.0 { sum * sum / (flows.len() as f64 * squares) } else { 1.0 }
}

#[derive(Debug, Default)]
pub(crate) struct Sent {
    pub(crate) from: Time,
    pub(crate) begun_bits: f64,
    /// The bits sent since `from` that belong to the packet in transmission at `from`.
    pub(crate) inherited_bits: f64,
    pub(crate) until: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_a_report_never_touch() {
        let delay = Delays::of(vec![3_600_000_000_000_000]); // 1000 h
        let counts = Counts { sent: 10_000_000_000, ..Counts::default() };
        let flow = FlowReport { delay, ..counts.report(u64::MAX, fairwire_core::Duration::ZERO) };
        let report = LinkReport {
            time: Duration::ZERO,
            flows: vec![flow],
            utilization: 0.0,
            jain: 1.0,
            backward_calls: 0,
        };
        let printed = report.to_string();
        let row: Vec<&str> = printed.lines().nth(1).unwrap_or_default().split_whitespace().collect();
        assert_eq!(row.len(), 13, "7 numbers, and 3 with a unit: {printed}");
        assert_eq!(row[..3], ["18446744073709551615", "0.000", "10000000000"]);
    }

    #[test]
    fn percentiles_are_the_nearest_ranks() {
        let delays = Delays::of((1..=200).rev().collect());
        let ns = |delay: Duration| delay.as_nanos();
        assert_eq!((ns(delays.min), ns(delays.mean), ns(delays.max)), (1, 100, 200));
        assert_eq!((ns(delays.p50), ns(delays.p90), ns(delays.p99)), (100, 180, 198));
        let one = Delays::of(vec![7]);
        assert_eq!((ns(one.p50), ns(one.p99)), (7, 7));
        assert_eq!(Delays::of(Vec::new()), Delays::default());
    }
}
