//! The events at hosts, or those at links, in order.
//!
//! Most events come in ordered streams, such as packets after the same constant delay. Each stream
//! has a lane, a simple queue. An event before its lane's last event enters a spare lane. All
//! others wait in the calendar.

use super::calendar::Calendar;
use super::lanes::{self, AHEAD, First, Horizon, Lanes};
use super::wheel::Entry;
use crate::event::{Event, Lane, Memory, Next};
use crate::plan::Settings;
use crate::ties::Ties;
use fairwire_core::{Duration, Time};

#[derive(Debug)]
pub(super) struct EventLane {
    lanes: Lanes,
    /// The calendar's bound, or 1 ns after the turn's end if that is earlier. If the lanes' first
    /// event is due before the horizon, it is the next event.
    horizon: Horizon,
    now: Time,
    ties: Ties,
    end: Time,
    calendar: Calendar,
    spares: Vec<Lane>, // the last lanes, so older events have the lower lane
    wants_spares: bool,
}

/// The number of lanes for out-of-order events, which occur if hosts take time to process packets.
/// With twenty CUBIC flows over 100 Mbit/s, the flows' lane refuses 25 000 of 337 000 packets. The
/// spare lanes refuse 9000 of these 25 000 (counted by callgrind).
const SPARES: usize = 2;

impl EventLane {
    pub(super) fn new(settings: &Settings) -> Self {
        EventLane {
            lanes: Lanes::new(),
            horizon: Horizon::at(Time::ZERO),
            now: Time::ZERO,
            ties: Ties::new(settings.tie_rule, settings.seed),
            end: Time::ZERO,
            calendar: Calendar::new(),
            spares: Vec::new(),
            wants_spares: false,
        }
    }

    pub(super) fn lane(&mut self) -> Lane {
        self.lanes.add(&self.ties).map_or(Lane::NONE, |lane| Lane(lane as u8))
    }

    pub(super) fn want_spares(&mut self) {
        self.wants_spares = true;
    }

    /// A time before which no event comes up.
    pub(super) fn earliest(&mut self) -> Time {
        self.lanes.first(&self.ties).time().min(self.calendar.bound)
    }

    /// Schedules `event` at `time`, which must not be before the latest event handled. The event's
    /// type and `identity` distinguish it from others at that time.
    #[inline(always)]
    pub(super) fn push(&mut self, time: Time, event: Event, identity: u32, lane: Lane) {
        if time < self.now {
            self.refuse(time);
        }
        let number = self.ties.number(identity ^ event.mark());
        if !self.lanes.push(lane.0.into(), time, &self.ties, number, event) {
            self.push_elsewhere(Entry { time, number, serial: 0, event }, lane);
        }
    }

    #[inline(never)] // most events come in the order of their lane
    fn push_elsewhere(&mut self, entry: Entry, lane: Lane) {
        if lane != Lane::NONE && self.push_spare(&entry) {
            return;
        }
        self.calendar.push(entry, self.now, &self.ties);
        self.see();
    }

    fn push_spare(&mut self, entry: &Entry) -> bool {
        let Entry { time, number, event, .. } = *entry;
        self.spares.iter().any(|lane| self.lanes.push(lane.0.into(), time, &self.ties, number, event))
    }

    #[cold]
    fn refuse(&self, time: Time) -> ! {
        panic!("an event in the past: {time} after {}", self.now)
    }

    pub(super) fn set_end(&mut self, end: Time) {
        self.end = end;
        if std::mem::take(&mut self.wants_spares) {
            self.spares = std::iter::repeat_with(|| self.lane()).take(SPARES).collect();
        }
        self.see();
    }

    fn see(&mut self) {
        let after_end = self.end + Duration::from_ns(1);
        self.horizon = Horizon::at(self.calendar.bound.min(after_end));
    }

    #[inline(always)] // into the loop of the run
    pub(super) fn next(&mut self) -> Next {
        let first = self.lanes.first(&self.ties);
        if first.is_beyond(self.horizon) {
            return self.next_of_all(first);
        }
        self.take(first)
    }

