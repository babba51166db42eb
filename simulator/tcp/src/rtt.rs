//! The round-trip estimator and the retransmission timeout (RFC 6298, section 2), with the coarse
//! clock of older TCPs.

use crate::config::Config;
use fairwire_core::Duration;

/// Smoothed round-trip time, its variation, and the resulting timeout.
///
/// The smoothed time is scaled by 8 and the variation by 4, so the gains of RFC 6298 are shifts.
#[derive(Debug)]
pub struct RttEstimator {
    rtt_ns_x8: u64, // 0 before the first measurement
    variation_ns_x4: u64,
    backoff: u32,
    is_stale: bool, // the next measurement counts as the first
}

/// The maximum back-off factor of the timeout: its double fits in a `u32`.
const MAX_BACKOFF: u32 = 1 << 30;

/// Above this back-off factor, an estimate may be considered wrong (RFC 6298, section 5); ns-2's
/// number.
const TRUSTED_BACKOFF: u32 = 8;

impl Default for RttEstimator {
    fn default() -> Self {
        RttEstimator { rtt_ns_x8: 0, variation_ns_x4: 0, backoff: 1, is_stale: false }
    }
}

impl RttEstimator {
    /// Records the measured round trip of a segment that was sent once (the caller applies Karn's
    /// rule), and ends any back-off.
    pub fn measured(&mut self, rtt: Duration, config: &Config) {
        self.backoff = 1;
        self.measured_under_marks(rtt, config);
    }

    /// Records a measurement as [`measured`](Self::measured) does, but keeps any back-off.
    pub fn measured_under_marks(&mut self, rtt: Duration, config: &Config) {
        let rtt = in_ticks(rtt.ns(), config.tick.ns());
        if self.rtt_ns_x8 == 0 || self.is_stale {
            self.is_stale = false;
            (self.rtt_ns_x8, self.variation_ns_x4) = (rtt * 8, rtt * 2);
            return;
        }
        let (before, variation) =
            (counted(self.rtt_ns_x8 / 8, config), counted(self.variation_ns_x4 / 4, config));
        self.variation_ns_x4 = self.variation_ns_x4 - variation + rtt.abs_diff(before);
        self.rtt_ns_x8 = self.rtt_ns_x8 - before + rtt;
    }

    /// Sets the variation that the timeout uses until the next measurement.
    pub(crate) fn hold(&mut self, variation_ns_x4: u64) {
        self.variation_ns_x4 = variation_ns_x4;
    }

    /// Doubles the timeout (RFC 6298, 5.5) up to its maximum. With
    /// [`forgets_rtt`](crate::Quirks::forgets_rtt), the fourth doubling in a row makes the next
    /// measurement count as the first.
    pub fn back_off(&mut self, config: &Config) {
        if self.timeout(config) < config.max_rto {
            self.backoff = (self.backoff * 2).min(MAX_BACKOFF);
        }
        self.is_stale |= config.quirks.forgets_rtt && self.backoff > TRUSTED_BACKOFF;
    }

    /// Ends any back-off, without a measurement, because new data was acknowledged.
    pub fn progressed(&mut self) {
        self.backoff = 1;
    }

    /// The timeout: the sum of the smoothed time and four variations, multiplied by the back-off,
    /// but at most `max_rto`. The minimum, `min_rto`, applies to this sum or, with
    /// `floors_variation`, to the four variations.
    #[inline]
    pub fn timeout(&self, config: &Config) -> Duration {
        let base = match self.rtt_ns_x8 {
            0 => config.initial_rto.ns(),
            rtt_x8 => {
                let least = if config.floors_variation { config.min_rto } else { config.tick };
                counted(rtt_x8 / 8, config) + self.variation_ns_x4.max(least.ns())
            }
        };
        let backed_off = base.max(config.min_rto.ns()).saturating_mul(u64::from(self.backoff));
        Duration::from_ns(backed_off.min(config.max_rto.ns()))
    }

    /// The smoothed round-trip time; `None` before the first measurement.
    pub fn smoothed(&self) -> Option<Duration> {
        (self.rtt_ns_x8 > 0).then_some(Duration::from_ns(self.rtt_ns_x8 / 8))
    }
}

#[inline]
fn counted(ns: u64, config: &Config) -> u64 {
    match config.tick.ns() {
        tick if tick > 0 && config.quirks.counts_ticks => ns / tick * tick,
        _ => ns,
    }
}

