//! Generalised window control: increase by a power of the window, decrease by another power.
//!
//! # What it does
//! In congestion avoidance, `w += c1 / w^K` per acknowledgement, and `w -= c2 w^L` per loss, for
//! the window `w`. A negative K is refused, because it would make the window grow without limit
//! within one round trip.
//!
//! # Why
//! It creates flows that respond differently to congestion, to test disciplines that should not
//! depend on the response.
//!
//! # State and cost
//! Six numbers and a flag. A division per acknowledgement, plus a power if K is not 0, 1 or 2.
//!
//! # Source
//! R. Pan, B. Prabhakar, L. Breslau, S. Shenker, "Approximate Fair Allocation of Link Bandwidth",
//! IEEE Micro 2003, Table 2, in the family of D. Bansal, H. Balakrishnan, "Binomial Congestion
//! Control Algorithms", INFOCOM 2001. The table omits the minus sign of the increase's exponents.
//! With the minus sign, the table's "normal TCP" agrees with the paper's text.
//!
//! # Where we differ
//! As in ns-2, `c2` and `l` do not apply to three reductions. The first decrease of a connection
//! and each decrease in slow start halve the window. Each timeout halves the threshold.
//!
//! The window never falls below 1. In ns-2 it may, and the sender then waits for the timer. The
//! threshold never falls below 2. Apart from these minima, a decrease never raises the window or
//! the threshold above the window in use.

use super::control::{About, Acked, Congested, Control, Start};
use super::growth::LOWEST_THRESHOLD;
use fairwire_parameters::parameters;

/// The controller's description in lists and documentation.
pub const ABOUT: About = About::new(
    "generalised window control: gains c1 / w^k segments per ACK, loses c2 w^l per loss",
    "Bansal and Balakrishnan, INFOCOM 2001; Pan et al., IEEE Micro 2003, Table 2",
);

/// Parameters of generalised window control; the defaults are Reno.
#[parameters(gated, name = "binomial", checked = BinomialParameters, public)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BinomialSpec {
    /// The window grows by `c1 / window^k` segments per ACK.
    #[parameter(default = 1.0, above = 0.0, max = 1e6, unit = "segments")]
    pub c1: Option<f64>,
    /// The window shrinks by `c2 * window^l` segments per loss.
    #[parameter(default = 0.5, above = 0.0, max = 1e6, unit = "segments")]
    pub c2: Option<f64>,
    /// Exponent of the increase per ACK: one more than Bansal and Balakrishnan's exponent per round
    /// trip.
    #[parameter(default = 1.0, min = 0.0, max = 10.0, unit = "1")]
    pub k: Option<f64>,
    /// Exponent of the decrease.
    #[parameter(default = 1.0, min = 0.0, max = 10.0, unit = "1")]
    pub l: Option<f64>,
}

/// The window of generalised control.
#[derive(Debug)]
pub struct Binomial {
    parameters: BinomialParameters,
    window: f64,
    threshold: f64,
    has_decreased: bool,
}

impl Binomial {
    /// The window at the start of a flow, in slow start.
    pub fn new(parameters: BinomialParameters, start: &Start) -> Self {
        let window = f64::from(start.initial_window);
        Binomial { parameters, window, threshold: f64::INFINITY, has_decreased: false }
    }

    fn decreased(&mut self, in_use: f64) -> f64 {
        let is_first = !std::mem::replace(&mut self.has_decreased, true);
        if is_first || self.window < self.threshold {
            return in_use / 2.0;
        }
        let BinomialParameters { c2, l, .. } = self.parameters;
        (in_use - c2 * power(in_use, l)).clamp(0.0, in_use)
    }
}

impl Control for Binomial {
    fn window(&self) -> f64 {
        self.window
    }

    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn acked(&mut self, acked: &Acked) {
        if !acked.is_window_used {
            return;
        }
        let BinomialParameters { c1, k, .. } = self.parameters;
        self.window += if self.window < self.threshold { 1.0 } else { c1 / power(self.window, k) };
        self.window = self.window.min(acked.max_window);
    }

