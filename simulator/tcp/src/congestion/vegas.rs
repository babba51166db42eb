//! Vegas: a window that keeps a few of its segments in the queue, and adapts before a loss.
//!
//! # What it does
//! Compares the window's rate on an empty path with its actual rate. The difference, times the
//! minimum round-trip time, is the number of the flow's queued segments. Once per round trip the
//! window grows by a segment if fewer than `alpha` are queued. It shrinks by a segment if more than
//! `beta` are queued.
//!
//! # Why
//! Reno finds the size of a queue by overflowing it. Vegas observes the queue in the round-trip
//! times, and keeps it short. In competition with flows that fill queues, Vegas gets little.
//!
//! The minimum round-trip time may include a queue, built by flows that started together or
//! earlier. A window left too large by slow start shrinks by one segment per round trip, so even a
//! single flow may hold a long queue for minutes.
//!
//! # State and cost
//! 72 bytes; O(1) per acknowledgement.
//!
//! # Source (section, equation)
//! L. Brakmo and L. Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet",
//! IEEE JSAC 13(8), 1995, section III.B (avoidance) and section III.C (slow start).
//!
//! # Where we differ
//! - The actual rate uses the minimum round-trip time of a round, as in Linux, instead of a
//!   separately timed segment.
//! - A round with at most two measurements follows Reno, as in Linux: these measurements may be of
//!   delayed acknowledgements only.
//! - Losses halve the window, as for Reno. The finer timer of section III.A is omitted.
//! - `alpha` and `beta` count segments, and the window moves by integers. With
//!   [`Config::whole_segments`](crate::Config::whole_segments) the queued number is rounded down,
//!   as in Linux.

use super::control::{About, Acked, Congested, Control, Feedback, Start};
use super::growth::{Arithmetic, half, kept, slow_start};
use fairwire_core::Duration;
use fairwire_parameters::parameters;

/// Vegas's description in lists and documentation.
pub const ABOUT: About = About::new(
    "a window that keeps two to four segments of its own in the queue",
    "Brakmo and Peterson 1995",
);

/// Parameters of Vegas.
#[parameters(gated, name = "vegas", checked = VegasParameters, public)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VegasSpec {
    /// The window grows while fewer than this number of the flow's segments are queued.
    #[parameter(
        default = 2.0,
        min = 0.0,
        max = 1e6,
        unit = "segments",
        source = "Linux; Brakmo and Peterson 1995 have 1 or 2."
    )]
    pub alpha: Option<f64>,
    /// The window shrinks while more than this number of the flow's segments are queued. If `alpha`
    /// is larger, `alpha` applies instead.
    #[parameter(
        default = 4.0,
        min = 0.0,
        max = 1e6,
        unit = "segments",
        source = "Linux; Brakmo and Peterson 1995 have 3 or 4."
    )]
    pub beta: Option<f64>,
    /// Slow start ends when more than this number of the flow's segments are queued.
    #[parameter(
        default = 1.0,
        min = 0.0,
        max = 1e6,
        unit = "segments",
        source = "Brakmo and Peterson 1995, section III.C; Linux."
    )]
    pub gamma: Option<f64>,
    /// The number of round trips per doubling of the window in slow start.
    #[parameter(
        default = 1,
        min = 1,
        max = 100,
        unit = "round trips",
        source = "Linux; Brakmo and Peterson 1995, section III.C, have 2."
    )]
    pub doubles_every: Option<u32>,
    /// Whether the queueing delay is divided by the minimum round-trip time, as in Linux.
    /// Otherwise, the divisor is the current round-trip time, and fewer segments count as queued.
    #[parameter(default = false, source = "Linux; Brakmo and Peterson 1995, section III.B, have false.")]
    pub over_least: Option<bool>,
}

/// The window of Vegas.
#[derive(Debug)]
pub struct Vegas {
    window: f64,
    threshold: f64,
    alpha: f64,
    beta: f64,
    gamma: f64,
    /// BaseRTT, seconds; infinite before the first measurement.
    base_s: f64,
    /// The minimum round-trip time of the current round, seconds.
    least_s: f64,
    measured: u32,
    doubles_every: u32,
    rounds: u32,
    over_least: bool,
    arithmetic: Arithmetic,
}

