//! A buffer that shares its room with others.

use super::Buffer;
use crate::names::NONE;
use alloc::vec::Vec;

/// A released buffer of at most this many slots (1 KiB) keeps its memory. Most seldom used buffers
/// need no more.
const KEPT_SLOTS: usize = 16;

impl Buffer {
    /// Limits the buffer to its current backlog: until it is opened, an arrival must replace
    /// waiting packets.
    pub(crate) fn close(&mut self) {
        (self.max_packets, self.max_bytes) = (self.len, self.bytes);
    }

    pub(crate) fn open(&mut self) {
        (self.max_packets, self.max_bytes) = (self.limit.packets, self.limit.bytes);
    }

    /// Frees the memory of an empty buffer; it is allocated again as slots are needed.
    pub(crate) fn release(&mut self) {
        let holds_much = self.slots.capacity() > KEPT_SLOTS;
        if holds_much && self.is_empty() {
            self.slots = Vec::new();
            self.free_slot = NONE;
        }
    }
}
