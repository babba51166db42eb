//! Compares a discipline with a transcription of its rules.

use crate::fate::Events;
use fairwire_core::rng::mix;
use fairwire_core::scheduler::Fcfs;
use fairwire_core::{Cause, Discipline, Dropper, Ecn, EcnPolicy, Limit, Packet, Queue, Rng, Seed, Time};
use std::collections::{BTreeMap, VecDeque};

pub(crate) use crate::fate::Event;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    pub(crate) frame: u32,
    pub(crate) flow: u64,
    /// The flow modulo 4.
    pub(crate) class: u32,
    pub(crate) color: u8,
    pub(crate) len: u32,
    /// In nanoseconds.
    pub(crate) arrived: u64,
    pub(crate) ecn: Ecn,
}

impl Offer {
    pub(crate) fn packet(self) -> Packet {
        let Offer { frame, flow, class, color, len, arrived, ecn } = self;
        Packet { class, color, ecn, ..Packet::new(frame, len, flow.into(), Time::from_ns(arrived)) }
    }
}

/// A transcription of a discipline's rules, with a queue.
pub(crate) trait Reading {
    fn offer(&mut self, offer: Offer, now: u64, events: &mut Vec<Event>);
    fn request(&mut self, now: u64, events: &mut Vec<Event>);
}

#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) waiting: VecDeque<Offer>,
    limit: Limit,
    pub(crate) marks: bool,
}

impl Line {
    pub(crate) fn new(limit: Limit, policy: EcnPolicy) -> Self {
        Line { waiting: VecDeque::new(), limit, marks: policy == EcnPolicy::Mark }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.waiting.iter().map(|offer| u64::from(offer.len)).sum()
    }

    pub(crate) fn held(&self, in_bytes: bool) -> f64 {
        if in_bytes { self.bytes() as f64 } else { self.waiting.len() as f64 }
    }

    pub(crate) fn len(&self, in_bytes: bool) -> f64 {
        if in_bytes { self.bytes() as f64 / 512.0 } else { self.waiting.len() as f64 }
    }

    pub(crate) fn is_full(&self, len: u32) -> bool {
        self.waiting.len() as u32 >= self.limit.max_packets()
            || self.bytes() + u64::from(len) > self.limit.max_bytes()
    }

    pub(crate) fn can_mark(&self, offer: Offer) -> bool {
        self.marks && offer.ecn.is_capable()
    }

    pub(crate) fn admit(
        &mut self,
        mut offer: Offer,
        cause: Option<Cause>,
        is_marked: bool,
        events: &mut Vec<Event>,
    ) {
        match cause {
            Some(cause) if !is_marked => return events.push(Event::Dropped(offer.frame, cause)),
            Some(cause) => {
                offer.ecn = Ecn::Ce;
                events.push(Event::Marked(offer.frame, cause));
            }
            None => {}
        }
        self.waiting.push_back(offer);
    }

    pub(crate) fn settle(&mut self, offer: Offer, signalled: bool, events: &mut Vec<Event>) -> bool {
        let marks = self.can_mark(offer);
        let is_refused = (marks || !signalled) && self.is_full(offer.len);
        let cause = if is_refused { Some(Cause::Overflow) } else { signalled.then_some(Cause::Early) };
        self.admit(offer, cause, marks && !is_refused, events);
        !is_refused
    }

    pub(crate) fn send(&mut self, events: &mut Vec<Event>) -> bool {
        let sent = self.waiting.pop_front();
        events.extend(sent.map(|offer| Event::Sent(offer.frame)));
        sent.is_some()
    }
}

/// Random traffic with pauses, at 0.5 to 3 times the link's rate.
pub(crate) struct Traffic {
    pub(crate) loads: [f64; 5],
    /// The number of packets at each load.
    pub(crate) turn: u32,
    /// The transmission time of two packets, in nanoseconds.
    pub(crate) two_packets: f64,
    /// The fraction of packets that arrive together with their predecessor.
    pub(crate) together: f64,
    /// In nanoseconds.
    pub(crate) longest_pause: u32,
    /// The flow of a packet, by the packet's number.
    pub(crate) flow: fn(&mut Rng, u32) -> u64,
    pub(crate) len: fn(&mut Rng) -> u32,
}

impl Default for Traffic {
    /// Packets of 512 bytes on average, at 10 Mbit/s. One of twelve flows sends a third of all
    /// packets.
    fn default() -> Self {
        Traffic {
            loads: [3.0, 1.1, 0.5, 1.6, 1.0],
            turn: 500,
            two_packets: 819_200.0,
            together: 0.1,
            longest_pause: 400_000_000,
            flow: |rng, _| if rng.chance(0.27) { 0 } else { rng.below(12).into() },
            len: |rng| if rng.chance(0.5) { 512 } else { 40 + rng.below(960) },
        }
    }
}

impl Traffic {
    fn step(&self, rng: &mut Rng, frame: u32, mut now: u64) -> (u64, bool, Offer) {
        let load = self.loads[(frame / self.turn) as usize % 5];
        if !rng.chance(self.together) {
            now += (self.two_packets * rng.uniform() / load) as u64;
        }
        if rng.chance(0.001) {
            now += u64::from(rng.below(self.longest_pause));
        }
        let polls = rng.chance(1.0 / load);
        let (len, flow) = ((self.len)(rng), (self.flow)(rng, frame));
        let (class, color) = (flow as u32 % 4, (mix(frame.into()) % 3) as u8);
        (
            now,
            polls,
            Offer { frame, flow, class, color, len, arrived: now, ecn: Ecn::from_bits(rng.below(4) as u8) },
        )
    }
}

/// The number of events by name: `marked`, `sent`, or the cause of a drop.
pub(crate) type Met = BTreeMap<&'static str, u32>;

pub(crate) fn add(met: &mut Met, other: Met) {
    other.into_iter().for_each(|(name, n)| *met.entry(name).or_default() += n);
}

#[track_caller]
pub(crate) fn assert_met(met: &Met, names: &[&str], least: u32) {
    for name in names {
        assert!(met.get(name).is_some_and(|&n| n > least), "{name} was hardly met: {met:?}");
    }
}

pub(crate) fn compare<D: Dropper, R: Reading>(
    queue: &mut Queue<Fcfs, D>,
    reading: &mut R,
    traffic: &Traffic,
    (packets, seed): (u32, u64),
    watch: impl Fn(&Queue<Fcfs, D>, &R),
) -> Met {
    let (mut now, mut met, mut rng) = (0, Met::new(), Seed(seed).stream("traffic"));
    for frame in 0..packets {
        let (at, polls, offer) = traffic.step(&mut rng, frame, now);
        now = at;
        let (mut events, mut read) = (Events::default(), Vec::new());
        let at = Time::from_ns(now);
        if polls {
            let sent = queue.dequeue(at, &mut events);
            events.0.extend(sent.map(|packet| Event::Sent(packet.frame)));
            reading.request(now, &mut read);
        }
        queue.enqueue(offer.packet(), at, &mut events);
        reading.offer(offer, now, &mut read);
        events.0.sort();
        read.sort();
        assert_eq!(events.0, read, "frame {frame}");
        watch(queue, reading);
        for event in read {
            *met.entry(event.name()).or_default() += 1;
        }
    }
    met
}

/// Asserts that two values differ only by the rounding of reordered operations.
#[track_caller]
pub(crate) fn assert_near(ours: f64, theirs: f64) {
    // The margin exceeds ten thousand rounding errors of 1.1e-16.
    assert!((ours - theirs).abs() <= 1e-10 * theirs.abs().max(1.0), "{ours} {theirs}");
}
