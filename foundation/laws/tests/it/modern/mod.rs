//! Today's defaults: CoDel, PIE, COBALT, FQ-CoDel, FQ-PIE, CAKE's queues and DualPI2, each beside a
//! second, straight-line reading of its RFC or paper.

mod cobalt;
mod codel;
mod defaults;
mod dual_pi2;
mod flow_queues;
mod fq_codel;
mod pie;

use fairwire_core::units::Amount;
use fairwire_core::{Cause, Discipline, Ecn, Packet, Rate, Rng, Seed, Signals, Time};
use fairwire_laws::Site;

pub(crate) fn site(packets: u32) -> Site<'static> {
    Site {
        rate: Rate::from_bps(10_000_000).expect("not zero"),
        buffer: Amount::Packets(packets),
        packet_bytes: 500,
        seed: Seed(1),
        stream: "link/modern",
    }
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Sent(u32),
    Dropped(u32),
    Marked(u32),
}

/// Everything that happened, in order, and the drops by cause.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) events: Vec<Event>,
    pub(crate) causes: [u32; Cause::ALL.len()],
}

impl Log {
    pub(crate) fn caused(&self, cause: Cause) -> u32 {
        self.causes[cause as usize]
    }

    pub(crate) fn dropped(&self) -> impl Iterator<Item = u32> + '_ {
        self.events
            .iter()
            .filter_map(|event| if let Event::Dropped(frame) = event { Some(*frame) } else { None })
    }

    pub(crate) fn marked(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, Event::Marked(_))).count()
    }
}

impl Signals for Log {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.events.push(Event::Dropped(packet.frame));
        self.causes[cause as usize] += 1;
    }
    fn marked(&mut self, packet: &Packet, _: Cause) {
        self.events.push(Event::Marked(packet.frame));
    }
}

/// A packet as a transcription sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain {
    pub(crate) frame: u32,
    pub(crate) flow: u64,
    pub(crate) len: u32,
    pub(crate) arrived: u64,
    pub(crate) ecn: Ecn,
}

/// A discipline written straight from its source.
pub(crate) trait Model {
    fn enqueue(&mut self, packet: Plain, now: u64, events: &mut Vec<Event>);
    fn dequeue(&mut self, now: u64, events: &mut Vec<Event>);
}

/// One thing that happens in a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Offer(Plain),
    Poll(u64),
}

/// A random trace: the link sends a packet per millisecond, and the load goes up and down between a
/// half and twice that. `len` gives a packet's length by its flow.
pub(crate) fn trace(rng: &mut Rng, steps: u32, flows: u32, len: impl Fn(u64, &mut Rng) -> u32) -> Vec<Step> {
    let mut trace = Vec::new();
    let (mut now, mut frame, mut load) = (1_000_000, 0, 1.0);
    for step in 0..steps {
        if step % 250 == 0 {
            load = 0.5 + 1.5 * rng.uniform();
        }
        let arrivals = u32::from(rng.chance(load / 2.0)) + u32::from(rng.chance(load / 2.0));
        for _ in 0..arrivals {
            // Half of everything is flow 0's.
            let flow = if rng.chance(0.5) { 0 } else { u64::from(rng.below(flows)) };
            let ecn = Ecn::from_bits(rng.below(4) as u8);
            let arrived = now + u64::from(rng.below(900_000));
            now = arrived;
            trace.push(Step::Offer(Plain { frame, flow, len: len(flow, rng), arrived, ecn }));
            frame += 1;
        }
        now = now.max(u64::from(step + 2) * 1_000_000);
        trace.push(Step::Poll(now));
        if rng.chance(0.001) {
            now += 400_000_000;
        }
    }
    trace
}

/// Both decide alike, whatever happens; returns what the discipline did.
pub(crate) fn assert_same(discipline: &mut impl Discipline, model: &mut impl Model, trace: &[Step]) -> Log {
    let (mut log, mut events) = (Log::default(), Vec::new());
    for &step in trace {
        match step {
            Step::Offer(plain) => {
                let now = Time::from_ns(plain.arrived);
                let packet =
                    Packet { ecn: plain.ecn, ..Packet::new(plain.frame, plain.len, plain.flow.into(), now) };
                discipline.enqueue(packet, now, &mut log);
                model.enqueue(plain, plain.arrived, &mut events);
            }
            Step::Poll(now) => {
                if let Some(packet) = discipline.dequeue(Time::from_ns(now), &mut log) {
                    log.events.push(Event::Sent(packet.frame));
                }
                model.dequeue(now, &mut events);
            }
        }
        let from = events.len().saturating_sub(3);
        assert_eq!(
            log.events.get(from..),
            events.get(from..),
            "after {step:?}, discipline on the left, transcription on the right"
        );
    }
    assert_eq!(log.events, events);
    log
}
