//! A gateway that is killed or stopped.

use super::bed::{Bed, INSIDE};
use rustix::process::Signal;
use std::thread;
use std::time::Duration;

#[test]
fn a_killed_gateway_fails_closed_or_open_and_its_successor_removes_the_bridge() {
    let Some(bed) = Bed::new("dead") else { return };
    let links = bed.links();
    let hosts = bed.hosts();

    let gateway = bed.start(&bed.config("[safety]\non_failure = \"closed\"\n"));
    hosts.wait_until_it_passes();
    gateway.signal(Signal::KILL);
    thread::sleep(Duration::from_millis(300));
    hosts.drain();
    assert!(!(0..10).any(|number| hosts.passes(number)), "closed");
    drop(gateway);

    // The names and the socket left by the killed gateway are no obstacle.
    let open = bed.config("[safety]\non_failure = \"open\"\nwatchdog = \"2 s\"\n");
    let gateway = bed.start(&open);
    hosts.wait_until_it_passes();
    hosts.drain();
    gateway.signal(Signal::KILL);
    let took = hosts.wait_until_it_passes();
    println!("killed: the first packet passed after {} ms", took.as_millis());
    assert!(took < Duration::from_secs(2), "{took:?}");
    let line = gateway.wait_for("are bridged by fwbr");
    assert!(bed.is_bridged(), "{line}");

    let successor = bed.start(&open);
    assert!(!bed.is_bridged(), "its successor forwards");
    hosts.drain();
    hosts.wait_until_it_passes();
    let (exit, said) = successor.end();
    assert!(exit.success(), "{said}");
    assert_eq!(bed.links(), links);
    thread::sleep(Duration::from_millis(100));
    hosts.drain();
    assert!(!(0..10).any(|number| hosts.passes(number)), "ended on purpose: nothing passes");
}

#[test]
fn a_bridging_guard_takes_back_a_recreated_interface() {
    let Some(bed) = Bed::new("remade") else { return };
    let config = bed.config("[safety]\non_failure = \"open\"\nwatchdog = \"1 s\"\n");
    let gateway = bed.start(&config);
    bed.hosts().wait_until_it_passes();
    gateway.signal(Signal::KILL);
    gateway.wait_for("are bridged by fwbr");
    bed.remove_inside();
    gateway.wait_for("g1 is gone");
    bed.make_inside();
    gateway.wait_for("g1 was made again");
    let line = gateway.wait_for("are bridged by fwbr");
    assert!(bed.is_bridged(), "{line}");
    let hosts = bed.hosts();
    hosts.wait_until_it_passes();
    // The next gateway finds the bridge by the index of the recreated interface.
    let successor = bed.start(&config);
    assert!(!bed.is_bridged(), "its successor forwards");
    assert!(successor.end().0.success());
}

#[test]
fn a_stopped_gateway_is_bridged_around_until_it_resumes_without_duplicates() {
    let Some(bed) = Bed::new("still") else { return };
    let links = bed.links();
    let hosts = bed.hosts();
    let config = bed.config("[safety]\non_failure = \"open\"\nwatchdog = \"1 s\"\n");
    let gateway = bed.start(&config);
    hosts.wait_until_it_passes();
    hosts.drain();
    gateway.signal(Signal::STOP);
    while !gateway.status("State").starts_with('T') {
        thread::sleep(Duration::from_millis(1));
    }
    hosts.drain();
    let took = hosts.wait_until_it_passes();
    println!("stopped: the first packet passed after {} ms, the watchdog waits 1000 ms", took.as_millis());
    assert!(took >= Duration::from_millis(700) && took < Duration::from_secs(4), "{took:?}");
    // These datagrams pass through the bridge, and also wait at the stopped gateway.
    let mut seen = std::collections::BTreeMap::<u32, u32>::new();
    let mut note = |bytes: &[u8]| {
        *seen.entry(u32::from_be_bytes(bytes[..4].try_into().expect("four"))).or_default() += 1
    };
    let mut bytes = [0; 64];
    for number in 1_000_000..1_000_200_u32 {
        let _ = hosts.outside.send_to(&number.to_be_bytes(), (INSIDE, 7000));
        if hosts.inside.recv(&mut bytes).is_ok() {
            note(&bytes);
        }
    }
    gateway.signal(Signal::CONT);
    gateway.wait_for("forwards again");
    hosts.wait_until_it_passes();
    while hosts.inside.recv(&mut bytes).is_ok() {
        note(&bytes);
    }
    assert!(seen.len() >= 200, "{}", seen.len());
    assert!(seen.values().all(|count| *count == 1), "came twice: {seen:?}");
    assert_eq!(bed.links(), links, "the bridge is gone");
    gateway.wait_for("its guard bridged the link");
    let status = bed.status(&config);
    assert_eq!(status["changes"]["failed-open"], 1, "{}", status["last_changes"]);
    let (exit, said) = gateway.end();
    assert!(exit.success(), "{said}");
    assert_eq!(bed.links(), links);
}
