//! The device behind a discipline: a FIFO of packets that a network interface holds.
//!
//! The discipline is polled as soon as the device has room, as by a driver without byte queue
//! limits. The packet in transmission has left the device.

use alloc::collections::VecDeque;
use core::any::Any;
use fairwire_core::{Backlog, Control, Discipline, Packet, Probe, Room, Signals, Time, Unit};

/// The maximum length of a device queue, in packets; rings of network interfaces have at most 8192.
pub const MAX_PACKETS: u32 = 65_536;

/// A discipline in front of a device. See the [module](self).
pub struct Device<D> {
    inner: D,
    held: VecDeque<Packet>,
    bytes: u64,
    room: usize,
}

impl<D: Discipline> Device<D> {
    /// `inner` in front of an empty device with room for `packets`.
    pub fn new(inner: D, packets: u32) -> Self {
        let room = packets as usize;
        Device { inner, held: VecDeque::with_capacity(room), bytes: 0, room }
    }

    fn fill(&mut self, now: Time, signals: &mut dyn Signals) {
        while self.held.len() < self.room {
            let Some(packet) = self.inner.dequeue(now, signals) else { return };
            self.bytes += u64::from(packet.len);
            self.held.push_back(packet);
        }
    }
}

impl<D: Discipline> Discipline for Device<D> {
    fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        self.inner.offer(packet, room, now, signals);
        self.fill(now, signals);
    }

    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        self.fill(now, signals);
        let packet = self.held.pop_front()?;
        self.bytes -= u64::from(packet.len);
        self.fill(now, signals);
        Some(packet)
    }

    fn ready_at(&self) -> Option<Time> {
        if self.held.is_empty() { self.inner.ready_at() } else { Some(Time::ZERO) }
    }

    fn backlog(&self) -> Backlog {
        let Backlog { packets, bytes } = self.inner.backlog();
        Backlog { packets: packets + self.held.len() as u32, bytes: bytes + self.bytes }
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("device_packets", Unit::Packets, self.held.len() as f64);
        probe.gauge("device_bytes", Unit::Bytes, self.bytes as f64);
        self.inner.inspect(probe);
    }

    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        self.bytes = 0;
        self.held.drain(..).for_each(&mut *take);
        self.inner.drain(take);
    }
}

impl<D: Discipline> Control for Device<D> {
    fn inside(&mut self, _: Option<u32>, visit: &mut dyn FnMut(&mut dyn Discipline)) {
        visit(&mut self.inner);
    }

    fn retune(&mut self, fresh: &dyn Discipline, now: Time) -> bool {
        let fresh = (fresh as &dyn Any).downcast_ref::<Self>();
        fresh.is_some_and(|fresh| fresh.room == self.room && self.inner.retune(&fresh.inner, now))
    }
}
