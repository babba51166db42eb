//! SFED: an example by hand, its invariants, its shares, and the transcription.

use super::{
    EARLY, FULL, NO_TOKENS, Reading, events, is_early, max_min, of_class, packet, shares, side_by_side, site,
};
use crate::beside::{Met, add, assert_met};
use crate::fate::OfferOutcome;
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::Amount;
use fairwire_core::{Cause, Discipline, Ecn, EcnPolicy, Ignore, Limit, Packet, Queue, Rng, Seed, Time};
use fairwire_laws::dropper::faba::{Supply, TOKEN};
use fairwire_laws::dropper::sfed::{Config, Sfed, Spec};
use fairwire_laws::queueing::Queueing;
use fairwire_laws::spec::Measure;
use proptest::prelude::*;
use std::collections::VecDeque;

fn checked(spec: &Spec, buffer: Amount) -> (Limit, Config) {
    let (whole, config) = spec.check(&site(buffer)).expect("allowed");
    (whole.room.limit, config)
}

fn queue((limit, config): (Limit, Config), seed: u64) -> Queue<Fcfs, Sfed> {
    Queue::new(limit, Fcfs, Sfed::new(config, Seed(seed).stream("sfed")))
}

fn state(queue: &Queue<Fcfs, Sfed>) -> (i64, Option<i64>, Option<i64>, i64, i64) {
    let (sfed, balance) = (queue.dropper(), queue.dropper().balance(queue.buffer()));
    let whole = |raw: i64| {
        assert_eq!(raw % TOKEN, 0, "all numbers of this example are whole");
        raw / TOKEN
    };
    let bucket = |flow: u64| sfed.tokens_of(flow.into()).map(whole);
    (whole(sfed.height()), bucket(1), bucket(2), whole(balance.pool), whole(balance.queue))
}

#[test]
fn three_packets_of_two_flows_move_tokens_as_section_4_1_says() {
    // Unlike in FABA's example, excess tokens return at once, and flows take turns.
    let mut queue = queue(checked(&Spec::default(), Amount::Packets(8)), 1);
    assert_eq!(state(&queue), (8, None, None, 8, 0));
    queue.enqueue(packet(1), Time::ZERO, &mut Ignore);
    assert_eq!(state(&queue), (8, Some(7), None, 0, 1));
    queue.enqueue(packet(2), Time::ZERO, &mut Ignore);
    assert_eq!(state(&queue), (4, Some(4), Some(3), -1, 2), "flow 1 gave up what it had above 4 at once");
    queue.enqueue(packet(1), Time::ZERO, &mut Ignore);
    assert_eq!(state(&queue), (4, Some(3), Some(3), -1, 3));
    queue.dequeue(Time::ZERO, &mut Ignore);
    assert_eq!(state(&queue), (4, Some(3), Some(3), 0, 2));
    queue.dequeue(Time::ZERO, &mut Ignore);
    // It is flow 1's turn: the token fills its bucket to 4. The bucket is deleted, and its 4 tokens
    // go to flow 2.
    assert_eq!(state(&queue), (8, None, Some(7), 0, 1));
    queue.dequeue(Time::ZERO, &mut Ignore);
    assert_eq!(state(&queue), (8, None, None, 8, 0));
}

