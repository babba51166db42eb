//! Measures each discipline's time per packet, at 1.5 times the link's rate.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fairwire_catalogue::{self as catalogue, Parameters, Site, build};
use fairwire_core::rng::mix;
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Ignore, Packet, Rate, Seed, Time};
use std::hint::black_box;

const BUFFER: u32 = 780;
const PACKET_BYTES: u32 = 512;

fn overload(queue: &mut dyn Discipline, flows: u64, rounds: u64, clock: &mut u64) {
    for _ in 0..rounds {
        for step in 0..3 {
            *clock += 273_000; // two packets in three such steps are 10 Mbit/s
            let flow = mix(mix(*clock) % flows).into();
            let now = Time::from_ns(*clock);
            queue.enqueue(Packet::new(0, PACKET_BYTES, flow, now), now, &mut Ignore);
            if step < 2 {
                black_box(queue.dequeue(now, &mut Ignore));
            }
        }
    }
}

fn packet(c: &mut Criterion) {
    let site = Site {
        rate: Rate::from_bps(10_000_000).expect("not zero"),
        buffer: Amount::Packets(BUFFER),
        packet_bytes: PACKET_BYTES,
        seed: Seed(1),
        stream: "bench",
    };
    let mut group = c.benchmark_group("packet");
    group.throughput(Throughput::Elements(300));
    for entry in catalogue::all() {
        for flows in [10, 1000] {
            group.bench_function(BenchmarkId::new(entry.name, flows), |b| {
                let mut queue =
                    build(entry.name, &Parameters::default(), &site).expect("the defaults are allowed");
                let mut clock = 0;
                overload(&mut *queue, flows, 10_000, &mut clock); // until the queue is as full as it gets
                b.iter(|| overload(&mut *queue, flows, 100, &mut clock));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, packet);
criterion_main!(benches);
