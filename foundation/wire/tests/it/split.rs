//! Super-packets are split into frames that etherparse finds valid, and that reassemble to the
//! original.

use crate::frames;

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use fairwire_wire::checksum::{PseudoHeader, Sum};
use fairwire_wire::flow_key::FlowKey;
use fairwire_wire::headers::{Headers, parse, parse_ip};
use fairwire_wire::split::{MAX_FRAME_BYTES, SplitError, split, split_parsed};
use fairwire_wire::vnet::*;
use frames::*;
use proptest::prelude::*;

const SEQUENCE: usize = 4;
const TCP_FLAGS: usize = 13;
const URGENT: usize = 18;

fn checksum_offset(recipe: &Recipe) -> u16 {
    if recipe.protocol() == 6 { 16 } else { 6 }
}

fn gso_type(recipe: &Recipe) -> u8 {
    match (recipe.protocol(), recipe.is_v4()) {
        (6, true) => GSO_TCPV4,
        (6, false) => GSO_TCPV6,
        _ => GSO_UDP_L4,
    }
}

fn sum_of_pseudo_header(frame: &[u8], headers: &Headers) -> Sum {
    let network = headers.network.unwrap();
    let length = (network.end - network.payload) as u32;
    let protocol = network.protocol;
    match headers.flow_key(frame) {
        FlowKey::Ipv4(t) => {
            PseudoHeader { source: t.source, destination: t.destination, protocol, length }.sum()
        }
        FlowKey::Ipv6(t) => {
            PseudoHeader { source: t.source, destination: t.destination, protocol, length }.sum()
        }
        FlowKey::Other { .. } => panic!("the frame is IP"),
    }
}

fn make_partial(frame: &mut [u8], recipe: &Recipe) -> VnetHeader {
    let headers = parse(frame);
    let start = headers.transport.unwrap().offset;
    let csum_offset = checksum_offset(recipe);
    let field = start + usize::from(csum_offset);
    let sum = sum_of_pseudo_header(frame, &headers).fold();
    frame[field..field + 2].copy_from_slice(&sum.to_be_bytes());
    VnetHeader { flags: NEEDS_CSUM, csum_start: start as u16, csum_offset, ..VnetHeader::PLAIN }
}

fn super_packet(recipe: &Recipe, gso_size: u16) -> (Vec<u8>, VnetHeader) {
    let mut frame = recipe.frame();
    let vnet = make_partial(&mut frame, recipe);
    let hdr_len = frame.len().min(200) as u16;
    (frame, VnetHeader { gso_type: gso_type(recipe), gso_size, hdr_len, ..vnet })
}

fn all(frame: &[u8], vnet: &VnetHeader) -> Result<Vec<Vec<u8>>, SplitError> {
    let mut scratch = vec![0xa5; MAX_FRAME_BYTES];
    let mut frames = Vec::new();
    let count = split(frame, vnet, &mut scratch, &mut |segment| frames.push(segment.to_vec()))?;
    assert_eq!(count, frames.len());
    Ok(frames)
}

fn assert_valid(frame: &[u8]) {
    let packet = SlicedPacket::from_ethernet(frame).expect("a valid frame");
    let payload = packet.ip_payload().unwrap();
    assert_eq!(payload.payload.as_ptr_range().end, frame.as_ptr_range().end, "no byte after the packet");
    match (packet.net.as_ref().unwrap(), packet.transport.as_ref().unwrap()) {
        (NetSlice::Ipv4(ip), transport) => {
            let header = ip.header();
            assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
            let (a, b) = (header.source(), header.destination());
            match transport {
                TransportSlice::Tcp(tcp) => {
                    let expected = tcp.to_header().calc_checksum_ipv4_raw(a, b, tcp.payload()).unwrap();
                    assert_eq!(tcp.checksum(), expected);
                }
                TransportSlice::Udp(udp) => {
                    assert_eq!(usize::from(udp.length()), payload.payload.len());
                    let expected = udp.to_header().calc_checksum_ipv4_raw(a, b, udp.payload()).unwrap();
                    assert_eq!(udp.checksum(), expected);
                }
                other => panic!("neither TCP nor UDP: {other:?}"),
            }
        }
        (NetSlice::Ipv6(ip), transport) => {
            let (a, b) = (ip.header().source(), ip.header().destination());
            match transport {
                TransportSlice::Tcp(tcp) => {
                    let expected = tcp.to_header().calc_checksum_ipv6_raw(a, b, tcp.payload()).unwrap();
                    assert_eq!(tcp.checksum(), expected);
                }
                TransportSlice::Udp(udp) => {
                    assert_eq!(usize::from(udp.length()), payload.payload.len());
                    let expected = udp.to_header().calc_checksum_ipv6_raw(a, b, udp.payload()).unwrap();
                    assert_eq!(udp.checksum(), expected);
                }
                other => panic!("neither TCP nor UDP: {other:?}"),
            }
        }
        (other, _) => panic!("not IP: {other:?}"),
    }
}

