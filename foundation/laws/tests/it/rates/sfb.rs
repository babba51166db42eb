//! SFB against its pseudo-code, and its bins, detection and rehash.

use super::site;
use crate::beside::{Event, Line, Met, Offer, Reading, Traffic, add, assert_met, assert_near, compare};
use fairwire_core::rng::mix;
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::{Amount, Level};
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, Duration, Ecn, EcnPolicy, FlowHash, Ignore, Limit, Packet, Queue,
    Rng, Seed, Time, Verdict,
};
use fairwire_laws::dropper::sfb::{Bins, Checked, Config, Least, Sfb, Spec, Steps};
use fairwire_laws::queueing::Queueing;
use fairwire_laws::spec::{Measure, Quantity};
use fairwire_testing::{Operation, Shape, operations};
use proptest::prelude::*;

fn config() -> Config {
    Spec::default().check(&site()).expect("the defaults are allowed").1
}

fn packet(frame: u32, flow: u64, now: Time) -> Packet {
    Packet::new(frame, 512, flow.into(), now)
}

#[test]
fn the_size_of_a_bin_follows_the_buffer_as_in_the_paper_and_in_linux() {
    // The paper has 23 bins of 13 packets. Linux has bins of 20 packets, limited to 25.
    let spec = Spec { queue: Queueing::from(Amount::Packets(200)), bins: Some(23), ..Spec::default() };
    let config = spec.check(&site()).expect("allowed").1;
    assert_eq!((config.steps.bin_size, config.bin_limit), (14, 18)); // 13.04, and 1.25 times 14, rounded up
    let linux = Spec { bin_size: Some(Amount::Packets(20).into()), ..spec };
    assert_eq!(linux.check(&site()).expect("allowed").1.bin_limit, 25);
    let bytes = Spec { measure: Some(Measure::Bytes), ..linux.clone() };
    assert_eq!(bytes.check(&site()).expect("allowed").1.steps.bin_size, 10_240);
    // Backlogs are integers, so levels are rounded down.
    let part = Spec {
        bin_size: Some(Quantity(Level::Packets(77.5))),
        bin_limit: Some(Quantity(Level::Packets(80.5))),
        ..linux
    };
    let sizes =
        |spec: &Spec| spec.check(&site()).map(|(_, config)| (config.steps.bin_size, config.bin_limit));
    assert_eq!(sizes(&part), Ok((77, 80)));
    assert_eq!(sizes(&Spec { measure: Some(Measure::Bytes), ..part }), Ok((39_680, 41_216)));
}

/// A hash key, and the probability and backlog of each bin by level.
type Set = (u64, Vec<Vec<(f64, u64)>>);

/// The pseudo-code, with Linux's penalty box and changes of the hash.
struct Reference {
    config: Config,
    rng: Rng,
    line: Line,
    set: Set,
    next: Option<Set>,
    cycle: u64,
    tokens: f64,
    tokens_at: u64,
}

impl Reference {
    fn new(config: Config, line: Line, mut rng: Rng) -> Self {
        let set = (rng.next_u64(), Reference::no_bins(&config));
        let tokens = f64::from(config.given.penalty_burst);
        Reference { config, rng, line, set, next: None, cycle: 0, tokens, tokens_at: 0 }
    }

    fn no_bins(config: &Config) -> Vec<Vec<(f64, u64)>> {
        vec![vec![(0.0, 0); config.given.bins as usize]; config.given.levels as usize]
    }

    fn amount(&self, len: u32) -> u64 {
        if self.config.given.measure == Measure::Packets { 1 } else { len.into() }
    }

    /// The flow's bin on `level`: digit number `level` of the fraction hash / 2^64, written in base
    /// `bins`.
    fn bin(key: u64, flow: u64, level: u32, bins: u32) -> usize {
        let hash = u128::from(mix(flow ^ key));
        let upto = |digits: u32| {
            // A 64-bit hash times at most 5^4 fits 128 bits.
            (hash * u128::from(bins).pow(digits)) >> 64
        };
        (upto(level + 1) - upto(level) * u128::from(bins)) as usize
    }

