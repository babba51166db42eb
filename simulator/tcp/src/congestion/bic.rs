//! BIC: a window that searches, by halves, for the size at which a loss occurred.
//!
//! # What it does
//! The search is between the reduced window and the maximum, the window at the last loss. Per round
//! trip the window grows by a fraction of its distance from the maximum, up to a bound. Beyond the
//! maximum, growth is first slow, then faster.
//!
//! # Why
//! Reno adds a segment per round trip, even if the window is far too small.
//!
//! # State and cost
//! 80 bytes; O(1) per acknowledgement.
//!
//! # Source (section, equation)
//! L. Xu, K. Harfoush and I. Rhee, "Binary increase congestion control (BIC) for fast long-distance
//! networks", INFOCOM 2004, section III.B.
//!
//! # Where we differ
//! As in Linux:
//! - A step is a quarter of the distance instead of half (`search_divisor`).
//! - The last segments before the maximum take several round trips (`smoothing`); the paper has a
//!   minimum step of 0.01.
//! - Beyond the maximum the step grows with the distance (up to `max_increment`); the paper doubles
//!   the step per round trip.
//! - After a timeout there is no maximum, and the window grows by at least a twentieth per round
//!   trip.
//! - With [`Config::whole_segments`](crate::Config::whole_segments) windows and distances are
//!   integers.

use super::control::{About, Acked, Congested, Control, Start};
use super::growth::{Arithmetic, half, kept, slow_start};
use fairwire_parameters::parameters;

/// BIC's description in lists and documentation.
pub const ABOUT: About = About::new(
    "a window that searches by halves for the one that was too much",
    "Xu, Harfoush and Rhee 2004",
);

/// Parameters of BIC.
#[parameters(gated, name = "bic", checked = BicParameters, public)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BicSpec {
    /// The fraction of the window that remains after a loss.
    #[parameter(
        default = 0.8,
        min = 0.01,
        max = 0.99,
        unit = "1",
        source = "Linux; Xu, Harfoush and Rhee 2004 have 0.875."
    )]
    pub beta: Option<f64>,
    /// The maximum growth of the window.
    #[parameter(
        default = 16.0,
        above = 0.0,
        max = 1e6,
        unit = "segments per round trip",
        source = "Linux; S_max of Xu, Harfoush and Rhee 2004 is 32."
    )]
    pub max_increment: Option<f64>,
    /// A step is the distance to the maximum, divided by this number.
    #[parameter(
        default = 4.0,
        min = 1.0,
        max = 1e3,
        unit = "1",
        source = "Linux; Xu, Harfoush and Rhee 2004 have 2."
    )]
    pub search_divisor: Option<f64>,
    /// Within `search_divisor` segments of the maximum, the window grows by `search_divisor`
    /// segments in this number of round trips.
    #[parameter(default = 20.0, min = 1.0, max = 1e6, unit = "round trips", source = "Linux.")]
    pub smoothing: Option<f64>,
    /// Up to this window, BIC behaves as Reno.
    #[parameter(
        default = 14,
        min = 0,
        max = 1_000_000,
        unit = "segments",
        source = "Xu, Harfoush and Rhee 2004, section III.B; Linux."
    )]
    pub low_window: Option<u32>,
    /// Whether a loss below the last maximum sets the new maximum below the window at the loss.
    #[parameter(default = true, source = "Xu, Harfoush and Rhee 2004, section III.B; Linux.")]
    pub fast_convergence: Option<bool>,
    /// Whether each step is multiplied by the smoothed number of segments per acknowledgement.
    /// Linux does this in addition to counting the acknowledged segments.
    #[parameter(default = false, source = "Linux, as its windows show (docs/oracles.md).")]
    pub scales_by_acks: Option<bool>,
}

/// The window of BIC.
#[derive(Debug)]
pub struct Bic {
    window: f64,
    threshold: f64,
    /// The window at the last loss, segments; fast convergence may lower this maximum. Zero before
    /// the first loss and after a timeout.
    maximum: f64,
    per_ack: f64,
    parameters: BicParameters,
    arithmetic: Arithmetic,
}

/// The minimum window, except after a timeout.
const LOWEST_WINDOW: f64 = 2.0;
/// Without a maximum, the window grows by at least one segment per this number of acknowledged
/// segments, as in Linux.
const MAX_PER_SEGMENT: f64 = 20.0;
/// The initial estimate of segments per acknowledgement, as in Linux.
const FIRST_PER_ACK: f64 = 2.0;
const PER_ACK_WEIGHT: f64 = 1.0 / 16.0;

impl Bic {
    /// The window at the start of a flow, in slow start.
    pub fn new(parameters: BicParameters, start: &Start) -> Self {
        Bic {
            window: f64::from(start.initial_window),
            threshold: f64::INFINITY,
            maximum: 0.0,
            per_ack: FIRST_PER_ACK,
            parameters,
            arithmetic: Arithmetic::of(start),
        }
    }

    /// Segments by which the window grows per round trip.
    fn increment(&self) -> f64 {
        let BicParameters { max_increment, search_divisor, smoothing, low_window, .. } = self.parameters;
        let window = self.arithmetic.counted(self.window);
        if window <= f64::from(low_window) {
            return 1.0;
        }
        let distance = self.maximum - window;
        let smooth = search_divisor / smoothing;
        let step = self.arithmetic.counted(distance / search_divisor);
        let increment = if distance > 0.0 {
            if step <= 1.0 { smooth } else { step.min(max_increment) }
        } else if -distance < search_divisor {
            smooth
        } else if search_divisor > 1.0 && -distance < max_increment * (search_divisor - 1.0) {
            -distance / (search_divisor - 1.0)
        } else {
            max_increment
        };
        if self.maximum == 0.0 { increment.max(window / MAX_PER_SEGMENT) } else { increment }
    }

