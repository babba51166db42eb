//! The measured workload: flows of heavy-tailed sizes start and end, and offer 1.5 times the link's
//! rate.

use fairwire_catalogue::{Parameters, Site, build};
use fairwire_core::rng::mix;
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Ecn, Ignore, Packet, Rate, Rng, Seed, Time};
use std::hint::black_box;

const RATE: u64 = 10_000_000_000;
/// Packet sizes in the proportions of an edge link.
const SIZES: [u32; 5] = [64, 64, 576, 1500, 1500];
const MEAN_SIZE: u32 = (64 + 64 + 576 + 1500 + 1500) / 5;
/// The shape of the Pareto distribution of flow sizes, as measured on the Internet.
const SHAPE: f64 = 1.2;
const MIN_FLOW: f64 = 2.0;
const MAX_FLOW: f64 = 1e6;

pub(crate) struct Workload {
    discipline: Box<dyn Discipline>,
    now: u64,
    flows: Vec<Active>,
    begun: u64,
    rng: Rng,
    arrivals: Vec<Arrival>,
}

struct Active {
    hash: u64,
    class: u32,
    left: u32,
}

struct Arrival {
    flow: u64,
    class: u32,
    len: u32,
}

/// Disciplines with a table of bounded size, and the parameter that sets the bound.
const BOUNDS: &[(&str, &str)] = &[("faba", "max_flows"), ("sfed", "max_flows"), ("hfaba", "max_flows")];

/// In packets.
pub(crate) fn buffer(flows: u32) -> u32 {
    flows.max(1000)
}

pub(crate) fn discipline(name: &str, flows: u32) -> Box<dyn Discipline> {
    let site = Site {
        rate: Rate::from_bps(RATE).expect("not zero"),
        buffer: Amount::Packets(buffer(flows)),
        packet_bytes: MEAN_SIZE,
        seed: Seed(1),
        stream: "bench",
    };
    let typed = match BOUNDS.iter().find(|(discipline, _)| *discipline == name) {
        Some((_, bound)) => format!("[{name:?}]\n{bound} = {}", flows.max(64)),
        None => String::new(),
    };
    let parameters: Parameters = toml::from_str(&typed).expect("the bounds are parameters");
    build(name, &parameters, &site).expect("the defaults are allowed")
}

impl Workload {
    /// Runs the workload until the backlog no longer grows.
    pub(crate) fn new(name: &str, flows: u32) -> Self {
        let mut workload = Workload {
            discipline: discipline(name, flows),
            now: 0,
            flows: Vec::new(),
            begun: 0,
            rng: Seed(2).stream("workload"),
            arrivals: Vec::new(),
        };
        for _ in 0..flows {
            let flow = workload.begin();
            workload.flows.push(flow);
        }
        workload.fill(buffer(flows));
        workload.prepare(buffer(flows).max(30_000) / 3);
        workload.run();
        workload
    }

    fn begin(&mut self) -> Active {
        self.begun += 1;
        let size = MIN_FLOW * self.rng.uniform().max(1e-12).powf(-1.0 / SHAPE);
        Active { hash: mix(self.begun), class: self.begun as u32 % 64, left: size.min(MAX_FLOW) as u32 }
    }

    fn arrival(&mut self) -> Arrival {
        let at = self.rng.below(self.flows.len() as u32) as usize;
        let flow = &mut self.flows[at];
        let arrival = Arrival {
            flow: flow.hash,
            class: flow.class,
            len: SIZES[self.rng.below(SIZES.len() as u32) as usize],
        };
        flow.left -= 1;
        if flow.left == 0 {
            self.flows[at] = self.begin();
        }
        arrival
    }

    pub(crate) fn prepare(&mut self, rounds: u32) {
        self.arrivals = (0..rounds * 3).map(|_| self.arrival()).collect();
    }

    fn fill(&mut self, packets: u32) {
        for _ in 0..packets {
            let arrival = self.arrival();
            self.offer(&arrival);
        }
    }

    fn offer(&mut self, arrival: &Arrival) {
        self.now += u64::from(MEAN_SIZE) * 8 * 1_000_000_000 / RATE * 2 / 3;
        let now = Time::from_ns(self.now);
        let packet = Packet {
            class: arrival.class,
            ecn: Ecn::Ect0,
            ..Packet::new(0, arrival.len, arrival.flow.into(), now)
        };
        self.discipline.enqueue(packet, now, &mut Ignore);
    }

    /// Runs the measured packets. Returns the number of packets offered.
    #[inline(never)]
    pub(crate) fn run(&mut self) -> u64 {
        let arrivals = std::mem::take(&mut self.arrivals);
        for round in arrivals.chunks_exact(3) {
            for (at, arrival) in round.iter().enumerate() {
                self.offer(arrival);
                if at < 2 {
                    black_box(self.discipline.dequeue(Time::from_ns(self.now), &mut Ignore));
                }
            }
        }
        let offered = arrivals.len() as u64;
        self.arrivals = arrivals;
        offered
    }
}
