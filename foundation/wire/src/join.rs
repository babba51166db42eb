//! Joins segments that leave at the same time into one super-packet, which the kernel processes
//! once.
//!
//! Only segments of [`split`](mod@crate::split) are joined, because we computed their checksums.
//! For a segment from a wire, a new checksum could hide damage.
//!
//! Splitting must restore identical frames. So headers must be equal except for sequence number,
//! IPv4 identification (plus one per segment), lengths and checksums. Only the last segment may be
//! shorter or have PSH.

use crate::bytes::{array_at, u8_at, u16_at, write_at};
use crate::checksum::{checksum, pseudo};
use crate::headers::{Between, Fragment, Headers, MAX_LINK_BYTES, TCP, TcpFlags, Version};
use crate::split::MIN_TCP_GSO_SIZE;
use crate::vnet::{GSO_TCPV4, GSO_TCPV6, NEEDS_CSUM, VnetHeader};

/// The offsets of a TCP segment's headers, in bytes from the start of its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpOffsets {
    network: u8,
    transport: u8,
    payload: u8,
}

/// The longest joined headers, in bytes: Ethernet with VLAN tags, and the longest IPv4 and TCP
/// headers.
pub const MAX_HEADER_BYTES: usize = MAX_LINK_BYTES + 60 + 60;

const MAX_PACKET_BYTES: usize = 65_535;
const PSH: u8 = TcpFlags::PSH.0;

impl TcpOffsets {
    /// The offsets of a frame with these headers; `None` if the frame cannot be joined.
    pub fn of(headers: &Headers) -> Option<TcpOffsets> {
        let (network, transport) = (headers.network?, headers.transport?);
        let flags = transport.tcp_flags?.without(TcpFlags::PSH);
        let is_plain =
            network.protocol == TCP && network.fragment == Fragment::Whole && !network.is_length_zero;
        let has_extensions = network.version == Version::V6 && network.payload != network.offset + 40;
        // A PPPoE header contains the length of its payload. A kernel that splits the super-packet
        // would not correct this length.
        let is_bare = headers.between == Between::Nothing;
        if !is_plain || !is_bare || has_extensions || flags != TcpFlags::ACK {
            return None;
        }
        let short = |at: usize| u8::try_from(at).ok();
        Some(TcpOffsets {
            network: short(network.offset)?,
            transport: short(transport.offset)?,
            payload: short(transport.payload?)?,
        })
    }

    /// The start of the payload.
    pub fn payload(self) -> usize {
        self.payload.into()
    }
}

/// A sequence of segments that can be joined.
#[derive(Clone, Copy, Debug)]
pub struct Joint<'a> {
    first: &'a [u8],
    last: &'a [u8],
    offsets: TcpOffsets,
    bytes: usize,
}

impl<'a> Joint<'a> {
    /// A single segment.
    pub fn new(frame: &'a [u8], offsets: TcpOffsets) -> Self {
        Joint { first: frame, last: frame, offsets, bytes: frame.len() - offsets.payload().min(frame.len()) }
    }

    /// Adds `next` if it continues these segments; otherwise returns false and changes nothing.
    pub fn add(&mut self, next: &'a [u8], offsets: TcpOffsets) -> bool {
        let payload = |frame: &[u8]| frame.len().saturating_sub(offsets.payload());
        let size = payload(self.first);
        let is_alike = offsets == self.offsets
            && size >= usize::from(MIN_TCP_GSO_SIZE)
            && payload(self.last) == size
            && (1..=size).contains(&payload(next))
            && self.offsets.payload() + self.bytes + payload(next) <= MAX_PACKET_BYTES
            && goes_on(self.last, next, offsets, size as u32);
        if is_alike {
            self.last = next;
            self.bytes += payload(next);
        }
        is_alike
    }

    /// Writes the headers of the joined packet into `place`. Returns their length and the
    /// virtio-net header for the kernel. Returns `None` if `place` is too short.
    pub fn write(&self, place: &mut [u8]) -> Option<(usize, VnetHeader)> {
        let (network, transport) = (usize::from(self.offsets.network), usize::from(self.offsets.transport));
        let len = self.offsets.payload();
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

fn goes_on(last: &[u8], next: &[u8], offsets: TcpOffsets, size: u32) -> bool {
    let (network, transport) = (usize::from(offsets.network), usize::from(offsets.transport));
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
        && same(transport + 18..offsets.payload())
}
