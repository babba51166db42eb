//! The code that BBR versions 1 and 3 share. Sections are those of draft-ietf-ccwg-bbr-05.

use super::control::Acked;
use super::max_filter::MaxFilter;
use fairwire_core::{Duration, Time};

/// BBRMinPipeCwnd, segments.
pub(super) const LOWEST_WINDOW: f64 = 4.0;
/// The nominal round-trip time before the first measurement: section 5.6.2.
pub(super) const NOMINAL_RTT_S: f64 = 0.001;
/// The time for which a minimum round-trip time is kept: MinRTTFilterLen. In version 1, both
/// RTpropFilterLen and ProbeRTTInterval.
pub(super) const RTT_WINDOW: Duration = Duration::from_secs(10);
const PROBE_RTT_DURATION: Duration = Duration::from_ms(200);
const GROWTH_OF_A_PIPE_NOT_FULL: f64 = 1.25;
const ROUNDS_WITHOUT_GROWTH: u8 = 3;
const MAX_QUANTUM_S: f64 = 0.001;
const MAX_QUANTUM_BITS: f64 = 65_536.0 * 8.0;

/// Counts rounds by the delivered count: section 5.5.1.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    pub(super) delivered: u32,
    /// BBR.next_round_delivered: the round ends when a segment sent at this delivered count, or
    /// later, is acknowledged.
    ends: u32,
    /// BBR.round_count.
    pub(super) count: u32,
}

impl Rounds {
    /// BBRUpdateRound. Returns whether a round has begun. The delivered count decides: selective
    /// acknowledgements advance it even while the cumulative acknowledgement does not move.
    pub(super) fn take(&mut self, acked: &Acked) -> bool {
        let Some(sample) = acked.rate else {
            self.delivered = self.delivered.wrapping_add(acked.newly);
            return false;
        };
        self.delivered = sample.delivered;
        if (sample.delivered_before.wrapping_sub(self.ends).cast_signed()) < 0 {
            return false;
        }
        self.ends = sample.delivered;
        self.count = self.count.wrapping_add(1);
        true
    }

    pub(super) fn begin(&mut self) {
        self.ends = self.delivered;
    }
}

/// Detects that the delivery rate no longer rises: section 5.3.1.2.
#[derive(Debug, Default)]
pub(super) struct Plateau {
    /// BBR.full_bw, segments per second.
    rate: f64,
    /// BBR.full_bw_count.
    rounds_without_growth: u8,
    /// BBR.full_bw_now: three rounds have passed without growth.
    pub(super) is_reached: bool,
}

impl Plateau {
    pub(super) fn above(rate: f64) -> Self {
        Plateau { rate, ..Plateau::default() }
    }

    pub(super) fn restart(&mut self) {
        *self = Plateau { is_reached: self.is_reached, ..Plateau::default() };
    }

    /// BBRCheckFullBWReached. Call this at the start of a round, unless the application limited the
    /// rate.
    pub(super) fn take(&mut self, rate: f64) {
        if rate >= self.rate * GROWTH_OF_A_PIPE_NOT_FULL {
            (self.rate, self.rounds_without_growth) = (rate, 0);
            return;
        }
        self.rounds_without_growth += 1;
        self.is_reached = self.rounds_without_growth >= ROUNDS_WITHOUT_GROWTH;
    }
}

#[derive(Debug)]
pub(super) struct LeastRtt {
    /// The minimum round-trip time; [`Duration::MAX`] before the first measurement.
    pub(super) rtt: Duration,
    pub(super) at: Time,
}

impl LeastRtt {
    pub(super) fn none() -> Self {
        LeastRtt { rtt: Duration::MAX, at: Time::ZERO }
    }

    /// Is it known?
    pub(super) fn known(&self) -> Option<Duration> {
        (self.rtt != Duration::MAX).then_some(self.rtt)
    }

    pub(super) fn has_expired(&self, now: Time, most: Duration) -> bool {
        self.known().is_some() && now.since(self.at) > most
    }
}

/// The stay in `ProbeRTT` once little enough is in flight: section 5.3.4.3.
#[derive(Debug)]
pub(super) struct Dwell {
    /// The earliest end of `ProbeRTT`; [`Time::MAX`] until little enough is in flight.
    until: Time,
    has_round_passed: bool,
}

impl Dwell {
    pub(super) fn new() -> Self {
        Dwell { until: Time::MAX, has_round_passed: false }
    }

    /// BBRHandleProbeRTT. Returns whether 200 ms and a round have passed since `is_little` became
    /// true.
    pub(super) fn is_over(
        &mut self,
        now: Time,
        is_little: bool,
        is_new_round: bool,
        rounds: &mut Rounds,
    ) -> bool {
        if self.until == Time::MAX {
            if is_little {
                *self = Dwell { until: now + PROBE_RTT_DURATION, has_round_passed: false };
                rounds.begin();
            }
            return false;
        }
        self.has_round_passed |= is_new_round;
        self.has_round_passed && now > self.until
    }
}

/// The number of acknowledged segments in excess of the model's rate: section 5.5.9, extra_acked.
#[derive(Debug, Default)]
pub(super) struct Clumps {
    began: Time,
    acked: u32,
    /// The maximum excess in the last ten rounds, segments.
    pub(super) most: MaxFilter<10>,
}

impl Clumps {
    pub(super) fn take(&mut self, acked: &Acked, rate: f64, window: f64, round: u32) {
        let mut expected = rate * acked.now.since(self.began).secs();
        if f64::from(self.acked) <= expected {
            (self.began, self.acked, expected) = (acked.now, 0, 0.0);
        }
        self.acked = self.acked.saturating_add(acked.newly);
        self.most.take((f64::from(self.acked) - expected).min(window), round);
    }
}

/// The send quantum, in segments of `segment_bits` (section 5.6.3).
pub(super) fn quantum_of_a_millisecond(bps: f64, segment_bits: f64) -> f64 {
    (bps * MAX_QUANTUM_S).min(MAX_QUANTUM_BITS) / segment_bits
}
