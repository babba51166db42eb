//! A packet as it is sent, and as it comes back where it was lost.

use fairwire_core::{Cause, Ecn};

/// What the queue knows of a packet: its bytes, its flow, and what a law may use beside them.
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
    /// Bytes of the link that it takes, headers included.
    pub bytes: usize,
    /// Its flow.
    pub flow: u64,
    /// Its ECN codepoint.
    pub ecn: Ecn,
    /// Its class, such as a band of `prio` or a class with a weight; 0 if there is none.
    pub class: u32,
    /// Its differentiated-services codepoint; the lowest six bits count.
    pub dscp: u8,
}

impl PacketInfo {
    /// Not ECN-capable, of no class, best effort.
    pub fn new(bytes: usize, flow: u64) -> Self {
        PacketInfo { bytes, flow, ecn: Ecn::NotEct, class: 0, dscp: 0 }
    }

    /// The same with this ECN codepoint.
    #[must_use]
    pub fn ecn(self, ecn: Ecn) -> Self {
        PacketInfo { ecn, ..self }
    }

    /// The same of this class.
    #[must_use]
    pub fn class(self, class: u32) -> Self {
        PacketInfo { class, ..self }
    }

    /// The same with this differentiated-services codepoint.
    #[must_use]
    pub fn dscp(self, dscp: u8) -> Self {
        PacketInfo { dscp: dscp & 63, ..self }
    }
}

/// A packet that did not reach the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostPacket<T, I> {
    /// What was sent.
    pub payload: T,
    /// Its bytes, as they were given.
    pub bytes: usize,
    /// Its flow, as it was given.
    pub flow: u64,
    /// When it was sent.
    pub sent: I,
    /// Why the queue dropped it; `None` where the wire lost it.
    pub cause: Option<Cause>,
}
