//! No discipline allocates after construction.
//!
//! A program of its own rather than a set of `#[test]`s: the count is that of the whole process, and the test runner's threads
//! allocate when they like.

use fairwire_core::rng::mix;
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Ecn, Ignore, Packet, Rate, Seed, Time};
use fairwire_disciplines::{Parameters, Site, build, catalogue};
use fairwire_testing::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

fn main() {
    for entry in catalogue::all() {
        for ecn in ["drop", "mark"] {
            for buffer in [Amount::Packets(1), Amount::Packets(40), Amount::Bytes(30_000)] {
                let site = Site {
                    rate: Rate::from_bps(10_000_000).expect("not zero"),
                    buffer,
                    packet_bytes: 512,
                    seed: Seed(1),
                    stream: "link/allocation",
                };
                let typed = format!("[\"{}\"]\necn = \"{ecn}\"", entry.name);
                let parameters: Parameters = toml::from_str(&typed).expect("every discipline has `ecn`");
                let mut queue = build(entry.name, &parameters, &site).expect("the defaults are allowed");
                let before = ALLOCATOR.allocations();
                overload(&mut *queue);
                let allocations = ALLOCATOR.allocations() - before;
                assert_eq!(allocations, 0, "{} with {buffer}, ecn = {ecn}, allocated", entry.name);
            }
        }
        println!("{}: no allocation after construction", entry.name);
    }
}

/// More flows than any table has room for, 1.5 times the link's rate.
fn overload(queue: &mut dyn Discipline) {
    for i in 0..60_000u64 {
        let now = Time::from_ns(i * 273_067);
        let ecn = Ecn::from_bits(mix(i) as u8);
        let packet = Packet { ecn, ..Packet::new(i as u32, 512, (mix(i) % 10_000).into(), now) };
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
