//! FQ-CoDel against RFC 8290's prose, and its promises.

use super::codel::{self, State};
use super::{assert_same, site, trace};
use crate::beside::{Event, Offer, Reading};
use crate::fate::Events;
use fairwire_core::{Cause, Discipline, EcnPolicy, Packet, Seed, Time};
use fairwire_laws::compose::fq_codel::{Config, FqCodel, Spec};
use fairwire_laws::dropper::codel::{Rules, Terms};
use std::collections::{BTreeMap, VecDeque};

fn config(packets: u32) -> Config {
    Spec::default().check(&site(packets)).expect("the defaults are allowed")
}

fn packet(frame: u32, flow: u64, len: u32, ms: u64) -> (Packet, Time) {
    let now = Time::from_ns(ms * 1_000_000);
    (Packet::new(frame, len, flow.into(), now), now)
}

fn offer(fq: &mut FqCodel, frame: u32, flow: u64, len: u32, log: &mut Events) {
    let (packet, now) = packet(frame, flow, len, 0);
    fq.enqueue(packet, now, log);
}

fn next(fq: &mut FqCodel, log: &mut Events) -> Option<u32> {
    fq.dequeue(Time::ZERO, log).map(|packet| packet.frame)
}

/// FQ-CoDel by RFC 8290, sections 4.1 and 4.2, or by Linux. `names` gives a flow's queue number in
/// the tested discipline.
struct PlainFq {
    config: Config,
    name: fn(&FqCodel, u64) -> u64,
    names: BTreeMap<u64, u64>,
    queues: BTreeMap<u64, Queue>,
    new: VecDeque<u64>,
    old: VecDeque<u64>,
}

#[derive(Default)]
struct Queue {
    packets: VecDeque<Offer>,
    credits: i64,
    codel: State,
}

impl Queue {
    fn bytes(&self) -> u64 {
        self.packets.iter().map(|p| u64::from(p.len)).sum()
    }
}

impl PlainFq {
    fn new(config: Config, fq: &FqCodel, flows: u64) -> Self {
        let name = |fq: &FqCodel, flow: u64| fq.buffer().queue_of(&packet(0, flow, 1, 0).0).0;
        let names = (0..flows).map(|flow| (flow, name(fq, flow))).collect();
        let (queues, new, old) = (BTreeMap::new(), VecDeque::new(), VecDeque::new());
        PlainFq { config, name, names, queues, new, old }
    }

    fn drop_from_fattest(&mut self, events: &mut Vec<Event>) {
        let most = self.queues.values().map(Queue::bytes).max().expect("full, so not empty");
        let fattest = self.queues.values_mut().find(|q| q.bytes() == most).expect("one has the most");
        let (mut dropped, mut bytes) = (0, 0);
        while dropped < self.config.batch && bytes < most / 2 {
            let packet = fattest.packets.pop_front().expect("half of it is left");
            events.push(Event::Dropped(packet.frame, Cause::PushOut));
            dropped += 1;
            bytes += u64::from(packet.len);
        }
        if self.config.terms.rules == Rules::Linux {
            fattest.codel.count += dropped;
        }
    }
}

impl Reading for PlainFq {
    fn offer(&mut self, packet: Offer, _: u64, events: &mut Vec<Event>) {
        let name = self.names[&packet.flow];
        let queue = self.queues.entry(name).or_default();
        queue.packets.push_back(packet);
        if !self.new.contains(&name) && !self.old.contains(&name) {
            queue.credits = i64::from(self.config.quantum);
            self.new.push_back(name);
        }
        let waiting: usize = self.queues.values().map(|q| q.packets.len()).sum();
        if waiting > self.config.limit.max_packets() as usize {
            self.drop_from_fattest(events);
        }
    }

    fn request(&mut self, now: u64, events: &mut Vec<Event>) {
        loop {
            let from_new = !self.new.is_empty();
            let is_linux = self.config.terms.rules == Rules::Linux;
            let all: u64 = self.queues.values().map(Queue::bytes).sum();
            let list = if from_new { &mut self.new } else { &mut self.old };
            let Some(&name) = list.front() else { return };
            let queue = self.queues.get_mut(&name).expect("on a list, so known");
            if queue.credits <= 0 {
                queue.credits += i64::from(self.config.quantum);
                list.pop_front();
                self.old.push_back(name);
                continue;
            }
            let terms = self.config.terms;
            let beside = if is_linux { all - queue.bytes() } else { 0 };
            match codel::dequeue(&mut queue.codel, &mut queue.packets, beside, now, &terms, events) {
                Some(packet) => {
                    queue.credits -= i64::from(packet.len);
                    return events.push(Event::Sent(packet.frame));
                }
                None => {
                    list.pop_front();
                    if from_new && !(is_linux && self.old.is_empty()) {
                        self.old.push_back(name);
                    }
                }
            }
        }
    }
}

