//! The descriptor of a packet: a discipline's knowledge of it.

use crate::flow::FlowHash;
use crate::time::Time;

/// The descriptor of one packet: 32 bytes, moved and never cloned. The bytes of the packet stay
/// with the caller.
#[derive(Debug, PartialEq, Eq)]
#[repr(C)] // as C sees it
pub struct Packet {
    /// Salted hash of the flow key, computed once by the classifier.
    pub flow: FlowHash,
    /// Its time of arrival at this hop.
    pub arrived: Time,
    /// The caller's frame: an arena slot in the simulator, a buffer index in the gateway.
    pub frame: u32,
    /// Bytes on the wire. The overhead of the link layer is included if the caller counts it: the
    /// gateway does, and the simulator does only for replayed captures.
    pub len: u32,
    /// The class chosen by the classifier (a subscriber, a host, a leaf of a class tree); 0 if
    /// there is none.
    pub class: u32,
    /// The ECN codepoint. The transmitting side writes a changed codepoint into the header.
    pub ecn: Ecn,
    /// The differentiated-services codepoint (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// Drop precedence from a marker: 0 green, 1 yellow, 2 red.
    pub color: u8,
}

const _: () = assert!(size_of::<Packet>() == 32);

impl Packet {
    /// A green, best-effort, not-ECN-capable packet of no class, of `len` bytes on the wire.
    pub fn new(frame: u32, len: u32, flow: FlowHash, arrived: Time) -> Self {
        Packet { frame, len, flow, arrived, class: 0, ecn: Ecn::NotEct, dscp: 0, color: 0 }
    }
}

/// The ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable: congestion is signalled by drops.
    #[default]
    NotEct = 0b00,
    /// ECN-capable, ECT(1): also the L4S identifier (RFC 9331).
    Ect1 = 0b01,
    /// ECN-capable, ECT(0).
    Ect0 = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// The codepoint in the two low bits of the IPv4 type-of-service or IPv6 traffic-class octet;
    /// higher bits are ignored.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// The name in traces and tables: `not-ect`, `ect1`, `ect0` or `ce` (RFC 3168, section 5).
    pub const fn name(self) -> &'static str {
        match self {
            Ecn::NotEct => "not-ect",
            Ecn::Ect1 => "ect1",
            Ecn::Ect0 => "ect0",
            Ecn::Ce => "ce",
        }
    }

    /// May congestion be signalled by a mark? True for ECT(0), ECT(1) and CE.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }
}