    fn lost(&mut self, congested: &Congested) {
        let left = self.decreased(congested.in_use);
        self.threshold = left.floor().max(LOWEST_THRESHOLD);
        self.window = left.max(1.0);
    }

    fn timed_out(&mut self, congested: &Congested) {
        self.has_decreased = true;
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

fn power(base: f64, exponent: f64) -> f64 {
    match exponent {
        0.0 => 1.0,
        1.0 => base,
        2.0 => base * base,
        _ => libm::pow(base, exponent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Reno;
    use crate::congestion::tests::{congested, one_acked};
    use fairwire_core::Seed;

    fn binomial(c1: f64, c2: f64, k: f64, l: f64) -> Binomial {
        Binomial::new(BinomialParameters { c1, c2, k, l }, &Start::of(2))
    }

    fn avoiding(c1: f64, c2: f64, k: f64, l: f64) -> Binomial {
        let mut control = binomial(c1, c2, k, l);
        control.lost(&congested(20.0));
        assert_eq!((control.window(), control.threshold()), (10.0, 10.0));
        control
    }

    #[test]
    fn each_group_of_table_2_gains_and_loses_as_printed() {
        for (c1, c2, k, l, gain, after) in [
            (1.00, 0.90, 1.0, 1.0, 0.1, 1.0),
            (0.75, 0.31, 1.0, 1.0, 0.075, 6.9),
            (2.00, 0.50, 1.0, 1.0, 0.2, 5.0),
            (1.50, 1.00, 2.0, 0.0, 0.015, 9.0),
            (1.00, 0.50, 0.0, 1.0, 1.0, 5.0),
            (1.00, 0.50, 1.0, 1.0, 0.1, 5.0),
        ] {
            let mut control = avoiding(c1, c2, k, l);
            control.acked(&one_acked());
            assert!((control.window() - 10.0 - gain).abs() < 1e-12, "{c1} {k}: {}", control.window());
            let mut control = avoiding(c1, c2, k, l);
            control.lost(&congested(10.0));
            assert!((control.window() - after).abs() < 1e-12, "{c2} {l}: {}", control.window());
            assert_eq!(control.threshold(), after.floor().max(2.0));
        }
    }

    #[test]
    fn the_default_is_reno_step_by_step() {
        let (mut control, mut reno) =
            (Binomial::new(BinomialParameters::default(), &Start::of(2)), Reno::new(&Start::of(2)));
        let mut rng = Seed(3).stream("binomial");
        for step in 0..10_000 {
            let congestion = congested(reno.window());
            match rng.below(100) {
                0 => (control.timed_out(&congestion), reno.timed_out(&congestion)),
                1 | 2 => (control.lost(&congestion), reno.lost(&congestion)),
                _ => (control.acked(&one_acked()), reno.acked(&one_acked())),
            };
            assert_eq!((control.window(), control.threshold()), (reno.window(), reno.threshold()), "{step}");
        }
    }

    #[test]
    fn the_first_decrease_and_those_in_slow_start_halve() {
        let mut control = binomial(1.0, 0.9, 1.0, 1.0);
        control.lost(&congested(16.0));
        assert_eq!(control.window(), 8.0);
        control.timed_out(&congested(8.0));
        assert_eq!((control.window(), control.threshold()), (1.0, 4.0));
        control.lost(&congested(3.0)); // in slow start
        assert_eq!(control.window(), 1.5);
        control.lost(&congested(1.0));
        assert_eq!(control.window(), 1.0);
    }

    #[test]
    fn the_window_stays_within_its_bounds_for_any_exponent() {
        let mut rng = Seed(4).stream("binomial");
        for _ in 0..200 {
            let mut draw = |most: f64| rng.uniform() * most;
            let mut control = binomial(draw(4.0), draw(4.0), draw(3.0), draw(3.0));
            for _ in 0..500 {
                let congestion = congested(control.window());
                match rng.below(20) {
                    0 => control.timed_out(&congestion),
                    1 => control.lost(&congestion),
                    _ => control.acked(&Acked { max_window: 1000.0, ..one_acked() }),
                }
                assert!((1.0..=1000.0).contains(&control.window()), "{control:?}");
                assert!(control.threshold() >= 2.0);
            }
        }
    }
}
