//! COBALT against a transcription of CAKE's COBALT.

use super::{assert_same, site, trace};
use crate::beside::{Event, Offer, Reading};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::{
    Backlog, Cause, Discipline, Ecn, EcnPolicy, Ignore, Limit, Packet, Queue, Rng, Seed, Time, Verdict,
};
use fairwire_laws::dropper::cobalt::{Cobalt, Common, Spec, Terms};
use fairwire_laws::dropper::law::{Law, OneQueue};
use std::collections::VecDeque;

fn terms() -> Terms {
    Spec::default().check(&site(60)).expect("the defaults are allowed").1
}

struct PlainCobalt {
    t: Terms,
    limit: usize,
    rng: Rng,
    queue: VecDeque<Offer>,
    /// The probability in units of 2^-32, as in CAKE.
    p_drop: u64,
    blue_timer: i64,
    drop_next: i64,
    count: u32,
    dropping: bool,
}

impl PlainCobalt {
    fn control(&self, t: i64) -> i64 {
        t + (self.t.control.interval.ns() as f64 / f64::from(self.count.max(1)).sqrt()) as i64
    }

    fn queue_full(&mut self, now: i64) {
        if now - self.blue_timer > self.t.control.target.ns().cast_signed() {
            self.p_drop = (self.p_drop + (1 << 24)).min(1 << 32);
            self.blue_timer = now;
        }
        self.dropping = true;
        self.drop_next = now;
        if self.count == 0 {
            self.count = 1;
        }
    }

    fn queue_empty(&mut self, now: i64) {
        if self.p_drop > 0 && now - self.blue_timer > self.t.control.target.ns().cast_signed() {
            self.p_drop = self.p_drop.saturating_sub(1 << 20);
            self.blue_timer = now;
        }
        self.dropping = false;
        if self.count > 0 && now - self.drop_next >= 0 {
            self.count -= 1;
            self.drop_next = self.control(self.drop_next);
        }
    }

    fn should_drop(&mut self, packet: &Offer, now: i64) -> (Option<Cause>, bool) {
        let sojourn = now - packet.arrived.cast_signed();
        let over_target = sojourn > self.t.control.target.ns().cast_signed()
            && sojourn > self.t.four_packets.ns().cast_signed();
        let mut next_due = self.count > 0 && now - self.drop_next >= 0;
        let (mut drop, mut mark) = (None, false);
        if over_target {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.control(now);
            }
            if self.count == 0 {
                self.count = 1;
            }
        } else {
            self.dropping = false;
        }
        if next_due && self.dropping {
            mark = self.t.ecn == EcnPolicy::Mark && packet.ecn != Ecn::NotEct;
            drop = (!mark).then_some(Cause::Early);
            self.count += 1;
            self.drop_next = self.control(self.drop_next);
        } else {
            while next_due {
                self.count -= 1;
                self.drop_next = self.control(self.drop_next);
                next_due = self.count > 0 && now - self.drop_next >= 0;
            }
        }
        if self.p_drop > 0 && self.rng.uniform() < self.p_drop as f64 / 4_294_967_296.0 {
            drop = Some(Cause::Forced);
        }
        if self.count == 0 {
            self.drop_next = now + self.t.control.interval.ns().cast_signed();
        } else if now - self.drop_next > 0 && drop.is_none() {
            self.drop_next = now;
        }
        (drop, mark)
    }
}

impl Reading for PlainCobalt {
    fn offer(&mut self, packet: Offer, now: u64, events: &mut Vec<Event>) {
        if self.queue.len() == self.limit {
            self.queue_full(now.cast_signed());
            return events.push(Event::Dropped(packet.frame, Cause::Overflow));
        }
        self.queue.push_back(packet);
    }

    fn request(&mut self, now: u64, events: &mut Vec<Event>) {
        while let Some(packet) = self.queue.pop_front() {
            let (drop, mark) = self.should_drop(&packet, now.cast_signed());
            if let Some(cause) = drop.filter(|_| !self.queue.is_empty()) {
                events.push(Event::Dropped(packet.frame, cause));
                continue;
            }
            if mark {
                events.push(Event::Marked(packet.frame, Cause::Early));
            }
            return events.push(Event::Sent(packet.frame));
        }
        self.queue_empty(now.cast_signed());
    }
}

