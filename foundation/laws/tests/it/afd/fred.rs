//! FRED against a straight-line transcription of its pseudo-code.

use super::site;
use crate::beside::{Event, Line, Met, Offer, Reading, Traffic, add, assert_met, assert_near, compare};
use crate::fate::OfferOutcome;
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::Amount;
use fairwire_core::{Cause, Discipline, Ecn, EcnPolicy, Ignore, Limit, Packet, Queue, Rate, Rng, Seed, Time};
use fairwire_laws::dropper::fred::{Config, Fred, Spec};
use fairwire_laws::spec::Measure;
use proptest::prelude::*;
use std::collections::HashMap;

#[derive(Default)]
struct Flow {
    qlen: f64,
    packets: u32,
    strike: u32,
}

/// The paper's pseudo-code: parts A and B, and optionally part C, which is drop-tail.
struct Reference {
    many: bool,
    bytes: bool,
    rng: Rng,
    line: Line,
    min_th: f64,
    max_th: f64,
    max_p: f64,
    w_q: f64,
    minq: f64,
    avg: f64,
    avgcq: f64,
    count: i64,
    q_time: u64,
    flows: HashMap<u64, Flow>,
    nactive: u32,
}

impl Reference {
    fn one(&self) -> f64 {
        if self.bytes { 1000.0 } else { 1.0 }
    }

    fn size(&self, offer: Offer) -> f64 {
        if self.bytes { offer.len.into() } else { 1.0 }
    }

    fn update_avg(&mut self, departure: bool, now: u64) {
        let q = self.line.held(self.bytes);
        if q > 0.0 || departure {
            self.avg = (1.0 - self.w_q) * self.avg + self.w_q * q;
        } else {
            let m = 1250.0 * (now - self.q_time) as f64 / 1e9;
            self.avg *= (1.0 - self.w_q).powf(m);
            self.q_time = now;
        }
        self.avgcq = self.avg;
        if self.nactive > 0 {
            self.avgcq = (self.avg / f64::from(self.nactive)).max(self.one());
        }
        if q == 0.0 && departure {
            self.q_time = now;
        }
    }

    fn judged(&mut self, i: u64) -> Option<Cause> {
        let (qlen, strike) = self.flows.get(&i).map_or((0.0, 0), |flow| (flow.qlen, flow.strike));
        let mut maxq = self.min_th;
        if self.avg >= self.max_th {
            maxq = 2.0 * self.one();
        }
        if qlen >= maxq
            || (self.avg >= self.max_th && qlen > 2.0 * self.avgcq)
            || (qlen >= self.avgcq && strike > 1)
        {
            self.flows.get_mut(&i).expect("has packets").strike += 1;
            return Some(Cause::Forced);
        }
        if self.min_th <= self.avg && self.avg < self.max_th {
            self.count += 1;
            if qlen >= self.minq.max(self.avgcq) {
                let pb = self.max_p * (self.avg - self.min_th) / (self.max_th - self.min_th);
                let left = 1.0 - self.count as f64 * pb;
                let pa = if left > 0.0 { pb / left } else { 1.0 };
                if pa >= 1.0 || (pa > 0.0 && self.rng.uniform() < pa) {
                    self.count = 0;
                    return Some(Cause::Early);
                }
            }
        } else if self.avg < self.min_th {
            self.count = -1;
        } else if !self.many {
            self.count = 0;
            return Some(Cause::Forced);
        }
        None
    }
}

impl Reading for Reference {
    fn offer(&mut self, offer: Offer, now: u64, events: &mut Vec<Event>) {
        if self.line.waiting.is_empty() {
            self.update_avg(false, now);
        }
        let cause = self.judged(offer.flow).or(self.line.is_full(offer.len).then_some(Cause::Overflow));
        self.line.admit(offer, cause, false, events);
        if cause.is_some() {
            return;
        }
        let size = self.size(offer);
        let flow = self.flows.entry(offer.flow).or_default();
        self.nactive += u32::from(flow.packets == 0);
        flow.qlen += size;
        flow.packets += 1;
        self.update_avg(false, now);
    }

    fn request(&mut self, now: u64, events: &mut Vec<Event>) {
        let Some(&sent) = self.line.waiting.front() else { return };
        self.line.send(events);
        self.update_avg(true, now);
        let size = self.size(sent);
        let flow = self.flows.get_mut(&sent.flow).expect("had a packet");
        flow.qlen -= size;
        flow.packets -= 1;
        if flow.packets == 0 {
            self.nactive -= 1;
            self.flows.remove(&sent.flow);
        }
    }
}

