//! Prague: DCTCP's response, paced, and without an advantage for short round-trip times.
//!
//! # What it does
//! Reduces the window by alpha / 2 on marks, as [`Dctcp`](super::Dctcp) does. It paces, and grows
//! only for unmarked segments. A long flow grows as if its round-trip time were at least 25 ms.
//!
//! # Why
//! L4S gives such flows a separate queue with a delay of about a millisecond. In return, it
//! requires a scalable response and pacing. Short round trips must not crowd out long ones (RFC
//! 9331, section 4.3).
//!
//! # State and cost
//! 88 bytes; O(1) per acknowledgement.
//!
//! # Source (section, equation)
//! draft-briscoe-iccrg-prague-congestion-control-04, section 2.4; RFC 8257, section 3.3; RFC 9331,
//! section 4.3. A flow with the virtual round-trip time V must grow like a flow with the actual
//! round-trip time V. With a window W and a round-trip time R, the rate W / R then grows by 1 / V
//! per V seconds. So W grows by (R / V)^2 per R seconds.
//!
//! # Where we differ
//! - After its initial rounds, a flow uses the virtual round-trip time for growth, for averaging
//!   alpha, and for reductions by marks. A given marking probability then gives the rate of a flow
//!   with that round-trip time.
//! - A loss halves the window in use, even after a reduction by marks in the same round trip. The
//!   draft then reduces the window less.
//! - There is no fall-back to a classic response for classic queues. In the L4S team's kernels it
//!   is off by default (`prague_ecn_fallback`).
//! - Pacing is at twice window / RTT in slow start and at window / RTT after it.
//! - Losses, and marks during a repair, are treated as in [`Dctcp`](super::Dctcp).

use super::control::{About, Acked, Congested, Control, Feedback, Start};
use super::growth::{half, kept, slow_start};
use super::marks::MarkedFraction;
use super::round_trip::{Flight, SmoothedRtt};
use fairwire_core::{Duration, Ecn, Time};
use fairwire_parameters::{Quantity, parameters};

/// Prague's description in lists and documentation.
pub const ABOUT: About = About {
    ecn: Ecn::Ect1, // RFC 9331, section 4.1
    ..About::new(
        "DCTCP's response, paced, and without the advantage of short round-trip times",
        "draft-briscoe-iccrg-prague-congestion-control-04",
    )
};

/// Parameters of Prague.
#[parameters(gated, name = "prague", checked = PragueParameters, public)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PragueSpec {
    /// The weight of a round trip in alpha, the smoothed fraction of marked segments.
    #[parameter(default = 1.0 / 16.0, above = 0.0, max = 1.0, unit = "1", source = "Draft, section 2.4.")]
    pub gain: Option<f64>,
    /// The virtual round-trip time. It replaces a shorter actual round-trip time. "0 s" disables
    /// it.
    #[parameter(default = "25 ms", source = "Draft, section 2.4.4.")]
    pub virtual_rtt: Option<Quantity<Duration>>,
    /// The number of initial rounds in which a flow uses its actual round-trip time, so that short
    /// flows stay fast.
    #[parameter(default = 500, unit = "rounds", source = "Draft, section 2.4.4.")]
    pub independent_after: Option<u32>,
    /// The minimum window after marks.
    #[parameter(default = 2, min = 1, max = 1_000_000, unit = "segments")]
    pub lowest_window: Option<u32>,
}

/// The window and the pace of Prague.
#[derive(Debug)]
pub struct Prague {
    window: f64,
    threshold: f64,
    rtt: SmoothedRtt,
    marks: MarkedFraction,
    has_met_marks: bool,
    virtual_rtt: Duration,
    rounds_to_go: u32,
    lowest: u32,
    reduced: Flight,
    next_reduction: Time,
    averaged: Time,
}

impl Prague {
    /// The window at the start of a flow, in slow start.
    pub fn new(parameters: PragueParameters, start: &Start) -> Self {
        Prague {
            window: f64::from(start.initial_window),
            threshold: f64::INFINITY,
            rtt: SmoothedRtt::default(),
            marks: MarkedFraction::new(1.0, parameters.gain),
            has_met_marks: false,
            virtual_rtt: parameters.virtual_rtt,
            rounds_to_go: parameters.independent_after,
            lowest: parameters.lowest_window,
            reduced: Flight::default(),
            next_reduction: Time::ZERO,
            averaged: Time::ZERO,
        }
    }

    /// The smoothed fraction of marked segments, from 0 to 1; 1 until the first mark.
    pub fn alpha(&self) -> f64 {
        self.marks.alpha()
    }

    /// The lower bound on the round-trip time for growth, alpha and reductions.
    fn period(&self) -> Duration {
        if self.rounds_to_go == 0 { self.virtual_rtt } else { Duration::ZERO }
    }

    fn average_marks(&mut self, acked: &Acked) {
        if !self.has_met_marks && acked.marked == 0 {
            return;
        }
        self.marks.count(acked);
        if !self.has_met_marks {
            (self.has_met_marks, self.averaged) = (true, acked.now);
        } else if acked.ends_round && acked.now.since(self.averaged) >= self.period() {
            self.marks.end_round();
            self.averaged = acked.now;
        }
    }

    fn reduce(&mut self, acked: &Acked) {
        self.window = (self.window * (1.0 - self.alpha() / 2.0)).max(f64::from(self.lowest));
        self.threshold = self.window;
        self.reduced = Flight::of(acked.in_flight.saturating_sub(acked.newly));
        self.next_reduction = acked.now + self.period();
    }

    fn grow(&mut self, acked: &Acked) {
        let unmarked = acked.growth.saturating_sub(acked.marked);
        let (window, rest) = slow_start(self.window, self.threshold, unmarked);
        self.window = kept(window + rest * self.segments_per_round() / window, acked.max_window);
    }

