//! Steps 1 to 3 of the paper's figure 1: the arrival rate.

use crate::timer::rescheduled;
use fairwire_core::{Duration, Time};
use fairwire_parameters::word;

/// The method of measuring the rate. The queue and the time are q and t at this arrival, q' and t'
/// at the previous one. B is the capacity.
#[word(gated)]
pub enum Estimator {
    /// (q - q') / (t - t'), as in figure 1: the growth rate of the queue, not the arrival rate.
    Printed,
    /// The admitted rate: B + (q - q') / (t - t') if neither arrival found the queue empty,
    /// otherwise arrivals / (t - t').
    #[default]
    SlopePlusCapacity,
    /// The offered rate: arrivals and time are smoothed separately, then divided.
    Ratio,
    /// The offered rate: arrivals in windows of fixed length, smoothed over windows.
    Window,
}

/// The queue and the time at an arrival.
#[derive(Clone, Copy, Debug)]
pub struct QueueSample {
    /// Its arrival time.
    pub at: Time,
    /// The queue before the arrival, in typical packets.
    pub queue: f64,
    /// The size of the arrival, in typical packets.
    pub amount: f64,
}

/// A running measurement of the rate, in typical packets per second.
#[derive(Debug)]
pub struct Meter {
    estimator: Estimator,
    capacity: f64,
    keep: f64,
    window: Duration,
    rate: f64,
    /// The last measurement; its `amount` sums simultaneous arrivals.
    last: Option<QueueSample>,
    offered: f64,
    elapsed: f64,
    window_end: Time,
}

impl Meter {
    /// A meter for a link of `capacity` packets per second. Each measurement keeps the fraction
    /// `keep` of the old rate.
    pub fn new(estimator: Estimator, capacity: f64, keep: f64, window: Duration) -> Self {
        let window_end = Time::ZERO + window;
        Meter {
            estimator,
            capacity,
            keep,
            window,
            rate: 0.0,
            last: None,
            offered: 0.0,
            elapsed: 0.0,
            window_end,
        }
    }

    pub(super) fn retune(&mut self, fresh: &Meter, now: Time) {
        self.window_end = rescheduled(self.window_end, self.window, fresh.window, now);
        (self.estimator, self.capacity) = (fresh.estimator, fresh.capacity);
        (self.keep, self.window) = (fresh.keep, fresh.window);
    }

    /// The smoothed rate, in packets per second. Under [`Estimator::Printed`] it may be negative.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Measures the arrival of a packet.
    #[inline]
    pub fn arrived(&mut self, seen: QueueSample) {
        if self.estimator == Estimator::Window {
            return self.count(seen);
        }
        let Some(last) = &mut self.last else {
            self.last = Some(seen);
            return;
        };
        let elapsed = seen.at.since(last.at);
        if elapsed.is_zero() {
            last.amount += seen.amount; // arrivals at the same time are one
            return;
        }
        let last = core::mem::replace(last, seen);
        self.measure(last, seen, elapsed.secs());
    }

    #[inline]
    fn measure(&mut self, last: QueueSample, seen: QueueSample, elapsed: f64) {
        let slope = (seen.queue - last.queue) / elapsed;
        match self.estimator {
            Estimator::Printed => self.smooth(slope),
            Estimator::SlopePlusCapacity if last.queue > 0.0 && seen.queue > 0.0 => {
                self.smooth((self.capacity + slope).max(0.0));
            }
            Estimator::SlopePlusCapacity => self.smooth(last.amount / elapsed),
            Estimator::Ratio | Estimator::Window => {
                self.offered = self.keep * self.offered + last.amount;
                self.elapsed = self.keep * self.elapsed + elapsed;
                self.rate = self.offered / self.elapsed;
            }
        }
    }

    #[inline]
    fn smooth(&mut self, rate: f64) {
        self.rate = self.keep * self.rate + (1.0 - self.keep) * rate;
    }

    #[inline]
    fn count(&mut self, seen: QueueSample) {
        if seen.at >= self.window_end {
            self.close(seen.at);
        }
        self.offered += seen.amount;
    }

    fn close(&mut self, now: Time) {
        self.smooth(self.offered / self.window.secs());
        self.offered = 0.0;
        let empty = now.since(self.window_end).ns() / self.window.ns();
        if empty > 0 {
            self.rate *= libm::pow(self.keep, empty as f64);
        }
        self.window_end += self.window * (empty + 1);
    }
}
