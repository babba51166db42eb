//! The queues of FQ-PIE and CAKE, and DRR++ with hosts.

use super::site;
use crate::built;
use crate::fate::Events;
use fairwire_core::rng::mix;
use fairwire_core::{Cause, Discipline, Ecn, Ignore, Packet, Seed, Time};
use fairwire_laws::compose::cake_like::{self, CakeLike};
use fairwire_laws::compose::fq_pie;
use fairwire_testing::{Driver, Operation, Shape, operations};
use proptest::prelude::*;

fn cake(packets: u32) -> CakeLike {
    let config = cake_like::Spec::default().check(&site(packets)).expect("the defaults are allowed");
    config.queue(Seed(1).stream("cake"))
}

/// Bytes sent by each host on a link of one packet per ms. A flow is (host, number, packets per ms,
/// length).
fn shares(discipline: &mut dyn Discipline, flows: &[(u32, u64, u64, u32)], ms: u64) -> [u64; 4] {
    let mut sent = [0; 4];
    for tick in 0..ms {
        let now = Time::from_ns(tick * 1_000_000);
        for &(host, flow, packets, len) in flows {
            for _ in 0..packets {
                let packet = Packet { class: host, ..Packet::new(0, len, mix(flow).into(), now) };
                discipline.enqueue(packet, now, &mut Ignore);
            }
        }
        let packet = discipline.dequeue(now, &mut Ignore).expect("overloaded");
        if tick > ms / 10 {
            sent[packet.class as usize] += u64::from(packet.len);
        }
    }
    sent
}

fn assert_equal_shares(sent: &[u64], tolerance: f64) {
    let mean = sent.iter().sum::<u64>() as f64 / sent.len() as f64;
    for &bytes in sent {
        assert!((bytes as f64 / mean - 1.0).abs() < tolerance, "{sent:?}");
    }
}

#[test]
fn a_host_with_one_flow_and_a_host_with_ten_share_equally() {
    let mut flows = vec![(0, 100, 1, 1000)];
    flows.extend((0..10).map(|flow| (1, flow, 1, 1000)));
    // After 9000 packets, the hosts' shares differ by about a quantum.
    assert_equal_shares(&shares(&mut cake(200), &flows, 10_000)[..2], 0.02);
    let mut fq = built("fq-codel", "", &site(200));
    let sent = shares(&mut *fq, &flows, 10_000);
    assert!(sent[1] > 9 * sent[0], "{sent:?}");
}

#[test]
fn hosts_share_bytes_at_any_packet_length() {
    let flows =
        [(0, 1, 3, 400), (1, 2, 1, 1000), (1, 3, 1, 1500), (2, 4, 2, 700), (2, 5, 2, 700), (2, 6, 1, 1400)];
    assert_equal_shares(&shares(&mut cake(200), &flows, 10_000)[..3], 0.02);
}

#[test]
fn flows_of_one_host_share_equally() {
    let flows: Vec<_> = (0..4).map(|flow| (0, flow, 1 + flow, 1000)).collect();
    let mut cake = cake(200);
    let mut sent = [0; 4];
    for tick in 0..10_000u64 {
        let now = Time::from_ns(tick * 1_000_000);
        for &(_, flow, packets, len) in &flows {
            (0..packets).for_each(|_| {
                cake.enqueue(Packet::new(flow as u32, len, mix(flow).into(), now), now, &mut Ignore)
            });
        }
        sent[cake.dequeue(now, &mut Ignore).expect("overloaded").frame as usize] += 1;
    }
    assert_equal_shares(&sent, 0.02);
}

#[test]
fn the_count_of_bulky_queues_per_host_matches_the_waiting_ones() {
    let mut cake = cake(50);
    let mut rng = Seed(2).stream("hosts");
    for step in 0..20_000u64 {
        let now = Time::from_ns(step * 300_000);
        if rng.chance(0.6) {
            let flow = rng.below(9);
            let packet = Packet {
                class: flow % 3,
                ..Packet::new(0, 500 + rng.below(1000), mix(flow.into()).into(), now)
            };
            cake.enqueue(packet, now, &mut Ignore);
        }
        if rng.chance(0.4) || step % 2000 > 1800 {
            cake.dequeue(now, &mut Ignore);
        }
        // Each host has three flows.
        let bulky: u32 = (0..3).map(|host| cake.scheduler().bulky_queues(host).expect("hosts share")).sum();
        assert!((0..3).all(|host| cake.scheduler().bulky_queues(host) <= Some(3)));
        if cake.buffer().is_empty() && cake.dequeue(now, &mut Ignore).is_none() {
            assert_eq!(
                (0..3).map(|host| cake.scheduler().bulky_queues(host)).collect::<Vec<_>>(),
                [Some(0); 3],
                "{bulky} before"
            );
        }
    }
}

#[test]
fn fq_pie_signals_the_flow_that_fills_its_queue_and_no_other() {
    let spec = fq_pie::Spec::default();
    let mut fq = spec.build(&site(2000)).expect("the defaults are allowed");
    let mut log = Events::default();
    for ms in 0..8000u64 {
        let now = Time::from_ns(ms * 1_000_000);
        for _ in 0..1 + u32::from(ms.is_multiple_of(4)) {
            fq.enqueue(Packet { ecn: Ecn::NotEct, ..Packet::new(7, 1000, 7.into(), now) }, now, &mut log);
        }
        if ms.is_multiple_of(10) {
            fq.enqueue(Packet::new(8, 1000, 8.into(), now), now, &mut log);
        }
        fq.dequeue(now, &mut log).expect("overloaded");
    }
    assert_eq!(log.lost().iter().filter(|&&frame| frame == 8).count(), 0);
    // The excess of 0.35 packets per ms, 2800 in total, is dropped early or still waits.
    let early = log.dropped_by(Cause::Early);
    assert!((1500..3000).contains(&early), "{early}");
    assert_eq!(log.dropped_by(Cause::Overflow) + log.dropped_by(Cause::PushOut), 0);
    assert!(fq.backlog().packets < 300, "{:?}", fq.backlog());
}

