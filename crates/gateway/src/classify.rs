//! From a frame's bytes to what a discipline knows of it.

use fairwire_core::{Ecn, FlowHash};
use fairwire_wire::flow_key::{FlowHasher, FlowKey};
use fairwire_wire::headers::{Headers, parse};

/// Reads headers and names flows.
#[derive(Clone, Debug)]
pub struct Classifier {
    hasher: FlowHasher,
    overhead_bytes: i32,
}

/// What a classifier found in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The frame's flow.
    pub flow: FlowHash,
    /// Bytes on the shaped link, its overhead included.
    pub len: u32,
    /// The ECN field.
    pub ecn: Ecn,
    /// The differentiated-services codepoint.
    pub dscp: u8,
    /// Is it an IP packet? ARP and the like keep a link alive and are not shaped.
    pub is_ip: bool,
}

/// Bytes of an Ethernet header: less this, a frame counts as its IP packet.
pub const ETHERNET_HEADER_BYTES: i32 = 14;

impl Classifier {
    /// Names flows by `hasher`, and counts a frame as its bytes from the Ethernet header on, without frame check sequence,
    /// plus `overhead_bytes`: 24 for what else Ethernet sends per frame, -14 to count IP packets alone.
    pub fn new(hasher: FlowHasher, overhead_bytes: i32) -> Self {
        Classifier { hasher, overhead_bytes }
    }

    /// The hash of the flow `key`.
    pub fn flow(&self, key: &FlowKey) -> FlowHash {
        self.hasher.hash(key)
    }

    /// The facts of `frame`, which starts at its Ethernet header. No bytes make it fail.
    pub fn classify(&self, frame: &[u8]) -> Facts {
        self.facts(frame, &parse(frame), frame.len())
    }

    /// The facts of `frame`, in which `headers` were found, and which counts as `bytes` from the Ethernet header on: where the
    /// link has none, as if there were one.
    #[inline]
    pub fn facts(&self, frame: &[u8], headers: &Headers, bytes: usize) -> Facts {
        let network = headers.network;
        Facts {
            flow: self.hasher.hash(&headers.flow_key(frame)),
            len: self.wire_bytes(bytes),
            ecn: network.map_or(Ecn::NotEct, |network| network.ecn),
            dscp: network.map_or(0, |network| network.dscp),
            is_ip: network.is_some(),
        }
    }

    /// Bytes that a frame of `frame` bytes takes on the shaped link. At least one byte, however negative the overhead: a packet that takes no time would be served for nothing.
    #[inline]
    pub fn wire_bytes(&self, frame: usize) -> u32 {
        (frame as i64 + i64::from(self.overhead_bytes)).clamp(1, i64::from(u32::MAX)) as u32
    }
}
