//! The headers before IP in a captured packet, by link type (www.tcpdump.org/linktypes.html).

use crate::bytes::{array_at, u8_at, u16_at};
use crate::flow_key::FlowKey;
use crate::headers::{Headers, parse, parse_ip};
use core::fmt;
use fairwire_core::Ecn;

struct Kind {
    numbers: &'static [u16],
    name: &'static str,
    /// Finds the packet and its type. `None` if the frame is encrypted, has no data, or was
    /// captured with too few bytes.
    find: fn(&[u8]) -> Option<Found<'_>>,
}

/// A packet, and the number of preceding bytes that were not on a wire.
struct Found<'a> {
    packet: Packet<'a>,
    pseudo: usize,
}

enum Packet<'a> {
    Ethernet(&'a [u8]),
    Ip(&'a [u8]),
    /// The EtherType of the packet's first header, and the packet.
    Typed(u16, &'a [u8]),
}

/// Link types 12 and 14 are raw IP in files of some BSDs.
const KINDS: [Kind; 14] = [
    Kind { numbers: &[0, 108], name: "null and loopback", find: |data| ip(data, 4) },
    Kind { numbers: &[1], name: "Ethernet", find: |data| found(Packet::Ethernet(data), 0) },
    Kind { numbers: &[9], name: "PPP", find: |data| ppp(data, 0) },
    Kind { numbers: &[12, 14, 101], name: "raw IP", find: |data| ip(data, 0) },
    Kind { numbers: &[50], name: "PPP in HDLC framing", find: hdlc },
    Kind { numbers: &[51], name: "PPPoE", find: |data| found(Packet::Typed(PPPOE_SESSION, data), 0) },
    Kind { numbers: &[104], name: "Cisco HDLC", find: hdlc },
    Kind { numbers: &[105], name: "802.11", find: |data| wireless(data, 0, false) },
    Kind { numbers: &[113], name: "Linux cooked", find: |data| typed(data, 14, 16) },
    Kind { numbers: &[127], name: "802.11 with radiotap", find: radiotap },
    // The first octet contains the direction instead of PPP's address.
    Kind { numbers: &[166], name: "PPP of pppd", find: |data| ppp_protocol(data, 2, 0) },
    Kind { numbers: &[204], name: "PPP with direction", find: |data| ppp(data, 1) },
    Kind { numbers: &[228, 229], name: "IPv4 and IPv6", find: |data| ip(data, 0) },
    Kind { numbers: &[276], name: "Linux cooked, version 2", find: |data| typed(data, 0, 20) },
];

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const PPPOE_SESSION: u16 = 0x8864;

pub(super) struct Parsed {
    /// The flow; `None` if no packet follows the link's headers.
    pub key: Option<FlowKey>,
    /// Its ECN codepoint.
    pub ecn: Ecn,
    /// Bytes of the record that were not on a wire.
    pub pseudo: u32,
}

pub(super) fn seen(link_type: u16, data: &[u8]) -> Option<Parsed> {
    let kind = KINDS.iter().find(|kind| kind.numbers.contains(&link_type))?;
    let Some(Found { packet, pseudo }) = (kind.find)(data) else {
        return Some(Parsed { key: None, ecn: Ecn::NotEct, pseudo: 0 });
    };
    let look = |headers: Headers, frame: &[u8]| (headers.flow_key(frame), headers.ecn());
    let (key, ecn) = match packet {
        Packet::Ethernet(frame) => look(parse(frame), frame),
        Packet::Ip(packet) => look(parse_ip(packet), packet),
        Packet::Typed(ethertype, packet) => {
            let frame = typed_frame(ethertype, packet);
            look(parse(&frame), &frame)
        }
    };
    Some(Parsed { key: Some(key), ecn, pseudo: pseudo as u32 })
}

fn typed_frame(ethertype: u16, packet: &[u8]) -> Vec<u8> {
    const HEADERS: usize = 512; // IP and transport, with extensions and tags before them
    [&[0; 12][..], &ethertype.to_be_bytes(), &packet[..packet.len().min(HEADERS)]].concat()
}

fn found(packet: Packet<'_>, pseudo: usize) -> Option<Found<'_>> {
    Some(Found { packet, pseudo })
}

fn ip(data: &[u8], skipped: usize) -> Option<Found<'_>> {
    found(Packet::Ip(data.get(skipped..)?), 0)
}

fn typed(data: &[u8], ethertype: usize, at: usize) -> Option<Found<'_>> {
    found(Packet::Typed(u16_at(data, ethertype)?, data.get(at..)?), 0)
}

/// A PPP packet after `pseudo` bytes. Its address and control octets (RFC 1662) may be absent.
fn ppp(data: &[u8], pseudo: usize) -> Option<Found<'_>> {
    let framing = if array_at(data, pseudo) == Some([0xff, 0x03]) { 2 } else { 0 };
    ppp_protocol(data, pseudo + framing, pseudo)
}

