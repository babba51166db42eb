//! Adaptive RED: `max_probability` follows the load.

use crate::timer::rescheduled;
use fairwire_core::{Duration, Time};

/// The steps of `max_probability`, by the pseudo-code of Floyd, Gummadi and Shenker 2001.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptation {
    /// The time between two steps.
    pub interval: Duration,
    /// The largest step up. A step up is also at most a quarter of `max_probability`.
    pub increase: f64,
    /// The factor by which a step down multiplies `max_probability`.
    pub decrease: f64,
    /// The average below which `max_probability` falls.
    pub target_from: f64,
    /// The average above which `max_probability` rises.
    pub target_to: f64,
}

/// The least and the greatest `max_probability` in the pseudo-code.
const BOUNDS: (f64, f64) = (0.01, 0.5);

/// The maximum number of steps at one arrival. By default, 38 steps down or 53 steps up lead from
/// one bound to the other.
const MAX_STEPS: u64 = 64;

impl Adaptation {
    /// The new `max_probability` after one step at `average`.
    ///
    /// ```
    /// use fairwire_core::Duration;
    /// use fairwire_laws::dropper::red::Adaptation;
    ///
    /// let adaptation = Adaptation {
    ///     interval: Duration::from_ms(500),
    ///     increase: 0.01,
    ///     decrease: 0.9,
    ///     target_from: 14.0,
    ///     target_to: 16.0,
    /// };
    /// assert_eq!(adaptation.step(0.1, 15.0), 0.1);
    /// assert_eq!(adaptation.step(0.1, 17.0), 0.11);
    /// assert_eq!(adaptation.step(0.02, 17.0), 0.025);
    /// assert_eq!(adaptation.step(0.1, 10.0), 0.09000000000000001);
    /// ```
    pub fn step(&self, max_probability: f64, average: f64) -> f64 {
        if average > self.target_to && max_probability <= BOUNDS.1 {
            max_probability + self.increase.min(max_probability / 4.0)
        } else if average < self.target_from && max_probability >= BOUNDS.0 {
            max_probability * self.decrease
        } else {
            max_probability
        }
    }
}

/// An adaptation, and the time of its next step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    adaptation: Adaptation,
    /// The initial `max_probability`.
    first: f64,
    next: Time,
}

impl Steps {
    pub(super) fn new(adaptation: Adaptation, first: f64) -> Self {
        Steps { adaptation, first, next: Time::ZERO + adaptation.interval }
    }

    /// True if `fresh` has the same initial `max_probability`, so the adapted value remains.
    pub(super) fn starts_as(&self, fresh: &Steps) -> bool {
        self.first == fresh.first
    }

    pub(super) fn begun(self, now: Time) -> Self {
        Steps { next: now + self.adaptation.interval, ..self }
    }

    pub(super) fn retuned(self, fresh: &Steps, now: Time) -> Self {
        let (before, after) = (self.adaptation.interval, fresh.adaptation.interval);
        Steps { next: rescheduled(self.next, before, after, now), ..*fresh }
    }

    #[inline]
    pub(super) fn keep_up(&mut self, max_probability: &mut f64, average: f64, now: Time) {
        if now < self.next {
            return;
        }
        let due = 1 + now.since(self.next).ns() / self.adaptation.interval.ns();
        self.next += self.adaptation.interval * due;
        for _ in 0..due.min(MAX_STEPS) {
            *max_probability = self.adaptation.step(*max_probability, average);
        }
    }
}
