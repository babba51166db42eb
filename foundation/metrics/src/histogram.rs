//! A log-linear histogram of waiting times.

use crate::record::{Percentile, Sojourn};
use fairwire_core::Duration;

/// The number of buckets per doubling. A bucket's width is at most 1/128 of its values, so a
/// quantile has an error of at most 0.4 %.
const PARTS: usize = 128;

/// Each value below twice [`PARTS`] has a separate bucket. The 56 doublings from there to 2^64 have
/// [`PARTS`] buckets each.
const BUCKETS: usize = 58 * PARTS;

const PERCENTS: [f64; 13] = [0.0, 1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999];

/// The waiting times of packets. Mean and maximum are exact, quantiles within 0.4 %.
///
/// Takes 1 kB per doubling up to the longest wait, at most 60 kB. An HdrHistogram of two digits has
/// the same buckets, but is slower.
#[derive(Clone, Debug)]
pub struct DelayHistogram {
    /// The count of each bucket, up to the doubling that contains the longest wait.
    counts: Vec<u64>,
    count: u64,
    sum_ns: u128,
    max_ns: u64,
}

#[inline]
fn bucket_of(ns: u64) -> usize {
    let shift = u64::BITS - (2 * PARTS as u64).ilog2() - (ns | (2 * PARTS as u64 - 1)).leading_zeros();
    shift as usize * PARTS + (ns >> shift) as usize
}

fn middle_of(bucket: usize) -> u64 {
    let shift = (bucket / PARTS).saturating_sub(1);
    (((bucket - shift * PARTS) as u64) << shift) + (1 << shift >> 1)
}

fn low_of(bucket: usize) -> u64 {
    let shift = (bucket / PARTS).saturating_sub(1);
    ((bucket - shift * PARTS) as u64) << shift
}

/// One bin of the histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    /// The lower end, included.
    pub from: Duration,
    /// The upper end, excluded.
    pub to: Duration,
    /// The number of packets.
    pub packets: u64,
}

impl DelayHistogram {
    /// An empty histogram.
    pub fn new() -> Self {
        DelayHistogram { counts: Vec::new(), count: 0, sum_ns: 0, max_ns: 0 }
    }

    /// Counts one packet that waited `wait`.
    #[inline]
    pub fn record(&mut self, wait: Duration) {
        let bucket = bucket_of(wait.ns());
        match self.counts.get_mut(bucket) {
            Some(count) => *count += 1,
            None => self.record_first(bucket),
        }
        self.count += 1;
        self.sum_ns += u128::from(wait.ns());
        self.max_ns = self.max_ns.max(wait.ns());
    }

