//! Packet traces in pcapng, with synthetic headers for simulated packets.
//!
//! Source: draft-ietf-opsawg-pcapng-03: section header (4.1), interface description (4.2), enhanced
//! packet (4.3), options (3.5). Blocks are little-endian, with times in nanoseconds.
//!
//! A simulated packet gets a frame that any reader accepts: Ethernet, IPv4 and TCP or UDP with
//! correct lengths and checksums. The payload is zeros, and only headers are captured.

use crate::checksum::{PseudoHeader, checksum, never_zero};
use core::net::Ipv4Addr;
use fairwire_core::{Ecn, Time};

const ETHERNET: usize = 14;
/// Bytes of an IPv4 header without options (RFC 791, section 3.1).
const IPV4: usize = 20;
/// Bytes of a TCP header without options (RFC 9293, section 3.1).
const TCP: usize = 20;
/// Bytes of a UDP header (RFC 768).
const UDP: usize = 8;
/// The maximum number of SACK blocks in a segment with a timestamp (RFC 2018, section 3).
pub const MAX_BLOCKS: usize = 3;
/// The maximum number of bytes captured from a frame.
pub const MAX_CAPTURED: usize = ETHERNET + IPV4 + TCP + sack_bytes(MAX_BLOCKS);

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const LINK_TYPE_ETHERNET: u16 = 1;
const LINK_TYPE_RAW: u16 = 101; // LINKTYPE_RAW: the first four bits are the version of IP
const OPTION_END: u16 = 0;
const OPTION_COMMENT: u16 = 1;
const OPTION_APPLICATION: u16 = 4; // shb_userappl
const OPTION_NAME: u16 = 2; // if_name
const OPTION_RESOLUTION: u16 = 9; // if_tsresol
/// The exponent n of a resolution of 10^-n s.
const NANOSECONDS: u8 = 9;

/// A packet of a numbered flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MadeUp {
    /// The flow's number, from 0, which determines the addresses: sources are in 10.0.0.0/9,
    /// receivers in 10.128.0.0/9.
    pub flow: u32,
    /// Is the packet sent from the receiver to the source?
    pub is_reverse: bool,
    /// Bytes of the IP packet, at least its headers.
    pub ip_bytes: u32,
    /// The differentiated-services codepoint, 0 to 63.
    pub dscp: u8,
    /// The ECN codepoint.
    pub ecn: Ecn,
    /// Its transport header.
    pub transport: Transport,
}

/// The header after IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP.
    Tcp {
        /// Sequence number.
        seq: u32,
        /// Acknowledgement number; sets the flag ACK.
        ack: Option<u32>,
        /// Further flags: [`SYN`], [`ECE`], [`CWR`].
        flags: u8,
        /// The left and right edge of each block that arrived out of order (RFC 2018, section 3).
        /// The first empty entry ends the list.
        sack: [Option<[u32; 2]>; MAX_BLOCKS],
    },
    /// UDP.
    Udp,
}

/// The flag that opens a connection (RFC 9293).
pub const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
/// The option that pads to a word (RFC 9293, section 3.1).
const NO_OPERATION: u8 = 1;
/// The option with SACK blocks (RFC 2018, section 3).
const SACK: u8 = 5;
/// The flag that echoes a mark (RFC 3168).
pub const ECE: u8 = 0x40;
/// The flag that reports a reduced window (RFC 3168).
pub const CWR: u8 = 0x80;

/// The headers and the total length of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    bytes: [u8; MAX_CAPTURED],
    captured: usize,
    /// Bytes of the entire frame.
    pub frame_bytes: u32,
}

impl Headers {
    /// The bytes of the headers.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.captured]
    }
}

impl MadeUp {
    /// The frame's headers.
    pub fn headers(&self) -> Headers {
        let mut bytes = [0; MAX_CAPTURED];
        let transport = match self.transport {
            Transport::Tcp { sack, .. } => TCP + sack_bytes(blocks(&sack).count()),
            Transport::Udp => UDP,
        };
        let least = (IPV4 + transport) as u32;
        let ip_bytes = self.ip_bytes.clamp(least, u32::from(u16::MAX)) as u16;
        self.write_ethernet(&mut bytes);
        self.write_ipv4(&mut bytes[ETHERNET..], ip_bytes);
        let at = ETHERNET + IPV4;
        self.write_transport(&mut bytes[at..at + transport], ip_bytes - IPV4 as u16);
        Headers { bytes, captured: at + transport, frame_bytes: ETHERNET as u32 + u32::from(ip_bytes) }
    }

