//! Schedulers: which waiting packet leaves next.

use crate::buffer::{Buffer, Key};
use crate::probe::Probe;

/// Picks the packet that leaves next. Knows nothing of drops.
pub trait Scheduler: Send {
    /// A packet has just been put into the buffer.
    fn inserted(&mut self, _key: Key, _buffer: &Buffer) {}

    /// A packet is about to leave other than by [`next`](Scheduler::next): repair tags and rings. It is still in the
    /// buffer.
    fn evicting(&mut self, _key: Key, _buffer: &Buffer) {}

    /// The packet to send now; `None` only when the buffer is empty. The queue takes it out right after.
    fn next(&mut self, buffer: &Buffer) -> Option<Key>;

    /// Shows gauges.
    fn inspect(&self, _probe: &mut dyn Probe) {}
}

/// First come, first served: the oldest packet leaves next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fcfs;

impl Scheduler for Fcfs {
    #[inline]
    fn next(&mut self, buffer: &Buffer) -> Option<Key> {
        buffer.oldest()
    }
}