    #[cold]
    fn record_first(&mut self, bucket: usize) {
        self.counts.resize((bucket / PARTS + 1) * PARTS, 0);
        self.counts[bucket] += 1;
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &DelayHistogram) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, count)| *sum += count);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Clears all counts.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        (self.count, self.sum_ns, self.max_ns) = (0, 0, 0);
    }

    /// The number of packets counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean wait, exact to a nanosecond; zero if nothing was counted.
    pub fn mean(&self) -> Duration {
        let count = u128::from(self.count()).max(1);
        Duration::from_ns((self.sum_ns / count) as u64)
    }

    /// The longest wait, exact.
    pub fn max(&self) -> Duration {
        Duration::from_ns(self.max_ns)
    }

    /// The wait that a fraction `q` (0 to 1) of the packets did not exceed, within 0.4 %; zero if
    /// nothing was counted.
    pub fn quantile(&self, q: f64) -> Duration {
        let wanted = ((q.min(1.0) * self.count as f64).ceil() as u64).max(1);
        let mut sum = 0;
        let reaches = |count: &u64| {
            sum += count;
            sum >= wanted
        };
        let bucket = self.counts.iter().position(reaches);
        Duration::from_ns(bucket.map_or(0, |bucket| middle_of(bucket).min(self.max_ns)))
    }

    /// Like [`quantile`](Self::quantile), but interpolated within the bin. The results for two
    /// links can therefore be compared. `None` if nothing was counted.
    pub fn proportional_quantile(&self, q: f64) -> Option<Duration> {
        let wanted = q * self.count as f64;
        let mut below = 0.0;
        let bin = self.bins().find(|bin| {
            let reaches = below + bin.packets as f64 >= wanted;
            below += if reaches { 0.0 } else { bin.packets as f64 };
            reaches
        })?;
        let width = (bin.to.min(self.max()) - bin.from).ns() as f64;
        let inside = width * (wanted - below) / bin.packets as f64;
        Some(bin.from + Duration::from_ns(inside as u64))
    }

    /// The non-empty bins, in order.
    pub fn bins(&self) -> impl Iterator<Item = Bin> + '_ {
        let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(bucket, packets)| Bin {
            from: Duration::from_ns(low_of(bucket)),
            to: Duration::from_ns(if bucket + 1 < BUCKETS { low_of(bucket + 1) } else { u64::MAX }),
            packets: *packets,
        })
    }

    /// The percentiles for a table of delays, denser near 100.
    pub fn percentiles(&self) -> Vec<Percentile> {
        let at = |percent: f64| Percentile { percent, delay_s: self.quantile(percent / 100.0).seconds() };
        let mut all: Vec<_> = PERCENTS.into_iter().map(at).collect();
        all.push(Percentile { percent: 100.0, delay_s: self.max().seconds() });
        all
    }

    /// The mean, percentiles and maximum.
    pub fn sojourn(&self) -> Sojourn {
        Sojourn {
            mean_s: self.sum_ns as f64 * 1e-9 / self.count().max(1) as f64,
            p50_s: self.quantile(0.5).seconds(),
            p90_s: self.quantile(0.9).seconds(),
            p95_s: self.proportional_quantile(0.95).map(Duration::seconds),
            p99_s: self.quantile(0.99).seconds(),
            max_s: self.max().seconds(),
        }
    }
}