    /// Returns the reduced window, and sets `maximum`.
    fn reduced(&mut self, congested: &Congested) -> f64 {
        let window = self.arithmetic.counted(congested.in_use);
        let beta = self.parameters.beta;
        let lost_its_maximum = window < self.maximum && self.parameters.fast_convergence;
        let part = if lost_its_maximum { f64::midpoint(1.0, beta) } else { 1.0 };
        self.maximum = self.arithmetic.counted(window * part);
        let left =
            if window <= f64::from(self.parameters.low_window) { half(congested) } else { window * beta };
        self.arithmetic.counted(left).max(LOWEST_WINDOW)
    }
}

impl Control for Bic {
    fn window(&self) -> f64 {
        self.window
    }

    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn acked(&mut self, acked: &Acked) {
        self.per_ack += (f64::from(acked.growth) - self.per_ack) * PER_ACK_WEIGHT;
        if !acked.is_window_used {
            return;
        }
        let (window, rest) = slow_start(self.window, self.threshold, acked.growth);
        self.window = window;
        let is_low = self.arithmetic.counted(self.window) <= f64::from(self.parameters.low_window);
        let scale = if self.parameters.scales_by_acks && !is_low { self.per_ack.max(1.0) } else { 1.0 };
        self.window += (rest * scale * self.increment() / self.window).min(rest);
        self.window = kept(self.window, acked.max_window);
    }

    fn lost(&mut self, congested: &Congested) {
        self.threshold = self.reduced(congested);
        self.window = self.threshold;
    }

    /// Forgets the maximum, as in Linux.
    fn timed_out(&mut self, congested: &Congested) {
        self.threshold = self.reduced(congested);
        (self.window, self.maximum) = (1.0, 0.0);
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

    fn searching() -> Bic {
        let mut bic = Bic::new(BicParameters::default(), &Start::of(1000));
        bic.lost(&congested(1000.0));
        assert_eq!((bic.window(), bic.maximum), (800.0, 1000.0));
        bic
    }

    fn grown(bic: &mut Bic) -> f64 {
        let before = bic.window();
        for _ in 0..before as u32 {
            bic.acked(&one_acked());
        }
        bic.window() - before
    }

    #[test]
    fn its_state_is_as_small_as_documented() {
        assert_eq!(size_of::<Bic>(), 80);
    }

    #[test]
    fn far_away_it_grows_by_the_bound_and_nearby_by_a_quarter_of_the_distance() {
        for (window, expected) in [
            (800.0, 16.0),  // a quarter of 200 is more
            (936.0, 16.0),  // a quarter of 64
            (960.0, 10.0),  // a quarter of 40
            (992.0, 2.0),   // a quarter of 8
            (997.0, 0.2),   // 4 segments in 20 round trips
            (1000.0, 0.2),  // and so beyond
            (1012.0, 4.0),  // a third of 12
            (1030.0, 10.0), // a third of 30
            (1048.0, 16.0), // the bound again
            (2000.0, 16.0),
        ] {
            let bic = Bic { window, ..searching() };
            assert!((bic.increment() - expected).abs() < 1e-12, "{window}: {}", bic.increment());
        }
    }

    #[test]
    fn the_distance_falls_to_three_quarters_per_round_trip() {
        // A step per round trip is a quarter of the distance from the maximum. The distance shrinks
        // meanwhile, so the window moves by about 1 - exp(-1/4) = 0.221 of the distance. From 64 to
        // 5 segments, this takes ln(64/5) x 4 = 10.2 rounds.
        let mut bic = Bic { window: 936.0, ..searching() };
        let mut rounds = 0;
        while bic.maximum - bic.window() > 5.0 {
            let distance = bic.maximum - bic.window();
            let grown = grown(&mut bic);
            assert!((0.2..=0.25).contains(&(grown / distance)), "{distance}: {grown}");
            rounds += 1;
        }
        assert!((10..=11).contains(&rounds), "{rounds}");
    }

    #[test]
    fn scaling_by_delayed_acknowledgements_doubles_its_growth() {
        let parameters = BicParameters { scales_by_acks: true, ..BicParameters::default() };
        for (mut bic, expected) in [(searching(), 16.0), (Bic { parameters, ..searching() }, 32.0)] {
            let before = bic.window();
            for _ in 0..400 {
                bic.acked(&Acked { newly: 2, growth: 2, ..one_acked() });
            }
            let grown = bic.window() - before;
            assert!((grown - expected).abs() < 0.7, "{grown}"); // the window grows within the round, by 4 %
        }
    }

    #[test]
    fn a_flow_that_lost_its_maximum_aims_lower() {
        let mut bic = searching();
        bic.lost(&congested(900.0));
        assert_eq!((bic.window(), bic.maximum), (720.0, 810.0)); // 900 (1 + 0.8) / 2
        bic.lost(&congested(900.0));
        assert_eq!(bic.maximum, 900.0);
    }

    #[test]
    fn up_to_fourteen_segments_it_is_reno() {
        let mut bic = searching();
        bic.lost(&congested(14.0));
        assert_eq!(bic.window(), 7.0);
        assert_eq!(bic.increment(), 1.0);
    }

    #[test]
    fn a_timeout_forgets_the_maximum() {
        let mut bic = searching();
        bic.timed_out(&congested(800.0));
        assert_eq!((bic.window(), bic.threshold(), bic.maximum), (1.0, 640.0, 0.0));
    }
}
