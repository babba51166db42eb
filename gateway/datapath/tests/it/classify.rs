//! Runs the fuzz target `classify` over its corpus and random bytes, and tests single frames.

#[path = "../../../../proof/fuzz/classify.rs"]
mod body;

use etherparse::{PacketBuilder, VlanId};
use fairwire_core::FlowHash;
use fairwire_datapath::class_book::UNCLAIMED;
use fairwire_datapath::classify::{
    AccessKey, AccessTable, Claims, Classifier, ClassifierPlan, Facts, FlowKind, Framing, LinkKind,
};
use fairwire_wire::Way;
use fairwire_wire::flow_key::NetworkBits;
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::sync::Arc;

fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proof/fuzz/corpus/classify");
    let entries = fs::read_dir(folder).expect("the corpus is there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort(); // a failed case names its file by its position
    paths.iter().map(|path| fs::read(path).expect("readable")).collect()
}

#[test]
fn the_corpus_passes() {
    let corpus = corpus();
    assert!(corpus.len() >= 9);
    corpus.iter().for_each(|bytes| body::classify(bytes));
}

proptest! {
    #[test]
    fn nearly_valid_frames_read_as_etherparse_reads_them(
        seed in 0..9usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..5),
        cut in any::<prop::sample::Index>(),
        is_cut: bool,
        padding in 0..40usize,
    ) {
        let mut bytes = corpus()[seed].clone();
        bytes.extend(vec![0x11; padding]);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        body::classify(&bytes);
    }

    #[test]
    fn random_bytes_are_classified(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        body::classify(&bytes);
    }
}

fn classifier(flows: FlowKind, way: Way) -> Classifier {
    let prefix = |text: &str| text.parse().unwrap();
    let claims = Claims::new(
        &[(prefix("192.0.2.0/28"), 1), (prefix("2001:db8:1::/48"), 1)],
        AccessTable::new(&[(AccessKey::Vlan(100), 2)]),
        Vec::new(),
    );
    let (framing, link) = (Framing::ETHERNET, LinkKind::Ethernet);
    Classifier::of(ClassifierPlan { secret: [9; 16], flows, framing, link, way, claims: Arc::new(claims) })
}

fn udp(source: [u8; 4], destination: [u8; 4], ports: (u16, u16)) -> Vec<u8> {
    let mut frame = Vec::new();
    let builder =
        PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4(source, destination, 64).udp(ports.0, ports.1);
    builder.write(&mut frame, &[0; 100]).unwrap();
    frame
}

const INSIDE: [u8; 4] = [192, 0, 2, 5];
const ALSO_INSIDE: [u8; 4] = [192, 0, 2, 6];
const OUTSIDE: [u8; 4] = [198, 51, 100, 1];

fn facts(flows: FlowKind, way: Way, frame: &[u8]) -> Facts {
    classifier(flows, way).classify(frame)
}

#[test]
fn the_inside_host_receives_downloads_and_sends_uploads() {
    let (down, up) = (udp(OUTSIDE, INSIDE, (53, 4000)), udp(INSIDE, OUTSIDE, (4000, 53)));
    for flows in [FlowKind::Subscriber, FlowKind::FiveTuple] {
        assert_eq!(facts(flows, Way::Download, &down).class, 1);
        assert_eq!(facts(flows, Way::Upload, &up).class, 1);
        assert_eq!(facts(flows, Way::Upload, &down).class, UNCLAIMED);
    }
    assert_eq!(
        facts(FlowKind::Inside, Way::Download, &down).flow,
        facts(FlowKind::Inside, Way::Upload, &up).flow
    );
    assert_eq!(
        facts(FlowKind::Outside, Way::Download, &down).flow,
        facts(FlowKind::Source, Way::Download, &down).flow
    );
}

