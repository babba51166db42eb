//! The descriptor of a packet.

use crate::flow::FlowHash;
use crate::time::Time;

/// The descriptor of a packet: 32 bytes, never cloned. The caller keeps the packet's bytes.
#[derive(Debug, PartialEq, Eq)]
#[repr(C)] // as C sees it
pub struct Packet {
    /// Salted hash of the flow key, computed once by the classifier.
    pub flow: FlowHash,
    /// Its time of arrival at this hop.
    pub arrived: Time,
    /// The caller's frame: an arena slot in the simulator, a buffer index in the gateway.
    pub frame: u32,
    /// Bytes on the wire. In the gateway and in replayed captures, link-layer overhead is included.
    pub len: u32,
    /// The classifier's class (a subscriber, a host, a leaf of a class tree); 0 for none.
    pub class: u32,
    /// The ECN codepoint. The caller writes a changed codepoint into the header when it sends the
    /// packet.
    pub ecn: Ecn,
    /// The differentiated-services codepoint (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// Drop precedence from a marker: 0 green, 1 yellow, 2 red.
    pub color: u8,
}

const _: () = assert!(size_of::<Packet>() == 32);

impl Packet {
    /// A packet of `len` bytes on the wire: green, best-effort, not ECN-capable, without a class.
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
    /// The codepoint in the two low bits of the IPv4 type-of-service or IPv6 traffic-class octet.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// The name in traces and tables (RFC 3168, section 5).
    pub const fn name(self) -> &'static str {
        match self {
            Ecn::NotEct => "not-ect",
            Ecn::Ect1 => "ect1",
            Ecn::Ect0 => "ect0",
            Ecn::Ce => "ce",
        }
    }

    /// May a mark signal congestion?
    pub const fn is_capable(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }
}
