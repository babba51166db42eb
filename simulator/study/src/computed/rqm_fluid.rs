//! The fluid model of RQM: J. Edmonds et al., York University CSE-2006-09, 2006, section 4.
//!
//! Each of n sessions has a rate b_i, which grows by alpha and halves with each drop. By lemma 1,
//! db_i/dt = alpha (1 - (n~ b_i / b)^2). Here b is the sum of the rates, and n~ is RQM's estimate
//! of n from b. The equations are solved by the fourth-order Runge-Kutta method from random initial
//! rates.

use super::made::{Made, MadeCurve};
use fairwire_core::{Rng, Seed};
use fairwire_laws::dropper::rqm::{Checked, Law, OverloadRule};

/// The capacity of 10 Mbit/s, in packets of 1040 bytes per second.
const CAPACITY: f64 = 1e7 / (8.0 * 1040.0);
/// `UNUSED` is gamma, the unused fraction of the capacity. `STEEPNESS` is c, the steepness of the
/// guess n~ as a function of the sum of the rates (section 5.2).
const UNUSED: f64 = 0.01;
const STEEPNESS: f64 = 1.0;
/// alpha in packets per second squared. Section 2 gives 1 without a unit; this unit fits the
/// paper's counts of drops.
const ALPHA: f64 = 1.0;
/// The numbers of sessions n. With more than a dozen sessions, the guess responds so fast that the
/// solver would need tiny steps.
const SESSIONS: [u32; 5] = [2, 3, 5, 8, 10];
/// The values of q. Theorem 1 gives the time until rates are within a factor of 1 + e^(-q) of their
/// limit.
const NEARNESS: [u32; 3] = [1, 3, 5];
/// A run lasts twice the time that theorem 1 gives for this q.
const LAST_NEARNESS: f64 = 7.0;
/// Values of M - 1 below this are rounding errors. M is the imbalance, at least 1.
const BALANCED: f64 = 1e-6;
/// The run with `DRAWN` sessions is drawn as curves of `POINTS` points each. The q in
/// `DRAWN_NEARNESS` determines the curves' length.
const DRAWN: u32 = 10;
const DRAWN_NEARNESS: f64 = 3.0;
const POINTS: f64 = 400.0;
const RATES: &str = "rates, packets/s";
const ESTIMATE: &str = "estimate of n, and M: 1 is balance";

pub(super) fn make(seed: u64) -> Made {
    let mut made = Made::default();
    for sessions in SESSIONS {
        let mut rng = Seed(seed).stream(&format!("rqm-fluid-{sessions}"));
        let mut path = Path::new(sessions, &mut rng);
        path.follow();
        path.report(&mut made);
    }
    made
}

fn law() -> Law {
    let given = Checked {
        steepness: STEEPNESS,
        overload_rule: OverloadRule::Clamp,
        epsilon: 1e-9,
        clamp_limit: 0.5,
        ..Checked::default()
    };
    Law { virtual_capacity: (1.0 - UNUSED) * CAPACITY, gain: 2.0 * ALPHA, given }
}

/// The imbalance M: 1 if all rates are equal, n if one session has everything.
fn imbalance(rates: &[f64]) -> f64 {
    let total: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    rates.len() as f64 * squares / (total * total)
}

/// Lemma 1.
fn growth(law: &Law, rates: &[f64]) -> Vec<f64> {
    let total: f64 = rates.iter().sum();
    let per_rate = law.sessions(total) / total;
    rates.iter().map(|rate| ALPHA * (1.0 - (per_rate * rate) * (per_rate * rate))).collect()
}

struct Path {
    law: Law,
    sessions: f64,
    rates: Vec<f64>,
    now_s: f64,
    /// For each q: the first time at which M was within the bound of lemma 3.
    balanced_s: [Option<f64>; 3],
    /// For each q: the last time at which a rate or the guess differed from its limit by more than
    /// the factor 1 + e^(-q) of theorem 1.
    apart_s: [f64; 3],
    /// The largest rise of M in a step.
    rise: f64,
    /// The slowest fall of ln(M - 1) over about a second, in units of lemma 3's 2 alpha n / b.
    slowest: f64,
    window: Window,
    curves: Vec<MadeCurve>,
}

