//! TCP sequence numbers (RFC 9293, section 3.1) and timestamps option (RFC 7323, section 3.2).

use crate::bytes::{array_at, u8_at};
use crate::headers::{Fragment, Headers, TCP, TcpFlags};
use fairwire_core::Acknowledgement;

/// A TCP segment's sequence numbers, flags, size and timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The sequence number of the first byte, or of the SYN.
    pub sequence: u32,
    /// The next sequence number that the sender of this segment expects; absent without ACK.
    pub acknowledged: Option<u32>,
    /// Its flags.
    pub flags: TcpFlags,
    /// Bytes of payload.
    pub payload_bytes: u32,
    /// Its timestamps option.
    pub stamps: Option<Stamps>,
}

/// The timestamps option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    /// The sender's clock, TSval.
    pub value: u32,
    /// TSecr: the latest TSval that the segment's sender received.
    pub echo: u32,
}

const END_OF_OPTIONS: u8 = 0;
const NO_OPERATION: u8 = 1;
const TIMESTAMPS: u8 = 8;
/// Bytes of the option: kind, length and two timestamps.
const TIMESTAMPS_BYTES: u8 = 10;
/// The header without options.
const FIXED_BYTES: usize = 20;
/// The usual start of options with timestamps: two no-operations, then the option's kind and length
/// (RFC 7323, appendix A).
const USUAL: [u8; 4] = [NO_OPERATION, NO_OPERATION, TIMESTAMPS, TIMESTAMPS_BYTES];

impl Segment {
    /// The segment in `frame` with these `headers`; `None` without a complete TCP segment. A
    /// super-packet counts as one segment.
    #[inline]
    pub fn of(frame: &[u8], headers: &Headers) -> Option<Segment> {
        let (network, transport) = (headers.network.as_ref()?, headers.transport.as_ref()?);
        if network.protocol != TCP || network.fragment != Fragment::Whole || network.is_truncated {
            return None;
        }
        let (flags, payload) = (transport.tcp_flags?, transport.payload?);
        let [s0, s1, s2, s3, a0, a1, a2, a3] = array_at(frame, transport.offset + 4)?;
        Some(Segment {
            sequence: u32::from_be_bytes([s0, s1, s2, s3]),
            acknowledged: flags.has(TcpFlags::ACK).then_some(u32::from_be_bytes([a0, a1, a2, a3])),
            flags,
            payload_bytes: network.end.checked_sub(payload)? as u32,
            stamps: stamps(frame.get(transport.offset + FIXED_BYTES..payload)?),
        })
    }

    /// The segment as an acknowledgement; `None` if it has data, or opens or closes a connection.
    pub fn acknowledgement(frame: &[u8], headers: &Headers) -> Option<Acknowledgement> {
        let segment = Segment::of(frame, headers)?;
        let transport = headers.transport.as_ref()?;
        let options = frame.get(transport.offset + FIXED_BYTES..transport.payload?)?;
        let others = [TcpFlags::SYN, TcpFlags::FIN, TcpFlags::RST];
        if segment.payload_bytes > 0 || others.into_iter().any(|flag| segment.flags.has(flag)) {
            return None;
        }
        // ECE, CWR and the bit before them together form a counter (RFC 9768).
        let echoes_mark = segment.flags.0 & 0xc0 != 0 || u8_at(frame, transport.offset + 12)? & 1 != 0;
        let is_bare = segment.flags.0 & !0xc0 == TcpFlags::ACK.0;
        Some(Acknowledgement {
            number: segment.acknowledged?,
            marks: 0,
            echoes_mark,
            is_plain: is_bare && !echoes_mark && has_only_stamps(options),
        })
    }

    /// The number of sequence numbers that the segment occupies: one per payload byte, and one each
    /// for SYN and FIN (RFC 9293, section 3.4).
    #[inline]
    pub fn span(&self) -> u32 {
        let one = |flag| u32::from(self.flags.has(flag));
        self.payload_bytes + one(TcpFlags::SYN) + one(TcpFlags::FIN)
    }
}

fn has_only_stamps(options: &[u8]) -> bool {
    let mut at = 0;
    while let Some(kind) = u8_at(options, at) {
        match kind {
            END_OF_OPTIONS => return true,
            NO_OPERATION => at += 1,
            TIMESTAMPS => at += usize::from(TIMESTAMPS_BYTES),
            _ => return false,
        }
    }
    true
}

#[inline]
fn stamps(options: &[u8]) -> Option<Stamps> {
    match options.first_chunk() {
        Some(&USUAL) => stamps_at(options, 2),
        None => None,
        Some(_) => searched(options),
    }
}

