//! Schedulers: which waiting packet leaves next.

use crate::buffer::{Buffer, FlowKey, Key};
use crate::needs::Needs;
use crate::packet::Packet;
use crate::probe::Probe;
use crate::time::Time;
use crate::weight::{NotReweighed, Weight};

/// The packet that a scheduler sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Its key.
    pub key: Key,
    /// Was its queue polled, and found empty, since the packet before it? Said by schedulers whose droppers want to know.
    pub polled_empty: bool,
}

impl From<Key> for Chosen {
    #[inline]
    fn from(key: Key) -> Self {
        Chosen { key, polled_empty: false }
    }
}

/// The queue that a packet has just been taken out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// The queue. Nothing may wait there any more: then its backlog is zero.
    pub flow: FlowKey,
    /// As [`Chosen::polled_empty`].
    pub polled_empty: bool,
}

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

    /// A packet has just been put into the buffer, into the queue of `flow`.
    fn inserted(&mut self, _key: Key, _flow: FlowKey, _buffer: &Buffer) {}

    /// A packet is about to leave other than by [`choose`](Scheduler::choose): repair tags and rings. It is still in the
    /// buffer.
    fn evicting(&mut self, _key: Key, _flow: FlowKey, _buffer: &Buffer) {}

    /// The packet to send now; `None` only when the buffer is empty. The queue takes it out right after, and says by
    /// [`charge`](Scheduler::charge) or [`skip`](Scheduler::skip) what became of it.
    fn choose(&mut self, buffer: &Buffer) -> Option<Chosen>;

    /// The packet chosen is sent: it costs the queue `flow`, which it has left.
    fn charge(&mut self, _packet: &Packet, _flow: FlowKey, _buffer: &Buffer) {}

    /// The packet chosen is dropped rather than sent: it costs the queue `flow`, which it has left, nothing.
    fn skip(&mut self, _packet: &Packet, _flow: FlowKey, _buffer: &Buffer) {}

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
    fn choose(&mut self, buffer: &Buffer) -> Option<Chosen> {
        buffer.oldest().map(Chosen::from)
    }
}
