//! The format pcapng: blocks, each with its length before and after its body.

use super::{ByteOrder, CaptureError, MAX_BYTES, Record};

/// The type of a section header, equal in both byte orders.
pub(super) const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const VERSION: u16 = 1;

/// Bytes of a section header before its options: byte order, version and section length.
const SECTION_BYTES: usize = 16;

/// Bytes around a block's body: type, length, and length again.
const FRAME_BYTES: usize = 12;

const END_OF_OPTIONS: u16 = 0;
const APPLICATION: u16 = 4; // shb_userappl
/// The prefix of the application's name in traces of `fairwire run`.
const TRACER: &[u8] = b"fairwire ";
const TIME_RESOLUTION: u16 = 9;
const TIME_OFFSET: u16 = 14;

#[derive(Debug)]
pub(super) struct Blocks<'a> {
    file: &'a [u8],
    at: usize,
    order: ByteOrder,
    interfaces: Vec<Interface>,
    is_trace: bool,
}

#[derive(Clone, Copy, Debug)]
struct Interface {
    link_type: u16,
    /// The unit of time: 10^-n seconds, or 2^-n if the highest bit is set. The other bits are n.
    resolution: u8,
    offset_s: i64,
}

/// Microseconds, the default.
const DEFAULT_RESOLUTION: u8 = 6;

impl<'a> Blocks<'a> {
    pub(super) fn open(file: &'a [u8]) -> Self {
        Blocks { file, at: 0, order: ByteOrder::Big, interfaces: Vec::new(), is_trace: false }
    }

    /// The next packet.
    pub(super) fn record(&mut self) -> Result<Option<Record<'a>>, CaptureError> {
        loop {
            let at = self.at;
            let Some(rest) = self.file.get(at..).filter(|rest| !rest.is_empty()) else { return Ok(None) };
            let (kind, body) = self.block(rest)?;
            let short = CaptureError::Short { at };
            match kind {
                SECTION => {
                    self.interfaces.clear();
                    self.is_trace = is_trace(self.order, body);
                }
                INTERFACE => {
                    let interface = Interface::read(self.order, body).ok_or(short)?;
                    self.interfaces.push(interface);
                }
                SIMPLE_PACKET => return Err(CaptureError::NoTime { at }),
                ENHANCED_PACKET => {
                    let interface = self.order.u32(body, 0).ok_or(short)?;
                    return self.packet(interface, body, at).map(Some);
                }
                OBSOLETE_PACKET => {
                    let interface = self.order.u16(body, 0).ok_or(short)?;
                    return self.packet(interface.into(), body, at).map(Some);
                }
                _ => {}
            }
        }
    }

    /// The type and body of the block at the start of `rest`. Advances past the block.
    fn block(&mut self, rest: &'a [u8]) -> Result<(u32, &'a [u8]), CaptureError> {
        let at = self.at;
        let truncated = CaptureError::Truncated { at };
        if ByteOrder::Big.u32(rest, 0) == Some(SECTION) {
            self.begin_section(rest)?;
        }
        let (Some(kind), Some(given)) = (self.order.u32(rest, 0), self.order.u32(rest, 4)) else {
            return Err(truncated);
        };
        let len = given as usize;
        if len < FRAME_BYTES || !len.is_multiple_of(4) {
            return Err(CaptureError::Length { at, given });
        }
        let block = rest.get(..len).ok_or(truncated)?;
        if self.order.u32(block, len - 4) != Some(given) {
            return Err(CaptureError::Length { at, given });
        }
        self.at += len;
        Ok((kind, &block[8..len - 4]))
    }

    /// Determines the byte order, without which the length cannot be read.
    fn begin_section(&mut self, rest: &[u8]) -> Result<(), CaptureError> {
        let at = self.at;
        let magic = ByteOrder::Big.u32(rest, 8).ok_or(CaptureError::Truncated { at })?;
        self.order = match (magic, magic.swap_bytes()) {
            (BYTE_ORDER, _) => ByteOrder::Big,
            (_, BYTE_ORDER) => ByteOrder::Little,
            _ => return Err(CaptureError::ByteOrder { at }),
        };
        let version = self.order.u16(rest, 12).ok_or(CaptureError::Truncated { at })?;
        if version != VERSION {
            return Err(CaptureError::Version { at, given: version, allowed: VERSION });
        }
        Ok(())
    }

    /// Reads an enhanced or obsolete packet block. Up to the data, both have the same layout,
    /// except for the interface's number.
    fn packet(&self, interface: u32, body: &'a [u8], at: usize) -> Result<Record<'a>, CaptureError> {
        let number = |offset| self.order.u32(body, offset).ok_or(CaptureError::Short { at });
        let (high, low, captured, bytes) = (number(4)?, number(8)?, number(12)?, number(16)?);
        for given in [captured, bytes] {
            if given > MAX_BYTES {
                return Err(CaptureError::Length { at, given });
            }
        }
        let known = self.interfaces.get(interface as usize);
        let known = known.ok_or(CaptureError::Interface { at, given: interface })?;
        let data =
            body.get(20..20 + captured as usize).ok_or(CaptureError::Length { at, given: captured })?;
        let units = u64::from(high) << 32 | u64::from(low);
        Ok(Record {
            time_ns: known.time_ns(units),
            bytes: bytes.max(captured),
            link_type: known.link_type,
            data,
            traced_at: self.is_trace.then_some(interface),
        })
    }
}

fn is_trace(order: ByteOrder, body: &[u8]) -> bool {
    let mut options = body.get(SECTION_BYTES..).unwrap_or_default();
    while let (Some(code), Some(len)) = (order.u16(options, 0), order.u16(options, 2)) {
        let len = usize::from(len);
        let Some(value) = options.get(4..4 + len) else { return false };
        match code {
            END_OF_OPTIONS => return false,
            APPLICATION => return value.starts_with(TRACER),
            _ => options = options.get(4 + len.next_multiple_of(4)..).unwrap_or_default(),
        }
    }
    false
}

impl Interface {
    fn read(order: ByteOrder, body: &[u8]) -> Option<Self> {
        let link_type = order.u16(body, 0)?;
        order.u32(body, 4)?; // the longest capture
        let mut interface = Interface { link_type, resolution: DEFAULT_RESOLUTION, offset_s: 0 };
        let mut options = &body[8..];
        while !options.is_empty() {
            let (code, len) = (order.u16(options, 0)?, usize::from(order.u16(options, 2)?));
            let value = options.get(4..4 + len)?;
            match code {
                END_OF_OPTIONS => break,
                TIME_RESOLUTION => interface.resolution = *value.first()?,
                TIME_OFFSET => interface.offset_s = order.u64(value, 0)?.cast_signed(),
                _ => {}
            }
            options = options.get(4 + len.next_multiple_of(4)..)?;
        }
        Some(interface)
    }

    fn time_ns(&self, units: u64) -> u64 {
        let scaled = u128::from(units) * 1_000_000_000;
        let exponent = u32::from(self.resolution & 0x7f);
        let since = if self.resolution & 0x80 != 0 {
            scaled >> exponent
        } else {
            10_u128.checked_pow(exponent).map_or(0, |per_second| scaled / per_second)
        };
        // `since` is at most 2^94 and the offset at most 2^93, so nothing overflows.
        let time = since.cast_signed() + i128::from(self.offset_s) * 1_000_000_000;
        time.clamp(0, u64::MAX.into()) as u64
    }
}
