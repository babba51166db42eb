//! The flow that loses a packet under LQD, RND, LQD with bins and drop-front, compared with a list
//! search.

use super::plain::{Reference, Waiting, compare, queue};
use super::{packet, site};
use crate::fate::Events;
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::Amount;
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, FlowKey, Limit, Packet, Queue, Queues, Seed, Time, Victim,
};
use fairwire_laws::dropper::drop_front::DropFront;
use fairwire_laws::dropper::lqd::Lqd;
use fairwire_laws::dropper::lqd_binned::LqdBinned;
use fairwire_laws::dropper::push_out::{Config, End};
use fairwire_laws::dropper::{lqd, lqd_binned, rnd};
use fairwire_laws::spec::Measure;
use fairwire_testing::{Operation, Shape, operations};
use proptest::prelude::*;

const EQUAL: [f64; 4] = [1.0; 4];
/// Powers of two, so shares and ties are exact.
const UNEQUAL: [f64; 4] = [1.0, 2.0, 0.5, 2.0];
const FLOWS: u64 = 7;

pub(super) fn configs(name: &str) -> Vec<(Config, [f64; 4])> {
    let mut configs = Vec::new();
    for buffer in [Amount::Packets(1), Amount::Packets(12), Amount::Bytes(6_000)] {
        for measure in ["", "measure = 'packets'\n", "measure = 'bytes'\n"] {
            for weights in [EQUAL, UNEQUAL] {
                for drop in ["", "drop = 'tail'\n"] {
                    let [w0, w1, w2, w3] = weights;
                    let typed = format!(
                        "{measure}{drop}scheduler = {{ fcfs = {{ weights = {{ 0 = {w0:?}, 1 = {w1:?}, 2 = {w2:?}, 3 = {w3:?} }} }} }}"
                    );
                    let wrong = "these are allowed";
                    let config = match name {
                        "lqd" => toml::from_str::<lqd::Spec>(&typed).expect(wrong).check(&site(buffer)),
                        "rnd" => toml::from_str::<rnd::Spec>(&typed).expect(wrong).check(&site(buffer)),
                        _ => toml::from_str::<lqd_binned::Spec>(&typed).expect(wrong).check(&site(buffer)),
                    };
                    configs.push((config.expect(wrong).1, weights));
                }
            }
        }
    }
    configs
}

fn shape() -> impl Strategy<Value = Vec<Operation>> {
    operations(Shape { flows: FLOWS, max_operations: 250, ..Shape::default() })
}

fn furthest(plain: &Reference, arriving: u64) -> Vec<u64> {
    let above = plain.above(arriving);
    let most = above.iter().map(|&(_, above)| above).fold(f64::NEG_INFINITY, f64::max);
    let equals: Vec<u64> = above.iter().filter(|&&(_, above)| above == most).map(|&(flow, _)| flow).collect();
    if equals.contains(&arriving) { vec![arriving] } else { equals }
}

fn any_above(plain: &Reference, arriving: u64) -> Vec<u64> {
    let above = plain.above(arriving).into_iter().filter(|&(_, above)| above > 0.0);
    let above: Vec<u64> = above.map(|(flow, _)| flow).collect();
    match above.is_empty() {
        false => above,
        true => furthest(plain, arriving),
    }
}

fn highest_bin(plain: &Reference) -> Vec<u64> {
    // A packet of no bytes still waits, so a queue of such packets counts as one byte.
    let bin = |flow: &u64| (plain.length(*flow).max(1) as f64 / plain.weight(*flow)).log2().floor();
    let flows = plain.flows();
    let highest = flows.iter().map(bin).fold(f64::NEG_INFINITY, f64::max);
    flows.into_iter().filter(|flow| bin(flow) == highest).collect()
}

fn name_of(flow: FlowKey, buffer: &Buffer) -> u64 {
    buffer.flow_hash(flow).0
}

fn flow_of(victim: Victim, arrival: &Packet, buffer: &Buffer) -> u64 {
    match victim {
        Victim::Arrival => arrival.flow.0,
        Victim::Waiting(key) => buffer.packet(key).flow.0,
    }
}