#[test]
fn it_decides_as_the_rfcs_prose_or_linux_over_random_traces() {
    for (ecn, rules) in [
        (EcnPolicy::Drop, Rules::Rfc),
        (EcnPolicy::Mark, Rules::Rfc),
        (EcnPolicy::Drop, Rules::Linux),
        (EcnPolicy::Mark, Rules::Linux),
    ] {
        let (mut early, mut pushed_out) = (0, 0);
        for seed in 0..16 {
            let config = config(100);
            // With 40 flows, each queue waits for all others, and may be empty while CoDel is
            // dropping.
            let flows = if seed < 8 { 8 } else { 40 };
            let config = Config { terms: Terms { ecn, rules, ..config.terms }, ..config };
            let mut fq = config.queue(seed);
            let mut model = PlainFq::new(config, &fq, flows.into());
            assert_eq!((model.name)(&fq, 3), model.names[&3]);
            let mut rng = Seed(seed).stream("fq-codel");
            // The packets of a flow have equal length, so dropping half of a queue never reaches
            // the packet that has just arrived.
            let trace = trace(&mut rng, 4000, flows, |flow, _| 200 + 190 * (flow % 8) as u32);
            let log = assert_same(&mut fq, &mut model, &trace);
            early += log.dropped_by(Cause::Early) + log.marked().len();
            pushed_out += log.dropped_by(Cause::PushOut);
        }
        assert!(early > 200 && pushed_out > 200, "{ecn:?} {rules:?}: {early} early, {pushed_out} pushed out");
    }
}

#[test]
fn an_empty_poll_after_an_overflow_starts_a_new_interval() {
    // An empty poll sets first_above_time to zero in RFC 8289, section 5.5. Linux keeps it.
    for (rules, dropped) in [(Rules::Rfc, vec![2]), (Rules::Linux, vec![2, 20])] {
        let config = config(4);
        let config = Config { terms: Terms { rules, mtu: 1000, ..config.terms }, ..config };
        let (mut fq, mut log) = (config.queue(1), Events::default());
        let offer = |fq: &mut FqCodel, log: &mut Events, frame, flow, len, ms| {
            let (packet, now) = packet(frame, flow, len, ms);
            fq.enqueue(packet, now, log);
        };
        let poll = |fq: &mut FqCodel, log: &mut Events, ms: u64| {
            fq.dequeue(Time::from_ns(ms * 1_000_000), log).map(|packet| packet.frame)
        };
        // At 10 ms, flow 1 exceeds the target, so `first_above_time` is set.
        (0..3).for_each(|frame| offer(&mut fq, &mut log, frame, 1, 1500, 0));
        assert_eq!([poll(&mut fq, &mut log, 10), poll(&mut fq, &mut log, 10)], [Some(0), Some(1)]);
        (10..14).for_each(|frame| offer(&mut fq, &mut log, frame, u64::from(frame), 100, 11));
        assert_eq!(log.lost(), [2], "the last of flow 1 made room");
        while poll(&mut fq, &mut log, 12).is_some() {}
        (20..23).for_each(|frame| offer(&mut fq, &mut log, frame, 1, 1500, 200));
        assert!(poll(&mut fq, &mut log, 206).is_some());
        assert_eq!(log.lost(), dropped, "{rules:?}");
    }
}

#[test]
fn a_sparse_flow_is_served_first() {
    let (mut fq, mut log) = (config(100).queue(1), Events::default());
    (0..50).for_each(|frame| offer(&mut fq, frame, 1, 1000, &mut log));
    assert_eq!([next(&mut fq, &mut log), next(&mut fq, &mut log)], [Some(0), Some(1)]);
    offer(&mut fq, 100, 2, 100, &mut log);
    assert_eq!(next(&mut fq, &mut log), Some(100), "49 others were there before it");
}

