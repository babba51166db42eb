//! A workload for comparison with published costs: bursts of packets for random leaves of a fixed
//! set, without overload.
//!
//! DPDK measures rte_sched with bursts of 32 at an unstated backlog. Here the backlog is half a
//! packet per leaf, and the state of all leaves is in use. The cost of dropped packets is charged
//! to the packets that left.

use fairwire_catalogue::{Parameters, Site, build};
use fairwire_core::rng::mix;
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Ignore, Packet, Rate, Rng, Seed, Time};
use std::hint::black_box;
use std::time::Instant;

/// The numbers of leaves for which others published costs.
pub(crate) const LEAVES: [u32; 4] = [256, 4_096, 16_384, 65_536];

const BURST: u32 = 32;
const BURSTS: u32 = 2_000;
const REPEATS: usize = 9;
const CLASSES: u32 = 16;
const LEN: u32 = 64;
/// Room for each leaf, in packets. With room for 4, hierarchical FABA dropped a sixth of the
/// packets.
const ROOM: u32 = 16;
const RATE: u64 = 10_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub name: &'static str,
    pub has_classes: bool,
}

pub(crate) const SHAPES: [Shape; 4] = [
    Shape { name: "hfaba", has_classes: true },
    Shape { name: "hfaba", has_classes: false },
    Shape { name: "faba", has_classes: false },
    Shape { name: "drr", has_classes: false },
];

impl Shape {
    pub(crate) fn label(self) -> String {
        if self.has_classes { format!("{}, {CLASSES} classes", self.name) } else { self.name.into() }
    }

    fn parameters(self, leaves: u32) -> Parameters {
        let mut typed = format!("[{}]\n", self.name);
        if self.name != "drr" {
            typed += &format!("max_flows = {leaves}\n");
        }
        if self.has_classes {
            let classes: Vec<String> = (0..CLASSES).map(|id| format!("{{ id = {id} }}")).collect();
            typed += &format!("class = [{}]\n", classes.join(", "));
        }
        toml::from_str(&typed).expect("the bounds and the classes are parameters")
    }
}

pub(crate) struct Bursts {
    discipline: Box<dyn Discipline>,
    leaves: u32,
    now: u64,
    rng: Rng,
    arrivals: Vec<u32>,
}

impl Bursts {
    /// Runs bursts until the backlog is half a packet per leaf.
    pub(crate) fn new(shape: Shape, leaves: u32) -> Self {
        let site = Site {
            rate: Rate::from_bps(RATE).expect("not zero"),
            buffer: Amount::Packets(leaves * ROOM),
            packet_bytes: LEN,
            seed: Seed(1),
            stream: "bench",
        };
        let discipline = build(shape.name, &shape.parameters(leaves), &site).expect("an allowed shape");
        let rng = Seed(2).stream("bursts");
        let mut bursts = Bursts { discipline, leaves, now: 0, rng, arrivals: Vec::new() };
        bursts.prepare(leaves.div_ceil(BURST) * 8);
        bursts.work();
        bursts
    }

    pub(crate) fn prepare(&mut self, bursts: u32) {
        self.arrivals = (0..bursts * BURST).map(|_| self.rng.below(self.leaves)).collect();
    }

    /// Runs the measured bursts. Returns the number of packets that left.
    #[inline(never)]
    pub(crate) fn run(&mut self) -> u64 {
        self.work()
    }

    fn work(&mut self) -> u64 {
        let arrivals = std::mem::take(&mut self.arrivals);
        let mut sent = 0;
        for burst in arrivals.chunks_exact(BURST as usize) {
            for &leaf in burst {
                self.now += u64::from(LEN) * 8 * 1_000_000_000 / RATE;
                let now = Time::from_ns(self.now);
                let flow = mix(u64::from(leaf) + 1);
                let packet = Packet { class: leaf % CLASSES, ..Packet::new(0, LEN, flow.into(), now) };
                self.discipline.enqueue(packet, now, &mut Ignore);
            }
            while self.discipline.backlog().packets > self.leaves / 2 {
                sent += u64::from(
                    black_box(self.discipline.dequeue(Time::from_ns(self.now), &mut Ignore)).is_some(),
                );
            }
        }
        self.arrivals = arrivals;
        sent
    }
}

/// The cost per packet: one enqueue and one dequeue.
pub(crate) struct Row {
    pub shape: Shape,
    pub leaves: u32,
    /// Nanoseconds per packet: the median over the repeats.
    pub ns: f64,
    pub instructions: Option<f64>,
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time; the library does not")]
pub(crate) fn nanoseconds(shape: Shape, leaves: u32) -> f64 {
    let mut bursts = Bursts::new(shape, leaves);
    let mut times: Vec<f64> = (0..REPEATS)
        .map(|_| {
            bursts.prepare(BURSTS);
            let start = Instant::now();
            let sent = bursts.run();
            start.elapsed().as_nanos() as f64 / sent as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[REPEATS / 2]
}

pub(crate) fn child(label: &str, leaves: u32) {
    let shape = SHAPES.into_iter().find(|shape| shape.label() == label).expect("a label of a shape");
    let mut bursts = Bursts::new(shape, leaves);
    bursts.prepare(BURSTS);
    println!("{}", bursts.run());
}