fn queue(limit: u32, terms: Terms, seed: u64) -> Queue<Fcfs, OneQueue<Cobalt>> {
    let dropper = OneQueue::new(Common::new(terms, Seed(seed).stream("blue")));
    Queue::new(Limit::packets(limit), Fcfs, dropper).with_ecn(terms.ecn)
}

#[test]
fn it_agrees_with_a_straight_line_implementation_over_random_traces() {
    for ecn in [EcnPolicy::Drop, EcnPolicy::Mark] {
        let (mut signals, mut blue) = (0, 0);
        for seed in 0..8 {
            let terms = Terms { ecn, ..terms() };
            let mut rng = Seed(seed).stream("cobalt");
            let trace = trace(&mut rng, 5000, 8, |_, rng| 40 + rng.below(1460));
            let mut model = PlainCobalt {
                t: terms,
                limit: 60,
                rng: Seed(seed).stream("blue"),
                queue: VecDeque::new(),
                p_drop: 0,
                blue_timer: 0,
                drop_next: 0,
                count: 0,
                dropping: false,
            };
            let log = assert_same(&mut queue(60, terms, seed), &mut model, &trace);
            signals += log.dropped_by(Cause::Early) + log.marked().len();
            blue += log.dropped_by(Cause::Forced);
        }
        assert!(signals > 500 && blue > 100, "{ecn:?}: {signals} signals, {blue} drops by BLUE");
    }
}

#[test]
fn overflow_raises_the_probability_once_per_target_and_idling_lowers_it() {
    let mut queue = queue(10, terms(), 1);
    let packet = |now| Packet::new(0, 500, 1.into(), now);
    let overflow = |queue: &mut Queue<_, OneQueue<Cobalt>>, ms: u64| {
        let now = Time::from_ns(ms * 1_000_000);
        (0..20).for_each(|_| queue.enqueue(packet(now), now, &mut Ignore));
        queue.dropper().law().probability()
    };
    assert_eq!(overflow(&mut queue, 100), 1.0 / 256.0, "however many did not fit");
    assert_eq!(overflow(&mut queue, 104), 1.0 / 256.0, "less than a target later");
    assert_eq!(overflow(&mut queue, 106), 2.0 / 256.0);
    let mut idle = |ms: u64| {
        while queue.dequeue(Time::from_ns(ms * 1_000_000), &mut Ignore).is_some() {}
        queue.dropper().law().probability()
    };
    assert_eq!(idle(108), 2.0 / 256.0);
    assert_eq!(idle(112), 2.0 / 256.0 - 1.0 / 4096.0);
}

#[test]
fn a_wait_counts_only_above_two_packets_of_each_backlogged_queue() {
    // Each departing packet has waited 20 ms. The shortest wait that counts is 4.8 ms: 4 × 1514
    // bytes at 10 Mbit/s.
    let signals = |queues: u32| {
        let mut common = Common::new(terms(), Seed(1).stream("blue"));
        let mut law = Cobalt::default();
        Cobalt::share(&mut common, queues);
        let queue = Backlog { packets: 100, bytes: 50_000 };
        let mut given = 0;
        for ms in 100..2100 {
            let packet = Packet::new(0, 500, 1.into(), Time::from_ns((ms - 20) * 1_000_000));
            let now = Time::from_ns(ms * 1_000_000);
            given += u32::from(law.on_departure(&mut common, &packet, queue, now) != Verdict::Pass);
        }
        given
    };
    // Two packets per queue take 19.4 ms with 8 queues, and 21.8 ms with 9. Only 21.8 ms exceeds
    // the wait of 20 ms.
    assert!(signals(0) > 50 && signals(0) == signals(8), "{} {}", signals(0), signals(8));
    assert_eq!(signals(9), 0);
}
