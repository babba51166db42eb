//! A [`Shaper`] whose [`Autorate`] adapts the rate to the line behind it.
//!
//! The rate changes only when packets enter or leave.

use super::shaper::Shaper;
use crate::autorate::{Autorate, Config, CountingPoint};
use alloc::boxed::Box;
use core::any::Any;
use fairwire_core::{Backlog, Control, Discipline, Packet, Probe, Room, RoundTrip, Signals, Time, Unit};

/// Releases packets at a rate that follows the line. See the [module](self).
pub struct Autorated<D> {
    shaper: Shaper<D>,
    autorate: Box<Autorate>,
    config: Config,
    sent_bytes: u64,
}

impl<D: Discipline> Autorated<D> {
    /// Starts with `shaper`, which must be at the initial rate of `config`.
    pub fn new(shaper: Shaper<D>, config: Config) -> Self {
        let autorate = Box::new(Autorate::new([Some((config, CountingPoint::Before)), None]));
        Autorated { shaper, autorate, config, sent_bytes: 0 }
    }

    #[inline]
    fn advance(&mut self, now: Time) {
        if self.autorate.advance([self.sent_bytes, 0], now) {
            self.follow();
        }
    }

    fn follow(&mut self) {
        if let Some(rate) = self.autorate.rate(0) {
            self.shaper.set_rate(rate);
        }
    }
}

impl<D: Discipline> Discipline for Autorated<D> {
    #[inline]
    fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        self.advance(now);
        self.shaper.offer(packet, room, now, signals);
    }

    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        self.advance(now);
        let packet = self.shaper.dequeue(now, signals)?;
        self.sent_bytes += u64::from(packet.len);
        Some(packet)
    }

    fn ready_at(&self) -> Option<Time> {
        self.shaper.ready_at()
    }

    fn backlog(&self) -> Backlog {
        self.shaper.backlog()
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        if let Some(added) = self.autorate.added() {
            probe.gauge("added_delay", Unit::Seconds, added.secs());
        }
        self.shaper.inspect(probe);
    }

    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        self.shaper.drain(take);
    }
}

impl<D: Discipline> Control for Autorated<D> {
    fn inside(&mut self, _: Option<u32>, visit: &mut dyn FnMut(&mut dyn Discipline)) {
        visit(&mut self.shaper);
    }

    /// Returns false if the parameters of `autorate` differ, since the rate would have to restart.
    fn retune(&mut self, fresh: &dyn Discipline, now: Time) -> bool {
        let Some(fresh) = (fresh as &dyn Any).downcast_ref::<Self>() else { return false };
        let takes = self.config == fresh.config && self.shaper.retune(&fresh.shaper, now);
        self.follow();
        takes
    }

    fn hears_round_trips(&mut self) -> bool {
        true
    }

    fn on_round_trip(&mut self, trip: RoundTrip, now: Time) {
        self.autorate.hear(trip, now);
        self.shaper.on_round_trip(trip, now);
    }
}
