//! The rates of flows over short intervals, and the concentration of bytes on the fastest flows.
//!
//! Source: R. Pan, L. Breslau, B. Prabhakar, S. Shenker, *Approximate Fair Allocation of Link
//! Bandwidth*, IEEE Micro 23(1), 2003, Fig. 1.

use fairwire_core::Duration;
use std::collections::BTreeMap;

/// A packet of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracePacket {
    /// The time since the start of the trace.
    pub at: Duration,
    /// Its flow.
    pub flow: u32,
    /// Its bytes.
    pub bytes: u32,
}

/// The rates of flows, in bit/s: one for each interval in which a flow has a packet.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowRates {
    /// Fastest first.
    rates: Vec<f64>,
}

impl FlowRates {
    /// The rates over intervals of length `interval`. `packets` may be in any order. The last
    /// interval counts in full, even if the trace ends earlier.
    ///
    /// # Panics
    /// When the interval is zero.
    pub fn of(packets: &[TracePacket], interval: Duration) -> Self {
        assert!(interval > Duration::ZERO, "an interval of no length");
        let mut bytes: BTreeMap<(u64, u32), u64> = BTreeMap::new();
        for packet in packets {
            let number = packet.at.ns() / interval.ns();
            *bytes.entry((number, packet.flow)).or_insert(0) += u64::from(packet.bytes);
        }
        let bits_per_s = |bytes: u64| bytes as f64 * 8e9 / interval.ns() as f64;
        let mut rates: Vec<f64> = bytes.into_values().filter(|bytes| *bytes > 0).map(bits_per_s).collect();
        rates.sort_by(|a, b| b.total_cmp(a));
        FlowRates { rates }
    }

    /// The number of rates.
    pub fn len(&self) -> usize {
        self.rates.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.rates.is_empty()
    }

    /// The rates, fastest first, in bit/s.
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// The share of the bytes, 0 to 1, that the fastest fraction `part` of the flows carries; 0
    /// without flows. A flow on the boundary counts partly.
    ///
    /// # Panics
    /// When `part` is not from 0 to 1.
    pub fn share_of_fastest(&self, part: f64) -> f64 {
        assert!((0.0..=1.0).contains(&part), "a part of {part}");
        let sum: f64 = self.rates.iter().sum();
        if sum == 0.0 {
            return 0.0;
        }
        let wanted = part * self.rates.len() as f64;
        let whole = wanted as usize;
        let rest = self.rates.get(whole).map_or(0.0, |rate| rate * (wanted - whole as f64));
        (self.rates[..whole].iter().sum::<f64>() + rest) / sum
    }

    /// The rate, in bit/s, of the slowest flow among the fastest fraction `part` of the flows; 0
    /// without flows.
    ///
    /// # Panics
    /// When `part` is not from 0 to 1.
    pub fn rate_of_fastest(&self, part: f64) -> f64 {
        assert!((0.0..=1.0).contains(&part), "a part of {part}");
        let rank = (part * self.rates.len() as f64).ceil() as usize;
        self.rates.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
    }

    /// Ascending rates in bit/s, each with the fraction of rates that are at least as high.
    ///
    /// Long lists are thinned for logarithmic axes: after rank r, from the fastest, the next is r +
    /// max(r / 16, 1).
    pub fn complementary(&self) -> Vec<(f64, f64)> {
        let n = self.rates.len();
        let next = |rank: &usize| (*rank < n).then(|| (rank + (rank / 16).max(1)).min(n));
        let mut rates: Vec<f64> =
            std::iter::successors((n > 0).then_some(1), next).map(|rank| self.rates[rank - 1]).collect();
        rates.dedup();
        let as_fast = |rate: f64| self.rates.partition_point(|other| *other >= rate) as f64 / n as f64;
        rates.into_iter().rev().map(|rate| (rate, as_fast(rate))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(ms: u64, flow: u32, bytes: u32) -> TracePacket {
        TracePacket { at: Duration::from_ms(ms), flow, bytes }
    }

    #[test]
    fn a_flow_has_a_rate_for_each_interval_in_which_it_sends() {
        let packets = [seen(0, 1, 1000), seen(999, 1, 500), seen(1000, 1, 250), seen(2500, 2, 125)];
        let rates = FlowRates::of(&packets, Duration::from_secs(1));
        assert_eq!(rates.rates(), [12_000.0, 2000.0, 1000.0]);
        let halves = FlowRates::of(&packets, Duration::from_ms(500));
        assert_eq!(halves.rates(), [16_000.0, 8000.0, 4000.0, 2000.0]);
    }

    #[test]
    fn the_order_of_packets_does_not_matter() {
        let packets = [seen(0, 1, 1000), seen(10, 2, 500), seen(1500, 1, 250)];
        let reversed: Vec<TracePacket> = packets.iter().rev().copied().collect();
        let second = Duration::from_secs(1);
        assert_eq!(FlowRates::of(&packets, second), FlowRates::of(&reversed, second));
    }

    #[test]
    fn the_share_of_the_fastest_counts_a_flow_in_part() {
        let packets: Vec<TracePacket> =
            [600, 200, 100, 100].iter().zip(0..).map(|(b, f)| seen(0, f, *b)).collect();
        let rates = FlowRates::of(&packets, Duration::from_secs(1));
        for (part, share) in [(0.0, 0.0), (0.25, 0.6), (0.375, 0.7), (0.5, 0.8), (1.0, 1.0)] {
            let found = rates.share_of_fastest(part);
            assert!((found - share).abs() < 1e-12, "{part}: {found}");
        }
        assert_eq!(rates.rate_of_fastest(0.25), 4800.0);
        assert_eq!(rates.rate_of_fastest(0.5), 1600.0);
    }

    #[test]
    fn the_complementary_distribution_falls_from_one() {
        let packets: Vec<TracePacket> = (0..5000).map(|flow| seen(0, flow, flow + 1)).collect();
        let rates = FlowRates::of(&packets, Duration::from_secs(1));
        let curve = rates.complementary();
        assert!(curve.len() > 50 && curve.len() < 200, "{}", curve.len());
        assert_eq!((curve[0], curve[curve.len() - 1]), ((8.0, 1.0), (40_000.0, 1.0 / 5000.0)));
        assert!(curve.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 > w[1].1));
        assert!(curve.windows(2).all(|w| w[0].1 / w[1].1 <= 2.0), "no gaps");
    }

    #[test]
    fn flows_of_equal_rate_form_one_point() {
        let packets: Vec<TracePacket> =
            [100, 100, 100, 200].iter().zip(0..).map(|(b, f)| seen(0, f, *b)).collect();
        let rates = FlowRates::of(&packets, Duration::from_secs(1));
        assert_eq!(rates.complementary(), [(800.0, 1.0), (1600.0, 0.25)]);
    }

    #[test]
    fn no_packets_give_empty_results() {
        let rates = FlowRates::of(&[seen(0, 1, 0)], Duration::from_secs(1));
        assert!(rates.is_empty());
        assert_eq!((rates.len(), rates.share_of_fastest(0.1), rates.rate_of_fastest(0.1)), (0, 0.0, 0.0));
        assert_eq!(rates.complementary(), []);
    }
}
