//! A super-packet in a tunnel is split into the segments of its inner packet, each with the
//! tunnel's headers.

use crate::frames::tunnel::*;
use crate::frames::*;
use fairwire_wire::headers::parse;
use fairwire_wire::split::{MAX_FRAME_BYTES, SplitError, split};
use fairwire_wire::vnet::*;
use proptest::prelude::*;

fn all(frame: &[u8], vnet: &VnetHeader) -> Result<Vec<Vec<u8>>, SplitError> {
    let mut scratch = vec![0xa5; MAX_FRAME_BYTES];
    let mut frames = Vec::new();
    let count = split(frame, vnet, &mut scratch, &mut |segment| frames.push(segment.to_vec()))?;
    assert_eq!(count, frames.len());
    Ok(frames)
}

/// Returns a packet and the offset of its IP header. The checksum field has only the sum of the
/// pseudo header, as a stack leaves it.
fn partial(recipe: &Recipe) -> (Vec<u8>, VnetHeader, usize) {
    let mut frame = recipe.frame();
    let headers = parse(&frame);
    let (network, start) = (headers.network.unwrap(), headers.transport.unwrap().offset);
    let (csum_offset, field) = if recipe.protocol() == 6 { (16, start + 16) } else { (6, start + 6) };
    let ip = network.offset;
    let addresses = if recipe.is_v4() { &frame[ip + 12..ip + 20] } else { &frame[ip + 8..ip + 40] };
    let sum = etherparse::checksum::Sum16BitWords::new()
        .add_slice(addresses)
        .add_2bytes(((network.end - network.payload) as u16).to_be_bytes())
        .add_2bytes([0, recipe.protocol()]);
    let sum = !sum.ones_complement().to_be();
    frame[field..field + 2].copy_from_slice(&sum.to_be_bytes());
    let vnet = VnetHeader { flags: NEEDS_CSUM, csum_start: start as u16, csum_offset, ..VnetHeader::PLAIN };
    (frame, vnet, ip)
}

fn super_packet(recipe: &Recipe, gso_size: u16) -> (Vec<u8>, VnetHeader, usize) {
    let (frame, vnet, ip) = partial(recipe);
    let gso_type = match (recipe.protocol(), recipe.is_v4()) {
        (6, true) => GSO_TCPV4,
        (6, false) => GSO_TCPV6,
        _ => GSO_UDP_L4,
    };
    (frame, VnetHeader { gso_type, gso_size, ..vnet }, ip)
}

/// The returned `csum_start` counts from the start of the outer frame.
fn in_tunnel(tunnel: &Tunnel, frame: &[u8], ip: usize, vnet: VnetHeader) -> (Vec<u8>, VnetHeader) {
    let outer = tunnel.around(frame, ip, 0);
    let csum_start = usize::from(vnet.csum_start) + outer.len() - frame.len();
    (outer, VnetHeader { csum_start: csum_start as u16, ..vnet })
}

fn fitting(recipe: &Recipe, gso_size: u16) -> u16 {
    match recipe.protocol() {
        6 => gso_size.max(8),
        _ => gso_size.max((recipe.payload.len() / 128 + 1) as u16),
    }
}

