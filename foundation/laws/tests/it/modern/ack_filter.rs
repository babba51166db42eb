//! CAKE's acknowledgement filter and ingress mode, and a device behind a discipline.

use super::site;
use crate::built;
use crate::fate::gauge;
use fairwire_core::{Acknowledgement, Backlog, Cause, Control, Discipline, Ecn, Packet, Signals, Time};
use fairwire_laws::compose::device::Device;

#[derive(Default)]
struct Wire {
    acks: Vec<Option<Acknowledgement>>,
    dropped: Vec<(u32, Cause)>,
}

impl Signals for Wire {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.dropped.push((packet.frame, cause));
    }
    fn marked(&mut self, _: &Packet, _: Cause) {}
    fn acknowledges(&self, frame: u32) -> Option<Acknowledgement> {
        self.acks[frame as usize]
    }
}

const NO_FRAME: [u32; 0] = [];

fn plain(number: u32) -> Option<Acknowledgement> {
    Some(Acknowledgement { number, marks: 0, echoes_mark: false, is_plain: true })
}

fn dropped(filter: &str, acks: &[Option<Acknowledgement>]) -> Vec<u32> {
    let mut cake = built("cake-like", &format!("ack_filter = \"{filter}\""), &site(1000));
    assert_eq!(cake.reads_acknowledgements(), filter != "off");
    let mut wire = Wire { acks: acks.to_vec(), ..Wire::default() };
    for frame in 0..acks.len() as u32 {
        cake.enqueue(Packet::new(frame, 84, 7.into(), Time::ZERO), Time::ZERO, &mut wire);
    }
    assert!(wire.dropped.iter().all(|(_, cause)| *cause == Cause::Superseded));
    wire.dropped.into_iter().map(|(frame, _)| frame).collect()
}

#[test]
fn superseded_acknowledgements_are_dropped() {
    let rising = [plain(10), plain(12), plain(14), plain(16)];
    assert_eq!(dropped("off", &rising), NO_FRAME);
    assert_eq!(dropped("on", &rising), [0, 1], "one is left in front of the new one");
    assert_eq!(dropped("aggressive", &rising), [0, 1, 2]);
    let wrapping = [plain(u32::MAX - 1), plain(0), plain(2)];
    assert_eq!(dropped("aggressive", &wrapping), [0, 1]);
    assert_eq!(dropped("aggressive", &[plain(14), plain(12)]), NO_FRAME, "an older one that came late");
    assert_eq!(dropped("aggressive", &[plain(10), None, plain(12)]), NO_FRAME, "data is in between");
}

#[test]
fn acknowledgements_with_news_and_duplicates_are_kept() {
    let news = |number| plain(number).map(|ack| Acknowledgement { is_plain: false, ..ack });
    let echo = |number| news(number).map(|ack| Acknowledgement { echoes_mark: true, ..ack });
    let marks = |number, marks| plain(number).map(|ack| Acknowledgement { marks, ..ack });
    for filter in ["on", "aggressive"] {
        assert_eq!(dropped(filter, &[news(10), news(12), news(14), plain(16)]), NO_FRAME, "SACK blocks");
        assert_eq!(dropped(filter, &[echo(10), echo(12), echo(14), plain(16)]), NO_FRAME, "echoes");
        assert_eq!(dropped(filter, &[plain(10), echo(12), plain(14)]), NO_FRAME, "what comes before one");
        assert_eq!(dropped(filter, &[marks(10, 1), marks(12, 2), marks(14, 3)]), NO_FRAME, "other marks");
        assert_eq!(dropped(filter, &[plain(10), plain(10), plain(10), plain(10)]), NO_FRAME, "duplicates");
    }
    assert_eq!(dropped("on", &[plain(10), plain(10), plain(12), plain(14), plain(16)]), [2]);
}

#[test]
fn acknowledgements_arriving_during_their_turn_wait_for_a_data_packet() {
    // Both flows send equally many bytes. So without a filter, 18 acknowledgements of 84 bytes are
    // sent per data packet of 1500 bytes.
    for (filter, acks_per_packet) in [("off", 17..=19), ("on", 1..=2), ("aggressive", 1..=1)] {
        let mut cake = built("cake-like", &format!("ack_filter = \"{filter}\""), &site(1000));
        let mut wire = Wire::default();
        let (mut now, mut next_ack, mut sent) = (0, 0, [0u32; 2]);
        while now < 2_000_000_000 {
            while next_ack <= now {
                for (flow, len, ack) in [(7, 84, plain(wire.acks.len() as u32)), (8, 1500, None)] {
                    let (frame, at) = (wire.acks.len() as u32, Time::from_ns(next_ack));
                    wire.acks.push(ack);
                    cake.enqueue(Packet::new(frame, len, u64::into(flow), at), at, &mut wire);
                }
                next_ack += 500_000;
            }
            let packet = cake.dequeue(Time::from_ns(now), &mut wire).expect("data waits");
            sent[usize::from(packet.len == 1500)] += 1;
            now += u64::from(packet.len) * 8_000;
        }
        let per_packet = (f64::from(sent[0]) / f64::from(sent[1])).round() as u32;
        assert!(acks_per_packet.contains(&per_packet), "{filter}: {sent:?}");
    }
}

