//! Packets in tunnels. etherparse computes the lengths and checksums of each header.
#![allow(dead_code, reason = "each test file uses its part")]

use etherparse::checksum::Sum16BitWords;
use etherparse::{IpFragOffset, IpNumber, Ipv4Header, Ipv6FlowLabel, Ipv6Header, UdpHeader};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Debug)]
pub(crate) struct Tunnel {
    /// VLAN tags before the outer IP header.
    pub vlan_tags: u8,
    pub link: Link,
    pub is_outer_v4: bool,
    pub id: u16,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Link {
    Plain,
    Pppoe,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// IPIP, 6in4, 4in6, IPv6 in IPv6.
    Ip,
    Gre {
        checksum: bool,
        key: bool,
        sequence: Option<u32>,
        is_ethernet: bool,
    },
    Vxlan {
        has_sum: bool,
    },
    Geneve {
        has_sum: bool,
        option_words: u8,
        is_ethernet: bool,
    },
    /// UDP to an unassigned port, then some bytes, then a frame.
    Unknown {
        has_sum: bool,
        opaque: Vec<u8>,
    },
    /// An unassigned IP protocol, then some bytes, then a frame.
    Protocol {
        opaque: Vec<u8>,
    },
    /// MPLS labels, without an outer IP header.
    Mpls {
        labels: u8,
    },
}

impl Tunnel {
    /// Puts segment `index` (`frame`, with its IP header at `at`) into this tunnel.
    pub(crate) fn around(&self, frame: &[u8], at: usize, index: usize) -> Vec<u8> {
        let skipped = if self.holds_ethernet() { 0 } else { at };
        let is_inner_v4 = frame[at] >> 4 == 4;
        let inner = &frame[skipped..];
        let mut out = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8];
        for tag in 0..self.vlan_tags {
            out.extend([0x88, 0xa8, 0, tag + 1]);
        }
        if let Kind::Mpls { labels } = self.kind {
            out.extend([0x88, 0x47]);
            out.extend((1..=labels).flat_map(|label| [0, label, u8::from(label == labels), 64]));
            out.extend(inner);
            return out;
        }
        let (protocol, payload) = self.payload(inner, is_inner_v4, index);
        let ip = self.outer_ip(protocol, payload.len(), index);
        let ip_type = if self.is_outer_v4 { [0x08, 0x00] } else { [0x86, 0xdd] };
        match self.link {
            Link::Plain => out.extend(ip_type),
            Link::Pppoe => {
                let [a, b] = ((ip.len() + payload.len() + 2) as u16).to_be_bytes();
                out.extend([0x88, 0x64, 0x11, 0, 0, 7, a, b, 0]);
                out.push(if self.is_outer_v4 { 0x21 } else { 0x57 });
            }
        }
        out.extend(ip);
        out.extend(payload);
        out
    }

    fn holds_ethernet(&self) -> bool {
        match self.kind {
            Kind::Ip | Kind::Mpls { .. } => false,
            Kind::Gre { is_ethernet, .. } | Kind::Geneve { is_ethernet, .. } => is_ethernet,
            Kind::Vxlan { .. } | Kind::Unknown { .. } | Kind::Protocol { .. } => true,
        }
    }

