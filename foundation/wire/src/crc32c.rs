//! CRC32c, the checksum of SCTP (RFC 9260, appendix A), for packets whose sender left the checksum
//! to hardware.

use crate::bytes::write_at;

/// The Castagnoli polynomial, reflected.
const POLYNOMIAL: u32 = 0x82f6_3b78;

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        let mut crc = octet as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        table[octet] = crc;
        octet += 1;
    }
    table
}

/// Writes the packet's CRC32c. Returns false, and writes nothing, if the common header is missing.
pub(crate) fn complete_sctp(frame: &mut [u8], start: usize) -> bool {
    let Some(packet) = frame.get_mut(start..).filter(|packet| packet.len() >= 12) else { return false };
    write_at(packet, 8, [0; 4]);
    let crc = crc32c(packet);
    write_at(packet, 8, crc.to_le_bytes());
    true
}

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, &octet| TABLE[(crc as u8 ^ octet) as usize] ^ crc >> 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_the_values_of_rfc_3720_appendix_b4() {
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        let rising: [u8; 32] = core::array::from_fn(|i| i as u8);
        assert_eq!(crc32c(&rising), 0x46dd_794e);
    }

    #[test]
    fn a_packet_without_a_common_header_stays_unchanged() {
        let mut frame = [9; 30];
        assert!(!complete_sctp(&mut frame, 19));
        assert!(!complete_sctp(&mut frame, 31));
        assert_eq!(frame, [9; 30]);
    }
}
