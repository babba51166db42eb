//! Extracts from a frame's bytes the facts that a discipline needs.
//!
//! The inside host is the receiver of a download or the sender of an upload. A packet's class is
//! the first of these that applies:
//!
//! 1. the subscriber with the inside host's address;
//! 2. the subscriber named by the link layer;
//! 3. the first class whose rules match;
//! 4. [`UNCLAIMED`].
//!
//! Packets that are not IP have no class and are not shaped.

mod access;
mod framing;
mod prefix;
mod rules;
mod table;

pub use access::{Access, AccessKey, AccessTable, Bind, parse_mac};
pub use fairwire_linux::port::LinkKind;
pub use framing::{ETHERNET_HEADER_BYTES, Framing};
pub use prefix::{Prefix, PrefixError};
pub use rules::{Claimed, Claims, MatchFields, PortSet, Rule};
pub use table::PrefixTable;

use crate::class_book::UNCLAIMED;
use crate::shared::SharedList;
use fairwire_core::{Ecn, FlowHash, Packet};
use fairwire_wire::flow_key::{FlowHasher, FlowKey, KeyKind, NetworkBits, Number};
use fairwire_wire::headers::Headers;
use fairwire_wire::{Way, assured};
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::Arc;

/// The rewriting of the differentiated-services codepoint (DSCP) of forwarded packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dscp {
    /// It is kept.
    #[default]
    Keep,
    /// Clears the codepoint after classification.
    Wash,
    /// Sets the codepoint to assured forwarding in this class, 1 to 4, with the packet's colour as
    /// drop precedence (RFC 2597).
    Assured(u8),
}

/// Reads the headers of frames, and finds their flows and classes.
#[derive(Clone, Debug)]
pub struct Classifier {
    hasher: FlowHasher,
    flows: FlowKind,
    framing: Framing,
    link: LinkKind,
    way: Way,
    claims: Arc<Claims>,
    /// The hasher of conversations, if they are distinguished within each flow.
    within: Option<FlowHasher>,
    dscp: Dscp,
    /// A flag per class number, true for suspended classes; empty if no class is suspended.
    suspended: SharedList<bool>,
}

/// The settings of a classifier.
#[derive(Clone, Debug)]
pub struct ClassifierPlan {
    /// The key of all hashes; no sender may know it.
    pub secret: [u8; 16],
    /// The definition of a flow.
    pub flows: FlowKind,
    /// The rule for a frame's size on the shaped link.
    pub framing: Framing,
    /// The type of the first header of frames.
    pub link: LinkKind,
    /// The direction, which determines the inside end.
    pub way: Way,
    /// The subscribers' and classes' claims on packets.
    pub claims: Arc<Claims>,
}

/// A random key for all hashes, unknown to all senders.
pub fn secret() -> [u8; 16] {
    // Each `RandomState` has new keys from the system's randomness.
    let [low, high] = [0_u64, 1].map(|word| RandomState::new().hash_one(word).to_ne_bytes());
    std::array::from_fn(|at| if at < 8 { low[at] } else { high[at - 8] })
}

/// The claims on packets, and the suspended subscribers. Unlike classes, subscribers change daily.
#[derive(Clone, Debug, Default)]
pub struct Members {
    /// The subscribers' and classes' claims on packets.
    pub claims: Arc<Claims>,
    /// A flag per class number, true for suspended classes; empty if no class is suspended.
    pub suspended: SharedList<bool>,
}

/// The definition of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowKind {
    /// A conversation: addresses, ports and protocol.
    #[default]
    FiveTuple,
    /// The sending host.
    Source,
    /// The receiving host.
    Destination,
    /// The inside host, by its address.
    Inside,
    /// The inside host, by its Ethernet address.
    Mac,
    /// The outside host.
    Outside,
    /// The network of the inside host.
    Prefix(NetworkBits),
    /// The subscriber, or else the inside host.
    Subscriber,
    /// The outer VLAN; untagged packets are one flow.
    Vlan,
    /// The codepoint.
    Dscp,
}

impl FlowKind {
    fn key_kind(self, way: Way) -> KeyKind {
        use Way::{Download, Upload};
        match (self, way) {
            (FlowKind::Source, _) => KeyKind::SourceHost,
            (FlowKind::Destination, _) => KeyKind::DestinationHost,
            (FlowKind::Inside | FlowKind::Subscriber, Download) | (FlowKind::Outside, Upload) => {
                KeyKind::DestinationHost
            }
            (FlowKind::Inside | FlowKind::Subscriber, Upload) | (FlowKind::Outside, Download) => {
                KeyKind::SourceHost
            }
            (FlowKind::Prefix(bits), Download) => KeyKind::DestinationNetwork(bits),
            (FlowKind::Prefix(bits), Upload) => KeyKind::SourceNetwork(bits),
            (FlowKind::FiveTuple | FlowKind::Vlan | FlowKind::Dscp | FlowKind::Mac, _) => KeyKind::FiveTuple,
        }
    }
}

