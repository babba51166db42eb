//! The packets of a datagram source, and checks of their sizes and gaps.

use fairwire_core::{Duration, Ecn, Time};

/// The largest packet, bytes: the limit of IPv4 (RFC 791). The limit of IPv6 is 40 bytes higher
/// (RFC 8200).
pub(super) const MAX_BYTES: u64 = 65_535;

/// A packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// The sending time, no earlier than the call that returned the packet.
    pub at: Time,
    /// Bytes on the wire.
    pub bytes: u32,
    /// The source's conversation, counted from 0.
    pub conversation: u16,
    /// The packet's ECN codepoint. Not-ECT is replaced by the group's codepoint.
    pub ecn: Ecn,
}

impl Emission {
    /// A packet of a source with one conversation.
    pub fn of(bytes: u32, at: Time) -> Self {
        Emission { at, bytes, conversation: 0, ecn: Ecn::NotEct }
    }
}

pub(super) fn whole_bytes(bytes: f64, header_bytes: u32) -> u32 {
    ((bytes + 0.5) as u64).clamp(u64::from(header_bytes).max(1), MAX_BYTES) as u32
}

pub(super) fn packet_problem(bytes: u32, header_bytes: u32) -> Option<String> {
    if bytes == 0 || u64::from(bytes) > MAX_BYTES {
        return Some(format!("a packet has {bytes} bytes, but IP carries 1 to {MAX_BYTES}"));
    }
    (header_bytes > bytes).then(|| format!("{header_bytes} of {bytes} bytes cannot be headers"))
}

/// The problem of `gap`, if any: with a zero gap the source would send forever at one instant.
pub(crate) fn gap_problem(gap: Duration) -> Option<String> {
    gap.is_zero().then(|| "a time between packets or connections must be above zero".to_owned())
}
