use super::*;
use etherparse::{IpNumber, PacketBuilder};
use fairwire_wire::headers::parse;

fn rate(bps: u64) -> Rate {
    Rate::from_bps(bps).expect("not zero")
}

fn ipv4(from: [u8; 4], to: [u8; 4], hops: u8, protocol: u8) -> Vec<u8> {
    let mut frame = Vec::new();
    let builder =
        PacketBuilder::ethernet2([2, 0, 0, 0, 0, from[3]], [1, 0, 0x5e, 0, 0, 5]).ipv4(from, to, hops);
    builder.write(&mut frame, IpNumber(protocol), &[0; 44]).expect("a vector takes everything");
    frame
}

fn udp(to: [u8; 4], hops: u8, ports: (u16, u16)) -> Vec<u8> {
    let mut frame = Vec::new();
    let builder =
        PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([10, 0, 0, 1], to, hops).udp(ports.0, ports.1);
    builder.write(&mut frame, &[0; 24]).expect("a vector takes everything");
    frame
}

fn icmpv6(to: [u8; 2], hops: u8, kind: u8) -> Vec<u8> {
    let mut destination = [0; 16];
    destination[..2].copy_from_slice(&to);
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2([2; 6], [4; 6]).ipv6([0xfe; 16], destination, hops);
    builder
        .write(&mut frame, IpNumber(ICMPV6), &[kind, 0, 0, 0, 0, 0, 0, 0])
        .expect("a vector takes everything");
    frame
}

fn is_control_of(frame: &[u8]) -> bool {
    of(frame, &parse(frame))
}

#[test]
fn control_packets_are_recognized_and_imitations_are_not() {
    let (host, group, other_group) = ([198, 51, 100, 7], [224, 0, 0, 5], [224, 0, 1, 5]);
    for (frame, is_control, what) in [
        (ipv4([10, 0, 0, 1], group, 1, OSPF), true, "OSPF"),
        (ipv4([10, 0, 0, 1], host, 1, OSPF), true, "OSPF to one neighbour"),
        (ipv4([10, 0, 0, 1], host, 64, OSPF), false, "protocol 89 that is sent on"),
        (ipv4([10, 0, 0, 1], [224, 0, 0, 18], 255, VRRP), true, "VRRP"),
        (ipv4([10, 0, 0, 1], host, 64, VRRP), false, "protocol 112 that is sent on"),
        (ipv4([10, 0, 0, 1], other_group, 1, IGMP), true, "a report"),
        (ipv4([10, 0, 0, 1], [224, 0, 0, 13], 1, 103), true, "PIM"),
        (ipv4([10, 0, 0, 1], other_group, 4, 103), false, "another group"),
        (udp(host, 255, (49_152, 3784)), true, "BFD"),
        (udp(host, 64, (49_152, 3784)), false, "BFD that was sent on"),
        (udp(host, 64, (49_152, 4784)), true, "BFD over several hops"),
        (udp([255; 4], 64, (68, 67)), true, "DHCP"),
        (udp(host, 64, (5000, 67)), false, "from another port"),
        (udp([224, 0, 0, 251], 255, (5353, 5353)), false, "mDNS"),
        (udp([224, 0, 0, 9], 1, (520, 520)), true, "RIP"),
        (udp(host, 64, (4000, 4000)), false, "a datagram"),
        (icmpv6([0xff, 0x02], 255, 135), true, "ND to a group"),
        (icmpv6([0xfe, 0x80], 255, 136), true, "ND to one host"),
        (icmpv6([0x20, 0x01], 64, 136), false, "ND that was sent on"),
        (icmpv6([0x20, 0x01], 64, 128), false, "a ping"),
        (icmpv6([0xff, 0x02], 1, 143), true, "MLD"),
    ] {
        assert_eq!(is_control_of(&frame), is_control, "{what}");
        for len in 0..frame.len() {
            is_control_of(&frame[..len]); // truncation does no harm
        }
    }
}

