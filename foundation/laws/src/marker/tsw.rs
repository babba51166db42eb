//! The time-sliding-window estimator of tsw2cm and tsw3cm.

use fairwire_core::{Duration, Rate, Time};

/// Estimates the rate of an aggregate over a sliding window.
///
/// Source: RFC 2859, after Clark and Fang 1998.
#[derive(Clone, Debug)]
pub struct Estimator {
    window: f64,  // s
    average: f64, // bytes per second
    latest: Time, // of the latest packet
}

impl Estimator {
    /// An estimator that starts at `rate` at time zero.
    pub fn new(rate: Rate, window: Duration) -> Self {
        Estimator { window: window.secs(), average: rate.bps() as f64 / 8.0, latest: Time::ZERO }
    }

    /// Counts a packet of `len` bytes, and returns the new estimate, in bytes per second.
    #[inline]
    pub fn update(&mut self, len: u32, now: Time) -> f64 {
        let elapsed = now.since(self.latest).secs();
        self.average = (self.average * self.window + f64::from(len)) / (elapsed + self.window);
        self.latest = now;
        self.average
    }

    /// The latest estimate, in bit/s.
    pub fn rate_bps(&self) -> f64 {
        self.average * 8.0
    }
}