#[test]
fn each_kind_of_flow_groups_the_packets_that_it_names() {
    let flow = |kind, frame: &[u8]| -> FlowHash { facts(kind, Way::Download, frame).flow };
    let one = udp(OUTSIDE, INSIDE, (53, 4000));
    let other_port = udp(OUTSIDE, INSIDE, (53, 4001));
    let other_host = udp(OUTSIDE, ALSO_INSIDE, (53, 4000));
    let elsewhere = udp(OUTSIDE, [203, 0, 113, 5], (53, 4000));
    let network = FlowKind::Prefix(NetworkBits { ipv4: 24, ipv6: 48 });
    for (kind, port, host, far) in [
        (FlowKind::FiveTuple, false, false, false),
        (FlowKind::Source, true, true, true),
        (FlowKind::Destination, true, false, false),
        (FlowKind::Inside, true, false, false),
        (FlowKind::Outside, true, true, true),
        (network, true, true, false),
        (FlowKind::Subscriber, true, true, false),
        (FlowKind::Vlan, true, true, true),
        (FlowKind::Dscp, true, true, true),
    ] {
        let is_same = |frame: &[u8]| flow(kind, &one) == flow(kind, frame);
        assert_eq!(
            (is_same(&other_port), is_same(&other_host), is_same(&elsewhere)),
            (port, host, far),
            "{kind:?}"
        );
    }
}

#[test]
fn a_vlan_names_a_subscriber_and_a_flow() {
    let tagged = |outer: u16| {
        let mut frame = Vec::new();
        PacketBuilder::ethernet2([2; 6], [4; 6])
            .double_vlan(VlanId::try_new(outer).unwrap(), VlanId::try_new(7).unwrap())
            .ipv4(OUTSIDE, [203, 0, 113, 9], 64)
            .udp(1, 2)
            .write(&mut frame, &[])
            .unwrap();
        frame
    };
    assert_eq!(facts(FlowKind::Vlan, Way::Download, &tagged(100)).class, 2);
    assert_eq!(facts(FlowKind::Vlan, Way::Download, &tagged(101)).class, UNCLAIMED);
    let flow = |outer| facts(FlowKind::Vlan, Way::Download, &tagged(outer)).flow;
    assert_ne!(flow(100), flow(101));
    assert_eq!(facts(FlowKind::Subscriber, Way::Upload, &tagged(100)).class, 2);
}

#[test]
fn fragments_have_a_class_and_one_flow() {
    let mut first = udp(OUTSIDE, INSIDE, (53, 4000));
    first[20] = 0x20; // more fragments
    let mut later = first.clone();
    later[21] = 10;
    later[34..38].copy_from_slice(&[1, 2, 3, 4]);
    let [first, later] = [first, later].map(|frame| facts(FlowKind::FiveTuple, Way::Download, &frame));
    assert_eq!(first.flow, later.flow);
    assert_eq!((first.class, later.class), (1, 1));
}

#[test]
fn frames_without_ip_are_unclaimed_and_bare_packets_match_frames() {
    let mut arp = vec![2; 12];
    arp.extend([0x08, 0x06]);
    arp.extend([0; 28]);
    let facts_of_arp = facts(FlowKind::Subscriber, Way::Download, &arp);
    assert!(!facts_of_arp.is_ip && facts_of_arp.class == UNCLAIMED);
    let frame = udp(OUTSIDE, INSIDE, (53, 4000));
    let bare = Classifier::of(ClassifierPlan {
        secret: [9; 16],
        flows: FlowKind::FiveTuple,
        framing: Framing::ETHERNET,
        link: LinkKind::Ip,
        way: Way::Download,
        claims: Arc::new(Claims::new(
            &[("192.0.2.0/28".parse().unwrap(), 1)],
            AccessTable::default(),
            Vec::new(),
        )),
    });
    assert_eq!(bare.classify(&frame[14..]), facts(FlowKind::FiveTuple, Way::Download, &frame));
}