proptest! {
    // A case takes about a tenth of a second.
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_longest_queue_is_always_the_victim(sequence in shape()) {
        for (config, weights) in configs("lqd") {
            let mut plain = Reference::new(&config, weights);
            let mut rng = Seed(4).stream("look");
            let mut lqd = queue(&config, Lqd::new(config.clone(), Seed(2).stream("lqd")));
            let check = |queue: &Queue<_, Lqd>, plain: &Reference| {
                for flow in 0..=FLOWS {
                    let arrival = packet(0, flow, 512);
                    let found = queue.dropper().backlogs().furthest_above(&arrival, queue.buffer(), &mut rng);
                    match found {
                        Some(found) => assert!(furthest(plain, flow).contains(&name_of(found, queue.buffer()))),
                        None => assert!(plain.waiting.is_empty()),
                    }
                }
            };
            compare(&sequence, &mut lqd, &mut plain, |plain, flow, _| furthest(plain, flow), check);
        }
    }

    #[test]
    fn weights_without_exact_binary_form_decide_correctly(sequence in shape()) {
        let weights = [0.3, 1.1, 0.7, 123.456];
        let typed = "scheduler = { fcfs = { weights = { 0 = 0.3, 1 = 1.1, 2 = 0.7, 3 = 123.456 } } }";
        for buffer in [Amount::Packets(12), Amount::Bytes(6_000)] {
            let config = toml::from_str::<lqd::Spec>(typed).expect("well-formed").check(&site(buffer)).expect("allowed").1;
            let mut plain = Reference::new(&config, weights);
            let mut lqd = queue(&config, Lqd::new(config.clone(), Seed(2).stream("lqd")));
            let nearly_furthest = |plain: &Reference, flow, _: Option<&_>| {
                let above = plain.above(flow);
                let most = above.iter().map(|&(_, above)| above).fold(f64::NEG_INFINITY, f64::max);
                // Weights are added in units of 2^-32, so shares of at most 6000 are exact to
                // within 10^-4.
                above.into_iter().filter(|&(_, above)| above >= most - 1e-4).map(|(flow, _)| flow).collect()
            };
            compare(&sequence, &mut lqd, &mut plain, nearly_furthest, |_, _| {});
        }
    }

    #[test]
    fn random_drop_takes_only_from_queues_above_their_part(sequence in shape()) {
        for (config, weights) in configs("rnd") {
            let mut plain = Reference::new(&config, weights);
            let mut rng = Seed(4).stream("look");
            let mut rnd = queue(&config, Lqd::random(config.clone(), Seed(2).stream("rnd")));
            let check = |queue: &Queue<_, Lqd>, plain: &Reference| {
                for flow in 0..=FLOWS {
                    let arrival = packet(0, flow, 512);
                    let found = queue.dropper().backlogs().any_above(&arrival, queue.buffer(), &mut rng);
                    let above = plain.above(flow).into_iter().filter(|&(_, above)| above > 0.0);
                    let above: Vec<u64> = above.map(|(flow, _)| flow).collect();
                    match found {
                        Some(found) => assert!(above.contains(&name_of(found, queue.buffer()))),
                        None => assert!(above.is_empty()),
                    }
                }
            };
            compare(&sequence, &mut rnd, &mut plain, |plain, flow, _| any_above(plain, flow), check);
        }
    }

    #[test]
    fn the_victim_is_of_the_highest_bin_and_over_half_of_the_longest(sequence in shape()) {
        for (config, weights) in configs("lqd-binned") {
            let mut plain = Reference::new(&config, weights);
            let mut binned = queue(&config, LqdBinned::new(config.clone()));
            let victims = |plain: &Reference, _, _: Option<&_>| {
                let bin = highest_bin(plain);
                let part = |flow: u64| plain.length(flow).max(1) as f64 / plain.weight(flow);
                let longest = plain.flows().into_iter().map(part).fold(0.0, f64::max);
                assert!(bin.iter().all(|&flow| 2.0 * part(flow) > longest));
                bin
            };
            compare(&sequence, &mut binned, &mut plain, victims, |_, _| {});
        }
    }

    #[test]
    fn drop_front_drops_the_oldest_packet_of_all(sequence in shape()) {
        for limit in [Limit::packets(1), Limit::packets(12), Limit::bytes(4_000)] {
            let mut queue = Queue::new(limit, super::Lottery(Seed(9).stream("lottery")), DropFront);
            let (mut waiting, mut bytes): (Vec<Waiting>, u64) = (Vec::new(), 0);
            for (frame, operation) in sequence.iter().enumerate() {
                let (frame, mut log) = (frame as u32, Events::default());
                if let Operation::Enqueue { flow, len, .. } = *operation {
                    queue.enqueue(packet(frame, flow, len), Time::ZERO, &mut log);
                    if u64::from(len) > limit.max_bytes() {
                        assert_eq!(log.lost(), [frame]);
                        continue;
                    }
                    let mut expected = Vec::new();
                    while waiting.len() as u32 == limit.max_packets() || bytes + u64::from(len) > limit.max_bytes() {
                        let oldest = waiting.remove(0);
                        bytes -= u64::from(oldest.len);
                        expected.push((oldest.frame, Cause::PushOut));
                    }
                    assert_eq!(log.dropped(), expected);
                    waiting.push(Waiting { frame, flow, len });
                    bytes += u64::from(len);
                } else if let Some(sent) = queue.dequeue(Time::ZERO, &mut log) {
                    waiting.retain(|waiting| waiting.frame != sent.frame);
                    bytes -= u64::from(sent.len);
                }
            }
        }
    }

    #[test]
    fn accounts_stay_correct_across_take_overs(sequence in shape()) {
        // A flow may have packets in several queues.
        for (config, _) in configs("lqd").into_iter().filter(|(_, weights)| *weights == EQUAL) {
            let scheduler = super::Lottery(Seed(9).stream("lottery"));
            let lqd = Lqd::new(config.clone(), Seed(2).stream("lqd"));
            let mut queue = Queue::with_queues(config.limit, Queues::least_recently_used(3), scheduler, lqd);
            let mut rng = Seed(4).stream("look");
            for (frame, operation) in sequence.iter().enumerate() {
                if let Operation::Enqueue { flow, len, .. } = *operation {
                    queue.enqueue(packet(frame as u32, flow, len), Time::ZERO, &mut Events::default());
                } else {
                    queue.dequeue(Time::ZERO, &mut Events::default());
                }
                let buffer = queue.buffer();
                let length = |flow: FlowKey| match config.measure {
                    Measure::Packets => buffer.flow_backlog(flow).packets.into(),
                    Measure::Bytes => buffer.flow_backlog(flow).bytes,
                };
                let found = queue.dropper().backlogs().furthest_above(&packet(0, 99, 512), buffer, &mut rng);
                assert_eq!(found.map(length), buffer.flows().map(length).max());
            }
        }
    }
}

