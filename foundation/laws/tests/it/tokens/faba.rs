//! FABA: an example by hand, its invariant, its shares, and the transcription.

use super::{
    EARLY, FULL, NO_TOKENS, Reading, events, is_early, max_min, of_class, packet, side_by_side, site,
};
use crate::beside::{Met, add, assert_met};
use crate::fate::{OfferOutcome, gauge};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::{Amount, Level};
use fairwire_core::{
    Buffer, Discipline, Dropper, Ecn, EcnPolicy, FlowKey, Ignore, Limit, Packet, Queue, Rng, Seed, Time,
    Verdict, Victim,
};
use fairwire_laws::dropper::faba::{BetaRule, Choice, Config, Faba, Knees, Spec, Supply, TOKEN};
use fairwire_laws::spec::{ClassNumber, Measure, Quantity, Share, Weights};
use proptest::prelude::*;
use std::collections::VecDeque;

fn checked(spec: &Spec, buffer: Amount) -> (Limit, Config) {
    let (whole, config) = spec.check(&site(buffer)).expect("allowed");
    (whole.room.limit, config)
}

fn queue((limit, config): &(Limit, Config), seed: u64) -> Queue<Fcfs, Faba> {
    Queue::new(*limit, Fcfs, Faba::new(config.clone(), Seed(seed).stream("faba")))
}

/// Height, buckets of flows 1 (`a`) and 2 (`b`), pool and queue, in tokens.
#[derive(Debug, PartialEq)]
struct State {
    height: i64,
    a: Option<i64>,
    b: Option<i64>,
    pool: i64,
    queue: i64,
}

fn state(queue: &Queue<Fcfs, Faba>) -> State {
    let (accounts, balance) = (queue.dropper().accounts(), queue.dropper().balance(queue.buffer()));
    let whole = |raw: i64| {
        assert_eq!(raw % TOKEN, 0, "all numbers of this example are whole");
        raw / TOKEN
    };
    assert_eq!(balance.sum(), accounts.total());
    State {
        height: whole(accounts.height()),
        a: accounts.of(1.into()).map(whole),
        b: accounts.of(2.into()).map(whole),
        pool: whole(balance.pool),
        queue: whole(balance.queue),
    }
}

#[test]
fn three_packets_of_two_flows_move_tokens_as_section_4_2_says() {
    // By hand, with 8 tokens: the pool lends flow 2 its bucket of 4. Flow 1 returns its excess over
    // 4. The second departure deals one token to flow 1 or 2.
    let mut queue = queue(&checked(&Spec::default(), Amount::Packets(8)), 1);
    assert_eq!(state(&queue), State { height: 8, a: None, b: None, pool: 8, queue: 0 });
    queue.enqueue(packet(1), Time::ZERO, &mut Ignore);
    assert_eq!(state(&queue), State { height: 8, a: Some(7), b: None, pool: 0, queue: 1 });
    queue.enqueue(packet(2), Time::ZERO, &mut Ignore);
    assert_eq!(state(&queue), State { height: 4, a: Some(7), b: Some(3), pool: -4, queue: 2 });
    queue.enqueue(packet(1), Time::ZERO, &mut Ignore);
    assert_eq!(state(&queue), State { height: 4, a: Some(3), b: Some(3), pool: -1, queue: 3 });
    queue.dequeue(Time::ZERO, &mut Ignore);
    assert_eq!(state(&queue), State { height: 4, a: Some(3), b: Some(3), pool: 0, queue: 2 });
    queue.dequeue(Time::ZERO, &mut Ignore);
    let last = state(&queue);
    assert!(matches!((last.a, last.b), (Some(4), Some(3)) | (Some(3), Some(4))), "{last:?}");
    assert_eq!((last.pool, last.queue), (0, 1));
}

