//! The event queue: a total order by time, then by tie rule.
//!
//! Most events come in streams that are in order already: packets after the same constant delay, the questions of one link, timers
//! of the same length. Each such stream has a [`Lane`], a plain queue to which an event is added at the end; the next event is the
//! first of all lanes' fronts. What does not come in its lane's order, and what has no lane, waits in the calendar.
//!
//! A calendar queue (R. Brown, "Calendar queues", CACM 31(10), 1988): buckets of equal width hold the near future as short
//! unsorted lists, the bucket being served is sorted, and what lies beyond the last bucket (mostly timers) waits in a heap.
//! The work of a push or a pop does not grow with what is pending, though cache misses do. Width and number of buckets follow the events
//! seen; the order of events does not depend on them. Nothing is ever removed from the middle: timers are lazy, so an event
//! that has lost its meaning is recognised when it comes up.

use crate::lanes::{self, AHEAD, First, Horizon, Lanes};
use crate::plan::TieRule;
use crate::ties::Ties;
use crate::wheel::{Layout, Wheel};
use fairwire_core::{Duration, Seed, Time};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What happens. The number names a flow, a link or a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A frame reaches the queue of a link.
    Arrival(u32),
    /// This link's transmitter becomes free, or what waits there becomes ready.
    LinkFree(u32),
    /// A frame reaches its sink's access link without having crossed a queue.
    Sink(u32),
    /// An acknowledgement, carried by this frame, reaches its sender.
    Ack(u32),
    /// A flow starts, sends on, or runs out of patience.
    Wake(u32),
    /// A user of TCP does something.
    Session(u32),
    /// A packet reaches an endpoint of another crate, in this frame.
    Packet(u32),
}

impl Event {
    /// Its kind, and the number of what it is about.
    #[inline(always)]
    pub(crate) fn parts(self) -> (u8, u32) {
        match self {
            Event::Arrival(frame) => (kind::ARRIVAL, frame),
            Event::LinkFree(link) => (kind::LINK_FREE, link),
            Event::Sink(frame) => (kind::SINK, frame),
            Event::Ack(frame) => (kind::ACK, frame),
            Event::Wake(flow) => (kind::WAKE, flow),
            Event::Session(session) => (kind::SESSION, session),
            Event::Packet(frame) => (kind::PACKET, frame),
        }
    }

    /// What tells its kind in an identity.
    #[inline(always)]
    pub(crate) fn mark(self) -> u32 {
        u32::from(self.parts().0) << 29
    }

    /// Of a kind that an event has.
    #[inline(always)]
    pub(crate) fn of(kind: u8, what: u32) -> Event {
        match kind {
            kind::ARRIVAL => Event::Arrival(what),
            kind::LINK_FREE => Event::LinkFree(what),
            kind::SINK => Event::Sink(what),
            kind::ACK => Event::Ack(what),
            kind::WAKE => Event::Wake(what),
            kind::SESSION => Event::Session(what),
            _ => Event::Packet(what),
        }
    }
}

/// The kinds of events, and of none. An event in parts is looked at once, where it is handled, rather than put together before.
pub(crate) mod kind {
    pub(crate) const ARRIVAL: u8 = 0;
    pub(crate) const LINK_FREE: u8 = 1;
    pub(crate) const SINK: u8 = 2;
    pub(crate) const ACK: u8 = 3;
    pub(crate) const WAKE: u8 = 4;
    pub(crate) const SESSION: u8 = 5;
    pub(crate) const PACKET: u8 = 6;
    pub(crate) const NOTHING: u8 = 7;
}

/// What happens next, and when; of the kind [`kind::NOTHING`], nothing does before the end. Two numbers, so that it is returned in
/// registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    pub(crate) time: Time,
    parts: u64,
}

impl Next {
    const NOTHING: Next = Next { time: Time::MAX, parts: kind::NOTHING as u64 };

