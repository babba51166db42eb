//! Assignment of queues, memory of idle flows, and drops on departure.

use super::link::{Drops, ENTRIES, LongestFront, entry, site, terms};
use fairwire_catalogue::{BuildError, Parameters};
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, Left, Limit, Packet, Queue, Queues, Seed, Time, Verdict,
};
use std::collections::BTreeMap;

const SCHEDULERS: [&str; 5] = ["drr", "fbfq", "scfq", "sfq", "wf2q+"];

fn offer(queue: &mut dyn Discipline, frame: u32, flow: u64, class: u32, len: u32) -> Drops {
    let mut drops = Drops::default();
    let packet = Packet { class, ..Packet::new(frame, len, flow.into(), Time::ZERO) };
    queue.enqueue(packet, Time::ZERO, &mut drops);
    drops
}

fn request(queue: &mut dyn Discipline) -> Option<Packet> {
    queue.dequeue(Time::ZERO, &mut Drops::default())
}

fn bytes_by_flow(queue: &mut dyn Discipline, requests: u32) -> BTreeMap<u64, u32> {
    let mut bytes = BTreeMap::new();
    for _ in 0..requests {
        let packet = request(queue).expect("backlogged");
        *bytes.entry(packet.flow.0).or_default() += packet.len;
    }
    bytes
}

#[test]
fn queues_per_class_give_ten_flows_the_share_of_one() {
    for name in ENTRIES {
        let mut queue = entry(name, 1000, "per = 'class'");
        for frame in 0..500 {
            offer(&mut *queue, frame, 1 + u64::from(frame % 10), 1, 1000);
            offer(&mut *queue, frame, 20, 2, 1000);
        }
        let bytes = bytes_by_flow(&mut *queue, 400);
        // Classes alternate, so their bytes differ by at most one packet.
        assert!(bytes[&20].abs_diff(200_000) <= 1000, "{name}: {bytes:?}");
        assert!(bytes[&1].abs_diff(20_000) <= 1000, "{name}: {bytes:?}");
    }
}

#[test]
fn a_bounded_table_keeps_the_order_of_each_queue_and_loses_nothing() {
    for name in SCHEDULERS {
        let tables: [fn() -> Queues; 4] = [
            || Queues::least_recently_used(4),
            || Queues::random_replacement(4, Seed(3).stream("table")),
            || Queues::hashed(4, 5),
            || Queues::set_associative(2, 2, 6),
        ];
        for (i, table) in tables.into_iter().enumerate() {
            let (kind, terms) = terms(&format!("'{name}'"), 30);
            let scheduler = kind.scheduler(&terms);
            let mut queue = Queue::with_queues(Limit::packets(30), table(), scheduler, LongestFront);
            let mut rng = Seed(7).stream("tables");
            let mut waiting: BTreeMap<u64, Vec<u32>> = BTreeMap::new(); // queue, frames in order
            let mut queue_of = BTreeMap::new();
            for frame in 0..3000 {
                let flow = u64::from(rng.below(40));
                let len = 40 + rng.below(1400);
                let drops = offer(&mut queue, frame, flow, 0, len);
                let number = queue.buffer().queue_of(&Packet::new(0, 1, flow.into(), Time::ZERO)).0;
                assert!(number < 4, "{name}, table {i}: {number}");
                waiting.entry(number).or_default().push(frame);
                queue_of.insert(frame, number);
                for (_, dropped) in drops.0 {
                    let list = waiting.get_mut(&queue_of[&dropped]).expect("known");
                    assert_eq!(list.remove(0), dropped, "{name}, table {i}: push-out is from the front");
                }
                if rng.chance(0.7) {
                    let sent = request(&mut queue).expect("one waits").frame;
                    let list = waiting.get_mut(&queue_of[&sent]).expect("known");
                    assert_eq!(list.remove(0), sent, "{name}, table {i}: out of order");
                }
            }
            while let Some(packet) = request(&mut queue) {
                let list = waiting.get_mut(&queue_of[&packet.frame]).expect("known");
                assert_eq!(list.remove(0), packet.frame, "{name}, table {i}: out of order");
            }
            assert!(waiting.values().all(Vec::is_empty), "{name}, table {i}: {waiting:?} lost");
        }
    }
}

