//! The contract of a queue discipline.

use crate::packet::Packet;
use crate::probe::Probe;
use crate::signals::{Cause, Signals};
use crate::time::Time;
use crate::weight::{NotReweighed, Weight};
use alloc::boxed::Box;

/// Decides which packets wait, which are refused, and which goes next.
///
/// A discipline never reads a clock, never draws from a shared generator, does no I/O, and allocates nothing after
/// construction. `now` never decreases from call to call.
///
/// Conservation: every packet offered leaves exactly once, by [`dequeue`](Discipline::dequeue), by
/// [`Signals::dropped`] or by [`drain`](Discipline::drain).
pub trait Discipline: Send {
    /// Offers a packet.
    fn enqueue(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals);

    /// Offers a packet where no more may wait than does: it is refused, or takes the place of others that wait here, by the same rule as
    /// in a full buffer. For what is inside of another that shares its room. The default refuses it.
    fn enqueue_without_room(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals) {
        let _ = now;
        signals.dropped(packet, Cause::Overflow);
    }

    /// Nothing waits, and perhaps nothing comes for long: gives back what memory it can, and from then on takes what packets need
    /// as they come. Only whoever has thousands of disciplines calls this; where nobody does, nothing is allocated after construction.
    fn release(&mut self) {}

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

    /// Gives back every packet that waits, for another discipline to take over: by time of arrival within each buffer, and those of a
    /// queue in their order whatever their times are. No law is asked and no signal given; nothing is left behind, and the discipline
    /// can go on from there. Off the hot path, but without allocation.
    fn drain(&mut self, take: &mut dyn FnMut(Packet));

    /// Gives `class` another weight from now on, and tells the one that it had. O(1), or what the implementation says, whatever waits;
    /// no allocation. What waits stays where it is: a queue that keeps its weight with the packet at its head follows at the next
    /// one.
    ///
    /// # Errors
    /// When there are no weights here, the class has none of its own, or the weight cannot be counted. Nothing has changed then.
    fn reweigh(&mut self, class: u32, weight: Weight) -> Result<Weight, NotReweighed> {
        let _ = (class, weight);
        Err(NotReweighed::NoWeights)
    }
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
    fn enqueue_without_room(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals) {
        (**self).enqueue_without_room(packet, now, signals);
    }
    fn release(&mut self) {
        (**self).release();
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
    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        (**self).drain(take);
    }
    fn reweigh(&mut self, class: u32, weight: Weight) -> Result<Weight, NotReweighed> {
        (**self).reweigh(class, weight)
    }
}