/// A classifier's findings about a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The frame's flow.
    pub flow: FlowHash,
    /// The conversation, if conversations are distinguished
    /// [within](Classifier::with_conversations) each flow.
    pub within: Option<FlowHash>,
    /// True if flows are hosts, but the packet belongs to no single inside host: it goes to a
    /// group, or its host has no address.
    pub has_no_host: bool,
    /// The number of the class in the [book](crate::class_book).
    pub class: u32,
    /// Bytes on the shaped link, overhead included.
    pub len: u32,
    /// The ECN field.
    pub ecn: Ecn,
    /// The differentiated-services codepoint.
    pub dscp: u8,
    /// The colour, 0 (green) to 2 (red), from a codepoint of assured forwarding. Other codepoints
    /// are green.
    pub color: u8,
    /// Is the packet an IP packet? Other packets, such as ARP, are not shaped.
    pub is_ip: bool,
    /// Does the packet bypass the discipline? True for packets that are not IP, and for some that
    /// [control a network](crate::control).
    pub bypasses: bool,
    /// Is the frame an upload whose link-layer names do not agree with its subscriber?
    pub is_spoofed: bool,
}

impl Classifier {
    /// A classifier without claims. A frame's size is its bytes from the Ethernet header on,
    /// without check sequence, plus `overhead_bytes`. 24 adds Ethernet's other bytes; -14 leaves
    /// only the IP packet.
    pub fn new(hasher: FlowHasher, overhead_bytes: i32) -> Self {
        Classifier {
            hasher,
            flows: FlowKind::FiveTuple,
            framing: Framing { overhead_bytes, minimum_bytes: 1, is_atm: false },
            link: LinkKind::Ethernet,
            way: Way::Download,
            claims: Arc::default(),
            within: None,
            dscp: Dscp::Keep,
            suspended: SharedList::default(),
        }
    }

    /// The classifier of `plan`.
    pub fn of(plan: ClassifierPlan) -> Self {
        let ClassifierPlan { secret, flows, framing, link, way, claims } = plan;
        let hasher = FlowHasher::new(secret).by(flows.key_kind(way));
        let (within, dscp, suspended) = (None, Dscp::Keep, SharedList::default());
        Classifier { hasher, flows, framing, link, way, claims, within, dscp, suspended }
    }

    /// Distinguishes conversations within each flow, so that a discipline can share between flows
    /// and within each flow.
    #[must_use]
    pub fn with_conversations(self) -> Self {
        Classifier { within: Some(self.hasher.by(KeyKind::FiveTuple)), ..self }
    }

    pub(crate) fn way(&self) -> Way {
        self.way
    }

    /// Rewrites codepoints by `dscp` after classification.
    #[must_use]
    pub fn writing(self, dscp: Dscp) -> Self {
        Classifier { dscp, ..self }
    }

    /// Are codepoints cleared?
    #[inline]
    pub fn washes(&self) -> bool {
        self.dscp == Dscp::Wash
    }

    #[inline]
    pub(crate) fn codepoint_of(&self, packet: &Packet) -> Option<u8> {
        let Dscp::Assured(class) = self.dscp else { return None };
        Some(assured::codepoint(class, packet.color))
    }

    /// Sets which classes are suspended, by class number.
    #[must_use]
    pub fn suspending(self, suspended: SharedList<bool>) -> Self {
        Classifier { suspended, ..self }
    }

    /// Swaps the claims on packets and the suspended classes with `members`.
    pub fn swap_members(&mut self, members: &mut Members) {
        std::mem::swap(&mut self.claims, &mut members.claims);
        std::mem::swap(&mut self.suspended, &mut members.suspended);
    }

    #[inline]
    pub(crate) fn suspends(&self, class: u32) -> bool {
        self.suspended.get(class as usize) == Some(&true)
    }

    /// The hash of the flow with `key`, if this classifier's flows are defined by flow keys.
    pub fn flow(&self, key: &FlowKey) -> FlowHash {
        self.hasher.hash(key)
    }

    /// Does every packet keep its flow and its length if `other` takes over? Classes may differ.
    pub(crate) fn names_as(&self, other: &Classifier) -> bool {
        // Flows that are subscribers depend on the subscriber list. One 64-bit hash shows whether
        // both classifiers use the same key.
        let probe = |classifier: &Classifier| classifier.hasher.hash_number(Number::Vlan(0));
        self.flows != FlowKind::Subscriber
            && (self.flows, self.framing, self.link, self.way, self.within.is_some())
                == (other.flows, other.framing, other.link, other.way, other.within.is_some())
            && probe(self) == probe(other)
    }

    /// The headers of `frame`, which begins with this classifier's link header.
    #[inline]
    pub fn headers(&self, frame: &[u8]) -> Headers {
        self.link.parse(frame)
    }

    /// The facts of `frame`, which may be any bytes.
    pub fn classify(&self, frame: &[u8]) -> Facts {
        self.facts(frame, &self.headers(frame), self.link.length(frame, self.way))
    }