    #[inline(always)]
    pub(crate) fn new(time: Time, (kind, what): (u8, u32)) -> Self {
        Next { time, parts: u64::from(what) << 8 | u64::from(kind) }
    }

    #[inline(always)]
    pub(crate) fn kind(self) -> u8 {
        self.parts as u8
    }

    #[inline(always)]
    pub(crate) fn what(self) -> u32 {
        (self.parts >> 8) as u32
    }
}

/// Ordered by time, then by number, which is the order only until the ties of those that meet are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    time: Time,
    number: u32,
    /// Which it was of those put here, modulo 2^32: of the same number, the first goes first.
    serial: u32,
    event: Event,
}

/// Names a stream of events that come mostly in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lane(u8);

impl Lane {
    /// No such stream: the calendar takes the event.
    pub(crate) const NONE: Lane = Lane(u8::MAX);
}

/// Events to come, as the model of the network schedules them. Whatever keeps them, they come up in one order: by time, then as
/// [`Ties`] has it, then by when they were scheduled.
pub(crate) trait Events {
    /// A new lane for what happens at hosts, as long as there are few.
    fn lane_at_hosts(&mut self) -> Lane;

    /// A new lane for what happens at links, as long as there are few.
    fn lane_at_links(&mut self) -> Lane;

    /// Schedules what happens at a host, about a frame of this identity or without one.
    fn push_at_host(&mut self, time: Time, event: Event, identity: u32, lane: Lane);

    /// Schedules what happens at a link, about a frame of this identity or without one.
    fn push_at_link(&mut self, time: Time, event: Event, identity: u32, lane: Lane);
}

/// Events to come.
#[derive(Debug)]
pub(crate) struct EventQueue {
    lanes: Lanes,
    /// The first of the lanes is next unless it is beyond this: the calendar may have something before that, or it is after the end.
    horizon: Horizon,
    now: Time,
    ties: Ties,
    end: Time,
    calendar: Calendar,
}

/// Events in no particular order of arrival.
#[derive(Debug)]
struct Calendar {
    near: Vec<Entry>, // the buckets before `head`, sorted, the next event last
    wheel: Wheel,
    far: BinaryHeap<Reverse<Entry>>,
    /// No event here is before this: the time of the next one while `near` is not empty. Zero where nothing is known.
    bound: Time,
    /// Has a bucket begun to be served at whose events nobody has looked ahead?
    is_fresh: bool,
    tuning: Tuning,
    serial: u32, // of the latest event put here
}

/// What was seen since the wheel was last laid out.
#[derive(Debug, Default)]
struct Tuning {
    popped: u64,
    pushed: u64,
    far: u64,
    since: Time,
}

/// A bucket is to have about 2^3 to 2^4 events: few to sort, and enough to ask for what they need all at once.
const CROWDED_BY: u32 = 4;

/// More events of a bucket are not looked at ahead: before they come, what they need might be gone again.
const MOST_AHEAD: usize = 32;

/// More events than this in the bucket being served make it a slow sorted list.
const CROWD: usize = 64;

const FEWEST_BUCKETS: usize = 1 << 10;
const MOST_BUCKETS: usize = 1 << 22;

/// A first guess at the width, 2^17 ns = 131 us: an event per packet time at 30 Mbit/s.
const FIRST_SHIFT: u32 = 17;

impl EventQueue {
    pub(crate) fn new(rule: TieRule, seed: Seed) -> Self {
        EventQueue {
            lanes: Lanes::new(),
            horizon: Horizon::at(Time::ZERO),
            now: Time::ZERO,
            ties: Ties::new(rule, seed),
            end: Time::ZERO,
            calendar: Calendar::new(),
        }
    }

    /// A new lane, as long as there are few.
    pub(crate) fn lane(&mut self) -> Lane {
        self.lanes.add(&self.ties).map_or(Lane::NONE, |lane| Lane(lane as u8))
    }

