//! Transcriptions of the schedulers, without heaps or hooks for push-out. Each replays the drops of
//! the discipline under test, and must send the same packets.

use super::link::{Drops, ENTRIES, LongestFront, entry, site, terms};
use crate::Typed;
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, Left, Needs, Packet, Queue, Seed, Time, Verdict, Victim,
};
use fairwire_laws::scheduler::{Kind, Terms};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// The start tag of the head packet or, if no packet waits, the finish tag of the last packet.
    /// For DRR, the deficit.
    tag: u64,
    /// The flow's rank among equal tags, or in DRR's round.
    turn: u64,
    waiting: u32,
}

/// The five schedulers with equal weights, as their papers print them. All amounts are in bytes.
struct Printed {
    name: &'static str,
    quantum: u64,
    packets: Vec<(u32, u64, u64)>, // frame, flow, len; in order of arrival
    flows: BTreeMap<u64, Flow>,
    virtual_time: u64,
    frame_begin: u64,
    turn: u64,
    sending: u64,         // bytes that virtual time has not been moved for
    visited: Option<u64>, // DRR: the flow that has had the quantum of this visit
}

impl Printed {
    fn new(name: &'static str, quantum: u64) -> Self {
        Printed {
            name,
            quantum,
            packets: Vec::new(),
            flows: BTreeMap::new(),
            virtual_time: 0,
            frame_begin: 0,
            turn: 0,
            sending: 0,
            visited: None,
        }
    }

    fn next_turn(&mut self) -> u64 {
        self.turn += 1;
        self.turn
    }

    fn arrive(&mut self, frame: u32, flow: u64, len: u64) {
        self.packets.push((frame, flow, len));
        let turn = self.next_turn();
        let known = self.flows.entry(flow).or_default();
        known.waiting += 1;
        if known.waiting == 1 {
            known.turn = turn;
            known.tag = if self.name == "drr" { 0 } else { known.tag.max(self.virtual_time) };
        }
    }

    fn leave(&mut self, frame: u32) {
        let at = self.packets.iter().position(|packet| packet.0 == frame).expect("it waits");
        let (_, flow, _) = self.packets.remove(at);
        let known = self.flows.get_mut(&flow).expect("known");
        known.waiting -= 1;
        if known.waiting == 0 && self.visited == Some(flow) {
            self.visited = None;
        }
    }

    fn head(&self, flow: u64) -> (u32, u64) {
        let head = self.packets.iter().find(|packet| packet.1 == flow).expect("backlogged");
        (head.0, head.2)
    }

    fn backlogged(&self) -> Vec<(u64, Flow)> {
        self.flows.iter().filter(|flow| flow.1.waiting > 0).map(|(&name, &flow)| (name, flow)).collect()
    }

    /// Returns the next frame, without charging dropped packets to their flows.
    fn request(&mut self, drops: impl Fn(u32) -> bool) -> Option<u32> {
        loop {
            let virtual_time = self.virtual_time;
            let (frame, before) = if self.name == "drr" { self.round_robin() } else { self.by_tags() }?;
            let &(_, flow, _) = self.packets.iter().find(|packet| packet.0 == frame).expect("it waits");
            self.leave(frame);
            if !drops(frame) {
                return Some(frame);
            }
            let known = self.flows.get_mut(&flow).expect("known");
            (known.tag, known.turn) = (before.tag, before.turn);
            self.sending = 0;
            if ["scfq", "sfq-start"].contains(&self.name) {
                self.virtual_time = virtual_time; // it is the tag of the packet being sent
            }
        }
    }

    /// As in figure 2 of Shreedhar and Varghese 1996. Returns the flow's state before the deduction
    /// of the packet's length.
    fn round_robin(&mut self) -> Option<(u32, Flow)> {
        loop {
            let (first, _) = self.backlogged().into_iter().min_by_key(|(_, flow)| flow.turn)?;
            let (frame, len) = self.head(first);
            let turn = self.next_turn();
            let flow = self.flows.get_mut(&first).expect("known");
            if self.visited != Some(first) {
                flow.tag += self.quantum;
                self.visited = Some(first);
            }
            if len <= flow.tag {
                let before = *flow;
                flow.tag -= len;
                return Some((frame, before));
            }
            flow.turn = turn;
            self.visited = None;
        }
    }