fn specs() -> impl Strategy<Value = Spec> {
    let measures = prop_oneof![Just(Measure::Packets), Just(Measure::Bytes)];
    (measures, 0.1..3.0, prop_oneof![Just(1u32), 2..10u32, Just(64)]).prop_map(
        |(measure, alpha, max_flows)| Spec {
            measure: Some(measure),
            supply: Supply { alpha: Some(alpha), max_flows: Some(max_flows) },
            ..Spec::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn tokens_are_conserved_and_no_bucket_exceeds_its_height(
        events in events(),
        spec in specs(),
        packets in 1..60u32,
        in_bytes: bool,
    ) {
        let buffer = if in_bytes { Amount::Bytes(u64::from(packets) * 512) } else { Amount::Packets(packets) };
        let made = checked(&spec, buffer);
        let config = &made.1;
        let mut queue = queue(made, 1);
        for event in events {
            match event {
                Some((flow, len)) => queue.enqueue(of_class(0, flow, len), Time::ZERO, &mut Ignore),
                None => drop(queue.dequeue(Time::ZERO, &mut Ignore)),
            }
            let sfed = queue.dropper();
            prop_assert_eq!(sfed.balance(queue.buffer()).sum(), config.total);
            prop_assert!(sfed.flows() <= config.max_flows as usize);
            let debt = if config.measure == Measure::Bytes { 1500 * TOKEN } else { TOKEN };
            for flow in 0..30u64 {
                let tokens = sfed.tokens_of(flow.into()).unwrap_or(0);
                prop_assert!(tokens <= sfed.height() && tokens > -debt, "{} of {}", tokens, sfed.height());
            }
        }
    }
}

struct Reference {
    limit: Limit,
    config: Config,
    rng: Rng,
    x: Vec<(u64, i64)>,
    sigma: i64,
    pointer: usize,
    waiting: VecDeque<(u64, i64)>,
}

impl Reference {
    fn height(&self) -> i64 {
        self.config.total / (self.x.len() as u64).cast_signed()
    }

    fn next_bucket(&mut self) -> usize {
        self.pointer %= self.x.len();
        self.pointer
    }

    fn delete(&mut self, j: usize) {
        self.sigma += self.x.swap_remove(j).1;
    }

    fn create(&mut self, flow: u64) -> usize {
        if self.x.len() == self.config.max_flows as usize {
            let j = self.next_bucket();
            self.delete(j);
        }
        self.x.push((flow, i64::MAX));
        let height = self.height();
        let j = self.x.len() - 1;
        self.x[j].1 = height;
        self.sigma -= height;
        for i in 0..j {
            if self.x[i].1 > height {
                self.sigma += self.x[i].1 - height;
                self.x[i].1 = height;
            }
        }
        j
    }
}

impl Reading for Reference {
    fn arrival(&mut self, _: u32, flow: u64, len: u32) -> OfferOutcome {
        let full = self.waiting.len() as u32 >= self.limit.max_packets();
        let j = match self.x.iter().position(|&(f, _)| f == flow) {
            Some(j) => j,
            None if full => return FULL,
            None => self.create(flow),
        };
        let x = self.x[j].1;
        if x <= 0 {
            return NO_TOKENS;
        }
        let ratio = x as f64 / self.height() as f64;
        if is_early(&self.config.profile, x, ratio, &mut self.rng) {
            return EARLY;
        }
        if full {
            return FULL;
        }
        let price = if self.config.measure == Measure::Bytes { i64::from(len) * TOKEN } else { TOKEN };
        self.x[j].1 -= price;
        self.waiting.push_back((flow, price));
        OfferOutcome::In
    }

    fn departure(&mut self) -> Option<u64> {
        let (flow, price) = self.waiting.pop_front()?;
        self.sigma += price;
        while self.sigma >= TOKEN && !self.x.is_empty() {
            let j = self.next_bucket();
            let chunk = price.min(self.sigma);
            self.x[j].1 += chunk;
            self.sigma -= chunk;
            if self.x[j].1 >= self.height() {
                self.delete(j);
            } else {
                self.pointer += 1;
            }
        }
        Some(flow)
    }
}

fn compare(spec: &Spec, seed: u64) -> Met {
    let made = checked(spec, Amount::Packets(60));
    let mut queue = queue(made, seed);
    let (limit, config) = made;
    let mut plain = Reference {
        limit,
        config,
        rng: Seed(seed).stream("sfed"),
        x: Vec::new(),
        sigma: config.total,
        pointer: 0,
        waiting: VecDeque::new(),
    };
    side_by_side(&mut queue, &mut plain, (12_000, 3, seed), |queue, plain, step| {
        let (sfed, balance) = (queue.dropper(), queue.dropper().balance(queue.buffer()));
        assert_eq!((sfed.flows(), balance.pool), (plain.x.len(), plain.sigma), "step {step} of {spec:?}");
        assert!(plain.x.iter().all(|&(flow, x)| sfed.tokens_of(flow.into()) == Some(x)), "step {step}");
    })
}

#[test]
fn it_decides_as_the_pseudo_code_does() {
    let mut met = Met::new();
    for (seed, measure) in (1..).zip([Measure::Packets, Measure::Bytes]) {
        for alpha in [0.8, 1.0, 1.5] {
            for max_flows in [4096, 20, 1] {
                let spec = Spec {
                    measure: Some(measure),
                    supply: Supply { alpha: Some(alpha), max_flows: Some(max_flows) },
                    ..Spec::default()
                };
                add(&mut met, compare(&spec, seed));
            }
        }
    }
    assert_met(&met, &["in", "early", "no-tokens", "overflow"], 300);
}

#[test]
fn the_link_is_shared_max_min_in_packets_or_in_bytes() {
    for (measure, lens) in [(Measure::Packets, [512; 4]), (Measure::Bytes, [1500, 100, 512, 512])] {
        // Only the last flow offers less than its share.
        let often: [f64; 4] = [24.0, 12.0, 12.0, 1.0].map(|rate: f64| rate / 49.0);
        let senders: Vec<_> =
            lens.iter().zip(often).map(|(&len, rate)| (0, len, rate / f64::from(len))).collect();
        let spec = Spec { measure: Some(measure), ..Spec::default() };
        // The buffer is in bytes, so tokens rather than packet slots run out in byte mode.
        let shares = shares(queue(checked(&spec, Amount::Bytes(100 * 512)), 1), &senders, 0.4);
        let expected = max_min(1.0, &often.map(|rate| (rate / 0.4, 1.0)));
        // Early drops at the knees of the profile take up to 2 % of a flow.
        let near = |(share, expected): (&f64, &f64)| (share / expected - 1.0).abs() < 0.05;
        assert!(shares.iter().zip(&expected).all(near), "{shares:?}, not {expected:?}");
    }
}

#[test]
fn early_signals_mark_where_allowed_and_flows_without_tokens_are_dropped() {
    let spec = Spec { supply: Supply { alpha: Some(0.5), ..Supply::default() }, ..Spec::default() };
    let mut queue = queue(checked(&spec, Amount::Packets(80)), 1).with_ecn(EcnPolicy::Mark);
    let mut fates = Vec::new();
    fates.resize_with(41, || OfferOutcome::of(Packet { ecn: Ecn::Ect0, ..packet(1) }, &mut queue));
    let is_in = |fate: &OfferOutcome| [OfferOutcome::In, OfferOutcome::Marked(Cause::Early)].contains(fate);
    assert!(fates[..40].iter().all(is_in), "every signal can be a mark, and 40 tokens last for 40 packets");
    assert_eq!(fates[40], NO_TOKENS);
    let mut marked = 0;
    while let Some(packet) = queue.dequeue(Time::ZERO, &mut Ignore) {
        marked += u32::from(packet.ecn == Ecn::Ce);
    }
    assert!(marked > 0, "below a quarter of the bucket nearly every packet is marked");
}

#[test]
fn more_tokens_than_a_sum_can_hold_are_refused() {
    let spec = Spec {
        measure: Some(Measure::Bytes),
        supply: Supply { alpha: Some(1000.0), ..Supply::default() },
        queue: Queueing::from(Amount::Bytes(400_000_000)),
        ..Spec::default()
    };
    let refusal = spec.check(&site(Amount::Packets(100))).unwrap_err().to_string();
    let message = "`buffer` of `sfed` is 390625 KiB; allowed: at most 274877906944 tokens";
    assert!(refusal.contains(message), "{refusal}");
}
