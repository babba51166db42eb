//! The function that the fuzz target `classify` calls. A test of the gateway also calls it, without
//! a fuzzer.
#![allow(dead_code, reason = "the target uses less than the test")]

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use fairwire_datapath::classify::AccessKey;
use fairwire_datapath::classify::AccessTable;
use fairwire_datapath::classify::Claims;
use fairwire_datapath::classify::Classifier;
use fairwire_datapath::classify::ClassifierPlan;
use fairwire_datapath::classify::FlowKind;
use fairwire_datapath::classify::Framing;
use fairwire_datapath::classify::LinkKind;
use fairwire_datapath::classify::PortSet;
use fairwire_datapath::classify::Rule;
use fairwire_wire::Way;
use fairwire_wire::flow_key::{FlowKey, NetworkBits};
use std::net::IpAddr;
use std::sync::Arc;

/// Claims of every type, over prefixes that random bytes sometimes match.
fn claims() -> Claims {
    let prefix = |text: &str| text.parse().expect("a prefix");
    let rule = Rule {
        class: 4,
        dscp: 0xffff << 20,
        vlan: Box::new([]),
        inside: [prefix("128.0.0.0/1")].into(),
        outside: [prefix("0.0.0.0/2"), prefix("8000::/1")].into(),
        protocols: [6, 17].into(),
        ports: [PortSet::default(), PortSet { without: [(443, 443)].into(), ..PortSet::default() }],
    };
    let access = [
        (AccessKey::Vlan(1), 3),
        (AccessKey::InnerVlan { outer: 4094, inner: 1 }, 3),
        (AccessKey::Pppoe(7), 3),
        (AccessKey::Mac([0; 6]), 3),
    ];
    let access = AccessTable::new(&access);
    Claims::new(&[(prefix("0.0.0.0/1"), 1), (prefix("::/1"), 2)], access, vec![rule])
}

const FLOWS: [FlowKind; 9] = [
    FlowKind::FiveTuple,
    FlowKind::Source,
    FlowKind::Destination,
    FlowKind::Inside,
    FlowKind::Outside,
    FlowKind::Prefix(NetworkBits { ipv4: 24, ipv6: 56 }),
    FlowKind::Subscriber,
    FlowKind::Vlan,
    FlowKind::Dscp,
];

fn captured(bytes: &[u8]) {
    let _ = fairwire_wire::pcap::seen(bytes);
    let [high, low, data @ ..] = bytes else { return };
    let number = |value: u32| value.to_be_bytes();
    let head = [0xa1b2_c3d4, 0x0002_0004, 0, 0, 65_535, u32::from(u16::from_be_bytes([*high & 1, *low]))];
    let record = [0, 0, data.len() as u32, data.len() as u32];
    let mut file: Vec<u8> = head.into_iter().chain(record).flat_map(number).collect();
    file.extend(data);
    let _ = (fairwire_wire::pcap::seen(&file), fairwire_wire::pcap::notes(&file));
}

/// Checks that every classifier has an answer for any bytes, and gives the same answer twice. Also
/// checks that our parser agrees with etherparse.
///
/// # Panics
/// If a check fails.
pub(super) fn classify(bytes: &[u8]) {
    captured(bytes);
    let claims = Arc::new(claims());
    for flows in FLOWS {
        for (link, way) in [
            (LinkKind::Ethernet, Way::Download),
            (LinkKind::Ethernet, Way::Upload),
            (LinkKind::Ip, Way::Download),
        ] {
            let framing = Framing { is_atm: way == Way::Upload, ..Framing::ETHERNET };
            let plan =
                ClassifierPlan { secret: [1; 16], flows, framing, link, way, claims: Arc::clone(&claims) };
            let classifier = Classifier::of(plan);
            let facts = classifier.classify(bytes);
            assert_eq!(facts, classifier.classify(bytes));
            assert!(facts.class <= 4 && facts.dscp < 64 && facts.len >= 84);
            assert!(facts.is_ip || facts.class == 0, "what is not IP is of no class");
        }
    }
    agree(bytes);
}

fn agree(frame: &[u8]) {
    let Ok(theirs) = SlicedPacket::from_ethernet(frame) else { return };
    let ours = fairwire_wire::parse(frame);
    // Our parser stops at a third VLAN tag, and at a security tag. Such frames are skipped.
    let vlans = theirs.vlan_ids();
    // Etherparse knows the tags of 802.1Q, 802.1ad and 0x9100, but not the two older types 0x9200
    // and 0x9300.
    if frame.get(12 + 4 * vlans.len()).is_some_and(|high| matches!(high, 0x92 | 0x93)) {
        return;
    }
    if vlans.len() > 2 || theirs.link_exts.len() > vlans.len() {
        return;
    }
    let outer = vlans.first().map(|vlan| vlan.value()).filter(|&vlan| vlan != 0);
    assert_eq!(ours.outer_vlan(frame), outer);
    let (source, destination): (IpAddr, IpAddr) = match &theirs.net {
        Some(NetSlice::Ipv4(ip)) => (ip.header().source_addr().into(), ip.header().destination_addr().into()),
        Some(NetSlice::Ipv6(ip)) => (ip.header().source_addr().into(), ip.header().destination_addr().into()),
        _ => return,
    };
    let (key_source, key_destination, ports): (IpAddr, IpAddr, _) = match ours.flow_key(frame) {
        FlowKey::Ipv4(key) => (key.source.into(), key.destination.into(), key.ports),
        FlowKey::Ipv6(key) => (key.source.into(), key.destination.into(), key.ports),
        FlowKey::Other { .. } => panic!("etherparse finds IP here: {frame:02x?}"),
    };
    assert_eq!((key_source, key_destination), (source, destination));
    let payload = theirs.ip_payload().expect("IP has a payload");
    let network = ours.network.expect("a key of IP has a header of IP");
    // Our parser walks at most 8 extension headers, and none after a fragment header. Etherparse
    // continues.
    let is_same_walk = network.protocol == payload.ip_number.0;
    if is_same_walk {
        assert_eq!(ours.is_fragment(), payload.fragmented);
    }
    let their_ports = match &theirs.transport {
        Some(TransportSlice::Tcp(tcp)) => Some((tcp.source_port(), tcp.destination_port())),
        Some(TransportSlice::Udp(udp)) => Some((udp.source_port(), udp.destination_port())),
        _ => None,
    };
    if let Some(their_ports) = their_ports.filter(|_| is_same_walk) {
        assert_eq!(ports.map(|ports| (ports.source, ports.destination)), Some(their_ports));
    }
}