#[test]
fn a_flow_that_pauses_does_not_get_ahead_twice_in_a_round() {
    let (mut fq, mut log) = (config(100).queue(1), Events::default());
    // After twelve polls, the queues of three bulky flows are old.
    for flow in 1..=3 {
        (0..20).for_each(|i| offer(&mut fq, 1000 * flow + i, flow.into(), 1000, &mut log));
    }
    (0..12).for_each(|_| assert!(next(&mut fq, &mut log).is_some()));
    offer(&mut fq, 1, 9, 100, &mut log);
    assert_eq!(next(&mut fq, &mut log), Some(1));
    // Flow 9's queue is found empty and moves behind the old queues.
    assert!(next(&mut fq, &mut log) > Some(1000), "the bulky ones go on");
    offer(&mut fq, 2, 9, 100, &mut log);
    assert!(next(&mut fq, &mut log) > Some(1000), "the bulky ones still go on");
    offer(&mut fq, 3, 10, 100, &mut log);
    assert_eq!(next(&mut fq, &mut log), Some(3));
    let before =
        std::iter::from_fn(|| next(&mut fq, &mut log)).position(|frame| frame == 2).expect("it waits");
    assert!(before < 6, "a round of at most two packets each: {before}");
}

#[test]
fn overflow_takes_up_to_64_packets_or_half_from_the_fattest_head() {
    for (batch, dropped) in [(64, 64), (1000, 75), (1, 1)] {
        let (mut fq, mut log) = (Config { batch, ..config(200) }.queue(1), Events::default());
        (0..50).for_each(|frame| offer(&mut fq, 500 + frame, 2, 500, &mut log));
        (0..150).for_each(|frame| offer(&mut fq, frame, 1, 500, &mut log));
        assert!(log.0.is_empty());
        offer(&mut fq, 999, 3, 500, &mut log);
        assert_eq!(log.lost(), (0..dropped).collect::<Vec<_>>());
        assert_eq!(fq.backlog().packets, 201 - dropped);
        assert_eq!(log.dropped_by(Cause::PushOut), dropped as usize);
    }
}

#[test]
fn the_fattest_flow_is_chosen_by_bytes_not_packets() {
    let (mut fq, mut log) = (config(100).queue(1), Events::default());
    (0..80).for_each(|frame| offer(&mut fq, 500 + frame, 2, 100, &mut log));
    (0..20).for_each(|frame| offer(&mut fq, frame, 1, 1500, &mut log));
    offer(&mut fq, 999, 3, 100, &mut log);
    assert_eq!(log.lost(), (0..10).collect::<Vec<_>>());
}

#[test]
fn a_limit_in_bytes_is_never_exceeded_by_the_fattest_arrival() {
    let bytes = fairwire_core::Limit::bytes(10_000);
    let (mut fq, mut log) = (Config { limit: bytes, ..config(100) }.queue(1), Events::default());
    for flow in 0..10 {
        offer(&mut fq, flow, flow.into(), 1000, &mut log);
    }
    offer(&mut fq, 10, 99, 1500, &mut log);
    assert_eq!((log.lost(), log.dropped_by(Cause::Overflow)), (vec![10], 1));
    offer(&mut fq, 11, 1, 900, &mut log);
    assert_eq!(log.lost().last().copied(), Some(1), "flow 1 would have 1900 bytes");
    assert_eq!(fq.backlog().bytes, 9_900);
}

#[test]
fn polite_flows_lose_nothing_and_wait_little_despite_a_greedy_one() {
    // Each of four flows sends a tenth of the link's rate. The greedy flow sends ten times the
    // link's rate.
    let (mut fq, mut log) = (config(200).queue(1), Events::default());
    let mut longest = 0;
    for ms in 0..5000u64 {
        for i in 0..10 {
            let (packet, now) = packet(1, 0, 1000, ms);
            fq.enqueue(packet, now, &mut log);
            if i == ms % 10 && i % 5 < 2 {
                let (packet, now) = super::fq_codel::packet(2, 1 + i, 1000, ms);
                fq.enqueue(packet, now, &mut log);
            }
        }
        let sent = fq.dequeue(Time::from_ns(ms * 1_000_000), &mut log).expect("never empty");
        if sent.frame == 2 {
            longest = longest.max(ms - sent.arrived.ns() / 1_000_000);
        }
    }
    assert_eq!(log.lost().iter().filter(|&&frame| frame == 2).count(), 0);
    // A polite packet waits for at most a quantum of the greedy flow and one packet of each polite
    // flow.
    assert!(longest <= 5, "{longest} ms");
}