    /// Many events are to meet.
    pub(crate) fn expect_crowd(&mut self) {
        self.lanes.expect_crowd();
    }

    /// No event comes up before.
    pub(crate) fn earliest(&mut self) -> Time {
        self.lanes.first(&self.ties).time().min(self.calendar.bound)
    }

    /// So many events without an order are to be scheduled up to `last`, before any comes up: the wheel is laid out for them, where
    /// otherwise most would be moved to another layout soon.
    pub(crate) fn expect(&mut self, events: usize, last: Time) {
        let gap_ns = (last.ns() / events.max(1) as u64).max(1);
        let shift = gap_ns.ilog2() + CROWDED_BY;
        let reach = (last.ns() >> shift) as usize + 1;
        let buckets = reach.next_power_of_two().clamp(FEWEST_BUCKETS, MOST_BUCKETS);
        self.calendar.wheel = Wheel::new(Layout { shift, buckets }, Time::ZERO).with_room(events);
    }

    /// Schedules `event` at `time`, which is not before the latest event handled. Its kind and `identity` tell it from others at that time.
    #[inline(always)]
    pub(crate) fn push(&mut self, time: Time, event: Event, identity: u32, lane: Lane) {
        if time < self.now {
            self.refuse(time);
        }
        let number = self.ties.number(identity ^ event.mark());
        if !self.lanes.push(lane.0.into(), time, &self.ties, number, event.parts()) {
            self.push_elsewhere(Entry { time, number, serial: 0, event });
        }
    }

    #[inline(never)] // most events have a lane
    fn push_elsewhere(&mut self, entry: Entry) {
        self.calendar.push(entry, self.now, &self.ties);
        self.see();
    }

    #[cold]
    fn refuse(&self, time: Time) -> ! {
        panic!("an event in the past: {time} after {}", self.now)
    }

    /// From now on no event after `end` comes up.
    pub(crate) fn set_end(&mut self, end: Time) {
        self.end = end;
        self.see();
    }

    /// Works the horizon out.
    fn see(&mut self) {
        let after_end = self.end + Duration::from_ns(1);
        self.horizon = Horizon::at(self.calendar.bound.min(after_end));
    }

    /// Takes the next event, unless it is after the end.
    #[inline(always)] // into the loop of either kind of run
    pub(crate) fn next(&mut self) -> Next {
        let first = self.lanes.first(&self.ties);
        if first.is_beyond(self.horizon) {
            return self.next_of_all(first);
        }
        self.now = first.time();
        let entry = self.lanes.pop(first);
        Next::new(self.now, (entry.kind(), entry.what))
    }

    /// As [`next`](EventQueue::next), where `other`, of this `identity`, is due at `at` and is not scheduled: it is next if it comes first.
    #[inline(always)] // as above
    pub(crate) fn next_or(&mut self, at: Time, other: Event, identity: u32) -> Next {
        let first = self.lanes.first(&self.ties);
        let horizon = Horizon::at(at);
        if !first.is_beyond(horizon.min(self.horizon)) {
            self.now = first.time();
            let entry = self.lanes.pop(first);
            return Next::new(self.now, (entry.kind(), entry.what));
        }
        if horizon < self.horizon && first.time() != at {
            self.now = at;
            return Next::new(at, other.parts());
        }
        self.next_of_tied(first, at, other, identity)
    }

    /// The same where more than one may come first: what waits in the calendar, or at the same time.
    #[inline(never)]
    fn next_of_tied(&mut self, first: First, at: Time, other: Event, identity: u32) -> Next {
        if at > self.end {
            return self.next_of_all(first);
        }
        let number = self.ties.number(identity ^ other.mark());
        let is_before_lanes = self.lanes.front(first).is_none_or(|front| {
            at < front.time() || at == front.time() && self.ties.goes_first(at, number, front.number())
        });
        let is_before_all = is_before_lanes
            && !(at >= self.calendar.bound
                && self.calendar.comes_before((at, Some(number)), self.now, &self.ties));
        if !is_before_all {
            return self.next_of_all(first);
        }
        self.see();
        self.now = at;
        Next::new(at, other.parts())
    }

