//! A calendar queue (R. Brown, "Calendar queues", CACM 31(10), 1988). Buckets of equal width hold
//! the near future as short lists, each sorted when it is served. Later events, mostly timers, wait
//! in a heap. Width and number of buckets adapt to the events.

use super::wheel::{Entry, Layout, Wheel};
use crate::event::Event;
use crate::ties::Ties;
use fairwire_core::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Debug)]
pub(super) struct Calendar {
    pub(super) near: Vec<Entry>, // the buckets before `head`, sorted, the next event last
    wheel: Wheel,
    far: BinaryHeap<Reverse<Entry>>,
    /// A time before which no event in the calendar is due; zero if unknown. While `near` is not
    /// empty, the bound, if known, is the time of the next event.
    pub(super) bound: Time,
    /// True if the events of the bucket being served are not prefetched yet.
    pub(super) is_fresh: bool,
    seen: Counts,
    serial: u32, // of the latest event added
}

#[derive(Debug, Default)]
struct Counts {
    popped: u64,
    pushed: u64,
    far: u64,
    since: Time,
}

/// Buckets are up to 2^4 times as wide as the mean gap between events. A bucket then has about 2^3
/// to 2^4 events: few to sort, and enough to prefetch together.
const CROWDED_BY: u32 = 4;

/// The maximum number of events that are prefetched from a bucket. With more, the first might be
/// evicted from the cache before use.
const MAX_AHEAD: usize = 32;

/// If the bucket being served has more events than this, its sorted list becomes slow.
pub(super) const CROWD: usize = 64;

const MIN_BUCKETS: usize = 1 << 10;
const MAX_BUCKETS: usize = 1 << 22;

/// The first width, 2^17 ns = 131 us, is the transmission time of about 500 bytes at 30 Mbit/s.
const FIRST_SHIFT: u32 = 17;

impl Calendar {
    pub(super) fn new() -> Self {
        Calendar {
            near: Vec::new(),
            wheel: Wheel::new(Layout { shift: FIRST_SHIFT, buckets: MIN_BUCKETS }, Time::ZERO),
            far: BinaryHeap::new(),
            bound: Time::ZERO,
            is_fresh: false,
            seen: Counts::default(),
            serial: 0,
        }
    }

    pub(super) fn soon(&self) -> impl Iterator<Item = Event> + '_ {
        self.near.iter().rev().take(MAX_AHEAD).map(|entry| entry.event)
    }

    pub(super) fn push(&mut self, entry: Entry, now: Time, ties: &Ties) {
        self.seen.pushed += 1;
        self.serial = self.serial.wrapping_add(1);
        let entry = Entry { serial: self.serial, ..entry };
        if self.wheel.len == 0 && self.near.is_empty() {
            self.wheel.head = self.wheel.head.max(self.wheel.bucket(now)); // nothing was served here for a while
        }
        self.place(entry, now, ties);
    }

    /// True if the calendar has an event that precedes `time` and `number`, the key of another
    /// queue's first entry. Without a number, the other queue is empty, and any event precedes it.
    pub(super) fn comes_before(
        &mut self,
        (time, number): (Time, Option<u32>),
        now: Time,
        ties: &Ties,
    ) -> bool {
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

    #[inline]
    pub(super) fn pop_until(&mut self, end: Time) -> Option<Entry> {
        let next = self.near.pop_if(|next| next.time <= end)?;
        self.bound = self.near.last().map_or_else(|| self.wheel.start_of(self.wheel.head), |next| next.time);
        self.seen.popped += 1;
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
            self.seen.far += 1;
            self.far.push(Reverse(entry));
        }
    }

    #[inline]
    fn next_bucket(&self) -> Option<u64> {
        let in_heap = self.far.peek().map(|Reverse(entry)| self.wheel.bucket(entry.time));
        self.wheel.first_occupied().into_iter().chain(in_heap).min()
    }

    fn refill(&mut self, now: Time, ties: &Ties) -> bool {
        if self.seen.popped >= self.wheel.buckets() as u64 {
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

    /// Lays the wheel out again if recent events require another width (see [`CROWDED_BY`]), or if
    /// over an eighth of them were beyond the last bucket. The new layout may visit all pending
    /// events, but only after at least as many pops as there are buckets.
    fn tune(&mut self, now: Time, ties: &Ties) {
        let seen = std::mem::take(&mut self.seen);
        self.seen.since = now;
        let gap_ns = (now.since(seen.since).ns() / seen.popped).max(1);
        let shift = gap_ns.ilog2() + CROWDED_BY;
        let buckets = self.wheel.buckets();
        let wants_more = seen.far * 8 > seen.pushed && buckets < MAX_BUCKETS;
        if shift.abs_diff(self.wheel.shift) < 2 && !wants_more {
            return;
        }
        let buckets = if wants_more { self.wanted(shift, now) } else { buckets };
        self.lay_out(Layout { shift, buckets }, now, ties);
    }

    /// The new number of buckets, when more are required: enough for all pending events, if
    /// possible. Repeated doubling would walk over all events each time.
    fn wanted(&self, shift: u32, now: Time) -> usize {
        let pending = self.wheel.len + self.far.len();
        let last = self.far.iter().map(|Reverse(entry)| entry.time).max().unwrap_or(now);
        let reach = (last.since(now).ns() >> shift).min(MAX_BUCKETS as u64) as usize;
        let most = (pending / 2).max(self.wheel.buckets() * 2);
        (reach + 1).min(most).max(self.wheel.buckets() * 2).next_power_of_two().min(MAX_BUCKETS)
    }

    /// If the bucket being served is crowded, spreads its events over narrower buckets. Events at
    /// one instant cannot be spread.
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
        self.seen.far = 0;
    }
}