/// A period over which the fall of M is measured.
#[derive(Default)]
struct Window {
    from_s: f64,
    /// M - 1 at the start.
    left: f64,
    bound: f64,
}

impl Path {
    /// Starts from very unequal rates.
    fn new(sessions: u32, rng: &mut Rng) -> Self {
        let law = law();
        let total = (0.1 + 0.85 * rng.uniform()) * law.virtual_capacity;
        let weights: Vec<f64> = (0..sessions)
            .map(|_| {
                let drawn = rng.uniform();
                0.001 + drawn * drawn * drawn
            })
            .collect();
        let sum: f64 = weights.iter().sum();
        let rates: Vec<f64> = weights.iter().map(|weight| total * weight / sum).collect();
        let window = Window { left: imbalance(&rates) - 1.0, ..Window::default() };
        Path {
            law,
            sessions: f64::from(sessions),
            rates,
            now_s: 0.0,
            balanced_s: [None; 3],
            apart_s: [0.0; 3],
            rise: 0.0,
            slowest: f64::INFINITY,
            window,
            curves: Vec::new(),
        }
    }

    /// The time of theorem 1 for `q`, up to a constant factor, in seconds.
    fn unit_s(&self, q: f64) -> f64 {
        CAPACITY / (ALPHA * self.sessions) * (libm::log(self.sessions) + q)
    }

    fn follow(&mut self) {
        let end_s = 2.0 * self.unit_s(LAST_NEARNESS);
        let drawn_s = self.unit_s(DRAWN_NEARNESS);
        let mut next_point_s = 0.0;
        while self.now_s < end_s {
            if self.now_s >= next_point_s && next_point_s <= drawn_s {
                self.draw();
                next_point_s += drawn_s / POINTS;
            }
            self.step();
            self.look();
        }
    }

    fn total(&self) -> f64 {
        self.rates.iter().sum()
    }

    fn guess(&self) -> f64 {
        self.law.sessions(self.total())
    }

    /// Takes one step, which is short compared with the response time of the guess (lemma 4).
    fn step(&mut self) {
        let (total, guess, before) = (self.total(), self.guess(), imbalance(&self.rates));
        let guess_per_rate = 1.0 / (STEEPNESS * (self.law.virtual_capacity - total));
        let answers_per_s = 2.0 * guess_per_rate * ALPHA * before * guess / self.sessions;
        let step_s = (0.4 / answers_per_s).min(0.05);
        let moved = |by: &[f64], part_s: f64| -> Vec<f64> {
            self.rates.iter().zip(by).map(|(rate, by)| rate + part_s * by).collect()
        };
        let first = growth(&self.law, &self.rates);
        let second = growth(&self.law, &moved(&first, step_s / 2.0));
        let third = growth(&self.law, &moved(&second, step_s / 2.0));
        let fourth = growth(&self.law, &moved(&third, step_s));
        for (at, rate) in self.rates.iter_mut().enumerate() {
            *rate += step_s / 6.0 * (first[at] + 2.0 * second[at] + 2.0 * third[at] + fourth[at]);
        }
        self.now_s += step_s;
        self.rise = self.rise.max(imbalance(&self.rates) - before);
        self.window.bound += step_s * ALPHA * self.sessions * (1.0 / total + 1.0 / self.total());
    }

    fn look(&mut self) {
        let left = imbalance(&self.rates) - 1.0;
        let off = self.off();
        for (at, q) in NEARNESS.into_iter().map(f64::from).enumerate() {
            if left <= libm::exp(-2.0 * q) / (self.sessions - 1.0) {
                self.balanced_s[at].get_or_insert(self.now_s);
            }
            if off > 1.0 + libm::exp(-q) {
                self.apart_s[at] = self.now_s;
            }
        }
        if self.now_s >= self.window.from_s + 1.0 {
            if left > BALANCED {
                let fall = libm::log(self.window.left / left);
                self.slowest = self.slowest.min(fall / self.window.bound);
            }
            self.window = Window { from_s: self.now_s, left, bound: 0.0 };
        }
    }

