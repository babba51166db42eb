//! Where a packet stands in its flow's queue: what a scheduler must know when a packet leaves.

use fairwire_core::{Buffer, Key};

/// Where a waiting packet stands in its flow's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is all that its flow has.
    Only,
    /// It is first; this one is next.
    First(Key),
    /// Others are before it.
    Behind,
}

impl Standing {
    /// Where `key` stands.
    #[inline]
    pub fn of(key: Key, buffer: &Buffer) -> Self {
        if buffer.flow_head(buffer.flow_of(key)) != key {
            return Standing::Behind;
        }
        match buffer.flow_newer(key) {
            Some(next) => Standing::First(next),
            None => Standing::Only,
        }
    }
}