    /// The facts of `frame`. The frame counts as `bytes`, which include an Ethernet header even if
    /// the link has none.
    #[inline]
    pub fn facts(&self, frame: &[u8], headers: &Headers, bytes: usize) -> Facts {
        let network = headers.network;
        let key = headers.flow_key(frame);
        let fields = self.fields(headers, &key, frame);
        let subscriber = fields.as_ref().and_then(|fields| self.claims.subscriber(fields));
        let matched = || self.claims.matched(fields.as_ref()?);
        let dscp = network.map_or(0, |network| network.dscp);
        let is_spoofed = self.way == Way::Upload
            && headers.has_ethernet
            && fields
                .as_ref()
                .zip(subscriber)
                .is_some_and(|(fields, subscriber)| !self.claims.agrees(subscriber, fields));
        Facts {
            flow: self.flow_of(&key, fields.as_ref(), subscriber),
            within: self.within.as_ref().map(|hasher| hasher.hash(&key)),
            has_no_host: self.has_no_host(fields.as_ref()),
            class: subscriber.or_else(matched).unwrap_or(UNCLAIMED),
            len: self.wire_bytes(bytes),
            ecn: network.map_or(Ecn::NotEct, |network| network.ecn),
            dscp,
            color: assured::color_of(dscp).unwrap_or(0),
            is_ip: network.is_some(),
            bypasses: network.is_none(),
            is_spoofed,
        }
    }

    /// The size of a frame on the shaped link. `bytes` is its length with the Ethernet header.
    #[inline]
    pub fn wire_bytes(&self, bytes: usize) -> u32 {
        self.framing.wire_bytes(bytes, LinkKind::Ethernet)
    }

    #[inline]
    fn fields(&self, headers: &Headers, key: &FlowKey, frame: &[u8]) -> Option<MatchFields> {
        let (source, destination, protocol, ports): (IpAddr, IpAddr, _, _) = match key {
            FlowKey::Ipv4(tuple) => {
                (tuple.source.into(), tuple.destination.into(), tuple.protocol, tuple.ports)
            }
            FlowKey::Ipv6(tuple) => {
                (tuple.source.into(), tuple.destination.into(), tuple.protocol, tuple.ports)
            }
            FlowKey::Other { .. } => return None,
        };
        let ports = ports.map(|ports| [ports.source, ports.destination]);
        let (inside, outside, ports) = match self.way {
            Way::Download => (destination, source, ports.map(|[source, destination]| [destination, source])),
            Way::Upload => (source, destination, ports),
        };
        let access = Access {
            vlan: headers.outer_vlan(frame),
            inner_vlan: headers.inner_vlan(frame),
            pppoe: headers.pppoe_session(frame),
            mac: headers.mac(frame, self.way),
        };
        Some(MatchFields { inside, outside, access, dscp: headers.dscp(), protocol, ports })
    }

    #[inline]
    fn flow_of(&self, key: &FlowKey, fields: Option<&MatchFields>, subscriber: Option<u32>) -> FlowHash {
        let number = fields.and_then(|fields| match self.flows {
            FlowKind::Mac => fields.access.mac.map(Number::Mac),
            FlowKind::Subscriber => subscriber.map(Number::Class),
            FlowKind::Vlan => Some(Number::Vlan(fields.access.vlan.unwrap_or(0))),
            FlowKind::Dscp => Some(Number::Dscp(fields.dscp)),
            _ => None,
        });
        match number {
            Some(number) => self.hasher.hash_number(number),
            None => self.hasher.hash(key),
        }
    }

    #[inline]
    fn has_no_host(&self, fields: Option<&MatchFields>) -> bool {
        let is_host = matches!(
            (self.flows, self.way),
            (FlowKind::Inside | FlowKind::Mac | FlowKind::Subscriber | FlowKind::Prefix(_), _)
                | (FlowKind::Destination, Way::Download)
                | (FlowKind::Source, Way::Upload)
        );
        let Some(fields) = fields.filter(|_| is_host) else { return false };
        is_group(fields.inside) || fields.access.mac.is_some_and(|mac| mac[0] & 1 == 1)
    }
}

#[inline]
fn is_group(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    address.is_multicast() || address.is_unspecified() || is_broadcast
}

pub(crate) trait InsideMac {
    /// The inside host's Ethernet address. `None` without an Ethernet header, and for zeros, which
    /// a router gives to packets of a VPN.
    fn mac(&self, frame: &[u8], way: Way) -> Option<[u8; 6]>;
}

impl InsideMac for Headers {
    #[inline]
    fn mac(&self, frame: &[u8], way: Way) -> Option<[u8; 6]> {
        let at = match way {
            Way::Download => 0,
            Way::Upload => 6,
        };
        let mac = frame.get(at..at + 6).filter(|_| self.has_ethernet)?.try_into().ok()?;
        (mac != [0; 6]).then_some(mac)
    }
}
