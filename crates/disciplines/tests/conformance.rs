//! One suite for every discipline in the catalogue.

use fairwire_core::rng::mix;
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Duration, Ecn, Rate, Seed};
use fairwire_disciplines::catalogue::{self, Entry};
use fairwire_disciplines::{Parameters, Site, build};
use fairwire_testing::{Driver, Operation, Outcome, Shape, operations};
use proptest::prelude::*;

/// Typical packets have 512 bytes, or just fit: a buffer that holds none is refused.
fn site(buffer: Amount) -> Site<'static> {
    let packet_bytes = if let Amount::Bytes(bytes) = buffer { bytes.min(512) as u32 } else { 512 };
    Site {
        rate: Rate::from_bps(10_000_000).expect("not zero"),
        buffer,
        packet_bytes,
        seed: Seed(1),
        stream: "link/conformance",
    }
}

/// Builds any entry under either ECN policy, by way of what a user would type.
fn make(entry: &Entry, ecn: &str, buffer: Amount) -> Driver<Box<dyn Discipline>> {
    let typed = format!("[\"{}\"]\necn = \"{ecn}\"", entry.name);
    let parameters: Parameters = toml::from_str(&typed).expect("every discipline has `ecn`");
    Driver::new(build(entry.name, &parameters, &site(buffer)).expect("the defaults are allowed"))
}

fn drive(mut driver: Driver<Box<dyn Discipline>>, operations: &[Operation]) -> Outcome {
    for &operation in operations {
        driver.apply(operation);
    }
    driver.finish()
}

const POLICIES: [&str; 2] = ["drop", "mark"];

const BUFFERS: [Amount; 6] = [
    Amount::Packets(1),
    Amount::Packets(2),
    Amount::Packets(25),
    Amount::Bytes(1),
    Amount::Bytes(9_000),
    Amount::Time(Duration::from_ms(5)),
];

proptest! {
    // 64 sequences for each of 12 variants of each discipline: about a second.
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_leaves_exactly_once_whatever_is_done(sequence in operations(Shape::default())) {
        for entry in catalogue::all() {
            for ecn in POLICIES {
                for buffer in BUFFERS {
                    drive(make(entry, ecn, buffer), &sequence);
                }
            }
        }
    }
}

/// The `n`th sequence of six operations, each an arrival of one of three flows or a request.
fn nth_sequence(n: u32) -> [Operation; 6] {
    core::array::from_fn(|i| match (n >> (2 * i)) & 3 {
        3 => Operation::Dequeue,
        flow => Operation::Enqueue { flow: u64::from(flow), len: 512, ecn: Ecn::Ect0 },
    })
}

#[test]
fn every_sequence_of_six_operations_on_three_flows_conserves_packets() {
    // The driver checks after each operation, so shorter sequences are checked as beginnings of these.
    for entry in catalogue::all() {
        for packets in 1..=3 {
            for n in 0..4096 {
                let mut driver = make(entry, "mark", Amount::Packets(packets));
                for operation in nth_sequence(n) {
                    driver.apply(operation);
                    driver.apply(Operation::Wait(100_000));
                }
                driver.finish();
            }
        }
    }
}

/// A fixed contest at 1.5 times the link's rate with pauses, so that averages and buckets go through all their ranges.
fn contest(flows: u64) -> Vec<Operation> {
    let enqueue = |i: u64| Operation::Enqueue {
        // One flow sends a third of everything, the others share the rest.
        flow: if i.is_multiple_of(3) { 0 } else { mix(i) % flows },
        len: 512,
        ecn: if mix(i ^ 0xec) & 1 == 0 { Ecn::NotEct } else { Ecn::Ect0 },
    };
    let mut operations = Vec::new();
    for i in 0..12_000 {
        operations.push(enqueue(i));
        operations.push(Operation::Wait(273_067)); // two thirds of what 512 bytes take at 10 Mbit/s
        if i % 3 != 0 {
            operations.push(Operation::Dequeue);
        }
        if i % 4000 == 3999 {
            operations.extend([Operation::Dequeue; 60]);
            operations.push(Operation::Wait(30_000_000));
        }
    }
    operations
}

#[test]
fn the_same_run_twice_gives_the_same_decisions() {
    for entry in catalogue::all() {
        for ecn in POLICIES {
            let run = || drive(make(entry, ecn, Amount::Packets(40)), &contest(20));
            assert_eq!(run(), run(), "{}", entry.name);
        }
    }
}

#[test]
fn under_mark_no_capable_packet_is_dropped_early() {
    for entry in catalogue::all() {
        let early_drops = |ecn| {
            let mut driver = make(entry, ecn, Amount::Packets(40));
            contest(20).into_iter().for_each(|operation| driver.apply(operation));
            let drops = driver.early_drops_of_capable();
            (drops, driver.finish().marked)
        };
        let (drops, marks) = early_drops("mark");
        assert_eq!(drops, 0, "{}", entry.name);
        // The contest does reach such decisions: who drops early under one policy marks under the other.
        assert_eq!(early_drops("drop").0 > 0, entry.marks, "{}", entry.name);
        assert_eq!(marks > 0, entry.marks, "{}", entry.name);
        assert_eq!(early_drops("drop").1, 0, "{}", entry.name);
    }
}

#[test]
fn overload_fills_the_link_and_loses_a_third() {
    for entry in catalogue::all() {
        let outcome = drive(make(entry, "drop", Amount::Packets(40)), &contest(20));
        // Two requests for three of 12000 offers, and at most 40 packets left for each of the three pauses: 8120 at most. Each
        // request comes right after an offer, so one in vain would be an empty queue that refused a packet.
        assert!((8_000..=8_120).contains(&outcome.sent), "{}: {outcome:?}", entry.name);
    }
}

/// Name, and the hash of all decisions in the contest under `mark`.
///
/// A new hash means that a discipline decides differently on the same input, so recorded results change. Where that is
/// meant, put the value that the failing test prints here, and say why in the commit.
const GOLDEN: &[(&str, u64)] = &[
    ("tail-drop", 13_395_319_866_645_433_253),
    ("red", 10_751_429_357_254_637_991),
    ("faba", 4_055_218_775_099_151_042),
    ("drr", 5_699_972_028_569_454_991),
    ("fbfq", 13_115_415_695_619_249_266),
    ("scfq", 5_978_033_281_465_205_122),
    ("sfq-start", 4_906_518_871_432_969_419),
    ("wf2q+", 16_013_754_397_333_505_434),
    // In this contest the oldest packet is always of the longest queue when room is made, so three drop alike.
    ("drop-front", 17_020_215_906_615_053_266),
    ("choke", 2_753_952_013_321_535_028),
    ("lqd", 17_020_215_906_615_053_266),
    ("rnd", 13_246_817_075_591_461_866),
    ("alqd", 17_020_215_906_615_053_266),
    ("lqd-binned", 6_422_546_493_980_696_793),
];

#[test]
fn decisions_are_those_recorded() {
    let found: Vec<(&str, u64)> = catalogue::all()
        .iter()
        .map(|entry| {
            (entry.name, drive(make(entry, "mark", Amount::Packets(40)), &contest(20)).trace.value())
        })
        .collect();
    assert_eq!(found, GOLDEN, "found on the left, recorded on the right");
}