    /// Takes the next event of [`next`](EventLane::next), or the only link's [`Event::LinkFree`] at
    /// `free_at` if that comes first. [`Time::MAX`] in `free_at` means never.
    #[inline(always)] // as above
    pub(super) fn next_or_free(&mut self, free_at: &mut Time) -> Next {
        let first = self.lanes.first(&self.ties);
        let horizon = Horizon::at(*free_at);
        if !first.is_beyond(horizon.min(self.horizon)) {
            return self.take(first);
        }
        if horizon < self.horizon && first.time() != *free_at {
            self.now = std::mem::replace(free_at, Time::MAX);
            return Next::new(self.now, Event::LinkFree(0).parts());
        }
        self.next_of_tied(first, free_at)
    }

    /// The rare cases of [`next_or_free`](EventLane::next_or_free): the lanes' first event is due
    /// at `free_at`, or the calendar may have the first event.
    #[inline(never)]
    fn next_of_tied(&mut self, first: First, free_at: &mut Time) -> Next {
        let (at, event) = (*free_at, Event::LinkFree(0));
        let number = self.ties.number(event.mark());
        let is_before_lanes = self.lanes.front(first).is_none_or(|front| {
            at < front.time() || at == front.time() && self.ties.goes_first(at, number, front.number())
        });
        let is_next = at <= self.end && is_before_lanes && {
            let is_known = at < self.calendar.bound;
            is_known || !self.calendar.comes_before((at, Some(number)), self.now, &self.ties)
        };
        if !is_next {
            return self.next_of_all(first);
        }
        self.see();
        self.now = std::mem::replace(free_at, Time::MAX);
        Next::new(at, event.parts())
    }

    #[inline(always)]
    fn take(&mut self, first: First) -> Next {
        self.now = first.time();
        Next::new(self.now, self.lanes.pop(first).parts())
    }

    #[inline(never)]
    fn next_of_all(&mut self, first: First) -> Next {
        let front = self.lanes.front(first);
        let (time, number) = front.map_or((Time::MAX, None), |front| (front.time(), Some(front.number())));
        let is_calendars =
            time >= self.calendar.bound && self.calendar.comes_before((time, number), self.now, &self.ties);
        let next = if is_calendars { self.calendar.pop_until(self.end) } else { None };
        self.see();
        if is_calendars {
            let Some(Entry { time, event, .. }) = next else { return Next::NOTHING };
            self.now = time;
            return Next::new(time, event.parts());
        }
        if front.is_some() && time <= self.end { self.take(first) } else { Next::NOTHING }
    }

    /// Prefetches memory for the next events, if prefetching is due. Call this right after an event
    /// was taken, so that the waits for memory overlap. Frames are prefetched first, because they
    /// name their flows.
    #[inline(always)]
    pub(super) fn look_ahead(&mut self, memory: &impl Memory) {
        if self.lanes.are_due() || self.calendar.is_fresh {
            self.fetch(memory);
        }
    }

