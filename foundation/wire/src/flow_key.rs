//! The flow of a frame, and its hash under a secret key.
//!
//! An IP packet's flow is its 5-tuple. The **fragments** of a datagram share a key of addresses and
//! protocol, because only the first contains the ports. The key excludes the identification.
//! Otherwise, each datagram would be a new flow with a new fair share.
//!
//! An IPv6 key has the protocol of the fragment header. Fragments of one packet may name different
//! protocols (RFC 8200, section 4.5), which only spreads the packet over several flows.
//!
//! VLAN tags are in no key.

use crate::bytes::array_at;
use crate::headers::{Fragment, Headers, Network, Ports, Version};
use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use fairwire_core::FlowHash;
use siphasher::sip::SipHasher13;

/// The header fields that all packets of one flow share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FlowKey {
    /// IPv4.
    Ipv4(Tuple<Ipv4Addr>),
    /// IPv6.
    Ipv6(Tuple<Ipv6Addr>),
    /// A packet that is not IP, or has an invalid IP header.
    Other {
        /// The EtherType; 0 in an IEEE 802.3 frame or if absent.
        ethertype: u16,
        /// The sender's address; zero if absent.
        source: [u8; 6],
        /// The receiver's address; zero if absent.
        destination: [u8; 6],
    },
}

/// The 5-tuple of an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tuple<Address> {
    /// The sender's address.
    pub source: Address,
    /// The receiver's address.
    pub destination: Address,
    /// The IP protocol number.
    pub protocol: u8,
    /// The ports; absent in fragments and in protocols without ports.
    pub ports: Option<Ports>,
}

impl Headers {
    /// The flow of `frame`, which must have these headers.
    pub fn flow_key(&self, frame: &[u8]) -> FlowKey {
        self.network.and_then(|network| self.ip_key(frame, &network)).unwrap_or_else(|| self.other_key(frame))
    }

    fn ip_key(&self, frame: &[u8], network: &Network) -> Option<FlowKey> {
        let ports = self.transport.map(|t| t.ports).filter(|_| network.fragment == Fragment::Whole);
        let (protocol, at) = (network.protocol, network.offset);
        Some(match network.version {
            Version::V4 => {
                let source = array_at::<4>(frame, at + 12)?.into();
                let destination = array_at::<4>(frame, at + 16)?.into();
                FlowKey::Ipv4(Tuple { source, destination, protocol, ports })
            }
            Version::V6 => {
                let source = array_at::<16>(frame, at + 8)?.into();
                let destination = array_at::<16>(frame, at + 24)?.into();
                FlowKey::Ipv6(Tuple { source, destination, protocol, ports })
            }
        })
    }

    fn other_key(&self, frame: &[u8]) -> FlowKey {
        let address = |at| self.has_ethernet.then(|| array_at(frame, at)).flatten().unwrap_or_default();
        FlowKey::Other { ethertype: self.ethertype.unwrap_or(0), source: address(6), destination: address(0) }
    }
}

/// The fields of a [`FlowKey`] that distinguish flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// The entire key: one flow per conversation.
    #[default]
    FiveTuple,
    /// The sender's address: one flow per sending host.
    SourceHost,
    /// The receiver's address: one flow per receiving host.
    DestinationHost,
    /// The first bits of the sender's address: one flow per sending network.
    SourceNetwork(NetworkBits),
    /// The first bits of the receiver's address.
    DestinationNetwork(NetworkBits),
}

/// The number of leading address bits that identify a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NetworkBits {
    /// Bits of an IPv4 address; 32 or more for the entire address.
    pub ipv4: u8,
    /// Bits of an IPv6 address; 128 or more for the entire address.
    pub ipv6: u8,
}

/// A flow identified by a number instead of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// A subscriber or another class.
    Class(u32),
    /// A VLAN identifier.
    Vlan(u16),
    /// A differentiated-services codepoint.
    Dscp(u8),
    /// An Ethernet address.
    Mac([u8; 6]),
}

/// Hashes keys with SipHash-1-3 under a secret key, so no sender can target another flow's hash.
///
/// The same secret key gives the same hashes on every machine.
#[derive(Clone, Copy, Debug)]
pub struct FlowHasher {
    sip: SipHasher13,
    kind: KeyKind,
}

impl FlowHasher {
    /// Hashes entire flow keys (5-tuples) under `key`. A gateway takes `key` from the system's
    /// random source.
    pub fn new(key: [u8; 16]) -> Self {
        FlowHasher { sip: SipHasher13::new_with_key(&key), kind: KeyKind::FiveTuple }
    }

    /// This hasher, with flows distinguished by `kind`.
    pub fn by(self, kind: KeyKind) -> Self {
        FlowHasher { kind, ..self }
    }

    /// The hash of the flow of `key`.
    pub fn hash(&self, key: &FlowKey) -> FlowHash {
        let (bytes, len) = self.encode(key);
        FlowHash(self.sip.hash(&bytes[..len]))
    }

