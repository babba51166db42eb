//! Frames with tags, also long ones.

use super::bed::Bed;
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::port::Port;
use fairwire_testbed::bed;
use std::thread;
use std::time::{Duration, Instant};

/// A UDP packet of `ip_bytes` in a frame with the tag of `vlan`.
fn tagged(vlan: u8, ip_bytes: u16) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0x77, 2, 2, 0, 0, 0, 0x77, 1, 0x81, 0, 0, vlan, 0x08, 0];
    let [high, low] = ip_bytes.to_be_bytes();
    frame.extend([0x45, 0, high, low, 0, 0, 0, 0, 64, 17, 0, 0, 10, vlan, 0, 1, 10, vlan, 0, 2]);
    let [high, low] = (ip_bytes - 20).to_be_bytes();
    frame.extend([27, 88, 27, 88, high, low, 0, 0]);
    frame.resize(18 + usize::from(ip_bytes), vlan);
    frame
}

#[test]
fn subscribers_are_recognized_by_their_vlan_and_tags_go_through_also_in_jumbo_frames() {
    let Some(bed) = Bed::new("vlan") else { return };
    bed.hosts.set_mtu(9000).expect("a veth takes it");
    bed.write("people.csv", "name,addresses,vlan\nann,,10\nbob,,20\n");
    let text = bed.text().replace("[download]", "[subscribers]\nfile = \"people.csv\"\n[download]");
    let config = bed.write("gateway.toml", &text.replace("faba", "hfaba"));
    let gateway = bed.start(&config);
    let open = || AfPacket::open(bed::HOST.name).expect("root may");
    let (mut outside, mut inside) = (bed.hosts.source.at(open), bed.hosts.sink.at(open));
    for (vlan, count) in [(10, 30), (20, 20), (30, 10)] {
        let frame = tagged(vlan, 8900);
        for number in 0..count {
            assert!(outside.transmit(&frame), "VLAN {vlan}, {number}");
            let (mut has_come, until) = (false, Instant::now() + Duration::from_secs(10));
            while !has_come && Instant::now() < until {
                inside.receive(&mut |came, _| has_come |= came == frame).expect("it is there");
            }
            assert!(has_come, "VLAN {vlan}, {number}: as it was sent, its tag included");
        }
    }
    thread::sleep(Duration::from_millis(1200)); // classes are copied twice a second
    let path = config.to_str().expect("UTF-8");
    let status = bed.call(&["status", path, "--classes", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_slice(&status.stdout).expect("JSON");
    let classes = shown["ways"][0]["classes"].as_array().expect("a list");
    // As counted on the link: tag and header of 18 bytes, and 24 of Ethernet. Neighbours of the
    // hosts may look for each other.
    for (name, count, more) in [("ann", 30, 0), ("bob", 20, 0), ("unclaimed", 10, 4000)] {
        let class = classes.iter().find(|class| class["class"] == name).expect("it is shown");
        let (bytes, sent) = (class["bytes_out"].as_u64().expect("a number"), count * (8900 + 18 + 24));
        assert!((sent..=sent + more).contains(&bytes), "{name}: {bytes} bytes, not {sent}");
    }
    assert_eq!(shown["ports"][1]["truncated"], 0);
    let (exit, said) = gateway.end();
    assert!(exit.success() && !said.contains("MISSING"), "{exit} {said}");
}
