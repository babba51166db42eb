//! FABA: its invariant after every event, the vectors, and a second, straight-line reading of the same pseudo-code.

use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::Amount;
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, Ecn, EcnPolicy, Ignore, Packet, Queue, Rate, Rng, Seed, Signals,
    Time, Verdict, Victim,
};
use fairwire_disciplines::Site;
use fairwire_disciplines::dropper::faba::{BetaRule, Config, Faba, Spec, TOKEN};
use proptest::prelude::*;
use std::collections::VecDeque;

fn config(spec: &Spec, buffer: Amount) -> Config {
    let site = Site {
        rate: Rate::from_bps(10_000_000).expect("not zero"),
        buffer,
        packet_bytes: 512,
        seed: Seed(1),
        stream: "faba",
    };
    spec.check(&site).expect("allowed")
}

fn queue(config: &Config, seed: u64) -> Queue<Fcfs, Faba> {
    Queue::new(config.limit, Fcfs, Faba::new(config.clone(), Seed(seed).stream("faba")))
}

fn packet(flow: u64) -> Packet {
    Packet::new(0, 512, flow.into(), Time::ZERO)
}

/// Everything that the vector of the dossier tells, in whole tokens.
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
        assert_eq!(raw % TOKEN, 0, "all numbers of this vector are whole");
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
fn it_walks_through_the_vector() {
    let mut queue = queue(&config(&Spec::default(), Amount::Packets(8)), 1);
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
fn more_flows_than_tokens_are_still_admitted() {
    let mut queue = queue(&config(&Spec::default(), Amount::Packets(8)), 1);
    let (mut traffic, mut sent) = (Seed(1).stream("traffic"), [0u32; 40]);
    for step in 0..200_000 {
        // In random order: in a fixed one the same few would always meet the freed places.
        queue.enqueue(packet(u64::from(traffic.below(40))), Time::ZERO, &mut Ignore);
        if step % 5 == 0
            && let Some(packet) = queue.dequeue(Time::ZERO, &mut Ignore)
        {
            sent[packet.flow.0 as usize] += 1;
        }
    }
    assert!(queue.dropper().accounts().len() > 8, "this is the case of more flows than tokens");
    // 1000 each if all fared alike; nobody may get less than half of that.
    assert!(sent.iter().all(|&n| n > 500), "{sent:?}");
}

#[test]
fn a_flow_at_rest_gives_its_bucket_back() {
    let mut queue = queue(&config(&Spec::default(), Amount::Packets(16)), 1);
    for round in 0..1000 {
        queue.enqueue(packet(round), Time::ZERO, &mut Ignore);
        queue.dequeue(Time::ZERO, &mut Ignore);
    }
    // Each flow sent one packet, long ago for nearly all.
    assert!(queue.dropper().accounts().len() < 64, "{}", queue.dropper().accounts().len());
}

#[test]
fn a_flow_without_tokens_is_dropped_even_where_it_could_be_marked() {
    #[derive(Default)]
    struct Causes(Vec<Cause>);
    impl Signals for Causes {
        fn dropped(&mut self, _: Packet, cause: Cause) {
            self.0.push(cause);
        }
        fn marked(&mut self, _: &Packet, _: Cause) {}
    }
    // A buffer of 8 with alpha 1/2: a single flow runs out of tokens at 4.
    let spec = Spec { alpha: Some(0.5), ..Spec::default() };
    let mut queue = queue(&config(&spec, Amount::Packets(8)), 1).with_ecn(EcnPolicy::Mark);
    let mut causes = Causes::default();
    for _ in 0..6 {
        queue.enqueue(Packet { ecn: Ecn::Ect0, ..packet(1) }, Time::ZERO, &mut causes);
    }
    assert_eq!(causes.0, [Cause::NoTokens, Cause::NoTokens]);
    assert_eq!(queue.backlog().packets, 4);
}

#[test]
fn no_bucket_is_made_for_a_packet_that_cannot_enter() {
    let spec = Spec { alpha: Some(4.0), ..Spec::default() };
    let mut queue = queue(&config(&spec, Amount::Packets(2)), 1);
    for flow in 0..3 {
        queue.enqueue(packet(flow), Time::ZERO, &mut Ignore);
    }
    assert_eq!(queue.dropper().accounts().len(), 2);
}

/// FABA that makes room by pushing out the oldest, to drive its accounts along a path that it does not take alone.
struct PushOut(Faba);

impl Dropper for PushOut {
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Verdict {
        self.0.on_arrival(packet, buffer, now)
    }
    fn victim(&mut self, _: &Packet, buffer: &Buffer, _: Time) -> Victim {
        buffer.oldest().map_or(Victim::Arrival, Victim::Waiting)
    }
    fn tracked(&mut self, packet: &Packet, inside: bool, buffer: &Buffer) {
        self.0.tracked(packet, inside, buffer);
    }
}

/// What random sequences do: an arrival of a flow with a length, or a departure.
fn events() -> impl Strategy<Value = Vec<Option<(u64, u32)>>> {
    prop::collection::vec(prop_oneof![3 => (0..30u64, 40..1500u32).prop_map(Some), 2 => Just(None)], 0..600)
}

fn specs() -> impl Strategy<Value = Spec> {
    let rules = prop_oneof![Just(BetaRule::Abs), Just(BetaRule::LiteralFloor), Just(BetaRule::LiteralTrunc)];
    (rules, 1..20u32, 0.1..3.0, prop_oneof![Just(1u32), 2..10u32, Just(64)]).prop_map(
        |(beta_rule, beta_max, alpha, max_flows)| Spec {
            beta_rule: Some(beta_rule),
            beta_max: Some(beta_max),
            alpha: Some(alpha),
            max_flows: Some(max_flows),
            ..Spec::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn tokens_are_conserved_exactly_after_every_event(
        events in events(),
        spec in specs(),
        packets in 1..60u32,
        in_bytes: bool,
    ) {
        let buffer = if in_bytes { Amount::Bytes(u64::from(packets) * 512) } else { Amount::Packets(packets) };
        let config = config(&spec, buffer);
        let mut alone = queue(&config, 1);
        let pushing = PushOut(Faba::new(config.clone(), Seed(1).stream("faba")));
        let mut pushing = Queue::new(config.limit, Fcfs, pushing);
        for event in events {
            for queue in [&mut alone as &mut dyn Discipline, &mut pushing] {
                match event {
                    Some((flow, len)) => {
                        let packet = Packet::new(0, len, flow.into(), Time::ZERO);
                        queue.enqueue(packet, Time::ZERO, &mut Ignore);
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

/// FABA once more, straight from the pseudo-code, with lists in place of tables and none of the code under test. Amounts are in
/// the same units, so that every number must agree to the last bit.
struct Plain {
    config: Config,
    rng: Rng,
    x: Vec<(u64, i64)>,
    sigma: i64,
    waiting: VecDeque<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    In,
    Early,
    NoTokens,
    Full,
}

impl Plain {
    fn height(&self) -> i64 {
        self.config.total / self.x.len() as i64
    }

    fn delete(&mut self, j: usize) {
        self.sigma += self.x.swap_remove(j).1;
    }

    fn arrival(&mut self, flow: u64) -> Fate {
        let full = self.waiting.len() as u32 >= self.config.limit.max_packets();
        let j = match self.x.iter().position(|&(f, _)| f == flow) {
            Some(j) => j,
            None if full => return Fate::Full,
            None => {
                if self.x.len() == self.config.max_flows as usize {
                    let k = self.rng.below(self.x.len() as u32) as usize;
                    self.delete(k);
                }
                self.x.push((flow, 0));
                let height = self.height();
                let j = self.x.len() - 1;
                self.x[j].1 = height;
                self.sigma -= height;
                j
            }
        };
        let height = self.height();
        if self.x[j].1 > height {
            self.sigma += self.x[j].1 - height;
            self.x[j].1 = height;
        }
        if self.x[j].1 <= 0 {
            return Fate::NoTokens;
        }
        let r = self.x[j].1 as f64 / height as f64;
        let (l1, l2) = (self.config.profile.lambda1, self.config.profile.lambda2);
        let max_p = self.config.profile.max_probability;
        let p = if r >= l1 {
            0.0
        } else if r >= l2 {
            max_p * (l1 - r) / (l1 - l2)
        } else {
            max_p + (1.0 - max_p) * (l2 - r) / l2
        };
        if p > 0.0 && self.rng.uniform() < p {
            return Fate::Early;
        }
        if full {
            return Fate::Full;
        }
        self.x[j].1 -= TOKEN;
        self.waiting.push_back(flow);
        Fate::In
    }

    fn departure(&mut self) -> Option<u64> {
        let flow = self.waiting.pop_front()?;
        let q = (self.waiting.len() as i64).max(1) * TOKEN;
        self.sigma += TOKEN;
        let beta = match self.config.beta_rule {
            BetaRule::Abs => (self.sigma.abs() as f64 / q as f64).floor() as i64 + 1,
            BetaRule::LiteralFloor => (self.sigma as f64 / q as f64).floor() as i64 + 1,
            BetaRule::LiteralTrunc => (self.sigma as f64 / q as f64).trunc() as i64 + 1,
        };
        for _ in 0..beta.min(i64::from(self.config.beta_max)) {
            if self.x.is_empty() {
                break;
            }
            if self.config.beta_rule == BetaRule::Abs && self.sigma.abs() < TOKEN {
                break;
            }
            let j = self.rng.below(self.x.len() as u32) as usize;
            if self.sigma > 0 {
                self.x[j].1 += TOKEN;
                self.sigma -= TOKEN;
            } else if self.x[j].1 >= TOKEN {
                self.x[j].1 -= TOKEN;
                self.sigma += TOKEN;
            }
            if self.x[j].1 > self.height() {
                self.delete(j);
            }
        }
        Some(flow)
    }
}

#[derive(Default)]
struct Last(Option<Fate>);

impl Signals for Last {
    fn dropped(&mut self, _: Packet, cause: Cause) {
        self.0 = Some(match cause {
            Cause::Early => Fate::Early,
            Cause::NoTokens => Fate::NoTokens,
            Cause::Overflow => Fate::Full,
            other => panic!("FABA has no {other:?}"),
        });
    }
    fn marked(&mut self, _: &Packet, _: Cause) {}
}

/// Runs both readings side by side; returns how often each fate was met.
fn compare(spec: &Spec, seed: u64) -> [u32; 4] {
    let config = config(spec, Amount::Packets(60));
    let mut queue = queue(&config, seed);
    let mut plain = Plain {
        config: config.clone(),
        rng: Seed(seed).stream("faba"),
        x: Vec::new(),
        sigma: config.total,
        waiting: VecDeque::new(),
    };
    let (mut traffic, mut fates) = (Seed(seed).stream("traffic"), [0; 4]);
    for step in 0..30_000 {
        let load = [0.7, 0.45, 0.55][step / 700 % 3];
        if traffic.chance(load) {
            // Flow 0 sends a third; the others are more at some times than at others.
            let flows = [5, 30, 200][step / 3000 % 3];
            let flow = if traffic.chance(0.33) { 0 } else { u64::from(traffic.below(flows)) };
            let mut last = Last::default();
            queue.enqueue(packet(flow), Time::ZERO, &mut last);
            let fate = plain.arrival(flow);
            assert_eq!(last.0.unwrap_or(Fate::In), fate, "step {step}");
            fates[fate as usize] += 1;
        } else {
            let sent = queue.dequeue(Time::ZERO, &mut Ignore);
            assert_eq!(sent.map(|packet| packet.flow.0), plain.departure(), "step {step}");
        }
        let (accounts, balance) = (queue.dropper().accounts(), queue.dropper().balance(queue.buffer()));
        assert_eq!((accounts.len(), balance.pool), (plain.x.len(), plain.sigma), "step {step}");
        assert!(plain.x.iter().all(|&(flow, x)| accounts.of(flow.into()) == Some(x)), "step {step}");
    }
    fates
}

#[test]
fn it_decides_as_the_pseudo_code_does_under_every_switch() {
    let mut met = [0; 4];
    for (seed, beta_rule) in (1..).zip([BetaRule::Abs, BetaRule::LiteralFloor, BetaRule::LiteralTrunc]) {
        for alpha in [0.8, 1.0, 1.5] {
            for (beta_max, max_flows) in [(16, 4096), (3, 4096), (1000, 4096), (16, 20)] {
                let spec = Spec {
                    beta_rule: Some(beta_rule),
                    alpha: Some(alpha),
                    beta_max: Some(beta_max),
                    max_flows: Some(max_flows),
                    ..Spec::default()
                };
                for (total, fate) in met.iter_mut().zip(compare(&spec, seed)) {
                    *total += fate;
                }
            }
        }
    }
    assert!(met.iter().all(|&n| n > 1000), "some branch was hardly met: {met:?}");
}

#[test]
fn the_greedy_flow_gets_what_the_others_leave() {
    // Ten flows at 1.5 times the link's rate, one of which sends half of everything.
    let mut queue = queue(&config(&Spec::default(), Amount::Packets(100)), 1);
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
    // The others offer 0.75/9 of the link each, less than a tenth, so max-min leaves them that and the greedy one a quarter.
    // Their random bursts cost them some: at the profile's lower knee 2 % of their 0.75, so 0.015, allowed for twice.
    let share = f64::from(sent[0]) / f64::from(sent.iter().sum::<u32>());
    assert!((0.22..0.28).contains(&share), "{share} {sent:?}");
}

#[test]
fn what_is_not_allowed_is_told() {
    let site = Site {
        rate: Rate::from_bps(10_000_000).expect("not zero"),
        buffer: Amount::Packets(100),
        packet_bytes: 512,
        seed: Seed(1),
        stream: "faba",
    };
    for (spec, message) in [
        (
            Spec { alpha: Some(0.0), ..Spec::default() },
            "`alpha` of `faba` is 0; allowed: a number above 0, at most 1000",
        ),
        (
            Spec { alpha: Some(f64::NAN), ..Spec::default() },
            "`alpha` of `faba` is NaN; allowed: a number above 0, at most 1000",
        ),
        (
            Spec { lambda2: Some(0.6), ..Spec::default() },
            "`lambda2` of `faba` is 0.6; allowed: a number from 0 to 0.5",
        ),
        (
            Spec { beta_max: Some(0), ..Spec::default() },
            "`beta_max` of `faba` is 0; allowed: a whole number from 1 to 4294967295",
        ),
        (
            Spec { max_flows: Some(20_000_000), ..Spec::default() },
            "`max_flows` of `faba` is 20000000; allowed: a whole number from 1 to 16777216",
        ),
    ] {
        assert_eq!(spec.check(&site).unwrap_err().to_string(), message);
    }
}