#[test]
fn a_flow_that_returns_at_once_gets_exactly_its_share() {
    for name in ["scfq", "sfq-start", "fbfq", "wf2q+"] {
        let mut queue = entry(name, 1000, "weights = { 2 = 0.5 }");
        (0..900).for_each(|frame| assert!(offer(&mut *queue, frame, 1, 1, 1000).0.is_empty()));
        offer(&mut *queue, 0, 2, 2, 1000);
        let mut of_two = 0;
        for _ in 0..600 {
            let packet = request(&mut *queue).expect("backlogged");
            if packet.flow.0 == 2 {
                of_two += 1;
                offer(&mut *queue, 0, 2, 2, 1000);
            }
        }
        assert!((198..=202).contains(&of_two), "{name}: {of_two} of 600, where a third is fair");
    }
}

#[test]
fn many_flows_in_turn_through_a_short_queue_are_all_remembered() {
    // Flow 1000 has weight 0.01, so each of its packets costs as much as 100 packets of the other
    // flows.
    for name in ["sfq-start", "fbfq", "wf2q+"] {
        let mut queue = entry(name, 2, "weights = { 2 = 0.01 }\ndropper = 'tail-drop'");
        let mut of_two = 0;
        offer(&mut *queue, 0, 1000, 2, 1000);
        for turn in 0..1000 {
            offer(&mut *queue, 0, turn % 100, 1, 1000);
            let packet = request(&mut *queue).expect("backlogged");
            if packet.flow.0 == 1000 {
                of_two += 1;
                offer(&mut *queue, 0, 1000, 2, 1000);
            }
        }
        assert!((1..=25).contains(&of_two), "{name}: {of_two} of 1000");
    }
}

#[derive(Default)]
struct DropsOnDeparture {
    of_one: u32,
}

impl Dropper for DropsOnDeparture {
    fn on_departure(&mut self, packet: &Packet, _: Left, _: &Buffer, _: Time) -> Verdict {
        self.of_one += u32::from(packet.flow.0 == 1);
        if packet.flow.0 == 1 && self.of_one % 2 == 1 { Verdict::Drop(Cause::Forced) } else { Verdict::Pass }
    }
}

#[test]
fn a_drop_on_departure_costs_its_flow_no_service() {
    for name in SCHEDULERS {
        // A drop must not empty flow 1's queue, because an idle flow has no claim to service.
        for waits in [3, 300] {
            let (kind, terms) = terms(&format!("'{name}'"), 1000);
            let scheduler = kind.scheduler(&terms);
            let mut queue = Queue::new(Limit::packets(1000), scheduler, DropsOnDeparture::default());
            let mut bytes = [0, 0];
            let mut rng = Seed(2).stream("lengths");
            for frame in 0..2000 {
                for flow in [1, 2] {
                    let waiting = |queue: &Queue<_, _>| {
                        let key = queue.buffer().find(flow.into());
                        key.map_or(0, |key| queue.buffer().flow_backlog(key).packets)
                    };
                    while waiting(&queue) < waits {
                        offer(&mut queue, frame, flow, 0, 40 + rng.below(1400));
                    }
                }
                if let Some(packet) = request(&mut queue).filter(|_| frame >= 10) {
                    bytes[packet.flow.0 as usize - 1] += packet.len;
                }
            }
            // The tolerance of a few packets allows for a quantum, or two packets in a row.
            assert!(bytes[0].abs_diff(bytes[1]) < 6_000, "{name} with {waits}: {bytes:?}");
        }
    }
}

#[test]
fn service_without_competition_is_not_held_against_a_flow() {
    for name in ENTRIES {
        for idle in [false, true] {
            let mut queue = entry(name, 1000, "");
            let alone = 300;
            (0..alone + 200 * u32::from(!idle)).for_each(|frame| drop(offer(&mut *queue, frame, 1, 0, 1000)));
            (0..alone).for_each(|_| assert_eq!(request(&mut *queue).expect("backlogged").flow.0, 1));
            if idle {
                assert!(request(&mut *queue).is_none());
                (0..200).for_each(|frame| drop(offer(&mut *queue, frame, 1, 0, 1000)));
            }
            (0..200).for_each(|frame| drop(offer(&mut *queue, frame, 2, 0, 1000)));
            let bytes = bytes_by_flow(&mut *queue, 100);
            // The order at the start costs up to 2 × 1000 bytes, and a quantum 1514 bytes.
            assert!(bytes[&1].abs_diff(bytes[&2]) <= 4000, "{name}, idle {idle}: {bytes:?}");
        }
    }
}