    fn segments_per_round(&self) -> f64 {
        let period = self.period().secs();
        if period > self.rtt.secs() { (self.rtt.secs() / period) * (self.rtt.secs() / period) } else { 1.0 }
    }
}

impl Control for Prague {
    fn window(&self) -> f64 {
        self.window
    }

    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn acked(&mut self, acked: &Acked) {
        self.rtt.take(acked.rtt);
        self.rounds_to_go = self.rounds_to_go.saturating_sub(u32::from(acked.ends_round));
        self.average_marks(acked);
        let is_over = self.reduced.is_over_before(acked.newly);
        if acked.marked > 0 && is_over && acked.now >= self.next_reduction {
            self.reduce(acked);
        } else if acked.is_window_used {
            self.grow(acked);
        }
    }

    fn lost(&mut self, congested: &Congested) {
        self.threshold = half(congested);
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

    fn pace(&self) -> Option<f64> {
        let gain = if self.window < self.threshold { 2.0 } else { 1.0 };
        (self.rtt.secs() > 0.0).then(|| gain * self.window / self.rtt.secs())
    }

    fn feedback(&self) -> Feedback {
        Feedback { exact_rtt: true, counted_marks: true, ..Feedback::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(now_ms: u64, newly: u32, marked: u32, rtt_ms: u64) -> Acked {
        let (now, rtt) = (Time::from_ns(now_ms * 1_000_000), Some(Duration::from_ms(rtt_ms)));
        let (in_flight, ends_round) = (newly, true);
        let (growth, lost, rate, is_window_used, max_window) = (newly, 0, None, true, 1e9);
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

    fn in_avoidance(parameters: PragueParameters, window: f64) -> Prague {
        Prague { window, threshold: window, ..Prague::new(parameters, &Start::of(10)) }
    }

    #[test]
    fn its_state_is_as_small_as_documented() {
        assert_eq!(size_of::<Prague>(), 88);
    }

    #[test]
    fn the_first_mark_halves_at_any_time() {
        let mut prague = Prague::new(PragueParameters::default(), &Start::of(10));
        for round in 0..3 {
            prague.acked(&ack(10 * round, prague.window() as u32, 0, 10));
        }
        assert_eq!((prague.window(), prague.alpha()), (80.0, 1.0));
        prague.acked(&ack(40, 80, 1, 10));
        assert_eq!((prague.window(), prague.threshold()), (40.0, 40.0));
    }

    #[test]
    fn only_unmarked_segments_grow_the_window() {
        let mut prague = in_avoidance(PragueParameters::default(), 20.0);
        prague.reduced = Flight::of(100); // within the window of a reduction
        prague.acked(&ack(10, 20, 5, 10));
        assert_eq!(prague.window(), 20.0 + 15.0 / 20.0);
    }

    #[test]
    fn a_lasting_flow_of_5_ms_grows_its_rate_as_one_of_25_ms() {
        let lasting = PragueParameters { independent_after: 0, ..Default::default() };
        let mut near = in_avoidance(lasting, 100.0);
        for round in 0..5 {
            near.acked(&ack(5 * round, 100, 0, 5));
        }
        // The rate rises by one segment per 25 ms every 25 ms. At a round trip of 5 ms, the window
        // grows by 5 / 25 = 0.2 segments in that time. The tolerance is 1 %, since the window
        // slightly exceeds the 100 acknowledged segments.
        let grown = near.window() - 100.0;
        assert!((grown / 0.2 - 1.0).abs() < 0.01, "{grown}");
        let mut far = in_avoidance(lasting, 100.0);
        far.acked(&ack(0, 100, 0, 40));
        assert_eq!(far.window(), 101.0);
    }

    #[test]
    fn a_young_flow_keeps_its_own_round_trip() {
        let mut prague = in_avoidance(PragueParameters::default(), 100.0);
        prague.acked(&ack(0, 100, 0, 5));
        assert_eq!(prague.window(), 101.0);
    }

    #[test]
    fn marks_reduce_a_lasting_flow_once_per_virtual_round_trip() {
        let mut prague = in_avoidance(PragueParameters { independent_after: 0, ..Default::default() }, 100.0);
        prague.has_met_marks = true;
        let mut reductions = 0;
        for round in 0..50 {
            let before = prague.window();
            prague.acked(&ack(5 * round, 90, 1, 5));
            reductions += u32::from(prague.window() < before);
        }
        assert_eq!(reductions, 10); // 250 ms
    }

    #[test]
    fn alpha_of_a_lasting_flow_moves_once_per_virtual_round_trip() {
        for (independent_after, expected) in [(0, 10), (1000, 50)] {
            let parameters = PragueParameters { independent_after, ..Default::default() };
            let mut prague = in_avoidance(parameters, 100.0);
            prague.has_met_marks = true; // at the start of time
            for round in 1..=50 {
                prague.acked(&ack(5 * round, 100, 0, 5));
            }
            assert!((prague.alpha() - (15.0_f64 / 16.0).powi(expected)).abs() < 1e-12, "{}", prague.alpha());
        }
    }

    #[test]
    fn it_paces_a_window_per_round_trip_and_twice_that_in_slow_start() {
        let mut prague = Prague::new(PragueParameters::default(), &Start::of(10));
        assert_eq!(prague.pace(), None);
        prague.acked(&ack(0, 10, 0, 10));
        assert_eq!(prague.pace(), Some(2.0 * 20.0 / 0.010));
        prague.lost(&Congested { now: Time::ZERO, in_use: 20.0, in_flight: 20 });
        assert_eq!(prague.pace(), Some(10.0 / 0.010));
    }
}
