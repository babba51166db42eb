//! Frames that no kernel would send: with random source addresses, or random bytes.

use crate::bed::HOST;
use crate::traffic::{Flow, UDP_PORT, port_of};
use fairwire_core::{Rng, Seed};
use fairwire_linux::af_packet::AfPacket;
use fairwire_wire::headers::{ETHERTYPE_IPV4, UDP};
use std::io;
use std::net::{IpAddr, Ipv4Addr};

pub(super) struct Forge {
    port: AfPacket,
    frame: Vec<u8>,
    rng: Rng,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Spoofed,
    /// Frames of several types: the number so far, and the addresses of the inner IP packets.
    Kinds(u32, [u8; 8]),
    Garbage,
}

const ETHERNET: usize = 14;
const IPV4: usize = 20;
const HEADERS: usize = ETHERNET + IPV4 + 8;
/// The longest frame for an MTU of 1500.
const LONGEST: u32 = 1514;

impl Forge {
    pub(super) fn spoofed(number: usize, flow: &Flow, payload: u32) -> io::Result<Forge> {
        let IpAddr::V4(destination) = flow.destination else {
            return Err(io::Error::other("spoofed frames are IPv4"));
        };
        let mut forge = Forge::new(number, flow, Kind::Spoofed)?;
        forge.frame.resize(HEADERS + payload as usize, 0);
        let total = (IPV4 + 8 + payload as usize) as u16;
        let frame = &mut forge.frame;
        frame[12..14].copy_from_slice(&ETHERTYPE_IPV4.to_be_bytes());
        frame[14] = 0x45;
        frame[16..18].copy_from_slice(&total.to_be_bytes());
        frame[22] = 64; // time to live
        frame[23] = UDP;
        frame[30..34].copy_from_slice(&destination.octets());
        frame[34..36].copy_from_slice(&port_of(number).to_be_bytes());
        frame[36..38].copy_from_slice(&UDP_PORT.to_be_bytes());
        frame[38..40].copy_from_slice(&(total - IPV4 as u16).to_be_bytes());
        Ok(forge)
    }

    pub(super) fn kinds(number: usize, flow: &Flow) -> io::Result<Forge> {
        let (IpAddr::V4(source), IpAddr::V4(destination)) = (flow.source, flow.destination) else {
            return Err(io::Error::other("frames of many kinds are IPv4"));
        };
        let mut addresses = [0; 8];
        addresses[..4].copy_from_slice(&source.octets());
        addresses[4..].copy_from_slice(&destination.octets());
        Forge::new(number, flow, Kind::Kinds(0, addresses))
    }

    pub(super) fn garbage(number: usize, flow: &Flow) -> io::Result<Forge> {
        Forge::new(number, flow, Kind::Garbage)
    }

    fn new(number: usize, flow: &Flow, kind: Kind) -> io::Result<Forge> {
        let mut frame = vec![0; ETHERNET];
        frame[..6].copy_from_slice(&flow.from.other().ethernet_address());
        frame[6..12].copy_from_slice(&flow.from.ethernet_address());
        let rng = Seed(number as u64).stream("field/raw");
        let port = AfPacket::open(HOST.name).map_err(io::Error::other)?;
        Ok(Forge { port, frame, rng, kind })
    }

    pub(super) fn renew(&mut self) {
        match self.kind {
            Kind::Spoofed => {
                // No host here has an address in 11.0.0.0/8, so answers reach no host.
                let source = Ipv4Addr::from_bits(0x0b00_0000 | self.rng.below(1 << 24));
                self.frame[26..30].copy_from_slice(&source.octets());
                let sum = checksum(&self.frame[ETHERNET..ETHERNET + IPV4]);
                self.frame[24..26].copy_from_slice(&sum.to_be_bytes());
            }
            Kind::Kinds(count, addresses) => {
                self.kind = Kind::Kinds(count.wrapping_add(1), addresses);
                self.frame.truncate(12);
                let [a, b] = (rng_type(&mut self.rng)).to_be_bytes();
                let ip_len = (KIND_BYTES - 22) as u16;
                let [high, low] = (ip_len + 2).to_be_bytes();
                let (before, is_ip): (&[u8], bool) = match count % 5 {
                    0 => (&[0x88, 0x64, 0x11, 0, 0, 1, high, low, 0x00, 0x21], true),
                    1 => (&[0x88, 0xa8, 0, 1, 0x88, 0xa8, 0, 2, 0x81, 0x00, 0, 3, 0x08, 0x00], true),
                    2 => (&[0x03, 0xe0, 0xaa, 0xaa, 3, 0, 0, 0, 0x08, 0x00], true),
                    3 => (&[0x08, 0x06], false),
                    _ => (&[a, b], false),
                };
                self.frame.extend(before);
                if is_ip {
                    self.frame.extend(ip_header(ip_len, addresses));
                }
                self.frame.resize(KIND_BYTES, 0);
            }
            Kind::Garbage => {
                let len = ETHERNET as u32 + self.rng.below(LONGEST - ETHERNET as u32 + 1);
                self.frame.resize(len as usize, 0);
                let rng = &mut self.rng;
                self.frame[ETHERNET..].iter_mut().for_each(|byte| *byte = rng.below(256) as u8);
                // Most frames have an EtherType that a gateway parses.
                let kind: [u8; 2] = match rng.below(8) {
                    0..3 => [0x08, 0x00],
                    3..6 => [0x86, 0xdd],
                    6 => [0x81, 0x00],
                    _ => [rng.below(256) as u8, rng.below(256) as u8],
                };
                self.frame[12..14].copy_from_slice(&kind);
                if let (Some(first), true) = (self.frame.get_mut(ETHERNET), rng.below(2) == 0) {
                    *first = if kind[0] == 0x08 { 0x40 | *first & 0x0f } else { 0x60 | *first & 0x0f };
                }
            }
        }
    }

    pub(super) fn parts(&mut self) -> (&mut AfPacket, &[u8]) {
        (&mut self.port, &self.frame)
    }
}

const KIND_BYTES: usize = 1000;

fn rng_type(rng: &mut Rng) -> u16 {
    0x9000 | rng.below(0x1000) as u16
}

/// The IPv4 header of a `len`-byte UDP packet to port 0, which has no listener.
fn ip_header(len: u16, addresses: [u8; 8]) -> [u8; IPV4] {
    let mut header = [0; IPV4];
    (header[0], header[8], header[9]) = (0x45, 64, UDP);
    header[2..4].copy_from_slice(&len.to_be_bytes());
    header[12..].copy_from_slice(&addresses);
    let sum = checksum(&header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header
}

/// The checksum of `header` (RFC 1071), with the checksum field taken as zero.
fn checksum(header: &[u8]) -> u16 {
    let words = header.chunks_exact(2).enumerate().filter(|(at, _)| *at != 5);
    let sum: u32 = words.map(|(_, word)| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_matches_a_known_header() {
        // The header is from Wikipedia's article on RFC 1071.
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0x00, 0x01,
            0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert_eq!(checksum(&header), 0xb861);
    }
}
