//! Streams of entries that are in order already, and the first of all their fronts.

use crate::prefetch;
use fairwire_core::Time;

/// How many lanes there can be. More would be another level of the tournament.
pub(crate) const MOST_LANES: usize = 16;

/// So many entries of a lane are looked at before their time, all at once.
pub(crate) const AHEAD: usize = 16;

/// Entries this far apart lie in neighbouring lines of the cache, or in the same.
const ENTRIES_IN_LINES: usize = 2;

/// When an entry is due, and who goes first among those due at the same time. No two are alike.
pub(crate) type Order = (Time, u64);
/// After every entry.
pub(crate) const NEVER: Order = (Time::MAX, u64::MAX);

/// Queues of entries in order, and a tournament of their fronts.
#[derive(Debug)]
pub(crate) struct Lanes<T> {
    queues: [Ring<T>; MOST_LANES],
    count: usize,
    /// A binary tree of keys: when a lane's front is due, and in the lowest bits the lane. That of node `n` is the lesser of those of
    /// `2 n` and `2 n + 1`, and the leaves are the lanes themselves. The root's, 1, is that of the first of all. One number for both, lest
    /// the processor wait for one to find the other.
    keys: [u64; 2 * MOST_LANES],
    /// The lane whose front has changed since its matches were played. Most lanes are popped and pushed to by turns, so to put
    /// them off until the winner is asked for saves half of them.
    changed: usize,
}

/// The first entry of all lanes, or that there is none: the root's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct First(u64);

impl First {
    /// Does nothing wait?
    #[inline(always)]
    pub(crate) fn is_nothing(self) -> bool {
        self.0 >= NO_KEY
    }

    /// When it is due; no time of any event, where nothing waits.
    #[inline(always)]
    pub(crate) fn time(self) -> Time {
        Time::from_ns(self.0 / MOST_LANES as u64)
    }
}

impl<T: Copy> Lanes<T> {
    /// Without lanes; `filler` stands where there is no entry.
    pub(crate) fn new(filler: T) -> Self {
        Lanes {
            queues: std::array::from_fn(|_| Ring::new(filler)),
            count: 0,
            keys: std::array::from_fn(|node| never(first_below(node))),
            changed: 0,
        }
    }

    /// A new lane, as long as there are few.
    pub(crate) fn add(&mut self) -> Option<usize> {
        if self.count == MOST_LANES {
            return None;
        }
        self.count += 1;
        Some(self.count - 1)
    }

    /// Adds `entry` at the end of a lane; false where it does not come after what is there, or where there is no such lane.
    #[inline(always)]
    pub(crate) fn push(&mut self, lane: usize, order: Order, entry: T) -> bool {
        let Some(queue) = self.queues.get_mut(lane) else { return false };
        if self.keys[MOST_LANES + lane] >= NO_KEY {
            if order.0.ns() >= LATEST {
                return false;
            }
            self.keys[MOST_LANES + lane] = key(order.0, lane);
            queue.begin(order, entry);
            if lane != self.changed {
                self.play_apart(lane);
            }
            return true;
        }
        if number(order) <= number(queue.last) || order.0.ns() >= LATEST {
            return false;
        }
        queue.push(order, entry);
        true
    }

    /// The first entry, if there is any.
    #[inline(always)]
    pub(crate) fn first(&mut self) -> First {
        self.play(self.changed)
    }

    #[inline(never)] // out of the way of the pushes that need it not
    fn play_apart(&mut self, lane: usize) {
        self.play(lane);
    }

    /// Plays the matches of `lane` up to the root, and tells who wins there. Without a branch: who wins cannot be foreseen.
    #[inline(always)]
    fn play(&mut self, lane: usize) -> First {
        let mut node = MOST_LANES + lane % MOST_LANES;
        let mut first = self.keys[node];
        let mut round = |lanes: &mut Self| {
            let other = lanes.keys[node ^ 1];
            first = if other ^ first < MOST_LANES as u64 {
                lanes.first_of_tied(first, other)
            } else {
                first.min(other)
            };
            node /= 2;
            lanes.keys[node] = first;
        };
        for _ in 1..MOST_LANES.ilog2() {
            round(self);
        }
        if self.count > MOST_LANES / 2 {
            round(self); // else the first half of the lanes has won already
        }
        First(first)
    }

    #[cold]
    fn first_of_tied(&self, one: u64, other: u64) -> u64 {
        let order = |key| self.queues[lane_of(key)].front.0;
        if order(other) < order(one) { other } else { one }
    }