#[test]
fn the_random_sequences_cause_push_outs() {
    // This fixed sequence resembles the random sequences above.
    let mut traffic = Seed(5).stream("traffic");
    let sequence: Vec<Operation> = (0..1000)
        .map(|_| match traffic.chance(0.6) {
            true => Operation::Enqueue {
                flow: u64::from(traffic.below(FLOWS as u32)),
                len: 40 + traffic.below(1475),
                ecn: fairwire_core::Ecn::NotEct,
            },
            false => Operation::Dequeue,
        })
        .collect();
    for (config, weights) in configs("lqd") {
        let mut plain = Reference::new(&config, weights);
        let mut lqd = queue(&config, Lqd::new(config.clone(), Seed(2).stream("lqd")));
        let pushed =
            compare(&sequence, &mut lqd, &mut plain, |plain, flow, _| furthest(plain, flow), |_, _| {});
        let most = if config.drop == End::Tail && config.limit.max_packets() == 1 { 33 } else { 83 };
        assert!(pushed > most, "{config:?}: {pushed}");
    }
}

#[test]
fn a_long_arrival_searches_a_new_victim_for_each_push_out() {
    let spec: lqd::Spec = toml::from_str("measure = 'bytes'").expect("well-formed");
    let config = spec.check(&site(Amount::Bytes(3_000))).expect("allowed").1;
    let mut queue = Queue::new(config.limit, Fcfs, Lqd::new(config, Seed(1).stream("lqd")));
    for (frame, flow, len) in [(0, 1, 600), (1, 1, 500), (2, 2, 1000), (3, 3, 900)] {
        queue.enqueue(packet(frame, flow, len), Time::ZERO, &mut Events::default());
    }
    let mut log = Events::default();
    queue.enqueue(packet(4, 4, 1500), Time::ZERO, &mut log);
    // At first, flow 1 has the longest queue: 1100 bytes. After the first push-out, flow 2 has the
    // longest: 1000 bytes.
    assert_eq!(log.dropped(), [(0, Cause::PushOut), (2, Cause::PushOut)]);
}