#[test]
fn a_tiny_quantum_or_weight_neither_stalls_nor_distorts() {
    let mut queue = entry("drr", 1000, "quantum = '1 B'\nweights = { 1 = 1e-3, 2 = 3e-3 }");
    for frame in 0..400 {
        offer(&mut *queue, frame, 1, 1, 1500);
        offer(&mut *queue, frame, 2, 2, 1500);
    }
    let bytes = bytes_by_flow(&mut *queue, 400);
    assert!(bytes[&1].abs_diff(150_000) <= 3000, "{bytes:?}"); // a quarter of 600 kB, to two packets
}

#[test]
fn in_a_buffer_of_bytes_the_flow_with_most_bytes_makes_room() {
    for name in ENTRIES {
        let mut queue = entry(name, 1000, "buffer = '10 kB'");
        (0..30).for_each(|frame| drop(offer(&mut *queue, frame, 1, 0, 100)));
        (30..36).for_each(|frame| drop(offer(&mut *queue, frame, 2, 0, 1100)));
        assert_eq!(offer(&mut *queue, 36, 3, 0, 1500).0, [(2, 30)], "{name}");
        assert_eq!(queue.backlog().bytes, 10_000);
    }
}

#[test]
fn every_discipline_that_takes_a_scheduler_takes_these() {
    for name in SCHEDULERS {
        let typed = format!("scheduler = {{ '{name}' = {{ weights = {{ 1 = 4.0 }}, queues = 16 }} }}");
        let mut queue = entry("red", 200, &typed);
        for frame in 0..20 {
            offer(&mut *queue, frame, 1, 0, 1000);
        }
        offer(&mut *queue, 20, 3, 0, 1000);
        let flows: Vec<u64> = (0..3).map(|_| request(&mut *queue).expect("backlogged").flow.0).collect();
        assert!(flows.contains(&3), "{name}: flow 3 need not wait for twenty packets of flow 1: {flows:?}");
    }
}

#[test]
fn start_time_fair_queueing_is_the_same_scheduler_by_both_names() {
    let read =
        |name: &str| toml::from_str::<Parameters>(&format!("[red]\nscheduler = '{name}'")).expect("known");
    assert_eq!(read("sfq-start"), read("sfq"));
}

#[test]
fn a_bad_parameter_is_refused_by_its_own_name() {
    for name in ENTRIES {
        for (settings, parameter) in [
            ("queues = 12\nsharing = 'set-associative'", "queues"),
            ("per = 'class'\nqueues = 16", "queues"),
            ("per = 'class'\nsharing = 'hash'", "sharing"),
        ] {
            let typed = toml::from_str(&format!("[\"{name}\"]\n{settings}")).expect("well-formed");
            let Err(BuildError::Parameter(bad)) = fairwire_catalogue::check(name, &typed, &site(100)) else {
                panic!("{name}: {settings} was allowed")
            };
            assert_eq!((bad.discipline, &*bad.parameter), (name, parameter));
        }
    }
    let without_rounds = toml::from_str::<Parameters>("[scfq]\nquantum = '300 B'").unwrap_err();
    assert!(without_rounds.message().contains("unknown field `quantum`"), "{without_rounds}");
}

#[test]
fn weights_that_a_round_cannot_resolve_are_refused() {
    let check = |quantum: &str, weights: &str| {
        let typed = format!("[drr]\nquantum = '{quantum}'\nweights = {{ {weights} }}");
        let parameters: Parameters = toml::from_str(&typed).expect("well-formed");
        fairwire_catalogue::check("drr", &parameters, &site(100)).map_err(|error| error.to_string())
    };
    assert_eq!(
        check("1 B", "1 = 1e-6, 2 = 3e-6"),
        Err("`weights` of `drr` is 0.000001 with a quantum of 1 B; allowed: weights whose product with the quantum is at least 1/1024 B"
            .into())
    );
    assert_eq!(check("1514 B", "1 = 1e-6, 2 = 3e-6"), Ok(()));
}