#[test]
fn its_gauges_count_departures_and_token_moves() {
    let counts = |queue: &Queue<Fcfs, Faba>| {
        ["departures", "moves", "departures_above_two_moves"].map(|name| gauge(queue, name))
    };
    let enqueued = |buffer: u32, flows: &[u64]| {
        let mut queue = queue(&checked(&Spec::default(), Amount::Packets(buffer)), 1);
        for &flow in flows {
            queue.enqueue(packet(flow), Time::ZERO, &mut Ignore);
        }
        queue
    };
    // After the second departure, sigma and Q are 1, so one token is moved.
    let mut calm = enqueued(8, &[1, 2, 1]);
    for expected in [[1.0, 0.0, 0.0], [2.0, 1.0, 0.0]] {
        calm.dequeue(Time::ZERO, &mut Ignore);
        assert_eq!(counts(&calm), expected);
    }
    // Full buckets of 1000, 500, 333 and 250 tokens leave the pool 1083 short, and 1082 short after
    // the departure. With three packets waiting, 1082 / 3 + 1 moves are due, more than `beta_max`.
    let mut deep = enqueued(1000, &[1, 2, 3, 4]);
    deep.dequeue(Time::ZERO, &mut Ignore);
    assert_eq!(counts(&deep), [1.0, 16.0, 1.0]);
}

#[test]
fn more_flows_than_tokens_are_still_admitted() {
    let mut queue = queue(&checked(&Spec::default(), Amount::Packets(8)), 1);
    let (mut traffic, mut sent) = (Seed(1).stream("traffic"), [0u32; 40]);
    for step in 0..200_000 {
        // Flows send in random order. In a fixed order, the same few flows would find every freed
        // slot.
        queue.enqueue(packet(u64::from(traffic.below(40))), Time::ZERO, &mut Ignore);
        if step % 5 == 0
            && let Some(packet) = queue.dequeue(Time::ZERO, &mut Ignore)
        {
            sent[packet.flow.0 as usize] += 1;
        }
    }
    assert!(queue.dropper().accounts().len() > 8, "this is the case of more flows than tokens");
    // Half of an equal share is required.
    assert!(sent.iter().all(|&n| n > 500), "{sent:?}");
}

#[test]
fn an_idle_flow_returns_its_bucket() {
    let mut queue = queue(&checked(&Spec::default(), Amount::Packets(16)), 1);
    for round in 0..1000 {
        queue.enqueue(packet(round), Time::ZERO, &mut Ignore);
        queue.dequeue(Time::ZERO, &mut Ignore);
    }
    // Nearly all of the 1000 flows have long been idle.
    assert!(queue.dropper().accounts().len() < 64, "{}", queue.dropper().accounts().len());
}

#[test]
fn packets_of_a_flow_without_tokens_are_dropped_not_marked() {
    let spec = Spec { supply: Supply { alpha: Some(0.5), ..Supply::default() }, ..Spec::default() };
    let mut queue = queue(&checked(&spec, Amount::Packets(8)), 1).with_ecn(EcnPolicy::Mark);
    let fates = [0; 6].map(|_| OfferOutcome::of(Packet { ecn: Ecn::Ect0, ..packet(1) }, &mut queue));
    assert!(fates[..4].iter().all(|fate| !matches!(fate, OfferOutcome::Dropped(_))), "{fates:?}");
    assert_eq!(fates[4..], [NO_TOKENS; 2]);
    assert_eq!(queue.backlog().packets, 4);
}

#[test]
fn no_bucket_is_made_for_a_packet_that_cannot_enter() {
    let spec = Spec { supply: Supply { alpha: Some(4.0), ..Supply::default() }, ..Spec::default() };
    let mut queue = queue(&checked(&spec, Amount::Packets(2)), 1);
    for flow in 0..3 {
        queue.enqueue(packet(flow), Time::ZERO, &mut Ignore);
    }
    assert_eq!(queue.dropper().accounts().len(), 2);
}

/// FABA that pushes out the oldest packet.
struct PushOut(Faba);

