//! Rewrites the ECN field and the DSCP.

use crate::bytes::{array_at, u8_at, u16_at, write_at};
use crate::checksum::{Change, update};
use crate::headers::{Headers, Version};
use fairwire_core::Ecn;

/// Writes `ecn` into the IP header of `frame`, if any, and updates the IPv4 checksum. Transport
/// checksums do not cover the field.
pub fn set_ecn(frame: &mut [u8], headers: &Headers, ecn: Ecn) {
    match headers.network.map(|n| (n.version, n.offset)) {
        Some((Version::V4, offset)) => set_ipv4(frame, offset, ecn),
        Some((Version::V6, offset)) => set_ipv6(frame, offset, ecn),
        None => {}
    }
}

/// Writes the low six bits of `dscp` as the codepoint (RFC 2474) into the IP header of `frame`, if
/// any. Keeps the ECN field.
pub fn set_dscp(frame: &mut [u8], headers: &Headers, dscp: u8) {
    let dscp = dscp & 0b11_1111;
    match headers.network.map(|n| (n.version, n.offset)) {
        Some((Version::V4, offset)) => {
            let Some(tos) = u8_at(frame, offset + 1) else { return };
            rewrite_tos(frame, offset, dscp << 2 | tos & 0b11);
        }
        Some((Version::V6, offset)) => {
            let Some([first, second]) = array_at(frame, offset) else { return };
            write_at(frame, offset, [first & 0xf0 | dscp >> 2, dscp << 6 | second & 0b0011_1111]);
        }
        None => {}
    }
}

const IPV4_CHECKSUM: usize = 10;

/// Writes the ECN field: the low two bits of the second octet (RFC 3168, section 5).
fn set_ipv4(frame: &mut [u8], offset: usize, ecn: Ecn) {
    let Some(tos) = u8_at(frame, offset + 1) else { return };
    rewrite_tos(frame, offset, tos & !0b11 | ecn as u8);
}

fn rewrite_tos(frame: &mut [u8], offset: usize, tos: u8) {
    let Some([first, before]) = array_at(frame, offset) else { return };
    let Some(checksum) = u16_at(frame, offset + IPV4_CHECKSUM) else { return };
    let word = [first, tos];
    let change = Change { old: u16::from_be_bytes([first, before]), new: u16::from_be_bytes(word) };
    write_at(frame, offset, word);
    write_at(frame, offset + IPV4_CHECKSUM, update(checksum, change).to_be_bytes());
}

/// Writes the ECN field: the last two bits of the traffic class, which ends in the middle of the
/// second octet.
fn set_ipv6(frame: &mut [u8], offset: usize, ecn: Ecn) {
    if let Some(octet) = u8_at(frame, offset + 1) {
        write_at(frame, offset + 1, [octet & !0b0011_0000 | (ecn as u8) << 4]);
    }
}
