//! Parses a frame's headers in one pass, without allocation or panic.
//!
//! A truncated or inconsistent header ends the pass; the fields parsed before it are kept.

use crate::bytes::{array_at, u8_at, u16_at};
use core::ops::RangeInclusive;
use fairwire_core::Ecn;

/// EtherType of IPv4 (IEEE 802 numbers, RFC 9542).
pub const ETHERTYPE_IPV4: u16 = 0x0800;
/// EtherType of IPv6.
pub const ETHERTYPE_IPV6: u16 = 0x86dd;

/// IP protocol number of TCP.
pub const TCP: u8 = 6;
/// IP protocol number of UDP.
pub const UDP: u8 = 17;
/// IP protocol number of SCTP.
pub const SCTP: u8 = 132;

const DCCP: u8 = 33;
const UDP_LITE: u8 = 136;

/// Bytes of an Ethernet header without a tag.
pub const ETHERNET_BYTES: usize = 14;
const VLAN_TAG_BYTES: usize = 4;
/// The EtherTypes of VLAN tags: 802.1Q, 802.1ad, and three older ones for stacked tags.
const VLAN_TYPES: [u16; 5] = [0x8100, 0x88a8, 0x9100, 0x9200, 0x9300];
/// The maximum number of VLAN tags. A frame with more does not count as IP.
pub const MAX_VLAN_TAGS: u8 = 8;
/// The maximum number of bytes before an IP header: Ethernet, VLAN tags, and PPPoE (or LLC and
/// SNAP, which are equally long).
pub const MAX_LINK_BYTES: usize = ETHERNET_BYTES + MAX_VLAN_TAGS as usize * VLAN_TAG_BYTES + PPPOE_BYTES;
/// A PPPoE session (RFC 2516, section 4).
const PPPOE_SESSION: u16 = 0x8864;
/// Bytes of the PPPoE header and the PPP protocol.
const PPPOE_BYTES: usize = 8;
/// The LLC header for SNAP, then SNAP's organisation code 0. An EtherType follows (RFC 1042).
const SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0, 0, 0];
/// Bytes of LLC, SNAP and the EtherType.
const SNAP_BYTES: usize = 8;
/// The smallest EtherType. A smaller value is the length of an IEEE 802.3 frame (IEEE 802.3, clause
/// 3.2.6).
const MIN_ETHERTYPE: u16 = 0x0600;

/// The parsed fields of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// Does the frame start with Ethernet addresses?
    pub has_ethernet: bool,
    /// The EtherType after the VLAN tags; absent in an IEEE 802.3 frame.
    pub ethertype: Option<u16>,
    /// VLAN tags, 0 to [`MAX_VLAN_TAGS`].
    pub vlan_tags: u8,
    /// The encapsulation between the VLAN tags and the IP header, if any.
    pub between: Between,
    /// The IP header, if complete.
    pub network: Option<Network>,
    /// The transport header, if its ports are present. In a fragmented datagram, only the first
    /// fragment has one.
    pub transport: Option<Transport>,
}

/// The encapsulation between the VLAN tags and an IP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Between {
    /// Nothing, as on most links.
    #[default]
    Nothing,
    /// A PPPoE session header and the PPP protocol, 8 bytes in total (RFC 2516). The length field
    /// counts the bytes after the field.
    Pppoe,
    /// LLC and SNAP headers of 8 bytes (RFC 1042). Before them, a length field replaces the
    /// EtherType.
    Snap,
}

impl Between {
    /// The length in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Between::Nothing => 0,
            Between::Pppoe => PPPOE_BYTES,
            Between::Snap => SNAP_BYTES,
        }
    }
}

/// The fields of an IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// IPv4 or IPv6.
    pub version: Version,
    /// The start of the IP header, in bytes from the start of the frame.
    pub offset: usize,
    /// The packet's end by its length field, but at most the frame's end. A length of zero, as in
    /// super-packets over 64 KiB, means the frame's end.
    pub end: usize,
    /// Does the packet claim more bytes than the frame contains?
    pub is_truncated: bool,
    /// Is the length field zero?
    pub is_length_zero: bool,
    /// True if an IPv6 routing header has segments left, so the destination is not the final one
    /// (RFC 8200, section 4.4).
    pub is_source_routed: bool,
    /// Differentiated-services codepoint, 0 to 63 (RFC 2474).
    pub dscp: u8,
    /// The ECN field (RFC 3168, section 5).
    pub ecn: Ecn,
    /// The protocol after IPv6 extension headers. In an IPv6 fragment, the protocol that the
    /// fragment header names.
    pub protocol: u8,
    /// The start of the payload, in bytes from the start of the frame. The payload may be empty.
    pub payload: usize,
    /// The packet's role in its datagram.
    pub fragment: Fragment,
}

