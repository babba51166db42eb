//! CoDel against RFC 8289's pseudo-code.

use super::{assert_same, site, trace};
use crate::beside::{Event, Offer, Reading};
use crate::fate::Events;
use fairwire_core::scheduler::Fcfs;
use fairwire_core::{Cause, Discipline, Duration, Ecn, EcnPolicy, Limit, Packet, Queue, Seed, Time};
use fairwire_laws::dropper::codel::{Arithmetic, CheckedControl, Codel, Rules, Spec, Terms};
use fairwire_laws::dropper::law::OneQueue;
use std::collections::VecDeque;

pub(crate) fn defaults() -> Terms {
    Spec::default().check(&site(100)).expect("the defaults are allowed").1
}

fn with(control: CheckedControl) -> Terms {
    Terms { control, ..defaults() }
}

/// The variables of RFC 8289, section 5. A `first_above_time` of 0 means "not above".
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    first_above_time: u64,
    drop_next: u64,
    pub(crate) count: u32,
    lastcount: u32,
    dropping: bool,
}

fn control_law(t: u64, count: u32, terms: &Terms) -> u64 {
    t + (terms.control.interval.ns() as f64 / f64::from(count).sqrt()) as u64
}

/// Returns the next packet, and whether it may be dropped. `beside` is the backlog of the other
/// queues, which Linux also counts.
fn dodequeue(
    s: &mut State,
    q: &mut VecDeque<Offer>,
    beside: u64,
    now: u64,
    terms: &Terms,
) -> (Option<Offer>, bool) {
    let Some(p) = q.pop_front() else {
        s.first_above_time = 0;
        return (None, false);
    };
    let left: u64 = beside + q.iter().map(|p| u64::from(p.len)).sum::<u64>();
    if now - p.arrived < terms.control.target.ns() || left <= terms.mtu {
        s.first_above_time = 0;
        return (Some(p), false);
    }
    if s.first_above_time == 0 {
        s.first_above_time = now + terms.control.interval.ns();
        return (Some(p), false);
    }
    (Some(p), now >= s.first_above_time)
}

/// `dequeue` of RFC 8289, section 5.5, with Linux's marks. Under Linux's rules, a poll of an empty
/// queue clears `dropping` but keeps `first_above_time`.
pub(crate) fn dequeue(
    s: &mut State,
    q: &mut VecDeque<Offer>,
    beside: u64,
    now: u64,
    terms: &Terms,
    events: &mut Vec<Event>,
) -> Option<Offer> {
    let marks = |p: &Offer| terms.ecn == EcnPolicy::Mark && p.ecn != Ecn::NotEct;
    if q.is_empty() && terms.rules == Rules::Linux {
        s.dropping = false;
        return None;
    }
    let (mut p, mut ok_to_drop) = dodequeue(s, q, beside, now, terms);
    if s.dropping {
        if !ok_to_drop {
            s.dropping = false;
        }
        while s.dropping && now >= s.drop_next {
            let this = p.expect("dropping means that there is one");
            if marks(&this) {
                s.count += 1;
                s.drop_next = control_law(s.drop_next, s.count, terms);
                events.push(Event::Marked(this.frame, Cause::Early));
                return p;
            }
            events.push(Event::Dropped(this.frame, Cause::Early));
            s.count += 1;
            (p, ok_to_drop) = dodequeue(s, q, beside, now, terms);
            if ok_to_drop {
                s.drop_next = control_law(s.drop_next, s.count, terms);
            } else {
                s.dropping = false;
            }
        }
    } else if ok_to_drop {
        let this = p.expect("it may be dropped, so there is one");
        if marks(&this) {
            events.push(Event::Marked(this.frame, Cause::Early));
        } else {
            events.push(Event::Dropped(this.frame, Cause::Early));
            (p, _) = dodequeue(s, q, beside, now, terms);
        }
        s.dropping = true;
        let delta = s.count - s.lastcount;
        let recent =
            (now.cast_signed() - s.drop_next.cast_signed()) < 16 * terms.control.interval.ns().cast_signed();
        s.count = if delta > 1 && recent { delta } else { 1 };
        s.drop_next = control_law(now, s.count, terms);
        s.lastcount = s.count;
    }
    p
}

struct PlainCodel {
    terms: Terms,
    limit: usize,
    queue: VecDeque<Offer>,
    state: State,
}

impl Reading for PlainCodel {
    fn offer(&mut self, packet: Offer, _: u64, events: &mut Vec<Event>) {
        if self.queue.len() == self.limit {
            return events.push(Event::Dropped(packet.frame, Cause::Overflow));
        }
        self.queue.push_back(packet);
    }
    fn request(&mut self, now: u64, events: &mut Vec<Event>) {
        if let Some(sent) = dequeue(&mut self.state, &mut self.queue, 0, now, &self.terms, events) {
            events.push(Event::Sent(sent.frame));
        }
    }
}

fn queue(limit: u32, terms: Terms) -> Queue<Fcfs, OneQueue<Codel>> {
    Queue::new(Limit::packets(limit), Fcfs, OneQueue::new(terms)).with_ecn(terms.ecn)
}

