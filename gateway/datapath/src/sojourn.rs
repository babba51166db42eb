//! The waits of packets, since the start and during the last second. For the last second, each
//! tenth has a small histogram.

use fairwire_core::{Duration, Time};

/// Buckets per doubling of the wait. A bucket's width is at most 1/16 of its shortest wait. So a
/// quantile is off by at most 3.2 %.
const PARTS: usize = 16;
/// The exponent of the longest wait: 2^38 ns, four and a half minutes.
const MAX_BITS: u32 = 38;
const BUCKETS: usize = (MAX_BITS as usize - PARTS.ilog2() as usize + 1) * PARTS;
const SLOTS: usize = 10;
const SLOT: Duration = Duration::from_ms(100);
/// Bounds of the snapshot's histogram: two per doubling, from 66 us to 4.3 s.
const BOUNDS: usize = 33;

/// The waits of some packets, in seconds; zeros without packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Their mean.
    pub mean_s: f64,
    /// The median.
    pub p50_s: f64,
    /// The 95th percentile.
    pub p95_s: f64,
    /// The 99th percentile.
    pub p99_s: f64,
    /// The longest.
    pub max_s: f64,
}

/// A histogram of waits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Upper bounds, in seconds.
    pub bounds_s: Vec<f64>,
    /// Packets by bucket. Each bucket ends at its bound; the last has no bound.
    pub counts: Vec<u64>,
    /// The sum of all waits, in seconds.
    pub sum_s: f64,
}

/// The waits of packets that left during the last second and since the start. Takes 27 kB,
/// allocated at construction.
#[derive(Debug)]
pub struct Sojourns {
    slots: Box<[Slot]>,
    /// The waits from the start up to the current slot, but not those in it.
    before: Waits,
    /// The index of the current slot. The slot's end is `until`, so most packets need no division.
    current: usize,
    until: Time,
}

#[derive(Clone, Debug)]
struct Slot {
    /// The tenth of a second, counted from time zero.
    tenth: u64,
    counts: [u32; BUCKETS],
    count: u64,
    sum_ns: u64,
    max_ns: u64,
}

impl Slot {
    const EMPTY: Slot = Slot { tenth: 0, counts: [0; BUCKETS], count: 0, sum_ns: 0, max_ns: 0 };
}

impl Sojourns {
    /// An empty window.
    pub fn new() -> Self {
        let slots = vec![Slot::EMPTY; SLOTS].into();
        Sojourns { slots, before: Waits::default(), current: 0, until: Time::ZERO }
    }

    /// Records a packet that left at `now` after waiting for `wait`. `now` never decreases.
    #[inline]
    pub fn record(&mut self, now: Time, wait: Duration) {
        if now >= self.until {
            self.turn(now);
        }
        let slot = &mut self.slots[self.current];
        slot.counts[bucket_of(wait.ns())] += 1;
        slot.count += 1;
        slot.sum_ns = slot.sum_ns.saturating_add(wait.ns());
        slot.max_ns = slot.max_ns.max(wait.ns());
    }

    #[cold]
    fn turn(&mut self, now: Time) {
        let tenth = now.ns() / SLOT.ns();
        self.before.add(&self.slots[self.current]);
        self.current = (tenth % SLOTS as u64) as usize;
        self.until = Time::from_ns((tenth + 1).saturating_mul(SLOT.ns()));
        let slot = &mut self.slots[self.current];
        if slot.tenth != tenth {
            *slot = Slot { tenth, ..Slot::EMPTY };
        }
    }

    /// The waits of packets that left in the second before `now`: nine full slots and the current
    /// one.
    pub fn window(&self, now: Time) -> Summary {
        let tenth = now.ns() / SLOT.ns();
        let mut merged = Slot::EMPTY;
        for slot in self.slots.iter().filter(|slot| slot.tenth + SLOTS as u64 > tenth) {
            merged.counts.iter_mut().zip(&slot.counts).for_each(|(sum, count)| *sum += count);
            merged.count += slot.count;
            merged.sum_ns = merged.sum_ns.saturating_add(slot.sum_ns);
            merged.max_ns = merged.max_ns.max(slot.max_ns);
        }
        let [p50_s, p95_s, p99_s] = merged.quantiles([0.5, 0.95, 0.99]);
        let mean_s = merged.sum_ns as f64 * 1e-9 / merged.count.max(1) as f64;
        Summary { mean_s, p50_s, p95_s, p99_s, max_s: merged.max_ns as f64 * 1e-9 }
    }
}