    /// Is there an event that does not come after the end?
    pub(crate) fn has_next(&mut self) -> bool {
        let in_lanes = self.lanes.first(&self.ties).time();
        self.calendar.comes_before((Time::MAX, None), self.now, &self.ties);
        self.see();
        in_lanes.min(self.calendar.next_time()) <= self.end
    }

    /// Takes the next event out of the calendar or the lanes, whose first it tells.
    #[inline(never)]
    fn next_of_all(&mut self, first: First) -> Next {
        let front = self.lanes.front(first);
        let (time, number) = front.map_or((Time::MAX, None), |front| (front.time(), Some(front.number())));
        let is_calendars =
            time >= self.calendar.bound && self.calendar.comes_before((time, number), self.now, &self.ties);
        if is_calendars {
            let next = self.calendar.pop_until(self.end);
            self.see();
            let Some(Entry { time, event, .. }) = next else { return Next::NOTHING };
            self.now = time;
            return Next::new(time, event.parts());
        }
        self.see();
        if front.is_none() || time > self.end {
            return Next::NOTHING;
        }
        self.now = time;
        let entry = self.lanes.pop(first);
        Next::new(time, (entry.kind(), entry.what))
    }

    /// Is it time to look at events to come? Now and then, so that many are looked at at once.
    #[inline(always)]
    pub(crate) fn is_time_to_look(&self) -> bool {
        self.lanes.are_due() || self.calendar.is_fresh
    }

    /// Tells of events that are soon to come, so that memory that they need can be asked for all at once.
    /// `first` hears of an event before `then` does, mostly long before.
    #[inline(always)] // where it is called, it is by itself
    pub(crate) fn ahead(&mut self, first: impl Fn(Event), then: impl Fn(Event)) {
        if std::mem::take(&mut self.calendar.is_fresh) {
            let soon = || self.calendar.near.iter().rev().take(MOST_AHEAD);
            soon().for_each(|entry| first(entry.event));
            soon().for_each(|entry| then(entry.event));
        }
        if let Some(lane) = self.lanes.due() {
            let event = |entry: lanes::Entry| Event::of(entry.kind(), entry.what);
            self.lanes.ahead(lane, 2 * AHEAD).map(event).for_each(first);
            self.lanes.ahead(lane, AHEAD).map(event).for_each(then);
        }
    }
}

impl Entry {
    /// Which of two comes first.
    #[inline]
    fn order(&self, other: &Entry, ties: &Ties) -> Ordering {
        self.time.cmp(&other.time).then_with(|| {
            if self.number == other.number {
                self.serial.wrapping_sub(other.serial).cast_signed().cmp(&0)
            } else if ties.goes_first(self.time, self.number, other.number) {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        })
    }
}

impl Calendar {
    fn new() -> Self {
        Calendar {
            near: Vec::new(),
            wheel: Wheel::new(Layout { shift: FIRST_SHIFT, buckets: FEWEST_BUCKETS }, Time::ZERO),
            far: BinaryHeap::new(),
            bound: Time::ZERO,
            is_fresh: false,
            tuning: Tuning::default(),
            serial: 0,
        }
    }

    fn push(&mut self, entry: Entry, now: Time, ties: &Ties) {
        self.tuning.pushed += 1;
        self.serial = self.serial.wrapping_add(1);
        let entry = Entry { serial: self.serial, ..entry };
        if self.wheel.len == 0 && self.near.is_empty() {
            self.wheel.head = self.wheel.head.max(self.wheel.bucket(now)); // nothing was served here for a while
        }
        self.place(entry, now, ties);
    }