fn stamps_at(options: &[u8], at: usize) -> Option<Stamps> {
    let [v0, v1, v2, v3, e0, e1, e2, e3] = array_at(options, at + 2)?;
    Some(Stamps { value: u32::from_be_bytes([v0, v1, v2, v3]), echo: u32::from_be_bytes([e0, e1, e2, e3]) })
}

#[cold]
fn searched(options: &[u8]) -> Option<Stamps> {
    let mut at = 0;
    loop {
        match u8_at(options, at)? {
            END_OF_OPTIONS => return None,
            NO_OPERATION => at += 1,
            TIMESTAMPS if u8_at(options, at + 1)? == TIMESTAMPS_BYTES => return stamps_at(options, at),
            _ => at += usize::from(u8_at(options, at + 1)?).max(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::parse_ip;
    use proptest::prelude::*;

    fn packet(flags: u8, options: &[u8], payload: usize) -> Vec<u8> {
        let length = (40 + options.len() + payload) as u16;
        let mut packet = vec![0x45, 0, (length >> 8) as u8, length as u8, 0, 1, 0x40, 0, 64, 6, 0, 0];
        packet.extend([10, 0, 0, 1, 10, 0, 0, 2, 0x0f, 0xa0, 0, 80, 0, 0, 1, 0, 0, 0, 2, 0]);
        packet.extend([((20 + options.len()) as u8 / 4) << 4, flags, 1, 0, 0, 0, 0, 0]);
        packet.extend(options);
        packet.resize(packet.len() + payload, 7);
        packet
    }

    fn read(flags: u8, options: &[u8], payload: usize) -> Segment {
        let packet = packet(flags, options, payload);
        Segment::of(&packet, &parse_ip(&packet)).expect("it is whole")
    }

    #[test]
    fn numbers_and_timestamps_are_read_at_any_option_position() {
        let stamps = Some(Stamps { value: 5, echo: 9 });
        let option = [8, 10, 0, 0, 0, 5, 0, 0, 0, 9];
        let usual = [&[1, 1][..], &option].concat();
        // The options are those of a SYN.
        let late = [&[2, 4, 5, 0xb4, 4, 2][..], &option, &[1, 3, 3, 7]].concat();
        for (options, found) in [
            (&[][..], None),
            (&usual, stamps),
            (&late, stamps),
            (&[1, 1, 1, 0], None),
            (&[9, 0, 8, 10], None),
            (&[0, 1, 8, 10], None),
        ] {
            let segment = read(0x18, options, 100);
            assert_eq!((segment.sequence, segment.acknowledged), (0x100, Some(0x200)), "{options:?}");
            assert_eq!((segment.payload_bytes, segment.stamps), (100, found), "{options:?}");
        }
    }

    #[test]
    fn acknowledgements_with_data_echo_or_more_options_are_not_plain() {
        let of = |flags, options: &[u8], payload| {
            let packet = packet(flags, options, payload);
            Segment::acknowledgement(&packet, &parse_ip(&packet)).map(|ack| (ack.is_plain, ack.echoes_mark))
        };
        let stamps = [1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 9];
        let sack = [1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2];
        assert_eq!([of(0x10, &[], 0), of(0x10, &stamps, 0)], [Some((true, false)); 2]);
        assert_eq!(of(0x10, &sack, 0), Some((false, false)));
        assert_eq!([of(0x50, &[], 0), of(0x90, &stamps, 0)], [Some((false, true)); 2]);
        assert_eq!([of(0x10, &[], 1), of(0x12, &[], 0), of(0x11, &[], 0), of(0x14, &[], 0)], [None; 4]);
    }

    #[test]
    fn a_syn_and_a_fin_take_a_number_each() {
        for (flags, payload, span) in [(0x02, 0, 1), (0x11, 0, 1), (0x11, 10, 11), (0x10, 0, 0)] {
            assert_eq!(read(flags, &[], payload).span(), span);
        }
        assert_eq!(read(0x02, &[], 0).acknowledged, None);
    }

    proptest! {
        #[test]
        fn no_options_panic(options in prop::collection::vec(0u8..12, 0..10), cut in 0usize..80) {
            let options: Vec<u8> = options.iter().flat_map(|byte| [*byte; 4]).collect();
            let packet = packet(0x10, &options, 3);
            let packet = &packet[..packet.len().saturating_sub(cut)];
            let _ = Segment::acknowledgement(packet, &parse_ip(packet));
        }
    }
}
