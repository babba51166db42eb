//! Round trips as a controller measures them: their durations, and their ends.

use fairwire_core::Duration;

/// The smoothed round-trip time of RFC 6298, section 2, in seconds; zero before the first
/// measurement.
#[derive(Debug, Default)]
pub(super) struct SmoothedRtt {
    secs: f64,
}

impl SmoothedRtt {
    pub(super) fn take(&mut self, rtt: Option<Duration>) {
        let Some(rtt) = rtt else { return };
        // RFC 6298, equations (2.2) and (2.3).
        self.secs = if self.secs > 0.0 { self.secs + (rtt.secs() - self.secs) / 8.0 } else { rtt.secs() };
    }

    pub(super) fn secs(&self) -> f64 {
        self.secs
    }
}

/// The segments in flight at some time. When they are acknowledged, a round trip has passed,
/// regardless of the clock.
#[derive(Debug, Default)]
pub(super) struct Flight {
    left: u32,
}

impl Flight {
    pub(super) fn of(left: u32) -> Self {
        Flight { left }
    }

    pub(super) fn is_over_before(&mut self, newly: u32) -> bool {
        let is_over = self.left == 0;
        self.left = self.left.saturating_sub(newly);
        is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smoothed_time_begins_with_the_first_measurement_and_moves_an_eighth() {
        let mut rtt = SmoothedRtt::default();
        rtt.take(None);
        assert_eq!(rtt.secs(), 0.0);
        rtt.take(Some(Duration::from_ms(100)));
        rtt.take(Some(Duration::from_ms(180)));
        assert!((rtt.secs() - 0.110).abs() < 1e-12);
    }

    #[test]
    fn a_flight_ends_with_the_first_acknowledgement_of_later_data() {
        let mut flight = Flight::of(3);
        assert!(!flight.is_over_before(2));
        assert!(!flight.is_over_before(1)); // the last of the three
        assert!(flight.is_over_before(1));
    }
}