/// Raises `gso_size` if necessary: TCP needs at least 8, and UDP allows at most 128 datagrams.
fn fitting(recipe: &Recipe, gso_size: u16) -> u16 {
    if recipe.protocol() == 6 {
        gso_size.max(8)
    } else {
        gso_size.max((recipe.payload.len() / 128 + 1) as u16)
    }
}

fn without_what_differs(frame: &[u8]) -> Vec<u8> {
    let headers = parse(frame);
    let (network, transport) = (headers.network.unwrap(), headers.transport.unwrap());
    let mut head = frame[..transport.payload.unwrap()].to_vec();
    match headers.flow_key(frame) {
        FlowKey::Ipv4(_) => {
            head[network.offset + 2..network.offset + 6].fill(0);
            head[network.offset + 10..network.offset + 12].fill(0);
        }
        _ => head[network.offset + 4..network.offset + 6].fill(0),
    }
    let at = transport.offset;
    if headers.tcp_flags().is_some() {
        for range in [4..8, 13..14, 16..20] {
            head[at + range.start..at + range.end].fill(0);
        }
    } else {
        head[at + 4..at + 8].fill(0);
    }
    head
}

fn u16_at(frame: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([frame[at], frame[at + 1]])
}

proptest! {
    #[test]
    fn segments_are_valid_and_add_up_to_the_original(recipe in super_recipe(60_000), size in 1..9000u16) {
        let size = fitting(&recipe, size);
        let (frame, vnet) = super_packet(&recipe, size);
        let head = parse(&frame).transport.unwrap().payload.unwrap();
        let segments = all(&frame, &vnet).unwrap();
        let mut joined = Vec::new();
        for segment in &segments {
            assert_valid(segment);
            prop_assert!(segment.len() <= head + usize::from(size));
            prop_assert_eq!(without_what_differs(segment), without_what_differs(&frame));
            prop_assert_eq!(parse(segment).flow_key(segment), parse(&frame).flow_key(&frame));
            joined.extend_from_slice(&segment[head..]);
        }
        prop_assert_eq!(segments.len(), recipe.payload.len().div_ceil(size.into()).max(1));
        prop_assert_eq!(joined, recipe.payload);
    }

    #[test]
    fn segments_count_on_in_identification_and_sequence(recipe in super_recipe(20_000), size in 1..3000u16) {
        let size = fitting(&recipe, size);
        let (frame, vnet) = super_packet(&recipe, size);
        let headers = parse(&frame);
        let (ip, at) = (headers.network.unwrap().offset, headers.transport.unwrap().offset);
        for (index, segment) in all(&frame, &vnet).unwrap().iter().enumerate() {
            if let NetworkRecipe::V4 { id, .. } = recipe.network {
                prop_assert_eq!(u16_at(segment, ip + 4), id.wrapping_add(index as u16));
            }
            if let TransportRecipe::Tcp { sequence, .. } = recipe.transport {
                let place = segment[at + SEQUENCE..].first_chunk().unwrap();
                let expected = sequence.wrapping_add(index as u32 * u32::from(size));
                prop_assert_eq!(u32::from_be_bytes(*place), expected);
            }
        }
    }

    #[test]
    fn flags_are_on_the_segments_that_they_belong_to(recipe in super_recipe(20_000), size in 8..3000u16) {
        let TransportRecipe::Tcp { flags, urgent, .. } = recipe.transport else { return Ok(()) };
        let (frame, vnet) = super_packet(&recipe, size);
        let at = parse(&frame).transport.unwrap().offset;
        let segments = all(&frame, &vnet).unwrap();
        for (index, segment) in segments.iter().enumerate() {
            let (is_first, is_last) = (index == 0, index + 1 == segments.len());
            let left = usize::from(urgent).saturating_sub(index * usize::from(size));
            let mut expected = flags & 0b0101_0000; // ECE and ACK on every one
            expected |= if is_last { flags & 0b0000_1001 } else { 0 }; // PSH and FIN
            expected |= if is_first { flags & 0b1000_0000 } else { 0 }; // CWR
            expected |= if is_first || left > 0 { flags & 0b0010_0000 } else { 0 }; // URG
            prop_assert_eq!(segment[at + TCP_FLAGS], expected);
            prop_assert_eq!(usize::from(u16_at(segment, at + URGENT)), left);
        }
    }

    #[test]
    fn a_partial_checksum_is_completed_to_the_one_that_etherparse_makes(recipe in super_recipe(2000), padding in 0..20usize) {
        let mut expected = recipe.frame();
        let mut frame = expected.clone();
        let vnet = make_partial(&mut frame, &recipe);
        let field = usize::from(vnet.csum_start + vnet.csum_offset);
        if u16_at(&expected, field) == 0 {
            expected[field..field + 2].fill(0xff); // a TCP checksum of zero has a second form
        }
        for bytes in [&mut frame, &mut expected] {
            bytes.extend(vec![0xee; padding]); // not a part of the packet, so not of its sum
        }
        prop_assert_eq!(all(&frame, &vnet).unwrap(), vec![expected]);
    }

    #[test]
    fn a_plain_frame_is_forwarded_without_a_copy(frame in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut given = None;
        let vnet = VnetHeader { flags: DATA_VALID, ..VnetHeader::PLAIN };
        let count = split(&frame, &vnet, &mut [], &mut |out| given = Some((out.as_ptr(), out.len())));
        prop_assert_eq!(count, Ok(1));
        prop_assert_eq!(given, Some((frame.as_ptr(), frame.len())));
    }

    #[test]
    fn a_bare_packet_is_split_as_it_is_on_ethernet(recipe in super_recipe(5000), size in 100..2000u16) {
        let (frame, vnet) = super_packet(&recipe, size);
        let link = parse(&frame).network.unwrap().offset;
        let on_wire = all(&frame, &vnet).unwrap();
        let bare = &frame[link..];
        let vnet = VnetHeader { csum_start: vnet.csum_start - link as u16, hdr_len: 0, ..vnet };
        let mut frames = Vec::new();
        let mut scratch = vec![0; MAX_FRAME_BYTES];
        split_parsed(bare, &parse_ip(bare), &vnet, &mut scratch, &mut |out| frames.push(out.to_vec())).unwrap();
        let cut: Vec<Vec<u8>> = on_wire.iter().map(|frame| frame[link..].to_vec()).collect();
        prop_assert_eq!(frames, cut);
    }

    #[test]
    fn a_scratch_buffer_is_enough_exactly_when_the_longest_segment_fits(
        recipe in super_recipe(3000),
        size in 100..2000u16,
        short in 0..2usize,
    ) {
        let (frame, vnet) = super_packet(&recipe, size);
        let needed = all(&frame, &vnet).unwrap().iter().map(Vec::len).max().unwrap();
        let mut scratch = vec![0; needed - short];
        let mut count = 0;
        let outcome = split(&frame, &vnet, &mut scratch, &mut |_| count += 1);
        if short == 0 {
            prop_assert_eq!(outcome, Ok(count));
        } else {
            prop_assert_eq!(outcome, Err(SplitError::ScratchTooSmall { given: needed - 1, needed }));
            prop_assert_eq!(count, 0);
        }
    }
}

