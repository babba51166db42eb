//! The ceiling and the peak of a class, two buckets: a packet waits until both are free.

use super::config::{Shape, Terms};
use alloc::boxed::Box;
use fairwire_core::{Probe, Rate, Time, Transmitter, Unit};

pub(super) struct Ceiling {
    paid: Transmitter,
    peak: Option<Box<Transmitter>>,
}

impl Ceiling {
    pub(super) fn new(rate: Rate, terms: &Terms) -> Box<Self> {
        let paid = Shape { rate, burst: terms.ceiling_burst }.bucket();
        Box::new(Ceiling { paid, peak: terms.peak.map(|peak| Box::new(peak.bucket())) })
    }

    #[inline]
    pub(super) fn free_at(&self) -> Time {
        let free_at = self.paid.free_at();
        self.peak.as_ref().map_or(free_at, |peak| peak.free_at().max(free_at))
    }

    #[inline]
    pub(super) fn start(&mut self, len: u32, now: Time) {
        self.paid.start(len, now);
        if let Some(peak) = &mut self.peak {
            peak.start(len, now);
        }
    }

    /// Takes over the unused bursts of `before`.
    pub(super) fn inherit(&mut self, before: &Ceiling) {
        self.paid.idle_until(before.paid.free_at());
        if let (Some(own), Some(before)) = (&mut self.peak, &before.peak) {
            own.idle_until(before.free_at());
        }
    }

    pub(super) fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("ceiling", Unit::BitsPerSecond, self.paid.rate().bps() as f64);
        if let Some(peak) = &self.peak {
            probe.gauge("peak", Unit::BitsPerSecond, peak.rate().bps() as f64);
        }
    }
}
