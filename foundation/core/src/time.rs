//! Integer time in nanoseconds.
//!
//! Sums and products saturate: a time beyond the end of the scale, 584 years, is [`Time::MAX`].

use core::fmt;
use core::ops::{Add, AddAssign, Mul, Sub};

/// An instant, in nanoseconds since the start of a run (simulator) or of the process (gateway).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Time(u64);

/// A length of time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Time {
    /// The start.
    pub const ZERO: Time = Time(0);
    /// Later than everything: "never".
    pub const MAX: Time = Time(u64::MAX);

    /// The instant `ns` nanoseconds after the start.
    pub const fn from_ns(ns: u64) -> Self {
        Time(ns)
    }

    /// Nanoseconds since the start.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Seconds since the start, as a real number.
    pub fn secs(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// The time since `earlier`; zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// This instant moved back by `by`; at least [`Time::ZERO`].
    pub const fn saturating_sub(self, by: Duration) -> Time {
        Time(self.0.saturating_sub(by.0))
    }
}

impl Duration {
    /// The duration zero.
    pub const ZERO: Duration = Duration(0);
    /// The longest duration.
    pub const MAX: Duration = Duration(u64::MAX);

    /// `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Duration(ns)
    }

    /// `us` microseconds.
    pub const fn from_us(us: u64) -> Self {
        Duration(us * 1_000)
    }

    /// `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Self {
        Duration(ms * 1_000_000)
    }

    /// `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Duration(s * 1_000_000_000)
    }

    /// `s` seconds, rounded to the nearest nanosecond. Negative values and not-a-number give zero.
    /// Values that are too large give the longest duration.
    pub fn from_secs_f64(s: f64) -> Self {
        Duration((s * 1e9 + 0.5) as u64)
    }

    /// Nanoseconds.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Seconds, for computations. The last bit may be wrong, but correcting it would change
    /// recorded results. Reports use [`seconds`](Self::seconds).
    pub fn secs(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// Seconds, for records: the nearest representable number, not 60.00000000000001 for 60 s.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Is the duration zero?
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, by: Duration) -> Time {
        Time(self.0.saturating_add(by.0))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, by: Duration) {
        *self = *self + by;
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}

impl Sub for Duration {
    type Output = Duration;
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, by: u64) -> Duration {
        Duration(self.0.saturating_mul(by))
    }
}

impl From<core::time::Duration> for Duration {
    fn from(d: core::time::Duration) -> Self {
        Duration(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Duration> for core::time::Duration {
    fn from(d: Duration) -> Self {
        core::time::Duration::from_nanos(d.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

impl fmt::Display for Duration {
    /// Writes the duration in the largest unit that keeps the number exact: `5 ms`, `1500 us`, `2
    /// s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (size, unit) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")] {
            if self.0 >= size && self.0.is_multiple_of(size) {
                return write!(f, "{} {unit}", self.0 / size);
            }
        }
        write!(f, "{} ns", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_prints_in_the_largest_exact_unit() {
        assert_eq!(Duration::from_ms(5).to_string(), "5 ms");
        assert_eq!(Duration::from_us(1500).to_string(), "1500 us");
        assert_eq!(Duration::from_secs(2).to_string(), "2 s");
        assert_eq!(Duration::ZERO.to_string(), "0 ns");
    }

    #[test]
    fn seconds_are_printed_as_they_are_typed() {
        assert_eq!(Duration::from_secs(60).seconds().to_string(), "60");
        assert_eq!(Duration::from_ns(35_258_368).seconds().to_string(), "0.035258368");
        for ns in (0..1_000_000).map(|n| n * 999_983) {
            let typed = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
            assert_eq!(Duration::from_ns(ns).seconds(), typed.parse::<f64>().expect("a number"));
        }
    }

    #[test]
    fn time_never_wraps() {
        assert_eq!(Time::MAX + Duration::from_ns(1), Time::MAX);
        assert_eq!(Duration::MAX + Duration::from_ns(1), Duration::MAX);
        assert_eq!(Duration::MAX * 2, Duration::MAX);
        assert_eq!(Duration::ZERO - Duration::from_ns(1), Duration::ZERO);
    }

    #[test]
    fn nonsensical_seconds_saturate() {
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::NAN), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(1e30), Duration::MAX);
        assert_eq!(Duration::from_secs_f64(0.032), Duration::from_ms(32));
    }
}
