//! REM's probability, its price against a model with a timer, and a loop with reacting senders.

use super::site;
use crate::beside::{Event, Line, Met, Offer, Reading, Traffic, assert_near, compare};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::Amount;
use fairwire_core::{
    Buffer, Cause, Dropper, Duration, EcnPolicy, Limit, Packet, Queue, Rng, Seed, Time, Verdict,
};
use fairwire_laws::Site;
use fairwire_laws::dropper::rem::{Checked, Config, Judged, Law, MarkAt, Rem, Spec};
use fairwire_laws::queueing::Queueing;
use fairwire_laws::spec::{EcnChoice, Measure};

fn config() -> Config {
    let spec = Spec { target: Some(Amount::Packets(20).into()), ..Spec::default() };
    spec.check(&site()).expect("this is allowed").1
}

#[test]
fn the_probability_is_that_of_the_paper() {
    // A signal has probability 1 - phi^-price with phi = 1.001: Athuraliya et al. 2001,
    // "exponential marking".
    for (price, p) in [(0.0, 0.0), (100.0, 0.0951), (700.0, 0.5032)] {
        let found = config().law.probability(price);
        assert!((found - p).abs() <= 0.5e-4, "{found} {p}"); // half a unit in the last digit
    }
}

#[test]
fn the_defaults_are_those_of_ns2() {
    let law =
        |buffer| Spec::default().check(&Site { buffer, ..site() }).expect("the defaults are allowed").1.law;
    let Law { given, target, capacity } = law(Amount::Packets(80));
    let Checked { interval, gamma, alpha, phi, input_weight, .. } = given;
    assert_eq!((target, interval, gamma), (20.0, Duration::from_ms(2), 0.001));
    assert_eq!((alpha, phi, input_weight), (0.1, 1.001, 1.0));
    // 10 Mbit/s carry 4.88 packets of 512 bytes in 2 ms.
    assert!((capacity - 4.8828125).abs() < 1e-12, "{capacity}");
    // The target is a quarter of a small buffer.
    assert_eq!(law(Amount::Packets(15)).target, 3.75);
    assert_eq!(law(Amount::Bytes(20_480)).target, 10.0);
}

/// The paper's price and marks with a real timer, as in ns-2.
struct Reference {
    config: Config,
    rng: Rng,
    line: Line,
    price: f64,
    mean: f64,
    count: f64,
    rings: u64,
}

impl Reference {
    fn in_bytes(&self) -> bool {
        self.config.law.given.measure == Measure::Bytes
    }

    /// Makes the updates due by `now`. The queue must not have changed since the last call.
    fn timer(&mut self, now: u64) {
        let law = self.config.law;
        while self.rings <= now {
            self.mean = (1.0 - law.given.input_weight) * self.mean + law.given.input_weight * self.count;
            self.count = 0.0;
            let queue = self.line.len(self.in_bytes());
            let step = law.given.gamma * (self.mean + law.given.alpha * (queue - law.target) - law.capacity);
            self.price = f64::max(0.0, self.price + step);
            self.rings += law.given.interval.ns();
        }
    }

    fn is_picked(&mut self, len: u32) -> bool {
        let scale = if self.in_bytes() { f64::from(len) / 512.0 } else { 1.0 };
        let p = (1.0 - self.config.law.given.phi.powf(-self.price)) * scale;
        p > 0.0 && (p >= 1.0 || self.rng.uniform() < p)
    }
}

impl Reading for Reference {
    fn offer(&mut self, offer: Offer, now: u64, events: &mut Vec<Event>) {
        self.timer(now);
        self.count += if self.in_bytes() { f64::from(offer.len) / 512.0 } else { 1.0 };
        let Judged { capable_at_departure, incapable } = self.config.judged;
        let here = if offer.ecn.is_capable() { !capable_at_departure } else { incapable };
        let signalled = here && self.is_picked(offer.len);
        self.line.settle(offer, signalled, events);
    }

    fn request(&mut self, now: u64, events: &mut Vec<Event>) {
        self.timer(now);
        let Some(offer) = self.line.waiting.pop_front() else { return };
        if self.config.judged.capable_at_departure && offer.ecn.is_capable() && self.is_picked(offer.len) {
            events.push(Event::Marked(offer.frame, Cause::Early));
        }
        events.push(Event::Sent(offer.frame));
    }
}

fn side_by_side(limit: Limit, config: Config, policy: EcnPolicy, seed: u64) -> Met {
    let mut queue = Queue::new(limit, Fcfs, Rem::new(config, Seed(seed).stream("rem"))).with_ecn(policy);
    let mut plain = Reference {
        config,
        rng: Seed(seed).stream("rem"),
        line: Line::new(limit, policy),
        price: 0.0,
        mean: 0.0,
        count: 0.0,
        rings: config.law.given.interval.ns(),
    };
    compare(&mut queue, &mut plain, &Traffic::default(), (10_000, seed), |queue, plain| {
        // Both prices are current, because the discipline updates its price whenever it is called.
        assert_near(queue.dropper().price(), plain.price);
    })
}

