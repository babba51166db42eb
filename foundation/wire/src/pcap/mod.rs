//! Reads captures that are entirely in memory, in either byte order.
//!
//! - pcap (draft-ietf-opsawg-pcap): time stamps in microseconds or nanoseconds.
//! - pcapng (draft-ietf-opsawg-pcapng): any number of sections and interfaces; enhanced and
//!   obsolete packet blocks; time stamps of any resolution and offset. A simple packet block has no
//!   time and is refused; other blocks are skipped.
//!
//! No input makes the reader panic, and no allocation depends on a length field.

mod blocks;
mod classic;
mod link;

use crate::flow_key::FlowKey;
use blocks::Blocks;
use classic::Classic;
use fairwire_core::{Duration, Ecn};
use std::collections::BTreeMap;

/// A captured packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Capture time, in nanoseconds since 1970, limited to the range of `u64`.
    pub time_ns: u64,
    /// Bytes of the packet, including uncaptured ones.
    pub bytes: u32,
    /// The type of the first header (`LINKTYPE_` values, www.tcpdump.org/linktypes.html).
    pub link_type: u16,
    /// The captured bytes.
    pub data: &'a [u8],
    /// The interface where a fairwire trace recorded the packet. Such a trace records a packet at
    /// each interface that the packet passes.
    pub traced_at: Option<u32>,
}

/// An error that prevents reading a capture to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The file does not start like a capture.
    #[error(
        "this is no capture: it begins with {given:02x?}; pcap (a1b2c3d4 or a1b23c4d, either byte order) and pcapng (0a0d0d0a) are read"
    )]
    NoCapture {
        /// The first bytes, at most four.
        given: Vec<u8>,
    },
    /// An unknown version of the format.
    #[error("the header at byte {at} is of version {given}; version {allowed} is read")]
    Version {
        /// Bytes from the file's start.
        at: usize,
        /// The major version of the file.
        given: u16,
        /// The known one.
        allowed: u16,
    },
    /// The file ends inside a header, record or block.
    #[error("the capture ends in the header, record or block at byte {at}")]
    Truncated {
        /// Bytes from the file's start.
        at: usize,
    },
    /// A complete block that is too short for the fields of its type.
    #[error("the block at byte {at} is too short for what it holds")]
    Short {
        /// Bytes from the file's start.
        at: usize,
    },
    /// A length that contradicts the block or file around it.
    #[error("the record or block at byte {at} has a length of {given} B, which cannot be right")]
    Length {
        /// Bytes from the file's start.
        at: usize,
        /// The length in the file.
        given: u32,
    },
    /// A section without a valid byte order.
    #[error("the section at byte {at} has no valid byte order")]
    ByteOrder {
        /// Bytes from the file's start.
        at: usize,
    },
    /// A packet of an undescribed interface.
    #[error("the packet at byte {at} is of interface {given}, which is not described before it")]
    Interface {
        /// Bytes from the file's start.
        at: usize,
        /// The interface's number.
        given: u32,
    },
    /// A simple packet block.
    #[error("the packet at byte {at} has no time (a simple packet block)")]
    NoTime {
        /// Bytes from the file's start.
        at: usize,
    },
    /// Packets of a link with unknown headers.
    #[error("its packets are of link type {}, whose headers are not known; those of {} are", link::Unknown(*given), link::Known)]
    LinkType {
        /// The link type's number (`LINKTYPE_` values, www.tcpdump.org/linktypes.html).
        given: u16,
    },
}

/// The largest packet, as in libpcap.
pub const MAX_BYTES: u32 = 262_144;

/// The packets of a capture, in file order, up to the first error.
#[derive(Debug)]
pub struct Records<'a> {
    format: Option<Format<'a>>,
}

#[derive(Debug)]
enum Format<'a> {
    Classic(Classic<'a>),
    Blocks(Blocks<'a>),
}

/// Opens a capture.
pub fn records(file: &[u8]) -> Result<Records<'_>, CaptureError> {
    let format = match Classic::open(file) {
        Some(classic) => Format::Classic(classic?),
        None if file.starts_with(&blocks::SECTION.to_be_bytes()) => Format::Blocks(Blocks::open(file)),
        None => return Err(CaptureError::NoCapture { given: file[..file.len().min(4)].to_vec() }),
    };
    Ok(Records { format: Some(format) })
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = match self.format.as_mut()? {
            Format::Classic(classic) => classic.record(),
            Format::Blocks(blocks) => blocks.record(),
        };
        let item = item.transpose();
        if !matches!(item, Some(Ok(_))) {
            self.format = None;
        }
        item
    }
}

/// A packet of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowPacket {
    /// The time since the earliest packet.
    pub at: Duration,
    /// The packet's bytes, including the link-layer header; 1 to [`MAX_BYTES`].
    pub bytes: u32,
    /// The flow (5-tuple), numbered from 0 in order of appearance.
    pub flow: u32,
    /// The packet's ECN codepoint; not ECN-capable if the packet's headers are unknown.
    pub ecn: Ecn,
}