impl Sojourns {
    /// Waits of all packets that left.
    pub fn since_start(&self) -> Waits {
        let mut all = self.before.clone();
        all.add(&self.slots[self.current]);
        all
    }
}

impl Default for Sojourns {
    fn default() -> Self {
        Sojourns::new()
    }
}

/// Waits since the start: counts by bucket, and the sum. Takes 4.5 kB.
#[derive(Clone, Debug)]
pub struct Waits {
    counts: [u64; BUCKETS],
    sum_ns: u128,
}

impl Default for Waits {
    fn default() -> Self {
        Waits { counts: [0; BUCKETS], sum_ns: 0 }
    }
}

impl Waits {
    fn add(&mut self, slot: &Slot) {
        self.counts.iter_mut().zip(&slot.counts).for_each(|(sum, count)| *sum += u64::from(*count));
        self.sum_ns += u128::from(slot.sum_ns);
    }

    /// The histogram of a snapshot: two buckets per doubling, from 66 us to 4.3 s.
    pub fn histogram(&self) -> Histogram {
        self.by((0..BOUNDS).map(bound))
    }

    /// The histogram in all buckets: sixteen per doubling.
    pub fn fine_histogram(&self) -> Histogram {
        self.by((1..BUCKETS).map(start_of))
    }

    /// A histogram with upper bounds `bounds`, each the start of a bucket.
    fn by(&self, bounds: impl Iterator<Item = u64>) -> Histogram {
        let (mut bounds_s, mut counts, mut from) = (Vec::new(), Vec::new(), 0);
        for bound in bounds {
            let end = bucket_of(bound);
            bounds_s.push(bound as f64 / 1e9);
            counts.push(self.counts[from..end].iter().sum());
            from = end;
        }
        counts.push(self.counts[from..].iter().sum());
        Histogram { bounds_s, counts, sum_s: self.sum_ns as f64 * 1e-9 }
    }
}

/// Bound number `at`, in nanoseconds: 2^16, 1.5 x 2^16, 2^17 and so on. Each bound starts a bucket
/// of [`Waits`]. A wait equal to a bound counts above it.
const fn bound(at: usize) -> u64 {
    (2 + at as u64 % 2) << (15 + at / 2)
}

impl Slot {
    /// The waits in seconds at the quantiles `wanted`, which must ascend.
    fn quantiles<const N: usize>(&self, wanted: [f64; N]) -> [f64; N] {
        let mut found = [0.0; N];
        let (mut sum, mut next) = (0u64, 0);
        for (bucket, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            sum += u64::from(*count);
            while next < N && sum >= ((wanted[next] * self.count as f64).ceil() as u64).max(1) {
                found[next] = middle_of(bucket).min(self.max_ns) as f64 * 1e-9;
                next += 1;
            }
        }
        found
    }
}

/// The bucket of a wait. Below twice [`PARTS`] ns, each wait has a separate bucket. Above, each
/// doubling has [`PARTS`] buckets.
#[inline]
fn bucket_of(ns: u64) -> usize {
    let ns = ns.min((1 << MAX_BITS) - 1);
    let shift = u64::BITS - (2 * PARTS as u64).ilog2() - (ns | (2 * PARTS as u64 - 1)).leading_zeros();
    shift as usize * PARTS + (ns >> shift) as usize
}

fn start_of(bucket: usize) -> u64 {
    let shift = (bucket / PARTS).saturating_sub(1);
    ((bucket - shift * PARTS) as u64) << shift
}