impl Default for DelayHistogram {
    fn default() -> Self {
        DelayHistogram::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(waits: &[u64]) -> DelayHistogram {
        let mut histogram = DelayHistogram::new();
        waits.iter().for_each(|&ns| histogram.record(Duration::from_ns(ns)));
        histogram
    }

    fn exact(sorted: &[u64], q: f64) -> u64 {
        let rank = (q * sorted.len() as f64).ceil().max(1.0) as usize;
        sorted[rank - 1]
    }

    #[test]
    fn bins_hold_every_value_in_its_place() {
        let mut histogram = DelayHistogram::new();
        let waits = [0, 1, 255, 256, 257, 511, 8_200_000, 8_200_001, u64::MAX];
        waits.iter().for_each(|ns| histogram.record(Duration::from_ns(*ns)));
        let bins: Vec<Bin> = histogram.bins().collect();
        assert_eq!(bins.iter().map(|bin| bin.packets).sum::<u64>(), waits.len() as u64);
        assert!(bins.windows(2).all(|pair| pair[0].to <= pair[1].from), "{bins:?}");
        for ns in waits {
            let wait = Duration::from_ns(ns);
            let is_in = |bin: &&Bin| bin.from <= wait && (wait < bin.to || bin.to.ns() == u64::MAX);
            assert_eq!(bins.iter().filter(is_in).count(), 1, "{ns}");
        }
        assert!(
            bins.iter().all(|bin| (bin.to.ns() - bin.from.ns()).saturating_sub(1) <= bin.from.ns() / 128)
        );
    }

    #[test]
    fn an_empty_histogram_returns_zeros() {
        assert_eq!(DelayHistogram::new().sojourn(), Sojourn::default());
    }

    #[test]
    fn waits_of_zero_and_of_the_maximum_are_counted() {
        let histogram = of(&[0, 0, u64::MAX]);
        assert_eq!(histogram.count(), 3);
        assert_eq!(histogram.quantile(0.5), Duration::ZERO);
        assert_eq!(histogram.max(), Duration::MAX);
    }

    #[test]
    fn mean_and_maximum_are_exact() {
        let histogram = of(&[1_000_001, 2_000_003, 6_000_005]);
        assert_eq!(histogram.mean(), Duration::from_ns(3_000_003));
        assert_eq!(histogram.max(), Duration::from_ns(6_000_005));
    }

    #[test]
    fn a_cleared_histogram_is_as_new() {
        let mut histogram = of(&[5, 6]);
        histogram.clear();
        assert_eq!(histogram.count(), 0);
        assert_eq!(histogram.sojourn(), Sojourn::default());
    }

    #[test]
    fn memory_grows_by_doublings_up_to_the_longest_wait() {
        assert_eq!(DelayHistogram::new().counts.len(), 0);
        assert_eq!(of(&[0, 255]).counts.len(), 2 * PARTS);
        assert_eq!(of(&[256, 3]).counts.len(), 3 * PARTS);
        assert_eq!(of(&[u64::MAX]).counts.len(), BUCKETS);
    }

    #[test]
    fn percentiles_climb_from_the_least_to_the_greatest() {
        let waits: Vec<u64> = (1..=1000).map(|ms| ms * 1_000_000).collect();
        let actual = of(&waits).percentiles();
        let at = |percent: f64| actual.iter().find(|p| p.percent == percent).unwrap().delay_s;
        for (percent, exact) in [(0.0, 0.001), (50.0, 0.5), (99.0, 0.99), (99.9, 0.999)] {
            assert!((at(percent) / exact - 1.0).abs() < 0.004, "{percent}: {}", at(percent));
        }
        assert_eq!(at(100.0), 1.0);
        assert!(actual.is_sorted_by(|a, b| a.percent < b.percent && a.delay_s <= b.delay_s));
    }

    proptest! {
        #[test]
        fn it_agrees_with_an_hdr_histogram_of_two_digits(
            waits in prop::collection::vec((0u32..62, 0.5f64..1.0), 0..300),
        ) {
            let waits: Vec<u64> = waits.iter().map(|(log, x)| ((1u64 << log) as f64 * x) as u64).collect();
            let histogram = of(&waits);
            let mut other = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 1 << 62, 2).expect("bounds in order");
            waits.iter().for_each(|&ns| other.saturating_record(ns));
            for q in PERCENTS {
                let actual = other.median_equivalent(other.value_at_quantile(q / 100.0)).min(histogram.max().ns());
                prop_assert_eq!(histogram.quantile(q / 100.0).ns(), actual, "{}", q);
            }
        }

        #[test]
        fn quantiles_are_within_their_promise_of_the_sorted_list(
            // Log-uniform from 0 to 2^39 ns (9 min).
            waits in prop::collection::vec((0u32..40, 0.5f64..1.0), 1..300),
        ) {
            let mut waits: Vec<u64> = waits.iter().map(|(log, x)| ((1u64 << log) as f64 * x) as u64).collect();
            let histogram = of(&waits);
            waits.sort_unstable();
            for q in [0.5, 0.9, 0.99] {
                let (actual, truth) = (histogram.quantile(q).ns(), exact(&waits, q));
                // The width of a bucket is 1/128 of its value, so its middle errs by at most 1/256.
                // Rounding adds 1 ns.
                prop_assert!(actual.abs_diff(truth) as f64 <= truth as f64 / 256.0 + 1.0, "{q}: {actual}, not {truth}");
            }
        }

        #[test]
        fn merged_histograms_equal_a_single_one(
            a in prop::collection::vec(0u64..10_000_000_000, 0..100), b in prop::collection::vec(0u64..10_000, 0..100),
        ) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            prop_assert_eq!(merged.sojourn(), of(&[a, b].concat()).sojourn());
        }
    }
}
