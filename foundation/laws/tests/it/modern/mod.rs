//! The modern disciplines, each against a transcription of its RFC or paper.

mod ack_filter;
mod cobalt;
mod codel;
mod defaults;
mod dual_pi2;
mod flow_queues;
mod fq_codel;
mod pie;
mod step;

use crate::beside::{Event, Offer, Reading};
use crate::fate::Events;
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Ecn, Rng, Time};
use fairwire_laws::Site;

pub(crate) fn site(packets: u32) -> Site<'static> {
    Site { packet_bytes: 500, stream: "link/modern", ..crate::site(Amount::Packets(packets)) }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Offer(Offer),
    Poll(u64),
}

/// A random trace with 0.5 to 2 packets per ms, for a link of one packet per ms.
pub(crate) fn trace(rng: &mut Rng, steps: u32, flows: u32, len: impl Fn(u64, &mut Rng) -> u32) -> Vec<Step> {
    let mut trace = Vec::new();
    let (mut now, mut frame, mut load) = (1_000_000, 0, 1.0);
    for step in 0..steps {
        if step % 250 == 0 {
            load = 0.5 + 1.5 * rng.uniform();
        }
        let arrivals = u32::from(rng.chance(load / 2.0)) + u32::from(rng.chance(load / 2.0));
        for _ in 0..arrivals {
            let flow = if rng.chance(0.5) { 0 } else { u64::from(rng.below(flows)) };
            let ecn = Ecn::from_bits(rng.below(4) as u8);
            let arrived = now + u64::from(rng.below(900_000));
            now = arrived;
            let len = len(flow, rng);
            trace.push(Step::Offer(Offer { frame, flow, class: 0, color: 0, len, arrived, ecn }));
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

pub(crate) fn assert_same(
    discipline: &mut impl Discipline,
    model: &mut impl Reading,
    trace: &[Step],
) -> Events {
    let (mut log, mut events) = (Events::default(), Vec::new());
    for &step in trace {
        match step {
            Step::Offer(offer) => {
                discipline.enqueue(offer.packet(), Time::from_ns(offer.arrived), &mut log);
                model.offer(offer, offer.arrived, &mut events);
            }
            Step::Poll(now) => {
                if let Some(packet) = discipline.dequeue(Time::from_ns(now), &mut log) {
                    log.0.push(Event::Sent(packet.frame));
                }
                model.request(now, &mut events);
            }
        }
        let from = events.len().saturating_sub(3);
        assert_eq!(
            log.0.get(from..),
            events.get(from..),
            "after {step:?}, discipline on the left, transcription on the right"
        );
    }
    assert_eq!(log.0, events);
    log
}