fn middle_of(bucket: usize) -> u64 {
    let shift = (bucket / PARTS).saturating_sub(1);
    start_of(bucket) + (1 << shift >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn a_window_without_packets_shows_zeros() {
        assert_eq!(Sojourns::new().window(at(5000)), Summary::default());
    }

    #[test]
    fn departures_older_than_a_second_are_forgotten() {
        let mut sojourns = Sojourns::new();
        sojourns.record(at(5000), Duration::from_ms(40));
        sojourns.record(at(5700), Duration::from_ms(4));
        assert_eq!(sojourns.window(at(5990)).max_s, 0.04);
        assert_eq!(sojourns.window(at(6000)).max_s, 0.004);
        assert_eq!(sojourns.window(at(6699)).mean_s, 0.004);
        assert_eq!(sojourns.window(at(6700)), Summary::default());
        sojourns.record(at(16_000), Duration::from_ms(7)); // the same slot as the first
        assert_eq!(sojourns.window(at(16_000)).max_s, 0.007);
    }

    #[test]
    fn zero_and_endless_waits_are_counted() {
        let mut sojourns = Sojourns::new();
        sojourns.record(at(1), Duration::ZERO);
        sojourns.record(at(1), Duration::MAX);
        let window = sojourns.window(at(2));
        assert_eq!((window.p50_s, window.max_s), (0.0, u64::MAX as f64 * 1e-9));
    }

    #[test]
    fn each_wait_is_counted_once_per_bound_since_the_start() {
        let mut sojourns = Sojourns::new();
        let waits: Vec<u64> =
            (0..BOUNDS).flat_map(|at| [bound(at) - 1, bound(at)]).chain([0, u64::MAX]).collect();
        for (n, ns) in waits.iter().enumerate() {
            let now = at(n as u64 * 37 + n as u64 / 20 * 5000);
            sojourns.record(now, Duration::from_ns(*ns));
            let counted: u64 = sojourns.since_start().histogram().counts.iter().sum();
            assert_eq!(counted, n as u64 + 1);
        }
        let histogram = sojourns.since_start().histogram();
        for at in 0..BOUNDS {
            let below: u64 = histogram.counts[..=at].iter().sum();
            assert_eq!(below, waits.iter().filter(|ns| **ns < bound(at)).count() as u64, "{}", bound(at));
        }
        assert_eq!(
            histogram.bounds_s.first().zip(histogram.bounds_s.last()),
            Some((&65.536e-6, &4.294967296))
        );
        let fine = sojourns.since_start().fine_histogram();
        for (at, bound_s) in fine.bounds_s.iter().enumerate() {
            let below: u64 = fine.counts[..=at].iter().sum();
            let is_below = |ns: &&u64| **ns < (bound_s * 1e9).round() as u64;
            assert_eq!(below, waits.iter().filter(is_below).count() as u64, "{bound_s}");
        }
        assert_eq!(fine.counts.iter().sum::<u64>(), waits.len() as u64);
        let sum: f64 = waits.iter().map(|ns| *ns as f64 * 1e-9).sum();
        // The tolerance covers rounding: floats are summed, and one wait is 2^64 ns.
        assert!((histogram.sum_s - sum).abs() < 1e-6 * sum, "{}, not {sum}", histogram.sum_s);
    }

    proptest! {
        #[test]
        fn quantiles_are_within_a_thirtieth_of_the_sorted_list(
            waits in prop::collection::vec((0u32..37, 0.5f64..1.0), 1..300),
        ) {
            let mut waits: Vec<u64> = waits.iter().map(|(log, x)| ((1u64 << log) as f64 * x) as u64).collect();
            let mut sojourns = Sojourns::new();
            waits.iter().enumerate().for_each(|(n, ns)| sojourns.record(at(n as u64 * 3), Duration::from_ns(*ns)));
            waits.sort_unstable();
            let window = sojourns.window(at(900));
            for (q, shown) in [(0.5, window.p50_s), (0.95, window.p95_s), (0.99, window.p99_s)] {
                let truth = waits[(q * waits.len() as f64).ceil().max(1.0) as usize - 1] as f64 * 1e-9;
                // The tolerance is half a bucket, at most 1/32 of the value, and 1 ns of rounding.
                prop_assert!((shown - truth).abs() <= truth / 31.0 + 1e-9, "{}: {}, not {}", q, shown, truth);
            }
        }
    }
}