#[test]
fn it_decides_as_the_pseudo_code_does_under_every_switch() {
    for switches in 0..32u64 {
        let on = |bit: u32| switches >> bit & 1 == 1;
        let policy = if on(0) { EcnPolicy::Mark } else { EcnPolicy::Drop };
        let spec = Spec {
            measure: Some(if on(1) { Measure::Bytes } else { Measure::Packets }),
            queue: Queueing {
                ecn: Some(if on(0) { EcnChoice::Mark } else { EcnChoice::Drop }),
                ..Queueing::from(if on(1) { Amount::Bytes(20_480) } else { Amount::Packets(40) })
            },
            mark_at: Some(if on(2) { MarkAt::Arrival } else { MarkAt::Departure }),
            drop_incapable: Some(on(3)),
            input_weight: Some(if on(4) { 0.3 } else { 1.0 }),
            gamma: Some(0.2), // two hundred times the default, so a short run covers all prices
            target: Some(Amount::Packets(10).into()),
            ..Spec::default()
        };
        let (whole, config) = spec.check(&site()).expect("allowed");
        let met = side_by_side(whole.room.limit, config, policy, switches);
        let early = met.get("early").copied().unwrap_or(0);
        assert_eq!(early > 100, !on(0) || on(3), "{switches}: {met:?}");
        assert_eq!(met.get("marked").copied().unwrap_or(0) > 100, on(0), "{switches}: {met:?}");
    }
}

#[test]
fn a_long_silence_costs_one_step_and_leaves_no_price() {
    let mut rem = Rem::new(config(), Seed(1).stream("rem"));
    let mut full = Buffer::new(Limit::packets(100));
    for frame in 0..100 {
        full.push(Packet::new(frame, 512, 0.into(), Time::ZERO));
    }
    let at = |rem: &mut Rem, buffer: &Buffer, ms: u64| {
        let now = Time::from_ns(ms * 1_000_000);
        rem.on_arrival(&Packet::new(999, 512, 0.into(), now), buffer, now)
    };
    // In each interval, 80 packets above the target add gamma x (alpha x 80 - capacity) = 0.001 x
    // (0.1 x 80 - 4.88) to the price.
    at(&mut rem, &full, 2_000_000);
    let price = rem.price();
    assert!((price - 3117.1875).abs() < 1e-6, "{price}"); // rounding of a million times 3.1171875e-3
    let picked = (1..200).filter(|_| at(&mut rem, &full, 2_000_001) == Verdict::Signal(Cause::Early)).count();
    assert!((175..=199).contains(&picked), "{picked}"); // p is 0.9557: 190 of 199 are expected, +- 2.9 sd
    at(&mut rem, &Buffer::new(Limit::packets(100)), 20_000_000);
    assert_eq!(rem.price(), 0.0);
}

#[test]
fn with_responsive_senders_the_backlog_settles_at_the_target() {
    // `gamma` is a thousand times the default, so the loop converges within a few thousand
    // intervals.
    let law = Law { given: Checked { gamma: 1.0, ..Checked::default() }, ..config().law };
    let mut rem = Rem::new(Config { law, ..config() }, Seed(1).stream("rem"));
    let (mut queue, mut credit) = (0.0f64, 0.0f64);
    let mut settled = Vec::new();
    for round in 1..20_000u64 {
        // Without signals, 9 packets arrive per interval. The link sends 4.88.
        let rate = 9.0 * (1.0 - law.probability(rem.price()));
        queue = (queue + rate - law.capacity).clamp(0.0, 39.0);
        let mut buffer = Buffer::new(Limit::packets(40));
        for _ in 0..queue.round() as u32 {
            buffer.push(Packet::new(0, 512, 0.into(), Time::ZERO));
        }
        let now = Time::from_ns(round * 2_000_000 - 1);
        credit += rate;
        while credit >= 1.0 {
            credit -= 1.0;
            rem.on_arrival(&Packet::new(1, 512, 0.into(), now), &buffer, now);
        }
        if round > 15_000 {
            settled.push(queue);
        }
    }
    let mean = settled.iter().sum::<f64>() / settled.len() as f64;
    // The mean price is constant only if the backlog is the target, 20 packets. The tolerance
    // allows for rounding to whole packets.
    assert!((mean - 20.0).abs() < 0.5, "{mean}");
}

#[test]
fn by_default_a_small_buffer_gives_a_price_too() {
    let site = Site { buffer: Amount::Packets(15), ..site() };
    let config = Spec::default().check(&site).expect("the defaults are allowed").1;
    let mut rem = Rem::new(config, Seed(1).stream("rem"));
    let mut full = Buffer::new(Limit::packets(15));
    while full.fits(512) {
        full.push(Packet::new(0, 512, 0.into(), Time::ZERO));
    }
    // Arrivals equal the link's rate, so only the 15 waiting packets can raise the price. With a
    // target of 20 packets, the price would stay at zero.
    for i in 0..5000 {
        let now = Time::from_ns(i * 409_600);
        rem.on_arrival(&Packet::new(1, 512, 0.into(), now), &full, now);
    }
    // 1000 intervals add 0.001 x 0.1 x (15 - 3.75) each, 1.1 in total. The test requires half.
    assert!(rem.price() > 0.5, "{}", rem.price());
}