/// The minimum window, as in Linux, except after a timeout.
const LOWEST_WINDOW: f64 = 2.0;
/// As in Linux, a round with at most this number of measurements does not use them.
const FEW: u32 = 2;

impl Vegas {
    /// The window at the start of a flow, in slow start.
    pub fn new(parameters: VegasParameters, start: &Start) -> Self {
        Vegas {
            window: f64::from(start.initial_window),
            threshold: f64::INFINITY,
            alpha: parameters.alpha,
            beta: parameters.beta.max(parameters.alpha),
            gamma: parameters.gamma,
            base_s: f64::INFINITY,
            least_s: f64::INFINITY,
            measured: 0,
            doubles_every: parameters.doubles_every,
            rounds: 0,
            over_least: parameters.over_least,
            arithmetic: Arithmetic::of(start),
        }
    }

    /// The number of the flow's queued segments at a round trip of `rtt_s` seconds: the paper's
    /// Diff times BaseRTT.
    fn waiting(&self, rtt_s: f64) -> f64 {
        let over_s = if self.over_least { self.base_s } else { rtt_s };
        self.arithmetic.counted(self.arithmetic.counted(self.window) * (rtt_s - self.base_s) / over_s)
    }

    /// Adapts the window: sections III.B and III.C.
    fn settle(&mut self, acked: &Acked) {
        let waiting = self.waiting(self.least_s);
        if self.window < self.threshold {
            if waiting > self.gamma {
                // The window falls to the path's capacity plus one segment, as in Linux.
                let held = self.window * self.base_s / self.least_s;
                self.window = self.window.min(self.arithmetic.counted(held) + 1.0);
                self.lower_threshold();
            } else {
                self.slow_start(acked);
            }
        } else if waiting > self.beta {
            self.window -= 1.0;
            self.lower_threshold();
        } else if waiting < self.alpha && acked.is_window_used {
            self.window += 1.0;
        }
        self.window = self.window.max(LOWEST_WINDOW);
    }

    fn lower_threshold(&mut self) {
        self.threshold = self.threshold.min((self.window - 1.0).max(LOWEST_WINDOW));
    }

    fn slow_start(&mut self, acked: &Acked) {
        if acked.is_window_used && self.rounds.is_multiple_of(self.doubles_every) {
            self.window = slow_start(self.window, self.threshold, acked.growth).0;
        }
    }

    fn grow_as_reno(&mut self, acked: &Acked) {
        let (window, rest) = slow_start(self.window, self.threshold, acked.growth);
        if acked.is_window_used {
            self.window = window + rest / window;
        }
    }

    fn begin_round(&mut self) {
        (self.least_s, self.measured) = (f64::INFINITY, 0);
        self.rounds = self.rounds.wrapping_add(1);
    }

    fn measure(&mut self, rtt: Duration) {
        // Avoids a division by zero.
        let rtt_s = rtt.secs().max(1e-9);
        self.base_s = self.base_s.min(rtt_s);
        self.least_s = self.least_s.min(rtt_s);
        self.measured = self.measured.saturating_add(1);
    }
}

impl Control for Vegas {
    fn window(&self) -> f64 {
        self.window
    }

    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn acked(&mut self, acked: &Acked) {
        if let Some(rtt) = acked.rtt {
            self.measure(rtt);
        }
        if acked.ends_round {
            if self.measured > FEW {
                self.settle(acked);
            } else {
                self.grow_as_reno(acked);
            }
            self.begin_round();
        } else if self.window < self.threshold {
            self.slow_start(acked);
        }
        self.window = kept(self.window, acked.max_window);
    }

    fn lost(&mut self, congested: &Congested) {
        self.threshold = self.arithmetic.counted(half(congested)).max(LOWEST_WINDOW);
        self.window = self.threshold;
        self.begin_round();
    }

    fn timed_out(&mut self, congested: &Congested) {
        self.threshold = self.arithmetic.counted(half(congested)).max(LOWEST_WINDOW);
        self.window = 1.0;
        self.begin_round();
    }

    fn undone(&mut self, window: f64, threshold: f64) {
        (self.window, self.threshold) = (self.window.max(window), self.threshold.max(threshold));
    }

    fn restarted(&mut self, window: f64) {
        self.window = self.window.min(window);
    }

