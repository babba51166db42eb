//! Hierarchical FABA with light flows that come and go, like acknowledgements, in the class of a
//! flood.

use super::{max_min, of_class, site};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Ignore, Queue, Seed, Time};
use fairwire_laws::dropper::hfaba::{Hfaba, Spec};
use fairwire_laws::spec::{Measure, TreeClass};

const LINK_BPS: u64 = 50_000_000;
const FULL: u32 = 1538;
const MIN_BYTES: u32 = 84;
const FLOOD: u32 = 1;
const OTHERS: u32 = 2;

struct Source {
    next_ns: u64,
    every_ns: u64,
    class: u32,
    flow: u64,
    len: u32,
}

impl Source {
    fn new(class: u32, flow: u64, len: u32, bps: u64) -> Source {
        let every_ns = u64::from(len) * 8_000_000_000 / bps;
        Source { next_ns: flow * 1_234_567 % every_ns, every_ns, class, flow, len }
    }
}

/// The rate in bit/s, over 6 s, of a class with a flood and `light` flows of short packets.
fn flood_with(light: u64, cap: bool) -> f64 {
    let class = |id, weight| TreeClass { id: Some(id), weight: Some(weight), parent: None };
    let spec = Spec {
        measure: Some(Measure::Bytes),
        cap: Some(cap),
        class: Some(vec![class(FLOOD, 1.0), class(OTHERS, 6.0)]),
        ..Spec::default()
    };
    let (whole, config) = spec.check(&site(Amount::Bytes(375_000))).expect("allowed");
    let mut queue = Queue::new(whole.room.limit, Fcfs, Hfaba::new(config, Seed(1).stream("hfaba")));
    let mut sources = vec![Source::new(FLOOD, 1, FULL, 2 * LINK_BPS)];
    sources.extend((0..light).map(|flow| Source::new(FLOOD, 10 + flow, MIN_BYTES, 18_000 + flow)));
    sources.extend((0..30).map(|flow| Source::new(OTHERS, 100 + flow, FULL, 3_000_000 + 1009 * flow)));
    let (mut free_ns, mut got) = (0, 0_u64);
    for _ in 0..100_000 {
        let source = sources.iter_mut().min_by_key(|source| source.next_ns).expect("there are some");
        let now_ns = source.next_ns;
        source.next_ns += source.every_ns;
        let packet = of_class(source.class, source.flow, source.len);
        while free_ns <= now_ns {
            let Some(packet) = queue.dequeue(Time::from_ns(free_ns), &mut Ignore) else {
                free_ns = now_ns;
                break;
            };
            free_ns += u64::from(packet.len) * 8_000_000_000 / LINK_BPS;
            got += if packet.class == FLOOD { u64::from(packet.len) } else { 0 };
        }
        queue.enqueue(packet, Time::from_ns(now_ns), &mut Ignore);
    }
    got as f64 * 8e9 / free_ns as f64
}

#[test]
fn light_flows_in_the_class_of_a_flood_take_nothing_from_their_class() {
    let link = LINK_BPS as f64;
    let fair = max_min(link, &[(2.0 * link, 1.0), (2.0 * link, 6.0)])[0];
    for cap in [false, true] {
        for light in [0, 10] {
            let part = flood_with(light, cap) / fair;
            // 26 000 random choices with probability 1/7 give a count with a standard deviation of
            // 1.5 %. The tolerance is 4 × 1.5 % plus 1 % for the initial tokens.
            assert!((part - 1.0).abs() < 0.07, "cap {cap}, {light} light flows: {part}");
        }
    }
}
