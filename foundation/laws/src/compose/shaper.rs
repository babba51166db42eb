//! The shaper limits the rate of a discipline, and allows a burst after a pause. RFC 3290, section
//! 7.1.2.
//!
//! A packet may leave as soon as all earlier packets are paid for. Its own cost is paid after it has
//! left (deficit mode).

use crate::spec::Quantity;
use core::any::Any;
use fairwire_core::units::Size;
use fairwire_core::{
    Backlog, Control, Discipline, Duration, Packet, Probe, Rate, Room, Signals, Time, Transmitter, Unit,
};

/// The time that a burst takes at `rate`; by default 1 ms plus the time to send two packets.
pub fn burst_time(typed: Option<Quantity<Size>>, rate: Rate, packet_bytes: u32) -> Duration {
    let two_packets = 2 * u64::from(packet_bytes.max(1514));
    typed.map_or_else(
        || Duration::from_ms(1) + rate.time_to_send(two_packets),
        |typed| rate.time_to_send(typed.0.0),
    )
}

/// Releases packets at a rate. See the [module](self).
pub struct Shaper<D> {
    pub(super) inner: D,
    pub(super) paid: Transmitter, // free when all sent packets are paid
}

impl<D: Discipline> Shaper<D> {
    /// A shaper of `inner` that starts with `paid`, a full bucket.
    pub fn new(inner: D, paid: Transmitter) -> Self {
        Shaper { inner, paid }
    }

    /// Sets the rate. Packets sent earlier are paid at the old rate.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.paid.set_rate(rate, self.paid.catch_up());
    }
}

impl<D: Discipline> Discipline for Shaper<D> {
    #[inline]
    fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        self.inner.offer(packet, room, now, signals);
    }

    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        // An empty discipline is polled even if no packet may leave: some disciplines learn from
        // the poll that the link went idle.
        if !self.paid.is_free(now) && !self.inner.backlog().is_empty() {
            return None;
        }
        let packet = self.inner.dequeue(now, signals)?;
        self.paid.start(packet.len, now);
        Some(packet)
    }

    fn ready_at(&self) -> Option<Time> {
        self.inner.ready_at().map(|ready| ready.max(self.paid.free_at()))
    }

    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("shaped_rate", Unit::BitsPerSecond, self.paid.rate().bps() as f64);
        self.inner.inspect(probe);
    }

    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        self.inner.drain(take);
    }
}

impl<D: Discipline> Control for Shaper<D> {
    fn inside(&mut self, _: Option<u32>, visit: &mut dyn FnMut(&mut dyn Discipline)) {
        visit(&mut self.inner);
    }

    fn retune(&mut self, fresh: &dyn Discipline, now: Time) -> bool {
        let Some(fresh) = (fresh as &dyn Any).downcast_ref::<Self>() else { return false };
        let takes = self.inner.retune(&fresh.inner, now);
        if takes {
            self.paid.set_rate(fresh.paid.rate(), fresh.paid.catch_up());
        }
        takes
    }
}
