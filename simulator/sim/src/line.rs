//! A flow's own link. Only the flow's own packets queue there, so departure times are computed at
//! once.

use fairwire_core::{Duration, Rate, Time};

/// A flow's own link: the time when it becomes free, and the fraction of a nanosecond by which this
/// time is too early.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line {
    free_at: Time,
    remainder: u64, // bit-nanoseconds, below the rate
}

/// Transmission times of a group's packet sizes at its access rate, computed once: sizes repeat,
/// and divisions are slow.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    rate: u64,
    bytes: u32,
    whole: Duration,
    remainder: u64,
}

impl Pace {
    pub(crate) fn new(rate: Rate, bytes: u32) -> Self {
        let rate = rate.bps();
        let (whole, remainder) = split(rate, bytes);
        Pace { rate, bytes, whole, remainder }
    }

    #[inline(always)]
    fn takes(&self, bytes: u32) -> (Duration, u64) {
        if bytes == self.bytes { (self.whole, self.remainder) } else { split(self.rate, bytes) }
    }
}

#[inline(never)]
fn split(rate: u64, bytes: u32) -> (Duration, u64) {
    let (scaled, rate) = (u128::from(bytes) * 8_000_000_000, u128::from(rate));
    (Duration::from_ns(u64::try_from(scaled / rate).unwrap_or(u64::MAX)), (scaled % rate) as u64)
}

impl Line {
    /// The time at which the link finishes sending; in the past if it is idle.
    #[inline]
    pub(crate) fn free_at(&self) -> Time {
        self.free_at
    }

    /// The number of packets of the usual size ahead of a packet at `now`: 0 if the link is idle,
    /// and 2 for two or more.
    #[inline(always)]
    pub(crate) fn queued(&self, now: Time, pace: &Pace) -> usize {
        let waits = self.free_at.since(now);
        usize::from(waits > Duration::ZERO) + usize::from(waits > pace.whole)
    }

    /// Sends a packet, and returns when its last bit has left. Rounding errors do not accumulate.
    #[inline(always)]
    pub(crate) fn start(&mut self, bytes: u32, now: Time, pace: &Pace) -> Time {
        let (whole, remainder) = pace.takes(bytes);
        let mut sent = self.free_at.max(now) + whole;
        let missing = pace.rate - self.remainder; // compared, not added: rates go up to 2^64
        if remainder < missing {
            self.remainder += remainder;
        } else {
            self.remainder = remainder - missing;
            sent += Duration::from_ns(1);
        }
        self.free_at = sent;
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Transmitter;

    #[test]
    fn it_sends_at_the_same_times_as_a_transmitter() {
        let rate = Rate::from_bps(7_777_777).expect("not zero");
        let (mut line, pace) = (Line::default(), Pace::new(rate, 552));
        let mut transmitter = Transmitter::new(rate);
        for step in 0..10_000u64 {
            let (bytes, now) = ([552, 40, 552, 1500][step as usize % 4], Time::from_ns(step * 600_000));
            assert_eq!(line.start(bytes, now, &pace), transmitter.start(bytes, now));
        }
    }
}
