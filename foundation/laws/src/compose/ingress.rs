//! A shaper that charges its drops, as CAKE's option `ingress` does: a dropped packet has already
//! crossed the line in front of the shaper.
//!
//! If senders did not slow down, the drops would use up the rate and nothing would be sent. So, as
//! in CAKE, a packet may also leave once the packets sent before it are paid at two thirds of the
//! rate.
//!
//! A gateway polls late. While packets wait, up to [`CATCH_UP`] of lost time is made up for. CAKE
//! makes up for all lost time.

use crate::compose::shaper::Shaper;
use core::any::Any;
use fairwire_core::{
    Acknowledgement, Backlog, Cause, Control, Discipline, Duration, Packet, Probe, Rate, Room, Signals, Time,
    Transmitter, Unit,
};

/// The maximum lost time that the shaper makes up for; equal to that of a gateway's link.
const CATCH_UP: Duration = Duration::from_ms(10);

pub(crate) struct Ingress<D> {
    shaper: Shaper<D>,
    /// A transmitter at two thirds of the rate. Dropped packets do not occupy it.
    least: Transmitter,
}

impl<D: Discipline> Ingress<D> {
    /// `inner` at `rate`.
    pub(crate) fn new(inner: D, rate: Rate) -> Self {
        let two_thirds = Rate::from_bps((rate.bps() / 3 * 2).max(1)).expect("not zero");
        let shaper = Shaper::new(inner, Transmitter::with_catch_up(rate, CATCH_UP));
        Ingress { shaper, least: Transmitter::with_catch_up(two_thirds, CATCH_UP) }
    }
}

impl<D: Discipline> Discipline for Ingress<D> {
    fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        let Shaper { inner, paid } = &mut self.shaper;
        if inner.backlog().is_empty() && paid.is_free(now) {
            // As in CAKE, an idle time ends both debts. Otherwise, the debt of `least` would grow
            // as long as nothing is dropped.
            paid.idle_until(now);
            self.least = Transmitter::with_catch_up(self.least.rate(), CATCH_UP);
            self.least.idle_until(now);
        }
        inner.offer(packet, room, now, &mut Charged { inner: signals, paid, now });
    }

    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        let Shaper { inner, paid } = &mut self.shaper;
        // An empty discipline is polled even if no packet may leave, as in the shaper.
        let is_free = paid.is_free(now) || self.least.is_free(now);
        if !is_free && !inner.backlog().is_empty() {
            return None;
        }
        let packet = inner.dequeue(now, &mut Charged { inner: signals, paid, now })?;
        paid.start(packet.len, now);
        self.least.start(packet.len, now);
        Some(packet)
    }

    fn ready_at(&self) -> Option<Time> {
        let free = self.shaper.paid.free_at().min(self.least.free_at());
        self.shaper.inner.ready_at().map(|ready| ready.max(free))
    }

    fn backlog(&self) -> Backlog {
        self.shaper.backlog()
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("ingress_rate", Unit::BitsPerSecond, self.shaper.paid.rate().bps() as f64);
        self.shaper.inner.inspect(probe);
    }

    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        self.shaper.drain(take);
    }
}

impl<D: Discipline> Control for Ingress<D> {
    fn inside(&mut self, class: Option<u32>, visit: &mut dyn FnMut(&mut dyn Discipline)) {
        self.shaper.inside(class, visit);
    }

    fn retune(&mut self, fresh: &dyn Discipline, now: Time) -> bool {
        let Some(fresh) = (fresh as &dyn Any).downcast_ref::<Self>() else { return false };
        let takes = self.shaper.retune(&fresh.shaper, now);
        if takes {
            self.least.set_rate(fresh.least.rate(), fresh.least.catch_up());
        }
        takes
    }
}

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
