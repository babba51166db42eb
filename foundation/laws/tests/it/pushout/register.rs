//! ALQD's register against the paper's prose.

use super::plain::{Event, Reference, compare, queue};
use super::{packet, site};
use crate::fate::Events;
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::Amount;
use fairwire_core::{Cause, Discipline, Queue, Time};
use fairwire_laws::dropper::alqd::{Alqd, Spec};
use fairwire_testing::{Shape, operations};
use proptest::prelude::*;

/// "On every queueing event, the current queue length is compared with the longest queue identified
/// in the register. If it is the same queue, the queue length in the register is adjusted. If the
/// current queue is longer, its identity and length are now stored in the register."
#[derive(Default)]
struct Register {
    id: Option<u64>,
    length: u64,
}

impl Register {
    fn event(&mut self, event: &Event) {
        if self.id == Some(event.flow) {
            self.length = event.length;
        } else if event.length > self.length {
            (self.id, self.length) = (Some(event.flow), event.length);
        }
    }

    fn victim(&self) -> Option<u64> {
        self.id.filter(|_| self.length > 0)
    }
}

fn typed() -> Vec<(Spec, Amount)> {
    let read = |text: &str| toml::from_str::<Spec>(text).expect("well-formed");
    let mut typed = Vec::new();
    for buffer in [Amount::Packets(1), Amount::Packets(12), Amount::Bytes(4_000)] {
        for text in ["", "measure = 'packets'", "measure = 'bytes'", "drop = 'tail'"] {
            typed.push((read(text), buffer));
        }
    }
    typed
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_register_is_that_of_the_papers_prose(
        sequence in operations(Shape { flows: 7, max_operations: 300, ..Shape::default() })
    ) {
        for (spec, buffer) in typed() {
            let config = spec.check(&site(buffer)).expect("allowed").1;
            let mut plain = Reference::new(&config, [1.0; 4]);
            let register = std::cell::RefCell::new(Register::default());
            let mut alqd = queue(&config, Alqd::new(config.clone()));
            let victims = |_: &Reference, _, event: Option<&Event>| {
                if let Some(event) = event {
                    register.borrow_mut().event(event);
                }
                register.borrow().victim().into_iter().collect()
            };
            let check = |queue: &Queue<_, Alqd>, _: &Reference| {
                let found = queue.dropper().longest_known();
                let found = found.map(|(flow, length)| (queue.buffer().flow_hash(flow).0, length));
                let register = register.borrow();
                assert_eq!(found, register.victim().map(|flow| (flow, register.length)));
            };
            compare(&sequence, &mut alqd, &mut plain, victims, check);
        }
    }

    #[test]
    fn with_weights_it_compares_queues_by_their_excess_over_their_parts(
        sequence in operations(Shape { flows: 7, max_operations: 300, ..Shape::default() })
    ) {
        let spec: Spec = toml::from_str("scheduler = { fcfs = { weights = { 1 = 2.0, 2 = 0.5, 3 = 2.0 } } }")
            .expect("well-formed");
        for buffer in [Amount::Packets(12), Amount::Bytes(4_000)] {
            let config = spec.check(&site(buffer)).expect("allowed").1;
            let mut plain = Reference::new(&config, [1.0, 2.0, 0.5, 2.0]);
            let register = std::cell::Cell::new(None::<u64>);
            let mut alqd = queue(&config, Alqd::new(config.clone()));
            let victims = |plain: &Reference, _, event: Option<&Event>| {
                if let Some(event) = event {
                    let known = register.get().filter(|&flow| plain.length(flow) > 0);
                    let sum: f64 = plain.flows().into_iter().map(|flow| plain.weight(flow)).sum();
                    let above = |flow| plain.length(flow) as f64 - plain.pool * plain.weight(flow) / sum;
                    let is_further = known.is_none_or(|known| above(event.flow) > above(known));
                    register.set(if event.length > 0 && is_further { Some(event.flow) } else { known });
                }
                register.get().into_iter().collect()
            };
            let check = |queue: &Queue<_, Alqd>, _: &Reference| {
                let found = queue.dropper().longest_known().map(|(flow, _)| queue.buffer().flow_hash(flow).0);
                assert_eq!(found, register.get());
            };
            compare(&sequence, &mut alqd, &mut plain, victims, check);
        }
    }
}

#[test]
fn a_register_whose_queue_has_drained_cannot_make_room() {
    let config = Spec::default().check(&site(Amount::Bytes(1_600))).expect("allowed").1;
    let mut queue = Queue::new(config.limit, Fcfs, Alqd::new(config));
    let mut log = Events::default();
    for (frame, flow, len) in [(0, 1, 700), (1, 2, 800), (2, 3, 1500)] {
        queue.enqueue(packet(frame, flow, len), Time::ZERO, &mut log);
    }
    // The register knows only flow 2, so the arrival is refused after flow 2 has lost its only
    // packet.
    assert_eq!(log.dropped(), [(1, Cause::PushOut), (2, Cause::Overflow)]);
    assert_eq!(queue.dropper().longest_known(), None);
}

#[test]
fn a_light_queue_that_drains_does_not_displace_a_heavy_one() {
    let typed = "scheduler = { fcfs = { weights = { 1 = 4.0 } } }";
    let spec: Spec = toml::from_str(typed).expect("well-formed");
    let config = spec.check(&site(Amount::Packets(12))).expect("allowed").1;
    let mut queue = Queue::new(config.limit, Fcfs, Alqd::new(config));
    // Weights 4 and 1 give flows 1 and 4 shares of 9.6 and 2.4 packets.
    for frame in 0..11 {
        let flow = if frame == 9 { 4 } else { 1 };
        queue.enqueue(packet(frame, flow, 512), Time::ZERO, &mut Events::default());
    }
    let known = |queue: &Queue<Fcfs, Alqd>| {
        queue.dropper().longest_known().map(|(flow, length)| (queue.buffer().flow_hash(flow).0, length))
    };
    assert_eq!(known(&queue), Some((1, 10)));
    for _ in 0..9 {
        queue.dequeue(Time::ZERO, &mut Events::default());
    }
    assert_eq!(known(&queue), Some((1, 1)));
    // After this poll, only flow 1 is backlogged, and the shares are 12 and 3. Flow 4 is nearer to
    // its share, but has no packet to lose.
    let sent = queue.dequeue(Time::ZERO, &mut Events::default());
    assert_eq!(sent.map(|sent| sent.frame), Some(9));
    assert_eq!(known(&queue), Some((1, 1)));
}
