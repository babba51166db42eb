//! A buffer that shares its room with others: it is closed while no room is left, and releases
//! memory that it does not use.

use super::Buffer;
use crate::names::NONE;
use alloc::vec::Vec;

/// A buffer with at most this number of slots, 1 KiB in all, keeps them on release. That is enough
/// for most buffers that are seldom used.
const KEPT_SLOTS: usize = 16;

impl Buffer {
    /// Admits no packets and bytes beyond the current backlog until the buffer is opened again.
    /// Until then an arrival must replace waiting packets.
    pub(crate) fn close(&mut self) {
        (self.max_packets, self.max_bytes) = (self.len, self.bytes);
    }

    pub(crate) fn open(&mut self) {
        (self.max_packets, self.max_bytes) = (self.limit.packets, self.limit.bytes);
    }

    /// Releases the memory of slots if the buffer is empty and more than [`KEPT_SLOTS`] are
    /// allocated, used or not. From then on memory is allocated as slots are needed.
    pub(crate) fn release(&mut self) {
        let holds_much = self.slots.capacity() > KEPT_SLOTS;
        if holds_much && self.is_empty() {
            self.slots = Vec::new();
            self.free_slot = NONE;
        }
    }
}
