//! Rates in bit/s, and the transmitter that turns bytes into time.

use crate::capacity::{Changing, RateLaw};
use crate::time::{Duration, Time};
use alloc::boxed::Box;
use core::fmt;

/// A rate in bit/s, never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(core::num::NonZeroU64);

impl Rate {
    /// A rate of `bits` bit/s; `None` if it is zero.
    pub const fn from_bps(bits: u64) -> Option<Self> {
        match core::num::NonZeroU64::new(bits) {
            Some(bits) => Some(Rate(bits)),
            None => None,
        }
    }

    /// Bits per second.
    pub const fn bps(self) -> u64 {
        self.0.get()
    }

    /// A value that prints this rate with three digits, as in `5.13 Mbit/s`.
    pub fn rounded(self) -> Rounded {
        Rounded(self)
    }

    /// Packets of `bytes` bytes sent per second.
    pub fn packets_per_second(self, bytes: u32) -> f64 {
        self.bps() as f64 / (8.0 * f64::from(bytes))
    }

    /// Time to send `bytes`, rounded down to a nanosecond. A [`Transmitter`] carries remainders
    /// instead.
    pub fn time_to_send(self, bytes: u64) -> Duration {
        let ns = u128::from(bytes) * 8_000_000_000 / u128::from(self.bps());
        Duration::from_ns(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Rate {
    /// Writes the rate in the largest decimal unit that keeps the number exact: `10 Mbit/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (size, unit) in [(1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1_000, "kbit/s")] {
            if self.bps() >= size && self.bps().is_multiple_of(size) {
                return write!(f, "{} {unit}", self.bps() / size);
            }
        }
        write!(f, "{} bit/s", self.bps())
    }
}

/// A rate that prints with three digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounded(Rate);

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bps = self.0.bps();
        let mut step = 1;
        while bps / step >= 1000 {
            step *= 10;
        }
        let bps = (bps + step / 2) / step * step;
        let units = [(1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1_000, "kbit/s"), (1, "bit/s")];
        let (size, unit) = units.into_iter().find(|(size, _)| bps >= *size).unwrap_or((1, "bit/s"));
        write!(f, "{} {unit}", bps as f64 / size as f64)
    }
}

/// The sending end of a link: one packet at a time, at a fixed rate or [under a
/// law](Transmitter::under).
///
/// Each division's remainder is carried to the next packet, so the long-run rate is exact. If a
/// gateway wakes late, the start of a packet is dated back by at most `catch_up`. This keeps the
/// average rate.
#[derive(Debug)]
pub struct Transmitter {
    rate: Rate,
    free_at: Time,
    remainder: u64, // bit-nanoseconds not yet turned into time, below `rate`
    catch_up: Duration,
    /// For the two latest packet sizes: the bytes, the nanoseconds to send them, and the remainder.
    /// Sizes repeat, and divisions are slow.
    last: [(u32, u64, u64); 2],
    changing: Option<Box<Changing>>,
}

impl Transmitter {
    /// A transmitter of `rate` that is free now and does not make up for lost time, as for a
    /// simulated link.
    pub fn new(rate: Rate) -> Self {
        Self::with_catch_up(rate, Duration::ZERO)
    }

    /// A transmitter that makes up for at most `catch_up` of lost time.
    pub fn with_catch_up(rate: Rate, catch_up: Duration) -> Self {
        Transmitter {
            rate,
            free_at: Time::ZERO,
            remainder: 0,
            catch_up,
            last: [(0, 0, 0); 2],
            changing: None,
        }
    }

    /// The same transmitter, with a rate that follows `law`.
    ///
    /// # Panics
    /// When the steps of the law are not in order of time.
    pub fn under(mut self, law: &RateLaw) -> Self {
        self.follow(law, Time::ZERO);
        self
    }

    /// Makes the rate follow `law`, whose times count from `start`. The current packet ends as
    /// scheduled.
    ///
    /// # Panics
    /// When the steps of the law are not in order of time.
    pub fn follow(&mut self, law: &RateLaw, start: Time) {
        self.changing = Changing::new(self.rate, law, start).map(Box::new);
    }

    /// The rate that was set; a [law](RateLaw) does not change it.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Sets the rate, and the maximum lost time that the transmitter makes up for. The current
    /// packet ends as scheduled. Steps continue, and `rate` applies before the first step. Patterns
    /// and traces ignore `rate`.
    pub fn set_rate(&mut self, rate: Rate, catch_up: Duration) {
        self.catch_up = catch_up;
        if rate == self.rate {
            return;
        }
        (self.rate, self.remainder, self.last) = (rate, 0, [(0, 0, 0); 2]);
        if let Some(Changing::Steps(steps)) = self.changing.as_deref_mut() {
            steps.set_first(rate);
        }
    }

    /// The maximum lost time that the transmitter makes up for.
    pub fn catch_up(&self) -> Duration {
        self.catch_up
    }

    /// The time at which the transmitter is free again; in the past if it is idle.
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// Is it free at `now`?
    pub fn is_free(&self, now: Time) -> bool {
        self.free_at <= now
    }

    /// Starts to send `bytes` at `now`, and returns when the last bit has left. A late start is
    /// dated back by at most `catch_up`.
    ///
    /// On a busy transmitter, the bytes wait for all earlier bytes.
    #[inline(always)]
    pub fn start(&mut self, bytes: u32, now: Time) -> Time {
        let from = self.free_at.max(now.saturating_sub(self.catch_up));
        self.free_at = match &mut self.changing {
            None => from + self.serialization(bytes),
            Some(changing) => changing.send(bytes, from),
        };
        self.free_at
    }

