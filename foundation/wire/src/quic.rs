//! QUIC fields visible to the path: the header form and the spin bit.
//!
//! Sources: RFC 8999, section 5 (all versions); RFC 9000, sections 17.2 to 17.4 (version 1); RFC
//! 9369, section 3.1 (version 2).

use crate::bytes::{array_at, u8_at};
use crate::headers::{Fragment, Headers, UDP};

/// The first packet of a datagram that looks like QUIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuicPacket {
    /// A handshake packet, whose header has a known version.
    Long,
    /// Probably a packet of an established connection: only one bit identifies a short header.
    Short {
        /// The spin bit (RFC 9000, section 17.4).
        spin: bool,
    },
}

/// The form bit, set in long headers (RFC 9000, section 17.2).
const LONG_FORM: u8 = 0x80;
/// The spin bit (RFC 9000, section 17.3.1).
const SPIN: u8 = 0x20;
/// Version 1, and version 2 (RFC 9369, section 3.1).
const VERSIONS: [u32; 2] = [1, 0x6b33_43cf];

impl QuicPacket {
    /// The packet in `frame`, which has these `headers`. `None` if `frame` is not a complete UDP
    /// datagram, or is certainly not QUIC of a known version.
    #[inline]
    pub fn of(frame: &[u8], headers: &Headers) -> Option<QuicPacket> {
        let (network, transport) = (headers.network.as_ref()?, headers.transport.as_ref()?);
        let payload = transport.payload?;
        if network.protocol != UDP || network.fragment != Fragment::Whole || payload >= network.end {
            return None;
        }
        let first = u8_at(frame, payload)?;
        // The second-highest bit is not checked: the ends may agree to vary it (RFC 9287).
        if first & LONG_FORM == 0 {
            return Some(QuicPacket::Short { spin: first & SPIN != 0 });
        }
        let version = u32::from_be_bytes(array_at(frame, payload + 1)?);
        VERSIONS.contains(&version).then_some(QuicPacket::Long)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::parse_ip;

    fn read(protocol: u8, payload: &[u8]) -> Option<QuicPacket> {
        let length = (28 + payload.len()) as u8;
        let mut packet = vec![0x45, 0, 0, length, 0, 1, 0x40, 0, 64, protocol, 0, 0];
        packet.extend([10, 0, 0, 1, 10, 0, 0, 2, 0x0f, 0xa0, 1, 0xbb, 0, length - 20, 0, 0]);
        packet.extend(payload);
        QuicPacket::of(&packet, &parse_ip(&packet))
    }

    #[test]
    fn the_spin_bit_is_read_only_from_short_headers() {
        assert_eq!(read(17, &[0x40, 1, 2]), Some(QuicPacket::Short { spin: false }));
        assert_eq!(read(17, &[0x3f]), Some(QuicPacket::Short { spin: true }));
        assert_eq!(read(17, &[0xe0, 0, 0, 0, 1, 8]), Some(QuicPacket::Long));
        assert_eq!(read(17, &[0xe0, 0x6b, 0x33, 0x43, 0xcf]), Some(QuicPacket::Long));
    }

    #[test]
    fn other_datagrams_are_not_quic() {
        let negotiation = [0xc0, 0, 0, 0, 0, 8];
        let rtp = [0x80, 96, 0, 1];
        let cut = [0xc0, 0, 0, 0];
        for payload in [&negotiation[..], &rtp, &cut, &[]] {
            assert_eq!(read(17, payload), None, "{payload:?}");
        }
        assert_eq!(read(136, &[0x40]), None, "UDP-Lite");
    }
}