#[test]
fn when_long_packets_fill_the_buffer_the_fuller_queue_is_the_victim() {
    // There is room for 120 typical packets of 512 bytes, but only for 40 packets of 1500 bytes. So
    // both flows stay below their shares of 60.
    let typed = toml::from_str::<rnd::Spec>("measure = 'packets'").expect("well-formed");
    let config = typed.check(&site(Amount::Bytes(61_440))).expect("allowed").1;
    let mut queue = queue(&config, Lqd::random(config.clone(), Seed(1).stream("rnd")));
    let mut log = Events::default();
    for frame in 0..40 {
        queue.enqueue(packet(frame, 1, 1500), Time::ZERO, &mut log);
    }
    for frame in 100..120 {
        queue.enqueue(packet(frame, 2, 1500), Time::ZERO, &mut log);
    }
    assert_eq!(log.lost(), (0..20).collect::<Vec<u32>>());
}

#[test]
fn queues_of_one_bin_take_turns() {
    let config = lqd_binned::Spec::default().check(&site(Amount::Packets(18))).expect("allowed").1;
    let mut queue = Queue::new(config.limit, Fcfs, LqdBinned::new(config));
    for frame in 0..18 {
        queue.enqueue(packet(frame, u64::from(frame % 3), 512), Time::ZERO, &mut Events::default());
    }
    let mut log = Events::default();
    for frame in 18..24 {
        queue.enqueue(packet(frame, 3, 512), Time::ZERO, &mut log);
    }
    let flows: Vec<u32> = log.lost().iter().map(|frame| frame % 3).collect();
    // Flow 3 reaches the bin of flows 0, 1 and 2 with its fourth packet.
    assert_eq!(flows[..4], [0, 1, 2, 0]);
}

#[test]
fn a_queue_has_the_weight_of_its_first_packet() {
    let typed = "scheduler = { fcfs = { weights = { 1 = 4.0 } } }";
    let spec: lqd::Spec = toml::from_str(typed).expect("well-formed");
    let config = spec.check(&site(Amount::Packets(6))).expect("allowed").1;
    let mut queue = Queue::new(config.limit, Fcfs, Lqd::new(config, Seed(1).stream("lqd")));
    let mut of_class = |frame, flow, class| {
        let mut log = Events::default();
        let packet = Packet { class, ..packet(frame, flow, 512) };
        queue.enqueue(packet, Time::ZERO, &mut log);
        log.dropped()
    };
    for frame in 0..4 {
        of_class(frame, 7, u32::from(frame == 0));
    }
    of_class(4, 8, 0);
    of_class(5, 8, 0);
    // With flow 9, the shares of flows 7, 8 and 9 are 4, 1 and 1. Flow 8 has 2 packets, so it loses
    // one.
    assert_eq!(of_class(6, 9, 0), [(4, Cause::PushOut)]);
}

#[test]
fn under_tail_drop_an_arrival_for_the_longest_queue_is_refused() {
    let spec: lqd::Spec = toml::from_str("drop = 'tail'").expect("well-formed");
    let config = spec.check(&site(Amount::Packets(4))).expect("allowed").1;
    let mut lqd = Lqd::new(config.clone(), Seed(1).stream("lqd"));
    let mut buffer = Buffer::new(config.limit);
    for (frame, flow) in [(0, 1), (1, 1), (2, 1), (3, 2)] {
        let key = buffer.push(packet(frame, flow, 512));
        lqd.tracked(buffer.packet(key), buffer.flow_of(key), true, &buffer);
    }
    assert_eq!(lqd.victim(&packet(4, 1, 512), &buffer, Time::ZERO), Victim::Arrival);
    let arrival = packet(4, 2, 512);
    let victim = lqd.victim(&arrival, &buffer, Time::ZERO);
    assert_eq!(flow_of(victim, &arrival, &buffer), 1);
    assert_eq!(victim, Victim::Waiting(buffer.flow_tail(buffer.find(1.into()).expect("backlogged"))));
}

#[test]
fn packets_of_no_bytes_wait_and_leave_like_others() {
    for name in ["lqd", "rnd", "alqd", "lqd-binned", "choke", "drop-front"] {
        let measure = if name == "drop-front" { "" } else { "measure = 'bytes'" };
        let mut queue = crate::built(name, measure, &site(Amount::Packets(4)));
        for frame in 0..20 {
            let len = if frame % 3 == 0 { 512 } else { 0 };
            queue.enqueue(packet(frame, u64::from(frame % 4), len), Time::ZERO, &mut Events::default());
        }
        let waited = queue.backlog().packets;
        assert!((1..=4).contains(&waited), "{name}");
        assert_eq!(
            (0..waited).filter_map(|_| queue.dequeue(Time::ZERO, &mut Events::default())).count(),
            waited as usize
        );
        assert!(queue.backlog().is_empty(), "{name}");
    }
}
