//! The round-trip estimator and the retransmission timeout (RFC 6298, section 2), with the coarse clock of older TCPs.

use crate::config::Config;
use fairwire_core::Duration;

/// Smoothed round-trip time, its variation, and the timeout that follows from them.
#[derive(Debug)]
pub struct RttEstimator {
    tick_ns: u64,
    min_ns: u64,
    max_ns: u64,
    initial_ns: u64,
    smoothed: Option<Smoothed>,
    backoff: u32,
}

/// Scaled as in RFC 6298's reference arithmetic: the smoothed time by 8, the variation by 4, so that the gains are shifts.
#[derive(Debug)]
struct Smoothed {
    rtt_x8: u64,
    variation_x4: u64,
}

/// The timeout is never more than this times its unbacked-off value, as in ns-2.
const MOST_BACKOFF: u32 = 64;

impl RttEstimator {
    /// An estimator that has seen nothing.
    pub fn new(config: &Config) -> Self {
        RttEstimator {
            tick_ns: config.tick.ns(),
            min_ns: config.min_rto.ns(),
            max_ns: config.max_rto.ns(),
            initial_ns: config.initial_rto.ns(),
            smoothed: None,
            backoff: 1,
        }
    }

    /// Takes in one measured round trip of a segment that was sent once (Karn's rule is the caller's), and ends any back-off.
    pub fn measured(&mut self, rtt: Duration) {
        self.backoff = 1;
        let rtt = self.in_ticks(rtt.ns());
        let Some(s) = &mut self.smoothed else {
            self.smoothed = Some(Smoothed { rtt_x8: rtt * 8, variation_x4: rtt * 2 });
            return;
        };
        let error = rtt.abs_diff(s.rtt_x8 / 8);
        s.variation_x4 = s.variation_x4 - s.variation_x4 / 4 + error;
        s.rtt_x8 = s.rtt_x8 - s.rtt_x8 / 8 + rtt;
    }

    /// Rounds to the nearest tick, at least one; exact without a tick.
    fn in_ticks(&self, ns: u64) -> u64 {
        match self.tick_ns {
            0 => ns,
            tick => ((ns + tick / 2) / tick).max(1) * tick,
        }
    }

    /// Doubles the timeout (RFC 6298, 5.5), up to 64 times its value.
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff * 2).min(MOST_BACKOFF);
    }

    /// The timeout: smoothed time and four variations, not below the floor, times the back-off, not above the ceiling.
    pub fn timeout(&self) -> Duration {
        let base = match &self.smoothed {
            None => self.initial_ns,
            Some(s) => s.rtt_x8 / 8 + s.variation_x4.max(self.tick_ns),
        };
        Duration::from_ns((base.max(self.min_ns) * u64::from(self.backoff)).min(self.max_ns))
    }

    /// The smoothed round-trip time, once there is one.
    pub fn smoothed(&self) -> Option<Duration> {
        self.smoothed.as_ref().map(|s| Duration::from_ns(s.rtt_x8 / 8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Profile;

    fn estimator(tick_ms: u64, min_ms: u64) -> RttEstimator {
        let mut config = Config::new(Profile::Ns2In2002, 512);
        config.tick = Duration::from_ms(tick_ms);
        config.min_rto = Duration::from_ms(min_ms);
        RttEstimator::new(&config)
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
        // RFC 6298, 2.3: R' = 140: RTTVAR = 3/4 50 + 1/4 40 = 47.5, SRTT = 7/8 100 + 1/8 140 = 105.
        let mut rtt = estimator(0, 0);
        rtt.measured(Duration::from_ms(100));
        rtt.measured(Duration::from_ms(140));
        assert_eq!(rtt.smoothed(), Some(Duration::from_ms(105)));
        assert_eq!(rtt.timeout(), Duration::from_ms(105 + 190));
    }

    #[test]
    fn a_coarse_clock_rounds_to_its_tick_and_never_to_nothing() {
        let mut rtt = estimator(10, 0);
        rtt.measured(Duration::from_us(100));
        assert_eq!(rtt.smoothed(), Some(Duration::from_ms(10)));
        let mut rtt = estimator(10, 0);
        rtt.measured(Duration::from_ms(32));
        assert_eq!(rtt.smoothed(), Some(Duration::from_ms(30)));
    }

    #[test]
    fn back_off_doubles_above_the_floor_until_the_ceiling_and_ends_with_a_measurement() {
        let mut rtt = estimator(10, 1000);
        rtt.measured(Duration::from_ms(30));
        assert_eq!(rtt.timeout(), Duration::from_secs(1));
        rtt.back_off();
        assert_eq!(rtt.timeout(), Duration::from_secs(2));
        for _ in 0..10 {
            rtt.back_off();
        }
        assert_eq!(rtt.timeout(), Duration::from_secs(60));
        rtt.measured(Duration::from_ms(30));
        assert_eq!(rtt.timeout(), Duration::from_secs(1));
    }
}