/// A buffer of 40 packets and a quick average, so a short run takes all branches.
fn config(many_flow_support: bool, measure: Measure) -> Config {
    let spec = Spec {
        measure: Some(measure),
        many_flow_support: Some(many_flow_support),
        weight: Some(0.02),
        max_probability: Some(0.1),
        ..Spec::default()
    };
    spec.check(&site(Amount::Packets(40))).expect("allowed").1
}

fn flow(rng: &mut Rng, frame: u32) -> u64 {
    let flows = [4, 40, 8, 100][(frame / 700) as usize % 4];
    rng.below(flows).min(rng.below(flows)).into()
}

fn side_by_side(config: Config, seed: u64) -> Met {
    let bytes = config.given.measure == Measure::Bytes;
    let scale = if bytes { 1000.0 } else { 1.0 };
    let mut queue = Queue::new(Limit::packets(40), Fcfs, Fred::new(config, Seed(seed).stream("fred")));
    let mut plain = Reference {
        many: config.given.many_flow_support,
        bytes,
        rng: Seed(seed).stream("fred"),
        line: Line::new(Limit::packets(40), EcnPolicy::Drop),
        min_th: 10.0 * scale,
        max_th: 20.0 * scale,
        max_p: 0.1,
        w_q: 0.02,
        minq: 2.0 * scale,
        avg: 0.0,
        avgcq: 0.0,
        count: -1,
        q_time: 0,
        flows: HashMap::new(),
        nactive: 0,
    };
    let (loads, len) = ([3.0, 1.2, 0.5, 1.6, 6.0], |rng: &mut Rng| 40 + rng.below(1460));
    let traffic = Traffic { loads, two_packets: 1_600_000.0, flow, len, ..Traffic::default() };
    compare(&mut queue, &mut plain, &traffic, (20_000, seed), |queue, plain| {
        let fred = queue.dropper();
        assert_near(fred.average(), plain.avg);
        assert_near(fred.average_flow(), plain.avgcq);
        for (&flow, state) in &plain.flows {
            let key = queue.buffer().find(flow.into()).expect("has packets");
            assert_eq!(fred.strikes(key), state.strike, "flow {flow}");
        }
    })
}

#[test]
fn it_decides_as_the_pseudo_code_does_under_both_switches_and_measures() {
    let mut met = Met::new();
    for many in [false, true] {
        for measure in [Measure::Packets, Measure::Bytes] {
            (0..2).for_each(|seed| add(&mut met, side_by_side(config(many, measure), seed)));
        }
    }
    assert_met(&met, &["sent", "forced"], 1000);
    assert_met(&met, &["early"], 100);
    assert_met(&met, &["overflow"], 20);
}

fn offered(queue: &mut Queue<Fcfs, Fred>, flow: u64, offers: u32) -> Vec<OfferOutcome> {
    (0..offers)
        .map(|frame| OfferOutcome::of(Packet::new(frame, 1000, flow.into(), Time::ZERO), queue))
        .collect()
}

const IN: OfferOutcome = OfferOutcome::In;
const FORCED: OfferOutcome = OfferOutcome::Dropped(Cause::Forced);

#[test]
fn a_flow_with_strikes_may_have_no_more_than_the_average_flow() {
    // The maximum per flow is the lower threshold, 10 packets. The average queue stays low, since
    // w_q is 0.002.
    let config = Spec::default().check(&site(Amount::Packets(40))).expect("allowed").1;
    let mut queue = Queue::new(config.limit, Fcfs, Fred::new(config, Seed(1).stream("fred")));
    let fates = offered(&mut queue, 1, 12);
    assert!(fates[..10].iter().all(|fate| *fate == IN));
    assert_eq!(fates[10..], [FORCED; 2]);
    let key = |queue: &Queue<Fcfs, Fred>| queue.buffer().find(1.into());
    assert_eq!(queue.dropper().strikes(key(&queue).expect("waits")), 2);
    // After two strikes, an arrival is dropped while another packet of the flow waits.
    for waiting in (1..10).rev() {
        queue.dequeue(Time::ZERO, &mut Ignore);
        assert_eq!(offered(&mut queue, 1, 1), [FORCED], "{waiting} waiting");
    }
    assert_eq!(offered(&mut queue, 2, 10), [IN; 10], "another flow may");
    queue.dequeue(Time::ZERO, &mut Ignore);
    assert_eq!(key(&queue), None);
    assert_eq!(offered(&mut queue, 1, 10), [IN; 10]);
    assert_eq!(queue.dropper().strikes(key(&queue).expect("waits")), 0);
}

