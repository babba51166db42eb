//! Markers: colour packets at the edge of a DiffServ domain.

use crate::packet::Packet;
use crate::probe::Probe;
use crate::time::Time;
use alloc::boxed::Box;

/// Gives each packet a colour (its drop precedence) by comparing its aggregate with a profile. Drops nothing.
///
/// Like a discipline it reads no clock and allocates nothing after construction; `now` never decreases.
pub trait Marker: Send {
    /// Sets [`Packet::color`] of a packet that comes by at `now`.
    fn color(&mut self, packet: &mut Packet, now: Time);

    /// Takes note, at `now`, of what the edge where the aggregate leaves asks. Most profiles are contracts, and stay as they are.
    fn hear(&mut self, _ask: Ask, _now: Time) {}

    /// The rate up to which packets are green at `now`, in bit/s, where what it hears may change that.
    fn target_bps(&self, _now: Time) -> Option<f64> {
        None
    }

    /// Shows gauges.
    fn inspect(&self, _probe: &mut dyn Probe) {}
}

/// What the edge where an aggregate leaves a domain asks of the edge where it enters: two bits on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ask {
    /// Neither.
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
    fn hear(&mut self, ask: Ask, now: Time) {
        (**self).hear(ask, now);
    }
    fn target_bps(&self, now: Time) -> Option<f64> {
        (**self).target_bps(now)
    }
    fn inspect(&self, probe: &mut dyn Probe) {
        (**self).inspect(probe);
    }
}