/// Returns the number of frames of each router that pass, and the bytes of the flood that pass.
fn passing(flood: impl Fn(u64) -> Vec<u8>) -> ([u64; 2], u64) {
    let mut limit = ControlLimit::new(rate(400_000));
    let routers = [1, 2].map(|host| ipv4([10, 0, 0, host], [224, 0, 0, 5], 1, OSPF));
    let (mut passed, mut bytes) = ([0; 2], 0);
    let mut takes = |frame: &[u8], now: Time| limit.takes(frame, &parse(frame), 102, now);
    for ms in 0..14_000 {
        let now = Time::ZERO + Duration::from_ms(ms);
        for (router, passed) in routers.iter().zip(&mut passed).filter(|_| ms % 50 == 0) {
            let is_taken = takes(router, now);
            *passed += u64::from(is_taken && ms >= 4000);
        }
        for _ in 0..if ms >= 4000 { 20 } else { 0 } {
            bytes += u64::from(takes(&flood(ms), now)) * 102;
        }
    }
    (passed, bytes)
}

#[test]
fn a_flood_of_hellos_takes_no_capacity_from_known_routers() {
    let one = |_| ipv4([10, 0, 0, 66], [224, 0, 0, 5], 1, OSPF);
    let drawn =
        |ms: u64| ipv4([10, (ms >> 16) as u8, (ms >> 8) as u8, ms as u8 | 128], [224, 0, 0, 5], 1, OSPF);
    for (passed, bytes) in [passing(one), passing(drawn)] {
        assert_eq!(passed, [200, 200], "20 hellos a second for ten seconds");
        // The limit allows 400 kbit/s for ten seconds, and a burst of eight full frames. One frame
        // is margin.
        assert!(bytes <= 500_000 + 9 * 1538, "{bytes} bytes of the flood");
    }
}

#[test]
fn hosts_leave_half_to_routers_and_forwarded_packets_get_a_sixteenth() {
    let mut limit = ControlLimit::new(rate(400_000));
    let at = |ms| Time::ZERO + Duration::from_ms(ms);
    let router = ipv4([10, 0, 0, 1], [224, 0, 0, 5], 1, OSPF);
    let mut takes = |frame: &[u8], bytes, ms| limit.takes(frame, &parse(frame), bytes, at(ms));
    for ms in 0..100 {
        for host in 100..140 {
            takes(&ipv4([10, 0, 1, host], [224, 0, 0, 22], 1, IGMP), 64, ms * 100); // 205 kbit/s
        }
        if ms % 10 == 5 {
            takes(&router, 102, ms * 100 + 50);
        }
    }
    while takes(&ipv4([10, 0, 1, 200], [224, 0, 0, 22], 1, IGMP), 64, 10_000) {}
    assert!(takes(&router, 102, 10_000), "a router that came after forty hosts is known");
    let tunnel = udp([198, 51, 100, 7], 64, (4784, 4784));
    let passed = (11_000..21_000).map(|ms| u64::from(takes(&tunnel, 1538, ms))).sum::<u64>() * 1538 * 8 / 10;
    // The limit allows a sixteenth of the rate, a burst of two full frames, and the frame that
    // exceeds the burst.
    let most = 25_000 + 3 * 1538 * 8 / 10;
    assert!((24_000..=most).contains(&passed), "{passed} bit/s of 400 000");
}

#[test]
fn a_new_rate_keeps_known_routers_known() {
    let mut limit = ControlLimit::new(rate(400_000));
    let (router, other) =
        (ipv4([10, 0, 0, 1], [224, 0, 0, 5], 1, OSPF), ipv4([10, 0, 0, 9], [224, 0, 0, 5], 1, OSPF));
    let at = |ms| Time::ZERO + Duration::from_ms(ms);
    for ms in [0, 1000, 2000, 3000] {
        assert!(limit.takes(&router, &parse(&router), 102, at(ms)));
    }
    limit.set_rate(rate(200_000));
    while limit.takes(&other, &parse(&other), 1538, at(3500)) {}
    assert!(limit.takes(&router, &parse(&router), 102, at(3500)));
}

#[test]
fn control_gets_a_fiftieth_of_a_link_and_on_a_slow_one_enough_for_bfd() {
    let of = |bps| default_rate(rate(bps)).bps();
    assert_eq!([of(50_000_000), of(1_000_000), of(100_000)], [1_000_000, 128_000, 25_000]);
}
