//! pcap: a header of 24 bytes, then records with headers of 16 bytes.

use super::{ByteOrder, CaptureError, MAX_BYTES, Record};

const HEADER_BYTES: usize = 24;
const RECORD_BYTES: usize = 16;
const VERSION: u16 = 2;

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;

#[derive(Debug)]
pub(super) struct Classic<'a> {
    file: &'a [u8],
    at: usize,
    order: ByteOrder,
    /// The unit of the time stamp's fraction of a second, in nanoseconds.
    unit_ns: u64,
    link_type: u16,
}

impl<'a> Classic<'a> {
    pub(super) fn open(file: &'a [u8]) -> Option<Result<Self, CaptureError>> {
        let magic = ByteOrder::Big.u32(file, 0)?;
        let orders = [(magic, ByteOrder::Big), (magic.swap_bytes(), ByteOrder::Little)];
        let (unit_ns, order) = orders.into_iter().find_map(|(magic, order)| match magic {
            MICROSECONDS => Some((1_000, order)),
            NANOSECONDS => Some((1, order)),
            _ => None,
        })?;
        Some(Self::described(file, order, unit_ns))
    }

    fn described(file: &'a [u8], order: ByteOrder, unit_ns: u64) -> Result<Self, CaptureError> {
        let truncated = CaptureError::Truncated { at: 0 };
        let (Some(version), Some(link)) = (order.u16(file, 4), order.u32(file, 20)) else {
            return Err(truncated);
        };
        if version != VERSION {
            return Err(CaptureError::Version { at: 4, given: version, allowed: VERSION });
        }
        // The cast drops the high bits, which describe a frame check sequence.
        Ok(Classic { file, at: HEADER_BYTES, order, unit_ns, link_type: link as u16 })
    }

    pub(super) fn record(&mut self) -> Result<Option<Record<'a>>, CaptureError> {
        let at = self.at;
        let Some(rest) = self.file.get(at..).filter(|rest| !rest.is_empty()) else { return Ok(None) };
        let number = |offset| self.order.u32(rest, offset).ok_or(CaptureError::Truncated { at });
        let (seconds, fraction, captured, bytes) = (number(0)?, number(4)?, number(8)?, number(12)?);
        for given in [captured, bytes] {
            if given > MAX_BYTES {
                return Err(CaptureError::Length { at, given });
            }
        }
        let end = RECORD_BYTES + captured as usize;
        let data = rest.get(RECORD_BYTES..end).ok_or(CaptureError::Truncated { at })?;
        self.at += end;
        let time_ns = u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * self.unit_ns;
        Ok(Some(Record {
            time_ns,
            bytes: bytes.max(captured),
            link_type: self.link_type,
            data,
            traced_at: None,
        }))
    }
}
