//! The packets of a source of datagrams, and what is wrong with those that cannot be.

use fairwire_core::{Duration, Ecn, Time};

/// The largest packet: what IP can carry (RFC 791, RFC 8200).
pub(super) const MAX_BYTES: u64 = 65_535;

/// A packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// When it is sent; never before the call that returned it.
    pub at: Time,
    /// Bytes on the wire.
    pub bytes: u32,
    /// Which of the source's conversations it belongs to, counted from 0.
    pub conversation: u16,
    /// Its ECN codepoint; that of its group if it is not capable.
    pub ecn: Ecn,
}

impl Emission {
    /// Of a source with one conversation.
    pub fn of(bytes: u32, at: Time) -> Self {
        Emission { at, bytes, conversation: 0, ecn: Ecn::NotEct }
    }
}

/// `bytes` as a packet: whole, with room for its headers, and no larger than IP allows.
pub(super) fn whole_bytes(bytes: f64, header_bytes: u32) -> u32 {
    ((bytes + 0.5) as u64).clamp(u64::from(header_bytes).max(1), MAX_BYTES) as u32
}

/// What is wrong with packets of `bytes`, `header_bytes` of them headers.
pub(super) fn packet_problem(bytes: u32, header_bytes: u32) -> Option<String> {
    if bytes == 0 || u64::from(bytes) > MAX_BYTES {
        return Some(format!("a packet of {bytes} bytes is none that IP could carry: 1 to {MAX_BYTES}"));
    }
    (header_bytes > bytes).then(|| format!("{header_bytes} of {bytes} bytes cannot be headers"))
}

/// What is wrong with `gap`: without it a source would send for ever at one instant.
pub(crate) fn gap_problem(gap: Duration) -> Option<String> {
    gap.is_zero().then(|| "a time between packets or connections must be above zero".to_owned())
}