/// The version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// RFC 791.
    V4,
    /// RFC 8200.
    V6,
}

/// The role of a packet in its datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fragment {
    /// A complete datagram. It may be an IPv6 "atomic" fragment (RFC 6946).
    Whole,
    /// The first fragment, which contains the transport header.
    First,
    /// A later fragment, without a transport header.
    Later,
}

/// The fields of a transport header with ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transport {
    /// The start of the header, in bytes from the start of the frame.
    pub offset: usize,
    /// The ports.
    pub ports: Ports,
    /// The start of the payload, for TCP and UDP with a complete header.
    pub payload: Option<usize>,
    /// The flags of a TCP header.
    pub tcp_flags: Option<TcpFlags>,
}

/// The two ports of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ports {
    /// The sender's.
    pub source: u16,
    /// The receiver's.
    pub destination: u16,
}

/// The low eight flags of a TCP header (RFC 9293, section 3.1; ECE and CWR: RFC 3168, section 6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// No more data from the sender (FIN).
    pub const FIN: TcpFlags = TcpFlags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: TcpFlags = TcpFlags(0x02);
    /// Reset the connection.
    pub const RST: TcpFlags = TcpFlags(0x04);
    /// Push.
    pub const PSH: TcpFlags = TcpFlags(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: TcpFlags = TcpFlags(0x10);
    /// The urgent pointer is valid.
    pub const URG: TcpFlags = TcpFlags(0x20);
    /// ECN echo.
    pub const ECE: TcpFlags = TcpFlags(0x40);
    /// Congestion window reduced.
    pub const CWR: TcpFlags = TcpFlags(0x80);

    /// Are all of `flags` set?
    pub const fn has(self, flags: TcpFlags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Is at least one of `flags` set?
    pub const fn has_any(self, flags: TcpFlags) -> bool {
        self.0 & flags.0 != 0
    }

    /// Adds `others`.
    pub const fn with(self, others: TcpFlags) -> TcpFlags {
        TcpFlags(self.0 | others.0)
    }

    /// Removes `others`.
    pub const fn without(self, others: TcpFlags) -> TcpFlags {
        TcpFlags(self.0 & !others.0)
    }
}

/// Parses the headers of a frame that starts with its Ethernet header.
pub fn parse(frame: &[u8]) -> Headers {
    parse_at(frame, 0)
}

#[inline]
pub(crate) fn parse_at(frame: &[u8], start: usize) -> Headers {
    let mut at = start + ETHERNET_BYTES;
    let mut headers = Headers { has_ethernet: frame.len() >= at, ..Headers::default() };
    let mut ethertype = u16_at(frame, at - 2);
    while ethertype.is_some_and(|e| VLAN_TYPES.contains(&e)) && headers.vlan_tags < MAX_VLAN_TAGS {
        headers.vlan_tags += 1;
        at += VLAN_TAG_BYTES;
        ethertype = u16_at(frame, at - 2);
    }
    headers.ethertype = ethertype.filter(|&e| e >= MIN_ETHERTYPE);
    headers.network = match headers.ethertype {
        Some(ETHERTYPE_IPV4) => ipv4(frame, at),
        Some(ETHERTYPE_IPV6) => ipv6(frame, at),
        _ => wrapped(frame, at, &mut headers),
    };
    headers.transport = headers.network.as_ref().and_then(|network| transport(frame, network));
    headers
}

/// Parses IP behind PPPoE, or behind LLC and SNAP. `at` is the end of the VLAN tags.
fn wrapped(frame: &[u8], at: usize, headers: &mut Headers) -> Option<Network> {
    let (between, ethertype) = match headers.ethertype {
        Some(PPPOE_SESSION) => (Between::Pppoe, pppoe(frame, at)?),
        None if array_at(frame, at)? == SNAP => (Between::Snap, u16_at(frame, at + SNAP.len())?),
        _ => return None,
    };
    let network = match ethertype {
        ETHERTYPE_IPV4 => ipv4(frame, at + between.bytes()),
        ETHERTYPE_IPV6 => ipv6(frame, at + between.bytes()),
        _ => None,
    }?;
    headers.between = between;
    Some(network)
}

/// The EtherType of a PPPoE payload. A data packet has version 1, type 1 and code 0 (RFC 2516,
/// section 4). PPP numbers: RFC 1332 for IPv4, RFC 5072 for IPv6.
fn pppoe(frame: &[u8], at: usize) -> Option<u16> {
    let header: [u8; PPPOE_BYTES] = array_at(frame, at)?;
    match (header[0], header[1], [header[6], header[7]]) {
        (0x11, 0, [0x00, 0x21]) => Some(ETHERTYPE_IPV4),
        (0x11, 0, [0x00, 0x57]) => Some(ETHERTYPE_IPV6),
        _ => None,
    }
}

/// Parses the headers of a bare IP packet from a TUN device.
pub fn parse_ip(packet: &[u8]) -> Headers {
    let (ethertype, network) = match u8_at(packet, 0).map(|first| first >> 4) {
        Some(4) => (Some(ETHERTYPE_IPV4), ipv4(packet, 0)),
        Some(6) => (Some(ETHERTYPE_IPV6), ipv6(packet, 0)),
        _ => (None, None),
    };
    let transport = network.as_ref().and_then(|network| transport(packet, network));
    Headers { ethertype, network, transport, ..Headers::default() }
}

impl Headers {
    /// Is there a complete IP header?
    pub fn is_ip(&self) -> bool {
        self.network.is_some()
    }

    /// The identifier of the outer VLAN, 1 to 4095. `frame` must be the parsed frame. Identifier 0
    /// names no VLAN, only a priority (IEEE 802.1Q, clause 9.6).
    pub fn outer_vlan(&self, frame: &[u8]) -> Option<u16> {
        let tag = u16_at(frame, ETHERNET_BYTES).filter(|_| self.vlan_tags > 0)?;
        Some(tag & 0x0fff).filter(|&vlan| vlan != 0)
    }

    /// The identifier of the inner VLAN, from the second tag (IEEE 802.1ad), 1 to 4095.
    pub fn inner_vlan(&self, frame: &[u8]) -> Option<u16> {
        let tag = u16_at(frame, ETHERNET_BYTES + VLAN_TAG_BYTES).filter(|_| self.vlan_tags > 1)?;
        Some(tag & 0x0fff).filter(|&vlan| vlan != 0)
    }

    /// The identifier of the PPPoE session that carries the IP packet (RFC 2516, section 4).
    pub fn pppoe_session(&self, frame: &[u8]) -> Option<u16> {
        let tags = usize::from(self.vlan_tags) * VLAN_TAG_BYTES;
        // The session identifier follows two octets: version and type, then the code.
        u16_at(frame, ETHERNET_BYTES + tags + 2).filter(|_| self.between == Between::Pppoe)
    }

    /// The ECN codepoint; [`Ecn::NotEct`] without IP.
    pub fn ecn(&self) -> Ecn {
        self.network.map_or(Ecn::NotEct, |n| n.ecn)
    }

    /// The differentiated-services codepoint, 0 to 63; 0 without IP.
    pub fn dscp(&self) -> u8 {
        self.network.map_or(0, |n| n.dscp)
    }

    /// Is the packet a fragment of a datagram?
    pub fn is_fragment(&self) -> bool {
        self.network.is_some_and(|n| n.fragment != Fragment::Whole)
    }

    /// Is the packet the fragment with the transport header?
    pub fn is_first_fragment(&self) -> bool {
        self.network.is_some_and(|n| n.fragment == Fragment::First)
    }

    /// The flags of the TCP header, if any.
    pub fn tcp_flags(&self) -> Option<TcpFlags> {
        self.transport.and_then(|t| t.tcp_flags)
    }

    /// The range of the TCP or UDP payload in the frame, without Ethernet padding.
    pub fn payload(&self) -> Option<core::ops::Range<usize>> {
        let start = self.transport?.payload?;
        Some(start..self.network?.end)
    }
}

const IPV4_BYTES: RangeInclusive<usize> = 20..=60;

/// Parses an IPv4 header (RFC 791, section 3.1).
#[inline]
pub(crate) fn ipv4(frame: &[u8], offset: usize) -> Option<Network> {
    let fixed: [u8; 20] = array_at(frame, offset)?;
    let header = usize::from(fixed[0] & 0x0f) * 4;
    let payload = offset + header;
    let length = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    let is_odd = fixed[0] >> 4 != 4 || !IPV4_BYTES.contains(&header) || payload > frame.len();
    if is_odd || (length != 0 && length < header) {
        return None;
    }
    let flags = u16::from_be_bytes([fixed[6], fixed[7]]);
    let fragment = Fragment::at(flags & 0x1fff, flags & 0x2000 != 0);
    let (end, is_truncated) = extent(frame, offset, length);
    Some(Network {
        version: Version::V4,
        offset,
        end,
        is_truncated,
        is_length_zero: length == 0,
        is_source_routed: false,
        dscp: fixed[1] >> 2,
        ecn: Ecn::from_bits(fixed[1]),
        protocol: fixed[9],
        payload,
        fragment,
    })
}

const IPV6_BYTES: usize = 40;

/// Parses an IPv6 header (RFC 8200, section 3).
#[inline]
pub(crate) fn ipv6(frame: &[u8], offset: usize) -> Option<Network> {
    let fixed: [u8; IPV6_BYTES] = array_at(frame, offset)?;
    if fixed[0] >> 4 != 6 {
        return None;
    }
    let traffic_class = fixed[0] << 4 | fixed[1] >> 4;
    let length = match usize::from(u16::from_be_bytes([fixed[4], fixed[5]])) {
        0 => 0,
        payload => IPV6_BYTES + payload,
    };
    let (end, is_truncated) = extent(frame, offset, length);
    let mut network = Network {
        version: Version::V6,
        offset,
        end,
        is_truncated,
        is_length_zero: length == 0,
        is_source_routed: false,
        dscp: traffic_class >> 2,
        ecn: Ecn::from_bits(traffic_class),
        protocol: fixed[6],
        payload: offset + IPV6_BYTES,
        fragment: Fragment::Whole,
    };
    walk_extensions(frame, &mut network);
    Some(network)
}

/// The packet's end in `frame`, and whether the packet is truncated.
fn extent(frame: &[u8], offset: usize, length: usize) -> (usize, bool) {
    match length {
        0 => (frame.len(), false),
        _ => ((offset + length).min(frame.len()), offset + length > frame.len()),
    }
}

/// The maximum number of parsed extension headers, to bound the work per packet. If a packet has
/// more, `protocol` is the next extension, and the transport is unknown.
const MAX_EXTENSIONS: usize = 8;

/// Moves `network` past its extension headers (RFC 8200, section 4). Stops before a truncated
/// header, and after the fragment header of a packet that is not whole.
fn walk_extensions(frame: &[u8], network: &mut Network) {
    for _ in 0..MAX_EXTENSIONS {
        let Some(header) = array_at::<4>(&frame[..network.end], network.payload) else { return };
        let bytes = match network.protocol {
            // Hop-by-hop, routing, destination options, mobility (RFC 6275), HIP (RFC 7401), shim6
            // (RFC 5533).
            0 | 43 | 60 | 135 | 139 | 140 => 8 + 8 * usize::from(header[1]),
            // The length field of the authentication header counts words, minus two (RFC 4302,
            // section 2.2).
            51 => 8 + 4 * usize::from(header[1]),
            44 => 8,
            _ => return,
        };
        if network.payload + bytes > network.end {
            return;
        }
        if network.protocol == 44 {
            let field = u16::from_be_bytes([header[2], header[3]]);
            network.fragment = Fragment::at(field >> 3, field & 1 != 0);
        }
        network.is_source_routed |= network.protocol == 43 && header[3] != 0;
        network.protocol = header[0];
        network.payload += bytes;
        if network.fragment != Fragment::Whole {
            return;
        }
    }
}

impl Fragment {
    fn at(offset: u16, more: bool) -> Fragment {
        match (offset, more) {
            (0, false) => Fragment::Whole,
            (0, true) => Fragment::First,
            _ => Fragment::Later,
        }
    }
}

#[inline]
pub(crate) fn transport(frame: &[u8], network: &Network) -> Option<Transport> {
    let has_ports = matches!(network.protocol, TCP | UDP | SCTP | DCCP | UDP_LITE);
    if !has_ports || network.fragment == Fragment::Later {
        return None;
    }
    let packet = &frame[..network.end];
    let offset = network.payload;
    let [a, b, c, d] = array_at(packet, offset)?;
    let ports = Ports { source: u16::from_be_bytes([a, b]), destination: u16::from_be_bytes([c, d]) };
    let (payload, tcp_flags) = match network.protocol {
        TCP => (tcp_payload(packet, offset), u8_at(packet, offset + 13).map(TcpFlags)),
        UDP => (Some(offset + 8).filter(|&at| at <= packet.len()), None),
        _ => (None, None),
    };
    Some(Transport { offset, ports, payload, tcp_flags })
}

/// The end of a complete TCP header, including options (RFC 9293, section 3.1).
fn tcp_payload(packet: &[u8], offset: usize) -> Option<usize> {
    let header = usize::from(u8_at(packet, offset + 12)? >> 4) * 4;
    Some(offset + header).filter(|&at| header >= 20 && at <= packet.len())
}