    /// Records that no packet waited before `now`. Idle time earns no credit; a late start does.
    pub fn idle_until(&mut self, now: Time) {
        self.free_at = self.free_at.max(now);
        if let Some(changing) = &mut self.changing {
            changing.idle_until(now);
        }
    }

    /// The time at which a free transmitter may begin a packet: `now`, or the next opportunity of a
    /// [trace](crate::capacity::Trace).
    #[inline]
    pub fn begins_at(&self, now: Time) -> Time {
        self.changing.as_ref().map_or(now, |changing| changing.begins_at(now))
    }

    /// The bits that the transmitter can send from `from` to `to`.
    pub fn bits(&self, from: Time, to: Time) -> f64 {
        let fixed = || to.since(from).secs() * self.rate.bps() as f64;
        self.changing.as_ref().map_or_else(fixed, |changing| changing.bits(from, to))
    }

    #[inline(always)]
    fn serialization(&mut self, bytes: u32) -> Duration {
        let (size, ns, remainder) = self.last[0];
        let (ns, remainder) = if size == bytes { (ns, remainder) } else { self.of_another_size(bytes) };
        let missing = self.rate.bps() - self.remainder; // compared, not added: rates go up to 2^64
        if remainder < missing {
            self.remainder += remainder;
            return Duration::from_ns(ns);
        }
        self.remainder = remainder - missing;
        Duration::from_ns(ns) + Duration::from_ns(1)
    }

    #[inline(never)]
    fn of_another_size(&mut self, bytes: u32) -> (u64, u64) {
        let [latest, (size, ns, remainder)] = self.last;
        if size == bytes {
            return (ns, remainder);
        }
        let (ns, remainder) = self.divided(bytes);
        self.last = [(bytes, ns, remainder), latest];
        (ns, remainder)
    }

    /// Integer nanoseconds to send `bytes`, and the division's remainder.
    fn divided(&self, bytes: u32) -> (u64, u64) {
        let (rate, scaled) = (self.rate.bps(), u128::from(bytes) * 8_000_000_000);
        match u64::try_from(scaled) {
            Ok(scaled) => (scaled / rate, scaled % rate),
            Err(_) => {
                let rate = u128::from(rate);
                (u64::try_from(scaled / rate).unwrap_or(u64::MAX), (scaled % rate) as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(bps: u64) -> Rate {
        Rate::from_bps(bps).expect("not zero")
    }

    #[test]
    fn a_rounded_rate_has_three_digits() {
        let printed = |bps| rate(bps).rounded().to_string();
        assert_eq!(printed(5_128_400), "5.13 Mbit/s");
        assert_eq!(printed(10_000_000), "10 Mbit/s");
        assert_eq!(printed(999_600), "1 Mbit/s");
        assert_eq!(printed(7), "7 bit/s");
        assert_eq!(printed(12_032_000), "12 Mbit/s");
    }

    #[test]
    fn no_fraction_of_a_nanosecond_is_lost() {
        let mut link = Transmitter::new(rate(7));
        let mut end = Time::ZERO;
        for _ in 0..7 {
            end = link.start(3, end);
        }
        assert_eq!(end, Time::ZERO + Duration::from_secs(24));
    }

    #[test]
    fn a_fast_link_keeps_its_rate_with_tiny_packets() {
        let mut link = Transmitter::new(rate(99_999_999_977)); // a prime
        let mut end = Time::ZERO;
        for _ in 0..1_000_000 {
            end = link.start(40, end);
        }
        let exact = 1_000_000u128 * 40 * 8_000_000_000 / 99_999_999_977;
        assert_eq!(u128::from(end.ns()), exact);
    }

    #[test]
    fn extreme_rates_saturate_and_never_wrap() {
        let mut slow = Transmitter::new(rate(1));
        assert_eq!(slow.start(u32::MAX, Time::ZERO), Time::MAX);
        let mut fast = Transmitter::new(rate(u64::MAX));
        for _ in 0..10 {
            fast.start(u32::MAX, Time::ZERO);
        }
        assert_eq!(fast.free_at().ns(), 18); // 10 x 8 x 4.29e9 bit at 1.8e19 bit/s
    }

    #[test]
    fn a_late_start_is_credited_only_up_to_the_bound() {
        let mut shaper = Transmitter::with_catch_up(rate(8_000_000), Duration::from_us(100)); // 1 byte = 1 us
        shaper.start(10, Time::from_ns(1_000_000));
        assert_eq!(shaper.free_at().ns(), 1_000_000 - 100_000 + 10_000);
        // The shaper has been free since 910 us, so the start at 950 us is dated back to 910 us.
        shaper.start(10, Time::from_ns(950_000));
        assert_eq!(shaper.free_at().ns(), 920_000);
    }

    #[test]
    fn an_idle_link_earns_no_credit() {
        let mut shaper = Transmitter::with_catch_up(rate(8_000_000), Duration::from_us(100)); // 1 byte = 1 us
        shaper.idle_until(Time::from_ns(1_000_000));
        assert_eq!(shaper.start(10, Time::from_ns(1_000_000)).ns(), 1_010_000);
    }

    #[test]
    fn a_rate_prints_in_the_largest_exact_unit() {
        assert_eq!(rate(10_000_000).to_string(), "10 Mbit/s");
        assert_eq!(rate(1_500).to_string(), "1500 bit/s");
    }
}
