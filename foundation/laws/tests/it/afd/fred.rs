//! FRED against a second, straight-line reading of its pseudo-code.

use super::{Fate, site};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::Amount;
use fairwire_core::{Cause, Discipline, Ecn, EcnPolicy, Ignore, Limit, Packet, Queue, Rate, Rng, Seed, Time};
use fairwire_laws::dropper::fred::{Config, Fred, Spec};
use fairwire_laws::spec::Measure;
use proptest::prelude::*;
use std::collections::{HashMap, VecDeque};

#[derive(Default)]
struct Flow {
    qlen: f64,
    packets: u32,
    strike: u32,
}

/// The listing, with the parts A and B, and with the drop-tail part C or without.
struct Plain {
    many: bool,
    bytes: bool,
    rng: Rng,
    room: usize,
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
    waiting: VecDeque<(u64, u32)>,
}

impl Plain {
    fn one(&self) -> f64 {
        if self.bytes { 1000.0 } else { 1.0 }
    }

    fn q(&self) -> f64 {
        if self.bytes {
            self.waiting.iter().map(|w| w.1).sum::<u32>().into()
        } else {
            self.waiting.len() as f64
        }
    }

    fn update_avg(&mut self, departure: bool, now: u64) {
        if self.q() > 0.0 || departure {
            self.avg = (1.0 - self.w_q) * self.avg + self.w_q * self.q();
        } else {
            let m = 1250.0 * (now - self.q_time) as f64 / 1e9;
            self.avg *= (1.0 - self.w_q).powf(m);
            self.q_time = now;
        }
        self.avgcq = self.avg;
        if self.nactive > 0 {
            self.avgcq = (self.avg / f64::from(self.nactive)).max(self.one());
        }
        if self.q() == 0.0 && departure {
            self.q_time = now;
        }
    }

    fn arrival(&mut self, i: u64, len: u32, now: u64) -> Option<Cause> {
        if self.waiting.is_empty() {
            self.update_avg(false, now);
        }
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
        if self.waiting.len() == self.room {
            return Some(Cause::Overflow);
        }
        if qlen == 0.0 {
            self.nactive += 1;
        }
        let size = if self.bytes { len.into() } else { 1.0 };
        let flow = self.flows.entry(i).or_default();
        flow.qlen += size;
        flow.packets += 1;
        self.waiting.push_back((i, len));
        self.update_avg(false, now);
        None
    }

    fn departure(&mut self, now: u64) {
        let Some((i, len)) = self.waiting.pop_front() else { return };
        self.update_avg(true, now);
        let size = if self.bytes { len.into() } else { 1.0 };
        let flow = self.flows.get_mut(&i).expect("had a packet");
        flow.qlen -= size;
        flow.packets -= 1;
        if flow.packets == 0 {
            self.nactive -= 1;
            self.flows.remove(&i);
        }
    }
}

/// A buffer of 40 packets and a quick average, so that a short run goes through all branches.
fn config(many_flow_support: bool, measure: Measure) -> Config {
    let spec = Spec {
        measure: Some(measure),
        many_flow_support: Some(many_flow_support),
        weight: Some(0.02),
        max_probability: Some(0.1),
        ..Spec::default()
    };
    spec.check(&site(Amount::Packets(40))).expect("allowed")
}

/// Runs both readings side by side; returns how often each fate was met: in, early, forced,
/// overflow.
fn compare(config: Config, seed: u64) -> [u32; 4] {
    let bytes = config.measure == Measure::Bytes;
    let scale = if bytes { 1000.0 } else { 1.0 };
    let mut queue = Queue::new(Limit::packets(40), Fcfs, Fred::new(config, Seed(seed).stream("fred")));
    let mut plain = Plain {
        many: config.many_flow_support,
        bytes,
        rng: Seed(seed).stream("fred"),
        room: 40,
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
        waiting: VecDeque::new(),
    };
    let (mut now, mut met, mut traffic) = (0, [0; 4], Seed(seed).stream("traffic"));
    for frame in 0..20_000u32 {
        let load = [3.0, 1.2, 0.5, 1.6, 6.0][(frame / 500) as usize % 5];
        // Many flows at times, few at others.
        let flows = [4, 40, 8, 100][(frame / 700) as usize % 4];
        now += (1_600_000.0 * traffic.uniform() / load) as u64;
        if traffic.chance(0.001) {
            now += u64::from(traffic.below(200_000_000));
        }
        let at = Time::from_ns(now);
        if traffic.chance(1.0 / load) {
            plain.departure(now);
            queue.dequeue(at, &mut Ignore);
        }
        let flow = u64::from(traffic.below(flows).min(traffic.below(flows)));
        let len = 40 + traffic.below(1460);
        let mut fate = Fate::default();
        queue.enqueue(Packet::new(frame, len, flow.into(), at), at, &mut fate);
        let expected = plain.arrival(flow, len, now);
        assert_eq!(fate.0.map(|(cause, _)| cause), expected, "frame {frame}, average {}", plain.avg);
        let fred = queue.dropper();
        // The power of the idle decay comes from two libraries, each right to a unit or so in the
        // last place.
        assert!((fred.average() - plain.avg).abs() <= 1e-10 * plain.avg.max(1.0));
        assert!((fred.average_flow() - plain.avgcq).abs() <= 1e-10 * plain.avgcq.max(1.0));
        for (&flow, state) in &plain.flows {
            let key = queue.buffer().find(flow.into()).expect("has packets");
            assert_eq!(fred.strikes(key), state.strike, "frame {frame}, flow {flow}");
        }
        met[match expected {
            None => 0,
            Some(Cause::Early) => 1,
            Some(Cause::Forced) => 2,
            _ => 3,
        }] += 1;
    }
    met
}

