//! The window of Reno and NewReno.
//!
//! # What it does
//! Grows the window by one segment per acknowledgement in slow start and by one segment per window
//! in congestion avoidance. A loss halves the window, and a timeout resets it to one segment.
//!
//! # State and cost
//! Two numbers and two flags; a few instructions per acknowledgement.
//!
//! # Source
//! RFC 5681, sections 3.1 and 3.2, in segments as in ns-2: the window is a real number and the
//! sending limit is its floor.
//!
//! # Where we differ
//! Growth counts acknowledgements, which RFC 5681, section 3.1, allows. With
//! [`Config::counts_segments`](crate::Config::counts_segments), it counts acknowledged segments
//! (RFC 3465, without its limit L, as in Linux).

use super::control::{About, Acked, Congested, Control, Start};
use super::growth::{LOWEST_THRESHOLD, slow_start};
use fairwire_parameters::parameters;

/// Reno's description in lists and documentation.
pub const ABOUT: About = About::new(
    "Reno and NewReno: a segment more per round trip, half as many after a loss",
    "RFC 5681, RFC 6582",
);

/// Reno has no parameters.
#[parameters(gated, name = "reno")]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RenoSpec {}

/// The congestion window and the slow-start threshold, in segments.
#[derive(Debug)]
pub struct Reno {
    window: f64,
    threshold: f64,
    halves_to_whole: bool,
    counts_segments: bool,
}

impl Reno {
    /// The window at the start of a flow, in slow start.
    pub fn new(start: &Start) -> Self {
        Reno {
            window: f64::from(start.initial_window),
            threshold: f64::INFINITY,
            halves_to_whole: start.halves_to_whole || start.whole_segments,
            counts_segments: start.counts_segments,
        }
    }

    /// Grows the window, up to `most`, for an acknowledgement of `segments` segments. Invoke this
    /// only if the window limited the sender.
    #[inline]
    pub fn grow(&mut self, segments: u64, most: f64) {
        if self.counts_segments {
            return self.grow_by(segments, most);
        }
        self.window += if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
        self.window = self.window.min(most);
    }

    #[inline(never)] // separate from the many flows that count acknowledgements
    fn grow_by(&mut self, segments: u64, most: f64) {
        let segments = u32::try_from(segments).unwrap_or(u32::MAX);
        let (window, rest) = slow_start(self.window, self.threshold, segments);
        self.window = (window + rest / window).min(most);
    }
}

impl Control for Reno {
    #[inline]
    fn window(&self) -> f64 {
        self.window
    }

    #[inline]
    fn threshold(&self) -> f64 {
        self.threshold
    }

    #[inline]
    fn acked(&mut self, acked: &Acked) {
        if acked.is_window_used {
            self.grow(acked.growth.into(), acked.max_window);
        }
    }

    /// Rounds the threshold down, as in ns-2. Rounds the window down only with `halves_to_whole`.
    fn lost(&mut self, congested: &Congested) {
        let half = congested.in_use / 2.0;
        self.threshold = half.floor().max(LOWEST_THRESHOLD);
        self.window = if self.halves_to_whole { half.floor() } else { half }.max(1.0);
    }

    fn timed_out(&mut self, congested: &Congested) {
        self.threshold = (congested.in_use / 2.0).floor().max(LOWEST_THRESHOLD);
        self.window = 1.0;
    }

    fn deflated(&mut self, by: f64) {
        self.window = (self.window - by).max(1.0);
    }

    fn undone(&mut self, window: f64, threshold: f64) {
        (self.window, self.threshold) = (self.window.max(window), self.threshold.max(threshold));
    }

    fn restarted(&mut self, window: f64) {
        self.window = self.window.min(window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{congested, one_acked};

    #[test]
    fn slow_start_doubles_per_round_trip_and_avoidance_adds_one() {
        let mut reno = Reno::new(&Start::of(2));
        for _ in 0..2 {
            reno.acked(&one_acked());
        }
        assert_eq!(reno.window(), 4.0);
        reno.lost(&congested(20.0));
        assert_eq!((reno.window(), reno.threshold()), (10.0, 10.0));
        for _ in 0..10 {
            reno.acked(&one_acked());
        }
        assert!((10.9..11.0).contains(&reno.window())); // 1/w shrinks as w grows within the round
    }

    #[test]
    fn counting_segments_grows_the_window_by_all_acknowledged_segments() {
        let two = Acked { newly: 2, growth: 2, ..one_acked() };
        let (mut by_acks, mut by_segments) =
            (Reno::new(&Start::of(10)), Reno::new(&Start { counts_segments: true, ..Start::of(10) }));
        for reno in [&mut by_acks, &mut by_segments] {
            reno.acked(&two);
        }
        assert_eq!((by_acks.window(), by_segments.window()), (11.0, 12.0));
        for reno in [&mut by_acks, &mut by_segments] {
            reno.lost(&congested(20.0));
            reno.acked(&two);
        }
        assert_eq!((by_acks.window(), by_segments.window()), (10.1, 10.2));
    }

    #[test]
    fn only_the_threshold_is_rounded() {
        let mut reno = Reno::new(&Start::of(2));
        reno.lost(&congested(13.0));
        assert_eq!((reno.window(), reno.threshold()), (6.5, 6.0));
        let mut reno = Reno::new(&Start { halves_to_whole: true, ..Start::of(2) });
        reno.lost(&congested(13.0));
        assert_eq!((reno.window(), reno.threshold()), (6.0, 6.0));
    }

    #[test]
    fn a_timeout_restarts_from_one_and_the_threshold_never_falls_below_two() {
        let mut reno = Reno::new(&Start::of(2));
        reno.timed_out(&congested(3.0));
        assert_eq!((reno.window(), reno.threshold()), (1.0, 2.0));
    }

    #[test]
    fn an_unused_window_does_not_grow_and_idling_only_shrinks_it() {
        let mut reno = Reno::new(&Start::of(4));
        reno.acked(&Acked { is_window_used: false, ..one_acked() });
        assert_eq!(reno.window(), 4.0);
        reno.restarted(10.0);
        assert_eq!(reno.window(), 4.0);
        reno.restarted(2.0);
        assert_eq!(reno.window(), 2.0);
    }
}