const TIGHT: [(&str, &str); 5] = [
    (
        "fq-codel",
        "queues = 3\nquantum = '256 B'\nbatch = 2\ninterval = '1 ms'\ntarget = '100 us'\nmtu = '0 B'",
    ),
    (
        "fq-pie",
        "queues = 3\nquantum = '256 B'\nupdate = '1 ms'\ntarget = '100 us'\nalpha = 100\nmax_burst = '0 ms'",
    ),
    ("cake-like", "queues = 8\nquantum = '256 B'\nbatch = 3\ninterval = '1 ms'\ntarget = '100 us'"),
    ("codel", "interval = '1 ms'\ntarget = '100 us'\nmtu = '0 B'\necn = 'mark'"),
    ("dualpi2", "serve = 'time-shifted'\ntarget = '100 us'\nrtt_max = '1 ms'\nramp = '1 ms'"),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_with_few_queues_and_hasty_laws(sequence in operations(Shape::default())) {
        for (name, typed) in TIGHT {
            for packets in [1, 3, 20] {
                Driver::new(built(name, typed, &site(packets))).run(&sequence);
            }
        }
    }
}

#[test]
fn the_least_quantum_serves_long_packets() {
    let mut driver = Driver::new(built("fq-codel", "quantum = '256 B'", &site(20)));
    for flow in 0..20 {
        driver.apply(Operation::Enqueue { flow, len: 65_535, ecn: Ecn::NotEct });
    }
    assert_eq!(driver.finish().sent, 20);
}

#[test]
fn a_sparse_queue_becomes_bulky_when_it_waits_for_its_turn() {
    let mut cake = cake(100);
    let offer = |cake: &mut CakeLike, host: u32| {
        let packet = Packet { class: host, ..Packet::new(host, 300, u64::from(host).into(), Time::ZERO) };
        cake.enqueue(packet, Time::ZERO, &mut Ignore);
    };
    let next = |cake: &mut CakeLike| cake.dequeue(Time::ZERO, &mut Ignore).map(|packet| packet.frame);
    (0..50).for_each(|_| offer(&mut cake, 1));
    // The queue counts as old once six packets of 300 bytes have used up its quantum.
    assert!((0..7).all(|_| next(&mut cake) == Some(1)));
    offer(&mut cake, 2);
    assert_eq!(next(&mut cake), Some(2));
    assert_eq!(next(&mut cake), Some(1), "and the other's queue was found empty");
    let bulky = |cake: &CakeLike| [1, 2].map(|host| cake.scheduler().bulky_queues(host));
    assert_eq!(bulky(&cake), [Some(1), Some(0)]);
    offer(&mut cake, 2);
    assert_eq!(bulky(&cake), [Some(1), Some(1)]);
    assert_eq!(next(&mut cake), Some(1), "no second lead in a round");
    // A new queue that uses its quantum for its only packet is not bulky either.
    let long = Packet { class: 3, ..Packet::new(3, 1600, 3.into(), Time::ZERO) };
    cake.enqueue(long, Time::ZERO, &mut Ignore);
    assert_eq!(next(&mut cake), Some(3));
    assert!(next(&mut cake).is_some());
    assert_eq!(cake.scheduler().bulky_queues(3), Some(0));
}

#[test]
fn only_the_law_of_the_overflowed_queue_is_invoked() {
    let mut cake = cake(50);
    let now = Time::from_ns(1_000_000_000);
    let packet = |flow: u64| Packet::new(0, 500, flow.into(), now);
    cake.enqueue(packet(2), now, &mut Ignore);
    (0..60).for_each(|_| cake.enqueue(packet(1), now, &mut Ignore));
    let blue = |flow| cake.dropper().law(cake.buffer().queue_of(&packet(flow)).0 as u32).probability();
    assert_eq!((blue(1), blue(2)), (1.0 / 256.0, 0.0));
}

#[test]
fn a_packet_costs_few_looks_per_queue_for_any_number_of_queues() {
    // Two hosts have 450 bulky flows each. So a queue gets three bytes per round, and a packet of
    // 1500 bytes takes 500 rounds.
    let (mut cake, mut most, mut sum) = (cake(4000), 0, 0);
    let mut sent = [0u32; 2];
    for tick in 0..8000u64 {
        let now = Time::from_ns(tick * 1_000);
        for i in 0..if tick == 0 { 3600 } else { 1 } {
            let flow = (tick + i) % 900;
            let packet = Packet { class: (flow % 2) as u32, ..Packet::new(0, 1500, mix(flow).into(), now) };
            cake.enqueue(packet, now, &mut Ignore);
        }
        sent[cake.dequeue(now, &mut Ignore).expect("backlogged").class as usize] += 1;
        most = most.max(cake.scheduler().passed_over());
        sum += cake.scheduler().passed_over();
    }
    // For one packet, the scheduler inspects each of 900 queues at most eight times.
    assert!(most > 900 && most <= 8 * 900, "{most}");
    // Without skipped rounds, each packet would need about 500 inspections.
    assert!(sum < 500 * 8000, "{sum}");
    assert!(sent[0].abs_diff(sent[1]) <= 900, "{sent:?}"); // +- one packet of each queue
}