#[test]
fn above_the_upper_threshold_a_flow_with_two_packets_gets_a_strike() {
    for many_flow_support in [true, false] {
        // With a weight of 1, the thresholds of 10 and 20 packets apply to the queue itself.
        let mut config = config(many_flow_support, Measure::Packets);
        config.given.weight = 1.0;
        let mut queue = Queue::new(config.limit, Fcfs, Fred::new(config, Seed(1).stream("fred")));
        for flow in 1..=19 {
            assert_eq!(offered(&mut queue, flow, 1), [IN], "one packet of a flow is never dropped at random");
        }
        assert_eq!(offered(&mut queue, 1, 1), [IN], "19 packets wait, of fewer than min_q each");
        let strikes = |queue: &Queue<Fcfs, Fred>, flow: u64| {
            queue.dropper().strikes(queue.buffer().find(flow.into()).expect("waits"))
        };
        assert_eq!(offered(&mut queue, 1, 1), [FORCED], "20 wait, two of flow 1");
        assert_eq!(strikes(&queue, 1), 1);
        let second = if many_flow_support { IN } else { FORCED };
        assert_eq!(offered(&mut queue, 2, 1), [second], "one of flow 2");
        assert_eq!(strikes(&queue, 2), 0);
    }
}

#[test]
fn only_random_drops_become_marks() {
    let mut queue = Queue::new(
        Limit::packets(40),
        Fcfs,
        Fred::new(config(true, Measure::Packets), Seed(1).stream("fred")),
    )
    .with_ecn(EcnPolicy::Mark);
    let mut traffic = Seed(2).stream("traffic");
    let mut fates = Vec::new();
    for frame in 0..20_000u32 {
        let now = Time::from_ns(u64::from(frame) * 500_000);
        let flow = u64::from(traffic.below(6));
        let packet = Packet { ecn: Ecn::Ect0, ..Packet::new(frame, 1000, flow.into(), now) };
        fates.push(OfferOutcome::of(packet, &mut queue));
        if frame % 3 != 0 {
            queue.dequeue(now, &mut Ignore);
        }
    }
    assert!(fates.contains(&OfferOutcome::Marked(Cause::Early)) && fates.contains(&FORCED));
    assert!(
        fates.iter().all(|fate| [IN, OfferOutcome::Marked(Cause::Early), FORCED].contains(fate)),
        "{fates:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn no_flow_has_more_waiting_than_the_lower_threshold(
        arrivals in prop::collection::vec((0..6u64, 0..3u32), 1..400)
    ) {
        let config = config(true, Measure::Packets);
        let mut queue = Queue::new(config.limit, Fcfs, Fred::new(config, Seed(1).stream("fred")));
        for (n, (flow, departures)) in arrivals.into_iter().enumerate() {
            let now = Time::from_ns(n as u64 * 300_000);
            queue.enqueue(Packet::new(0, 1000, flow.into(), now), now, &mut Ignore);
            for _ in 1..departures {
                queue.dequeue(now, &mut Ignore);
            }
            let buffer = queue.buffer();
            for flow in buffer.flows() {
                prop_assert!(buffer.flow_backlog(flow).packets <= 10);
            }
            prop_assert!((0.0..=40.0).contains(&queue.dropper().average()));
        }
    }
}

#[test]
fn an_upper_threshold_that_is_not_above_the_lower_one_is_refused() {
    let spec = Spec { max_threshold: Some(Amount::Packets(10).into()), ..Spec::default() };
    let refused = spec.check(&site(Amount::Packets(40))).unwrap_err().to_string();
    let message =
        "`max_threshold` of `fred` is 10 packets; allowed: more than min_threshold, which is 10 packets";
    assert_eq!(refused, message);
}

#[test]
fn defaults_follow_the_buffer() {
    let check = |packets| Spec::default().check(&site(Amount::Packets(packets))).expect("allowed").1;
    let (small, large) = (check(40), check(400));
    assert_eq!((small.min_q, small.ramp.min, small.ramp.max), (2.0, 10.0, 20.0));
    assert_eq!((large.min_q, large.ramp.min, large.ramp.max), (4.0, 100.0, 200.0));
    assert_eq!(small.rate, Rate::from_bps(10_000_000).expect("not zero"));
}
