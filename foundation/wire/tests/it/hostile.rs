//! No input makes the crate panic, and every returned offset lies inside the input.

use crate::frames;

use fairwire_core::Ecn;
use fairwire_wire::headers::{Headers, parse, parse_ip};
use fairwire_wire::split::{MAX_FRAME_BYTES, split, split_parsed};
use fairwire_wire::vnet::{self, VnetHeader};
use fairwire_wire::{FlowHasher, KeyKind, set_dscp, set_ecn};
use frames::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn assert_inside(frame: &[u8], headers: &Headers) {
    let Some(network) = headers.network else {
        assert_eq!(headers.transport, None);
        return;
    };
    assert!(network.offset < network.payload);
    assert!(network.payload <= network.end);
    assert!(network.end <= frame.len());
    assert!(network.dscp < 64);
    let Some(transport) = headers.transport else { return };
    assert_eq!(transport.offset, network.payload);
    assert!(transport.offset + 4 <= network.end);
    if let Some(payload) = headers.payload() {
        assert!(transport.offset < payload.start && payload.start <= payload.end);
    }
}

fn exercise(frame: &[u8], vnet: &VnetHeader, scratch: usize) {
    for headers in [parse(frame), parse_ip(frame)] {
        assert_inside(frame, &headers);
        exercise_with(frame, &headers, vnet, scratch);
    }
    let mut out = 0;
    let outcome = split(frame, vnet, &mut vec![0; scratch], &mut |_| out += 1);
    assert_eq!(outcome.unwrap_or(0), out, "nothing comes out with an error");
}

fn exercise_with(frame: &[u8], headers: &Headers, vnet: &VnetHeader, scratch: usize) {
    let key = headers.flow_key(frame);
    let _ = key.to_string();
    for kind in [KeyKind::FiveTuple, KeyKind::SourceHost, KeyKind::DestinationHost] {
        let _ = FlowHasher::new([1; 16]).by(kind).hash(&key);
    }
    let mut copy = frame.to_vec();
    set_ecn(&mut copy, headers, Ecn::Ce);
    set_dscp(&mut copy, headers, u8::MAX);
    let mut out = 0;
    let outcome = split_parsed(frame, headers, vnet, &mut vec![0; scratch], &mut |_| out += 1);
    assert_eq!(outcome.unwrap_or(0), out);
}

fn any_vnet() -> impl Strategy<Value = VnetHeader> {
    let flags = prop_oneof![Just(0u8), Just(vnet::NEEDS_CSUM), any::<u8>()];
    let kind = prop_oneof![
        Just(vnet::GSO_NONE),
        Just(vnet::GSO_TCPV4),
        Just(vnet::GSO_TCPV6),
        Just(vnet::GSO_UDP_L4),
        any::<u8>()
    ];
    let size = prop_oneof![1..2000u16, any::<u16>()];
    let start = prop_oneof![Just(34u16), Just(38), Just(54), 0..200u16, any::<u16>()];
    let offset = prop_oneof![Just(6u16), Just(16), Just(8), any::<u16>()];
    let hdr_len = prop_oneof![Just(0u16), 0..200u16, any::<u16>()];
    (flags, kind, hdr_len, size, start, offset).prop_map(
        |(flags, gso_type, hdr_len, gso_size, csum_start, csum_offset)| VnetHeader {
            flags,
            gso_type,
            hdr_len,
            gso_size,
            csum_start,
            csum_offset,
        },
    )
}

fn any_scratch() -> impl Strategy<Value = usize> {
    prop_oneof![0..200usize, Just(MAX_FRAME_BYTES)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arbitrary_bytes_do_no_harm(
        frame in vec(any::<u8>(), 0..150),
        vnet in any_vnet(),
        scratch in any_scratch(),
    ) {
        exercise(&frame, &vnet, scratch);
    }

    #[test]
    fn bytes_that_begin_like_ip_do_no_harm(
        mut frame in vec(any::<u8>(), 14..200),
        version in prop_oneof![Just((0x08u8, 0x00u8, 4u8)), Just((0x86, 0xdd, 6))],
        vnet in any_vnet(),
        scratch in any_scratch(),
    ) {
        (frame[12], frame[13]) = (version.0, version.1);
        if let Some(first) = frame.get_mut(14) {
            *first = version.2 << 4 | *first & 0x0f;
        }
        exercise(&frame, &vnet, scratch);
    }

    #[test]
    fn damaged_frames_do_no_harm(
        recipe in any_recipe(200),
        damage in any_damage(),
        vnet in any_vnet(),
        scratch in any_scratch(),
    ) {
        let mut frame = recipe.frame();
        damage.apply(&mut frame);
        exercise(&frame, &vnet, scratch);
    }

    #[test]
    fn headers_of_another_frame_do_no_harm(
        one in any_recipe(100),
        other in any_recipe(100),
        damage in any_damage(),
        vnet in any_vnet(),
    ) {
        let headers = parse(&one.frame());
        let mut frame = other.frame();
        damage.apply(&mut frame);
        exercise_with(&frame, &headers, &vnet, 4000);
    }

    #[test]
    fn damaged_super_packets_are_split_or_refused(
        recipe in super_recipe(5000),
        damage in any_damage(),
        size in 1..3000u16,
        partial in any::<bool>(),
    ) {
        let mut frame = recipe.frame();
        let start = parse(&frame).transport.map_or(0, |t| t.offset as u16);
        let (is_tcp, is_v4) = (recipe.protocol() == 6, recipe.is_v4());
        let gso_type = match (is_tcp, is_v4) {
            (true, true) => vnet::GSO_TCPV4,
            (true, false) => vnet::GSO_TCPV6,
            _ => vnet::GSO_UDP_L4,
        };
        damage.apply(&mut frame);
        let vnet = VnetHeader {
            flags: if partial { vnet::NEEDS_CSUM } else { 0 },
            gso_type,
            hdr_len: 0,
            gso_size: size,
            csum_start: start,
            csum_offset: if is_tcp { 16 } else { 6 },
        };
        exercise(&frame, &vnet, MAX_FRAME_BYTES);
    }
}