    fn feedback(&self) -> Feedback {
        Feedback { exact_rtt: true, ..Feedback::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{congested, one_acked};

    fn round(vegas: &mut Vegas, rtt_ms: u64) {
        for i in 0..4 {
            vegas.acked(&Acked { rtt: Some(Duration::from_ms(rtt_ms)), ends_round: i == 3, ..one_acked() });
        }
    }

    fn avoiding(window: u32) -> Vegas {
        let vegas = Vegas::new(VegasParameters::default(), &Start::of(window));
        Vegas { threshold: 2.0, base_s: 0.1, ..vegas }
    }

    #[test]
    fn its_state_is_as_small_as_documented() {
        assert_eq!(size_of::<Vegas>(), 72);
    }

    #[test]
    fn the_window_moves_by_a_segment_if_fewer_than_two_or_more_than_four_wait() {
        // With a minimum round-trip time of 100 ms, 20 x (1 - 100 / `rtt_ms`) segments are queued:
        // 0.95, 3.3 and 5.07.
        for (rtt_ms, expected) in [(105, 21.0), (120, 20.0), (134, 19.0)] {
            let mut vegas = avoiding(20);
            round(&mut vegas, rtt_ms);
            assert_eq!(vegas.window(), expected, "{rtt_ms}");
        }
    }

    #[test]
    fn dividing_by_the_least_round_trip_time_shows_more_waiting_segments() {
        // The queueing delay is 22 ms. Division by 122 ms gives 20 x 22/122 = 3.6 queued segments.
        // Division by the minimum, 100 ms, gives 20 x 22/100 = 4.4.
        let mut vegas = avoiding(20);
        round(&mut vegas, 122);
        assert_eq!(vegas.window(), 20.0);
        let mut vegas = Vegas { over_least: true, ..avoiding(20) };
        round(&mut vegas, 122);
        assert_eq!(vegas.window(), 19.0);
    }

    #[test]
    fn in_whole_segments_four_and_a_half_are_not_more_than_four() {
        // With a minimum round-trip time of 100 ms, 20 x (1 - 100/130) = 4.6 segments are queued.
        for (arithmetic, expected) in [(Arithmetic::Real, 19.0), (Arithmetic::Whole, 20.0)] {
            let mut vegas = Vegas { arithmetic, ..avoiding(20) };
            round(&mut vegas, 130);
            assert_eq!(vegas.window(), expected);
        }
    }

    #[test]
    fn slow_start_ends_when_more_than_one_segment_waits() {
        let mut vegas = Vegas::new(VegasParameters::default(), &Start::of(16));
        round(&mut vegas, 100);
        assert_eq!(vegas.window(), 20.0);
        round(&mut vegas, 104); // 23 (1 - 100/104) = 0.9
        assert_eq!(vegas.window(), 24.0);
        round(&mut vegas, 110); // 27 (1 - 100/110) = 2.5; 27 x 100/110 + 1
        assert!((vegas.window() - 25.545).abs() < 1e-3, "{}", vegas.window());
        assert!(vegas.threshold() < vegas.window());
    }

    #[test]
    fn the_window_rests_between_doublings_in_every_other_round() {
        let parameters = VegasParameters { doubles_every: 2, ..VegasParameters::default() };
        let mut vegas = Vegas::new(parameters, &Start::of(16));
        let windows = [0; 4].map(|_| {
            round(&mut vegas, 100);
            vegas.window()
        });
        assert_eq!(windows, [20.0, 20.0, 24.0, 24.0]);
    }

    #[test]
    fn a_round_with_two_measurements_grows_as_reno_does() {
        let mut vegas = avoiding(20);
        vegas.acked(&Acked { rtt: Some(Duration::from_ms(150)), ..one_acked() });
        vegas.acked(&Acked { rtt: Some(Duration::from_ms(150)), ends_round: true, ..one_acked() });
        assert_eq!(vegas.window(), 20.05);
    }

    #[test]
    fn a_loss_halves_and_a_timeout_begins_with_one_segment() {
        let mut vegas = avoiding(20);
        vegas.lost(&congested(20.0));
        assert_eq!((vegas.window(), vegas.threshold()), (10.0, 10.0));
        vegas.timed_out(&congested(10.0));
        assert_eq!((vegas.window(), vegas.threshold()), (1.0, 5.0));
    }
}