fn tcp_recipe(payload: usize) -> Recipe {
    Recipe {
        vlan_tags: 0,
        dscp: 0,
        ecn: 2,
        network: NetworkRecipe::V4 {
            source: [10, 0, 0, 1],
            destination: [10, 0, 0, 2],
            id: 0xffff,
            option_words: 0,
            fragment: FragmentRecipe::WHOLE,
        },
        transport: TransportRecipe::Tcp {
            ports: (1, 2),
            sequence: u32::MAX - 100,
            flags: 0x18,
            urgent: 0,
            option_words: 3,
        },
        payload: vec![7; payload],
    }
}

fn v6_recipe(extensions: Vec<Extension>) -> Recipe {
    let network = NetworkRecipe::V6 {
        source: [1; 16],
        destination: [2; 16],
        extensions,
        fragment: FragmentRecipe::WHOLE,
    };
    Recipe { network, ..tcp_recipe(3000) }
}

fn refused(recipe: &Recipe, change: impl Fn(&mut VnetHeader)) -> SplitError {
    let (frame, mut vnet) = super_packet(recipe, 1448);
    change(&mut vnet);
    all(&frame, &vnet).unwrap_err()
}

#[test]
fn a_nonsensical_virtio_net_header_is_refused_with_the_reason() {
    let recipe = tcp_recipe(3000);
    let (frame, _) = super_packet(&recipe, 1448);
    let frame_len = frame.len();
    assert_eq!(refused(&recipe, |v| v.gso_type = GSO_UDP), SplitError::UnsupportedKind { given: GSO_UDP });
    assert_eq!(refused(&recipe, |v| v.gso_type = GSO_TCPV6), SplitError::WrongProtocol { given: GSO_TCPV6 });
    assert_eq!(
        refused(&recipe, |v| v.gso_type = GSO_UDP_L4),
        SplitError::WrongProtocol { given: GSO_UDP_L4 }
    );
    assert_eq!(refused(&recipe, |v| v.gso_size = 0), SplitError::SegmentTooSmall { given: 0, least: 8 });
    assert_eq!(refused(&recipe, |v| v.gso_size = 7), SplitError::SegmentTooSmall { given: 7, least: 8 });
    assert_eq!(
        refused(&recipe, |v| v.hdr_len = 60_000),
        SplitError::HeaderLength { given: 60_000, frame: frame_len }
    );
    assert_eq!(refused(&recipe, |v| v.csum_start = 14), SplitError::ChecksumPlace { start: 14, offset: 16 });
    assert_eq!(refused(&recipe, |v| v.csum_offset = 6), SplitError::ChecksumPlace { start: 34, offset: 6 });
    let beside = |v: &mut VnetHeader| (v.gso_type, v.csum_start) = (GSO_NONE, 60_000);
    assert_eq!(refused(&recipe, beside), SplitError::ChecksumPlace { start: 60_000, offset: 16 });
}

