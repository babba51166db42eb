//! The position of a packet in its flow's queue.

use fairwire_core::{Buffer, FlowKey, Key, Packet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The only packet.
    Only,
    /// The first of several packets, with the key of the next.
    First(Key),
    /// Others precede it.
    Behind,
}

impl Standing {
    #[inline]
    pub(super) fn of(key: Key, buffer: &Buffer) -> Self {
        if buffer.flow_head(buffer.flow_of(key)) != key {
            return Standing::Behind;
        }
        match buffer.flow_newer(key) {
            Some(next) => Standing::First(next),
            None => Standing::Only,
        }
    }
}

#[inline]
pub(super) fn head(flow: FlowKey, buffer: &Buffer) -> Option<&Packet> {
    (buffer.flow_backlog(flow).packets > 0).then(|| buffer.packet(buffer.flow_head(flow)))
}