    fn by_tags(&mut self) -> Option<(u32, Flow)> {
        self.end_of_transmission();
        let backlogged = self.backlogged();
        let Some(least_start) = backlogged.iter().map(|(_, flow)| flow.tag).min() else {
            let last = self.flows.values().map(|flow| flow.tag).max().unwrap_or(0);
            self.virtual_time = self.virtual_time.max(last);
            self.frame_begin = self.virtual_time;
            return None;
        };
        let finish = |name: u64, flow: Flow| flow.tag + self.head(name).1;
        let by = |key: fn(u64, u64) -> u64| {
            let key = |&(name, flow): &(u64, Flow)| (key(flow.tag, finish(name, flow)), flow.turn);
            backlogged.iter().copied().min_by_key(key).expect("not empty")
        };
        let (mut virtual_time, mut frame_begin) = (self.virtual_time, self.frame_begin);
        let (name, flow) = match self.name {
            "sfq-start" => {
                virtual_time = least_start;
                by(|start, _| start)
            }
            "scfq" => {
                let (name, flow) = by(|_, finish| finish);
                virtual_time = virtual_time.max(finish(name, flow));
                (name, flow)
            }
            "fbfq" => {
                while least_start >= frame_begin + self.quantum {
                    frame_begin += self.quantum;
                }
                virtual_time = virtual_time.max(frame_begin);
                by(|_, finish| finish)
            }
            _ => {
                if least_start > virtual_time {
                    virtual_time = least_start;
                }
                let may = backlogged.iter().filter(|(_, flow)| flow.tag <= virtual_time);
                *may.min_by_key(|&&(name, flow)| (finish(name, flow), flow.turn)).expect("the least may")
            }
        };
        let (frame, len) = self.head(name);
        let turn = self.next_turn();
        let known = self.flows.get_mut(&name).expect("known");
        (known.tag, known.turn) = (flow.tag + len, turn);
        (self.virtual_time, self.frame_begin) = (virtual_time, frame_begin);
        self.sending = len;
        Some((frame, flow))
    }

    /// Advances virtual time by the bytes sent, divided by the number of flows that a fluid server
    /// would be serving.
    fn end_of_transmission(&mut self) {
        let mut bytes = std::mem::take(&mut self.sending);
        if !["fbfq", "wf2q+"].contains(&self.name) {
            return;
        }
        loop {
            let ahead = |flow: &&Flow| flow.waiting == 0 && flow.tag > self.virtual_time;
            let least = self.flows.values().filter(ahead).map(|flow| flow.tag).min();
            let served = self.flows.values().filter(|flow| flow.waiting > 0 || ahead(flow)).count() as u64;
            if served == 0 || bytes == 0 {
                return;
            }
            assert_eq!(bytes % served, 0, "the lengths were chosen so that everything divides");
            let step = least.map_or(u64::MAX, |least| least - self.virtual_time).min(bytes / served);
            self.virtual_time += step;
            bytes -= step * served;
        }
    }
}

struct Pair {
    queue: Box<dyn Discipline>,
    printed: Printed,
    frame: u32,
    drops_on_departure: bool,
}

fn is_picked(frame: u32) -> bool {
    frame.is_multiple_of(3)
}

struct DropsThird;

impl Dropper for DropsThird {
    fn needs(&self) -> Needs {
        Needs::FLOWS
    }
    fn on_departure(&mut self, packet: &Packet, _: Left, _: &Buffer, _: Time) -> Verdict {
        if is_picked(packet.frame) { Verdict::Drop(Cause::Forced) } else { Verdict::Pass }
    }
    fn victim(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Victim {
        LongestFront.victim(packet, buffer, now)
    }
}

impl Pair {
    fn new(name: &'static str, queue: Box<dyn Discipline>, quantum: u64) -> Self {
        Pair { queue, printed: Printed::new(name, quantum), frame: 0, drops_on_departure: false }
    }

    fn that_drops_on_departure(name: &'static str, (kind, terms): &(Kind, Terms)) -> Self {
        let queue = Queue::new(terms.limit, kind.scheduler(terms), DropsThird);
        let pair = Pair::new(name, Box::new(queue), terms.quantum.into());
        Pair { drops_on_departure: true, ..pair }
    }

    fn arrive(&mut self, flow: u64, len: u32) {
        self.frame += 1;
        let mut gone = Drops::default();
        self.queue.enqueue(Packet::new(self.frame, len, flow.into(), Time::ZERO), Time::ZERO, &mut gone);
        let gone: Vec<u32> = gone.0.iter().map(|drop| drop.1).collect();
        for &frame in gone.iter().filter(|&&frame| frame != self.frame) {
            self.printed.leave(frame);
        }
        if !gone.contains(&self.frame) {
            self.printed.arrive(self.frame, flow, len.into());
        }
    }