    /// Source and destination.
    fn addresses(&self) -> [Ipv4Addr; 2] {
        let host = (self.flow.wrapping_add(1)) & 0x007f_ffff;
        let ends = [0x0a00_0000 | host, 0x0a80_0000 | host].map(Ipv4Addr::from_bits);
        if self.is_reverse { [ends[1], ends[0]] } else { ends }
    }

    /// Source and destination port. Flows with equal addresses differ in the source port.
    fn ports(&self) -> [u16; 2] {
        let ends = [49_152 + (self.flow >> 23) as u16, 5001];
        if self.is_reverse { [ends[1], ends[0]] } else { ends }
    }

    /// Writes the Ethernet header. Its locally administered addresses end with the IP addresses.
    fn write_ethernet(&self, out: &mut [u8]) {
        let [source, destination] = self.addresses().map(|address| address.octets());
        out[0] = 0x02;
        out[2..6].copy_from_slice(&destination);
        out[6] = 0x02;
        out[8..12].copy_from_slice(&source);
        out[12..14].copy_from_slice(&[0x08, 0x00]);
    }

    fn write_ipv4(&self, out: &mut [u8], ip_bytes: u16) {
        let [source, destination] = self.addresses();
        out[0] = 0x45; // version 4, five words
        out[1] = (self.dscp << 2) | self.ecn as u8;
        out[2..4].copy_from_slice(&ip_bytes.to_be_bytes());
        out[6] = 0x40; // may not be fragmented
        out[8] = 64; // hops left
        out[9] = self.protocol();
        out[12..16].copy_from_slice(&source.octets());
        out[16..20].copy_from_slice(&destination.octets());
        let sum = checksum(&out[..IPV4]);
        out[10..12].copy_from_slice(&sum.to_be_bytes());
    }

    fn protocol(&self) -> u8 {
        match self.transport {
            Transport::Tcp { .. } => 6,
            Transport::Udp => 17,
        }
    }

    /// Writes the transport header. `length` includes the payload.
    fn write_transport(&self, out: &mut [u8], length: u16) {
        let [from, to] = self.ports();
        out[0..2].copy_from_slice(&from.to_be_bytes());
        out[2..4].copy_from_slice(&to.to_be_bytes());
        let [source, destination] = self.addresses();
        let pseudo = PseudoHeader { source, destination, protocol: self.protocol(), length: length.into() };
        match self.transport {
            Transport::Tcp { seq, ack, flags, sack } => {
                out[4..8].copy_from_slice(&seq.to_be_bytes());
                out[8..12].copy_from_slice(&ack.unwrap_or(0).to_be_bytes());
                out[12] = ((out.len() / 4) as u8) << 4; // words
                out[13] = flags | if ack.is_some() { ACK } else { 0 };
                // The maximum window, because the simulator's window is not in bytes.
                out[14..16].copy_from_slice(&u16::MAX.to_be_bytes());
                write_sack(&mut out[TCP..], &sack);
                let sum = pseudo.sum().with(out).checksum(); // zeros add nothing
                out[16..18].copy_from_slice(&sum.to_be_bytes());
            }
            Transport::Udp => {
                out[4..6].copy_from_slice(&length.to_be_bytes());
                let sum = never_zero(pseudo.sum().with(out).checksum());
                out[6..8].copy_from_slice(&sum.to_be_bytes());
            }
        }
    }
}

fn blocks(sack: &[Option<[u32; 2]>]) -> impl Iterator<Item = [u32; 2]> + '_ {
    sack.iter().copied().map_while(|block| block)
}

/// Bytes of a SACK option with `blocks` blocks, including the padding to a word.
const fn sack_bytes(blocks: usize) -> usize {
    if blocks == 0 { 0 } else { 4 + 8 * blocks }
}

/// RFC 2018, section 3.
fn write_sack(out: &mut [u8], sack: &[Option<[u32; 2]>]) {
    let Some((head, edges)) = out.split_first_chunk_mut::<4>() else { return };
    *head = [NO_OPERATION, NO_OPERATION, SACK, edges.len() as u8 + 2];
    for (out, edge) in edges.chunks_exact_mut(4).zip(blocks(sack).flatten()) {
        out.copy_from_slice(&edge.to_be_bytes());
    }
}

/// Appends a section header. The caller then appends the interfaces, numbered from 0.
pub fn section(out: &mut Vec<u8>, application: &str, comment: &str) {
    block(out, SECTION_HEADER, |out| {
        out.extend(BYTE_ORDER.to_le_bytes());
        out.extend(1u16.to_le_bytes());
        out.extend(0u16.to_le_bytes());
        out.extend(u64::MAX.to_le_bytes()); // the section's length is not given
        option(out, OPTION_COMMENT, comment.as_bytes());
        option(out, OPTION_APPLICATION, application.as_bytes());
        option(out, OPTION_END, &[]);
    });
}

