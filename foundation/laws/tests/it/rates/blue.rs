//! BLUE against its pseudo-code.

use super::site;
use crate::beside::{Event, Line, Offer, Reading, Traffic, assert_near, compare};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::{
    Buffer, Cause, Dropper, Duration, EcnPolicy, Limit, Packet, Queue, Rng, Seed, Time, Verdict, Victim,
};
use fairwire_laws::dropper::blue::{Blue, Checked, Config, Spec};
use fairwire_laws::spec::Measure;

fn config() -> Config {
    Spec::default().check(&site()).expect("the defaults are allowed").1
}

#[test]
fn the_defaults_are_those_of_the_authors_code() {
    let Config { given, threshold, .. } = config();
    let Checked { increase, decrease, freeze_time, idle_decay, .. } = given;
    assert_eq!((increase, decrease, freeze_time), (0.0025, 0.00025, Duration::from_ms(100)));
    assert_eq!((threshold, idle_decay), (None, false));
}

struct Reference {
    config: Config,
    rng: Rng,
    line: Line,
    pm: f64,
    last_update: Option<u64>,
    idle_since: Option<u64>,
}

impl Reference {
    fn may_update(&self, now: u64) -> bool {
        self.last_update.is_none_or(|last| now - last > self.config.given.freeze_time.ns())
    }

    fn upon_loss(&mut self, now: u64) {
        if self.may_update(now) {
            self.pm = f64::min(1.0, self.pm + self.config.given.increase);
            self.last_update = Some(now);
        }
    }

    fn upon_idle(&mut self, now: u64) {
        if self.may_update(now) {
            self.pm = f64::max(0.0, self.pm - self.config.given.decrease);
            self.last_update = Some(now);
        }
        if self.config.given.idle_decay && self.idle_since.is_none() {
            self.idle_since = Some(now);
        }
    }
}

impl Reading for Reference {
    fn offer(&mut self, offer: Offer, now: u64, events: &mut Vec<Event>) {
        if let Some(since) = self.idle_since.take() {
            let mut from = u64::max(since, self.last_update.unwrap_or(0));
            while from + self.config.given.freeze_time.ns() <= now {
                from += self.config.given.freeze_time.ns();
                self.pm = f64::max(0.0, self.pm - self.config.given.decrease);
                self.last_update = Some(from);
            }
        }
        let in_bytes = self.config.given.measure == Measure::Bytes;
        let p = if in_bytes && self.pm < 1.0 { self.pm * f64::from(offer.len) / 512.0 } else { self.pm };
        let signalled = p >= 1.0 || (p > 0.0 && self.rng.uniform() < p);
        let before = self.line.waiting.len();
        let fitted = self.line.settle(offer, signalled, events);
        let entered = self.line.waiting.len() > before;
        let unit = if in_bytes { 512.0 } else { 1.0 };
        let above = |limit: f64| self.line.len(in_bytes) * unit > limit;
        if !fitted || (entered && self.config.threshold.is_some_and(above)) {
            self.upon_loss(now);
        }
    }

    fn request(&mut self, now: u64, events: &mut Vec<Event>) {
        if !self.line.send(events) {
            self.upon_idle(now);
        }
    }
}

#[test]
fn it_decides_as_the_pseudo_code_does_under_every_switch() {
    for switches in 0..16u64 {
        let on = |bit: u32| switches >> bit & 1 == 1;
        let policy = if on(0) { EcnPolicy::Mark } else { EcnPolicy::Drop };
        let unit = if on(1) { 512.0 } else { 1.0 };
        let limit = if on(1) { Limit::bytes(20_480) } else { Limit::packets(40) };
        let given = Checked {
            measure: if on(1) { Measure::Bytes } else { Measure::Packets },
            idle_decay: on(3),
            // The steps are larger and more frequent than by default, so a short run covers rises
            // and falls.
            increase: 0.05,
            decrease: 0.02,
            freeze_time: Duration::from_ms(10),
        };
        let config = Config { given, threshold: on(2).then_some(15.0 * unit), ..config() };
        let blue = Blue::new(config, Seed(switches).stream("blue"));
        let mut queue = Queue::new(limit, Fcfs, blue).with_ecn(policy);
        let mut plain = Reference {
            config,
            rng: Seed(switches).stream("blue"),
            line: Line::new(limit, policy),
            pm: 0.0,
            last_update: None,
            idle_since: None,
        };
        let met = compare(&mut queue, &mut plain, &Traffic::default(), (20_000, switches), |queue, plain| {
            assert_near(queue.dropper().probability(), plain.pm);
            assert!((0.0..=1.0).contains(&queue.dropper().probability()));
        });
        assert!(met["early"] > 500 && met["sent"] > 5000, "{switches}: {met:?}");
        assert_eq!(met.contains_key("marked"), on(0), "{switches}: {met:?}");
        // With the threshold, the probability rises before the buffer overflows.
        assert!(on(2) || met["overflow"] > 50, "{switches}: {met:?}");
    }
}

#[test]
fn it_takes_forty_seconds_of_loss_from_0_to_1_and_is_certain_there() {
    let mut blue = Blue::new(config(), Seed(1).stream("blue"));
    let buffer = Buffer::new(Limit::packets(40));
    let packet = Packet::new(0, 40, 0.into(), Time::ZERO);
    let mut steps = 0;
    while blue.probability() < 1.0 {
        steps += 1;
        let now = Time::from_ns(steps * 1_000_000); // a loss every millisecond
        assert_eq!(blue.victim(&packet, &buffer, now), Victim::Arrival);
        assert!(steps < 100_000, "{}", blue.probability());
    }
    // 400 increases of 0.0025, 101 ms apart, end at 1 + 399 x 101 = 40300 ms. Rounding may require
    // one more increase.
    assert!((40_300..=40_402).contains(&steps), "{steps}");
    let now = Time::from_ns(50_000_000_000);
    assert!((0..100).all(|_| blue.on_arrival(&packet, &buffer, now) == Verdict::Signal(Cause::Early)));
}

#[test]
fn an_idle_hour_lowers_it_once_or_to_zero_as_configured() {
    for (idle_decay, left) in [(false, 0.05 - 0.00025), (true, 0.0)] {
        let given = Checked { idle_decay, increase: 0.05, ..Checked::default() };
        let mut blue = Blue::new(Config { given, ..config() }, Seed(1).stream("blue"));
        let buffer = Buffer::new(Limit::packets(40));
        let packet = Packet::new(0, 512, 0.into(), Time::ZERO);
        blue.victim(&packet, &buffer, Time::ZERO);
        blue.idle(Time::from_ns(1_000_000_000));
        blue.on_arrival(&packet, &buffer, Time::from_ns(3_601_000_000_000));
        assert!((blue.probability() - left).abs() < 1e-15, "{}", blue.probability()); // one rounding
    }
}
