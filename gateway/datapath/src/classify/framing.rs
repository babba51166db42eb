//! A frame's size on the shaped link.

use fairwire_linux::port::LinkKind;

/// Bytes of an Ethernet header. An overhead of -14 bytes leaves only the IP packet.
pub const ETHERNET_HEADER_BYTES: i32 = 14;

/// Payload and total size of an ATM cell, in bytes (ITU-T I.361).
const CELL: (u64, u64) = (48, 53);

/// The bytes that the shaped link adds to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Bytes added to each frame. A frame's bytes start at the Ethernet header and exclude the
    /// check sequence.
    pub overhead_bytes: i32,
    /// The smallest size of a frame, overhead included.
    pub minimum_bytes: u32,
    /// Is the frame carried in ATM cells?
    pub is_atm: bool,
}

impl Framing {
    /// Ethernet adds check sequence (4), preamble (8) and gap (12). The minimum is 84 B (IEEE
    /// 802.3, clause 4.4.2).
    pub const ETHERNET: Framing = Framing { overhead_bytes: 24, minimum_bytes: 84, is_atm: false };

    /// The size of a frame of `frame_bytes` that begins with the header of `link`: at least 1,
    /// because each packet must take time.
    pub fn wire_bytes(&self, frame_bytes: usize, link: LinkKind) -> u32 {
        let header = if link == LinkKind::Ip { ETHERNET_HEADER_BYTES } else { 0 };
        let bytes = (frame_bytes as u64).cast_signed() + i64::from(header) + i64::from(self.overhead_bytes);
        let bytes = bytes.max(i64::from(self.minimum_bytes)).max(1) as u64;
        let bytes = if self.is_atm { bytes.div_ceil(CELL.0) * CELL.1 } else { bytes };
        bytes.min(u64::from(u32::MAX)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Framing = Framing { overhead_bytes: 0, minimum_bytes: 1, is_atm: false };

    #[test]
    fn a_frame_on_ethernet_takes_the_size_of_the_standard() {
        let bytes = |frame| Framing::ETHERNET.wire_bytes(frame, LinkKind::Ethernet);
        assert_eq!(bytes(14 + 46), 84);
        assert_eq!(bytes(14 + 1500), 1538);
        assert_eq!(bytes(42), 84); // a veth does not pad, a physical link would
        assert_eq!(bytes(61), 85);
    }

    #[test]
    fn a_bare_packet_counts_as_its_frame() {
        assert_eq!(Framing::ETHERNET.wire_bytes(1500, LinkKind::Ip), 1538);
        let packets = Framing { overhead_bytes: -ETHERNET_HEADER_BYTES, ..PLAIN };
        assert_eq!(packets.wire_bytes(1500, LinkKind::Ip), 1500);
        assert_eq!(packets.wire_bytes(1514, LinkKind::Ethernet), 1500);
        assert_eq!(packets.wire_bytes(3, LinkKind::Ethernet), 1);
    }

    #[test]
    fn cells_carry_48_of_53_bytes() {
        // PPPoE LLC on ADSL: 1492 B of IP and 40 B of overhead (8 PPPoE and PPP, 14 Ethernet, 2
        // pad, 8 LLC and SNAP, 8 AAL5) fill 32 cells.
        let adsl = Framing { overhead_bytes: 40 - ETHERNET_HEADER_BYTES, minimum_bytes: 1, is_atm: true };
        assert_eq!(adsl.wire_bytes(1492, LinkKind::Ip), 32 * 53);
        let cells = Framing { is_atm: true, ..PLAIN };
        assert_eq!(cells.wire_bytes(48, LinkKind::Ethernet), 53);
        assert_eq!(cells.wire_bytes(49, LinkKind::Ethernet), 106);
        assert_eq!(Framing { minimum_bytes: 96, ..cells }.wire_bytes(1, LinkKind::Ethernet), 106);
        assert_eq!(
            Framing { overhead_bytes: i32::MAX, ..cells }.wire_bytes(1 << 40, LinkKind::Ethernet),
            u32::MAX
        );
    }
}
