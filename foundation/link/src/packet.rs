//! A packet as sent, and as returned if it was lost.

use fairwire_core::{Cause, Ecn};

/// The properties of a packet that the queue uses.
///
/// ```
/// use fairwire_link::{Ecn, PacketInfo};
///
/// let voice = PacketInfo::new(200, 7).dscp(46).class(1).ecn(Ecn::Ect0);
/// assert_eq!((voice.bytes, voice.flow, voice.class), (200, 7, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PacketInfo {
    /// The packet's size on the link in bytes, including headers.
    pub bytes: usize,
    /// Its flow.
    pub flow: u64,
    /// Its ECN codepoint.
    pub ecn: Ecn,
    /// The packet's class, such as a band of `prio` or a weighted class; 0 for none.
    pub class: u32,
    /// The differentiated-services codepoint: the lowest six bits count.
    pub dscp: u8,
}

impl PacketInfo {
    /// A best-effort packet of class 0 that is not ECN-capable.
    pub fn new(bytes: usize, flow: u64) -> Self {
        PacketInfo { bytes, flow, ecn: Ecn::NotEct, class: 0, dscp: 0 }
    }

    /// Sets the ECN codepoint.
    #[must_use]
    pub fn ecn(self, ecn: Ecn) -> Self {
        PacketInfo { ecn, ..self }
    }

    /// Sets the class.
    #[must_use]
    pub fn class(self, class: u32) -> Self {
        PacketInfo { class, ..self }
    }

    /// Sets the differentiated-services codepoint.
    #[must_use]
    pub fn dscp(self, dscp: u8) -> Self {
        PacketInfo { dscp: dscp & 63, ..self }
    }
}

/// A packet that did not reach the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostPacket<T, I> {
    /// The payload, as sent.
    pub payload: T,
    /// The bytes, as given.
    pub bytes: usize,
    /// The flow, as given.
    pub flow: u64,
    /// When the packet was sent.
    pub sent: I,
    /// Why the queue dropped the packet; `None` if the wire lost it.
    pub cause: Option<Cause>,
    /// Why the queue had marked the packet; `None` if it had not.
    pub mark: Option<Cause>,
}