    /// Is there an event before one due at `time`? Without a number that one is nothing.
    fn comes_before(&mut self, (time, number): (Time, Option<u32>), now: Time, ties: &Ties) -> bool {
        if self.near.is_empty() {
            self.bound = self.next_bucket().map_or(Time::MAX, |bucket| self.wheel.start_of(bucket));
            if time < self.bound || !self.refill(now, ties) {
                return false;
            }
        }
        let Some(next) = self.near.last() else { return false };
        let Some(number) = number else { return true };
        next.time < time || next.time == time && ties.goes_first(time, next.number, number)
    }

    /// When the first event of the bucket that is being served is due.
    fn next_time(&self) -> Time {
        self.near.last().map_or(Time::MAX, |next| next.time)
    }

    #[inline]
    fn pop_until(&mut self, end: Time) -> Option<Entry> {
        let next = self.near.pop_if(|next| next.time <= end)?;
        self.bound = self.near.last().map_or_else(|| self.wheel.start_of(self.wheel.head), |next| next.time);
        self.tuning.popped += 1;
        Some(next)
    }

    #[inline]
    fn place(&mut self, entry: Entry, now: Time, ties: &Ties) {
        let bucket = self.wheel.bucket(entry.time);
        if bucket < self.wheel.head {
            self.bound = self.bound.min(entry.time);
            let at = self.near.partition_point(|other| entry.order(other, ties).is_lt());
            self.near.insert(at, entry);
            if self.near.len() > CROWD {
                self.spread(now, ties);
            }
            return;
        }
        self.bound = self.bound.min(self.wheel.start_of(bucket));
        if bucket - self.wheel.head < self.wheel.buckets() as u64 {
            self.wheel.add(bucket, entry);
        } else {
            self.tuning.far += 1;
            self.far.push(Reverse(entry));
        }
    }

    /// The first bucket that is not empty, wherever its events wait.
    #[inline]
    fn next_bucket(&self) -> Option<u64> {
        let in_heap = self.far.peek().map(|Reverse(entry)| self.wheel.bucket(entry.time));
        self.wheel.first_occupied().into_iter().chain(in_heap).min()
    }

    /// Serves the next bucket that is not empty, wherever its events wait; false when there are none.
    fn refill(&mut self, now: Time, ties: &Ties) -> bool {
        if self.tuning.popped >= self.wheel.buckets() as u64 {
            self.tune(now, ties);
        }
        let Some(bucket) = self.next_bucket() else { return false };
        self.wheel.drain(bucket, &mut self.near);
        while let Some(Reverse(entry)) = self.far.peek()
            && self.wheel.bucket(entry.time) == bucket
        {
            self.near.push(*entry);
            self.far.pop();
        }
        self.wheel.head = bucket + 1;
        self.is_fresh = true;
        self.near.sort_unstable_by(|a, b| b.order(a, ties));
        self.bound = self.near.last().map_or(Time::ZERO, |next| next.time);
        true
    }

    /// Lays the wheel out anew where the events seen ask for another width (see [`CROWDED_BY`]) or more buckets (few
    /// events beyond the last). Costs a walk over all pending events, at most once per wheelful of events.
    fn tune(&mut self, now: Time, ties: &Ties) {
        let seen = std::mem::take(&mut self.tuning);
        self.tuning.since = now;
        let gap_ns = (now.since(seen.since).ns() / seen.popped).max(1);
        let shift = gap_ns.ilog2() + CROWDED_BY;
        let buckets = self.wheel.buckets();
        let wants_more = seen.far * 8 > seen.pushed && buckets < MOST_BUCKETS;
        if shift.abs_diff(self.wheel.shift) < 2 && !wants_more {
            return;
        }
        let buckets = if wants_more { self.wanted(shift, now) } else { buckets };
        self.lay_out(Layout { shift, buckets }, now, ties);
    }

