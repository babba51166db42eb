//! The frames of each attack.

use super::{ATTACKER, VICTIM};
use crate::world::{server, subscriber};
use fairwire_testbed::bed::Side;
use std::net::IpAddr;

pub(super) const ATTACKER_MAC: [u8; 6] = [0x02, 0x66, 0, 0, 0, 1];

/// An attack.
#[derive(Clone)]
pub(super) struct Attack {
    pub name: &'static str,
    /// Does the attack also apply to homes, where packet addresses identify hosts?
    pub on_homes: bool,
    pub per_second: u64,
    /// The frame with this number.
    pub frame: fn(u64) -> Vec<u8>,
}

/// A bulk attack's frames per second: 28 Mbit/s on a link of 20 Mbit/s.
const BULK: u64 = 2600;
const SHORT: u64 = 10_000;
const BULK_BYTES: usize = 1300;

const fn attack(name: &'static str, per_second: u64, frame: fn(u64) -> Vec<u8>) -> Attack {
    Attack { name, on_homes: true, per_second, frame }
}

const fn on_providers(name: &'static str, per_second: u64, frame: fn(u64) -> Vec<u8>) -> Attack {
    Attack { on_homes: false, ..attack(name, per_second, frame) }
}

pub(super) const ATTACKS: &[Attack] = &[
    attack("nothing", 0, |_| Vec::new()),
    attack("flood", BULK, |n| ethernet(&IPV4, &v4(own(), 17, &udp(n, BULK_BYTES)))),
    attack("two-tags", BULK, |n| {
        ethernet(&[0x81, 0, 0, 0, 0x81, 0, 0, 0, 8, 0], &v4(own(), 17, &udp(n, BULK_BYTES)))
    }),
    attack("service-tag", BULK, |n| {
        ethernet(&[0x88, 0xa8, 0, 5, 0x81, 0, 0, 7, 8, 0], &v4(own(), 17, &udp(n, BULK_BYTES)))
    }),
    on_providers("address-of-the-victim", BULK, |n| {
        ethernet(&IPV4, &v4(address(VICTIM), 17, &udp(n, BULK_BYTES)))
    }),
    on_providers("address-of-no-subscriber", BULK, |n| {
        ethernet(&IPV4, &v4([10, 9, 9, 9], 17, &udp(n, BULK_BYTES)))
    }),
    attack("made-up-sources", SHORT, |n| ethernet(&IPV4, &v4(made_up(n), 17, &udp(n, 18)))),
    on_providers("fifty-addresses", BULK, |n| ethernet(&IPV6, &v6((n % 50) as u8, 17, &udp(n, BULK_BYTES)))),
    attack("fragments", BULK, |n| {
        let mut packet = v4(own(), 17, &udp(n, 1280));
        set(&mut packet, 4, (n as u16).to_be_bytes());
        set(&mut packet, 6, (0x2000 | ((n % 40) as u16 * 160)).to_be_bytes());
        ethernet(&IPV4, &summed(packet))
    }),
    attack("tiny-fragments", SHORT, |n| {
        let mut packet = v4(own(), 6, &[0; 8]);
        set(&mut packet, 4, (n as u16).to_be_bytes());
        set(&mut packet, 6, (0x2000 | (n % 8000) as u16).to_be_bytes());
        ethernet(&IPV4, &summed(packet))
    }),
    attack("options", BULK, |n| {
        let mut packet = v4(own(), 17, &udp(n, BULK_BYTES));
        let route = [&[7, 39, 4][..], &[0; 37]].concat(); // record route, up to the end of the header
        packet.splice(20..20, route);
        packet[0] = 0x4f;
        let len = packet.len() as u16;
        set(&mut packet, 2, len.to_be_bytes());
        ethernet(&IPV4, &summed(packet))
    }),
    attack("wrong-lengths", BULK, |n| {
        let mut packet = v4(own(), 17, &udp(n, BULK_BYTES));
        match n % 5 {
            0 => set(&mut packet, 2, [0xff, 0xff]),
            1 => set(&mut packet, 2, [0, 0]),
            2 => packet[0] = 0x44,
            3 => set(&mut packet, 24, [0xff, 0xff]),
            _ => packet.truncate(27),
        }
        ethernet(&IPV4, &summed(packet))
    }),
    attack("wrong-sums", BULK, |n| {
        let mut packet = v4(own(), 17, &udp(n, BULK_BYTES));
        set(&mut packet, 10, (n as u16).to_be_bytes());
        set(&mut packet, 26, [1, 2]);
        ethernet(&IPV4, &packet)
    }),
    attack("extension-chain", BULK, |n| {
        // The packet has a hop-by-hop header, followed by seven headers with destination options.
        let mut chain: Vec<u8> =
            (0..8).flat_map(|at| [if at < 7 { 60 } else { 17 }, 0, 1, 4, 0, 0, 0, 0]).collect();
        chain.extend(udp(n, 1200));
        ethernet(&IPV6, &v6(1, 0, &chain))
    }),
    attack("gre-in-gre", BULK, |n| {
        let inner = [&[0, 0, 8, 0][..], &v4(made_up(n), 17, &udp(n, 1180))].concat();
        let outer = [&[0, 0, 8, 0][..], &v4([10, 7, 7, 7], 47, &inner)].concat();
        ethernet(&IPV4, &v4(own(), 47, &outer))
    }),
    attack("arp-storm", SHORT, |n| {
        let mut body = vec![0, 1, 8, 0, 6, 4, 0, 2];
        body.extend(ATTACKER_MAC);
        body.extend(made_up(n));
        body.extend([0xff; 6]);
        body.extend([10, 7, 7, 7]);
        body.resize(46, 0);
        group([0xff; 6], &[8, 6], &body)
    }),
    attack("neighbour-advertisements", SHORT, |n| {
        let mut body = vec![136, 0, 0, 0, 0x20, 0, 0, 0, 0x20, 1, 0x0d, 0xb8, 0, 1, 0, 0x66];
        body.extend(n.to_be_bytes());
        body.extend([2, 1]);
        body.extend(ATTACKER_MAC);
        let mut packet = v6(1, 58, &body);
        packet[7] = 255;
        packet[24..40].copy_from_slice(&[0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        group([0x33, 0x33, 0, 0, 0, 1], &IPV6, &packet)
    }),
    attack("dhcp-offers", SHORT, |n| {
        let mut packet = v4(
            own(),
            17,
            &ports([67, 68], &[&[2, 1, 6, 0][..], &(n as u32).to_be_bytes(), &[0; 240]].concat()),
        );
        packet[16..20].copy_from_slice(&[255; 4]);
        group([0xff; 6], &IPV4, &summed(packet))
    }),
    attack("mdns-storm", SHORT, |n| {
        let mut packet = v4(own(), 17, &ports([5353, 5353], &[&n.to_be_bytes()[..], &[7; 292]].concat()));
        packet[16..20].copy_from_slice(&[224, 0, 0, 251]);
        group([1, 0, 0x5e, 0, 0, 0xfb], &IPV4, &summed(packet))
    }),
    attack("membership-reports", SHORT, |n| {
        let [_, a, b, c] = (n as u32).to_be_bytes();
        let mut packet = v4(own(), 2, &[0x16, 0, 0, 0, 239, a, b, c]);
        packet[8] = 1;
        packet[16..20].copy_from_slice(&[239, a, b, c]);
        group([1, 0, 0x5e, a & 0x7f, b, c], &IPV4, &summed(packet))
    }),
    attack("syn-flood", SHORT, |n| {
        let [high, low] = (n as u16).to_be_bytes();
        let segment =
            [&[high, low, 0, 80][..], &n.to_be_bytes(), &[0x50, 2, 0xff, 0xff, 0, 0, 0, 0]].concat();
        ethernet(&IPV4, &v4(own(), 6, &segment))
    }),
    attack("echo-requests", BULK, |n| {
        let body = [&[8, 0, 0, 0][..], &(n as u32).to_be_bytes(), &[0; 1200]].concat();
        ethernet(&IPV4, &v4(own(), 1, &body))
    }),
    attack("one-broadcast", 2000, |_| {
        let mut packet = v4(own(), 17, &udp(1, 30));
        packet[16..20].copy_from_slice(&[255; 4]);
        group([0xff; 6], &IPV4, &summed(packet))
    }),
    attack("bridge-protocol", SHORT, |n| {
        let mut body = vec![0x42, 0x42, 3, 0, 0, 0, 0, 0];
        body.extend(n.to_be_bytes());
        body.resize(46, 0);
        group([1, 0x80, 0xc2, 0, 0, 0], &[0, 38], &body)
    }),
    attack("pppoe-discovery", SHORT, |n| {
        let mut body = vec![0x11, 9, 0, 0, 0, 12, 1, 3, 0, 8];
        body.extend(n.to_be_bytes());
        body.resize(46, 0);
        group([0xff; 6], &[0x88, 0x63], &body)
    }),
    attack("marks-wanted", BULK, |n| {
        let mut packet = v4(own(), 17, &udp(n, BULK_BYTES));
        packet[1] = 1; // ECT(1), but marks are ignored
        ethernet(&IPV4, &summed(packet))
    }),
];

const IPV4: [u8; 2] = [8, 0];
const IPV6: [u8; 2] = [0x86, 0xdd];

fn address(number: u16) -> [u8; 4] {
    octets(subscriber(1, number, false))
}

fn own() -> [u8; 4] {
    address(ATTACKER)
}

fn octets(address: IpAddr) -> [u8; 4] {
    match address {
        IpAddr::V4(address) => address.octets(),
        IpAddr::V6(_) => [0; 4],
    }
}

fn made_up(n: u64) -> [u8; 4] {
    let [.., a, b, c] = n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    [10, a | 0x80, b, c]
}

/// A frame from the attacker to the outside.
fn ethernet(kind: &[u8], packet: &[u8]) -> Vec<u8> {
    group(Side::Left.ethernet_address(), kind, packet)
}

fn group(destination: [u8; 6], kind: &[u8], packet: &[u8]) -> Vec<u8> {
    [&destination[..], &ATTACKER_MAC, kind, packet].concat()
}

fn set(packet: &mut [u8], at: usize, bytes: [u8; 2]) {
    packet[at..at + 2].copy_from_slice(&bytes);
}

fn v4(source: [u8; 4], protocol: u8, body: &[u8]) -> Vec<u8> {
    ipv4([source, octets(server(ATTACKER, false))], protocol, body)
}

pub(crate) fn ipv4([source, destination]: [[u8; 4]; 2], protocol: u8, body: &[u8]) -> Vec<u8> {
    let len = (20 + body.len()) as u16;
    let mut packet = vec![0x45, 0];
    packet.extend(len.to_be_bytes());
    packet.extend([0, 0, 0, 0, 64, protocol, 0, 0]);
    packet.extend(source);
    packet.extend(destination);
    packet.extend(body);
    summed(packet)
}

fn summed(mut packet: Vec<u8>) -> Vec<u8> {
    let header = (usize::from(packet[0] & 15) * 4).clamp(20, packet.len());
    set(&mut packet, 10, [0, 0]);
    let words = packet[..header].chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    set(&mut packet, 10, (!(sum as u16)).to_be_bytes());
    packet
}

fn v6(host: u8, next: u8, body: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend((body.len() as u16).to_be_bytes());
    packet.extend([next, 64, 0x20, 1, 0x0d, 0xb8, 0, 1, 0, 0x66, 0, 0, 0, 0, 0, 0, 0, host + 1]);
    match server(ATTACKER, true) {
        IpAddr::V6(address) => packet.extend(address.octets()),
        IpAddr::V4(_) => packet.extend([0; 16]),
    }
    packet.extend(body);
    packet
}

fn udp(n: u64, bytes: usize) -> Vec<u8> {
    ports([(n % 60_000) as u16 + 1024, (n / 7 % 60_000) as u16 + 1024], &vec![0xab; bytes])
}

fn ports([source, destination]: [u16; 2], payload: &[u8]) -> Vec<u8> {
    let len = (8 + payload.len()) as u16;
    [&source.to_be_bytes()[..], &destination.to_be_bytes(), &len.to_be_bytes(), &[0, 0], payload].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_wire::headers;

    #[test]
    fn every_attack_has_a_unique_name_and_valid_frames() {
        for (place, attack) in ATTACKS.iter().enumerate().skip(1) {
            assert!(ATTACKS[..place].iter().all(|other| other.name != attack.name), "{}", attack.name);
            for n in 0..1000 {
                let frame = (attack.frame)(n);
                assert!((34..=1514).contains(&frame.len()), "{}: {} bytes", attack.name, frame.len());
                headers::parse(&frame);
            }
        }
    }
}
