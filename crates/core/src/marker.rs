//! Markers: colour packets at the edge of a DiffServ domain.

use crate::packet::Packet;
use crate::probe::Probe;
use crate::time::Time;

/// Gives each packet a colour (its drop precedence) by comparing its aggregate with a profile. Drops nothing.
///
/// Like a discipline it reads no clock and allocates nothing after construction; `now` never decreases.
pub trait Marker: Send {
    /// Sets [`Packet::color`] of a packet that comes by at `now`.
    fn color(&mut self, packet: &mut Packet, now: Time);

    /// Shows gauges.
    fn inspect(&self, _probe: &mut dyn Probe) {}
}

impl<M: Marker + ?Sized> Marker for Box<M> {
    fn color(&mut self, packet: &mut Packet, now: Time) {
        (**self).color(packet, now);
    }
    fn inspect(&self, probe: &mut dyn Probe) {
        (**self).inspect(probe);
    }
}
