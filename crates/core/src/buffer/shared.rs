//! What a buffer does for many that share one room: it closes while there is none, and gives memory back.

use super::Buffer;
use crate::names::NONE;
use alloc::vec::Vec;

/// A buffer that gives memory back keeps so many slots, 1 KiB: most of those that are seldom used need no more.
const KEPT_SLOTS: usize = 16;

impl Buffer {
    /// Lets in no more packets than wait now, until it is opened again: what comes must replace another.
    pub(crate) fn close(&mut self) {
        self.most = self.len;
    }

    /// Has all the room of its limit again.
    pub(crate) fn open(&mut self) {
        self.most = self.limit.packets;
    }

    /// Gives back the memory of slots, where nothing waits and more than a few were used. From then on memory for slots is taken
    /// as they are needed.
    pub(crate) fn release(&mut self) {
        let holds_much = self.slots.capacity() > KEPT_SLOTS;
        if holds_much && self.is_empty() {
            self.slots = Vec::new();
            self.free_slot = NONE;
        }
    }
}
