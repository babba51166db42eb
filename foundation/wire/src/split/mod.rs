//! Splits super-packets of segmentation offload into the frames that a network card would have
//! sent.
//!
//! TCP between local stacks arrives in packets of up to 64 KiB. Without a split, bursts rather than
//! packets would share the link. [`split`] corrects in each frame:
//!
//! - **IP**: IPv4 total length, identification plus one per segment, header checksum; IPv6 payload
//!   length.
//! - **TCP**: sequence number; FIN and PSH only on the last segment; CWR only on the first (RFC
//!   3168, section 6.1.2); the urgent pointer still points at the same octet; checksum.
//! - **UDP**: length and checksum; a sum of zero is sent as `0xffff` (RFC 768).
//! - **Tunnels** ([`tunnel`]): the inner packet is split. In every outer header: lengths, IPv4
//!   identification (plus one per segment), UDP and GRE checksums if present.
//!
//! Any other frame is passed on once, with its partial checksum completed (CRC32c for SCTP).

mod tunnel;

pub(crate) use tunnel::Wraps;

use crate::checksum::{Partial, complete_partial};
use crate::crc32c;
use crate::headers::{
    self, Between, Fragment, Headers, MAX_LINK_BYTES, Network, TCP, TcpFlags, Transport, UDP, Version,
};
use crate::segment::Train;
use crate::vnet::{GSO_TCPV4, GSO_TCPV6, GSO_UDP_L4, VnetHeader};
use tunnel::{Found, Wanted};

/// The largest frame of a super-packet, in bytes: Ethernet with VLAN tags, and the longest IPv6
/// packet that is not a jumbogram.
pub const MAX_FRAME_BYTES: usize = MAX_LINK_BYTES + 40 + 65_535;

/// `TCP_MIN_GSO_SIZE` of Linux: the minimum MSS of 48, minus 40 bytes of options.
pub(crate) const MIN_TCP_GSO_SIZE: u16 = 8;

/// `UDP_MAX_SEGMENTS` of Linux.
const MAX_UDP_SEGMENTS: usize = 128;

const TCP_CHECKSUM: u16 = 16;
const UDP_CHECKSUM: u16 = 6;
const SCTP_CHECKSUM: u16 = 8;

/// A mismatch between a frame and its virtio-net header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// An unsupported type of super-packet.
    #[error("gso_type {given:#04x} is not supported; allowed: none (0), TCPv4 (1), TCPv6 (4), UDP_L4 (5)")]
    UnsupportedKind {
        /// The given type.
        given: u8,
    },
    /// The frame does not match `gso_type`, or has an incomplete header.
    #[error("the frame is no unfragmented packet of the protocol that gso_type {given:#04x} names")]
    WrongProtocol {
        /// The given type.
        given: u8,
    },
    /// The IP header claims more bytes than the frame contains.
    #[error("the IP packet is longer than its frame of {frame} bytes")]
    Truncated {
        /// Bytes in the frame.
        frame: usize,
    },
    /// The stated headers are longer than the frame.
    #[error("hdr_len {given} is more than the frame of {frame} bytes")]
    HeaderLength {
        /// The given length.
        given: u16,
        /// Bytes in the frame.
        frame: usize,
    },
    /// `gso_size` is too small.
    #[error("gso_size {given} is too small; allowed: {least} or more")]
    SegmentTooSmall {
        /// The given size.
        given: u16,
        /// The minimum.
        least: u16,
    },
    /// A segment would be too long for IP's length field.
    #[error("an IP packet of {given} bytes would come out; allowed: 65535 or fewer")]
    SegmentTooLong {
        /// Bytes of the longest IP packet.
        given: usize,
    },
    /// More datagrams than a sender may combine.
    #[error("{given} UDP datagrams would come out of one; allowed: {MAX_UDP_SEGMENTS} or fewer")]
    TooManyDatagrams {
        /// The number of resulting datagrams.
        given: usize,
    },
    /// The checksum field is outside the frame, or belongs to another protocol than the
    /// super-packet.
    #[error("csum_start {start} and csum_offset {offset} name no checksum of this frame")]
    ChecksumPlace {
        /// The given `csum_start`.
        start: u16,
        /// The given `csum_offset`.
        offset: u16,
    },
    /// SYN and RST cannot be repeated on every segment.
    #[error("a TCP super-packet has flags {flags:#04x}; SYN (0x02) and RST (0x04) are not allowed")]
    ControlFlags {
        /// The TCP flags.
        flags: u8,
    },
    /// An IPv6 super-packet with a jumbo payload option (RFC 2675): its segments would need other
    /// headers.
    #[error("an IPv6 jumbogram with extension headers cannot be split")]
    Jumbogram,
    /// An IPv6 routing header with segments left: the pseudo header needs the final destination,
    /// which is not in the IP header.
    #[error("an IPv6 super-packet with a routing header under way cannot be split")]
    SourceRouted,
    /// The caller's buffer is too small.
    #[error("the scratch buffer has {given} bytes; needed: {needed}")]
    ScratchTooSmall {
        /// The size in bytes.
        given: usize,
        /// Bytes of the largest resulting frame.
        needed: usize,
    },
}