#[test]
fn tcp_with_cwr_has_its_own_type_and_is_split_too() {
    let (frame, mut vnet) = super_packet(&tcp_recipe(3000), 1448);
    vnet.gso_type |= GSO_ECN;
    assert_eq!(all(&frame, &vnet).unwrap().len(), 3);
}

#[test]
fn a_super_packet_that_cannot_be_split_is_refused_with_the_reason() {
    for flags in [0x12, 0x14] {
        let mut recipe = tcp_recipe(3000);
        recipe.transport =
            TransportRecipe::Tcp { ports: (1, 2), sequence: 0, flags, urgent: 0, option_words: 0 };
        assert_eq!(refused(&recipe, |_| ()), SplitError::ControlFlags { flags });
    }

    let mut fragment = tcp_recipe(3000);
    fragment.network = NetworkRecipe::V4 {
        source: [1; 4],
        destination: [2; 4],
        id: 1,
        option_words: 0,
        fragment: FragmentRecipe { offset: 0, more: true },
    };
    assert_eq!(refused(&fragment, |_| ()), SplitError::WrongProtocol { given: GSO_TCPV4 });

    let routed = v6_recipe(vec![Extension::Routing { units: 2, segments_left: 1 }]);
    assert_eq!(refused(&routed, |_| ()), SplitError::SourceRouted);

    let (mut jumbo, vnet) = super_packet(&v6_recipe(vec![Extension::HopByHop { units: 0 }]), 1448);
    jumbo[18..20].fill(0);
    assert_eq!(all(&jumbo, &vnet).unwrap_err(), SplitError::Jumbogram);

    let (frame, vnet) = super_packet(&tcp_recipe(3000), 1448);
    let cut = &frame[..2000];
    assert_eq!(all(cut, &vnet).unwrap_err(), SplitError::Truncated { frame: 2000 });
}

#[test]
fn a_sender_may_join_at_most_128_datagrams() {
    let udp = |payload| Recipe { transport: TransportRecipe::Udp { ports: (1, 2) }, ..tcp_recipe(payload) };
    let outcome = |payload| {
        let (frame, vnet) = super_packet(&udp(payload), 10);
        all(&frame, &vnet).map(|frames| frames.len())
    };
    assert_eq!(outcome(1280), Ok(128));
    assert_eq!(outcome(1281), Err(SplitError::TooManyDatagrams { given: 129 }));
}