    /// The order of what is first, or [`NEVER`].
    pub(crate) fn order(&self, first: First) -> Order {
        self.queues[lane_of(first.0)].front.0
    }

    /// Once in [`AHEAD`] entries of a lane, right after one was taken: that lane.
    #[inline]
    pub(crate) fn looks_ahead(&self) -> Option<usize> {
        self.queues[self.changed % MOST_LANES].head.is_multiple_of(AHEAD).then_some(self.changed)
    }

    /// [`AHEAD`] entries of a lane, where it has so many, from the one on that comes after `skipped` others. Asks for those that come
    /// after them.
    pub(crate) fn ahead(&self, lane: usize, skipped: usize) -> impl Iterator<Item = T> + '_ {
        let queue = &self.queues[lane];
        (0..AHEAD).step_by(ENTRIES_IN_LINES).for_each(|step| queue.fetch(skipped + AHEAD + step));
        (skipped..queue.behind.min(skipped + AHEAD))
            .map(|at| queue.slots[(queue.head + at) & (queue.slots.len() - 1)].1)
    }

    /// Takes out the entry that is first, as was just told: there must be one.
    #[inline(always)]
    pub(crate) fn pop(&mut self, first: First) -> T {
        debug_assert!(!first.is_nothing(), "nothing waits");
        let lane = lane_of(first.0);
        let queue = &mut self.queues[lane];
        let entry = queue.front.1;
        self.changed = lane;
        self.keys[MOST_LANES + lane] = if queue.move_up() { key(queue.front.0.0, lane) } else { never(lane) };
        entry
    }
}

/// The first lane below a node: who stands for it before anybody has played there. Another's lane would hide those below.
fn first_below(node: usize) -> usize {
    let Some(depth) = node.checked_ilog2() else { return 0 }; // there is no node 0
    (node << (MOST_LANES.ilog2() - depth)) % MOST_LANES
}

/// What is due then or later has no key, and so no lane: 36 years.
const LATEST: u64 = u64::MAX / MOST_LANES as u64;

/// Keys from this one on are those of lanes where nothing waits.
const NO_KEY: u64 = LATEST * MOST_LANES as u64;

/// The key of a lane whose front is due at `time`.
#[inline]
fn key(time: Time, lane: usize) -> u64 {
    time.ns() * MOST_LANES as u64 + lane as u64
}

/// The key of a lane where nothing waits: after all others.
#[inline]
fn never(lane: usize) -> u64 {
    NO_KEY + lane as u64
}

#[inline]
fn lane_of(key: u64) -> usize {
    key as usize % MOST_LANES
}

/// An order as one number: to compare two of these takes no branch.
#[inline]
fn number((time, tie): Order) -> u128 {
    u128::from(time.ns()) << 64 | u128::from(tie)
}

/// A queue: its front, and what is behind that in a ring whose length is a power of two. A lane of one entry at a time, as that of
/// a link's questions is, thus needs no ring.
#[derive(Debug)]
struct Ring<T> {
    /// What is first; of the order [`NEVER`] where nothing waits.
    front: (Order, T),
    last: Order,
    slots: Box<[(Order, T)]>, // as many as a power of two, or none
    head: usize,
    behind: usize,
}

impl<T: Copy> Ring<T> {
    fn new(filler: T) -> Self {
        Ring { front: (NEVER, filler), last: (Time::ZERO, 0), slots: Box::default(), head: 0, behind: 0 }
    }

    /// Adds the first entry.
    #[inline]
    fn begin(&mut self, order: Order, entry: T) {
        self.front = (order, entry);
        self.last = order;
    }

    /// Adds an entry behind others.
    #[inline]
    fn push(&mut self, order: Order, entry: T) {
        if self.behind == self.slots.len() {
            self.grow(order, entry);
        }
        let at = (self.head + self.behind) & (self.slots.len() - 1);
        self.slots[at] = (order, entry);
        self.fetch(self.behind + AHEAD);
        self.behind += 1;
        self.last = order;
    }

    /// Asks for the slot so many places after the head, where the next round of the ring may come to it first.
    #[inline]
    fn fetch(&self, places: usize) {
        if let Some(slot) = self.slots.get((self.head + places) & self.slots.len().wrapping_sub(1)) {
            prefetch::first_line(slot);
        }
    }