/// The first header of an interface's frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// Frames with an Ethernet header.
    Ethernet,
    /// Packets with an IPv4 or IPv6 header.
    Ip,
}

/// Appends an interface with times in nanoseconds, for Ethernet frames captured up to
/// [`MAX_CAPTURED`] bytes.
pub fn interface(out: &mut Vec<u8>, name: &str) {
    interface_of(out, name, LinkType::Ethernet, MAX_CAPTURED as u32);
}

/// Appends an interface with times in nanoseconds, for frames captured up to `most_captured` bytes.
pub fn interface_of(out: &mut Vec<u8>, name: &str, link: LinkType, most_captured: u32) {
    let link: u16 = match link {
        LinkType::Ethernet => LINK_TYPE_ETHERNET,
        LinkType::Ip => LINK_TYPE_RAW,
    };
    block(out, INTERFACE, |out| {
        out.extend(link.to_le_bytes());
        out.extend(0u16.to_le_bytes());
        out.extend(most_captured.to_le_bytes());
        option(out, OPTION_NAME, name.as_bytes());
        option(out, OPTION_RESOLUTION, &[NANOSECONDS]);
        option(out, OPTION_END, &[]);
    });
}

/// Appends a frame recorded at `at` on the interface with index `interface`.
pub fn packet(out: &mut Vec<u8>, interface: u32, at: Time, headers: &Headers, comment: Option<&str>) {
    let frame = Frame { bytes: headers.bytes(), whole: headers.frame_bytes };
    captured(out, interface, at, frame, comment);
}

/// The captured bytes of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Its first bytes.
    pub bytes: &'a [u8],
    /// Bytes of the entire frame.
    pub whole: u32,
}

/// Appends a real frame. Readers interpret `at` as the time since 1970.
pub fn captured(out: &mut Vec<u8>, interface: u32, at: Time, frame: Frame<'_>, comment: Option<&str>) {
    block(out, ENHANCED_PACKET, |out| {
        let at = at.ns();
        out.extend(interface.to_le_bytes());
        out.extend(((at >> 32) as u32).to_le_bytes());
        out.extend((at as u32).to_le_bytes());
        out.extend((frame.bytes.len() as u32).to_le_bytes());
        out.extend(frame.whole.to_le_bytes());
        out.extend(frame.bytes);
        pad(out, frame.bytes.len());
        if let Some(comment) = comment {
            option(out, OPTION_COMMENT, comment.as_bytes());
            option(out, OPTION_END, &[]);
        }
    });
}

fn block(out: &mut Vec<u8>, kind: u32, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    fill(out);
    let length = (out.len() - start + 4) as u32;
    out[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
    out.extend(length.to_le_bytes());
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX) - 3)];
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    out.extend(value);
    pad(out, value.len());
}

