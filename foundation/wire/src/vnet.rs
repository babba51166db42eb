//! The virtio-net header that Linux puts before each frame (`PACKET_VNET_HDR`, `IFF_VNET_HDR`;
//! virtio 1.2, section 5.1.6). Numbers are in the machine's byte order (`linux/virtio_net.h`).

use crate::checksum::Partial;

/// The flag of a partial transport checksum, at [`VnetHeader::csum_start`] and
/// [`VnetHeader::csum_offset`].
pub const NEEDS_CSUM: u8 = 1;
/// The flag of a verified checksum.
pub const DATA_VALID: u8 = 2;

/// Not a super-packet.
pub const GSO_NONE: u8 = 0;
/// TCP over IPv4.
pub const GSO_TCPV4: u8 = 1;
/// UDP datagrams to be fragmented (UFO), removed from Linux in 4.14.
pub const GSO_UDP: u8 = 3;
/// TCP over IPv6.
pub const GSO_TCPV6: u8 = 4;
/// Consecutive UDP datagrams, from `UDP_SEGMENT`.
pub const GSO_UDP_L4: u8 = 5;
/// A flag in the type: the TCP header has CWR set.
pub const GSO_ECN: u8 = 0x80;

/// Bytes of the header.
pub const LEN: usize = 10;

/// The virtio-net header before a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VnetHeader {
    /// [`NEEDS_CSUM`], [`DATA_VALID`].
    pub flags: u8,
    /// One of the `GSO_` types, possibly with [`GSO_ECN`].
    pub gso_type: u8,
    /// An unreliable hint of the header length: Linux sets it to the length of the frame's first
    /// memory fragment.
    pub hdr_len: u16,
    /// Payload bytes per segment.
    pub gso_size: u16,
    /// The first octet that the partial checksum covers, in bytes from the start of the frame.
    pub csum_start: u16,
    /// The location of the checksum, in bytes from `csum_start`.
    pub csum_offset: u16,
}

impl VnetHeader {
    /// The header of a frame that needs no processing.
    pub const PLAIN: VnetHeader =
        VnetHeader { flags: 0, gso_type: GSO_NONE, hdr_len: 0, gso_size: 0, csum_start: 0, csum_offset: 0 };

    /// Reads the first [`LEN`] octets; `None` if `bytes` is shorter.
    pub fn read(bytes: &[u8]) -> Option<VnetHeader> {
        let &[flags, gso_type, a, b, c, d, e, f, g, h] = bytes.first_chunk::<LEN>()?;
        Some(VnetHeader {
            flags,
            gso_type,
            hdr_len: u16::from_ne_bytes([a, b]),
            gso_size: u16::from_ne_bytes([c, d]),
            csum_start: u16::from_ne_bytes([e, f]),
            csum_offset: u16::from_ne_bytes([g, h]),
        })
    }

    /// Writes the first [`LEN`] octets. If `bytes` is shorter, writes nothing and returns `None`.
    pub fn write(&self, bytes: &mut [u8]) -> Option<()> {
        let place = bytes.first_chunk_mut::<LEN>()?;
        let [a, b] = self.hdr_len.to_ne_bytes();
        let [c, d] = self.gso_size.to_ne_bytes();
        let [e, f] = self.csum_start.to_ne_bytes();
        let [g, h] = self.csum_offset.to_ne_bytes();
        *place = [self.flags, self.gso_type, a, b, c, d, e, f, g, h];
        Some(())
    }

    /// The header after `octets` octets are prepended to the frame.
    #[must_use]
    pub fn after(self, octets: u16) -> VnetHeader {
        // Zero means unused.
        let moved = |at: u16| if at == 0 { 0 } else { at.saturating_add(octets) };
        VnetHeader { hdr_len: moved(self.hdr_len), csum_start: moved(self.csum_start), ..self }
    }

    /// The type of super-packet, without [`GSO_ECN`].
    pub fn gso_kind(&self) -> u8 {
        self.gso_type & !GSO_ECN
    }

    /// Is the frame a super-packet?
    pub fn is_gso(&self) -> bool {
        self.gso_kind() != GSO_NONE
    }

    /// The partial checksum, if any.
    pub fn partial(&self) -> Option<Partial> {
        (self.flags & NEEDS_CSUM != 0)
            .then_some(Partial { csum_start: self.csum_start, csum_offset: self.csum_offset })
    }
}