    /// So many buckets that all that waits lies within them, unless that is far more than there are events: then twice as many as
    /// now. To double them again and again would be a walk over all events each time.
    fn wanted(&self, shift: u32, now: Time) -> usize {
        let pending = self.wheel.len + self.far.len();
        let last = self.far.iter().map(|Reverse(entry)| entry.time).max().unwrap_or(now);
        let reach = (last.since(now).ns() >> shift).min(MOST_BUCKETS as u64) as usize;
        let most = (pending / 2).max(self.wheel.buckets() * 2);
        (reach + 1).min(most).max(self.wheel.buckets() * 2).next_power_of_two().min(MOST_BUCKETS)
    }

    /// Events crowd in the bucket being served, as when a busy spell follows a quiet one: narrower buckets take them, unless
    /// they are at one instant.
    #[cold]
    fn spread(&mut self, now: Time, ties: &Ties) {
        let (Some(last), Some(first)) = (self.near.first(), self.near.last()) else { return };
        let gap_ns = (last.time.since(first.time).ns() / self.near.len() as u64).max(1);
        let shift = gap_ns.ilog2() + CROWDED_BY;
        if shift < self.wheel.shift {
            self.lay_out(Layout { shift, buckets: self.wheel.buckets() }, now, ties);
        }
    }

