//! The library makes the same decisions as the Rust discipline that it wraps.
#![allow(unsafe_code, reason = "the functions are called as C calls them")]

use core::ptr::null_mut;
use fairwire_c::border::*;
use fairwire_c::types::*;
use fairwire_core::units::Amount;
use fairwire_core::{Cause, Discipline, Ecn, Packet, Rate, Seed, Time};
use fairwire_laws::{Site, named};
use std::ffi::CString;

/// The number of a packet that left, and the cause if it was dropped.
type Left = (u64, Option<u32>);

const STEPS: u64 = 5000;

fn arrival(step: u64) -> (u64, u32, u32) {
    (step * step % 11, 100 + (step * 37 % 1400) as u32, (step % 3) as u32)
}

fn site() -> Site<'static> {
    let rate = Rate::from_bps(10_000_000).expect("not zero");
    Site { rate, buffer: Amount::Packets(40), packet_bytes: 700, seed: Seed(3), stream: "fairwire" }
}

fn from_rust(mut queue: Box<dyn Discipline>) -> Vec<Left> {
    let mut left = Vec::new();
    for step in 0..STEPS {
        let now = Time::from_ns(step * 500_000);
        let (flow, len, class) = arrival(step);
        let mut dropped: Vec<(Packet, Cause)> = Vec::new();
        let packet = Packet { class, ecn: Ecn::Ect0, ..Packet::new(step as u32, len, flow.into(), now) };
        queue.enqueue(packet, now, &mut dropped);
        let sent = if step % 9 < 7 { queue.dequeue(now, &mut dropped) } else { None };
        left.extend(dropped.iter().map(|(packet, cause)| (packet.frame.into(), Some(*cause as u32))));
        left.extend(sent.map(|packet| (packet.frame.into(), None)));
    }
    left
}

fn from_c(name: &str, text: &str) -> Vec<Left> {
    let (name, text) = (CString::new(name).expect("no zero"), CString::new(text).expect("no zero"));
    let (rate_bps, buffer) = (10_000_000, c"40 packets".as_ptr());
    let site = fw_site { rate_bps, buffer, seed: 3, packet_bytes: 700, reserved: 0 };
    let mut queue = null_mut();
    let mut list = [fw_event::default(); 64];
    let mut events = fw_events { list: list.as_mut_ptr(), room: 64, count: 0, kept: 0 };
    let mut left = Vec::new();
    // SAFETY: all pointers are to values here, the texts end with a zero, and the queue is freed once.
    unsafe {
        let code =
            fw_build(FW_ABI_VERSION, name.as_ptr(), text.as_ptr(), &site, &raw mut queue, null_mut(), 0);
        assert_eq!(code, 0, "{name:?}");
        for step in 0..STEPS {
            let now = step * 500_000;
            let (flow, len, class_id) = arrival(step);
            let packet =
                fw_packet { cookie: step, flow, len: len.into(), class_id, ecn: 2, ..fw_packet::default() };
            assert_eq!(fw_enqueue(queue, &packet, now, &raw mut events), 1);
            let drops = |events: &fw_events| {
                let listed = core::slice::from_raw_parts(events.list, events.count as usize);
                let drops = listed.iter().filter(|event| event.kind == FW_DROP);
                drops.map(|event| (event.packet.cookie, Some(event.cause))).collect::<Vec<_>>()
            };
            left.extend(drops(&events));
            let mut out = fw_packet::default();
            if step % 9 < 7 {
                let count = fw_dequeue(queue, now, &raw mut out, &raw mut events);
                left.extend(drops(&events));
                left.extend((count == 1).then_some((out.cookie, None)));
            }
        }
        fw_free(queue);
    }
    left
}

#[test]
fn each_law_decides_the_same_from_c_as_from_rust() {
    let laws = named::ALL.iter().map(|law| (law.name, ""));
    for (name, text) in laws.chain([("drr+faba", "ecn = 'mark'"), ("wf2q++red", "gentle = false")]) {
        let queue = named::read(name, text).expect("a law").build(&site()).expect("it is right");
        let (rust, c) = (from_rust(queue), from_c(name, text));
        assert!(rust.iter().any(|(_, cause)| cause.is_some()), "{name} drops nothing here");
        assert!(rust == c, "{name}");
    }
}

#[cfg(feature = "composed")]
#[test]
fn a_composed_discipline_decides_the_same_from_c_as_in_a_scenario() {
    for (name, text) in [
        ("queue", "scheduler = 'drr'\n[dropper.faba]\nlambda2 = 0.2"),
        ("prio", "band = [{ of = [1] }, { discipline = { shaper = { rate = '5 Mbit/s' } } }]"),
        ("shaper", "rate = '6 Mbit/s'\ndiscipline = 'fq-codel'"),
        ("conditioner", "marker = { token-bucket = { rate = '2 Mbit/s' } }"),
        ("classful", "class = [{ id = 1, rate = '3 Mbit/s' }, { id = 2, weight = 2.0, discipline = 'red' }]"),
    ] {
        let parameters = toml::from_str(&format!("[{name}]\n{}", text.replace("[dropper", "[queue.dropper")));
        let queue = fairwire_catalogue::build(name, &parameters.expect(name), &site()).expect(name);
        let (rust, c) = (from_rust(queue), from_c(name, text));
        assert!(rust.iter().any(|(_, cause)| cause.is_some()), "{name} drops nothing here");
        assert!(rust == c, "{name}");
    }
}