    /// The largest factor, 1 or more, by which a rate or the guess deviates from the limit of
    /// theorem 1.
    fn off(&self) -> f64 {
        let wanted = self.law.utilization(self.sessions) / self.sessions;
        let factor = |value: f64, wanted: f64| (value / wanted).max(wanted / value);
        let guess = factor(self.guess(), self.sessions);
        self.rates.iter().map(|rate| factor(*rate, wanted)).fold(guess, f64::max)
    }

    fn draw(&mut self) {
        if self.sessions != f64::from(DRAWN) {
            return;
        }
        let guess = self.guess();
        let rates = self.rates.iter().enumerate();
        let mut values: Vec<(&str, String, f64)> =
            rates.map(|(at, rate)| (RATES, format!("session {}", at + 1), *rate)).collect();
        values.push((ESTIMATE, "estimate of n".into(), guess));
        values.push((ESTIMATE, "M".into(), imbalance(&self.rates)));
        if self.curves.is_empty() {
            let empty =
                |(panel, label, _): &(&str, String, f64)| (String::from(*panel), label.clone(), Vec::new());
            let curves = values.iter().map(empty);
            self.curves = curves.map(|(panel, label, points)| MadeCurve { panel, label, points }).collect();
        }
        for (curve, (_, _, value)) in self.curves.iter_mut().zip(values) {
            curve.points.push((self.now_s, value));
        }
    }

    fn report(self, made: &mut Made) {
        let (x, at) = (self.sessions, self.sessions.to_string());
        let mut add = |name: &str, value: f64| made.number("fluid model", x, &at, name, value);
        add("rise", self.rise);
        add("slowest", self.slowest);
        add("off", self.off() - 1.0);
        for (index, q) in NEARNESS.into_iter().enumerate() {
            let unit_s = self.unit_s(f64::from(q));
            add(&format!("balanced_q{q}"), self.balanced_s[index].unwrap_or(self.now_s) / unit_s);
            add(&format!("settled_q{q}"), self.apart_s[index] / unit_s);
        }
        made.curves.extend(self.curves);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rates_at_the_target_utilization_are_stable() {
        let law = law();
        for sessions in [2.0, 5.0, 10.0] {
            let rates = vec![law.utilization(sessions) / sessions; sessions as usize];
            let most = growth(&law, &rates).into_iter().map(f64::abs).fold(0.0, f64::max);
            // At n = 10 a rounding of the sum by 1e-13 changes the guess by 2e-12 of a session.
            assert!(most < 1e-9, "{most}");
        }
    }

    #[test]
    fn rates_below_the_guess_grow_and_rates_above_it_fall() {
        let law = law();
        let rates = [900.0, 50.0, 100.0];
        let guessed = 1050.0 / law.sessions(1050.0);
        for (rate, growth) in rates.into_iter().zip(growth(&law, &rates)) {
            assert_eq!(growth > 0.0, rate < guessed, "{rate} beside {guessed}");
        }
    }

    #[test]
    fn imbalance_is_n_if_one_has_all_and_1_if_all_are_equal() {
        assert_eq!(imbalance(&[8.0, 0.0, 0.0, 0.0]), 4.0);
        assert_eq!(imbalance(&[3.0; 4]), 1.0);
    }

    #[test]
    fn every_seed_gives_all_numbers_and_the_curves_of_ten_sessions() {
        let made = make(1);
        assert_eq!(made.numbers.len(), SESSIONS.len() * (3 + 2 * NEARNESS.len()));
        assert_eq!(made.curves.len(), 12);
        assert!(made.numbers.iter().all(|number| number.value.is_finite()));
        assert_ne!(made, make(2));
    }
}