fn pad(out: &mut Vec<u8>, length: usize) {
    out.extend(std::iter::repeat_n(0, length.next_multiple_of(4) - length));
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{NetSlice, SlicedPacket, TransportSlice};

    fn tcp(flow: u32, is_reverse: bool) -> MadeUp {
        let transport = Transport::Tcp {
            seq: 513,
            ack: is_reverse.then_some(1025),
            flags: if is_reverse { ECE } else { CWR },
            sack: [None; MAX_BLOCKS],
        };
        MadeUp { flow, is_reverse, ip_bytes: 552, dscp: 46, ecn: Ecn::Ce, transport }
    }

    fn frame(packet: &MadeUp) -> Vec<u8> {
        let headers = packet.headers();
        let mut bytes = headers.bytes().to_vec();
        bytes.resize(headers.frame_bytes as usize, 0);
        bytes
    }

    #[test]
    fn an_independent_parser_reads_the_made_up_tcp_back() {
        for is_reverse in [false, true] {
            let bytes = frame(&tcp(4, is_reverse));
            assert_eq!(bytes.len(), 14 + 552);
            let sliced = SlicedPacket::from_ethernet(&bytes).unwrap();
            let Some(NetSlice::Ipv4(ip)) = sliced.net else { panic!("no IPv4") };
            let header = ip.header();
            let ends = (header.source_addr(), header.destination_addr());
            let (near, far) = (Ipv4Addr::new(10, 0, 0, 5), Ipv4Addr::new(10, 128, 0, 5));
            assert_eq!(ends, if is_reverse { (far, near) } else { (near, far) });
            assert_eq!((header.dcp().value(), header.ecn().value(), header.total_len()), (46, 3, 552));
            assert_eq!(header.to_header().calc_header_checksum(), header.header_checksum());
            let Some(TransportSlice::Tcp(tcp)) = sliced.transport else { panic!("no TCP") };
            assert_eq!(
                (tcp.sequence_number(), tcp.ack(), tcp.ece(), tcp.cwr()),
                (513, is_reverse, is_reverse, !is_reverse)
            );
            assert_eq!(tcp.acknowledgment_number(), if is_reverse { 1025 } else { 0 });
            let sum = tcp.to_header().calc_checksum_ipv4(&header.to_header(), &[0; 512]);
            assert_eq!(sum.unwrap(), tcp.checksum());
        }
    }

    #[test]
    fn an_independent_parser_reads_sack_blocks_back() {
        use etherparse::TcpOptionElement::{Noop, SelectiveAcknowledgement};
        let (first, second, third) = ([1025, 1537], [u32::MAX - 3, 508], [2049, 2561]);
        for (sack, ip_bytes) in [
            ([None; 3], 40),
            ([Some(first), None, None], 52),
            ([Some(first), Some(second), None], 60),
            ([Some(first), Some(second), Some(third)], 68),
            ([Some(first), None, Some(third)], 52),
        ] {
            let transport = Transport::Tcp { seq: 1, ack: Some(513), flags: 0, sack };
            let bytes = frame(&MadeUp { ip_bytes: 40, transport, ..tcp(0, true) });
            assert_eq!(bytes.len(), 14 + ip_bytes, "the options make it longer");
            let sliced = SlicedPacket::from_ethernet(&bytes).unwrap();
            let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Tcp(tcp))) = (sliced.net, sliced.transport)
            else {
                panic!("no TCP over IPv4")
            };
            let options: Vec<_> = tcp.options_iterator().map(Result::unwrap).collect();
            let blocks: Vec<[u32; 2]> = sack.into_iter().map_while(|block| block).collect();
            if let Some((first, others)) = blocks.split_first() {
                let mut rest = [None; 3];
                rest.iter_mut().zip(others).for_each(|(to, block)| *to = Some((block[0], block[1])));
                assert_eq!(options, [Noop, Noop, SelectiveAcknowledgement((first[0], first[1]), rest)]);
            } else {
                assert_eq!(options, []);
            }
            let sum = tcp.to_header().calc_checksum_ipv4(&ip.header().to_header(), &[]);
            assert_eq!(sum.unwrap(), tcp.checksum());
        }
    }

    #[test]
    fn an_independent_parser_reads_the_made_up_udp_back() {
        let packet = MadeUp {
            flow: 0,
            is_reverse: false,
            ip_bytes: 512,
            dscp: 0,
            ecn: Ecn::NotEct,
            transport: Transport::Udp,
        };
        let bytes = frame(&packet);
        let sliced = SlicedPacket::from_ethernet(&bytes).unwrap();
        let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Udp(udp))) = (sliced.net, sliced.transport)
        else {
            panic!("no UDP over IPv4")
        };
        assert_eq!(udp.length(), 492);
        assert_eq!(
            udp.to_header().calc_checksum_ipv4(&ip.header().to_header(), &[0; 484]).unwrap(),
            udp.checksum()
        );
    }

    #[test]
    fn packets_are_padded_to_their_headers_and_cut_to_the_maximum() {
        let of = |ip_bytes| MadeUp { ip_bytes, ..tcp(0, false) }.headers().frame_bytes;
        assert_eq!((of(0), of(40), of(41), of(u32::MAX)), (54, 54, 55, 14 + 65_535));
    }

    #[test]
    fn flows_beyond_the_addresses_differ_in_their_ports() {
        let (first, later) = (frame(&tcp(0, false)), frame(&tcp(1 << 23, false)));
        assert_eq!(first[26..34], later[26..34], "the addresses");
        assert_ne!(first[34..36], later[34..36], "the ports");
    }

    #[test]
    fn blocks_have_the_bytes_of_the_specification() {
        let mut out = Vec::new();
        interface(&mut out, "out");
        // Sections 4.2 and 3.5 of draft-ietf-opsawg-pcapng-03 define these bytes.
        let expected = [
            &[1, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 82, 0, 0, 0][..],
            &[2, 0, 3, 0, b'o', b'u', b't', 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0],
            &[40, 0, 0, 0],
        ]
        .concat();
        assert_eq!(out, expected);
        out.clear();
        packet(&mut out, 3, Time::from_ns(0x1_0000_0002), &tcp(0, false).headers(), Some("drop: early"));
        assert_eq!(out[8..28], [3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 54, 0, 0, 0, 0x36, 2, 0, 0]);
        assert_eq!(out[84..88], [1, 0, 11, 0]);
        assert_eq!(&out[88..100], b"drop: early\0");
        assert_eq!(out.len(), u32::from_le_bytes(out[4..8].try_into().unwrap()) as usize);
        assert_eq!(out[4..8], out[out.len() - 4..]);
    }
}