    /// The front was taken: what comes behind it moves up, if anything does.
    #[inline]
    fn move_up(&mut self) -> bool {
        if self.behind == 0 {
            self.front.0 = NEVER;
            return false;
        }
        let mask = self.slots.len() - 1;
        self.front = self.slots[self.head & mask];
        self.head = (self.head + 1) & mask;
        self.behind -= 1;
        true
    }

    /// Doubles the room; what fills it does not matter.
    #[cold]
    fn grow(&mut self, order: Order, entry: T) {
        let mut slots = std::mem::take(&mut self.slots).into_vec();
        slots.rotate_left(self.head);
        self.head = 0;
        let room = (slots.len() * 2).max(16);
        slots.resize(room, (order, entry));
        self.slots = slots.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Seed;
    use std::collections::BTreeMap;

    #[test]
    fn whatever_lanes_are_filled_first_all_entries_come_out_in_order() {
        let mut rng = Seed(5).stream("lanes");
        for trial in 0..1000u32 {
            let mut lanes = Lanes::new(0);
            (0..1 + trial as usize % MOST_LANES).for_each(|_| assert!(lanes.add().is_some()));
            let mut orders = Vec::new();
            for number in 0..20u32 {
                let order = (Time::from_ns(rng.below(30).into()), u64::from(number));
                if lanes.push(rng.below(1 + trial % MOST_LANES as u32) as usize, order, number) {
                    orders.push(order);
                }
            }
            orders.sort_unstable();
            for order in orders {
                let first = lanes.first();
                assert_eq!((lanes.order(first), lanes.pop(first)), (order, order.1 as u32));
            }
        }
    }

    #[test]
    fn entries_come_out_in_order_whichever_lanes_they_were_in() {
        let mut rng = Seed(4).stream("lanes");
        let mut lanes = Lanes::new(0);
        for _ in 0..MOST_LANES {
            assert!(lanes.add().is_some());
        }
        assert_eq!(lanes.add(), None);
        let mut model = BTreeMap::new();
        let (mut clock, mut taken) = (0, 0);
        for number in 0..100_000u32 {
            if rng.chance(0.52) {
                let order = (Time::from_ns(clock + u64::from(rng.below(500))), rng.next_u64());
                if lanes.push(rng.below(18) as usize, order, number) {
                    model.insert(order, number);
                }
            } else {
                let expected = model.pop_first();
                taken += u32::from(expected.is_some());
                let first = lanes.first();
                assert_eq!(lanes.order(first), expected.map_or(NEVER, |(order, _)| order));
                assert_eq!(first.is_nothing(), expected.is_none());
                assert!(expected.is_none_or(|((time, _), _)| first.time() == time));
                assert!(expected.is_none_or(|(_, number)| lanes.pop(first) == number));
                clock = expected.map_or(clock, |((time, _), _)| time.ns());
            }
        }
        assert!(taken > 10_000, "{taken}");
    }

    #[test]
    fn a_lane_of_one_half_does_not_hide_those_of_the_other() {
        let mut lanes = Lanes::new(0);
        (0..MOST_LANES).for_each(|_| assert!(lanes.add().is_some()));
        let at = |ns| (Time::from_ns(ns), 0);
        for (lane, times) in [(3, [1, 8]), (7, [2, 9]), (9, [5, 6])] {
            times.iter().for_each(|&ns| assert!(lanes.push(lane, at(ns), ns)));
        }
        let taken: Vec<_> = std::iter::from_fn(|| {
            let first = lanes.first();
            (!first.is_nothing()).then(|| lanes.pop(first))
        })
        .collect();
        assert_eq!(taken, [1, 2, 5, 6, 8, 9]);
    }

    #[test]
    fn what_does_not_come_after_the_last_of_its_lane_is_refused() {
        let mut lanes = Lanes::new('-');
        let lane = lanes.add().expect("the first");
        let at = |ns, tie| (Time::from_ns(ns), tie);
        assert!(lanes.push(lane, at(5, 5), 'a'));
        assert!(!lanes.push(lane, at(4, 9), 'b') && !lanes.push(lane, at(5, 4), 'b'));
        assert!(!lanes.push(MOST_LANES, at(6, 0), 'b'), "there is no such lane");
        let first = lanes.first();
        assert_eq!(lanes.pop(first), 'a');
        let first = lanes.first();
        assert_eq!((lanes.order(first), first.is_nothing()), (NEVER, true));
    }
}