    #[inline(never)]
    fn fetch(&mut self, memory: &impl Memory) {
        if std::mem::take(&mut self.calendar.is_fresh) {
            self.calendar.soon().for_each(|event| memory.fetch_frame(event));
            self.calendar.soon().for_each(|event| memory.fetch_flow(event));
        }
        if let Some(lane) = self.lanes.due() {
            let event = |entry: lanes::Entry| Event::of(entry.parts());
            self.lanes.ahead(lane, 2 * AHEAD).filter_map(event).for_each(|event| memory.fetch_frame(event));
            self.lanes.ahead(lane, AHEAD).filter_map(event).for_each(|event| memory.fetch_flow(event));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::calendar::CROWD;
    use super::*;
    use crate::plan::TieRule;
    use fairwire_core::Seed;
    use std::collections::BTreeMap;

    impl EventLane {
        fn pop_until(&mut self, end: Time) -> Option<(Time, Event)> {
            self.set_end(end);
            self.next().event()
        }
    }

    fn side(tie_rule: TieRule, seed: Seed) -> EventLane {
        let (duration, warm_up) = (Duration::from_ms(1), Duration::ZERO);
        EventLane::new(&Settings { duration, warm_up, seed, tie_rule })
    }

    fn drained(queue: &mut EventLane) -> Vec<(Time, Event)> {
        std::iter::from_fn(|| queue.pop_until(Time::MAX)).collect()
    }

    #[test]
    fn no_event_is_lost_or_reordered_against_a_sorted_map() {
        for rule in [TieRule::Random, TieRule::Fifo] {
            let mut rng = Seed(5).stream("test");
            let mut ours = side(rule, Seed(1));
            let lanes = [Lane::NONE, ours.lane(), ours.lane()];
            let mut model: BTreeMap<Time, Vec<Event>> = BTreeMap::new();
            let mut now = Time::ZERO;
            for number in 0..50_000 {
                if rng.chance(0.55) {
                    // The ranges give ties and near events, events about a wheel's length ahead,
                    // and distant events. The wheel is laid out again half-way, because the scale
                    // changes.
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
    fn a_busy_period_after_a_quiet_one_gets_narrower_buckets() {
        let mut queue = side(TieRule::Random, Seed(1));
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
        let mut queue = side(TieRule::Fifo, Seed(1));
        queue.push(Time::from_ns(7), Event::LinkFree(0), 0, Lane::NONE);
        queue.pop_until(Time::MAX);
        for number in 0..5_000 {
            queue.push(Time::from_ns(7), Event::Wake(number), number, Lane::NONE);
        }
        let order: Vec<Event> = drained(&mut queue).iter().map(|(_, event)| *event).collect();
        assert_eq!(order, (0..5_000).map(Event::Wake).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_later_than_the_limit_is_taken() {
        let mut queue = side(TieRule::Fifo, Seed(1));
        queue.push(Time::from_ns(5), Event::LinkFree(0), 0, Lane::NONE);
        assert_eq!(queue.pop_until(Time::from_ns(4)), None);
        queue.push(Time::from_ns(3), Event::Wake(0), 0, Lane::NONE);
        assert_eq!(queue.pop_until(Time::from_ns(4)), Some((Time::from_ns(3), Event::Wake(0))));
        assert_eq!(queue.pop_until(Time::from_ns(5)), Some((Time::from_ns(5), Event::LinkFree(0))));
        assert_eq!(queue.pop_until(Time::MAX), None);
    }

    #[test]
    fn identical_events_leave_spare_lanes_in_scheduling_order() {
        let mut queue = side(TieRule::Random, Seed(1));
        queue.want_spares();
        let lane = queue.lane();
        queue.set_end(Time::MAX);
        // Events 1, 3, 5 and 7 are due at 5 ns and have one identity. The lane refuses all four.
        // The spare lanes take 1 and 3, and refuse 5 and 7.
        for (number, at) in [9, 5, 8, 5, 7, 5, 6, 5].into_iter().enumerate() {
            queue.push(Time::from_ns(at), Event::Sink(number as u32), 3, lane);
        }
        let slots = drained(&mut queue).into_iter().map(|(time, event)| (time.ns(), event));
        let expected = [(5, 1), (5, 3), (5, 5), (5, 7), (6, 6), (7, 4), (8, 2), (9, 0)];
        assert_eq!(slots.collect::<Vec<_>>(), expected.map(|(at, slot)| (at, Event::Sink(slot))));
    }

    #[test]
    fn random_ties_favour_no_event_and_repeat_with_the_seed() {
        let first = |seed| {
            let mut queue = side(TieRule::Random, Seed(seed));
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
    fn events_too_late_for_any_lane_come_out_too() {
        let mut queue = side(TieRule::Fifo, Seed(1));
        let lane = queue.lane();
        let times = [u64::MAX, u64::MAX - 1, u64::MAX / 16, u64::MAX / 16 - 1, 5].map(Time::from_ns);
        times.iter().for_each(|time| queue.push(*time, Event::Wake(0), 0, lane));
        let mut taken: Vec<Time> = drained(&mut queue).iter().map(|(time, _)| *time).collect();
        taken.reverse();
        assert_eq!(taken, times);
    }

    #[test]
    #[should_panic(expected = "in the past")]
    fn time_never_decreases() {
        let mut queue = side(TieRule::Fifo, Seed(1));
        queue.push(Time::from_ns(5), Event::LinkFree(0), 0, Lane::NONE);
        queue.pop_until(Time::MAX);
        queue.push(Time::from_ns(4), Event::LinkFree(0), 0, Lane::NONE);
    }
}
