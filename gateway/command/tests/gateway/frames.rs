//! Frames with tags, including long ones.

use super::bed::Bed;
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::port::Port;
use fairwire_service::config::table;
use fairwire_testbed::bed;
use std::thread;
use std::time::{Duration, Instant};

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
fn subscribers_are_recognized_by_vlan_and_tags_pass_also_in_jumbo_frames() {
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
    // Header and tag have 18 bytes, and Ethernet adds 24. `unclaimed` may also have frames that
    // resolve addresses.
    for (name, count, more) in [("ann", 30, 0), ("bob", 20, 0), ("unclaimed", 10, 4000)] {
        let class = classes.iter().find(|class| class["class"] == name).expect("it is shown");
        let (bytes, sent) = (class["bytes_out"].as_u64().expect("a number"), count * (8900 + 18 + 24));
        assert!((sent..=sent + more).contains(&bytes), "{name}: {bytes} bytes, not {sent}");
    }
    assert_eq!(shown["ports"][1]["truncated"], 0);
    let (exit, said) = gateway.end();
    assert!(exit.success() && !said.contains("MISSING"), "{exit} {said}");
}

fn comes_through(outside: &mut AfPacket, inside: &mut AfPacket, frame: &[u8], patience: Duration) -> bool {
    let until = Instant::now() + patience;
    let mut has_come = false;
    while !has_come && Instant::now() < until {
        assert!(outside.transmit(frame));
        thread::sleep(Duration::from_millis(10));
        inside.receive(&mut |came, _| has_come |= came == frame).expect("it is there");
    }
    has_come
}

