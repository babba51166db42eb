//! Streams of entries that are in order already, and the first of all their fronts.

use fairwire_core::Time;

/// How many lanes there can be: each costs a compare for each entry taken.
pub(crate) const MOST_LANES: usize = 16;

/// So many entries of a lane are looked at before their time, all at once.
pub(crate) const AHEAD: usize = 16;

/// How many are compared at once.
const HALF: usize = MOST_LANES / 2;
const _: () = assert!(HALF == 8);

/// When an entry is due, and who goes first among those due at the same time. No two are alike.
pub(crate) type Order = (Time, u64);
/// After every entry.
pub(crate) const NEVER: Order = (Time::MAX, u64::MAX);

/// Queues of entries in order, and the times of their fronts.
#[derive(Debug)]
pub(crate) struct Lanes<T> {
    queues: Vec<Ring<T>>,
    /// [`Time::MAX`] where nothing waits.
    fronts: [[Time; HALF]; 2],
}

/// The first entry of all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct First {
    pub(crate) order: Order,
    lane: usize,
}

impl<T: Copy> Lanes<T> {
    pub(crate) fn new() -> Self {
        Lanes { queues: Vec::new(), fronts: [[Time::MAX; HALF]; 2] }
    }

    /// A new lane, as long as there are few.
    pub(crate) fn add(&mut self) -> Option<usize> {
        if self.queues.len() == MOST_LANES {
            return None;
        }
        self.queues.push(Ring::new());
        Some(self.queues.len() - 1)
    }

    /// Adds `entry` at the end of a lane; false where it does not come after what is there, or where there is no such lane.
    #[inline]
    pub(crate) fn push(&mut self, lane: usize, order: Order, entry: T) -> bool {
        let Some(queue) = self.queues.get_mut(lane) else { return false };
        if queue.len == 0 {
            self.fronts[lane / HALF][lane % HALF] = order.0;
        } else if order <= queue.last {
            return false;
        }
        queue.push(order, entry);
        true
    }

    /// The first entry, or [`NEVER`].
    #[inline(always)]
    pub(crate) fn first(&self) -> First {
        let [few, rest] = &self.fronts;
        let first = First { order: NEVER, lane: 0 };
        let mut time = least(few);
        if self.queues.len() > HALF {
            time = time.min(least(rest));
        }
        if time == Time::MAX {
            return first;
        }
        let mut there = holders(few, time);
        if self.queues.len() > HALF {
            there |= holders(rest, time) << HALF;
        }
        if there & (there - 1) != 0 {
            return self.first_of_tied(time);
        }
        let lane = there.trailing_zeros() as usize % MOST_LANES;
        self.queues.get(lane).map_or(first, |queue| First { order: queue.front(), lane })
    }

    #[cold]
    fn first_of_tied(&self, time: Time) -> First {
        let tied = (0..self.queues.len()).filter(|&lane| self.fronts[lane / HALF][lane % HALF] == time);
        let firsts = tied.map(|lane| First { order: self.queues[lane].front(), lane });
        firsts.min_by_key(|first| first.order).unwrap_or(First { order: NEVER, lane: 0 })
    }

    /// Once in [`AHEAD`] entries of a lane: that lane, when what `first` was is taken.
    #[inline]
    pub(crate) fn looks_ahead(&self, first: First) -> Option<usize> {
        let queue = self.queues.get(first.lane)?;
        queue.head.is_multiple_of(AHEAD).then_some(first.lane)
    }

    /// The next [`AHEAD`] entries of a lane.
    pub(crate) fn ahead(&self, lane: usize) -> impl Iterator<Item = T> + Clone + '_ {
        let queue = &self.queues[lane];
        (0..queue.len.min(AHEAD)).map(|at| queue.slots[(queue.head + at) & (queue.slots.len() - 1)].1)
    }

    /// Takes the first entry out.
    #[inline]
    pub(crate) fn pop(&mut self, first: First) -> Option<T> {
        let queue = self.queues.get_mut(first.lane)?;
        let entry = queue.pop()?;
        self.fronts[first.lane / HALF % 2][first.lane % HALF] = queue.front().0;
        Some(entry)
    }
}

/// The least of [`HALF`] times, without a branch and without waiting for one after the other.
#[inline]
fn least(times: &[Time; HALF]) -> Time {
    let at = |n: usize| times[n];
    let (a, b) = (at(0).min(at(1)), at(2).min(at(3)));
    let (c, d) = (at(4).min(at(5)), at(6).min(at(7)));
    a.min(b).min(c.min(d))
}

/// A bit for each of [`HALF`] times that is `time`.
#[inline]
fn holders(times: &[Time; HALF], time: Time) -> u32 {
    let bit = |n: usize| u32::from(times[n] == time) << n;
    (bit(0) | bit(1)) | (bit(2) | bit(3)) | (bit(4) | bit(5)) | (bit(6) | bit(7))
}

/// A queue in a ring whose length is a power of two.
#[derive(Debug)]
struct Ring<T> {
    slots: Vec<(Order, T)>,
    head: usize,
    len: usize,
    last: Order,
}

impl<T: Copy> Ring<T> {
    fn new() -> Self {
        Ring { slots: Vec::new(), head: 0, len: 0, last: (Time::ZERO, 0) }
    }

    #[inline]
    fn front(&self) -> Order {
        if self.len == 0 { NEVER } else { self.slots[self.head & (self.slots.len() - 1)].0 }
    }

    #[inline]
    fn push(&mut self, order: Order, entry: T) {
        if self.len == self.slots.len() {
            self.grow(order, entry);
        }
        let at = (self.head + self.len) & (self.slots.len() - 1);
        self.slots[at] = (order, entry);
        self.len += 1;
        self.last = order;
    }

    #[inline]
    fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        let mask = self.slots.len() - 1;
        let (_, entry) = self.slots[self.head & mask];
        self.head = (self.head + 1) & mask;
        self.len -= 1;
        Some(entry)
    }

    /// Doubles the room; what fills it does not matter.
    #[cold]
    fn grow(&mut self, order: Order, entry: T) {
        self.slots.rotate_left(self.head);
        self.head = 0;
        let room = (self.slots.len() * 2).max(16);
        self.slots.resize(room, (order, entry));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Seed;
    use std::collections::BTreeMap;

    #[test]
    fn entries_come_out_in_order_whichever_lanes_they_were_in() {
        let mut rng = Seed(4).stream("lanes");
        let mut lanes = Lanes::new();
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
                assert_eq!(first.order, expected.map_or(NEVER, |(order, _)| order));
                assert_eq!(lanes.pop(first), expected.map(|(_, number)| number));
                clock = expected.map_or(clock, |((time, _), _)| time.ns());
            }
        }
        assert!(taken > 10_000, "{taken}");
    }

    #[test]
    fn what_does_not_come_after_the_last_of_its_lane_is_refused() {
        let mut lanes = Lanes::new();
        let lane = lanes.add().expect("the first");
        let at = |ns, tie| (Time::from_ns(ns), tie);
        assert!(lanes.push(lane, at(5, 5), 'a'));
        assert!(!lanes.push(lane, at(4, 9), 'b') && !lanes.push(lane, at(5, 4), 'b'));
        assert!(!lanes.push(lane + 1, at(6, 0), 'b'), "there is no such lane");
        assert_eq!(lanes.pop(lanes.first()), Some('a'));
        assert_eq!(lanes.pop(lanes.first()), None);
    }
}
