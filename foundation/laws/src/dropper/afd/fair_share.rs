//! The controller of m_fair: the amount that a flow may have on record without being dropped.
//!
//! At a fixed frequency the queue q is sampled, and m_fair(t) = m_fair(t-1) + alpha (q(t-1) -
//! target) - beta (q(t) - target): a proportional-integral controller if beta is above alpha.

use crate::timer::rescheduled;
use fairwire_core::{Duration, Time};

/// The constants of the controller of m_fair. The queue and m_fair are both in packets, or both in
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// The target of the queue.
    pub target: f64,
    /// The gain for the queue's distance from the target at the previous step.
    pub alpha: f64,
    /// The gain for the queue's distance from the target at the current step; at least `alpha`.
    pub beta: f64,
    /// The time between two steps.
    pub interval: Duration,
}

/// m_fair and its controller.
#[derive(Debug)]
pub struct FairShare {
    control: Control,
    value: f64,
    most: f64,
    last_queue: f64,
    next: Time,
}

impl FairShare {
    /// A controller that starts at time zero with an empty queue and m_fair at `most`: no packet is
    /// dropped until a queue builds.
    pub fn new(control: Control, most: f64) -> Self {
        FairShare { control, value: most, most, last_queue: 0.0, next: Time::ZERO + control.interval }
    }

    /// m_fair.
    #[inline]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Sets the maximum of m_fair to `most`, and scales m_fair in proportion, because longer
    /// packets increase all counts of the sample alike.
    ///
    /// ```
    /// use fairwire_core::Duration;
    /// use fairwire_laws::dropper::afd::{Control, FairShare};
    /// let interval = Duration::from_ms(10);
    /// let control = Control { target: 50.0, alpha: 1.7, beta: 1.8, interval };
    /// let mut fair = FairShare::new(control, 1000.0);
    /// fair.follow(3000.0);
    /// assert_eq!(fair.value(), 3000.0);
    /// ```
    #[inline]
    pub fn follow(&mut self, most: f64) {
        if most != self.most {
            self.value = (self.value * (most / self.most)).min(most);
            self.most = most;
        }
    }

    /// Takes over the constants of `fresh`. `most` is the new maximum of m_fair; `None` if
    /// unchanged.
    pub(super) fn retune(&mut self, fresh: &FairShare, most: Option<f64>, now: Time) {
        self.next = rescheduled(self.next, self.control.interval, fresh.control.interval, now);
        self.control = fresh.control;
        if let Some(most) = most {
            let is_at_most = self.value == self.most;
            self.follow(most);
            self.value = if is_at_most { most } else { self.value };
        }
    }

    /// Takes the steps that are due up to `now`; the queue was `queue` at each of them. m_fair is
    /// kept between 0 and `most`, so it does not wind up.
    ///
    /// ```
    /// use fairwire_core::{Duration, Time};
    /// use fairwire_laws::dropper::afd::{Control, FairShare};
    /// let interval = Duration::from_ms(10);
    /// let control = Control { target: 50.0, alpha: 1.7, beta: 1.8, interval };
    /// let mut fair = FairShare::new(control, 1000.0);
    /// fair.catch_up(Time::from_ns(9_999_999), 60.0, 1000.0); // none is due
    /// assert_eq!(fair.value(), 1000.0);
    /// // 1000 + 1.7 (0 - 50) - 1.8 (60 - 50)
    /// fair.catch_up(Time::from_ns(10_000_000), 60.0, 1000.0);
    /// assert_eq!(fair.value(), 897.0);
    /// ```
    #[inline]
    pub fn catch_up(&mut self, now: Time, queue: f64, most: f64) {
        if now >= self.next {
            self.step(now, queue, most);
        }
    }

    /// Takes all due steps at once. From the second step on the queue is constant and each step
    /// adds the same amount, so only the sum need be clamped.
    #[cold]
    fn step(&mut self, now: Time, queue: f64, most: f64) {
        let Control { target, alpha, beta, interval } = self.control;
        let more = now.since(self.next).ns() / interval.ns();
        self.next += interval * (more + 1);
        let first = self.value + alpha * (self.last_queue - target) - beta * (queue - target);
        self.value = first.clamp(0.0, most);
        if more > 0 {
            self.value = (self.value + more as f64 * ((alpha - beta) * (queue - target))).clamp(0.0, most);
        }
        self.last_queue = queue;
    }
}
