//! DCTCP: a window that shrinks in proportion to the marked fraction.
//!
//! # What it does
//! Keeps a smoothed fraction of marked segments, alpha. A mark reduces the window by alpha / 2,
//! once per window; otherwise the window grows as Reno's does. A loss halves the window.
//!
//! # Why
//! Reno halves its window for one mark as for a hundred, so a queue must hold half a window or the
//! link idles. If each mark counts a little, the queue can be short.
//!
//! # State and cost
//! 56 bytes; O(1) per acknowledgement.
//!
//! # Source (section, equation)
//! RFC 8257, section 3.3 (alpha and the response to marks) and section 3.5 (losses). RFC 5681 for
//! growth.
//!
//! # Where we differ
//! - RFC 8257 specifies no minimum window for marks; see `lowest_window`.
//! - After a reduction, the next waits until the data then in flight is acknowledged.
//! - An acknowledgement that reports a mark does not grow the window (RFC 3168, section 6.1.2).
//! - With [`Config::whole_segments`](crate::Config::whole_segments), a mark removes full segments
//!   from an integer window, as in Linux.
//! - Marks reported during the repair of a loss take effect after it:
//!   [`Control::acked`] is not called during the repair.

use super::control::{About, Acked, Congested, Control, Feedback, Start};
use super::growth::{Arithmetic, half, kept, slow_start};
use super::marks::MarkedFraction;
use super::round_trip::Flight;
use fairwire_core::{Ecn, Time};
use fairwire_parameters::parameters;

/// DCTCP's description in lists and documentation.
pub const ABOUT: About = About {
    ecn: Ecn::Ect0, // it learns nothing without marks (RFC 8257, section 3)
    ..About::new("a window that shrinks by as much as the queue is marked", "RFC 8257")
};

/// Parameters of DCTCP.
#[parameters(gated, name = "dctcp", checked = DctcpParameters, public)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DctcpSpec {
    /// The weight of a round trip in alpha, the smoothed fraction of marked segments.
    #[parameter(
        default = 1.0 / 16.0,
        above = 0.0,
        max = 1.0,
        unit = "1",
        source = "g of RFC 8257, section 3.3, and the value of its authors (SIGCOMM 2010)."
    )]
    pub gain: Option<f64>,
    /// Alpha before the first round.
    #[parameter(default = 1.0, min = 0.0, max = 1.0, unit = "1", source = "RFC 8257, section 3.3.")]
    pub initial_alpha: Option<f64>,
    /// The minimum window after marks.
    #[parameter(default = 2, min = 1, max = 1_000_000, unit = "segments")]
    pub lowest_window: Option<u32>,
    /// Whether the window stays constant after a reduction, until all segments then in flight are
    /// acknowledged.
    #[parameter(
        default = true,
        source = "Linux; RFC 8257 keeps it from growing on acknowledgements that report a mark only."
    )]
    pub pauses_after_mark: Option<bool>,
}

/// The window of DCTCP.
#[derive(Debug)]
pub struct Dctcp {
    window: f64,
    threshold: f64,
    marks: MarkedFraction,
    lowest: f64,
    reduced: Flight,
    pauses_after_mark: bool,
    arithmetic: Arithmetic,
}

impl Dctcp {
    /// The window at the start of a flow, in slow start.
    pub fn new(parameters: DctcpParameters, start: &Start) -> Self {
        Dctcp {
            window: f64::from(start.initial_window),
            threshold: f64::INFINITY,
            marks: MarkedFraction::new(parameters.initial_alpha, parameters.gain),
            lowest: f64::from(parameters.lowest_window),
            reduced: Flight::default(),
            pauses_after_mark: parameters.pauses_after_mark,
            arithmetic: Arithmetic::of(start),
        }
    }

    /// The smoothed fraction of marked segments, from 0 to 1.
    pub fn alpha(&self) -> f64 {
        self.marks.alpha()
    }

    fn reduce(&mut self, acked: &Acked) {
        let window = self.arithmetic.counted(self.window);
        let taken = self.arithmetic.counted(window * self.alpha() / 2.0);
        self.window = (window - taken).max(self.lowest);
        self.threshold = self.window;
        self.reduced = Flight::of(acked.in_flight.saturating_sub(acked.newly));
    }

    fn grow(&mut self, acked: &Acked) {
        let (window, rest) = slow_start(self.window, self.threshold, acked.growth);
        self.window = kept(window + rest / window, acked.max_window);
    }
}

impl Control for Dctcp {
    fn window(&self) -> f64 {
        self.window
    }

    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn acked(&mut self, acked: &Acked) {
        self.marks.count(acked);
        if acked.ends_round {
            self.marks.end_round();
        }
        let may_reduce = self.reduced.is_over_before(acked.newly);
        let may_grow = may_reduce || !self.pauses_after_mark;
        if acked.marked == 0 && acked.is_window_used && may_grow {
            self.grow(acked);
        } else if acked.marked > 0 && may_reduce {
            self.reduce(acked);
        }
    }

    fn lost(&mut self, congested: &Congested) {
        self.threshold = self.arithmetic.counted(half(congested));
        self.window = self.threshold;
    }