/// Splits `frame`, which starts with its Ethernet header, into frames of wire size. Passes them to
/// `out` in order, and returns their number.
///
/// `scratch` needs [`MAX_FRAME_BYTES`] for a super-packet, and the frame's length for any other
/// frame. After an error, nothing has been passed on.
pub fn split(
    frame: &[u8],
    vnet: &VnetHeader,
    scratch: &mut [u8],
    out: &mut dyn FnMut(&[u8]),
) -> Result<usize, SplitError> {
    if !vnet.is_gso() && vnet.partial().is_none() {
        out(frame);
        return Ok(1);
    }
    split_parsed(frame, &headers::parse(frame), vnet, scratch, out)
}

/// Like [`split`], but with already parsed `headers`. `frame` may also be a bare IP packet of a TUN
/// device.
pub fn split_parsed(
    frame: &[u8],
    headers: &Headers,
    vnet: &VnetHeader,
    scratch: &mut [u8],
    out: &mut dyn FnMut(&[u8]),
) -> Result<usize, SplitError> {
    if vnet.is_gso() {
        let train = couple(frame, headers, vnet)?;
        let scratch = room(scratch, train.longest())?;
        return Ok(train.send(scratch, out));
    }
    match vnet.partial() {
        None => out(frame),
        Some(partial) => {
            let copy = room(scratch, frame.len())?;
            copy.copy_from_slice(frame);
            complete(copy, headers, partial)?;
            out(copy);
        }
    }
    Ok(1)
}

fn room(scratch: &mut [u8], needed: usize) -> Result<&mut [u8], SplitError> {
    let given = scratch.len();
    scratch.get_mut(..needed).ok_or(SplitError::ScratchTooSmall { given, needed })
}

/// Completes a partial checksum, which does not cover Ethernet padding after the IP packet.
fn complete(frame: &mut [u8], headers: &Headers, partial: Partial) -> Result<(), SplitError> {
    let end = headers.network.map_or(frame.len(), |n| n.end);
    let packet = frame.get_mut(..end).ok_or_else(|| misplaced(partial))?;
    // Only SCTP has its checksum at this offset, even inside a tunnel.
    let is_sctp = partial.csum_offset == SCTP_CHECKSUM;
    let is_done = if is_sctp {
        crc32c::complete_sctp(packet, partial.csum_start.into())
    } else {
        complete_partial(packet, partial)
    };
    if is_done { Ok(()) } else { Err(misplaced(partial)) }
}

fn misplaced(partial: Partial) -> SplitError {
    SplitError::ChecksumPlace { start: partial.csum_start, offset: partial.csum_offset }
}