    fn request(&mut self, context: impl Fn() -> String) {
        let sent = self.queue.dequeue(Time::ZERO, &mut Drops::default()).map(|packet| packet.frame);
        let printed = self.printed.request(|frame| self.drops_on_departure && is_picked(frame));
        assert_eq!(sent, printed, "{}: {}", self.printed.name, context());
    }
}

fn quantum(name: &str, bytes: u32) -> String {
    if ["drr", "fbfq"].contains(&name) { format!("quantum = '{bytes} B'\n") } else { String::new() }
}

fn terms_of(name: &str, packets: u32, bytes: u32) -> (Kind, Terms) {
    let service = if name == "sfq-start" { "sfq" } else { name };
    terms(&format!("{{ '{service}' = {{ {} }} }}", quantum(name, bytes).trim()), packets)
}

/// 6^6: virtual time takes at most six steps, each dividing a length by 1, 2 or 3 flows. So tags
/// remain integers.
const UNIT: u32 = 46_656;

/// Compares `pair` in the `n`th sequence of six operations, then empties the queue.
fn compare(mut pair: Pair, n: u32, context: &str) {
    for step in 0..6 {
        match (n >> (2 * step)) & 3 {
            3 => pair.request(|| format!("{context}, sequence {n}")),
            flow => pair.arrive(flow.into(), UNIT * (flow + 1)),
        }
    }
    for _ in 0..=4 {
        pair.request(|| format!("{context}, sequence {n}, at the end"));
    }
}

#[test]
fn every_sequence_of_six_operations_on_three_flows_is_served_as_printed() {
    for name in ENTRIES {
        for packets in 1..=4 {
            for dropper in ["lqd", "tail-drop"] {
                let typed = Typed::new(name, &format!("{}dropper = '{dropper}'", quantum(name, 100_000)));
                let context = format!("{packets} packets, {dropper}");
                for n in 0..4096 {
                    compare(Pair::new(name, typed.built(&site(packets)), 100_000), n, &context);
                }
            }
        }
    }
}

#[test]
fn six_operations_with_drops_on_departure_are_served_as_printed() {
    for name in ENTRIES {
        for packets in 1..=4 {
            let terms = terms_of(name, packets, 100_000);
            for n in 0..4096 {
                let pair = Pair::that_drops_on_departure(name, &terms);
                compare(pair, n, &format!("{packets} packets"));
            }
        }
    }
}

#[test]
fn long_random_sequences_without_division_are_served_as_printed() {
    for (name, seed) in
        ["drr", "scfq", "sfq-start"].into_iter().flat_map(|name| (0..40).map(move |s| (name, s)))
    {
        let mut rng = Seed(seed).stream("printed");
        let dropper = if seed % 2 == 0 { "lqd" } else { "tail-drop" };
        let queue = entry(name, 1 + rng.below(20), &format!("dropper = '{dropper}'"));
        let mut pair = Pair::new(name, queue, 1514);
        for step in 0..1000 {
            if rng.chance(if (step / 50) % 2 == 0 { 0.7 } else { 0.4 }) {
                pair.arrive(rng.below(6).into(), 40 + rng.below(1475));
            } else {
                pair.request(|| format!("seed {seed}, step {step}"));
            }
        }
    }
}

#[test]
fn random_packet_lengths_on_two_flows_are_served_as_printed() {
    // Lengths are multiples of 2^14, and 14 operations halve virtual time at most 14 times. So tags
    // remain integers. FBFQ's frame is about two packets.
    for name in ENTRIES {
        for seed in 0..2000 {
            let mut rng = Seed(seed).stream("two flows");
            let packets = 2 + rng.below(3);
            let mut pair = match seed % 2 {
                0 => Pair::new(name, entry(name, packets, &quantum(name, 40_000)), 40_000),
                _ => Pair::that_drops_on_departure(name, &terms_of(name, packets, 40_000)),
            };
            for step in 0..14 {
                match rng.below(5) {
                    0 | 1 => pair.request(|| format!("seed {seed}, step {step}")),
                    _ => pair.arrive(rng.below(2).into(), (1 + rng.below(4)) << 14),
                }
            }
        }
    }
}

#[test]
fn the_transcribed_pseudo_code_serves_by_least_tag_and_by_turn() {
    // Computed by hand, the finish tags of frames 0 to 2 are 3, 1 and 2.
    let mut printed = Printed::new("scfq", 0);
    for (frame, (flow, len)) in [(0, 3), (1, 1), (1, 1)].into_iter().enumerate() {
        printed.arrive(frame as u32, flow, len);
    }
    let order: Vec<_> = (0..4).map(|_| printed.request(|_| false)).collect();
    assert_eq!(order, [Some(1), Some(2), Some(0), None]);
}