#[test]
fn it_decides_as_the_pseudo_code_does_under_both_switches_and_measures() {
    let mut met = [0; 4];
    for many in [false, true] {
        for measure in [Measure::Packets, Measure::Bytes] {
            for seed in 0..2 {
                let found = compare(config(many, measure), seed);
                (0..4).for_each(|i| met[i] += found[i]);
            }
        }
    }
    assert!(met[0] > 1000 && met[1] > 100 && met[2] > 1000 && met[3] > 20, "hardly met: {met:?}");
}

/// Offers `offers` packets of flow 1, with the others already waiting; returns the fates of the
/// offered.
fn offered(queue: &mut Queue<Fcfs, Fred>, flow: u64, offers: u32) -> Vec<Option<Cause>> {
    let mut offer = |frame| {
        let mut fate = Fate::default();
        queue.enqueue(Packet::new(frame, 1000, flow.into(), Time::ZERO), Time::ZERO, &mut fate);
        fate.0.map(|(cause, _)| cause)
    };
    (0..offers).map(&mut offer).collect()
}

#[test]
fn a_flow_with_strikes_may_have_no_more_than_the_average_flow() {
    // The lower threshold is 10 packets: what a flow may have. The average queue stays low: w_q is
    // 0.002.
    let config = Spec::default().check(&site(Amount::Packets(40))).expect("allowed");
    let mut queue = Queue::new(config.limit, Fcfs, Fred::new(config, Seed(1).stream("fred")));
    let fates = offered(&mut queue, 1, 12);
    assert!(fates[..10].iter().all(Option::is_none));
    assert_eq!(fates[10..], [Some(Cause::Forced); 2]);
    let key = |queue: &Queue<Fcfs, Fred>| queue.buffer().find(1.into());
    assert_eq!(queue.dropper().strikes(key(&queue).expect("waits")), 2);
    // Two strikes: until it has fewer waiting than the average flow, one packet here, it may not
    // send.
    for waiting in (1..10).rev() {
        queue.dequeue(Time::ZERO, &mut Ignore);
        assert_eq!(offered(&mut queue, 1, 1), [Some(Cause::Forced)], "{waiting} waiting");
    }
    assert_eq!(offered(&mut queue, 2, 10), [None; 10], "another flow may");
    // When its last packet leaves, all is forgotten.
    queue.dequeue(Time::ZERO, &mut Ignore);
    assert_eq!(key(&queue), None);
    assert_eq!(offered(&mut queue, 1, 10), [None; 10]);
    assert_eq!(queue.dropper().strikes(key(&queue).expect("waits")), 0);
}

#[test]
fn above_the_upper_threshold_a_flow_with_two_packets_gets_a_strike_whether_or_not_all_are_dropped() {
    for many_flow_support in [true, false] {
        // With a weight of 1 the average is the queue: thresholds of 10 and 20 packets.
        let config = Config { weight: 1.0, ..config(many_flow_support, Measure::Packets) };
        let mut queue = Queue::new(config.limit, Fcfs, Fred::new(config, Seed(1).stream("fred")));
        for flow in 1..=19 {
            assert_eq!(
                offered(&mut queue, flow, 1),
                [None],
                "one packet of a flow is never dropped at random"
            );
        }
        assert_eq!(offered(&mut queue, 1, 1), [None], "19 packets wait, of fewer than min_q each");
        let strikes = |queue: &Queue<Fcfs, Fred>, flow: u64| {
            queue.dropper().strikes(queue.buffer().find(flow.into()).expect("waits"))
        };
        assert_eq!(offered(&mut queue, 1, 1), [Some(Cause::Forced)], "20 wait, two of flow 1");
        assert_eq!(strikes(&queue, 1), 1);
        let second = if many_flow_support { None } else { Some(Cause::Forced) };
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
        let mut fate = Fate::default();
        let flow = u64::from(traffic.below(6));
        queue.enqueue(
            Packet { ecn: Ecn::Ect0, ..Packet::new(frame, 1000, flow.into(), now) },
            now,
            &mut fate,
        );
        fates.extend(fate.0);
        if frame % 3 != 0 {
            queue.dequeue(now, &mut Ignore);
        }
    }
    assert!(fates.contains(&(Cause::Early, true)) && fates.contains(&(Cause::Forced, false)));
    assert!(fates.iter().all(|&(cause, marked)| marked == (cause == Cause::Early)));
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
fn what_is_not_allowed_is_refused() {
    let site = site(Amount::Packets(40));
    let amount = |packets| Some(Amount::Packets(packets).into());
    for (refused, message) in [(
        Spec { max_threshold: amount(10), ..Spec::default() }.check(&site).err(),
        "`max_threshold` of `fred` is 10 packets; allowed: more than min_threshold, which is 10 packets",
    )] {
        assert_eq!(refused.map(|bad| bad.to_string()).as_deref(), Some(message));
    }
}

#[test]
fn defaults_follow_the_buffer() {
    let check = |packets| Spec::default().check(&site(Amount::Packets(packets))).expect("allowed");
    let (small, large) = (check(40), check(400));
    assert_eq!((small.min_q, small.ramp.min, small.ramp.max), (2.0, 10.0, 20.0));
    assert_eq!((large.min_q, large.ramp.min, large.ramp.max), (4.0, 100.0, 200.0));
    assert_eq!(small.rate, Rate::from_bps(10_000_000).expect("not zero"));
}
