//! Single-member gzip files (RFC 1952).

use miniz_oxide::inflate::TINFLStatus;
use std::io;

const MAGIC: [u8; 2] = [0x1f, 0x8b];
const DEFLATE: u8 = 8;
const HEADER_BYTES: usize = 10;
/// The length of the trailer, which has the CRC-32 and the length of the uncompressed data.
const TRAILER_BYTES: usize = 8;
/// The largest unpacked size, in bytes. A flent file with 30 million rows, the maximum without
/// `--yes`, has some 90 MB.
const MOST: usize = 128 << 20;
const LEVEL: u8 = 6;

/// Compresses into a gzip file. Equal input gives an equal file.
pub(crate) fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![MAGIC[0], MAGIC[1], DEFLATE, 0, 0, 0, 0, 0, 0, 255]; // no time, no system
    out.extend(miniz_oxide::deflate::compress_to_vec(bytes, LEVEL));
    out.extend(crc32(bytes).to_le_bytes());
    out.extend((bytes.len() as u32).to_le_bytes());
    out
}

/// Unpacks the file `packed`.
///
/// # Errors
/// If `packed` is not a gzip file, is damaged, or holds more than 128 MiB.
pub(crate) fn unpacked(packed: &[u8]) -> io::Result<Vec<u8>> {
    up_to(MOST, packed)
}

fn up_to(most: usize, packed: &[u8]) -> io::Result<Vec<u8>> {
    let refuse = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
    let body = body(packed).ok_or_else(|| refuse("it is no gzip file, or ends within its header"))?;
    let (data, trailer) =
        body.split_last_chunk::<TRAILER_BYTES>().ok_or_else(|| refuse("it ends too early"))?;
    let bytes =
        miniz_oxide::inflate::decompress_to_vec_with_limit(data, most).map_err(|error| {
            match error.status {
                TINFLStatus::HasMoreOutput => refuse(&format!("it holds more than {} MiB", most >> 20)),
                _ => refuse(&format!("it cannot be unpacked: {error}")),
            }
        })?;
    let expected = [crc32(&bytes).to_le_bytes(), (bytes.len() as u32).to_le_bytes()].concat();
    if expected == trailer { Ok(bytes) } else { Err(refuse("it is damaged: its checksum is another")) }
}

fn body(packed: &[u8]) -> Option<&[u8]> {
    let (header, mut rest) = packed.split_first_chunk::<HEADER_BYTES>()?;
    let flags = header[3];
    if header[..2] != MAGIC || header[2] != DEFLATE {
        return None;
    }
    if flags & 4 != 0 {
        let (len, others) = rest.split_first_chunk::<2>()?;
        rest = others.get(usize::from(u16::from_le_bytes(*len))..)?;
    }
    for _ in 0..(flags & 0x18).count_ones() {
        let end = rest.iter().position(|byte| *byte == 0)?; // a name, a comment
        rest = &rest[end + 1..];
    }
    if flags & 2 != 0 { rest.get(2..) } else { Some(rest) }
}

/// CRC-32 of IEEE 802.3, least significant bit first.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_data_is_unpacked_and_damaged_data_is_refused() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926); // the check value of its catalogue entry
        let text = b"{\"version\": 4}".repeat(100);
        let file = packed(&text);
        assert_eq!(unpacked(&file).expect("a file"), text);
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 0x10;
            // Damage to the time, level and system in the header has no effect.
            assert!((4..HEADER_BYTES).contains(&at) || unpacked(&damaged).is_err(), "{at}");
            assert!(unpacked(&file[..at]).is_err(), "{at}");
        }
    }

    #[test]
    fn data_beyond_the_limit_is_refused_without_unpacking() {
        let most = 1 << 20;
        let bomb = packed(&vec![b' '; most + 1]);
        assert!(bomb.len() < most / 900);
        assert_eq!(up_to(most, &bomb).expect_err("too much").to_string(), "it holds more than 1 MiB");
        assert_eq!(up_to(most, &packed(&vec![b' '; most])).expect("a file").len(), most);
    }

    #[test]
    fn names_and_comments_in_headers_are_skipped() {
        let plain = packed(b"results");
        let mut file = plain[..HEADER_BYTES].to_vec();
        file[3] = 0x1e;
        file.extend([3, 0, 7, 7, 7]);
        file.extend(b"name\0comment\0\x01\x02");
        file.extend(&plain[HEADER_BYTES..]);
        assert_eq!(unpacked(&file).expect("a file"), b"results");
    }
}
