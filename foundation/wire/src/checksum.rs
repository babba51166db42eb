//! The Internet checksum (RFC 1071).

use crate::bytes::{u16_at, write_at};
use core::net::{Ipv4Addr, Ipv6Addr};

/// An unfinished ones'-complement sum, in the machine's byte order. The sum is swapped once at the
/// end (RFC 1071, section 2B).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum(u64);

impl Sum {
    /// The empty sum.
    pub const fn new() -> Self {
        Sum(0)
    }

    /// Adds `bytes`. A final odd octet counts as the high half of a word, so only the last piece
    /// may have an odd length.
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Self {
        let (words, rest) = bytes.as_chunks::<4>();
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        // The earlier sum is folded first, so overflow needs `bytes` of at least 16 GiB.
        let sum: u64 = words.iter().map(|&word| u64::from(u32::from_ne_bytes(word))).sum();
        Sum(u64::from(fold(self.0)) + sum + u64::from(u32::from_ne_bytes(last)))
    }

    /// The sum folded into 16 bits.
    pub const fn fold(self) -> u16 {
        u16::from_be(fold(self.0))
    }

    /// The checksum: the complement of the sum.
    pub const fn checksum(self) -> u16 {
        !self.fold()
    }
}

const fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The checksum of `bytes`; 0 for a header with a correct checksum.
pub fn checksum(bytes: &[u8]) -> u16 {
    Sum::new().with(bytes).checksum()
}

/// A changed 16-bit word of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The old value.
    pub old: u16,
    /// The new value.
    pub new: u16,
}

/// The checksum after `change`: RFC 1624, equation 3, `~(~HC + ~m + m')`. A wrong checksum remains
/// wrong by the same amount.
pub fn update(checksum: u16, change: Change) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!change.old) + u32::from(change.new);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    !(sum as u16)
}

/// The fields of the IP header that a transport checksum covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PseudoHeader<Address> {
    /// The sender's address.
    pub source: Address,
    /// The receiver's address.
    pub destination: Address,
    /// The IP protocol number.
    pub protocol: u8,
    /// Bytes of transport header and payload.
    pub length: u32,
}

impl PseudoHeader<Ipv4Addr> {
    /// The sum of the pseudo header (RFC 9293, section 3.1). `length` must be under 64 KiB, since
    /// its field has 16 bits.
    pub fn sum(&self) -> Sum {
        let both = [self.source.octets(), self.destination.octets()];
        pseudo(both.as_flattened(), self.length, self.protocol)
    }
}

impl PseudoHeader<Ipv6Addr> {
    /// The sum of the pseudo header of RFC 8200, section 8.1.
    pub fn sum(&self) -> Sum {
        let both = [self.source.octets(), self.destination.octets()];
        pseudo(both.as_flattened(), self.length, self.protocol)
    }
}

/// The sum of a pseudo header. One computation serves both IP versions, because neither the order
/// of words nor zeros between them matter.
pub(crate) fn pseudo(addresses: &[u8], length: u32, protocol: u8) -> Sum {
    Sum::new().with(addresses).with(&length.to_be_bytes()).with(&[0, protocol])
}

/// The location of a transport checksum that its sender left to the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partial {
    /// The offset of the first summed octet in the frame, bytes.
    pub csum_start: u16,
    /// The offset of the checksum field from `csum_start`, bytes.
    pub csum_offset: u16,
}

impl Partial {
    /// The start of the checksum field, in bytes from the start of the frame.
    pub fn field(&self) -> usize {
        usize::from(self.csum_start) + usize::from(self.csum_offset)
    }
}

/// Completes a partial checksum: computes the checksum of `frame` from `csum_start`, and writes it
/// over the pseudo header's sum.
///
/// Zero is written as `0xffff`, its equal in ones' complement, because zero means "none" in UDP
/// (RFC 768). Returns false, and writes nothing, if the field is outside the frame.
pub fn complete_partial(frame: &mut [u8], partial: Partial) -> bool {
    if u16_at(frame, partial.field()).is_none() {
        return false;
    }
    let checksum = checksum(&frame[usize::from(partial.csum_start)..]);
    write_at(frame, partial.field(), never_zero(checksum).to_be_bytes());
    true
}

/// Replaces zero by `0xffff`, which is also zero in ones' complement.
pub(crate) fn never_zero(checksum: u16) -> u16 {
    if checksum == 0 { 0xffff } else { checksum }
}