proptest! {
    #[test]
    fn a_tunnel_splits_into_tunnels_of_its_inner_segments(
        recipe in super_recipe(20_000),
        tunnel in any_tunnel(),
        size in 100..3000u16,
    ) {
        let (inner, vnet, ip) = super_packet(&recipe, fitting(&recipe, size));
        let segments = all(&inner, &vnet).unwrap();
        let expected: Vec<_> =
            segments.iter().enumerate().map(|(index, segment)| tunnel.around(segment, ip, index)).collect();
        let (outer, vnet) = in_tunnel(&tunnel, &inner, ip, vnet);
        prop_assert_eq!(all(&outer, &vnet).unwrap(), expected);
    }

    #[test]
    fn a_single_packet_in_a_tunnel_gets_its_checksum(recipe in super_recipe(1000), tunnel in any_tunnel()) {
        let whole = recipe.frame();
        let (inner, vnet, ip) = partial(&recipe);
        // The outer checksum is in the kernel's frame already, computed from the final checksum of
        // the inner packet.
        let (mut outer, vnet) = in_tunnel(&tunnel, &inner, ip, vnet);
        let mut expected = tunnel.around(&whole, ip, 0);
        let field = usize::from(vnet.csum_start + vnet.csum_offset);
        if expected[field..field + 2] == [0, 0] {
            return Ok(()); // there are two ways to write it
        }
        let inner_bytes = outer.len() - usize::from(vnet.csum_start);
        let headers = outer.len() - inner_bytes;
        outer[..headers].copy_from_slice(&expected[..headers]);
        prop_assert_eq!(all(&outer, &vnet).unwrap(), vec![expected.clone()]);
        expected.clear();
    }

    #[test]
    fn a_damaged_tunnel_is_split_or_refused(
        recipe in super_recipe(3000),
        tunnel in any_tunnel(),
        damage in any_damage(),
        size in 8..3000u16,
        shift in prop_oneof![Just(0i32), -8..8i32, any::<i16>().prop_map(i32::from)],
        is_partial in prop::bool::weighted(0.9),
        scratch in prop_oneof![0..3000usize, Just(MAX_FRAME_BYTES)],
    ) {
        let (inner, vnet, ip) = super_packet(&recipe, size);
        let (mut outer, mut vnet) = in_tunnel(&tunnel, &inner, ip, vnet);
        damage.apply(&mut outer);
        vnet.csum_start = (i32::from(vnet.csum_start) + shift) as u16;
        vnet.flags = if is_partial { NEEDS_CSUM } else { 0 };
        let (mut count, mut longest) = (0, 0);
        let outcome = split(&outer, &vnet, &mut vec![0; scratch], &mut |out| {
            (count, longest) = (count + 1, longest.max(out.len()));
        });
        prop_assert_eq!(outcome.unwrap_or(0), count);
        prop_assert!(longest <= outer.len());
    }

    /// A sender chooses the payload, but not the kernel's virtio-net header.
    #[test]
    fn unknown_tunnels_are_split_only_if_the_kernel_header_agrees(
        recipe in super_recipe(3000),
        opaque in prop::collection::vec(any::<u8>(), 0..40),
        change in 0..4usize,
    ) {
        let kind = Kind::Unknown { has_sum: false, opaque };
        let tunnel = Tunnel { vlan_tags: 0, link: Link::Plain, is_outer_v4: true, id: 7, kind };
        let (inner, vnet, ip) = super_packet(&recipe, fitting(&recipe, 1000));
        let (mut outer, mut vnet) = in_tunnel(&tunnel, &inner, ip, vnet);
        prop_assert!(all(&outer, &vnet).is_ok());
        let at = outer.len() - inner.len() + ip;
        match change {
            0 => vnet.csum_start += 4,
            1 => vnet.flags = 0,
            2 => outer[at + if recipe.is_v4() { 13 } else { 9 }] ^= 1, // an address: the sum no longer agrees
            _ => outer[at + if recipe.is_v4() { 3 } else { 5 }] ^= 1, // its length
        }
        // Change 1 removes the location of the checksum. With UDP inside, the outer UDP packet is
        // then taken for the super-packet, and may be split.
        if !(change == 1 && recipe.protocol() == 17) {
            prop_assert!(all(&outer, &vnet).is_err());
        }
    }
}

/// Linux 6.18 sent such a frame on a veth, without an outer checksum.
#[test]
fn vxlan_with_tcp_inside_is_well_formed() {
    let recipe = Recipe {
        vlan_tags: 0,
        dscp: 0,
        ecn: 0,
        network: NetworkRecipe::V4 {
            source: [10, 5, 0, 1],
            destination: [10, 5, 0, 2],
            id: 4,
            option_words: 0,
            fragment: FragmentRecipe::WHOLE,
        },
        transport: TransportRecipe::Tcp {
            ports: (1, 5201),
            sequence: 9,
            flags: 0x10,
            urgent: 0,
            option_words: 3,
        },
        payload: vec![7; 3 * 1398 + 5],
    };
    let (inner, vnet, ip) = super_packet(&recipe, 1398);
    let kind = Kind::Vxlan { has_sum: false };
    let tunnel = Tunnel { vlan_tags: 0, link: Link::Plain, is_outer_v4: true, id: 1, kind };
    let (outer, vnet) = in_tunnel(&tunnel, &inner, ip, vnet);
    let frames = all(&outer, &vnet).expect("it comes apart");
    assert_eq!(frames.iter().map(Vec::len).collect::<Vec<_>>(), [1514, 1514, 1514, 14 + 50 + 52 + 5]);
}