    /// The hash of a flow identified by a number. The first hashed octet is one that no [`FlowKey`]
    /// has.
    pub fn hash_number(&self, number: Number) -> FlowHash {
        let (form, value) = match number {
            Number::Class(class) => (8, class),
            Number::Vlan(vlan) => (9, vlan.into()),
            Number::Dscp(dscp) => (10, dscp.into()),
            Number::Mac([a, b, c, d, e, f]) => return FlowHash(self.sip.hash(&[11, a, b, c, d, e, f])),
        };
        let [a, b, c, d] = value.to_be_bytes();
        FlowHash(self.sip.hash(&[form, a, b, c, d]))
    }

    /// The bytes to hash. They differ for different flows of one [`KeyKind`]: the first octet
    /// identifies the form (IPv4, IPv6 or other), and each form has a fixed length.
    fn encode(&self, key: &FlowKey) -> (Encoded, usize) {
        match key {
            FlowKey::Ipv4(tuple) => self.encode_tuple(4, tuple, |a| a.octets()),
            FlowKey::Ipv6(tuple) => self.encode_tuple(6, tuple, |a| a.octets()),
            FlowKey::Other { ethertype, source, destination } => {
                let [high, low] = ethertype.to_be_bytes();
                match self.kind {
                    KeyKind::FiveTuple => join(&[&[1, high, low], source, destination]),
                    KeyKind::SourceHost | KeyKind::SourceNetwork(_) => join(&[&[1], source]),
                    KeyKind::DestinationHost | KeyKind::DestinationNetwork(_) => join(&[&[1], destination]),
                }
            }
        }
    }

    fn encode_tuple<A: Copy, const N: usize>(
        &self,
        form: u8,
        tuple: &Tuple<A>,
        octets: impl Fn(A) -> [u8; N],
    ) -> (Encoded, usize) {
        let (source, destination) = (octets(tuple.source), octets(tuple.destination));
        match self.kind {
            KeyKind::SourceHost => join(&[&[form], &source]),
            KeyKind::DestinationHost => join(&[&[form], &destination]),
            KeyKind::SourceNetwork(bits) => join(&[&[form], &masked(source, bits.of(N))]),
            KeyKind::DestinationNetwork(bits) => join(&[&[form], &masked(destination, bits.of(N))]),
            KeyKind::FiveTuple => {
                let ports = tuple.ports.unwrap_or(Ports { source: 0, destination: 0 });
                join(&[
                    &[form, tuple.protocol, u8::from(tuple.ports.is_some())],
                    &source,
                    &destination,
                    &ports.source.to_be_bytes(),
                    &ports.destination.to_be_bytes(),
                ])
            }
        }
    }
}

impl NetworkBits {
    fn of(self, octets: usize) -> u8 {
        if octets == 4 { self.ipv4 } else { self.ipv6 }
    }
}

fn masked<const N: usize>(mut octets: [u8; N], bits: u8) -> [u8; N] {
    for (at, octet) in octets.iter_mut().enumerate() {
        let kept = usize::from(bits).saturating_sub(at * 8).min(8) as u32;
        *octet &= !(0xff_u16 >> kept) as u8;
    }
    octets
}

/// The longest encoding: form, protocol, a flag, two IPv6 addresses and two ports.
type Encoded = [u8; 3 + 32 + 4];

fn join(parts: &[&[u8]]) -> (Encoded, usize) {
    let mut bytes: Encoded = [0; 39];
    let mut len = 0;
    for part in parts {
        bytes[len..len + part.len()].copy_from_slice(part);
        len += part.len();
    }
    (bytes, len)
}

impl fmt::Display for FlowKey {
    /// Writes, for example, `udp 10.0.0.1:4000 -> 10.0.0.2:53`, `icmp 10.0.0.1 -> 10.0.0.2`, or
    /// `0806 02:00:00:00:00:01 -> ff:ff:ff:ff:ff:ff`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlowKey::Ipv4(tuple) => tuple.fmt(f),
            FlowKey::Ipv6(tuple) => tuple.fmt(f),
            FlowKey::Other { ethertype, source, destination } => {
                write!(f, "{ethertype:04x} {} -> {}", Mac(*source), Mac(*destination))
            }
        }
    }
}

impl<A: Copy + fmt::Display + Into<core::net::IpAddr>> fmt::Display for Tuple<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match protocol_name(self.protocol) {
            Some(name) => write!(f, "{name} "),
            None => write!(f, "protocol {} ", self.protocol),
        }?;
        let end = |address: A, port| SocketAddr::new(address.into(), port);
        match self.ports {
            None => write!(f, "{} -> {}", self.source, self.destination),
            Some(ports) => {
                write!(
                    f,
                    "{} -> {}",
                    end(self.source, ports.source),
                    end(self.destination, ports.destination)
                )
            }
        }
    }
}

fn protocol_name(protocol: u8) -> Option<&'static str> {
    Some(match protocol {
        1 => "icmp",
        6 => "tcp",
        17 => "udp",
        33 => "dccp",
        58 => "icmpv6",
        132 => "sctp",
        136 => "udp-lite",
        _ => return None,
    })
}

/// An Ethernet address, displayed like `02:00:00:00:00:01`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mac(pub [u8; 6]);

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}
