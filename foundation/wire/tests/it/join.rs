//! The segments of a super-packet can be joined again, and split into identical frames.

use etherparse::PacketBuilder;
use fairwire_core::Ecn;
use fairwire_wire::headers::{Headers, parse};
use fairwire_wire::join::{Joint, MAX_HEADER_BYTES, TcpOffsets};
use fairwire_wire::set_ecn;
use fairwire_wire::split::{MAX_FRAME_BYTES, split};
use fairwire_wire::vnet::{GSO_TCPV4, GSO_TCPV6, NEEDS_CSUM, VnetHeader};
use proptest::prelude::*;

fn super_packet(is_v4: bool, payload: usize, size: u16, is_pushed: bool) -> (Vec<u8>, VnetHeader) {
    let ethernet = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
    let ip = match is_v4 {
        true => ethernet.ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64),
        false => ethernet.ipv6([1; 16], [2; 16], 64),
    };
    let mut tcp = ip.tcp(1, 2, u32::MAX - 3000, 100).ack(77);
    if is_pushed {
        tcp = tcp.psh();
    }
    let tcp = tcp.options_raw(&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]).expect("whole words");
    let mut frame = Vec::new();
    let bytes: Vec<u8> = (0..payload).map(|k| (k % 251) as u8).collect();
    tcp.write(&mut frame, &bytes).expect("a vector takes everything");
    let (gso_type, csum_start) = if is_v4 { (GSO_TCPV4, 34) } else { (GSO_TCPV6, 54) };
    let vnet =
        VnetHeader { flags: NEEDS_CSUM, gso_type, hdr_len: 0, gso_size: size, csum_start, csum_offset: 16 };
    (frame, vnet)
}

fn parts(frame: &[u8], vnet: &VnetHeader) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    split(frame, vnet, &mut vec![0; MAX_FRAME_BYTES], &mut |part| frames.push(part.to_vec()))
        .expect("it splits");
    frames
}

fn offsets(frame: &[u8]) -> TcpOffsets {
    TcpOffsets::of(&parse(frame)).expect("plain TCP")
}

fn joined(frames: &[Vec<u8>]) -> Option<(Vec<u8>, VnetHeader)> {
    let offsets = offsets(&frames[0]);
    let mut joint = Joint::new(&frames[0], offsets);
    if !frames[1..].iter().all(|next| joint.add(next, offsets)) {
        return None;
    }
    let mut place = [0; MAX_HEADER_BYTES];
    let (len, vnet) = joint.write(&mut place).expect("there is room");
    let payloads = frames.iter().flat_map(|frame| &frame[offsets.payload()..]);
    Some((place[..len].iter().chain(payloads).copied().collect(), vnet))
}

proptest! {
    #[test]
    fn joined_segments_split_into_the_same_frames(
        is_v4: bool, payload in 8usize..60_000, size in 500u16..1460, is_pushed: bool,
    ) {
        let (frame, vnet) = super_packet(is_v4, payload, size, is_pushed);
        let frames = parts(&frame, &vnet);
        let (again, vnet) = joined(&frames).expect("they go together");
        prop_assert_eq!(again.len(), frame.len());
        prop_assert_eq!(parts(&again, &vnet), frames);
    }

    #[test]
    fn it_survives_any_bytes(a: Vec<u8>, b: Vec<u8>, room in 0usize..200) {
        let (frame, vnet) = super_packet(true, 2000, 1000, false);
        let offsets = offsets(&parts(&frame, &vnet)[0]);
        let mut joint = Joint::new(&a, offsets);
        joint.add(&b, offsets);
        joint.write(&mut vec![0; room]);
    }
}

#[test]
fn only_contiguous_segments_are_joined() {
    let (frame, vnet) = super_packet(true, 3000, 1000, true);
    let frames = parts(&frame, &vnet);
    let pair = |first: &[u8], next: &[u8]| Joint::new(first, offsets(first)).add(next, offsets(next));
    assert!(pair(&frames[0], &frames[1]) && pair(&frames[1], &frames[2]));
    assert!(!pair(&frames[0], &frames[2]), "one is missing");
    assert!(!pair(&frames[1], &frames[0]), "the wrong way round");
    let mut pushed = frames[0].clone();
    pushed[14 + 20 + 13] |= 8;
    assert!(!pair(&pushed, &frames[1]), "pushed data ends a super-packet");
    for (what, at) in [("address", 30), ("port", 35), ("acknowledgement", 45), ("window", 49), ("option", 60)]
    {
        let mut other = frames[1].clone();
        other[at] ^= 1;
        assert!(!pair(&frames[0], &other), "another {what}");
    }
}

#[test]
fn segments_that_are_too_short_for_a_super_packet_are_not_joined() {
    for (size, goes) in [(7, false), (8, true)] {
        let (frame, vnet) = super_packet(true, 2 * 8, 8, false);
        let mut frames = parts(&frame, &vnet);
        frames.iter_mut().for_each(|frame| frame.truncate(frame.len() - (8 - size)));
        let at = 14 + 20 + 4;
        let sequence = (u32::MAX - 3000 + size as u32).to_be_bytes();
        frames[1][at..at + 4].copy_from_slice(&sequence);
        assert_eq!(joined(&frames).is_some(), goes, "{size}");
    }
}

#[test]
fn a_mark_ends_a_super_packet() {
    let (frame, vnet) = super_packet(false, 3000, 1000, false);
    let mut frames = parts(&frame, &vnet);
    let headers = parse(&frames[1]);
    set_ecn(&mut frames[1], &headers, Ecn::Ce);
    assert!(joined(&frames).is_none());
}

#[test]
fn no_segment_is_joined_after_a_short_one_or_if_longer() {
    let (long, vnet) = super_packet(true, 2500, 1000, false);
    let frames = parts(&long, &vnet);
    let offsets = offsets(&frames[0]);
    let mut joint = Joint::new(&frames[2], offsets);
    assert!(!joint.add(&frames[0], offsets));
    assert!(Joint::new(&frames[1], offsets).add(&frames[2], offsets));
}

#[test]
fn only_plain_tcp_can_be_joined() {
    let mut frame = Vec::new();
    let builder = || PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
    builder().udp(1, 2).write(&mut frame, &[0; 100]).expect("a vector takes everything");
    assert_eq!(TcpOffsets::of(&parse(&frame)), None);
    let mut frame = Vec::new();
    builder().tcp(1, 2, 3, 4).ack(5).fin().write(&mut frame, &[0; 100]).expect("a vector takes everything");
    assert_eq!(TcpOffsets::of(&parse(&frame)), None);
    assert_eq!(TcpOffsets::of(&Headers::default()), None);
}
