//! Valid frames of every form, which proptest chooses and etherparse builds.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod tunnel;

use etherparse::*;
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    pub vlan_tags: u8,
    pub dscp: u8,
    pub ecn: u8,
    pub network: NetworkRecipe,
    pub transport: TransportRecipe,
    pub payload: Vec<u8>,
}

#[derive(Clone, Debug)]
pub(crate) enum NetworkRecipe {
    V4 { source: [u8; 4], destination: [u8; 4], id: u16, option_words: usize, fragment: FragmentRecipe },
    V6 { source: [u8; 16], destination: [u8; 16], extensions: Vec<Extension>, fragment: FragmentRecipe },
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FragmentRecipe {
    /// The fragment offset, in units of 8 bytes.
    pub offset: u16,
    pub more: bool,
}

impl FragmentRecipe {
    pub(crate) const WHOLE: FragmentRecipe = FragmentRecipe { offset: 0, more: false };
}

/// An IPv6 extension header, at most once per frame. Its length exceeds the minimum by `units` of 8
/// bytes or `words` of 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Extension {
    HopByHop {
        units: usize,
    },
    Destination {
        units: usize,
    },
    Routing {
        units: usize,
        segments_left: u8,
    },
    /// A fragment header, even in a whole packet.
    AtomicFragment,
    Authentication {
        words: usize,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum TransportRecipe {
    Tcp { ports: (u16, u16), sequence: u32, flags: u8, urgent: u16, option_words: usize },
    Udp { ports: (u16, u16) },
    Other { protocol: u8 },
}

/// Puts `frame`, whose IP header is at `at`, into a PPPoE session (RFC 2516, section 4).
pub(crate) fn in_pppoe(frame: &[u8], at: usize) -> Vec<u8> {
    let protocol = if frame[at] >> 4 == 4 { [0x00, 0x21] } else { [0x00, 0x57] };
    let [a, b] = ((frame.len() - at + 2) as u16).to_be_bytes();
    [&frame[..at - 2], &[0x88, 0x64, 0x11, 0, 0, 7, a, b], &protocol, &frame[at..]].concat()
}

/// `frame`, whose IP header is at `at`, with a length instead of the EtherType, then LLC and SNAP
/// (RFC 1042).
pub(crate) fn in_snap(frame: &[u8], at: usize) -> Vec<u8> {
    let [a, b] = ((frame.len() - at + 8) as u16).to_be_bytes();
    [&frame[..at - 2], &[a, b, 0xaa, 0xaa, 3, 0, 0, 0], &frame[at - 2..]].concat()
}

impl Recipe {
    pub(crate) fn fragment(&self) -> FragmentRecipe {
        match &self.network {
            NetworkRecipe::V4 { fragment, .. } | NetworkRecipe::V6 { fragment, .. } => *fragment,
        }
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.fragment() == FragmentRecipe::WHOLE
    }

    pub(crate) fn is_v4(&self) -> bool {
        matches!(self.network, NetworkRecipe::V4 { .. })
    }

    pub(crate) fn is_source_routed(&self) -> bool {
        matches!(&self.network, NetworkRecipe::V6 { extensions, .. }
            if extensions.iter().any(|e| matches!(e, Extension::Routing { segments_left: 1.., .. })))
    }

    pub(crate) fn has_extensions(&self) -> bool {
        matches!(&self.network, NetworkRecipe::V6 { extensions, .. } if !extensions.is_empty())
    }

    pub(crate) fn protocol(&self) -> u8 {
        match self.transport {
            TransportRecipe::Tcp { .. } => 6,
            TransportRecipe::Udp { .. } => 17,
            TransportRecipe::Other { protocol } => protocol,
        }
    }

    pub(crate) fn ports(&self) -> Option<(u16, u16)> {
        match self.transport {
            TransportRecipe::Tcp { ports, .. } | TransportRecipe::Udp { ports } => Some(ports),
            TransportRecipe::Other { .. } => None,
        }
    }

    pub(crate) fn frame(&self) -> Vec<u8> {
        let link = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
        let tag = |id: u16| SingleVlanHeader { vlan_id: VlanId::try_new(id).unwrap(), ..Default::default() };
        let step = match self.vlan_tags {
            0 => link.ip(self.ip()),
            1 => link.vlan(VlanHeader::Single(tag(7))).ip(self.ip()),
            _ => {
                link.vlan(VlanHeader::Double(DoubleVlanHeader { outer: tag(8), inner: tag(9) })).ip(self.ip())
            }
        };
        let mut frame = Vec::new();
        match self.transport {
            TransportRecipe::Tcp { .. } => {
                step.tcp_header(self.tcp()).write(&mut frame, &self.payload).unwrap()
            }
            TransportRecipe::Udp { ports } => {
                step.udp(ports.0, ports.1).write(&mut frame, &self.payload).unwrap()
            }
            TransportRecipe::Other { protocol } => {
                step.write(&mut frame, IpNumber(protocol), &self.payload).unwrap()
            }
        }
        frame
    }

    fn tcp(&self) -> TcpHeader {
        let TransportRecipe::Tcp { ports, sequence, flags, urgent, option_words } = self.transport else {
            unreachable!("called for a TCP recipe only")
        };
        let mut tcp = TcpHeader::new(ports.0, ports.1, sequence, 4096);
        let has = |bit: u8| flags & bit != 0;
        (tcp.fin, tcp.syn, tcp.rst, tcp.psh) = (has(1), has(2), has(4), has(8));
        (tcp.ack, tcp.urg, tcp.ece, tcp.cwr) = (has(16), has(32), has(64), has(128));
        tcp.acknowledgment_number = 0x0102_0304;
        tcp.urgent_pointer = urgent;
        tcp.set_options_raw(&vec![1; option_words * 4]).unwrap();
        tcp
    }

    fn ip(&self) -> IpHeaders {
        match &self.network {
            NetworkRecipe::V4 { source, destination, id, option_words, fragment } => {
                let mut ip = Ipv4Header::new(0, 64, IpNumber(0), *source, *destination).unwrap();
                ip.dscp = IpDscp::try_new(self.dscp).unwrap();
                ip.ecn = IpEcn::try_new(self.ecn).unwrap();
                ip.identification = *id;
                ip.options = vec![1; option_words * 4].as_slice().try_into().unwrap();
                ip.dont_fragment = self.is_whole();
                ip.more_fragments = fragment.more;
                ip.fragment_offset = IpFragOffset::try_new(fragment.offset).unwrap();
                IpHeaders::Ipv4(ip, Default::default())
            }
            NetworkRecipe::V6 { source, destination, extensions, fragment } => {
                let ip = Ipv6Header {
                    traffic_class: self.dscp << 2 | self.ecn,
                    flow_label: Ipv6FlowLabel::try_new(0xa_bcde).unwrap(),
                    hop_limit: 64,
                    source: *source,
                    destination: *destination,
                    ..Default::default()
                };
                IpHeaders::Ipv6(ip, ipv6_extensions(extensions, *fragment))
            }
        }
    }
}

fn ipv6_extensions(extensions: &[Extension], fragment: FragmentRecipe) -> Ipv6Extensions {
    let options = |units: usize| Ipv6RawExtHeader::new_raw(IpNumber(0), &vec![0; 6 + 8 * units]).unwrap();
    let fragment_header = Ipv6FragmentHeader {
        next_header: IpNumber(0),
        fragment_offset: IpFragOffset::try_new(fragment.offset).unwrap(),
        more_fragments: fragment.more,
        identification: 77,
    };
    let mut built = Ipv6Extensions::default();
    if fragment != FragmentRecipe::WHOLE {
        built.fragment = Some(fragment_header.clone());
    }
    for extension in extensions {
        match *extension {
            Extension::HopByHop { units } => built.hop_by_hop_options = Some(options(units)),
            Extension::Destination { units } => built.destination_options = Some(options(units)),
            Extension::AtomicFragment => built.fragment = Some(fragment_header.clone()),
            Extension::Routing { units, segments_left } => {
                let mut body = vec![0; 6 + 8 * units];
                body[1] = segments_left;
                let routing = Ipv6RawExtHeader::new_raw(IpNumber(0), &body).unwrap();
                built.routing = Some(Ipv6RoutingExtensions { routing, final_destination_options: None });
            }
            Extension::Authentication { words } => {
                built.auth = Some(IpAuthHeader::new(IpNumber(0), 1, 2, &vec![3; words * 4]).unwrap());
            }
        }
    }
    built
}

pub(crate) fn any_recipe(longest: usize) -> impl Strategy<Value = Recipe> {
    recipe(any_network(), any_transport(), payload(0..=longest))
}

pub(crate) fn super_recipe(longest: usize) -> impl Strategy<Value = Recipe> {
    recipe(whole_network(), super_transport(), payload(0..=longest))
}

fn recipe(
    network: impl Strategy<Value = NetworkRecipe>,
    transport: impl Strategy<Value = TransportRecipe>,
    payload: impl Strategy<Value = Vec<u8>>,
) -> impl Strategy<Value = Recipe> {
    (0..=2u8, 0..64u8, 0..4u8, network, transport, payload).prop_map(
        |(vlan_tags, dscp, ecn, network, transport, payload)| Recipe {
            vlan_tags,
            dscp,
            ecn,
            network,
            transport,
            payload,
        },
    )
}

/// Bytes from a seed, because generating or shrinking 60 KiB byte by byte is slow.
fn payload(length: impl Strategy<Value = usize>) -> impl Strategy<Value = Vec<u8>> {
    (length, any::<u64>()).prop_map(|(length, seed)| {
        (0..length as u64).map(|i| (seed ^ i).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0]).collect()
    })
}

fn any_fragment() -> impl Strategy<Value = FragmentRecipe> {
    prop_oneof![
        3 => Just(FragmentRecipe::WHOLE),
        1 => Just(FragmentRecipe { offset: 0, more: true }),
        1 => (1..0x1fffu16, any::<bool>()).prop_map(|(offset, more)| FragmentRecipe { offset, more }),
    ]
}

fn any_network() -> impl Strategy<Value = NetworkRecipe> {
    prop_oneof![v4(any_fragment()), v6(any_fragment(), any_extensions(true))]
}

fn whole_network() -> impl Strategy<Value = NetworkRecipe> {
    prop_oneof![v4(Just(FragmentRecipe::WHOLE)), v6(Just(FragmentRecipe::WHOLE), any_extensions(false))]
}

fn v4(fragment: impl Strategy<Value = FragmentRecipe>) -> impl Strategy<Value = NetworkRecipe> {
    (any::<[u8; 4]>(), any::<[u8; 4]>(), any::<u16>(), 0..=10usize, fragment).prop_map(
        |(source, destination, id, option_words, fragment)| NetworkRecipe::V4 {
            source,
            destination,
            id,
            option_words,
            fragment,
        },
    )
}

fn v6(
    fragment: impl Strategy<Value = FragmentRecipe>,
    extensions: impl Strategy<Value = Vec<Extension>>,
) -> impl Strategy<Value = NetworkRecipe> {
    (any::<[u8; 16]>(), any::<[u8; 16]>(), extensions, fragment).prop_map(
        |(source, destination, extensions, fragment)| NetworkRecipe::V6 {
            source,
            destination,
            extensions,
            fragment,
        },
    )
}

fn any_extensions(may_be_under_way: bool) -> impl Strategy<Value = Vec<Extension>> {
    let most_left = if may_be_under_way { 2u8 } else { 0 };
    let every = (0..5usize, 0..5usize, 0..5usize, 0..=most_left, 0..4usize);
    (every, 0..32u8).prop_map(|((a, b, c, segments_left, words), which)| {
        let all = [
            Extension::HopByHop { units: a },
            Extension::Destination { units: b },
            Extension::Routing { units: c, segments_left },
            Extension::AtomicFragment,
            Extension::Authentication { words },
        ];
        all.into_iter().enumerate().filter(|(i, _)| which >> i & 1 == 1).map(|(_, e)| e).collect()
    })
}

fn any_transport() -> impl Strategy<Value = TransportRecipe> {
    // Protocols that etherparse parses further are excluded: its errors on a random body would end
    // the comparison.
    let other = prop_oneof![Just(47u8), Just(50), Just(89), Just(103), Just(253)];
    prop_oneof![tcp(any::<u8>()), udp(), other.prop_map(|protocol| TransportRecipe::Other { protocol })]
}

fn super_transport() -> impl Strategy<Value = TransportRecipe> {
    // No super-packet has SYN (0x02) or RST (0x04).
    prop_oneof![tcp(any::<u8>().prop_map(|flags| flags & !0x06)), udp()]
}

fn tcp(flags: impl Strategy<Value = u8>) -> impl Strategy<Value = TransportRecipe> {
    (any::<(u16, u16)>(), any::<u32>(), flags, any::<u16>(), 0..=10usize).prop_map(
        |(ports, sequence, flags, urgent, option_words)| TransportRecipe::Tcp {
            ports,
            sequence,
            flags,
            urgent,
            option_words,
        },
    )
}

fn udp() -> impl Strategy<Value = TransportRecipe> {
    any::<(u16, u16)>().prop_map(|ports| TransportRecipe::Udp { ports })
}

pub(crate) fn any_damage() -> impl Strategy<Value = Damage> {
    let overwrite = (any::<prop::sample::Index>(), any::<u8>());
    (vec(overwrite, 0..6), proptest::option::of(any::<prop::sample::Index>()))
        .prop_map(|(overwrites, cut)| Damage { overwrites, cut })
}

#[derive(Clone, Debug)]
pub(crate) struct Damage {
    overwrites: Vec<(prop::sample::Index, u8)>,
    cut: Option<prop::sample::Index>,
}

impl Damage {
    /// Overwrites only the first 120 bytes, because damage matters most in the headers.
    pub(crate) fn apply(&self, frame: &mut Vec<u8>) {
        for (at, octet) in &self.overwrites {
            let at = at.index(frame.len().min(120));
            frame[at] = *octet;
        }
        if let Some(cut) = self.cut {
            frame.truncate(cut.index(frame.len()));
        }
    }
}