    fn count(set: &mut Set, flow: u64, bins: u32, amount: i64) {
        for (level, row) in set.1.iter_mut().enumerate() {
            let bin = &mut row[Reference::bin(set.0, flow, level as u32, bins)];
            bin.1 = bin.1.checked_add_signed(amount).expect("no bin holds less than nothing");
        }
    }

    fn count_all(&mut self, offer: Offer, sign: i64) {
        let amount = sign * self.amount(offer.len).cast_signed();
        for set in [Some(&mut self.set), self.next.as_mut()].into_iter().flatten() {
            Reference::count(set, offer.flow, self.config.given.bins, amount);
        }
    }

    fn change_hash(&mut self, now: u64) {
        let (interval, warmup) = (self.config.given.rehash_interval.ns(), self.config.warmup_time.ns());
        loop {
            let end = (self.cycle + 1) * interval;
            if self.next.is_none() && now >= end - warmup {
                let mut set = (self.rng.next_u64(), Reference::no_bins(&self.config));
                for offer in &self.line.waiting {
                    let amount = self.amount(offer.len).cast_signed();
                    Reference::count(&mut set, offer.flow, self.config.given.bins, amount);
                }
                self.next = Some(set);
            }
            if now < end {
                return;
            }
            self.set = self.next.take().expect("begun at the latest now");
            self.cycle += 1;
        }
    }

    fn update(set: &mut Set, flow: u64, config: &Config) -> (f64, u64) {
        let (mut p_min, mut q_min) = (f64::MAX, u64::MAX);
        for (level, row) in set.1.iter_mut().enumerate() {
            let (p, q) = &mut row[Reference::bin(set.0, flow, level as u32, config.given.bins)];
            if *q > config.steps.bin_size {
                *p = f64::min(1.0, *p + config.steps.increase);
            } else if *q == 0 {
                *p = f64::max(0.0, *p - config.steps.decrease);
            }
            (p_min, q_min) = (p_min.min(*p), q_min.min(*q));
        }
        (p_min, q_min)
    }

    fn penalized(&mut self, now: u64) -> bool {
        let saved = (now - self.tokens_at) as f64 / self.config.penalty_interval.ns() as f64;
        self.tokens = f64::min(self.tokens + saved, f64::from(self.config.given.penalty_burst));
        self.tokens_at = now;
        // Rounding may leave a token slightly below 1.
        let empty = self.tokens < 1.0 - 1e-9;
        if !empty {
            self.tokens -= 1.0;
        }
        empty
    }
}

impl Reading for Reference {
    fn offer(&mut self, offer: Offer, now: u64, events: &mut Vec<Event>) {
        self.change_hash(now);
        let (p, q) = Reference::update(&mut self.set, offer.flow, &self.config);
        if let Some(next) = &mut self.next {
            Reference::update(next, offer.flow, &self.config);
        }
        let mut signalled = false;
        if q > self.config.bin_limit {
            return events.push(Event::Dropped(offer.frame, Cause::Forced));
        } else if p == 1.0 {
            if self.penalized(now) {
                return events.push(Event::Dropped(offer.frame, Cause::NoTokens));
            }
        } else if p > 0.0 {
            let in_bytes = self.config.given.measure == Measure::Bytes;
            let scaled = if in_bytes { p * f64::from(offer.len) / 512.0 } else { p };
            signalled = self.rng.uniform() < scaled;
        }
        if signalled && self.config.given.mark_limit.is_some_and(|limit| p > limit) {
            return events.push(Event::Dropped(offer.frame, Cause::Early));
        }
        let before = self.line.waiting.len();
        self.line.settle(offer, signalled, events);
        if self.line.waiting.len() > before {
            self.count_all(offer, 1);
        }
    }

    fn request(&mut self, _: u64, events: &mut Vec<Event>) {
        if let Some(offer) = self.line.waiting.pop_front() {
            self.count_all(offer, -1);
            events.push(Event::Sent(offer.frame));
        }
    }
}

