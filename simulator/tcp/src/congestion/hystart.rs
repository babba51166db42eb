//! HyStart++: leaves slow start when round trips get longer, before a loss.
//!
//! # What it does
//! Compares the minimum round-trip times of successive rounds. If the minimum rises by an eighth
//! (at least 4 ms, at most 16 ms), the window grows at a quarter of slow start's pace for five
//! rounds. If the rise disappears meanwhile, slow start continues.
//!
//! # Why
//! Slow start doubles the window until a queue overflows, which may lose an entire window at once.
//!
//! # Source
//! RFC 9406, sections 4.2 and 4.3, which name the constants. Slow start is not paced, so L is 8.

use super::control::Acked;
use fairwire_core::Duration;

const MIN_RTT_THRESH: Duration = Duration::from_ms(4);
const MAX_RTT_THRESH: Duration = Duration::from_ms(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u8 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u8 = 5;
/// L: the maximum number of segments by which an acknowledgement grows the window.
const MAX_PER_ACK: u32 = 8;

#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    /// The minimum round-trip times of the previous round, of this round, and of the first
    /// conservative round; [`Duration::MAX`] for none.
    previous: Duration,
    least: Duration,
    baseline: Duration,
    samples: u8,
    conservative_rounds: u8,
    is_conservative: bool,
}

impl HyStart {
    pub(super) fn new() -> Self {
        let none = Duration::MAX;
        HyStart {
            previous: none,
            least: none,
            baseline: none,
            samples: 0,
            conservative_rounds: 0,
            is_conservative: false,
        }
    }

    /// Returns the segments by which the window may grow.
    pub(super) fn acked(&mut self, acked: &Acked) -> f64 {
        let segments = f64::from(acked.growth.min(MAX_PER_ACK));
        let growth = if self.is_conservative { segments / CSS_GROWTH_DIVISOR } else { segments };
        if acked.ends_round {
            self.begin_round();
        }
        if let Some(rtt) = acked.rtt {
            self.measured(rtt);
        }
        growth
    }

    pub(super) fn is_over(&self) -> bool {
        self.conservative_rounds >= CSS_ROUNDS
    }

    fn begin_round(&mut self) {
        (self.previous, self.least, self.samples) = (self.least, Duration::MAX, 0);
        // The round in which conservative slow start began also counts, though it was incomplete.
        self.conservative_rounds += u8::from(self.is_conservative);
    }

    fn measured(&mut self, rtt: Duration) {
        self.least = self.least.min(rtt);
        self.samples = self.samples.saturating_add(1);
        if self.samples < N_RTT_SAMPLE {
            return;
        }
        if self.is_conservative {
            if self.least < self.baseline {
                (self.is_conservative, self.conservative_rounds) = (false, 0);
            }
        } else if self.previous != Duration::MAX && self.least >= self.previous + rise(self.previous) {
            (self.is_conservative, self.baseline) = (true, self.least);
        }
    }
}

/// RttThresh. Growth slows if the minimum round-trip time rises by this much from one round to the
/// next.
fn rise(previous: Duration) -> Duration {
    Duration::from_ns(previous.ns() / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Time;

    /// Returns the growth of the window by 10 acknowledgements.
    fn round(hystart: &mut HyStart, rtt_ms: u64) -> f64 {
        let ack = |i| Acked {
            now: Time::ZERO,
            newly: 1,
            growth: 1,
            marked: 0,
            lost: 0,
            in_flight: 10,
            rtt: Some(Duration::from_ms(rtt_ms)),
            ends_round: i == 0,
            rate: None,
            is_window_used: true,
            max_window: 1e9,
        };
        (0..10).map(|i| hystart.acked(&ack(i))).sum()
    }

    #[test]
    fn a_lasting_rise_ends_slow_start_after_five_conservative_rounds() {
        let mut hystart = HyStart::new();
        assert_eq!(round(&mut hystart, 80), 10.0);
        assert_eq!(round(&mut hystart, 89), 10.0); // 1/8 of 80 ms is 10 ms: no rise yet
        // The eighth sample shows a rise of 12 ms, more than 89 ms / 8. The window grows by 8, then
        // by 2 x 0.25.
        assert_eq!(round(&mut hystart, 101), 8.5);
        for _ in 0..4 {
            assert_eq!(round(&mut hystart, 120), 2.5);
            assert!(!hystart.is_over());
        }
        round(&mut hystart, 120);
        assert!(hystart.is_over());
    }

    #[test]
    fn a_temporary_rise_lets_slow_start_continue() {
        let mut hystart = HyStart::new();
        round(&mut hystart, 80);
        round(&mut hystart, 100);
        round(&mut hystart, 81);
        assert_eq!(round(&mut hystart, 81), 10.0);
        assert!(!hystart.is_over());
    }

    #[test]
    fn the_rise_is_an_eighth_between_4_and_16_ms() {
        for (previous, expected) in [(8, 4), (32, 4), (80, 10), (128, 16), (1000, 16)] {
            assert_eq!(rise(Duration::from_ms(previous)), Duration::from_ms(expected));
        }
    }

    #[test]
    fn an_acknowledgement_of_many_counts_as_eight() {
        let mut hystart = HyStart::new();
        let mut ack = Acked {
            now: Time::ZERO,
            newly: 100,
            growth: 100,
            marked: 0,
            lost: 0,
            in_flight: 100,
            rtt: None,
            ends_round: false,
            rate: None,
            is_window_used: true,
            max_window: 1e9,
        };
        assert_eq!(hystart.acked(&ack), 8.0);
        ack.growth = 3;
        assert_eq!(hystart.acked(&ack), 3.0);
    }
}
