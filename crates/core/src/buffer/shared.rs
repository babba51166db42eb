//! A buffer among many that share one room: it closes while there is none, and releases memory.

use super::Buffer;
use crate::names::NONE;
use alloc::vec::Vec;

/// Slots that a released buffer keeps, 1 KiB: enough for most of those that are seldom used.
const KEPT_SLOTS: usize = 16;

impl Buffer {
    /// Admits no more packets than wait now, until it is opened again: an arrival must replace
    /// another.
    pub(crate) fn close(&mut self) {
        self.max_packets = self.len;
    }

    /// Restores the room of its limit.
    pub(crate) fn open(&mut self) {
        self.max_packets = self.limit.packets;
    }

    /// Releases the memory of slots if nothing waits and more than [`KEPT_SLOTS`] were used. From
    /// then on memory is allocated as slots are needed.
    pub(crate) fn release(&mut self) {
        let holds_much = self.slots.capacity() > KEPT_SLOTS;
        if holds_much && self.is_empty() {
            self.slots = Vec::new();
            self.free_slot = NONE;
        }
    }
}
