//! Frames that the kernel of a router unwraps. All frames that leave by `outside` must have passed
//! the gateway.

use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::link;
use fairwire_linux::port::Port;
use fairwire_testbed::bed::HOST;
use fairwire_testbed::host::Host;
use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

const TAGS: [(&str, [u8; 4]); 5] = [
    ("priority tag", [0x81, 0, 0, 0]),
    ("priority tag of class 7", [0x81, 0, 0xe0, 0]),
    ("service tag of VLAN 0", [0x88, 0xa8, 0, 0]),
    ("tag of VLAN 5", [0x81, 0, 0, 5]),
    ("old service tag", [0x91, 0, 0, 0]),
];

/// Name, EtherType, bytes.
type Packet = (&'static str, [u8; 2], Vec<u8>);

/// UDP packets to the world, in all forms that a host may choose.
fn packets(mark: [u8; 8]) -> Vec<Packet> {
    let udp = [&[0x1b, 0x58, 0x1b, 0x58, 0, 16, 0, 0][..], &mark].concat();
    let v4 = |options: &[u8], fragment: u16, ttl: u8| {
        let words = 5 + options.len() / 4;
        let mut head = vec![0x40 | words as u8, 0, 0, 0, 0, 7, 0, 0, ttl, 17, 0, 0];
        head.extend([10, 0, 0, 1, 203, 0, 113, 1]);
        head.extend(options);
        let bytes = (head.len() + udp.len()) as u16;
        head[2..4].copy_from_slice(&bytes.to_be_bytes());
        head[6..8].copy_from_slice(&fragment.to_be_bytes());
        let sum = head.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum::<u32>();
        let folded = (sum & 0xffff) + (sum >> 16);
        head[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
        [head, udp.clone()].concat()
    };
    let v6 = |next: u8, extensions: &[u8]| {
        let bytes = (extensions.len() + udp.len()) as u16;
        let mut head = vec![0x60, 0, 0, 0];
        head.extend(bytes.to_be_bytes());
        head.extend([next, 64]);
        head.extend([0x20, 1, 0x0d, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        head.extend([0x20, 1, 0x0d, 0xb8, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        [head, extensions.to_vec(), udp.clone()].concat()
    };
    let (ipv4, ipv6) = ([0x08, 0], [0x86, 0xdd]);
    vec![
        ("IPv4", ipv4, v4(&[], 0, 64)),
        ("IPv4 with options", ipv4, v4(&[1, 7, 7, 4, 0, 0, 0, 0], 0, 64)),
        ("a first fragment", ipv4, v4(&[], 0x2000, 64)),
        ("a later fragment", ipv4, v4(&[], 0x0100, 64)),
        ("IPv4 at its end", ipv4, v4(&[], 0, 1)),
        ("IPv6", ipv6, v6(17, &[])),
        ("IPv6 hop by hop", ipv6, v6(0, &[17, 0, 1, 4, 0, 0, 0, 0])),
        (
            "IPv6 with destination options twice",
            ipv6,
            v6(60, &[60, 0, 1, 4, 0, 0, 0, 0, 17, 0, 1, 4, 0, 0, 0, 0]),
        ),
        ("an IPv6 fragment", ipv6, v6(44, &[17, 0, 0, 1, 0, 0, 0, 9])),
        ("an atomic IPv6 fragment", ipv6, v6(44, &[17, 0, 0, 0, 0, 0, 0, 9])),
    ]
}

fn stacks() -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    let mut from = 0;
    for _ in 0..3 {
        let to = all.len();
        for at in from..to {
            let stack: Vec<usize> = all[at].clone();
            all.extend((0..TAGS.len()).map(|tag| [&stack[..], &[tag]].concat()));
        }
        from = to;
    }
    all
}

fn wrapped((_, kind, packet): &Packet) -> [(&'static str, Vec<u8>); 4] {
    let protocol = if kind[0] == 0x08 { [0, 0x21] } else { [0, 0x57] };
    let length = |extra: usize| ((packet.len() + extra) as u16).to_be_bytes();
    let pppoe = [&[0x88, 0x64, 0x11, 0, 0, 7][..], &length(2), &protocol, packet].concat();
    let snap = [&length(8)[..], &[0xaa, 0xaa, 3, 0, 0, 0], kind, packet].concat();
    let padded = [&kind[..], packet, &[0; 40]].concat();
    [("", [&kind[..], packet].concat()), (" in PPPoE", pppoe), (" in SNAP", snap), (", padded", padded)]
}

/// The test proves nothing unless these frames leave.
const FORWARDED: [&str; 4] =
    ["IPv4 behind []", "IPv6 behind []", "IPv6 hop by hop behind []", "IPv4 behind [\"priority tag\"]"];

fn taken(edge: &Host) -> u64 {
    let table = edge.at(|| fs::read_to_string("/proc/thread-self/net/dev")).expect("Linux has it");
    let line = table.lines().find(|line| line.trim_start().starts_with("fwup-")).expect("it is there");
    line.split_whitespace().nth(10).and_then(|number| number.parse().ok()).expect("packets sent")
}

struct Form {
    stack: Vec<usize>,
    packet: usize,
    wrapping: usize,
}

/// Stacks of two or more tags get only the first packet, unwrapped.
fn forms() -> Vec<Form> {
    let all = stacks().into_iter().flat_map(|stack| {
        let (packets, wrappings) = if stack.len() < 2 { (packets([0; 8]).len(), 4) } else { (1, 1) };
        let pairs =
            (0..packets).flat_map(move |packet| (0..wrappings).map(move |wrapping| (packet, wrapping)));
        pairs.map(move |(packet, wrapping)| Form { stack: stack.clone(), packet, wrapping })
    });
    all.collect()
}

impl Form {
    fn marked(&self, number: u64) -> (String, Vec<u8>) {
        let packet = &packets((MARK | number).to_be_bytes())[self.packet];
        let (how, rest) = &wrapped(packet)[self.wrapping];
        let tags: Vec<u8> = self.stack.iter().flat_map(|tag| TAGS[*tag].1).collect();
        let names: Vec<&str> = self.stack.iter().map(|tag| TAGS[*tag].0).collect();
        (format!("{}{how} behind {names:?}", packet.0), [tags, rest.clone()].concat())
    }
}

const MARK: u64 = 0xfa1e_0000_0000_0000;

#[derive(Default)]
struct Left(BTreeSet<u64>);

impl Left {
    fn look(&mut self, outside: &mut AfPacket) {
        let mut look = |frame: &[u8], _: &_| {
            let words = frame.windows(8).map(|word| u64::from_be_bytes(word.try_into().expect("eight")));
            self.0.extend(words.filter(|word| word >> 32 == MARK >> 32).map(|word| word & 0xffff_ffff));
        };
        outside.receive(&mut look).expect("it is there");
    }

    fn awaited(&mut self, number: u64, outside: &mut AfPacket) {
        let until = Instant::now() + Duration::from_secs(5);
        while !self.0.contains(&number) && Instant::now() < until {
            self.look(outside);
        }
    }
}

/// Sends each form that reaches `world` a second time, alone, and requires that the gateway takes
/// it.
pub(crate) fn nothing_leaves_that_was_not_taken(home: &Host, edge: &Host, world: &Host) {
    let open = || AfPacket::open(HOST.name).expect("root may");
    let (mut inside, mut outside) = (home.at(open), world.at(open));
    let own = home.at(|| link::about(HOST.index)).expect("it is there").ethernet_address;
    let router = edge.at(|| link::about(super::router::LAN.index)).expect("it is there").ethernet_address;
    let (forms, mut left) = (forms(), Left::default());
    let mut send = |number: u64| {
        let (name, rest) = forms[number as usize % forms.len()].marked(number);
        assert!(inside.transmit(&[&router[..], &own, &rest].concat()), "{name}");
        name
    };
    let count = forms.len() as u64;
    for number in 0..count {
        if FORWARDED.contains(&send(number).as_str()) {
            left.awaited(number, &mut outside);
        }
        left.look(&mut outside);
    }
    send(count); // a frame that a router forwards, after all others
    left.awaited(count, &mut outside);
    left.0.remove(&count);
    let mut names = Vec::new();
    for number in left.0.clone() {
        let (before, again) = (taken(edge), 2 * count + number);
        let name = send(again);
        left.awaited(again, &mut outside);
        assert!(taken(edge) > before, "{name} left, and the gateway has not seen it");
        names.push(name);
    }
    println!("{} of {count} frames left", names.len());
    for form in FORWARDED {
        assert!(names.iter().any(|name| name == form), "{form} is not among {names:?}");
    }
}
