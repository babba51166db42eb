//! Time averages of a quantity that changes in steps, such as a backlog.

use fairwire_core::Time;

/// The time-weighted means and maxima of step functions that change together. The means are exact:
/// areas are summed in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeWeighted<const N: usize = 1> {
    start: Time,
    since: Time,
    values: [u64; N],
    max: [u64; N],
    areas: [u128; N], // value times ns, from `start` to `since`
}

impl<const N: usize> TimeWeighted<N> {
    /// Quantities that are zero at `start`.
    pub const fn new(start: Time) -> Self {
        TimeWeighted { start, since: start, values: [0; N], max: [0; N], areas: [0; N] }
    }

    /// Sets the quantities to `values` from `now` on. Time must not decrease.
    #[inline]
    pub fn set(&mut self, values: [u64; N], now: Time) {
        self.areas = self.areas_at(now);
        self.since = now;
        self.values = values;
        self.max = std::array::from_fn(|i| self.max[i].max(values[i]));
    }

    /// The means from the start (or the last reset) to `now`; the values themselves if no time has
    /// passed.
    pub fn means(&self, now: Time) -> [f64; N] {
        match now.since(self.start).ns() {
            0 => self.values.map(|value| value as f64),
            ns => self.areas_at(now).map(|area| area as f64 / ns as f64),
        }
    }

    /// The largest values since the start or the last reset, including values that lasted no time.
    pub fn max(&self) -> [u64; N] {
        self.max
    }

    /// Restarts means and maxima; quantities keep their values.
    pub fn reset(&mut self, now: Time) {
        *self = TimeWeighted { values: self.values, max: self.values, ..TimeWeighted::new(now) };
    }

    #[inline]
    fn areas_at(&self, now: Time) -> [u128; N] {
        debug_assert!(now >= self.since, "time went back from {} to {now}", self.since);
        let ns = now.since(self.since).ns();
        std::array::from_fn(|i| self.areas[i] + u128::from(self.values[i]) * u128::from(ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    #[test]
    fn each_value_is_weighted_by_its_duration() {
        let mut backlog = TimeWeighted::<1>::new(at(100));
        backlog.set([4], at(110));
        backlog.set([1], at(130));
        assert_eq!(backlog.means(at(140)), [90.0 / 40.0]);
        assert_eq!(backlog.max(), [4]);
    }

    #[test]
    fn quantities_that_change_together_are_kept_apart() {
        let mut backlog = TimeWeighted::new(at(0));
        backlog.set([1, 1500], at(10));
        backlog.set([3, 120], at(30));
        assert_eq!(backlog.means(at(40)), [f64::from(20 + 30) / 40.0, f64::from(30_000 + 1200) / 40.0]);
        assert_eq!(backlog.max(), [3, 1500]);
    }

    #[test]
    fn a_value_that_lasted_no_time_counts_in_the_maximum_only() {
        let mut backlog = TimeWeighted::<1>::new(at(0));
        backlog.set([9], at(5));
        backlog.set([0], at(5));
        assert_eq!((backlog.means(at(10)), backlog.max()), ([0.0], [9]));
    }

    #[test]
    fn a_reset_keeps_the_value_and_forgets_the_past() {
        let mut backlog = TimeWeighted::<1>::new(at(0));
        backlog.set([50], at(1));
        backlog.set([3], at(2));
        backlog.reset(at(10));
        assert_eq!((backlog.means(at(10)), backlog.max()), ([3.0], [3]));
        backlog.set([5], at(20));
        assert_eq!((backlog.means(at(30)), backlog.max()), ([4.0], [5]));
    }

    #[test]
    fn a_thousand_hours_of_a_full_buffer_do_not_overflow() {
        let mut backlog = TimeWeighted::<1>::new(at(0));
        backlog.set([u64::MAX], at(0));
        assert_eq!(backlog.means(at(3_600_000_000_000_000)), [u64::MAX as f64]);
    }
}