/// A PPP packet. The protocol at `at` has one octet if its first octet is odd, otherwise two (RFC
/// 1661, section 2).
fn ppp_protocol(data: &[u8], at: usize, pseudo: usize) -> Option<Found<'_>> {
    let first = u8_at(data, at)?;
    let (protocol, len) = if first & 1 == 1 { (first.into(), 1) } else { (u16_at(data, at)?, 2) };
    let ethertype = match protocol {
        0x21 => IPV4,
        0x57 => IPV6,
        other => other, // a control protocol
    };
    found(Packet::Typed(ethertype, data.get(at + len..)?), pseudo)
}

/// PPP with HDLC framing, or Cisco's HDLC, which has a different address octet (RFC 1547, section
/// 4.3.1).
fn hdlc(data: &[u8]) -> Option<Found<'_>> {
    match u8_at(data, 0)? {
        0x0f | 0x8f => typed(data, 2, 4),
        _ => ppp(data, 0),
    }
}

/// An 802.11 frame. The radiotap header before the frame (radiotap.org) was not on the wire.
fn radiotap(data: &[u8]) -> Option<Found<'_>> {
    let little = |at| array_at(data, at).map(u16::from_le_bytes);
    let len = little(2)?.into();
    // Bitmaps of the present fields precede the fields. The highest bit of each bitmap announces
    // another bitmap.
    let mut fields = 8;
    while u8_at(data, fields - 1)? & 0x80 != 0 {
        fields += 4;
    }
    let present = u8_at(data, 4)?;
    // The first fields are the time (eight octets, aligned to eight) and the flags.
    let flags_at = if present & 1 != 0 { fields.next_multiple_of(8) + 8 } else { fields };
    let flags = if present & 2 != 0 { u8_at(data, flags_at)? } else { 0 };
    wireless(data, len, flags & 0x20 != 0)
}

/// An 802.11 frame after `pseudo` bytes. LLC and SNAP follow its header, which is padded to a
/// multiple of four bytes if `is_padded`.
fn wireless(data: &[u8], pseudo: usize, is_padded: bool) -> Option<Found<'_>> {
    let [kind, flags] = array_at(data, pseudo)?;
    let (is_data, has_quality) = (kind & 0x0c == 0x08, kind & 0x80 != 0);
    let (is_empty, is_encrypted) = (kind & 0x40 != 0, flags & 0x40 != 0);
    if !is_data || is_empty || is_encrypted {
        return None;
    }
    let fourth_address = if flags & 3 == 3 { 6 } else { 0 };
    let control = if has_quality { 2 } else { 0 };
    let throughput = if has_quality && flags & 0x80 != 0 { 4 } else { 0 };
    let header = 24 + fourth_address + control + throughput;
    let is_many = has_quality && u8_at(data, pseudo + 24 + fourth_address)? & 0x80 != 0;
    let header = if is_padded { header + (4 - header % 4) % 4 } else { header };
    // Only the first packet of an aggregate is read. Two addresses and a length precede the packet.
    let at = pseudo + header + if is_many { 14 } else { 0 };
    let logical: [u8; 8] = array_at(data, at)?;
    if logical[..3] != [0xaa, 0xaa, 0x03] {
        return None;
    }
    found(Packet::Typed(u16::from_be_bytes([logical[6], logical[7]]), data.get(at + 8..)?), pseudo)
}

/// Other link types found in files, by number. In their frames, no IP header can be located.
const OTHERS: [(u16, &str); 24] = [
    (6, "token ring"),
    (8, "SLIP"),
    (10, "FDDI"),
    (100, "ATM"),
    (107, "frame relay"),
    (117, "pflog"),
    (119, "802.11 with Prism"),
    (147, "user 0"),
    (163, "802.11 with AVS"),
    (165, "BACnet"),
    (187, "Bluetooth HCI H4"),
    (189, "USB of Linux"),
    (192, "PPI"),
    (195, "802.15.4"),
    (201, "Bluetooth HCI H4 with direction"),
    (220, "USB of Linux, mapped"),
    (227, "CAN"),
    (239, "NFLOG"),
    (247, "InfiniBand"),
    (249, "USBPcap"),
    (251, "Bluetooth low energy"),
    (252, "Wireshark's own"),
    (253, "netlink"),
    (283, "802.15.4 with TAP"),
];

/// A link type number in words: `189 (USB of Linux)`.
pub(super) struct Unknown(pub u16);

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            OTHERS.iter().find(|(number, _)| *number == self.0).map_or("no name known", |(_, name)| name);
        write!(f, "{} ({name})", self.0)
    }
}

pub(super) struct Known;

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Kind { numbers, name, .. }) in KINDS.iter().enumerate() {
            write!(f, "{}{name} (", if at == 0 { "" } else { ", " })?;
            for (at, number) in numbers.iter().enumerate() {
                write!(f, "{}{number}", if at == 0 { "" } else { ", " })?;
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}