#[test]
fn it_decides_as_the_rfcs_pseudo_code_over_random_traces() {
    for ecn in [EcnPolicy::Drop, EcnPolicy::Mark] {
        // The shorter the interval, the more drops at one instant.
        for (interval, early) in [(100, 100), (20, 1000), (1, 2000)] {
            let terms = Terms {
                ecn,
                ..with(CheckedControl { interval: Duration::from_ms(interval), ..CheckedControl::default() })
            };
            let (mut signals, mut several) = (0, 0);
            for seed in 0..6 {
                let mut rng = Seed(seed).stream("codel");
                let trace = trace(&mut rng, 4000, 8, |_, rng| 40 + rng.below(1460));
                let state = State::default();
                let mut model = PlainCodel { terms, limit: 100, queue: VecDeque::new(), state };
                let log = assert_same(&mut queue(100, terms), &mut model, &trace);
                signals += log.dropped_by(Cause::Early) + log.marked().len();
                several += log
                    .0
                    .windows(2)
                    .filter(|w| matches!(w, [Event::Dropped(..), Event::Dropped(..)]))
                    .count();
            }
            assert!(signals > early, "{ecn:?} {interval} ms: only {signals} signals");
            assert!(interval > 1 || several > 100, "{several} times several drops at once");
        }
    }
}

/// Enqueues a packet per ms and, after the first `packets` ms, also polls once per ms. Returns the
/// events, and the times of signals in ms since the first poll.
fn standing(queue: &mut impl Discipline, packets: u64, requests: u64, ecn: Ecn) -> (Events, Vec<u64>) {
    let (mut log, mut at) = (Events::default(), Vec::new());
    for ms in 0..packets + requests {
        let now = Time::from_ns(ms * 1_000_000);
        let packet = Packet { ecn, ..Packet::new(ms as u32, 1000, 1.into(), now) };
        queue.enqueue(packet, now, &mut log);
        if ms >= packets {
            let before = log.dropped_by(Cause::Early) + log.marked().len();
            let sent = queue.dequeue(now, &mut log).expect("it is backlogged");
            log.0.push(Event::Sent(sent.frame));
            let signals = log.dropped_by(Cause::Early) + log.marked().len() - before;
            at.extend(std::iter::repeat_n(ms - packets, signals));
        }
    }
    (log, at)
}

#[test]
fn signals_come_after_an_interval_and_then_by_the_square_root() {
    let terms = Terms { ecn: EcnPolicy::Mark, ..defaults() };
    let (_, at) = standing(&mut queue(100, terms), 20, 500, Ecn::Ect0);
    // The first signal is due at 100 ms. Signal n + 1 is due 100/sqrt(n) ms after signal n was due.
    // A signal comes at the next poll, within 1 ms.
    assert_eq!(at, [100, 200, 271, 329, 379, 424, 464]);
}

#[test]
fn in_linux_arithmetic_the_third_signal_follows_after_half_an_interval() {
    let control = CheckedControl { arithmetic: Arithmetic::Linux, ..CheckedControl::default() };
    let terms = Terms { ecn: EcnPolicy::Mark, ..with(control) };
    let (_, at) = standing(&mut queue(100, terms), 20, 500, Ecn::Ect0);
    // The kernel approximates 1/sqrt(n) by r (3 - n r^2) / 2, from the previous approximation r, at
    // first 1. It waits for more than an interval, so the first signal comes at 101 ms. The others
    // are due 100, 150, 206.3, 255.0, 299.2, 339.6 and 377.1 ms later, and come at the next poll.
    assert_eq!(at, [101, 201, 251, 308, 357, 401, 441, 479]);
}

#[test]
fn a_wait_below_the_target_or_a_backlog_of_one_packet_is_tolerated() {
    let (log, at) = standing(&mut queue(100, defaults()), 4, 500, Ecn::NotEct);
    assert_eq!((at.len(), log.lost().len()), (0, 0), "4 ms are below the target");
    let slow = with(CheckedControl { target: Duration::from_us(500), ..CheckedControl::default() });
    let (_, at) = standing(&mut queue(100, slow), 1, 500, Ecn::NotEct);
    assert_eq!(at, [0; 0], "1000 bytes are no more than an MTU");
    let (_, at) = standing(&mut queue(100, slow), 3, 500, Ecn::NotEct);
    assert!(!at.is_empty());
}

#[test]
fn beyond_the_ce_threshold_capable_packets_are_marked_and_others_sent() {
    let terms =
        with(CheckedControl { ce_threshold: Some(Duration::from_ms(2)), ..CheckedControl::default() });
    let unmarked = Terms { ecn: EcnPolicy::Drop, ..terms };
    for (packets, ecn, marked) in
        [(2, Ecn::Ect0, 0), (3, Ecn::Ect0, 50), (3, Ecn::NotEct, 0), (3, Ecn::Ect1, 50)]
    {
        let (log, _) = standing(&mut queue(100, terms), packets, 50, ecn);
        assert_eq!((log.marked().len(), log.lost().len()), (marked, 0), "{packets} packets of {ecn:?}");
    }
    let (log, _) = standing(&mut queue(100, unmarked), 3, 50, Ecn::Ect0);
    assert_eq!((log.marked().len(), log.lost().len()), (0, 0));
}