    fn timed_out(&mut self, congested: &Congested) {
        self.threshold = half(congested);
        self.window = 1.0;
        self.reduced = Flight::default();
    }

    fn undone(&mut self, window: f64, threshold: f64) {
        (self.window, self.threshold) = (self.window.max(window), self.threshold.max(threshold));
    }

    fn restarted(&mut self, window: f64) {
        self.window = self.window.min(window);
    }

    fn recovered(&mut self, _now: Time) {
        self.reduced = Flight::default();
    }

    fn feedback(&self) -> Feedback {
        Feedback { counted_marks: true, ..Feedback::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(newly: u32, marked: u32, in_flight: u32, ends_round: bool) -> Acked {
        let (now, rtt, rate) = (Time::ZERO, None, None);
        let (growth, lost, is_window_used, max_window) = (newly, 0, true, 1e9);
        Acked {
            now,
            newly,
            growth,
            marked,
            lost,
            in_flight,
            rtt,
            ends_round,
            rate,
            is_window_used,
            max_window,
        }
    }

    #[test]
    fn its_state_is_as_small_as_documented() {
        assert_eq!(size_of::<Dctcp>(), 56);
    }

    #[test]
    fn alpha_follows_the_marked_fraction_by_the_closed_form() {
        for (marked, of) in [(0, 10), (1, 10), (3, 10), (10, 10)] {
            let mut dctcp = Dctcp::new(DctcpParameters::default(), &Start::of(10));
            let fraction = f64::from(marked) / f64::from(of);
            for n in 1..=200 {
                for i in 0..of {
                    dctcp.acked(&ack(1, u32::from(i < marked), 10, i == of - 1));
                }
                let expected = fraction + (1.0 - fraction) * (15.0_f64 / 16.0).powi(n);
                assert!((dctcp.alpha() - expected).abs() < 1e-12, "round {n}: {} {expected}", dctcp.alpha());
            }
        }
    }

    #[test]
    fn a_window_of_marks_reduces_once_by_half_of_alpha() {
        let mut dctcp =
            Dctcp::new(DctcpParameters { initial_alpha: 0.5, ..Default::default() }, &Start::of(40));
        for _ in 0..40 {
            dctcp.acked(&ack(1, 1, 40, false)); // these 40 were in flight at the first of them
        }
        assert_eq!((dctcp.window(), dctcp.threshold()), (30.0, 30.0));
        dctcp.acked(&ack(1, 1, 30, false)); // the first segments sent after the reduction
        assert_eq!(dctcp.window(), 22.5);
    }

    #[test]
    fn a_window_in_segments_is_reduced_to_an_integer() {
        let parameters = DctcpParameters { initial_alpha: 0.3, ..Default::default() };
        let mut dctcp = Dctcp::new(parameters, &Start { whole_segments: true, ..Start::of(10) });
        dctcp.acked(&ack(1, 1, 10, false));
        assert_eq!((dctcp.window(), dctcp.threshold()), (9.0, 9.0)); // 1.5 becomes 1
    }

    #[test]
    fn after_a_reduction_the_window_waits_until_the_flight_is_acknowledged() {
        for (pauses_after_mark, waits) in [(true, true), (false, false)] {
            let parameters = DctcpParameters { initial_alpha: 0.5, pauses_after_mark, ..Default::default() };
            let mut dctcp = Dctcp::new(parameters, &Start::of(40));
            dctcp.acked(&ack(1, 1, 40, false));
            dctcp.acked(&ack(39, 0, 39, false)); // the rest of the flight
            assert_eq!(dctcp.window() == 30.0, waits, "{}", dctcp.window());
            dctcp.acked(&ack(1, 0, 30, false));
            assert!(dctcp.window() > 30.0);
        }
    }

    #[test]
    fn without_marks_it_grows_like_reno() {
        let mut dctcp = Dctcp::new(DctcpParameters::default(), &Start::of(10));
        dctcp.acked(&ack(10, 0, 10, true));
        assert_eq!(dctcp.window(), 20.0);
        dctcp.lost(&Congested { now: Time::ZERO, in_use: 20.0, in_flight: 20 });
        assert_eq!((dctcp.window(), dctcp.threshold()), (10.0, 10.0));
        dctcp.acked(&ack(1, 0, 10, false));
        assert_eq!(dctcp.window(), 10.1);
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut dctcp = Dctcp::new(DctcpParameters::default(), &Start::of(10));
        dctcp.acked(&Acked { is_window_used: false, ..ack(5, 0, 5, false) });
        assert_eq!(dctcp.window(), 10.0);
    }

    #[test]
    fn marks_reduce_the_window_to_at_least_two_and_a_timeout_to_one() {
        let mut dctcp = Dctcp::new(DctcpParameters::default(), &Start::of(3));
        for _ in 0..20 {
            dctcp.acked(&ack(1, 1, 1, true));
        }
        assert_eq!(dctcp.window(), 2.0);
        dctcp.timed_out(&Congested { now: Time::ZERO, in_use: 2.0, in_flight: 2 });
        assert_eq!((dctcp.window(), dctcp.threshold()), (1.0, 2.0));
    }
}
