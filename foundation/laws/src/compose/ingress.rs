//! A shaper that charges what it drops, as CAKE's option `ingress`: what it drops has crossed the
//! line in front of it already.
//!
//! A packet that is dropped is paid like one that is sent, so that what arrives, sent or dropped, is
//! at most the rate. Senders that do not slow down would be given nothing then. So a packet also
//! goes where those that went before it are paid at two thirds of the rate, as in CAKE.

use core::any::Any;
use fairwire_core::{
    Acknowledgement, Backlog, Cause, Control, Discipline, Packet, Probe, Rate, Room, Signals, Time,
    Transmitter, Unit,
};

/// A discipline whose drops are paid. See the [module](self).
pub(crate) struct Ingress<D> {
    inner: D,
    /// Free when all that went and all that was dropped is paid.
    paid: Transmitter,
    /// Free when all that went is paid at two thirds of the rate.
    least: Transmitter,
}

impl<D: Discipline> Ingress<D> {
    /// `inner` at `rate`.
    pub(crate) fn new(inner: D, rate: Rate) -> Self {
        let two_thirds = Rate::from_bps((rate.bps() / 3 * 2).max(1)).expect("not zero");
        Ingress { inner, paid: Transmitter::new(rate), least: Transmitter::new(two_thirds) }
    }

    fn is_free(&self, now: Time) -> bool {
        self.paid.is_free(now) || self.least.is_free(now)
    }
}

impl<D: Discipline> Discipline for Ingress<D> {
    fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        let mut charged = Charged { inner: signals, paid: &mut self.paid, now };
        self.inner.offer(packet, room, now, &mut charged);
    }

    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        // An empty discipline is polled in any case: some laws learn from it that the link is idle.
        if !self.is_free(now) && !self.inner.backlog().is_empty() {
            return None;
        }
        let mut charged = Charged { inner: signals, paid: &mut self.paid, now };
        let packet = self.inner.dequeue(now, &mut charged)?;
        self.paid.start(packet.len, now);
        self.least.start(packet.len, now);
        Some(packet)
    }

    fn ready_at(&self) -> Option<Time> {
        let free = self.paid.free_at().min(self.least.free_at());
        self.inner.ready_at().map(|ready| ready.max(free))
    }

    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("ingress_rate", Unit::BitsPerSecond, self.paid.rate().bps() as f64);
        self.inner.inspect(probe);
    }

    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        self.inner.drain(take);
    }
}

impl<D: Discipline> Control for Ingress<D> {
    fn inside(&mut self, _: Option<u32>, visit: &mut dyn FnMut(&mut dyn Discipline)) {
        visit(&mut self.inner);
    }

    fn retune(&mut self, fresh: &dyn Discipline, now: Time) -> bool {
        let Some(fresh) = (fresh as &dyn Any).downcast_ref::<Self>() else { return false };
        let takes = self.inner.retune(&fresh.inner, now);
        if takes {
            self.paid.set_rate(fresh.paid.rate(), fresh.paid.catch_up());
            self.least.set_rate(fresh.least.rate(), fresh.least.catch_up());
        }
        takes
    }
}

/// Charges what is dropped, and passes on.
struct Charged<'a> {
    inner: &'a mut dyn Signals,
    paid: &'a mut Transmitter,
    now: Time,
}

impl Signals for Charged<'_> {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.paid.start(packet.len, self.now);
        self.inner.dropped(packet, cause);
    }

    fn marked(&mut self, packet: &Packet, cause: Cause) {
        self.inner.marked(packet, cause);
    }

    fn acknowledges(&self, frame: u32) -> Option<Acknowledgement> {
        self.inner.acknowledges(frame)
    }
}