#[test]
fn a_subscriber_is_added_suspended_resumed_and_removed_while_the_gateway_runs() {
    let Some(bed) = Bed::new("roster") else { return };
    let people = bed.write("people.csv", "# ours\nname,vlan\nann,10\n");
    let text = bed.text().replace("[download]", "[subscribers]\nfile = \"people.csv\"\n[download]");
    let config = bed.write("gateway.toml", &text.replace("faba", "hfaba"));
    let path = config.to_str().expect("UTF-8");
    let gateway = bed.start(&config);
    let open = || AfPacket::open(bed::HOST.name).expect("root may");
    let (mut outside, mut inside) = (bed.hosts.source.at(open), bed.hosts.sink.at(open));
    let [ann, bob] = [10, 20].map(|vlan| tagged(vlan, 900));
    let change = |words: &[&str]| {
        let output = bed.call(&[&["subscriber"], words].concat());
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code(), said)
    };
    let (long, short) = (Duration::from_secs(10), Duration::from_millis(300));
    assert!(comes_through(&mut outside, &mut inside, &ann, long));

    let (code, said) = change(&["suspend", path, "ann"]);
    assert!(code == Some(0) && said.contains("suspended: ann"), "{said}");
    assert!(said.contains("nothing was forwarded for 0.000 ms"), "its discipline stays: {said}");
    thread::sleep(Duration::from_millis(50)); // frames in flight have arrived
    inside.receive(&mut |_, _| ()).expect("it is there");
    assert!(!comes_through(&mut outside, &mut inside, &ann, short));
    assert!(comes_through(&mut outside, &mut inside, &bob, long), "others have service");

    let (code, said) = change(&["set", path, "bob", "vlan=20", "weight=2"]);
    assert!(code == Some(0) && said.contains("new: bob"), "{said}");
    let (code, said) = change(&["set", path, "eve", "vlan=20"]);
    assert!(code == Some(2) && said.contains("bob") && said.contains("people.csv:5"), "{said}");
    let (code, said) = change(&["suspend", path, "nan"]);
    assert!(code == Some(2) && said.contains("`nan`") && said.contains("ann"), "{said}");
    let file = std::fs::read_to_string(&people).expect("it is there");
    assert_eq!(file, "# ours\nname,vlan,suspended,weight\nann,10,yes,\nbob,20,,2\n");

    let (exit, said) = gateway.end();
    assert!(exit.success() && !said.contains("MISSING"), "{exit} {said}");
    let gateway = bed.start(&config);
    assert!(comes_through(&mut outside, &mut inside, &bob, long));
    assert!(!comes_through(&mut outside, &mut inside, &ann, short), "it is kept over a restart");
    assert_eq!(change(&["resume", path, "ann"]).0, Some(0));
    assert!(comes_through(&mut outside, &mut inside, &ann, long));
    let (code, said) = change(&["set", path, "ann", "vlan=11"]);
    assert!(code == Some(0) && said.contains("nothing was forwarded for 0.000 ms"), "{said}");
    assert!(comes_through(&mut outside, &mut inside, &tagged(11, 900), long));
    assert!(change(&["remove", path, "bob"]).1.contains("gone: bob"));
    let usage = bed.call(&["usage", path]);
    let usage = String::from_utf8_lossy(&usage.stdout).into_owned();
    assert!(usage.starts_with("read_s,started_s,gateway,way,class,parent,bytes,dropped\n"), "{usage}");
    assert!(usage.contains(",download,ann,,") && usage.contains(",upload,ann,,"), "{usage}");
    assert_eq!(bed.call(&["usage", path, "--out", "/nowhere/at/all.csv"]).status.code(), Some(2));
    let lost = bed.call(&["status", path, "--flows", "0", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_slice(&lost.stdout).expect("JSON");
    assert!(shown["ways"][0]["totals"]["lost"]["suspended"].as_u64() > Some(0), "{shown}");
    let (exit, said) = gateway.end();
    assert!(exit.success() && !said.contains("MISSING"), "{exit} {said}");

    let (code, said) = change(&["set", path, "max", "vlan=40"]);
    assert!(code == Some(0) && said.contains("no gateway runs"), "{said}");
}

#[test]
fn addresses_follow_the_leases_of_a_server() {
    let Some(bed) = Bed::new("leases") else { return };
    let people = bed.write("people.csv", "name,mac\nann,02:00:00:00:77:09\n");
    let leases = bed.write("dnsmasq.leases", "");
    let text = bed.text().replace("[download]", "[subscribers]\nfile = \"people.csv\"\n[download]");
    let config = bed.write("gateway.toml", &text.replace("faba", "hfaba"));
    let path = config.to_str().expect("UTF-8");
    let gateway = bed.start(&config);
    let file = leases.to_str().expect("UTF-8");
    let follow = |file: &str| {
        let output = bed.call(&["follow", path, "--leases", file, "--once"]);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let there = || table(&people).and_then(|table| table.merged()).expect("it is there").0;
    assert_eq!(follow(file).0, Some(0));
    assert_eq!(there(), "name,mac\nann,02:00:00:00:77:09\n", "nothing to do");
    std::fs::write(&leases, "0 02:00:00:00:77:09 10.10.0.2 ann *\n0 02:00:00:00:77:08 10.10.0.3 * *\n")
        .expect("it is ours");
    let (code, said) = follow(file);
    assert!(code == Some(0) && said.contains("ann: 10.10.0.2"), "{said}");
    assert_eq!(there(), "name,mac,leased\nann,02:00:00:00:77:09,10.10.0.2\n");
    std::fs::write(&leases, "0 02:00:00:00:77:09 10.10").expect("it is ours");
    let (code, said) = follow(file);
    assert!(code == Some(2) && said.contains("dnsmasq.leases") && said.contains("line 1"), "{said}");
    let (code, said) = follow("none.leases");
    assert!(code == Some(2) && said.contains("none.leases"), "{said}");
    assert!(there().contains("10.10.0.2"), "what is wrong changes nothing");
    let status = bed.call(&["status", path, "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_slice(&status.stdout).expect("JSON");
    assert_eq!(shown["reloads"], 1, "{shown}");
    let (exit, said) = gateway.end();
    assert!(exit.success(), "{said}");
}

#[test]
fn a_plan_has_its_burst_first_and_then_its_ceiling() {
    let Some(bed) = Bed::new("burst") else { return };
    let address = super::bed::INSIDE;
    bed.write(
        "people.csv",
        &format!("name,addresses,download_ceiling,download_burst\nann,{address},1 Mbit/s,8 Mbit/s for 1 s\n"),
    );
    let text = bed.text().replace("[download]", "[subscribers]\nfile = \"people.csv\"\n[download]");
    let config = bed.write("gateway.toml", &text.replace("discipline = \"faba\"\n", ""));
    let gateway = bed.start(&config);
    let hosts = bed.hosts();
    hosts.wait_until_it_passes();
    // In the first second, the burst of 8 Mbit leaves, then 1 Mbit/s.
    let (start, mut sent) = (Instant::now(), 0_u64);
    while start.elapsed() < Duration::from_secs(4) {
        while sent * 1000 < start.elapsed().as_micros() as u64 * 2 {
            let _ = hosts.outside.send_to(&[0; 958], (address, 7000)); // 1024 B on the link
            sent += 1;
        }
        thread::sleep(Duration::from_millis(1));
    }
    let took = start.elapsed().as_secs_f64();
    let left = bed.status(&config)["ways"][0]["totals"]["bytes_out"].as_f64().expect("a number");
    let expected = 8e6 / 8.0 + (took - 1.0) * 1e6 / 8.0;
    assert!((left / expected - 1.0).abs() < 0.05, "{left} B left in {took} s, not {expected}");
    let (exit, said) = gateway.end();
    assert!(exit.success(), "{said}");
}
