//! The shaper: its rate, its bursts, and `ready_at`.

use super::{DropFront, assert_conserves, discipline, drop_front, packet, rate};
use crate::fate::{Events, gauge};
use fairwire_core::{
    Cause, Discipline, Duration, Ignore, Limit, Queue, Rate, Seed, Time, Transmitter, scheduler::Fcfs,
};
use fairwire_laws::compose::shaper::Shaper;
use fairwire_testing::{Shape, operations};
use proptest::prelude::*;

const BURST: u64 = 4000;

fn shaper(rate: Rate) -> Shaper<Queue<Fcfs, DropFront>> {
    let queue = Queue::new(Limit::packets(1000), Fcfs, DropFront);
    Shaper::new(queue, Transmitter::with_catch_up(rate, rate.time_to_send(BURST)))
}

/// Time in ns and length of each packet sent.
fn sent(rate: Rate, seed: u64) -> Vec<(u64, u64)> {
    let (mut shaper, mut rng) = (shaper(rate), Seed(seed).stream("polls"));
    let (mut now, mut sent) = (0, Vec::new());
    for frame in 0..600 {
        let longest = if rng.chance(0.05) { 20_000_000 } else { 900_000 };
        now += u64::from(rng.below(longest));
        let at = Time::from_ns(now);
        if rng.chance(0.6) {
            shaper.enqueue(packet(frame, 40 + rng.below(1461), 0, at), at, &mut Ignore);
        }
        while let Some(packet) = shaper.dequeue(at, &mut Ignore) {
            sent.push((now, u64::from(packet.len)));
        }
    }
    sent
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn no_interval_exceeds_the_rate_by_more_than_a_burst_and_a_packet(seed in any::<u64>(), kbps in 500u64..9000) {
        let rate = Rate::from_bps(kbps * 1000 + 7).expect("not zero");
        let sent = sent(rate, seed);
        for (i, (from, _)) in sent.iter().enumerate() {
            let mut before_last = 0;
            for (to, len) in &sent[i..] {
                let came = u128::from(to - from) * u128::from(rate.bps()) / 8_000_000_000;
                // The tokens cover all packets before the last. One byte allows for rounding.
                prop_assert!(before_last <= u128::from(BURST) + came + 1, "{before_last} in {} ns", to - from);
                before_last += u128::from(*len);
            }
        }
    }

    #[test]
    fn packets_are_conserved_with_every_inner_discipline(sequence in operations(Shape::default())) {
        for inside in ["tail-drop", "red", "faba"] {
            let typed = format!("[shaper]\nrate = '2 Mbit/s'\ndiscipline = '{inside}'");
            assert_conserves(discipline("shaper", &typed), 3, &sequence);
        }
        let bucket = Transmitter::with_catch_up(rate("3 Mbit/s"), Duration::from_ms(2));
        assert_conserves(Shaper::new(drop_front(6000), bucket), 3, &sequence);
    }
}

#[test]
fn polled_when_it_is_ready_it_keeps_its_rate_to_the_nanosecond() {
    let mut shaper = shaper(Rate::from_bps(3_333_333).expect("not zero"));
    let start = Time::from_ns(10_000_000_000);
    for frame in 0..1000 {
        shaper.enqueue(packet(frame, 1000, 0, start), start, &mut Ignore);
    }
    let (mut now, mut bytes) = (start, 0);
    while let Some(ready) = shaper.ready_at() {
        if ready > now {
            let early = Time::from_ns(ready.ns() - 1);
            assert!(shaper.dequeue(early, &mut Ignore).is_none(), "a nanosecond early");
            now = ready;
            // A packet leaves when tokens cover all packets before it.
            let due = (bytes - BURST) * 8_000_000_000 / 3_333_333;
            // One ns allows for rounding.
            assert!(
                now.since(start).ns().abs_diff(due) <= 1,
                "{bytes} bytes after {} ns",
                now.since(start).ns()
            );
        }
        bytes += u64::from(shaper.dequeue(now, &mut Ignore).expect("it said so").len);
    }
    assert_eq!(bytes, 1_000_000);
}

#[test]
fn after_a_pause_one_burst_and_the_packet_exceeding_it_leave_at_once() {
    let mut shaper = shaper(rate("1 Mbit/s"));
    let now = Time::from_ns(1_000_000_000);
    for frame in 0..20 {
        shaper.enqueue(packet(frame, 1500, 0, now), now, &mut Ignore);
    }
    let went = core::iter::from_fn(|| shaper.dequeue(now, &mut Ignore)).count();
    assert_eq!(went, 3, "4000 bytes are paid after the third packet of 1500");
    // The 500 bytes beyond the burst take 4 ms at 1 Mbit/s.
    assert_eq!(shaper.ready_at(), Some(Time::from_ns(1_004_000_000)));
    assert_eq!(shaper.backlog().packets, 17);
}

#[test]
fn a_shaper_faster_than_its_link_decides_as_its_inner_discipline() {
    let run = |mut discipline: Box<dyn Discipline>| {
        let mut counts = Events::default();
        let mut sent = Vec::new();
        let mut rng = Seed(4).stream("traffic");
        for frame in 0..5000u32 {
            let now = Time::from_ns(u64::from(frame) * 533_333);
            discipline.enqueue(packet(frame, 1000, rng.below(9), now), now, &mut counts);
            if frame % 3 != 0 || frame % 1000 > 900 {
                sent.extend(discipline.dequeue(now, &mut counts).map(|packet| packet.frame));
            }
        }
        (sent, counts.dropped())
    };
    let inside = run(discipline("faba", ""));
    assert_eq!(run(discipline("shaper", "[shaper]\nrate = '1 Tbit/s'\ndiscipline = 'faba'")), inside);
    assert!(inside.1.iter().any(|(_, cause)| *cause != Cause::Overflow), "the law was at work");
}

#[test]
fn an_empty_discipline_learns_that_it_idles_before_its_debt_is_paid() {
    let typed = "[shaper]
rate = '100 kbit/s'
burst = '0 B'
discipline = { red = { weight = 0.5 } }";
    let mut shaper = discipline("shaper", typed);
    let at = |ms: u64| Time::from_ns(ms * 1_000_000);
    for frame in 0..2 {
        shaper.enqueue(packet(frame, 1000, 0, at(0)), at(0), &mut Ignore);
    }
    assert_eq!(gauge(&*shaper, "average"), 0.5, "half of the one that waited");
    let sent = [0, 79, 80, 81].map(|ms| shaper.dequeue(at(ms), &mut Ignore).is_some());
    assert_eq!(sent, [true, false, true, false]);
    // The link was idle from 81 to 321 ms, the time of three packets. So the average is halved
    // three times, and once more for the new packet.
    shaper.enqueue(packet(2, 1000, 0, at(321)), at(321), &mut Ignore);
    assert_eq!(gauge(&*shaper, "average"), 0.5 * 0.5f64.powi(4));
}

#[test]
fn a_buffer_in_time_uses_the_rate_of_a_slower_link() {
    let mut shaper = discipline("shaper", "[shaper]\nrate = '280 Mbit/s'\nbuffer = '100 ms'");
    (0..1000).for_each(|frame| shaper.enqueue(packet(frame, 1000, 0, Time::ZERO), Time::ZERO, &mut Ignore));
    assert_eq!(shaper.backlog().bytes, 125_000, "100 ms at 10 Mbit/s");
}
