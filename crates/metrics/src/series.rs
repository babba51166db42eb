//! Averages over time of a quantity that moves in steps, such as a backlog.

use fairwire_core::Time;

/// The time-weighted mean and the maximum of a step function. Exact: the area below it is summed in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeWeighted {
    start: Time,
    since: Time,
    value: u64,
    max: u64,
    area: u128, // value times ns, from `start` to `since`
}

impl TimeWeighted {
    /// A quantity that is zero at `start`.
    pub const fn new(start: Time) -> Self {
        TimeWeighted { start, since: start, value: 0, max: 0, area: 0 }
    }

    /// The quantity is `value` from `now` on. Time never goes back.
    #[inline]
    pub fn set(&mut self, value: u64, now: Time) {
        self.area = self.area_at(now);
        self.since = now;
        self.value = value;
        self.max = self.max.max(value);
    }

    /// The mean from the start (or the last reset) to `now`; the value itself when no time has passed.
    pub fn mean(&self, now: Time) -> f64 {
        match now.since(self.start).ns() {
            0 => self.value as f64,
            ns => self.area_at(now) as f64 / ns as f64,
        }
    }

    /// The largest value since the start or the last reset, values that stood for no time included.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Forgets what was, as at the end of a warm-up; the quantity keeps its value.
    pub fn reset(&mut self, now: Time) {
        *self = TimeWeighted { start: now, since: now, value: self.value, max: self.value, area: 0 };
    }

    fn area_at(&self, now: Time) -> u128 {
        debug_assert!(now >= self.since, "time went back from {} to {now}", self.since);
        self.area + u128::from(self.value) * u128::from(now.since(self.since).ns())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    #[test]
    fn each_value_weighs_as_long_as_it_stood() {
        let mut backlog = TimeWeighted::new(at(100));
        backlog.set(4, at(110));
        backlog.set(1, at(130));
        // 10 ns of 0, 20 ns of 4, 10 ns of 1.
        assert_eq!(backlog.mean(at(140)), 90.0 / 40.0);
        assert_eq!(backlog.max(), 4);
    }

    #[test]
    fn a_value_that_stood_for_no_time_counts_in_the_maximum_only() {
        let mut backlog = TimeWeighted::new(at(0));
        backlog.set(9, at(5));
        backlog.set(0, at(5));
        assert_eq!((backlog.mean(at(10)), backlog.max()), (0.0, 9));
    }

    #[test]
    fn a_reset_keeps_the_value_and_forgets_the_past() {
        let mut backlog = TimeWeighted::new(at(0));
        backlog.set(50, at(1));
        backlog.set(3, at(2));
        backlog.reset(at(10));
        assert_eq!((backlog.mean(at(10)), backlog.max()), (3.0, 3));
        backlog.set(5, at(20));
        assert_eq!((backlog.mean(at(30)), backlog.max()), (4.0, 5));
    }

    #[test]
    fn a_thousand_hours_of_a_full_buffer_do_not_overflow() {
        let mut backlog = TimeWeighted::new(at(0));
        backlog.set(u64::MAX, at(0));
        assert_eq!(backlog.mean(at(3_600_000_000_000_000)), u64::MAX as f64);
    }
}