#[test]
fn in_ingress_mode_drops_are_charged_and_two_thirds_are_still_sent() {
    // Under overload, CAKE sends at two thirds of the link's rate: 1667 of 2500 packets. At a gap
    // of 0.41 ms, every packet is sent.
    for (gap, expected) in [(27, 1667), (10, 1667), (41, 2439)] {
        let mut cake = built("cake-like", "ingress = true\ntarget = '1 s'\ninterval = '10 s'", &site(20));
        let mut wire = Wire::default();
        let mut sent = 0;
        for tick in 0..100_000 {
            let now = Time::from_ns(tick * 10_000);
            if tick % gap == 0 {
                cake.enqueue(Packet::new(0, 500, 1.into(), now), now, &mut wire);
            }
            sent += u32::from(cake.dequeue(now, &mut wire).is_some());
        }
        // The tolerance allows for the start, when the buffer fills.
        assert!(sent.abs_diff(expected) <= 40, "each {gap}0 us: {sent}, not {expected}");
    }
}

#[test]
fn in_ingress_mode_an_overload_after_a_free_line_gets_two_thirds_at_once() {
    let mut cake = built("cake-like", "ingress = true\ntarget = '1 s'\ninterval = '10 s'", &site(20));
    let mut wire = Wire::default();
    let mut sent = 0;
    for tick in 0..1_100_000u64 {
        let (now, is_over) = (Time::from_ns(tick * 10_000), tick >= 1_000_000);
        // A packet takes 0.4 ms. One arrives each 0.42 ms for 10 s, and then each 0.1 ms.
        if tick % if is_over { 10 } else { 42 } == 0 {
            cake.enqueue(Packet::new(0, 500, 1.into(), now), now, &mut wire);
        }
        sent += u32::from(cake.dequeue(now, &mut wire).is_some() && is_over);
    }
    assert!(sent.abs_diff(1667) <= 40, "{sent}");
}

#[test]
fn a_device_takes_packets_while_it_has_room_and_keeps_their_order() {
    let mut device = Device::new(built("tail-drop", "", &site(5)), 3);
    let mut wire = Wire { acks: vec![None; 20], ..Wire::default() };
    let offer = |device: &mut Device<_>, frames: std::ops::Range<u32>, wire: &mut Wire| {
        for frame in frames {
            let packet = Packet { ecn: Ecn::Ect0, ..Packet::new(frame, 100, 1.into(), Time::ZERO) };
            device.enqueue(packet, Time::ZERO, wire);
        }
    };
    offer(&mut device, 0..10, &mut wire);
    assert_eq!(
        wire.dropped,
        [(8, Cause::Overflow), (9, Cause::Overflow)],
        "three in the device, five in front"
    );
    assert_eq!(
        (device.backlog(), gauge(&device, "device_packets")),
        (Backlog { packets: 8, bytes: 800 }, 3.0)
    );
    assert_eq!(device.dequeue(Time::ZERO, &mut wire).map(|packet| packet.frame), Some(0));
    offer(&mut device, 10..11, &mut wire);
    assert_eq!(wire.dropped.len(), 2, "the discipline had handed one on");
    let mut drained = Vec::new();
    device.drain(&mut |packet| drained.push(packet.frame));
    assert_eq!(drained, [1, 2, 3, 4, 5, 6, 7, 10]);
    assert_eq!((device.backlog(), device.ready_at()), (Backlog::default(), None));
    let shaped = || built("shaper", "rate = '1 Mbit/s'\nburst = '0 B'", &site(5));
    let mut device = Device::new(shaped(), 3);
    offer(&mut device, 0..3, &mut wire);
    assert_eq!(gauge(&device, "device_packets"), 1.0, "the others are not paid");
    assert!(device.dequeue(Time::ZERO, &mut wire).is_some());
    assert!(device.dequeue(Time::ZERO, &mut wire).is_none());
    assert_eq!(device.ready_at(), Some(Time::from_ns(800_000)));
    assert!(device.retune(&Device::new(shaped(), 3), Time::ZERO));
    assert!(!device.retune(&Device::new(shaped(), 4), Time::ZERO), "of another size");
}