/// Checks that `frame`, or a packet in its tunnel, is the super-packet that `vnet` describes.
fn couple<'a>(frame: &'a [u8], headers: &Headers, vnet: &VnetHeader) -> Result<Train<'a>, SplitError> {
    let given = vnet.gso_type;
    let (protocol, version) = match vnet.gso_kind() {
        GSO_TCPV4 => (TCP, Some(Version::V4)),
        GSO_TCPV6 => (TCP, Some(Version::V6)),
        GSO_UDP_L4 => (UDP, None),
        _ => return Err(SplitError::UnsupportedKind { given }),
    };
    let place = vnet.partial().map(|partial| (partial.csum_start.into(), partial.csum_offset.into()));
    let wanted = Wanted { protocol, version, place };
    match couple_with(frame, vnet, own(headers, &wanted)) {
        Err(error @ (SplitError::WrongProtocol { .. } | SplitError::ChecksumPlace { .. })) => {
            let found = tunnel::find(frame, headers, wanted).ok_or(error)?;
            couple_with(frame, vnet, Some(found))
        }
        outcome => outcome,
    }
}

fn own(headers: &Headers, wanted: &Wanted) -> Option<Found> {
    let (network, transport) = (headers.network?, headers.transport?);
    let is_named = network.protocol == wanted.protocol && wanted.version.is_none_or(|v| v == network.version);
    // The length field of an IEEE 802.3 frame cannot express a super-packet.
    let is_whole = network.fragment == Fragment::Whole && headers.between != Between::Snap;
    (is_named && is_whole).then_some(Found { network, transport, wraps: Wraps::of(headers) })
}

fn couple_with<'a>(
    frame: &'a [u8],
    vnet: &VnetHeader,
    found: Option<Found>,
) -> Result<Train<'a>, SplitError> {
    let wrong = SplitError::WrongProtocol { given: vnet.gso_type };
    let Found { network, transport, wraps } = found.ok_or(wrong)?;
    check_network(frame, &network)?;
    let start = transport.payload.ok_or(wrong)?;
    check_vnet(frame, vnet, &network, &transport)?;
    let payload = frame.get(start..network.end).ok_or(wrong)?;
    let train = Train { frame, network, transport, payload, size: vnet.gso_size.into(), wraps };
    check_segments(&train)?;
    Ok(train)
}

fn check_network(frame: &[u8], network: &Network) -> Result<(), SplitError> {
    let has_extensions = network.version == Version::V6 && network.payload > network.offset + 40;
    if network.is_truncated {
        Err(SplitError::Truncated { frame: frame.len() })
    } else if network.is_source_routed {
        Err(SplitError::SourceRouted)
    } else if network.is_length_zero && has_extensions {
        Err(SplitError::Jumbogram)
    } else {
        Ok(())
    }
}

fn check_vnet(
    frame: &[u8],
    vnet: &VnetHeader,
    network: &Network,
    transport: &Transport,
) -> Result<(), SplitError> {
    let (field, least) = match network.protocol {
        TCP => (TCP_CHECKSUM, MIN_TCP_GSO_SIZE),
        _ => (UDP_CHECKSUM, 1),
    };
    if usize::from(vnet.hdr_len) > frame.len() {
        return Err(SplitError::HeaderLength { given: vnet.hdr_len, frame: frame.len() });
    }
    if vnet.gso_size < least {
        return Err(SplitError::SegmentTooSmall { given: vnet.gso_size, least });
    }
    match vnet.partial() {
        Some(p) if usize::from(p.csum_start) != transport.offset || p.csum_offset != field => {
            Err(misplaced(p))
        }
        _ => Ok(()),
    }
}

fn check_segments(train: &Train) -> Result<(), SplitError> {
    let flags = train.transport.tcp_flags.unwrap_or_default();
    if flags.has_any(TcpFlags::SYN.with(TcpFlags::RST)) {
        return Err(SplitError::ControlFlags { flags: flags.0 });
    }
    if train.network.protocol == UDP && train.segments() > MAX_UDP_SEGMENTS {
        return Err(SplitError::TooManyDatagrams { given: train.segments() });
    }
    // IPv6 would allow 40 bytes more, because its length field excludes the fixed header. No real
    // link needs them.
    let given = train.longest() - train.wraps.start().unwrap_or(train.network.offset);
    if given > usize::from(u16::MAX) {
        return Err(SplitError::SegmentTooLong { given });
    }
    Ok(())
}
