//! Writes the segments of a checked super-packet.

use crate::bytes::{array_at, u16_at, write_at};
use crate::checksum::{Sum, checksum, never_zero};
use crate::headers::{Network, TCP, TcpFlags, Transport, Version};
use crate::split::Wraps;

/// A parsed super-packet; all offsets are inside the frame.
pub(crate) struct Train<'a> {
    pub(crate) frame: &'a [u8],
    pub(crate) network: Network,
    pub(crate) transport: Transport,
    pub(crate) payload: &'a [u8],
    /// Payload bytes per segment, not zero.
    pub(crate) size: usize,
    /// The tunnel headers around the super-packet.
    pub(crate) wraps: Wraps,
}

#[derive(Clone, Copy)]
struct Position {
    index: usize,
    is_last: bool,
}

impl Train<'_> {
    /// The number of segments. A super-packet without payload has one segment.
    pub(crate) fn segments(&self) -> usize {
        self.payload.len().div_ceil(self.size).max(1)
    }

    pub(crate) fn longest(&self) -> usize {
        self.headers_end() + self.size.min(self.payload.len())
    }

    /// Passes the segments to `out`, and returns their number. `scratch` must fit the longest
    /// segment.
    pub(crate) fn send(&self, scratch: &mut [u8], out: &mut dyn FnMut(&[u8])) -> usize {
        let head = self.headers_end();
        let segments = self.segments();
        scratch[..head].copy_from_slice(&self.frame[..head]);
        for index in 0..segments {
            let from = index * self.size;
            let piece = &self.payload[from..self.payload.len().min(from + self.size)];
            let segment = &mut scratch[..head + piece.len()];
            segment[head..].copy_from_slice(piece);
            let position = Position { index, is_last: index + 1 == segments };
            match self.network.version {
                Version::V4 => self.write_ipv4(segment, position),
                Version::V6 => self.write_ipv6(segment),
            }
            match self.network.protocol {
                TCP => self.write_tcp(segment, position),
                _ => self.write_udp(segment),
            }
            self.wraps.write(self.frame, segment, index);
            out(segment);
        }
        segments
    }

    fn headers_end(&self) -> usize {
        self.transport.payload.unwrap_or(self.transport.offset)
    }

    /// Corrects the IPv4 header (RFC 791, section 3.1). Earlier checks keep lengths within their
    /// range.
    fn write_ipv4(&self, segment: &mut [u8], position: Position) {
        let at = self.network.offset;
        let length = (segment.len() - at) as u16;
        let id = u16_at(self.frame, at + 4).unwrap_or(0).wrapping_add(position.index as u16);
        write_at(segment, at + 2, length.to_be_bytes());
        write_at(segment, at + 4, id.to_be_bytes());
        write_at(segment, at + 10, [0, 0]);
        let sum = checksum(&segment[at..self.network.payload]);
        write_at(segment, at + 10, sum.to_be_bytes());
    }

    /// RFC 8200, section 3.
    fn write_ipv6(&self, segment: &mut [u8]) {
        let at = self.network.offset;
        let length = (segment.len() - at - 40) as u16;
        write_at(segment, at + 4, length.to_be_bytes());
    }

    /// RFC 9293, section 3.1.
    fn write_tcp(&self, segment: &mut [u8], position: Position) {
        let at = self.transport.offset;
        let before = position.index * self.size;
        let sequence = u32::from_be_bytes(array_at(self.frame, at + 4).unwrap_or_default());
        write_at(segment, at + 4, sequence.wrapping_add(before as u32).to_be_bytes());
        let urgent = usize::from(u16_at(self.frame, at + 18).unwrap_or(0)).saturating_sub(before);
        let flags = flags_of(self.transport.tcp_flags.unwrap_or_default(), position, urgent);
        write_at(segment, at + 13, [flags.0]);
        write_at(segment, at + 16, [0, 0]);
        write_at(segment, at + 18, (urgent as u16).to_be_bytes());
        let sum = self.transport_sum(segment);
        write_at(segment, at + 16, sum.checksum().to_be_bytes());
    }

    /// RFC 768.
    fn write_udp(&self, segment: &mut [u8]) {
        let at = self.transport.offset;
        let length = (segment.len() - at) as u16;
        write_at(segment, at + 4, length.to_be_bytes());
        write_at(segment, at + 6, [0, 0]);
        let sum = self.transport_sum(segment);
        write_at(segment, at + 6, never_zero(sum.checksum()).to_be_bytes());
    }

    fn transport_sum(&self, segment: &[u8]) -> Sum {
        let at = self.network.offset;
        let addresses = match self.network.version {
            Version::V4 => &segment[at + 12..at + 20],
            Version::V6 => &segment[at + 8..at + 40],
        };
        let covered = &segment[self.transport.offset..];
        crate::checksum::pseudo(addresses, covered.len() as u32, self.network.protocol).with(covered)
    }
}

/// Keeps URG on the first segment, and on each segment that starts before the urgent octet.
fn flags_of(flags: TcpFlags, position: Position, urgent: usize) -> TcpFlags {
    let mut flags = flags;
    if !position.is_last {
        flags = flags.without(TcpFlags::FIN.with(TcpFlags::PSH));
    }
    if position.index > 0 {
        flags = flags.without(TcpFlags::CWR);
        if urgent == 0 {
            flags = flags.without(TcpFlags::URG);
        }
    }
    flags
}
