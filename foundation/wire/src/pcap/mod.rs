//! Reading captures: pcap and pcapng files, which are in memory as a whole.
//!
//! Of a pcap file: both byte orders, and stamps in microseconds or nanoseconds
//! (draft-ietf-opsawg-pcap). Of a pcapng file (draft-ietf-opsawg-pcapng): any number of sections
//! and interfaces, in either byte order; enhanced packet blocks and the obsolete packet blocks;
//! stamps of any resolution and offset. Other blocks are passed over. A simple packet block has no
//! time and is refused.
//!
//! No bytes, however hostile, make it panic, and nothing is allocated by what a length field says.

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
    /// Capture time, in nanoseconds since 1970; times out of range become the nearest in range.
    pub time_ns: u64,
    /// Bytes of the packet, some of which may not have been captured.
    pub bytes: u32,
    /// What kind of header the data begin with (`LINKTYPE_` values,
    /// www.tcpdump.org/linktypes.html).
    pub link_type: u16,
    /// The captured bytes.
    pub data: &'a [u8],
    /// In a trace written by fairwire, which has a packet once per point that it passes: the
    /// interface of that point.
    pub traced_at: Option<u32>,
}

/// Why a capture cannot be read, or not further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// It does not begin as a capture does.
    #[error(
        "this is no capture: it begins with {given:02x?}; pcap (a1b2c3d4 or a1b23c4d, either byte order) and pcapng (0a0d0d0a) are read"
    )]
    NoCapture {
        /// Its first bytes, at most four.
        given: Vec<u8>,
    },
    /// A version of the format that is not known.
    #[error("the header at byte {at} is of version {given}; version {allowed} is read")]
    Version {
        /// Where, bytes from the start of the file.
        at: usize,
        /// The major version of the file.
        given: u16,
        /// The one that is known.
        allowed: u16,
    },
    /// The file ends within a header, a record or a block.
    #[error("the capture ends within what begins at byte {at}")]
    Truncated {
        /// Where, bytes from the start of the file.
        at: usize,
    },
    /// A whole block that is too short for the fields of its type.
    #[error("the block at byte {at} is too short for what it holds")]
    Short {
        /// Where, bytes from the start of the file.
        at: usize,
    },
    /// A length that contradicts the block or file around it.
    #[error("the record or block at byte {at} has a length of {given}, which cannot be")]
    Length {
        /// Where, bytes from the start of the file.
        at: usize,
        /// The length in the file.
        given: u32,
    },
    /// A section without a valid byte order.
    #[error("the section at byte {at} has no valid byte order")]
    ByteOrder {
        /// Where, bytes from the start of the file.
        at: usize,
    },
    /// A packet of an interface that was not described.
    #[error("the packet at byte {at} is of interface {given}, which is not described before it")]
    Interface {
        /// Where, bytes from the start of the file.
        at: usize,
        /// The interface's number.
        given: u32,
    },
    /// A simple packet block.
    #[error("the packet at byte {at} has no time (a simple packet block)")]
    NoTime {
        /// Where, bytes from the start of the file.
        at: usize,
    },
    /// Packets of a link whose headers are not known.
    #[error("its packets are of link type {}, whose headers are not known; those of {} are", link::Unknown(*given), link::Known)]
    LinkType {
        /// Its number (`LINKTYPE_` values, www.tcpdump.org/linktypes.html).
        given: u16,
    },
}

/// The largest packet, as libpcap bounds it.
pub const MAX_BYTES: u32 = 262_144;

/// The packets of a capture, in the order of the file. The first error ends it.
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
pub struct Seen {
    /// When, from the earliest packet on.
    pub at: Duration,
    /// Bytes that it had, from the start of its link-layer header on; 1 to [`MAX_BYTES`].
    pub bytes: u32,
    /// Its flow, identified by 5-tuple and numbered from 0 in order of appearance.
    pub flow: u32,
    /// Its ECN codepoint; not capable where its headers are not known.
    pub ecn: Ecn,
}

/// A packet as offered load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    /// When, from the earliest packet on.
    pub at: Duration,
    /// Bytes that it had, from the start of its link-layer header on; 1 to [`MAX_BYTES`].
    pub bytes: u32,
    /// Its flow, identified by 5-tuple and numbered from 0 in order of appearance; after 65 536
    /// flows the numbers begin again.
    pub flow: u16,
    /// Its ECN codepoint; not capable where its headers are not known.
    pub ecn: Ecn,
}

/// The packets of a capture, in order of time, with flow numbers that never repeat. Packets without
/// bytes are left out.
///
/// Flows are identified in IP packets, and behind the headers of Ethernet, PPPoE, PPP, Cisco HDLC
/// and 802.11 with and without radiotap. So they are behind those of Linux's "cooked" captures of
/// both versions, and of BSD loopback. Packets behind which none is found are one flow: [`notes`]
/// counts them. A packet of another link type is an error. What radiotap and a
/// direction add to a packet is not counted.
///
/// A capture that ends within a packet has those before it; one that ends within its first is an
/// error. [`notes`] says so.
///
/// A trace of fairwire's own has a packet where it arrives at a link, where it leaves that, at the
/// next link, and where it is delivered. To count each packet once, a flow's packets count where
/// its first one appears first: that is where they enter the network.
pub fn seen(file: &[u8]) -> Result<Vec<Seen>, CaptureError> {
    let mut flows: BTreeMap<Option<FlowKey>, (u32, Option<u32>)> = BTreeMap::new();
    let mut stamped: Vec<(u64, Seen)> = Vec::new();
    each_whole(file, |record| {
        if record.bytes > 0 {
            let link::Seen { key, ecn, pseudo } = of_link(&record)?;
            let bytes = record.bytes.saturating_sub(pseudo).max(1);
            // A record takes 16 bytes of a file, so 2^32 flows do not fit into memory.
            let number = flows.len() as u32;
            let (flow, entry) = *flows.entry(key).or_insert((number, record.traced_at));
            let is_further_on = record.traced_at.zip(entry).is_some_and(|(here, entry)| here != entry);
            if !is_further_on {
                stamped.push((record.time_ns, Seen { at: Duration::ZERO, bytes, flow, ecn }));
            }
        }
        Ok(())
    })?;
    stamped.sort_by_key(|(time, _)| *time);
    let first = stamped.first().map_or(0, |(time, _)| *time);
    let since = |(time, packet)| Seen { at: Duration::from_ns(time - first), ..packet };
    Ok(stamped.into_iter().map(since).collect())
}

/// The offered load that a capture shows: [`seen`], with flows numbered in 16 bits.
pub fn offered(file: &[u8]) -> Result<Vec<Offered>, CaptureError> {
    let offered = |Seen { at, bytes, flow, ecn }| Offered { at, bytes, flow: flow as u16, ecn };
    Ok(seen(file)?.into_iter().map(offered).collect())
}

/// Notes on a capture whose packets are [`seen`]: the number of frames without a packet behind the
/// headers of their link, and where the file is cut off.
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
        format!("it ends within what begins at byte {at}; packets before it, which are taken: {whole}")
    });
    Ok(unidentified.into_iter().chain(cut).collect())
}

/// Gives each whole record to `take`. Returns where the one begins within which the file ends, if
/// there are others before it.
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

fn of_link(record: &Record<'_>) -> Result<link::Seen, CaptureError> {
    link::seen(record.link_type, record.data).ok_or(CaptureError::LinkType { given: record.link_type })
}

/// A 16- or 32-bit number in the byte order of a file.
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
