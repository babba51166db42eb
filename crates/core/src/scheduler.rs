//! Schedulers: which waiting packet leaves next.

use crate::buffer::{Buffer, Key};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::probe::Probe;
use crate::time::Time;
use crate::weight::{NotReweighed, Weight};

/// Picks the packet that leaves next. Knows nothing of drops.
pub trait Scheduler: Send {
    /// What it asks of the buffer. Asked once, at construction; what is not needed is not kept up. Who never looks at the
    /// order of arrival says so by [`Needs::QUEUES`].
    fn needs(&self) -> Needs {
        Needs::FLOWS
    }

    /// It is `now`: told before all else at each arrival and at each request, for schedulers whose virtual time runs on while
    /// a packet is being sent.
    fn clock(&mut self, _now: Time) {}

    /// A packet has just been put into the buffer, into the queue [`Buffer::changed_flow`].
    fn inserted(&mut self, _key: Key, _buffer: &Buffer) {}

    /// A packet is about to leave other than by [`choose`](Scheduler::choose): repair tags and rings. It is still in the
    /// buffer.
    fn evicting(&mut self, _key: Key, _buffer: &Buffer) {}

    /// The packet to send now; `None` only when the buffer is empty. The queue takes it out right after, and says by
    /// [`charge`](Scheduler::charge) or [`skip`](Scheduler::skip) what became of it.
    fn choose(&mut self, buffer: &Buffer) -> Option<Key>;

    /// The packet chosen is sent: it costs its flow, [`Buffer::changed_flow`], which it has left.
    fn charge(&mut self, _packet: &Packet, _buffer: &Buffer) {}

    /// The packet chosen is dropped rather than sent: it costs its flow, [`Buffer::changed_flow`], nothing.
    fn skip(&mut self, _packet: &Packet, _buffer: &Buffer) {}

    /// Was the queue of the packet that [`choose`](Scheduler::choose) gave last asked in vain since its packet before? Told by a
    /// scheduler whose dropper wants to know.
    fn found_empty(&self) -> bool {
        false
    }

    /// As [`Discipline::reweigh`](crate::Discipline::reweigh).
    fn reweigh(&mut self, _class: u32, _weight: Weight) -> Result<Weight, NotReweighed> {
        Err(NotReweighed::NoWeights)
    }

    /// Shows gauges.
    fn inspect(&self, _probe: &mut dyn Probe) {}
}

/// First come, first served: the oldest packet leaves next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fcfs;

impl Scheduler for Fcfs {
    fn needs(&self) -> Needs {
        Needs::ORDER
    }

    #[inline]
    fn choose(&mut self, buffer: &Buffer) -> Option<Key> {
        buffer.oldest()
    }
}
