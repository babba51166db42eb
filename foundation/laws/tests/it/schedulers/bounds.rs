//! The proven bounds of each scheduler.

use super::gps::fluid;
use super::link::{Arrival, ENTRIES, RATE_BPS, Sent, entry, send};
use fairwire_core::{Rng, Seed};

const MAX_BYTES: u32 = 1514;

const WEIGHTS: &str = "weights = { 1 = 2.0, 2 = 0.5 }";

fn weight(class: u32) -> f64 {
    match class {
        1 => 2.0,
        2 => 0.5,
        _ => 1.0,
    }
}

fn len(rng: &mut Rng) -> u32 {
    if rng.chance(0.3) { MAX_BYTES } else { 40 + rng.below(MAX_BYTES - 40) }
}

fn two_backlogged_among_others(seed: u64) -> Vec<Arrival> {
    let mut rng = Seed(seed).stream("bounds");
    let mut arrivals: Vec<Arrival> = (0..160)
        .map(|i| Arrival { at_ns: 0, flow: 1 + i % 2, class: 1 + i as u32 % 2, len: len(&mut rng) })
        .collect();
    let mut at_ns = 0;
    for _ in 0..150 {
        at_ns += u64::from(rng.below(2_000_000));
        let flow = 3 + u64::from(rng.below(8));
        for _ in 0..=rng.below(3) {
            arrivals.push(Arrival { at_ns, flow, class: 3, len: len(&mut rng) });
        }
    }
    arrivals
}

/// The largest difference between flows 1 and 2 in bytes sent per unit of weight, over all
/// intervals in which both were backlogged.
fn unfairness(sent: &[Sent]) -> f64 {
    let packets_left = |flow, from: usize| sent[from..].iter().filter(|sent| sent.flow == flow).count();
    let (mut least, mut most, mut difference) = (0.0f64, 0.0f64, 0.0);
    for (i, packet) in sent.iter().enumerate() {
        if packets_left(1, i) < 2 || packets_left(2, i) < 2 {
            break;
        }
        difference += match packet.flow {
            1 => f64::from(packet.len) / 2.0,
            2 => -f64::from(packet.len) / 0.5,
            _ => 0.0,
        };
        (least, most) = (least.min(difference), most.max(difference));
    }
    most - least
}

#[test]
fn two_backlogged_flows_differ_by_at_most_the_proven_bound() {
    let longest = f64::from(MAX_BYTES);
    let one_packet_each = longest / 2.0 + longest / 0.5;
    for (name, bound) in [
        // The bounds are from Golestani 1994, theorem 1; Goyal et al. 1996, theorem 1; and
        // Shreedhar and Varghese 1996, theorem 4 with weights.
        ("scfq", one_packet_each),
        ("sfq-start", one_packet_each),
        ("drr", one_packet_each + longest),
        // The potentials of two flows differ by at most a frame plus the longest packet. Over an
        // interval, this difference changes by at most twice that.
        ("fbfq", 2.0 * (longest + longest / 0.5)),
    ] {
        let mut worst = 0.0f64;
        for seed in 0..60 {
            let (sent, drops) = send(entry(name, 1000, WEIGHTS), &two_backlogged_among_others(seed));
            assert!(drops.0.is_empty(), "a dropped packet would spoil the count");
            worst = worst.max(unfairness(&sent));
        }
        assert!(worst <= bound, "{name}: {worst} above {bound}");
        assert!(worst > 0.3 * bound, "{name}: {worst} is far below {bound}");
    }
    let (sent, _) = send(entry("tail-drop", 1000, ""), &two_backlogged_among_others(0));
    assert!(unfairness(&sent) > 10.0 * one_packet_each);
}

#[test]
fn shares_are_proportional_to_weights() {
    for name in ENTRIES {
        let mut arrivals = Vec::new();
        let mut rng = Seed(9).stream("shares");
        for _ in 0..1000 {
            for class in 0..3 {
                arrivals.push(Arrival { at_ns: 0, flow: class, class: class as u32, len: len(&mut rng) });
            }
        }
        let (sent, _) = send(entry(name, 3000, WEIGHTS), &arrivals);
        let mut bytes = [0.0; 3];
        sent.iter().take(1500).for_each(|sent| bytes[sent.flow as usize] += f64::from(sent.len));
        let per_weight = [bytes[0], bytes[1] / 2.0, bytes[2] / 0.5];
        // The bound is a few packets.
        let (least, most) = (
            per_weight.iter().fold(f64::MAX, |a, &b| a.min(b)),
            per_weight.iter().fold(0.0, |a: f64, &b| a.max(b)),
        );
        assert!(most - least < 8_000.0 && least > 200_000.0, "{name}: {per_weight:?}");
    }
}

