//! The bounds of a buffer.

/// The maximum backlog, in packets and in bytes; both bounds hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub(super) packets: u32,
    pub(super) bytes: u64,
}

/// The smallest packet: an IPv4 and a UDP header.
const MIN_PACKET_BYTES: u64 = 28;

const MAX_PACKETS: u32 = 1 << 30; // slots are named by `u32` with one value kept for "none"

impl Limit {
    /// At most `packets` packets of any size. `packets` is 1 to 2^30; with
    /// [`Needs::FLOWS`](crate::Needs::FLOWS) at most 2^24.
    pub const fn packets(packets: u32) -> Self {
        Limit { packets: clamp(packets), bytes: u64::MAX }
    }

    /// At most `bytes` bytes; 0 counts as 1. Memory is reserved for packets of 28 bytes, the
    /// smallest UDP datagram.
    pub const fn bytes(bytes: u64) -> Self {
        let slots = bytes.div_ceil(MIN_PACKET_BYTES);
        let slots = if slots > MAX_PACKETS as u64 { MAX_PACKETS } else { slots as u32 };
        Limit { packets: clamp(slots), bytes: if bytes == 0 { 1 } else { bytes } }
    }

    /// At most `packets` packets and at most `bytes` bytes.
    pub const fn both(packets: u32, bytes: u64) -> Self {
        Limit { packets: clamp(packets), bytes: if bytes == 0 { 1 } else { bytes } }
    }

    /// The bound in packets.
    pub const fn max_packets(&self) -> u32 {
        self.packets
    }

    /// The bound in bytes; [`u64::MAX`] if there is none.
    pub const fn max_bytes(&self) -> u64 {
        self.bytes
    }

    /// Is the buffer bounded in bytes, too?
    pub const fn is_in_bytes(&self) -> bool {
        self.bytes != u64::MAX
    }
}

const fn clamp(packets: u32) -> u32 {
    match packets {
        0 => 1,
        1..=MAX_PACKETS => packets,
        _ => MAX_PACKETS,
    }
}
