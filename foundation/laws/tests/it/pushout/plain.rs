//! A model of a buffer to test droppers: a list of packets, with the paper's shares.

use super::{Lottery, packet};
use crate::fate::Events;
use fairwire_core::{Cause, Discipline, Dropper, Limit, Queue, Seed, Time};
use fairwire_laws::dropper::push_out::{Config, End};
use fairwire_laws::spec::Measure;
use fairwire_testing::Operation;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Waiting {
    pub frame: u32,
    pub flow: u64,
    pub len: u32,
}

/// The paper's queueing event: a packet enters or leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub flow: u64,
    /// The backlog of the flow after the event.
    pub length: u64,
}

#[derive(Debug)]
pub(super) struct Reference {
    pub limit: Limit,
    pub bytes: bool,
    pub drop: End,
    /// Weights by class, which is the flow's number modulo 4.
    pub weights: [f64; 4],
    pub pool: f64,
    /// The waiting packets, in order of arrival.
    pub waiting: Vec<Waiting>,
}

impl Reference {
    pub(super) fn new(config: &Config, weights: [f64; 4]) -> Self {
        Reference {
            limit: config.limit,
            bytes: config.measure == Measure::Bytes,
            drop: config.drop,
            weights,
            pool: config.pool,
            waiting: Vec::new(),
        }
    }

    pub(super) fn weight(&self, flow: u64) -> f64 {
        self.weights[(flow % 4) as usize]
    }

    /// Backlog q_i, in packets or bytes.
    pub(super) fn length(&self, flow: u64) -> u64 {
        let of_flow = self.waiting.iter().filter(|waiting| waiting.flow == flow);
        of_flow.map(|waiting| if self.bytes { u64::from(waiting.len) } else { 1 }).sum()
    }

    pub(super) fn flows(&self) -> Vec<u64> {
        let mut flows: Vec<u64> = self.waiting.iter().map(|waiting| waiting.flow).collect();
        flows.sort_unstable();
        flows.dedup();
        flows
    }

    fn fits(&self, len: u32) -> bool {
        let held: u64 = self.waiting.iter().map(|waiting| u64::from(waiting.len)).sum();
        (self.waiting.len() as u32) < self.limit.max_packets()
            && held + u64::from(len) <= self.limit.max_bytes()
    }

    /// The excess q_i - b_i of each backlogged flow: its backlog q_i less its share b_i = B w_i /
    /// (sum of w). The sum includes `arriving` even if that flow has no backlog.
    pub(super) fn above(&self, arriving: u64) -> Vec<(u64, f64)> {
        let mut counted = self.flows();
        if !counted.contains(&arriving) {
            counted.push(arriving);
        }
        let sum: f64 = counted.iter().map(|&flow| self.weight(flow)).sum();
        let part = |flow| self.pool * self.weight(flow) / sum;
        self.flows().into_iter().map(|flow| (flow, self.length(flow) as f64 - part(flow))).collect()
    }

    fn remove(&mut self, frame: u32) -> Event {
        let at = self.waiting.iter().position(|waiting| waiting.frame == frame).expect("it waits");
        let flow = self.waiting.remove(at).flow;
        Event { flow, length: self.length(flow) }
    }
}

/// Asserts that push-outs remove packets only from the flows that `victims` returns, and only at
/// the configured end of their queues. `victims` also gets each [`Event`]. Returns the number of
/// push-outs.
pub(super) fn compare<D: Dropper>(
    operations: &[Operation],
    queue: &mut Queue<Lottery, D>,
    plain: &mut Reference,
    mut victims: impl FnMut(&Reference, u64, Option<&Event>) -> Vec<u64>,
    mut after: impl FnMut(&Queue<Lottery, D>, &Reference),
) -> u32 {
    let mut pushed_out = 0;
    for (frame, operation) in operations.iter().enumerate() {
        let (frame, mut log) = (frame as u32, Events::default());
        match *operation {
            Operation::Enqueue { flow, len, .. } => {
                queue.enqueue(packet(frame, flow, len), Time::ZERO, &mut log);
                let arrival = Waiting { frame, flow, len };
                pushed_out += arrive(arrival, &log, plain, &mut victims);
            }
            Operation::Dequeue => {
                if let Some(sent) = queue.dequeue(Time::ZERO, &mut log) {
                    let event = plain.remove(sent.frame);
                    victims(plain, event.flow, Some(&event));
                }
                assert!(log.dropped().is_empty());
            }
            Operation::Wait(_) => continue,
        }
        assert_eq!(queue.backlog().packets as usize, plain.waiting.len());
        after(queue, plain);
    }
    pushed_out
}

fn arrive(
    arrival: Waiting,
    log: &Events,
    plain: &mut Reference,
    victims: &mut impl FnMut(&Reference, u64, Option<&Event>) -> Vec<u64>,
) -> u32 {
    let all = log.dropped();
    let mut dropped = all.iter();
    let mut pushed_out = 0;
    if u64::from(arrival.len) > plain.limit.max_bytes() {
        assert_eq!(dropped.as_slice(), [(arrival.frame, Cause::Oversize)]);
        return 0;
    }
    while !plain.fits(arrival.len) {
        let allowed = victims(plain, arrival.flow, None);
        let &(frame, cause) = dropped.next().expect("room must be made");
        if frame == arrival.frame {
            assert_eq!(cause, Cause::Overflow);
            assert!(allowed.is_empty() || (plain.drop == End::Tail && allowed.contains(&arrival.flow)));
            assert!(dropped.next().is_none());
            return pushed_out;
        }
        assert_eq!(cause, Cause::PushOut);
        let gone = plain.waiting.iter().find(|waiting| waiting.frame == frame).expect("it waited");
        assert!(allowed.contains(&gone.flow), "{} gave, allowed {allowed:?}", gone.flow);
        let mut of_flow = plain.waiting.iter().filter(|waiting| waiting.flow == gone.flow);
        let end = if plain.drop == End::Front { of_flow.next() } else { of_flow.next_back() };
        assert_eq!(end, Some(gone));
        assert!(plain.drop == End::Front || gone.flow != arrival.flow, "its tail is the arrival");
        let event = plain.remove(frame);
        victims(plain, event.flow, Some(&event));
        pushed_out += 1;
    }
    assert!(dropped.next().is_none(), "dropped more than needed");
    plain.waiting.push(arrival);
    let event = Event { flow: arrival.flow, length: plain.length(arrival.flow) };
    victims(plain, event.flow, Some(&event));
    pushed_out
}

pub(super) fn queue<D: Dropper>(config: &Config, dropper: D) -> Queue<Lottery, D> {
    Queue::new(config.limit, Lottery(Seed(9).stream("lottery")), dropper)
}
