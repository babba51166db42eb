//! The way back from [`split`](mod@crate::split): segments that leave together, told to the kernel as one super-packet.
//!
//! A kernel takes a super-packet through its send path once, and the segments one by one. Only segments that [`split`](mod@crate::split) made are
//! ever joined: their checksums are ours. Of a segment that came from a wire the checksum would have to be verified first, since the
//! kernel makes a new one, and damage must not be covered up.
//!
//! What is joined is what a segmentation would take apart again into the very same frames: headers alike but for the sequence
//! number, the IPv4 identification (one more each), lengths and checksums; all of one size but the last; PSH on the last only.

use crate::bytes::{array_at, u8_at, u16_at, write_at};
use crate::checksum::{checksum, pseudo};
use crate::headers::{Between, Fragment, Headers, MAX_LINK_BYTES, TCP, TcpFlags, Version};
use crate::vnet::{GSO_TCPV4, GSO_TCPV6, NEEDS_CSUM, VnetHeader};

/// Where the headers of a TCP segment lie, bytes from the start of its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seam {
    network: u8,
    transport: u8,
    payload: u8,
}

/// Bytes of the longest headers that are joined: Ethernet with its VLAN tags, and the longest of IPv4 and TCP.
pub const MOST_HEADER_BYTES: usize = MAX_LINK_BYTES + 60 + 60;

/// The longest IP packet.
const MOST_PACKET_BYTES: usize = 65_535;
const PSH: u8 = TcpFlags::PSH.0;

impl Seam {
    /// The seam of a frame with these headers; `None` when it is nothing that could be joined.
    pub fn of(headers: &Headers) -> Option<Seam> {
        let (network, transport) = (headers.network?, headers.transport?);
        let flags = transport.tcp_flags?.without(TcpFlags::PSH);
        let is_plain =
            network.protocol == TCP && network.fragment == Fragment::Whole && !network.is_length_zero;
        let has_extensions = network.version == Version::V6 && network.payload != network.offset + 40;
        // A PPPoE header counts the bytes after it, and a kernel that takes the super-packet apart would leave it as it is.
        let is_bare = headers.between == Between::Nothing;
        if !is_plain || !is_bare || has_extensions || flags != TcpFlags::ACK {
            return None;
        }
        let short = |at: usize| u8::try_from(at).ok();
        Some(Seam {
            network: short(network.offset)?,
            transport: short(transport.offset)?,
            payload: short(transport.payload?)?,
        })
    }

    /// Where the payload begins.
    pub fn payload(self) -> usize {
        self.payload.into()
    }
}

/// Segments that go together, as far as they have been looked at.
#[derive(Clone, Copy, Debug)]
pub struct Joint<'a> {
    first: &'a [u8],
    last: &'a [u8],
    seam: Seam,
    /// Payload bytes of all.
    bytes: usize,
}

impl<'a> Joint<'a> {
    /// One segment alone.
    pub fn new(frame: &'a [u8], seam: Seam) -> Self {
        Joint { first: frame, last: frame, seam, bytes: frame.len() - seam.payload().min(frame.len()) }
    }

    /// Adds `next` when it goes on where these end; false, and nothing changes, when it does not.
    pub fn add(&mut self, next: &'a [u8], seam: Seam) -> bool {
        let payload = |frame: &[u8]| frame.len().saturating_sub(seam.payload());
        let size = payload(self.first);
        let is_alike = seam == self.seam
            && size > 0
            && payload(self.last) == size
            && (1..=size).contains(&payload(next))
            && self.seam.payload() + self.bytes + payload(next) <= MOST_PACKET_BYTES
            && goes_on(self.last, next, seam, size as u32);
        if is_alike {
            self.last = next;
            self.bytes += payload(next);
        }
        is_alike
    }

    /// Writes the headers of all as one into `place` and tells their length, and what the kernel is to do with it. The payloads
    /// follow, one after another. `None`, where `place` is too short.
    pub fn write(&self, place: &mut [u8]) -> Option<(usize, VnetHeader)> {
        let (network, transport) = (usize::from(self.seam.network), usize::from(self.seam.transport));
        let len = self.seam.payload();
        let headers = place.get_mut(..len)?;
        headers.copy_from_slice(self.first.get(..len)?);
        headers[transport + FLAGS] |= u8_at(self.last, transport + FLAGS)? & PSH;
        let packet_bytes = (len - network + self.bytes) as u16;
        let is_v4 = headers[network] >> 4 == 4;
        let addresses = if is_v4 {
            write_at(headers, network + 2, packet_bytes.to_be_bytes());
            write_at(headers, network + 10, [0, 0]);
            let sum = checksum(&headers[network..transport]);
            write_at(headers, network + 10, sum.to_be_bytes());
            network + 12..network + 20
        } else {
            write_at(headers, network + 4, (packet_bytes - 40).to_be_bytes());
            network + 8..network + 40
        };
        let tcp_bytes = len - transport + self.bytes;
        let partial = pseudo(headers.get(addresses)?, tcp_bytes as u32, TCP).fold();
        write_at(headers, transport + CHECKSUM, partial.to_be_bytes());
        let vnet = VnetHeader {
            flags: NEEDS_CSUM,
            gso_type: if is_v4 { GSO_TCPV4 } else { GSO_TCPV6 },
            hdr_len: len as u16,
            gso_size: (self.first.len() - len) as u16,
            csum_start: transport as u16,
            csum_offset: CHECKSUM as u16,
        };
        Some((len, vnet))
    }
}

const FLAGS: usize = 13;
const CHECKSUM: usize = 16;

/// Is `next` what follows `last`, whose payload has `size` bytes?
fn goes_on(last: &[u8], next: &[u8], seam: Seam, size: u32) -> bool {
    let (network, transport) = (usize::from(seam.network), usize::from(seam.transport));
    let same = |range: core::ops::Range<usize>| last.get(range.clone()) == next.get(range);
    let u32_at = |frame, at| array_at(frame, at).map(u32::from_be_bytes);
    let Some(sequence) = u32_at(last, transport + 4) else { return false };
    let (Some(here), Some(there)) = (u8_at(last, transport + FLAGS), u8_at(next, transport + FLAGS)) else {
        return false;
    };
    let is_same_network = if last.get(network).is_some_and(|first| first >> 4 == 4) {
        let id = |frame| u16_at(frame, network + 4);
        same(0..network + 2)
            && id(last).map(|id| id.wrapping_add(1)) == id(next)
            && same(network + 6..network + 10)
            && same(network + 12..transport)
    } else {
        same(0..network + 4) && same(network + 6..transport)
    };
    is_same_network
        && same(transport..transport + 4)
        && u32_at(next, transport + 4) == Some(sequence.wrapping_add(size))
        && same(transport + 8..transport + FLAGS)
        && here & PSH == 0
        && here == there & !PSH
        && same(transport + 14..transport + CHECKSUM)
        && same(transport + 18..seam.payload())
}