fn all_at_once(seed: u64) -> Vec<Arrival> {
    let mut rng = Seed(seed).stream("at once");
    (0..200)
        .map(|_| {
            let flow = u64::from(rng.below(10));
            Arrival { at_ns: 0, flow, class: flow as u32 % 3, len: len(&mut rng) }
        })
        .collect()
}

/// Ten flows, at about the link's rate.
fn come_and_go(seed: u64) -> Vec<Arrival> {
    let mut rng = Seed(seed).stream("come and go");
    let mut at_ns = 0;
    let mut arrivals = Vec::new();
    for _ in 0..150 {
        at_ns += u64::from(rng.below(4_000_000));
        let flow = u64::from(rng.below(10));
        for _ in 0..=rng.below(4) {
            arrivals.push(Arrival { at_ns, flow, class: flow as u32 % 3, len: len(&mut rng) });
        }
    }
    arrivals
}

const MAX_NS: f64 = MAX_BYTES as f64 * 8e9 / RATE_BPS as f64;

/// The latest end and the earliest start of a packet, relative to the fluid server, in transmission
/// times of the longest packet.
fn against_the_fluid_server(name: &str, arrivals: &[Arrival]) -> (f64, f64) {
    let (sent, drops) = send(entry(name, 1000, WEIGHTS), arrivals);
    assert!(drops.0.is_empty());
    let ideal = fluid(arrivals, weight);
    let late = sent.iter().map(|sent| sent.ended_ns as f64 - ideal[sent.index].1);
    let early = sent.iter().map(|sent| ideal[sent.index].0 - sent.begun_ns as f64);
    let worst = |times: &mut dyn Iterator<Item = f64>| times.fold(0.0, f64::max) / MAX_NS;
    (worst(&mut { late }), worst(&mut { early }))
}

#[test]
fn wf2q_plus_stays_within_a_packet_of_the_fluid_server() {
    let (mut late, mut early) = (0.0f64, 0.0f64);
    for seed in 0..60 {
        let worst = against_the_fluid_server("wf2q+", &all_at_once(seed));
        (late, early) = (late.max(worst.0), early.max(worst.1));
    }
    // Bennett and Zhang 1997, theorem 4: a packet ends at most one longest packet later than in the
    // fluid server. The rule of eligibility forbids an earlier start.
    assert!(late <= 1.0 + 1e-6, "{late}");
    assert!(early <= 1e-6, "{early}");
    // Round robin shows that the comparison can fail.
    let drr = against_the_fluid_server("drr", &all_at_once(0));
    assert!(drr.0 > 2.0 && drr.1 > 2.0, "{drr:?}");
}

/// The latest end of a packet, relative to a dedicated server at its flow's guaranteed rate, in
/// transmission times of the longest packet.
fn against_its_own_server(name: &str, arrivals: &[Arrival]) -> f64 {
    let (sent, _) = send(entry(name, 1000, WEIGHTS), arrivals);
    let total: f64 = (0..10).map(|flow| weight(flow % 3)).sum();
    let mut clock = [0.0f64; 10];
    let guaranteed: Vec<f64> = arrivals
        .iter()
        .map(|arrival| {
            let rate = RATE_BPS as f64 / 8e9 * weight(arrival.class) / total; // bytes per nanosecond
            let clock = &mut clock[arrival.flow as usize];
            *clock = clock.max(arrival.at_ns as f64) + f64::from(arrival.len) / rate;
            *clock
        })
        .collect();
    let late = sent.iter().map(|sent| sent.ended_ns as f64 - guaranteed[sent.index]);
    late.fold(f64::MIN, f64::max) / MAX_NS
}

#[test]
fn fbfq_and_wf2q_plus_guarantee_each_flow_its_rate_within_one_packet() {
    for name in ["fbfq", "wf2q+"] {
        for (what, arrivals) in [("at once", all_at_once as fn(u64) -> _), ("come and go", come_and_go)] {
            let worst =
                (0..60).map(|seed| against_its_own_server(name, &arrivals(seed))).fold(f64::MIN, f64::max);
            // Rate-proportional servers have this bound (Stiliadis and Varma 1996).
            assert!(worst <= 1.0 + 1e-6, "{name}, {what}: {worst}");
        }
    }
    let drr = (0..60).map(|seed| against_its_own_server("drr", &all_at_once(seed))).fold(f64::MIN, f64::max);
    assert!(drr > 1.0, "round robin gives no such guarantee, and the contest shows it: {drr}");
}