#[test]
fn a_udp_checksum_of_zero_is_written_as_ffff() {
    let transport = TransportRecipe::Udp { ports: (1, 2) };
    let recipe = |word: u16| Recipe {
        transport: transport.clone(),
        payload: word.to_be_bytes().repeat(2),
        ..tcp_recipe(0)
    };
    let checksums = |word| {
        let (frame, vnet) = super_packet(&recipe(word), 2);
        all(&frame, &vnet).unwrap().iter().map(|segment| u16_at(segment, 40)).collect::<Vec<_>>()
    };
    // Payload word 0 gives the checksum c. Payload word c lowers the checksum by c to 0, which is
    // sent as 0xffff.
    let c = checksums(0)[0];
    assert!(c != 0 && c != 0xffff);
    assert_eq!(checksums(c), [0xffff, 0xffff]);
}

/// The length field of a packet over 64 KiB is zero ("BIG TCP").
#[test]
fn a_super_packet_over_64_kib_is_split_too() {
    for recipe in [tcp_recipe(3000), v6_recipe(vec![])] {
        let (mut frame, vnet) = super_packet(&recipe, 1448);
        let length = if recipe.is_v4() { 16 } else { 18 };
        frame[length..length + 2].fill(0);
        frame.extend(vec![9; 150_000 - 3000]);
        let segments = all(&frame, &vnet).unwrap();
        assert_eq!(segments.len(), 150_000usize.div_ceil(1448));
        segments.iter().for_each(|segment| assert_valid(segment));
        let huge = VnetHeader { gso_size: u16::MAX, ..vnet };
        assert!(matches!(all(&frame, &huge), Err(SplitError::SegmentTooLong { given: 65_536.. })));
    }
}

/// SCTP on veth leaves its checksum, a little-endian CRC32c, to the hardware. The virtio-net flag
/// is the same as for TCP.
#[test]
fn the_partial_checksum_of_sctp_is_completed_as_a_crc() {
    let mut body = vec![0u8; 12 + 20];
    body[..8].copy_from_slice(&[0, 1, 0, 2, 0xde, 0xad, 0xbe, 0xef]);
    body[8..12].copy_from_slice(&[0x55; 4]); // the previous value is ignored
    body[12..].fill(0xc3);
    let recipe = Recipe {
        transport: TransportRecipe::Other { protocol: 132 },
        payload: body.clone(),
        ..tcp_recipe(0)
    };
    let frame = recipe.frame();
    let vnet = VnetHeader { flags: NEEDS_CSUM, csum_start: 34, csum_offset: 8, ..VnetHeader::PLAIN };
    let frames = all(&frame, &vnet).unwrap();
    body[8..12].fill(0);
    // This computes CRC32c from its definition, with the reflected polynomial.
    let mut crc = u32::MAX;
    for octet in &body {
        crc ^= u32::from(*octet);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
        }
    }
    body[8..12].copy_from_slice(&(!crc).to_le_bytes());
    assert_eq!(frames, [[&frame[..34], &body[..]].concat()]);
}

#[test]
fn a_virtio_net_header_reads_back_as_written() {
    let vnet = VnetHeader {
        flags: NEEDS_CSUM,
        gso_type: GSO_TCPV4 | GSO_ECN,
        hdr_len: 0x0102,
        gso_size: 0x0304,
        csum_start: 0x0506,
        csum_offset: 0x0708,
    };
    let mut bytes = [0xaa; LEN + 1];
    vnet.write(&mut bytes).unwrap();
    assert_eq!(bytes[2..4], 0x0102u16.to_ne_bytes(), "the machine's own order");
    assert_eq!(bytes[LEN], 0xaa);
    assert_eq!(VnetHeader::read(&bytes), Some(vnet));
    assert_eq!(VnetHeader::read(&bytes[..LEN - 1]), None);
    assert_eq!(vnet.write(&mut bytes[..LEN - 1]), None);
    assert_eq!(vnet.gso_kind(), GSO_TCPV4);
    assert!(vnet.is_gso() && !VnetHeader::PLAIN.is_gso());
}
