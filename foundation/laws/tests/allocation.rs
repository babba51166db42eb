//! No discipline allocates after construction.
//!
//! This is a separate program, because the threads of a test runner allocate at any time.

use fairwire_catalogue::{self as catalogue, Entry};
use fairwire_catalogue::{Parameters, build};
use fairwire_core::rng::mix;
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Ecn, Ignore, Packet, Rate, Seed, Time, Weight};
use fairwire_laws::Site;
use fairwire_testing::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

const BUFFERS: [Amount; 4] =
    [Amount::Packets(1), Amount::Packets(40), Amount::Bytes(30_000), Amount::Bytes(200_000)];

/// Parameters for both ECN policies, and for every option that adds state.
fn variants(entry: &Entry) -> Vec<String> {
    let page = entry.page().expect("documented");
    let has = |name: &str| page.parameters.iter().any(|parameter| parameter.name == name);
    let weights = "weights = { 1 = 4.0, 2 = 0.25 }";
    let more = [
        ("measure", "measure = 'bytes'".into()),
        ("weights", weights.into()),
        ("scheduler", format!("scheduler = {{ fcfs = {{ {weights} }} }}")),
        ("scheduler", format!("scheduler = {{ drr = {{ {weights}, queues = 16 }} }}")),
    ];
    let more = more.into_iter().filter(|(name, _)| has(name)).map(|(_, typed)| typed);
    let all = ["ecn = 'drop'".into(), "ecn = 'mark'".into()].into_iter();
    all.chain(more.map(|typed| format!("ecn = 'mark'\n{typed}"))).collect()
}

fn main() {
    for entry in catalogue::all() {
        for variant in variants(entry) {
            for buffer in BUFFERS {
                let site = Site {
                    rate: Rate::from_bps(10_000_000).expect("not zero"),
                    buffer,
                    packet_bytes: 512,
                    seed: Seed(1),
                    stream: "link/allocation",
                };
                let typed = format!("[\"{}\"]\n{variant}", entry.name);
                let parameters: Parameters =
                    toml::from_str(&typed).unwrap_or_else(|error| panic!("{typed}: {error}"));
                let built = build(entry.name, &parameters, &site);
                let mut queue = built.unwrap_or_else(|error| panic!("{typed}: {error}"));
                let before = ALLOCATOR.allocations();
                overload(&mut *queue);
                change(&mut *queue);
                let allocations = ALLOCATOR.allocations() - before;
                assert_eq!(allocations, 0, "{typed} with {buffer} allocated");
            }
        }
        println!("{}: no allocation after construction", entry.name);
    }
}

/// Fills and drains `queue`, and sets weights even if the discipline has none.
fn change(queue: &mut dyn Discipline) {
    for round in 0..6u64 {
        for i in 0..200u64 {
            let flow = mix(i) % 50;
            let packet =
                Packet { class: (flow % 4) as u32, ..Packet::new(i as u32, 512, flow.into(), Time::MAX) };
            queue.enqueue(packet, Time::MAX, &mut Ignore);
            let weight = Weight::new(1.0 + (mix(i ^ round) % 40) as f64).expect("allowed");
            let _ = queue.set_weight((i % 4) as u32, weight);
        }
        let (waits, mut drained) = (queue.backlog().packets, 0);
        queue.drain(&mut |_| drained += 1);
        assert_eq!(drained, waits);
    }
}

/// Offers 1.5 times the link's rate from more flows than any table has room for.
fn overload(queue: &mut dyn Discipline) {
    for i in 0..60_000u64 {
        let now = Time::from_ns(i * 273_067);
        let ecn = Ecn::from_bits(mix(i) as u8);
        let flow = mix(i) % 10_000;
        let len = match i % 48 {
            7 => 0,
            23 => 1,
            39 => 65_535,
            _ => 512,
        };
        let packet = Packet { ecn, class: (flow % 4) as u32, ..Packet::new(i as u32, len, flow.into(), now) };
        queue.enqueue(packet, now, &mut Ignore);
        if !i.is_multiple_of(3) {
            queue.dequeue(now, &mut Ignore);
        }
    }
    while queue.ready_at().is_some() {
        queue.dequeue(Time::MAX, &mut Ignore);
    }
    queue.dequeue(Time::MAX, &mut Ignore);
    queue.inspect(&mut |_, _, _| {});
}