#[test]
fn it_decides_as_the_pseudo_code_does_under_every_switch() {
    let mut met = Met::new();
    for switches in 0..16u64 {
        let on = |bit: u32| switches >> bit & 1 == 1;
        let policy = if on(0) { EcnPolicy::Mark } else { EcnPolicy::Drop };
        let unit = if on(1) { 512 } else { 1 };
        let limit = if on(1) { Limit::bytes(20_480) } else { Limit::packets(40) };
        let config = Config {
            given: Checked {
                measure: if on(1) { Measure::Bytes } else { Measure::Packets },
                levels: 3,
                bins: 5,
                penalty_burst: 4,
                mark_limit: on(2).then_some(0.5),
                // The interval exceeds the traffic's longest pause, 400 ms. Otherwise several
                // changes would be due after a pause.
                rehash_interval: Duration::from_ms(410),
                ..Checked::default()
            },
            steps: Steps { bin_size: 7 * unit, increase: 0.02, decrease: 0.01 },
            bin_limit: 12 * unit,
            penalty_interval: Duration::from_ms(3),
            warmup_time: if on(3) { Duration::from_ms(100) } else { Duration::ZERO },
            ..config()
        };
        let sfb = Sfb::new(config, Seed(switches).stream("sfb"));
        let mut queue = Queue::new(limit, Fcfs, sfb).with_ecn(policy);
        let mut plain = Reference::new(config, Line::new(limit, policy), Seed(switches).stream("sfb"));
        let found = compare(&mut queue, &mut plain, &Traffic::default(), (5000, switches), |queue, plain| {
            for (ours, theirs) in queue.dropper().bins().all().iter().zip(plain.set.1.iter().flatten()) {
                assert_eq!(ours.backlog, theirs.1);
                assert_near(ours.probability, theirs.0);
            }
        });
        add(&mut met, found);
    }
    assert_met(&met, &["early", "marked", "forced", "no-tokens", "sent"], 500);
}

