//! Westwood+: Reno's growth, and after a loss a window of the path's measured capacity.
//!
//! # What it does
//! Once per round trip, measures and smooths the rate at which data is acknowledged. A loss limits
//! the window to the rate times the minimum round-trip time: the capacity of the path without its
//! queue.
//!
//! # Why
//! Reno halves the window, whatever caused the loss. Half is too small on a path that loses packets
//! before it is full, such as radio. It is too large on a path with a long queue.
//!
//! # State and cost
//! 80 bytes; O(1) per acknowledgement.
//!
//! # Source (section, equation)
//! S. Mascolo, C. Casetti, M. Gerla, M. Sanadidi and R. Wang, "TCP Westwood: bandwidth estimation
//! for enhanced transport over wireless links", MobiCom 2001, section 2 (the window after a loss).
//! L. Grieco and S. Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and
//! Vegas TCP congestion control", ACM CCR 34(2), 2004, section 2.1 (one sample per round trip;
//! equation (1), the filter).
//!
//! # Where we differ
//! - A sample takes at least 50 ms, as in Linux: over a shorter time, clumps of acknowledgements
//!   dominate.
//! - Segments acknowledged during a repair are counted when it ends.
//!
//! With `recovery = "rack"`, two rules are Linux's instead of the papers':
//! - A loss or a mark halves the window. After the reduction, the path's measured capacity replaces
//!   the window, even if the capacity is larger.
//! - A timeout forgets the minimum round-trip time.

use super::control::{About, Acked, Congested, Control, Feedback, Start};
use super::growth::{Arithmetic, LOWEST_THRESHOLD, half, kept, slow_start};
use super::round_trip::SmoothedRtt;
use fairwire_core::{Duration, Time};
use fairwire_parameters::{Quantity, parameters};

/// Westwood+'s description in lists and documentation.
pub const ABOUT: About = About::new(
    "Reno's growth, and after a loss the window that the path was seen to carry",
    "Mascolo and others 2001; Grieco and Mascolo 2004",
);

/// Parameters of Westwood+.
#[parameters(gated, name = "westwood", checked = WestwoodParameters, public)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WestwoodSpec {
    /// The weight of the previous rate when a new sample updates the rate.
    #[parameter(
        default = 0.9,
        min = 0.0,
        max = 0.999,
        unit = "1",
        source = "Grieco and Mascolo 2004, equation (1). Linux filters twice with 7/8."
    )]
    pub memory: Option<f64>,
    /// The minimum duration of a sample. A sample also takes at least a round trip.
    #[parameter(default = "50 ms", min = "1 us", max = "1 min", source = "Linux.")]
    pub least_interval: Option<Quantity<Duration>>,
}

/// The window of Westwood+.
#[derive(Debug)]
pub struct Westwood {
    window: f64,
    threshold: f64,
    /// BWE, segments per second; zero before the first sample.
    rate: f64,
    /// RTTmin, seconds; infinite before the first measurement.
    least_s: f64,
    rtt: SmoothedRtt,
    memory: f64,
    least_interval: Duration,
    /// When the sample began; [`Time::MAX`] before the first acknowledgement.
    began: Time,
    /// Segments acknowledged since.
    acked: f64,
    arithmetic: Arithmetic,
    /// Does a loss halve the window, as in Linux?
    halves: bool,
    /// Is the window halved, but not yet replaced by the path's capacity?
    is_halved: bool,
}

impl Westwood {
    /// The window at the start of a flow, in slow start.
    pub fn new(parameters: WestwoodParameters, start: &Start) -> Self {
        Westwood {
            window: f64::from(start.initial_window),
            threshold: f64::INFINITY,
            rate: 0.0,
            least_s: f64::INFINITY,
            rtt: SmoothedRtt::default(),
            memory: parameters.memory,
            least_interval: parameters.least_interval,
            began: Time::MAX,
            acked: 0.0,
            arithmetic: Arithmetic::of(start),
            halves: start.is_timely,
            is_halved: false,
        }
    }

    /// BWE: the estimated rate of acknowledged data, segments per second; zero before the first
    /// sample.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    fn measure(&mut self, acked: &Acked) {
        self.rtt.take(acked.rtt);
        if let Some(rtt) = acked.rtt {
            self.least_s = self.least_s.min(rtt.secs());
        }
        if self.began == Time::MAX {
            self.began = acked.now; // segments of this acknowledgement were sent earlier
            return;
        }
        self.acked += f64::from(acked.newly);
        let passed_s = acked.now.since(self.began).secs();
        if passed_s <= self.rtt.secs().max(self.least_interval.secs()) {
            return;
        }
        let sample = self.acked / passed_s;
        // Equation (1); the first sample becomes the rate.
        let memory = if self.rate > 0.0 { self.memory } else { 0.0 };
        self.rate = memory * self.rate + (1.0 - memory) * sample;
        (self.began, self.acked) = (acked.now, 0.0);
    }

    fn carried(&self, congested: &Congested) -> f64 {
        self.known().unwrap_or_else(|| self.half(congested))
    }

    /// BWE times RTTmin.
    fn known(&self) -> Option<f64> {
        let is_known = self.rate > 0.0 && self.least_s.is_finite();
        is_known.then(|| self.arithmetic.counted(self.rate * self.least_s).max(LOWEST_THRESHOLD))
    }

    fn half(&self, congested: &Congested) -> f64 {
        self.arithmetic.counted(half(congested)).max(LOWEST_THRESHOLD)
    }

    /// Replaces a halved window by the path's capacity, at the first acknowledgement after the
    /// reduction.
    fn reduction_ended(&mut self, acked: &Acked) {
        self.is_halved = false;
        if let Some(carried) = self.known() {
            self.threshold = carried;
            self.window = kept(carried, acked.max_window);
        }
    }
}