/// A packet as offered load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    /// The time since the earliest packet.
    pub at: Duration,
    /// The packet's bytes, including the link-layer header; 1 to [`MAX_BYTES`].
    pub bytes: u32,
    /// The flow (5-tuple), numbered from 0 in order of appearance. Numbers repeat after 65 536
    /// flows.
    pub flow: u16,
    /// The packet's ECN codepoint; not ECN-capable if the packet's headers are unknown.
    pub ecn: Ecn,
}

/// The packets of a capture, sorted by time, with unique flow numbers. Packets without bytes are
/// omitted.
///
/// Flows are identified in bare IP packets, and after Ethernet, PPPoE, PPP, Cisco HDLC, 802.11
/// (with or without radiotap), Linux's two "cooked" captures and BSD loopback. Any other link type
/// is an error. Unidentified packets form one flow, and [`notes`] counts them. The bytes of a
/// radiotap header or of a direction octet do not count.
///
/// A truncated packet ends the capture, and is an error if it is the first.
///
/// A packet that a fairwire trace records at several interfaces counts once, at the interface where
/// its flow first appears.
pub fn seen(file: &[u8]) -> Result<Vec<FlowPacket>, CaptureError> {
    let mut flows: BTreeMap<Option<FlowKey>, (u32, Option<u32>)> = BTreeMap::new();
    let mut stamped: Vec<(u64, FlowPacket)> = Vec::new();
    each_whole(file, |record| {
        if record.bytes > 0 {
            let link::Parsed { key, ecn, pseudo } = of_link(&record)?;
            let bytes = record.bytes.saturating_sub(pseudo).max(1);
            // The number fits in `u32`: 2^32 records take at least 64 GiB.
            let number = flows.len() as u32;
            let (flow, entry) = *flows.entry(key).or_insert((number, record.traced_at));
            let is_further_on = record.traced_at.zip(entry).is_some_and(|(here, entry)| here != entry);
            if !is_further_on {
                stamped.push((record.time_ns, FlowPacket { at: Duration::ZERO, bytes, flow, ecn }));
            }
        }
        Ok(())
    })?;
    stamped.sort_by_key(|(time, _)| *time);
    let first = stamped.first().map_or(0, |(time, _)| *time);
    let since = |(time, packet)| FlowPacket { at: Duration::from_ns(time - first), ..packet };
    Ok(stamped.into_iter().map(since).collect())
}

/// The offered load of a capture: [`seen`], with flow numbers cut to 16 bits.
pub fn offered(file: &[u8]) -> Result<Vec<Offered>, CaptureError> {
    let offered = |FlowPacket { at, bytes, flow, ecn }| Offered { at, bytes, flow: flow as u16, ecn };
    Ok(seen(file)?.into_iter().map(offered).collect())
}

/// Notes on a capture that [`seen`] can read: the number of frames in which no packet follows the
/// link's headers, and the location of a truncation.
pub fn notes(file: &[u8]) -> Result<Vec<String>, CaptureError> {
    let (mut whole, mut unidentified) = (0_u64, 0_u64);
    let cut = each_whole(file, |record| {
        whole += 1;
        unidentified += u64::from(of_link(&record)?.key.is_none());
        Ok(())
    })?;
    let unidentified = (unidentified > 0).then(|| {
        format!(
            "{unidentified} of its packets show no packet behind the headers of their link (encrypted, without \
             data, or cut too short); they are one flow"
        )
    });
    let cut = cut.map(|at| {
        format!("it ends in the record or block at byte {at}; packets before it, which are taken: {whole}")
    });
    Ok(unidentified.into_iter().chain(cut).collect())
}

/// Passes each complete record to `take`. Returns the start of a truncated record, if complete
/// records precede it.
fn each_whole(
    file: &[u8],
    mut take: impl FnMut(Record<'_>) -> Result<(), CaptureError>,
) -> Result<Option<usize>, CaptureError> {
    let mut is_any = false;
    for record in records(file)? {
        match record {
            Err(CaptureError::Truncated { at }) if is_any => return Ok(Some(at)),
            record => take(record?)?,
        }
        is_any = true;
    }
    Ok(None)
}

fn of_link(record: &Record<'_>) -> Result<link::Parsed, CaptureError> {
    link::seen(record.link_type, record.data).ok_or(CaptureError::LinkType { given: record.link_type })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteOrder {
    Big,
    Little,
}

impl ByteOrder {
    fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        let bytes = crate::bytes::array_at(bytes, at)?;
        Some(if self == ByteOrder::Big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        let bytes = crate::bytes::array_at(bytes, at)?;
        Some(if self == ByteOrder::Big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn u64(self, bytes: &[u8], at: usize) -> Option<u64> {
        let bytes = crate::bytes::array_at(bytes, at)?;
        Some(if self == ByteOrder::Big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }
}

#[cfg(test)]
mod tests;