fn sums(bins: &Bins, per_level: usize) -> Vec<u64> {
    bins.all().chunks(per_level).map(|level| level.iter().map(|bin| bin.backlog).sum()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn bins_of_each_level_sum_to_the_backlog_across_rehashes(
        sequence in operations(Shape::default()),
    ) {
        for measure in [Measure::Packets, Measure::Bytes] {
            // The hash changes every 7 ms, about ten times in an average sequence.
            let (rehash_interval, warmup_time) = (Duration::from_ms(7), Duration::from_ms(3));
            let given = Checked { measure, levels: 3, bins: 5, rehash_interval, ..Checked::default() };
            let config = Config { given, warmup_time, ..config() };
            let mut queue = Queue::new(Limit::packets(25), Fcfs, Sfb::new(config, Seed(1).stream("sfb")));
            let (mut now, mut frame) = (Time::ZERO, 0);
            for &operation in &sequence {
                match operation {
                    Operation::Enqueue { flow, len, ecn } => {
                        frame += 1;
                        let packet = Packet { ecn, ..Packet::new(frame, len, flow.into(), now) };
                        queue.enqueue(packet, now, &mut Ignore);
                    }
                    Operation::Dequeue => drop(queue.dequeue(now, &mut Ignore)),
                    Operation::Wait(ns) => now += Duration::from_ns(ns),
                }
                let backlog = queue.backlog();
                let held = if measure == Measure::Packets { backlog.packets.into() } else { backlog.bytes };
                prop_assert_eq!(sums(queue.dropper().bins(), 5), [held; 3]);
                for bin in queue.dropper().bins().all() {
                    prop_assert!((0.0..=1.0).contains(&bin.probability));
                }
            }
        }
    }
}

#[test]
fn the_levels_pick_their_bins_evenly_and_independently() {
    let mut bins = Bins::new(2, 23, Seed(9).stream("key").next_u64());
    for flow in 0..52_900 {
        bins.tracked(FlowHash(flow), 1 << 20, true);
    }
    for level in bins.all().chunks(23) {
        let chi2: f64 = level.iter().map(|bin| ((bin.backlog >> 20) as f64 - 2300.0).powi(2) / 2300.0).sum();
        assert!(chi2 < 48.3, "{chi2}"); // 22 degrees of freedom: 48.3 has probability 0.001
    }
    let mut pairs = [0u32; 529];
    for flow in 0..52_900 {
        let mut bins = Bins::new(2, 23, 77);
        bins.tracked(FlowHash(flow), 1, true);
        let at = |level: usize| {
            bins.all()[level * 23..][..23].iter().position(|bin| bin.backlog == 1).expect("one")
        };
        pairs[at(0) * 23 + at(1)] += 1;
    }
    let chi2: f64 = pairs.iter().map(|&n| (f64::from(n) - 100.0).powi(2) / 100.0).sum();
    assert!(chi2 < 635.0, "{chi2}"); // 528 degrees of freedom: 635 has probability 0.001
}

#[test]
fn a_bin_moves_by_the_rules_of_the_pseudo_code() {
    let steps = Steps { bin_size: 2, increase: 0.4, decrease: 0.3 };
    let mut bins = Bins::new(2, 1, 0);
    let flow = FlowHash(5);
    let mut least = |backlog: u64, probability: f64| {
        let now = bins.all()[0].backlog;
        bins.tracked(flow, now, false);
        bins.tracked(flow, backlog, true);
        assert_eq!(bins.arrived(flow, &steps), Least { probability, backlog });
    };
    least(0, 0.0); // not below 0
    least(2, 0.0); // not above its size
    least(3, 0.4);
    least(3, 0.8);
    least(3, 1.0); // not above 1
    least(1, 1.0); // neither above its size nor empty
    least(0, 0.7);
}

/// Flow 0 sends at the link's rate. 300 other flows keep 150 packets waiting, as TCP would. Returns
/// the queue, and the number of flow 0's packets sent in each second.
fn contest(config: Config, seconds: u64) -> (Queue<Fcfs, Sfb>, Vec<u32>) {
    let mut queue = Queue::new(Limit::packets(200), Fcfs, Sfb::new(config, Seed(3).stream("sfb")));
    let mut traffic = Seed(3).stream("traffic");
    let (mut got, mut others) = (vec![0; seconds as usize], 0u32);
    for slot in 0..seconds * 2441 {
        let now = Time::from_ns(slot * 409_600);
        queue.enqueue(packet(0, 0, now), now, &mut Ignore);
        for _ in 0..5 {
            if others < 150 {
                let before = queue.backlog().packets;
                queue.enqueue(packet(0, 1 + u64::from(traffic.below(300)), now), now, &mut Ignore);
                others += queue.backlog().packets - before;
            }
        }
        match queue.dequeue(now, &mut Ignore) {
            Some(packet) if packet.flow.0 == 0 => got[(slot / 2441) as usize] += 1,
            Some(_) => others -= 1,
            None => {}
        }
    }
    (queue, got)
}

fn roomy() -> Config {
    let spec = Spec { queue: Queueing::from(Amount::Packets(200)), ..Spec::default() };
    spec.check(&site()).expect("allowed").1
}

#[test]
fn an_unresponsive_flow_enters_the_penalty_box_and_others_pass() {
    let (queue, got) = contest(roomy(), 60);
    // After the first second, the penalty box passes at most 10 packets per second. A few more pass
    // while probabilities are slightly below 1.
    assert!(got[1..].iter().all(|&packets| packets < 40), "{got:?}");
    assert!(got[1..].iter().sum::<u32>() < 59 * 12, "{got:?}");
    // Only flow 0's bins, one per level, may have probability 1.
    let certain = queue.dropper().bins().all().iter().filter(|bin| bin.probability >= 1.0).count();
    assert!(certain <= 8, "{certain} bins at 1");
    assert!(queue.backlog().packets > 140, "the others keep the link busy: {:?}", queue.backlog());
}

#[test]
fn a_warm_up_limits_the_gain_of_an_unresponsive_flow_after_a_rehash() {
    let got = |warmup_time| {
        let given = Checked { rehash_interval: Duration::from_secs(30), ..Checked::default() };
        let got = contest(Config { given, warmup_time, ..roomy() }, 40).1;
        (got[20..30].iter().sum::<u32>(), got[30..].iter().sum::<u32>())
    };
    let (cold, warm) = (got(Duration::ZERO), got(Duration::from_secs(25)));
    assert_eq!(cold.0, warm.0, "before the change nothing differs");
    // With this seed, 86 packets pass before the rehash. After the rehash, 320 packets pass without
    // a warm-up, and 184 with a warm-up.
    assert!(warm.1 > warm.0 && cold.1 * 2 > warm.1 * 3, "{cold:?} {warm:?}");
}

#[test]
fn a_flow_with_all_bins_over_the_limit_is_always_refused() {
    let config = Config { steps: Steps { increase: 0.0, ..config().steps }, ..config() };
    let mut queue = Queue::new(Limit::packets(40), Fcfs, Sfb::new(config, Seed(1).stream("sfb")));
    for frame in 0..40 {
        queue.enqueue(packet(frame, 1, Time::ZERO), Time::ZERO, &mut Ignore);
    }
    // At a backlog of 5, the limit, an arrival still passes.
    assert_eq!((config.bin_limit, queue.backlog().packets), (5, 6));
}

#[test]
fn above_the_marking_limit_capable_packets_are_dropped() {
    let always = Steps { bin_size: 0, increase: 0.99, decrease: 0.0 };
    for (mark_limit, marks) in [(None, true), (Some(0.5), false)] {
        let given = Checked { mark_limit, ..Checked::default() };
        let config = Config { given, steps: always, bin_limit: 100, ..config() };
        let mut sfb = Sfb::new(config, Seed(1).stream("sfb"));
        let mut buffer = Buffer::new(Limit::packets(40));
        let key = buffer.push(packet(0, 1, Time::ZERO));
        sfb.tracked(buffer.packet(key), buffer.flow_of(key), true, &buffer);
        let capable = Packet { ecn: Ecn::Ect0, ..packet(1, 1, Time::ZERO) };
        let verdict = sfb.on_arrival(&capable, &buffer, Time::ZERO);
        // In both cases the random number is below 0.99.
        let expected = if marks { Verdict::Signal(Cause::Early) } else { Verdict::Drop(Cause::Early) };
        assert_eq!(verdict, expected, "{mark_limit:?}");
    }
}

#[test]
fn a_long_silence_costs_at_most_a_few_rehashes() {
    let given = Checked { rehash_interval: Duration::from_ns(3), ..Checked::default() };
    let config = Config { given, warmup_time: Duration::from_ns(1), ..config() };
    let mut sfb = Sfb::new(config, Seed(1).stream("sfb"));
    let buffer = Buffer::new(Limit::packets(40));
    // A loop over 580 years in steps of 3 ns would take forever.
    for now in [Time::from_ns(u64::MAX - 1000), Time::from_ns(u64::MAX - 1), Time::MAX, Time::MAX] {
        assert_eq!(sfb.on_arrival(&packet(0, 1, now), &buffer, now), Verdict::Pass);
    }
}

#[test]
fn limits_that_contradict_each_other_are_refused() {
    let time = |s| Some(Duration::from_secs(s).into());
    for (spec, message) in [
        (
            Spec { bin_limit: Some(Amount::Packets(3).into()), ..Spec::default() },
            "`bin_limit` of `sfb` is 3 packets; allowed: bin_size, which is 4, or more",
        ),
        (
            Spec { warmup_time: time(61), rehash_interval: time(60), ..Spec::default() },
            "`warmup_time` of `sfb` is 61 s; allowed: at most rehash_interval, which is 60 s",
        ),
    ] {
        assert_eq!(spec.check(&site()).unwrap_err().to_string(), message);
    }
}