fn in_ticks(ns: u64, tick: u64) -> u64 {
    match tick {
        0 => ns.max(1),
        tick => ((ns + tick / 2) / tick).max(1) * tick,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Profile;

    struct Estimator(RttEstimator, Config);

    fn estimator(tick_ms: u64, min_ms: u64) -> Estimator {
        let (tick, min_rto) = (Duration::from_ms(tick_ms), Duration::from_ms(min_ms));
        let config = Config { tick, min_rto, ..Config::new(Profile::Ns2In2002, 512) };
        Estimator(RttEstimator::default(), config)
    }

    impl Estimator {
        fn measured(&mut self, rtt: Duration) {
            self.0.measured(rtt, &self.1);
        }
        fn timeout(&self) -> Duration {
            self.0.timeout(&self.1)
        }
        fn backed_off(&mut self, times: u32) {
            (0..times).for_each(|_| self.0.back_off(&self.1));
        }
    }

    #[test]
    fn the_first_measurement_sets_the_timeout_to_three_times_itself() {
        // RFC 6298, 2.2: SRTT = R, RTTVAR = R/2, RTO = SRTT + 4 RTTVAR.
        let mut rtt = estimator(0, 0);
        assert_eq!(rtt.timeout(), Duration::from_secs(3));
        rtt.measured(Duration::from_ms(100));
        assert_eq!(rtt.timeout(), Duration::from_ms(300));
    }

    #[test]
    fn later_measurements_move_it_by_an_eighth_and_a_quarter() {
        // RFC 6298, 2.3, with R' = 140 ms. RTTVAR = 3/4 x 50 + 1/4 x (140 - 100) = 47.5 ms. SRTT =
        // 7/8 x 100 + 1/8 x 140 = 105 ms.
        let mut rtt = estimator(0, 0);
        rtt.measured(Duration::from_ms(100));
        rtt.measured(Duration::from_ms(140));
        assert_eq!(rtt.0.smoothed(), Some(Duration::from_ms(105)));
        assert_eq!(rtt.timeout(), Duration::from_ms(105 + 190));
    }

    #[test]
    fn a_coarse_clock_rounds_to_its_tick_and_never_to_zero() {
        let mut rtt = estimator(10, 0);
        rtt.measured(Duration::from_us(100));
        assert_eq!(rtt.0.smoothed(), Some(Duration::from_ms(10)));
        let mut rtt = estimator(10, 0);
        rtt.measured(Duration::from_ms(32));
        assert_eq!(rtt.0.smoothed(), Some(Duration::from_ms(30)));
    }

    #[test]
    fn back_off_doubles_above_the_floor_until_the_ceiling_and_ends_with_a_measurement() {
        let mut rtt = estimator(10, 1000);
        rtt.measured(Duration::from_ms(30));
        assert_eq!(rtt.timeout(), Duration::from_secs(1));
        rtt.backed_off(1);
        assert_eq!(rtt.timeout(), Duration::from_secs(2));
        rtt.backed_off(10);
        assert_eq!(rtt.timeout(), Duration::from_secs(60));
        rtt.measured(Duration::from_ms(30));
        assert_eq!(rtt.timeout(), Duration::from_secs(1));
    }

    #[test]
    fn back_off_doubles_past_64_times_below_the_longest_timeout() {
        let mut rtt = estimator(10, 200);
        rtt.measured(Duration::from_ms(30));
        let after = |rtt: &mut Estimator, times| {
            rtt.backed_off(times);
            rtt.timeout()
        };
        assert_eq!(after(&mut rtt, 6), Duration::from_ms(12_800));
        assert_eq!(after(&mut rtt, 1), Duration::from_ms(25_600)); // as in ns-2 2.35
        assert_eq!(after(&mut rtt, 100), Duration::from_secs(60));
    }

    #[test]
    fn quotients_are_rounded_down_to_ticks_under_the_quirk() {
        // In ticks, the smoothed time is 4, four variations are 6, and the measurement is 15. Four
        // variations become 6 - 1 + (15 - 4) = 16, with 6/4 rounded down to 1. The smoothed time
        // becomes 4 + 11/8, rounded down to 5. The timeout is 5 + 16 = 21 ticks, as in a trace of
        // ns-2.
        let mut rtt = estimator(10, 200);
        rtt.1.quirks.counts_ticks = true;
        (rtt.0.rtt_ns_x8, rtt.0.variation_ns_x4) = (320_000_000, 60_000_000);
        rtt.measured(Duration::from_ms(150));
        assert_eq!(rtt.0.variation_ns_x4, 160_000_000);
        assert_eq!(rtt.timeout(), Duration::from_ms(210));
        rtt.1.quirks.counts_ticks = false;
        assert!(rtt.timeout() > Duration::from_ms(210));
    }

    #[test]
    fn after_the_fourth_back_off_in_a_row_the_next_measurement_counts_as_the_first() {
        // If 100 ms is forgotten, 500 ms counts as the first measurement (RFC 6298, 2.2).
        // Otherwise, 500 ms moves the estimate (2.3).
        let (first, moved) = (Duration::from_ms(500), Duration::from_ms(150));
        for (forgets_rtt, times, expected) in [(true, 4, first), (true, 3, moved), (false, 4, moved)] {
            let mut rtt = estimator(0, 0);
            rtt.1.quirks.forgets_rtt = forgets_rtt;
            rtt.measured(Duration::from_ms(100));
            rtt.backed_off(times);
            assert_eq!(
                rtt.timeout(),
                Duration::from_ms(300 << times),
                "the timeout does not change meanwhile"
            );
            rtt.measured(Duration::from_ms(500));
            assert_eq!(rtt.0.smoothed(), Some(expected), "{forgets_rtt}, {times} times");
            rtt.measured(Duration::from_ms(500));
            assert!(rtt.0.smoothed() >= Some(expected), "and the one after that is one of many");
        }
    }

    #[test]
    fn only_consecutive_back_offs_reset_the_estimate() {
        let mut rtt = estimator(0, 0);
        rtt.measured(Duration::from_ms(100));
        rtt.backed_off(3);
        rtt.0.progressed();
        rtt.backed_off(3);
        rtt.measured(Duration::from_ms(500));
        assert_eq!(rtt.0.smoothed(), Some(Duration::from_ms(150)));
    }
}