impl Control for Westwood {
    fn window(&self) -> f64 {
        self.window
    }

    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn acked(&mut self, acked: &Acked) {
        self.measure(acked);
        if self.is_halved {
            self.reduction_ended(acked);
        }
        if acked.is_window_used {
            let (window, rest) = slow_start(self.window, self.threshold, acked.growth);
            self.window = kept(window + rest / window, acked.max_window);
        }
    }

    /// Sets the threshold to the path's capacity (Mascolo and others 2001, section 2) or, with
    /// `halves`, to half of the window.
    fn lost(&mut self, congested: &Congested) {
        self.threshold = if self.halves { self.half(congested) } else { self.carried(congested) };
        self.window = self.window.min(self.threshold);
        self.is_halved = self.halves;
    }

    fn timed_out(&mut self, congested: &Congested) {
        self.threshold = self.carried(congested);
        self.restarted(1.0);
        if self.halves {
            self.least_s = f64::INFINITY;
        }
    }

    fn deflated(&mut self, by: f64) {
        self.window = (self.window - by).max(1.0);
    }

    fn undone(&mut self, window: f64, threshold: f64) {
        (self.window, self.threshold) = (self.window.max(window), self.threshold.max(threshold));
        self.is_halved = false;
    }

    fn restarted(&mut self, window: f64) {
        self.window = self.window.min(window);
        self.is_halved = false;
    }

    fn feedback(&self) -> Feedback {
        Feedback { exact_rtt: true, ..Feedback::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{congested, one_acked};

    fn acknowledge(westwood: &mut Westwood, from_ms: u64, ms: u64, per_ms: u32, queue_ms: u64) {
        for at in from_ms..from_ms + ms {
            westwood.acked(&Acked {
                now: Time::ZERO + Duration::from_ms(at),
                newly: per_ms,
                growth: 0,
                rtt: Some(Duration::from_ms(40 + queue_ms)),
                ..one_acked()
            });
        }
    }

    #[test]
    fn its_state_is_as_small_as_documented() {
        assert_eq!(size_of::<Westwood>(), 80);
    }

    #[test]
    fn a_loss_sets_the_window_to_rate_times_least_round_trip() {
        let mut westwood = Westwood::new(WestwoodParameters::default(), &Start::of(100));
        acknowledge(&mut westwood, 0, 10, 1, 0);
        acknowledge(&mut westwood, 10, 2000, 1, 60);
        assert!((westwood.rate() - 1000.0).abs() < 1e-6, "{}", westwood.rate());
        westwood.lost(&congested(100.0));
        assert!((westwood.threshold() - 40.0).abs() < 1e-6, "{}", westwood.threshold());
        assert_eq!(westwood.window(), westwood.threshold());
        westwood.timed_out(&congested(40.0));
        assert!((westwood.threshold() - 40.0).abs() < 1e-6);
        assert_eq!(westwood.window(), 1.0);
    }

    #[test]
    fn as_in_linux_a_loss_halves_and_the_path_estimate_replaces_it_afterwards() {
        let start = Start {
            initial_window: 100,
            segment: fairwire_core::units::Size(1448),
            whole_segments: true,
            counts_segments: true,
            halves_to_whole: true,
            is_timely: true,
        };
        let mut westwood = Westwood::new(WestwoodParameters::default(), &start);
        acknowledge(&mut westwood, 0, 2000, 2, 0);
        westwood.lost(&congested(101.0));
        assert_eq!((westwood.window(), westwood.threshold()), (50.0, 50.0));
        // A sample of about 1000 segments/s changes the rate from 2000 to 0.9 x 2000 + 0.1 x 1000 =
        // 1900.
        westwood.acked(&Acked {
            now: Time::ZERO + Duration::from_ms(2060),
            newly: 60,
            growth: 0,
            ..one_acked()
        });
        assert!((1890.0..1925.0).contains(&westwood.rate()), "{}", westwood.rate());
        assert_eq!(westwood.window(), (westwood.rate() * 0.04).floor(), "more than half");
        assert_eq!(westwood.threshold(), westwood.window());
        westwood.lost(&congested(76.0));
        westwood.undone(76.0, 76.0);
        acknowledge(&mut westwood, 2061, 1, 2, 0);
        assert_eq!(westwood.window(), 76.0, "what was for no loss is no reason to measure");
        westwood.timed_out(&congested(76.0));
        assert_eq!((westwood.window(), westwood.known()), (1.0, None), "it forgets the least round trip");
    }

    #[test]
    fn a_loss_keeps_a_window_below_the_path_estimate() {
        let mut westwood = Westwood::new(WestwoodParameters::default(), &Start::of(10));
        acknowledge(&mut westwood, 0, 2000, 1, 0);
        westwood.lost(&congested(10.0));
        assert_eq!(westwood.window(), 10.0);
    }

    #[test]
    fn a_sample_moves_the_rate_by_a_tenth() {
        let mut westwood = Westwood::new(WestwoodParameters::default(), &Start::of(10));
        acknowledge(&mut westwood, 0, 52, 1, 0); // a sample takes more than 50 ms
        assert!((westwood.rate() - 1000.0).abs() < 1e-6);
        acknowledge(&mut westwood, 52, 51, 2, 0);
        assert!((westwood.rate() - 1100.0).abs() < 1e-6, "{}", westwood.rate());
    }

    #[test]
    fn a_loss_halves_before_any_measurement() {
        let mut westwood = Westwood::new(WestwoodParameters::default(), &Start::of(10));
        westwood.lost(&congested(10.0));
        assert_eq!(westwood.window(), 5.0);
    }
}