impl Dropper for PushOut {
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Verdict {
        self.0.on_arrival(packet, buffer, now)
    }
    fn victim(&mut self, _: &Packet, buffer: &Buffer, _: Time) -> Victim {
        buffer.oldest().map_or(Victim::Arrival, Victim::Waiting)
    }
    fn tracked(&mut self, packet: &Packet, flow: FlowKey, inside: bool, buffer: &Buffer) {
        self.0.tracked(packet, flow, inside, buffer);
    }
}

fn weights(pairs: &[(u32, f64)]) -> Weights {
    Weights(pairs.iter().map(|&(class, weight)| (ClassNumber(class), weight)).collect())
}

#[test]
fn free_below_may_be_a_fraction_of_a_packet() {
    let spec = Spec { free_below: Some(Quantity(Level::Packets(2.5))), ..Spec::default() };
    let (_, config) = spec.check(&site(Amount::Packets(100))).expect("allowed");
    assert_eq!(config.free_below, TOKEN / 2 * 5);
}

fn specs() -> impl Strategy<Value = Spec> {
    let rules = prop_oneof![Just(BetaRule::Abs), Just(BetaRule::LiteralFloor), Just(BetaRule::LiteralTrunc)];
    let measures = prop_oneof![Just(Measure::Packets), Just(Measure::Bytes)];
    let weights = prop_oneof![
        Just(None),
        (1e-6..1e6, 0.1..10.0).prop_map(|(one, two)| Some(weights(&[(1, one), (2, two)]))),
    ];
    let choices = prop_oneof![Just(Choice::Uniform), Just(Choice::Proportional)];
    let shares = prop_oneof![4 => Just(Share::Flows), 1 => Just(Share::Classes)];
    let free = prop_oneof![2 => Just(None), 1 => (1..20u32).prop_map(|n| Some(Amount::Packets(n).into()))];
    let numbers = (1..20u32, 0.1..3.0, prop_oneof![Just(1u32), 2..10u32, Just(64)], free);
    (rules, measures, weights, choices, shares, numbers).prop_map(
        |(beta_rule, measure, weights, choice, share_between, (beta_max, alpha, max_flows, free_below))| {
            Spec {
                free_below,
                beta_rule: Some(beta_rule),
                measure: Some(measure),
                weights,
                choice: Some(choice),
                share_between: Some(share_between),
                beta_max: Some(beta_max),
                supply: Supply { alpha: Some(alpha), max_flows: Some(max_flows) },
                ..Spec::default()
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn tokens_are_conserved_exactly_after_every_event(
        events in events(),
        spec in specs(),
        packets in 1..60u32,
        in_bytes: bool,
    ) {
        let buffer = if in_bytes { Amount::Bytes(u64::from(packets) * 512) } else { Amount::Packets(packets) };
        let made = checked(&spec, buffer);
        let config = &made.1;
        let mut alone = queue(&made, 1);
        let pushing = PushOut(Faba::new(config.clone(), Seed(1).stream("faba")));
        let mut pushing = Queue::new(made.0, Fcfs, pushing);
        for event in events {
            for queue in [&mut alone as &mut dyn Discipline, &mut pushing] {
                match event {
                    Some((flow, len)) => {
                        queue.enqueue(of_class(flow as u32 % 4, flow, len), Time::ZERO, &mut Ignore);
                    }
                    None => drop(queue.dequeue(Time::ZERO, &mut Ignore)),
                }
            }
            for (faba, buffer) in [(alone.dropper(), alone.buffer()), (&pushing.dropper().0, pushing.buffer())] {
                prop_assert_eq!(faba.balance(buffer).sum(), config.total);
                prop_assert!(faba.accounts().len() <= config.max_flows as usize);
            }
        }
    }
}

struct Reference {
    was_idle: bool,
    limit: Limit,
    config: Config,
    rng: Rng,
    x: Vec<Bucket>,
    sigma: i64,
    waiting: VecDeque<(u64, i64)>,
}

struct Bucket {
    owner: u64,
    gamma: f64,
    x: i64,
}

impl Reference {
    fn gamma(&self, class: u32) -> f64 {
        self.config.weights.class(class)
    }

    fn is_weighted(&self) -> bool {
        !self.config.weights.is_equal()
    }

    fn all_gammas(&self) -> f64 {
        self.x.iter().map(|bucket| bucket.gamma).sum()
    }

    fn height(&self, j: usize) -> i64 {
        if self.is_weighted() {
            ((self.x[j].gamma * (self.config.total as f64 / self.all_gammas())) as i64).max(1)
        } else {
            self.config.total / (self.x.len() as u64).cast_signed()
        }
    }

    fn delete(&mut self, j: usize) {
        self.sigma += self.x.swap_remove(j).x;
    }

    fn price(&self, len: u32) -> i64 {
        if self.config.given.measure == Measure::Bytes { i64::from(len) * TOKEN } else { TOKEN }
    }

    fn random_bucket(&mut self) -> usize {
        if !self.is_weighted() || self.config.given.choice == Choice::Uniform {
            return self.rng.below(self.x.len() as u32) as usize;
        }
        let parts = |gamma: f64| (gamma / self.config.heaviest * (1u64 << 39) as f64) as u64;
        let sum: u64 = self.x.iter().map(|bucket| parts(bucket.gamma)).sum();
        let mut mark = ((u128::from(self.rng.next_u64()) * u128::from(sum)) >> 64) as u64;
        for (j, bucket) in self.x.iter().enumerate() {
            if mark < parts(bucket.gamma) {
                return j;
            }
            mark -= parts(bucket.gamma);
        }
        unreachable!()
    }
}

impl Reading for Reference {
    fn arrival(&mut self, class: u32, flow: u64, len: u32) -> OfferOutcome {
        let owner = if self.config.given.share_between == Share::Classes { u64::from(class) } else { flow };
        let full = self.waiting.len() as u32 >= self.limit.max_packets();
        let is_known = self.x.iter().any(|bucket| bucket.owner == owner);
        let j = match self.x.iter().position(|bucket| bucket.owner == owner) {
            Some(j) => j,
            None if full => return FULL,
            None => {
                if self.x.len() == self.config.max_flows as usize {
                    let k = self.rng.below(self.x.len() as u32) as usize;
                    self.delete(k);
                }
                let gamma = self.gamma(class);
                self.x.push(Bucket { owner, gamma, x: 0 });
                let j = self.x.len() - 1;
                self.x[j].x = self.height(j);
                self.sigma -= self.x[j].x;
                j
            }
        };
        let height = self.height(j);
        if is_known && std::mem::take(&mut self.was_idle) && self.waiting.is_empty() {
            self.sigma -= (height - self.x[j].x).max(0);
            self.x[j].x = self.x[j].x.max(height);
        }
        if self.x[j].x > height {
            self.sigma += self.x[j].x - height;
            self.x[j].x = height;
        }
        if self.x[j].x <= 0 {
            return NO_TOKENS;
        }
        let ratio = self.x[j].x as f64 / height as f64;
        if is_early(&self.config.profile, self.x[j].x, ratio, &mut self.rng) {
            return EARLY;
        }
        if full {
            return FULL;
        }
        let price = self.price(len);
        self.x[j].x -= price;
        self.waiting.push_back((flow, price));
        OfferOutcome::In
    }

    fn departure(&mut self) -> Option<u64> {
        let Some((flow, price)) = self.waiting.pop_front() else {
            self.was_idle = true;
            return None;
        };
        let q = self.waiting.iter().map(|&(_, price)| price).sum::<i64>().max(price);
        self.sigma += price;
        let literal = self.config.given.beta_rule != BetaRule::Abs;
        let beta = match self.config.given.beta_rule {
            BetaRule::Abs => (self.sigma.abs() as f64 / q as f64).floor() as i64 + 1,
            BetaRule::LiteralFloor => (self.sigma as f64 / q as f64).floor() as i64 + 1,
            BetaRule::LiteralTrunc => (self.sigma as f64 / q as f64).trunc() as i64 + 1,
        };
        for _ in 0..beta.min(i64::from(self.config.given.beta_max)) {
            if self.x.is_empty() || !literal && self.sigma.abs() < TOKEN {
                break;
            }
            let chunk = if literal { price } else { price.min(self.sigma.abs()) };
            let j = self.random_bucket();
            let amount = if self.is_weighted() && self.config.given.choice == Choice::Uniform {
                // This order of operations decides the rounding.
                let of_mean = self.x[j].gamma * (self.x.len() as f64 / self.all_gammas());
                ((chunk as f64 * of_mean).round() as i64).max(1)
            } else {
                chunk
            };
            if self.sigma > 0 {
                self.x[j].x += amount;
                self.sigma -= amount;
            } else if self.x[j].x >= amount {
                self.x[j].x -= amount;
                self.sigma += amount;
            }
            if self.x[j].x > self.height(j) {
                self.delete(j);
            }
        }
        Some(flow)
    }
}

fn compare(spec: &Spec, seed: u64) -> Met {
    let made = checked(spec, Amount::Packets(60));
    let mut queue = queue(&made, seed);
    let (limit, config) = made;
    let mut plain = Reference {
        limit,
        rng: Seed(seed).stream("faba"),
        x: Vec::new(),
        sigma: config.total,
        waiting: VecDeque::new(),
        was_idle: false,
        config,
    };
    side_by_side(&mut queue, &mut plain, (9_000, 3, seed), |queue, plain, step| {
        let (accounts, balance) = (queue.dropper().accounts(), queue.dropper().balance(queue.buffer()));
        assert_eq!((accounts.len(), balance.pool), (plain.x.len(), plain.sigma), "step {step} of {spec:?}");
        for bucket in &plain.x {
            assert_eq!(accounts.of(bucket.owner.into()), Some(bucket.x), "step {step} of {spec:?}");
        }
    })
}

#[test]
fn it_decides_as_the_pseudo_code_does_under_every_switch() {
    let mut met = Met::new();
    for (seed, beta_rule) in (1..).zip([BetaRule::Abs, BetaRule::LiteralFloor, BetaRule::LiteralTrunc]) {
        for alpha in [0.8, 1.0, 1.5] {
            for (beta_max, max_flows) in [(16, 4096), (3, 4096), (1000, 4096), (16, 20)] {
                let spec = Spec {
                    beta_rule: Some(beta_rule),
                    beta_max: Some(beta_max),
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
fn it_decides_as_the_pseudo_code_does_with_bytes_weights_and_classes() {
    // The sums of these weights are exact in any order. So are their quotients by the heaviest
    // weight.
    let weights = [None, Some(weights(&[(1, 4.0), (2, 0.5)]))];
    for measure in [Measure::Packets, Measure::Bytes] {
        for share_between in [Share::Flows, Share::Classes] {
            for weights in &weights {
                for choice in [Choice::Uniform, Choice::Proportional] {
                    for beta_rule in [BetaRule::Abs, BetaRule::LiteralFloor] {
                        let spec = Spec {
                            measure: Some(measure),
                            share_between: Some(share_between),
                            weights: weights.clone(),
                            choice: Some(choice),
                            beta_rule: Some(beta_rule),
                            supply: Supply { alpha: Some(1.3), max_flows: Some(100) },
                            ..Spec::default()
                        };
                        let met = compare(&spec, 1);
                        assert_met(&met, &["in"], 1000);
                        assert_met(&met, &["early"], 10);
                    }
                }
            }
        }
    }
}

/// The buffer is in bytes, so tokens rather than packet slots run out in byte mode.
fn shares(spec: &Spec, senders: &[(u32, u32, f64)]) -> Vec<f64> {
    super::shares(queue(&checked(spec, Amount::Bytes(100 * 512)), 1), senders, 0.5)
}

/// Early drops take up to 2 % of a flow. Random choices add a standard deviation below 1 %.
#[track_caller]
fn assert_near(shares: &[f64], expected: &[f64]) {
    let near = |(share, expected): (&f64, &f64)| (share / expected - 1.0).abs() < 0.07;
    assert!(shares.iter().zip(expected).all(near), "{shares:?}, not {expected:?}");
}

#[test]
fn flows_share_by_the_weights_of_their_classes_under_either_choice() {
    // Only the last flow needs less than its share.
    let senders = [(1, 512, 4.0), (1, 512, 8.0), (2, 512, 4.0), (3, 512, 4.0), (3, 512, 0.4)];
    let all: f64 = senders.iter().map(|sender| sender.2).sum();
    let wants = senders.map(|(class, _, often)| (often / all * 2.0, [0.0, 3.0, 0.5, 1.0][class as usize]));
    for choice in [Choice::Uniform, Choice::Proportional] {
        for measure in [Measure::Packets, Measure::Bytes] {
            let spec = Spec {
                weights: Some(weights(&[(1, 3.0), (2, 0.5)])),
                choice: Some(choice),
                measure: Some(measure),
                ..Spec::default()
            };
            assert_near(&shares(&spec, &senders), &max_min(1.0, &wants));
        }
    }
}

#[test]
fn in_byte_mode_flows_with_long_and_short_packets_get_the_same_bytes() {
    let senders = [(0, 1500, 2.0), (0, 100, 30.0)];
    let spec = |measure| Spec { measure: Some(measure), ..Spec::default() };
    assert_near(&shares(&spec(Measure::Bytes), &senders), &[0.5, 0.5]);
    let senders = [(0, 1500, 30.0), (0, 100, 30.0)];
    assert_near(&shares(&spec(Measure::Packets), &senders), &[15.0 / 16.0, 1.0 / 16.0]);
}

#[test]
fn each_class_has_one_bucket_for_any_number_of_flows() {
    let mut senders = vec![(1, 512, 20.0)];
    senders.extend([(2, 512, 1.0); 20]);
    let spec = Spec { share_between: Some(Share::Classes), ..Spec::default() };
    let equal = shares(&spec, &senders);
    assert_near(&[equal[0], equal[1..].iter().sum()], &[0.5, 0.5]);
    let spec = Spec { weights: Some(weights(&[(2, 3.0)])), ..spec };
    let weighted = shares(&spec, &senders);
    assert_near(&[weighted[0], weighted[1..].iter().sum()], &[0.25, 0.75]);
}

#[test]
fn the_greedy_flow_gets_the_remainder() {
    let mut queue = queue(&checked(&Spec::default(), Amount::Packets(100)), 1);
    let mut traffic = Seed(1).stream("traffic");
    let mut sent = [0u32; 10];
    for step in 0..300_000 {
        let flow = if traffic.chance(0.5) { 0 } else { u64::from(1 + traffic.below(9)) };
        queue.enqueue(packet(flow), Time::ZERO, &mut Ignore);
        if step % 3 != 0
            && let Some(packet) = queue.dequeue(Time::ZERO, &mut Ignore)
        {
            sent[packet.flow.0 as usize] += 1;
        }
    }
    // Flows 1 to 9 offer 0.75 of the link, so flow 0 gets a quarter. Early drops take 2 % of 0.75,
    // half of the tolerance.
    let share = f64::from(sent[0]) / f64::from(sent.iter().sum::<u32>());
    assert!((0.22..0.28).contains(&share), "{share} {sent:?}");
}

#[test]
fn knees_in_the_wrong_order_are_refused() {
    let spec = Spec { knees: Knees { lambda2: Some(0.6), ..Knees::default() }, ..Spec::default() };
    let refused = spec.check(&site(Amount::Packets(100))).unwrap_err().to_string();
    assert_eq!(refused, "`lambda2` of `faba` is 0.6; allowed: a number from 0 to lambda1, which is 0.5");
}
