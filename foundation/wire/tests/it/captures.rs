//! Captures of every link type, with headers written by hand from their specifications.

use fairwire_testing::program::Running;
use fairwire_wire::pcap::offered;
use std::io::Write as _;
use std::process::{Command, Stdio};

fn file(link_type: u16, packets: &[Vec<u8>], bytes: u32) -> Vec<u8> {
    let mut words = vec![0xa1b2_c3d4, 0x0002_0004, 0, 0, 65_535, u32::from(link_type)];
    let mut file: Vec<u8> = words.drain(..).flat_map(u32::to_be_bytes).collect();
    for packet in packets {
        let len = packet.len() as u32;
        file.extend([1, 0, len, bytes.max(len)].into_iter().flat_map(u32::to_be_bytes));
        file.extend(packet);
    }
    file
}

fn packet(port: u16) -> Vec<u8> {
    let ip = [0x45, 0x02, 0, 28, 0, 1, 0x40, 0, 64, 17, 0x26, 0xcc, 10, 0, 0, 1, 10, 0, 0, 2];
    [&ip[..], &port.to_be_bytes(), &[0, 53, 0, 8, 0, 0]].concat()
}

fn on(link_type: u16, of: &dyn Fn(u16) -> Vec<u8>) -> Vec<(u16, u32)> {
    let file = file(link_type, &[4000, 4001, 4000].map(of), 100);
    offered(&file).expect("a capture").iter().map(|packet| (packet.flow, packet.bytes)).collect()
}

/// For each form of headers: the link type, the headers before an IPv4 packet, and how many of the
/// record's 100 bytes count.
fn heads() -> Vec<(u16, Vec<u8>, u32)> {
    let snap: &[u8] = &[0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x00];
    let addresses = [[2; 6], [4; 6], [6; 6]].concat();
    // The fields are frame control, duration, three addresses, sequence, and the given bytes.
    let data =
        |control: [u8; 2], rest: &[u8]| [&control[..], &[0, 0], &addresses, &[0x10, 0], rest, snap].concat();
    let radiotap: &[u8] = &[0, 0, 9, 0, 0x02, 0, 0, 0, 0];
    // Two bitmaps, the time, and flags that announce a padded 802.11 header.
    let padded: &[u8] =
        &[0, 0, 25, 0, 0x03, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0x20];
    let session = [0x11, 0x00, 0x00, 0x07, 0x00, 0x1e, 0x00, 0x21];
    let ethernet = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    let cooked = [0, 4, 0, 1, 0, 6, 2, 2, 3, 4, 5, 6, 0, 0];
    vec![
        (9, vec![0xff, 0x03, 0x00, 0x21], 100), // with address and control
        (9, vec![0x00, 0x21], 100),
        (9, vec![0x21], 100), // a compressed protocol
        (50, vec![0xff, 0x03, 0x00, 0x21], 100),
        (50, vec![0x0f, 0x00, 0x08, 0x00], 100), // Cisco's
        (104, vec![0x8f, 0x00, 0x08, 0x00], 100),
        (51, session.to_vec(), 100),
        (1, [&ethernet[..], &[0x88, 0x64], &session].concat(), 100),
        (204, vec![1, 0xff, 0x03, 0x00, 0x21], 99), // sent; the direction is no byte of it
        (204, vec![0, 0x00, 0x21], 99),
        (166, vec![0x01, 0x03, 0x00, 0x21], 100),
        (0, vec![0, 0, 0, 2], 100), // in the order of the host that captured
        (108, vec![0, 0, 0, 2], 100),
        (12, Vec::new(), 100),
        (101, Vec::new(), 100),
        (228, Vec::new(), 100),
        (113, [&cooked[..], &[0x08, 0x00]].concat(), 100),
        (113, [&cooked[..], &[0x81, 0x00, 0, 5, 0x08, 0x00]].concat(), 100), // with the tag of a VLAN
        (276, vec![0x08, 0x00, 0, 0, 0, 0, 0, 3, 0, 1, 4, 6, 2, 2, 3, 4, 5, 6, 0, 0], 100),
        (105, data([0x08, 0x01], &[]), 100),
        (105, data([0x88, 0x01], &[0, 0]), 100), // with quality of service
        (105, data([0x08, 0x03], &[4; 6]), 100), // between access points
        (105, data([0x88, 0x81], &[0, 0, 1, 2, 3, 4]), 100),
        (105, data([0x88, 0x01], &[&[0x80, 0][..], &[4; 12], &[0, 36]].concat()), 100), // aggregated
        (127, [radiotap, &data([0x08, 0x01], &[])].concat(), 91),
        (127, [padded, &data([0x88, 0x01], &[0, 0, 0, 0])].concat(), 75),
    ]
}

#[test]
fn flows_are_distinguished_after_headers_of_the_specifications() {
    for (at, (link_type, head, bytes)) in heads().into_iter().enumerate() {
        let found = on(link_type, &|port| [&head[..], &packet(port)].concat());
        assert_eq!(found, [(0, bytes), (1, bytes), (0, bytes)], "number {at}, link type {link_type}");
    }
}

#[test]
fn tcpdump_finds_the_same_packets() {
    for (at, (link_type, head, _)) in heads().into_iter().enumerate() {
        let file = file(link_type, &[[&head[..], &packet(4000)].concat()], 0);
        let mut command = Command::new("tcpdump");
        command.args(["-Z", "root", "-nvr", "-"]).stdin(Stdio::piped());
        let Ok(mut child) = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::null())) else {
            let _ = writeln!(std::io::stderr(), "\nSKIPPED: tcpdump finds the same packets: no tcpdump");
            return;
        };
        child.stdin.take().expect("piped").write_all(&file).expect("it reads");
        let printed = child.output().stdout;
        let printed = String::from_utf8_lossy(&printed).into_owned();
        // tcpdump does not parse the direction byte of type 204, aggregated frames, or HT control.
        let is_beyond_it = match link_type {
            204 => true,
            105 => head[1] & 0x80 != 0 || head[24] == 0x80,
            _ => false,
        };
        let is_printed = printed.contains("10.0.0.1.4000 > 10.0.0.2.53");
        assert!(is_printed || is_beyond_it, "number {at}, link type {link_type}: {printed}");
    }
}

#[test]
fn ipv6_is_found_where_the_link_type_indicates_it() {
    let packet = |port: u16| {
        let mut packet = vec![0x60, 0, 0, 0, 0, 8, 17, 64];
        packet.extend([[1; 16], [2; 16]].concat());
        packet.extend(port.to_be_bytes());
        packet.extend([0, 53, 0, 8, 0, 0]);
        packet
    };
    let heads: [(u16, &[u8]); 5] = [
        (9, &[0x00, 0x57]),
        (229, &[]),
        (0, &[30, 0, 0, 0]),
        (113, &[0, 4, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 0x86, 0xdd]),
        (51, &[0x11, 0, 0, 7, 0, 30, 0x00, 0x57]),
    ];
    for (link_type, head) in heads {
        let flows = on(link_type, &|port| [head, &packet(port)].concat());
        assert_eq!(flows.iter().map(|(flow, _)| *flow).collect::<Vec<_>>(), [0, 1, 0], "{link_type}");
    }
}
