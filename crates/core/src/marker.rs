//! Markers: colour packets at the edge of a DiffServ domain.

use crate::packet::Packet;
use crate::probe::Probe;
use crate::time::Time;
use alloc::boxed::Box;

/// Gives each packet a colour (its drop precedence) by comparing its aggregate with a profile.
/// Drops nothing.
///
/// Like a discipline it reads no clock and allocates nothing after construction; `now` never
/// decreases.
pub trait Marker: Send {
    /// Invoked for each packet that passes at `now`: sets its [`Packet::color`].
    fn color(&mut self, packet: &mut Packet, now: Time);

    /// Invoked when the edge where the aggregate leaves requests another rate. Most profiles are
    /// contracts and ignore it.
    fn on_request(&mut self, _request: RateRequest, _now: Time) {}

    /// The rate up to which packets are green at `now`, in bit/s; `None` where requests cannot
    /// change it.
    fn target_bps(&self, _now: Time) -> Option<f64> {
        None
    }

    /// Invoked when a dashboard or trace reads gauges.
    fn inspect(&self, _probe: &mut dyn Probe) {}
}

/// A request for another target rate, from the edge where an aggregate leaves a domain to the edge
/// where it enters. It travels in two bits of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RateRequest {
    /// The target rate stays as it is.
    #[default]
    Keep,
    /// A higher target rate.
    Increase,
    /// A lower target rate.
    Decrease,
}

impl<M: Marker + ?Sized> Marker for Box<M> {
    fn color(&mut self, packet: &mut Packet, now: Time) {
        (**self).color(packet, now);
    }
    fn on_request(&mut self, request: RateRequest, now: Time) {
        (**self).on_request(request, now);
    }
    fn target_bps(&self, now: Time) -> Option<f64> {
        (**self).target_bps(now)
    }
    fn inspect(&self, probe: &mut dyn Probe) {
        (**self).inspect(probe);
    }
}
