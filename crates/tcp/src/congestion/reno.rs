//! The window of Reno and NewReno.
//!
//! # What it does
//! Grows the congestion window by one segment per acknowledgement in slow start and by one segment per window in congestion
//! avoidance; halves it on loss and restarts at one after a timeout.
//!
//! # Parameters
//! Initial window (segments, [`Config::initial_window`](crate::Config::initial_window)).
//!
//! # State and cost
//! Two numbers; a few instructions per acknowledgement.
//!
//! # Source
//! RFC 5681, sections 3.1 and 3.2, at segment granularity as ns-2 has it: the window is a real number and the sending
//! limit is its floor.
//!
//! # Where we differ
//! Growth counts acknowledgements, not bytes acknowledged (RFC 5681 allows both; every ACK here stands for one segment).

/// The congestion window and the slow-start threshold, in segments.
#[derive(Debug)]
pub struct Reno {
    window: f64,
    threshold: f64,
}

/// RFC 5681, equation (4): the threshold never falls below two segments.
const LOWEST_THRESHOLD: f64 = 2.0;

impl Reno {
    /// A window of `initial` segments, in slow start.
    pub fn new(initial: u32) -> Self {
        Reno { window: f64::from(initial), threshold: f64::INFINITY }
    }

    /// The congestion window, segments.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// The slow-start threshold, segments; infinite before the first loss.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// New data was acknowledged outside recovery. The window does not grow past `most` segments, which could not be used.
    #[inline]
    pub fn acked(&mut self, most: f64) {
        self.window += if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
        self.window = self.window.min(most);
    }

    /// A loss was seen by duplicate acknowledgements with `in_use` segments of window: halves both. Only the threshold is rounded
    /// to whole segments, as in ns-2.
    pub fn halve(&mut self, in_use: f64) {
        self.threshold = (in_use / 2.0).floor().max(LOWEST_THRESHOLD);
        self.window = (in_use / 2.0).max(1.0);
    }

    /// A timeout with `in_use` segments of window: starts over from one segment.
    pub fn restart(&mut self, in_use: f64) {
        self.threshold = (in_use / 2.0).floor().max(LOWEST_THRESHOLD);
        self.window = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_doubles_per_round_trip_and_avoidance_adds_one() {
        let mut reno = Reno::new(2);
        for _ in 0..2 {
            reno.acked(1e9);
        }
        assert_eq!(reno.window(), 4.0);
        reno.halve(20.0);
        assert_eq!((reno.window(), reno.threshold()), (10.0, 10.0));
        for _ in 0..10 {
            reno.acked(1e9);
        }
        assert!((10.9..11.0).contains(&reno.window())); // 1/w shrinks as w grows within the round
    }

    #[test]
    fn only_the_threshold_is_rounded() {
        let mut reno = Reno::new(2);
        reno.halve(13.0);
        assert_eq!((reno.window(), reno.threshold()), (6.5, 6.0));
    }

    #[test]
    fn a_timeout_restarts_from_one_and_the_threshold_never_falls_below_two() {
        let mut reno = Reno::new(2);
        reno.restart(3.0);
        assert_eq!((reno.window(), reno.threshold()), (1.0, 2.0));
    }
}