    fn lay_out(&mut self, layout: Layout, now: Time, ties: &Ties) {
        let mut pending = std::mem::take(&mut self.near);
        self.wheel.lay_out(layout, now, &mut pending);
        pending.extend(self.far.drain().map(|Reverse(entry)| entry));
        self.bound = Time::ZERO;
        for entry in pending {
            self.place(entry, now, ties);
        }
        self.tuning.far = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    impl EventQueue {
        /// The next event, unless it is after `end`.
        pub(crate) fn pop_until(&mut self, end: Time) -> Option<(Time, Event)> {
            self.set_end(end);
            let next = self.next();
            (next.kind() != kind::NOTHING).then(|| (next.time, Event::of(next.kind(), next.what())))
        }
    }

    fn drained(queue: &mut EventQueue) -> Vec<(Time, Event)> {
        std::iter::from_fn(|| queue.pop_until(Time::MAX)).collect()
    }

    #[test]
    fn no_event_is_lost_or_reordered_against_a_sorted_map() {
        for rule in [TieRule::Random, TieRule::Fifo] {
            let mut rng = Seed(5).stream("test");
            let mut ours = EventQueue::new(rule, Seed(1));
            let lanes = [Lane::NONE, ours.lane(), ours.lane()];
            let mut model: BTreeMap<Time, Vec<Event>> = BTreeMap::new();
            let mut now = Time::ZERO;
            for number in 0..50_000 {
                if rng.chance(0.55) {
                    // Ties, near, a wheel away, and timers: the scale changes half-way, so the wheel is laid out anew.
                    let scale = if number < 25_000 { 1 } else { 1 << 12 };
                    let ahead = [50, 5_000, 50_000_000][rng.below(3) as usize];
                    let time = Time::from_ns(now.ns() + u64::from(rng.below(ahead)) * scale);
                    ours.push(time, Event::Wake(number), number, lanes[rng.below(3) as usize]);
                    model.entry(time).or_default().push(Event::Wake(number));
                } else if let Some((time, event)) = ours.pop_until(Time::MAX) {
                    now = time;
                    let mut first = model.first_entry().expect("the model has it too");
                    assert_eq!(*first.key(), time);
                    let place = first.get().iter().position(|e| *e == event).expect("scheduled for then");
                    if rule == TieRule::Fifo {
                        assert_eq!(place, 0, "ties come in the order scheduled");
                    }
                    first.get_mut().remove(place);
                    if first.get().is_empty() {
                        first.remove();
                    }
                }
            }
            let rest = drained(&mut ours);
            assert_eq!(rest.len(), model.values().map(Vec::len).sum::<usize>());
            assert!(rest.is_sorted_by_key(|(time, _)| *time));
        }
    }

    #[test]
    fn a_busy_spell_after_a_quiet_one_is_spread_over_narrower_buckets() {
        let mut queue = EventQueue::new(TieRule::Random, Seed(1));
        for second in 0..3_000 {
            queue.push(Time::from_ns(second * 1_000_000_000), Event::Wake(0), 0, Lane::NONE);
            queue.pop_until(Time::MAX);
        }
        let start = queue.now.ns();
        for number in 0..10_000 {
            queue.push(Time::from_ns(start + 1 + number * 1_000), Event::Wake(1), 1, Lane::NONE);
        }
        assert!(
            queue.calendar.near.len() <= CROWD,
            "{} in the bucket being served",
            queue.calendar.near.len()
        );
        let times: Vec<Time> = drained(&mut queue).iter().map(|(time, _)| *time).collect();
        assert_eq!(times.len(), 10_000);
        assert!(times.is_sorted());
    }

    #[test]
    fn any_number_of_events_at_one_instant_is_served() {
        let mut queue = EventQueue::new(TieRule::Fifo, Seed(1));
        queue.push(Time::from_ns(7), Event::LinkFree(0), 0, Lane::NONE);
        queue.pop_until(Time::MAX);
        for number in 0..5_000 {
            queue.push(Time::from_ns(7), Event::Wake(number), number, Lane::NONE);
        }
        let order: Vec<Event> = drained(&mut queue).iter().map(|(_, event)| *event).collect();
        assert_eq!(order, (0..5_000).map(Event::Wake).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_later_than_asked_for_is_taken() {
        let mut queue = EventQueue::new(TieRule::Fifo, Seed(1));
        queue.push(Time::from_ns(5), Event::LinkFree(0), 0, Lane::NONE);
        assert_eq!(queue.pop_until(Time::from_ns(4)), None);
        queue.push(Time::from_ns(3), Event::Wake(0), 0, Lane::NONE);
        assert_eq!(queue.pop_until(Time::from_ns(4)), Some((Time::from_ns(3), Event::Wake(0))));
        assert_eq!(queue.pop_until(Time::from_ns(5)), Some((Time::from_ns(5), Event::LinkFree(0))));
        assert_eq!(queue.pop_until(Time::MAX), None);
    }

    #[test]
    fn random_ties_favour_nobody_and_repeat_with_the_seed() {
        let first = |seed| {
            let mut queue = EventQueue::new(TieRule::Random, Seed(seed));
            for flow in 0..4 {
                queue.push(Time::ZERO, Event::Wake(flow), flow, Lane::NONE);
            }
            queue.pop_until(Time::MAX)
        };
        assert_eq!(first(3), first(3));
        let mut wins = [0; 4];
        for seed in 0..4000 {
            let Some((_, Event::Wake(flow))) = first(seed) else { unreachable!("a wake was pushed") };
            wins[flow as usize] += 1;
        }
        assert!(wins.iter().all(|&w| (900..1100).contains(&w)), "{wins:?}"); // 1000 +- 3.6 sd
    }

    #[test]
    fn what_is_later_than_any_lane_can_tell_comes_out_too() {
        let mut queue = EventQueue::new(TieRule::Fifo, Seed(1));
        let lane = queue.lane();
        let times = [u64::MAX, u64::MAX - 1, u64::MAX / 16, u64::MAX / 16 - 1, 5].map(Time::from_ns);
        times.iter().for_each(|time| queue.push(*time, Event::Wake(0), 0, lane));
        let mut taken: Vec<Time> = drained(&mut queue).iter().map(|(time, _)| *time).collect();
        taken.reverse();
        assert_eq!(taken, times);
    }

    #[test]
    #[should_panic(expected = "in the past")]
    fn time_never_goes_back() {
        let mut queue = EventQueue::new(TieRule::Fifo, Seed(1));
        queue.push(Time::from_ns(5), Event::LinkFree(0), 0, Lane::NONE);
        queue.pop_until(Time::MAX);
        queue.push(Time::from_ns(4), Event::LinkFree(0), 0, Lane::NONE);
    }
}