#[test]
fn a_subscriber_without_an_address_is_known_by_session_vlans_or_mac() {
    let plain = udp(OUTSIDE, [10, 9, 9, 9], (53, 4000)); // to 04:04:…, the inside address of a download
    let tagged = |tags: &[u16], session: Option<u16>| {
        let mut frame = plain[..12].to_vec();
        tags.iter().for_each(|tag| frame.extend([&[0x81, 0x00], &tag.to_be_bytes()[..]].concat()));
        match session {
            None => frame.extend([0x08, 0x00]),
            Some(session) => {
                let [a, b] = ((plain.len() - 14 + 2) as u16).to_be_bytes();
                frame.extend(
                    [&[0x88, 0x64, 0x11, 0], &session.to_be_bytes()[..], &[a, b, 0x00, 0x21]].concat(),
                );
            }
        }
        frame.extend(&plain[14..]);
        frame
    };
    let entries = [
        (AccessKey::Mac([4; 6]), 4),
        (AccessKey::Vlan(100), 3),
        (AccessKey::InnerVlan { outer: 100, inner: 7 }, 2),
        (AccessKey::Pppoe(9), 1),
    ];
    let claims = Arc::new(Claims::new(&[], AccessTable::new(&entries), Vec::new()));
    let class = |frame: &[u8]| {
        let (framing, link, claims) = (Framing::ETHERNET, LinkKind::Ethernet, claims.clone());
        let plan = ClassifierPlan {
            secret: [9; 16],
            flows: FlowKind::Subscriber,
            framing,
            link,
            way: Way::Download,
            claims,
        };
        Classifier::of(plan).classify(frame).class
    };
    assert_eq!(class(&plain), 4);
    assert_eq!(class(&tagged(&[100], None)), 3);
    assert_eq!(class(&tagged(&[100, 8], None)), 3);
    assert_eq!(class(&tagged(&[100, 7], None)), 2);
    assert_eq!(class(&tagged(&[100, 7], Some(9))), 1);
    assert_eq!(class(&tagged(&[], Some(8))), 4);
}

#[test]
fn ipv6_headers_are_followed_to_the_ports() {
    let inside: [u8; 16] = "2001:db8:1::9".parse::<std::net::Ipv6Addr>().unwrap().octets();
    let mut payload = vec![60, 0, 1, 4, 0, 0, 0, 0, 17, 0, 1, 4, 0, 0, 0, 0]; // hop by hop, then options, then UDP
    payload.extend([0x0f, 0xa0, 0, 53, 0, 8, 0, 0]);
    let mut frame = vec![2; 12];
    frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, payload.len() as u8, 0, 64]);
    frame.extend([1; 16]);
    frame.extend(inside);
    frame.extend(payload);
    let port = |byte: u8| {
        let mut frame = frame.clone();
        *frame.get_mut(14 + 40 + 16 + 3).unwrap() = byte;
        facts(FlowKind::FiveTuple, Way::Download, &frame)
    };
    assert_eq!(port(53).class, 1);
    assert_ne!(port(53).flow, port(54).flow);
}

#[test]
fn an_upload_with_a_foreign_address_is_spoofed_and_a_download_is_not() {
    let prefix = |text: &str| text.parse().unwrap();
    let claims = Arc::new(Claims::new(
        &[(prefix("192.0.2.1/32"), 1), (prefix("192.0.2.2/32"), 2)],
        AccessTable::new(&[(AccessKey::Mac([2; 6]), 1), (AccessKey::Mac([4; 6]), 2)]),
        Vec::new(),
    ));
    let look = |way, frame: &[u8]| {
        let (flows, framing, link) = (FlowKind::Subscriber, Framing::ETHERNET, LinkKind::Ethernet);
        let plan = ClassifierPlan { secret: [9; 16], flows, framing, link, way, claims: claims.clone() };
        let facts = Classifier::of(plan).classify(frame);
        (facts.class, facts.is_spoofed)
    };
    // All frames come from the device of class 1.
    let from = |host| udp([192, 0, 2, host], OUTSIDE, (53, 4000));
    assert_eq!(look(Way::Upload, &from(1)), (1, false));
    assert_eq!(look(Way::Upload, &from(2)), (2, true), "the address of the second");
    assert_eq!(look(Way::Upload, &from(9)), (1, false), "an address in no row");
    // All frames go to the device of class 2, but the address decides the class.
    let to = |host| udp(OUTSIDE, [192, 0, 2, host], (53, 4000));
    assert_eq!(look(Way::Download, &to(1)), (1, false));
    assert_eq!(look(Way::Download, &to(2)), (2, false));
}
