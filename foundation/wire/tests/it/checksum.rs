//! The Internet checksum, compared with the examples of its RFCs and with etherparse.

use etherparse::checksum::Sum16BitWords;
use fairwire_wire::checksum::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::net::{Ipv4Addr, Ipv6Addr};

#[test]
fn the_example_of_rfc_1071_section_3_adds_up() {
    let data = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
    assert_eq!(Sum::new().with(&data).fold(), 0xddf2);
    assert_eq!(checksum(&data), !0xddf2);
}

#[test]
fn the_example_of_rfc_1624_section_4_gives_zero_and_not_its_complement() {
    // The equation of RFC 1141 gives 0xffff here, which a receiver that recalculates would refuse.
    assert_eq!(update(0xdd2f, Change { old: 0x5555, new: 0x3285 }), 0x0000);
}

#[test]
fn a_last_odd_octet_is_the_high_half_of_a_word() {
    assert_eq!(Sum::new().with(&[0x12]).fold(), 0x1200);
    assert_eq!(Sum::new().with(&[1, 2, 3, 4, 5]).fold(), 0x0102 + 0x0304 + 0x0500);
}

#[test]
fn a_partial_checksum_outside_the_packet_is_refused() {
    for (csum_start, csum_offset) in [(0, 9), (9, 0), (10, 0), (4, 5), (u16::MAX, u16::MAX)] {
        let mut frame = [1; 10];
        assert!(!complete_partial(&mut frame, Partial { csum_start, csum_offset }));
        assert_eq!(frame, [1; 10]);
    }
    let mut frame = [1; 10];
    assert!(complete_partial(&mut frame, Partial { csum_start: 4, csum_offset: 4 }));
    assert_eq!(frame[8..], (!0x0303u16).to_be_bytes());
}

#[test]
fn a_completed_checksum_is_never_zero() {
    let mut frame = [0xff, 0xff, 0, 0];
    assert!(complete_partial(&mut frame, Partial { csum_start: 0, csum_offset: 2 }));
    assert_eq!(frame, [0xff, 0xff, 0xff, 0xff]);
}

#[test]
fn the_length_of_a_jumbogram_counts_in_full() {
    let of_length = |length| {
        let address = Ipv6Addr::UNSPECIFIED;
        PseudoHeader { source: address, destination: address, protocol: 6, length }.sum().fold()
    };
    assert_eq!(of_length(0x0001_2345), 0x0001 + 0x2345 + 6);
}

proptest! {
    #[test]
    fn a_sum_agrees_with_etherparse(data in vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(checksum(&data), Sum16BitWords::new().add_slice(&data).ones_complement().to_be());
    }

    #[test]
    fn a_sum_of_even_pieces_is_the_sum_of_all(data in vec(any::<u8>(), 0..200), cut in 0..100usize) {
        let (a, b) = data.split_at((2 * cut).min(data.len() & !1));
        prop_assert_eq!(Sum::new().with(a).with(b).fold(), Sum::new().with(&data).fold());
    }

    #[test]
    fn an_incremental_update_equals_a_full_recomputation(
        mut words in vec(any::<u16>(), 1..30),
        at in any::<prop::sample::Index>(),
        new in any::<u16>(),
    ) {
        // If all words were zero, `update` could give the other zero of ones' complement.
        words.push(0x4500);
        let bytes = |words: &[u16]| words.iter().flat_map(|w| w.to_be_bytes()).collect::<Vec<u8>>();
        let before = checksum(&bytes(&words));
        let place = at.index(words.len() - 1);
        let old = core::mem::replace(&mut words[place], new);
        prop_assert_eq!(update(before, Change { old, new }), checksum(&bytes(&words)));
    }

    #[test]
    fn pseudo_headers_agree_with_etherparse(
        v4 in any::<([u8; 4], [u8; 4])>(),
        v6 in any::<([u8; 16], [u8; 16])>(),
        payload in vec(any::<u8>(), 0..50),
    ) {
        let udp = etherparse::UdpHeader {
            source_port: 1,
            destination_port: 2,
            length: payload.len() as u16 + 8,
            checksum: 0,
        };
        let length = u32::from(udp.length);
        let over = |sum: Sum| match sum.with(&udp.to_bytes()).with(&payload).checksum() {
            0 => 0xffff, // RFC 768
            checksum => checksum,
        };
        let ours4 = PseudoHeader { source: Ipv4Addr::from(v4.0), destination: v4.1.into(), protocol: 17, length };
        prop_assert_eq!(over(ours4.sum()), udp.calc_checksum_ipv4_raw(v4.0, v4.1, &payload).unwrap());
        let ours6 = PseudoHeader { source: Ipv6Addr::from(v6.0), destination: v6.1.into(), protocol: 17, length };
        prop_assert_eq!(over(ours6.sum()), udp.calc_checksum_ipv6_raw(v6.0, v6.1, &payload).unwrap());
    }
}