    fn payload(&self, inner: &[u8], is_inner_v4: bool, index: usize) -> (u8, Vec<u8>) {
        let ethertype = |is_ethernet| match (is_ethernet, is_inner_v4) {
            (true, _) => [0x65, 0x58],
            (false, true) => [0x08, 0x00],
            (false, false) => [0x86, 0xdd],
        };
        match &self.kind {
            Kind::Ip => (if is_inner_v4 { 4 } else { 41 }, inner.to_vec()),
            Kind::Gre { checksum, key, sequence, is_ethernet } => {
                let flag = |is, bit| if is { bit } else { 0 };
                let flags = flag(*checksum, 0x80) | flag(*key, 0x20) | flag(sequence.is_some(), 0x10);
                let mut gre = vec![flags, 0];
                gre.extend(ethertype(*is_ethernet));
                gre.extend(checksum.then_some([0; 4]).iter().flatten());
                gre.extend(key.then_some([1, 2, 3, 4]).iter().flatten());
                gre.extend(
                    sequence.map(|first| first.wrapping_add(index as u32).to_be_bytes()).iter().flatten(),
                );
                gre.extend(inner);
                if *checksum {
                    let sum = Sum16BitWords::new().add_slice(&gre).ones_complement().to_be().to_be_bytes();
                    gre[4..6].copy_from_slice(&sum);
                }
                (47, gre)
            }
            Kind::Vxlan { has_sum } => (17, self.udp(4789, *has_sum, &[8, 0, 0, 0, 0, 0, 5, 0], inner)),
            Kind::Geneve { has_sum, option_words, is_ethernet } => {
                let [a, b] = ethertype(*is_ethernet);
                let mut head = vec![*option_words, 0, a, b, 0, 0, 5, 0];
                head.extend(vec![0x11; usize::from(*option_words) * 4]);
                (17, self.udp(6081, *has_sum, &head, inner))
            }
            Kind::Unknown { has_sum, opaque } => (17, self.udp(9999, *has_sum, opaque, inner)),
            Kind::Protocol { opaque } => (115, [opaque, inner].concat()),
            Kind::Mpls { .. } => unreachable!("it has no outer IP header"),
        }
    }

    fn udp(&self, port: u16, has_sum: bool, head: &[u8], inner: &[u8]) -> Vec<u8> {
        let payload = [head, inner].concat();
        let mut udp = UdpHeader::without_ipv4_checksum(50_000, port, payload.len()).unwrap();
        if has_sum {
            udp.checksum = if self.is_outer_v4 {
                udp.calc_checksum_ipv4_raw([10, 9, 0, 1], [10, 9, 0, 2], &payload)
            } else {
                udp.calc_checksum_ipv6_raw([0x20; 16], [0x30; 16], &payload)
            }
            .unwrap();
        }
        [&udp.to_bytes()[..], &payload].concat()
    }

    fn outer_ip(&self, protocol: u8, bytes: usize, index: usize) -> Vec<u8> {
        if self.is_outer_v4 {
            let mut ip =
                Ipv4Header::new(bytes as u16, 63, IpNumber(protocol), [10, 9, 0, 1], [10, 9, 0, 2]).unwrap();
            ip.identification = self.id.wrapping_add(index as u16);
            ip.fragment_offset = IpFragOffset::ZERO;
            ip.header_checksum = ip.calc_header_checksum();
            return ip.to_bytes().to_vec();
        }
        let ip = Ipv6Header {
            traffic_class: 0,
            flow_label: Ipv6FlowLabel::ZERO,
            payload_length: bytes as u16,
            next_header: IpNumber(protocol),
            hop_limit: 63,
            source: [0x20; 16],
            destination: [0x30; 16],
        };
        ip.to_bytes().to_vec()
    }
}

pub(crate) fn any_tunnel() -> impl Strategy<Value = Tunnel> {
    let sequence = prop_oneof![Just(None), any::<u32>().prop_map(Some)];
    let kind = prop_oneof![
        Just(Kind::Ip),
        (any::<bool>(), any::<bool>(), sequence, any::<bool>()).prop_map(
            |(checksum, key, sequence, is_ethernet)| Kind::Gre { checksum, key, sequence, is_ethernet }
        ),
        any::<bool>().prop_map(|has_sum| Kind::Vxlan { has_sum }),
        (any::<bool>(), 0..63u8, any::<bool>()).prop_map(|(has_sum, option_words, is_ethernet)| {
            Kind::Geneve { has_sum, option_words, is_ethernet }
        }),
        (any::<bool>(), vec(any::<u8>(), 0..40))
            .prop_map(|(has_sum, opaque)| Kind::Unknown { has_sum, opaque }),
        vec(any::<u8>(), 0..40).prop_map(|opaque| Kind::Protocol { opaque }),
        (1..4u8).prop_map(|labels| Kind::Mpls { labels }),
    ];
    let link = prop_oneof![Just(Link::Plain), Just(Link::Pppoe)];
    (0..=4u8, link, any::<bool>(), any::<u16>(), kind).prop_map(|(vlan_tags, link, is_outer_v4, id, kind)| {
        Tunnel { vlan_tags, link, is_outer_v4, id, kind }
    })
}
