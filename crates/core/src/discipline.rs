//! The contract of a queue discipline.

use crate::packet::Packet;
use crate::probe::Probe;
use crate::signals::Signals;
use crate::time::Time;

/// Decides which packets wait, which are refused, and which goes next.
///
/// A discipline never reads a clock, never draws from a shared generator, does no I/O, and allocates nothing after
/// construction. `now` never decreases from call to call.
///
/// Conservation: every packet offered leaves exactly once, by [`dequeue`](Discipline::dequeue) or by
/// [`Signals::dropped`].
pub trait Discipline: Send {
    /// Offers a packet.
    fn enqueue(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals);

    /// Asks for the packet to send next. Called whenever the transmitter becomes free, also when nothing waits: some
    /// laws learn from that that the link went idle.
    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet>;

    /// The earliest time at which a dequeue is useful without another enqueue; `None` when empty. After a dequeue at `now` that
    /// gave nothing it lies after `now`.
    fn ready_at(&self) -> Option<Time>;

    /// What waits now.
    fn backlog(&self) -> Backlog;

    /// Shows gauges with units, for dashboards and traces. Off the hot path.
    fn inspect(&self, probe: &mut dyn Probe);
}

/// What waits in a discipline. The packet in transmission is not part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u32,
    /// Bytes waiting, as counted on the wire.
    pub bytes: u64,
}

impl Backlog {
    /// Does nothing wait?
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }
}

impl<D: Discipline + ?Sized> Discipline for Box<D> {
    fn enqueue(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals) {
        (**self).enqueue(packet, now, signals);
    }
    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        (**self).dequeue(now, signals)
    }
    fn ready_at(&self) -> Option<Time> {
        (**self).ready_at()
    }
    fn backlog(&self) -> Backlog {
        (**self).backlog()
    }
    fn inspect(&self, probe: &mut dyn Probe) {
        (**self).inspect(probe);
    }
}
