//! Lanes: queues of ordered entries. A tree finds the first entry.

use crate::event::Event;
use crate::prefetch::{self, LINE};
use crate::ties::Ties;
use fairwire_core::Time;

/// The maximum number of lanes. More would need another level of the tree.
pub(crate) const MAX_LANES: usize = 16;

/// The number of entries of a lane that are prefetched together.
pub(crate) const AHEAD: usize = 16;

const ENTRIES_IN_LINE: usize = LINE / size_of::<Entry>();

const _: () = assert!(ENTRIES_IN_LINE == 4 && MAX_LANES == 16);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// When the entry is due. The lowest bits hold the entry's type.
    due: u64,
    /// The entry's number, which breaks ties.
    number: u32,
    /// Its subject.
    what: u32,
}

/// The maximum number of entry types. It equals [`MAX_LANES`], because a key holds the lane in the
/// same bits in which `due` holds the type.
const KINDS: u64 = MAX_LANES as u64;

impl Entry {
    /// An entry due at `time`, which must be earlier than [`LATEST`].
    #[inline(always)]
    fn new(time: Time, number: u32, event: Event) -> Self {
        let (kind, what) = event.parts();
        Entry { due: time.ns() * KINDS + u64::from(kind), number, what }
    }

    #[inline(always)]
    pub(crate) fn time(self) -> Time {
        Time::from_ns(self.due / KINDS)
    }

    #[inline(always)]
    pub(crate) fn parts(self) -> (u8, u32) {
        ((self.due % KINDS) as u8, self.what)
    }

    #[inline]
    pub(crate) fn number(self) -> u32 {
        self.number
    }

    #[inline(always)]
    fn key(self, lane: usize) -> u64 {
        key(self.due, lane)
    }
}

#[derive(Debug)]
pub(crate) struct Lanes {
    queues: [Ring; MAX_LANES],
    count: usize,
    /// A binary tree of keys, whose leaves are the lanes. The lowest bits of a key hold the lane;
    /// the other bits hold when the lane's first entry is due. The key of node `n` is the smaller
    /// of the keys of `2 n` and `2 n + 1`.
    keys: [u64; 2 * MAX_LANES],
    /// The lane whose path to the root is out of date since a pop. A push to the same lane often
    /// follows, so deferring the update saves half of the updates.
    changed: usize,
    /// True if a lane has used up its prefetched entries.
    is_due: bool,
}

/// The key of the root, which identifies the first entry, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct First(u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Horizon(u64);

impl Horizon {
    /// The horizon at `time`. Beyond it are entries due at `time` or later, and the keys of empty
    /// lanes.
    pub(crate) fn at(time: Time) -> Self {
        Horizon(time.ns().min(LATEST) * MAX_LANES as u64)
    }
}

impl First {
    #[inline(always)]
    pub(crate) fn is_nothing(self) -> bool {
        self.0 >= NO_KEY
    }

    #[inline(always)]
    pub(crate) fn is_beyond(self, horizon: Horizon) -> bool {
        self.0 >= horizon.0
    }

    /// When the entry is due; without an entry, later than any event.
    #[inline(always)]
    pub(crate) fn time(self) -> Time {
        Time::from_ns(self.0 / MAX_LANES as u64)
    }
}

impl Lanes {
    pub(crate) fn new() -> Self {
        Lanes {
            queues: std::array::from_fn(|_| Ring::default()),
            count: 0,
            keys: std::array::from_fn(|node| never(first_below(node))),
            changed: 0,
            is_due: false,
        }
    }

    pub(crate) fn add(&mut self, ties: &Ties) -> Option<usize> {
        if self.count == MAX_LANES {
            return None;
        }
        self.count += 1;
        self.play(0, ties); // up to the node where lanes now meet
        Some(self.count - 1)
    }

    /// Appends an entry to a lane. Returns false if the lane's last entry comes later, or if the
    /// lane does not exist.
    #[inline(always)]
    pub(crate) fn push(&mut self, lane: usize, time: Time, ties: &Ties, number: u32, event: Event) -> bool {
        let Some(queue) = self.queues.get_mut(lane) else { return false };
        if time.ns() >= LATEST {
            return false;
        }
        let entry = Entry::new(time, number, event);
        if self.keys[MAX_LANES + lane] >= NO_KEY {
            self.keys[MAX_LANES + lane] = entry.key(lane);
            queue.begin(entry);
            if lane != self.changed {
                self.play_apart(lane, ties);
            }
            return true;
        }
        if time <= queue.last && !queue.is_after_last(entry, ties) {
            return false;
        }
        queue.push(entry);
        true
    }

    #[inline(always)]
    pub(crate) fn first(&mut self, ties: &Ties) -> First {
        self.play(self.changed, ties)
    }

    #[inline(never)] // separate from the pushes that do not need it
    fn play_apart(&mut self, lane: usize, ties: &Ties) {
        self.play(lane, ties);
    }

    /// Updates the nodes from `lane` up to the root, and returns the root's key. The smaller key at
    /// one node is mostly also the smaller key at the next. Branches let the processor predict this
    /// while the keys are being loaded.
    #[inline(always)]
    fn play(&mut self, lane: usize, ties: &Ties) -> First {
        let mut node = MAX_LANES + lane % MAX_LANES;
        let mut first = self.keys[node];
        let mut round = |lanes: &mut Self| {
            let other = lanes.keys[node ^ 1];
            if other <= first | (MAX_LANES as u64 - 1) {
                let is_tied = is_same_time(first, other);
                first = if is_tied { lanes.first_of_tied(first, other, ties) } else { other };
            }
            node /= 2;
            lanes.keys[node] = first;
        };
        // Skips the levels at which the other branch has no existing lanes.
        let count = self.count;
        round(self);
        if count > 2 {
            round(self);
        }
        if count > 4 {
            round(self);
        }
        if count > 8 {
            round(self);
        }
        First(first)
    }

    #[cold]
    fn first_of_tied(&self, one: u64, other: u64, ties: &Ties) -> u64 {
        let (time, [one_lane, other_lane]) = (First(one).time(), [one, other].map(lane_of));
        let order = |lane: usize| (ties.order(time, self.queues[lane].front.number), lane);
        if order(other_lane) < order(one_lane) { other } else { one }
    }

    pub(crate) fn front(&self, first: First) -> Option<Entry> {
        (!first.is_nothing()).then(|| self.queues[lane_of(first.0)].front)
    }

    /// Is prefetching due? It is due right after every [`AHEAD`]th entry of a lane was taken.
    #[inline(always)]
    pub(crate) fn are_due(&self) -> bool {
        self.is_due
    }

    pub(crate) fn due(&mut self) -> Option<usize> {
        std::mem::take(&mut self.is_due).then_some(self.changed)
    }

    /// Returns up to [`AHEAD`] entries of a lane, after the first `skipped` entries. Prefetches the
    /// entries that follow the returned ones.
    pub(crate) fn ahead(&self, lane: usize, skipped: usize) -> impl Iterator<Item = Entry> + '_ {
        let queue = &self.queues[lane];
        (0..AHEAD).step_by(ENTRIES_IN_LINE).for_each(|step| queue.fetch(skipped + AHEAD + step));
        (skipped..queue.behind.min(skipped + AHEAD))
            .map(|at| queue.slots[(queue.head + at) & (queue.slots.len() - 1)])
    }

    /// Takes out the entry that [`first`](Lanes::first) has just reported. There must be one.
    #[inline(always)]
    pub(crate) fn pop(&mut self, first: First) -> Entry {
        debug_assert!(!first.is_nothing(), "nothing waits");
        let lane = lane_of(first.0);
        let queue = &mut self.queues[lane];
        let entry = queue.front;
        self.changed = lane;
        self.is_due = queue.behind > 0 && queue.head % AHEAD == AHEAD - 1;
        self.keys[MAX_LANES + lane] = queue.move_up().map_or_else(|| never(lane), |due| key(due, lane));
        entry
    }
}

/// The first lane below `node`. The node has the key of this lane until keys are first compared
/// there.
fn first_below(node: usize) -> usize {
    let Some(depth) = node.checked_ilog2() else { return 0 }; // node 0 does not exist
    (node << (MAX_LANES.ilog2() - depth)) % MAX_LANES
}

/// Entries due at this time (18 years) or later have no key, and so no lane.
const LATEST: u64 = 1 << 59;

/// Keys from this value on belong to empty lanes.
const NO_KEY: u64 = LATEST * MAX_LANES as u64;

/// The key of an empty lane. It is later than any entry's key, and no two empty lanes have keys of
/// equal time.
#[inline]
fn never(lane: usize) -> u64 {
    NO_KEY + (lane * MAX_LANES + lane) as u64
}

#[inline(always)]
fn is_same_time(one: u64, other: u64) -> bool {
    one ^ other < MAX_LANES as u64
}

#[inline(always)]
fn key(due: u64, lane: usize) -> u64 {
    (due & !(KINDS - 1)) | lane as u64
}

#[inline]
fn lane_of(key: u64) -> usize {
    key as usize % MAX_LANES
}

const NOTHING: Entry = Entry { due: 0, number: 0, what: 0 };

/// A queue. Its first entry is `front`. A ring, whose length is a power of two, holds the others. A
/// lane that never has more than one entry, such as a link's polls, needs no ring.
#[derive(Debug)]
#[repr(align(64))]
struct Ring {
    front: Entry,        // meaningless if empty
    last: Time,          // when the last one is due
    slots: Box<[Entry]>, // as many as a power of two, or none
    head: usize,
    behind: usize,
}

impl Default for Ring {
    fn default() -> Self {
        Ring { front: NOTHING, last: Time::ZERO, slots: Box::default(), head: 0, behind: 0 }
    }
}

impl Ring {
    #[inline(always)]
    fn begin(&mut self, entry: Entry) {
        self.front = entry;
        self.last = entry.time();
    }

    /// True if `entry` and the last entry are due together, and the tie rule puts `entry` last.
    #[cold]
    fn is_after_last(&self, entry: Entry, ties: &Ties) -> bool {
        let last = match self.behind {
            0 => self.front,
            behind => self.slots[(self.head + behind - 1) & (self.slots.len() - 1)],
        };
        entry.time() == last.time() && !ties.goes_first(entry.time(), entry.number, last.number)
    }

    #[inline(always)]
    fn push(&mut self, entry: Entry) {
        if self.behind == self.slots.len() {
            self.grow();
        }
        let at = (self.head + self.behind) & (self.slots.len() - 1);
        self.slots[at] = entry;
        self.behind += 1;
        self.last = entry.time();
    }

    /// Prefetches the slot that is `places` slots after the head, modulo the ring's length.
    #[inline]
    fn fetch(&self, places: usize) {
        if let Some(slot) = self.slots.get((self.head + places) & self.slots.len().wrapping_sub(1)) {
            prefetch::lines(slot, 0..1);
        }
    }

    /// Moves the next entry, if any, to the front, and returns its time. The time is read from the
    /// slot, because a read from the front would wait for the write.
    #[inline(always)]
    fn move_up(&mut self) -> Option<u64> {
        if self.behind == 0 {
            return None;
        }
        let mask = self.slots.len() - 1;
        let next = &self.slots[self.head & mask];
        let due = next.due;
        self.front = *next;
        self.head = (self.head + 1) & mask;
        self.behind -= 1;
        Some(due)
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots = std::mem::take(&mut self.slots).into_vec();
        slots.rotate_left(self.head);
        self.head = 0;
        let room = (slots.len() * 2).max(16);
        slots.resize(room, NOTHING);
        self.slots = slots.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::TieRule;
    use fairwire_core::Seed;
    use std::collections::BTreeMap;

    fn ties() -> Ties {
        Ties::new(TieRule::Random, Seed(1))
    }

    /// The entries of one lane and one instant must have different identities.
    fn push(lanes: &mut Lanes, ties: &mut Ties, lane: usize, ns: u64, identity: u32) -> Option<u32> {
        let number = ties.number(identity);
        lanes.push(lane, Time::from_ns(ns), ties, number, Event::Ack(number)).then_some(number)
    }

    fn popped(lanes: &mut Lanes, ties: &Ties) -> Option<(u64, u32)> {
        let first = lanes.first(ties);
        let front = lanes.front(first)?;
        let entry = lanes.pop(first);
        assert_eq!((front, entry.parts()), (entry, Event::Ack(entry.number()).parts()));
        assert_eq!(first.time(), entry.time());
        Some((entry.time().ns(), entry.what))
    }

    #[test]
    fn all_entries_come_out_in_order_for_any_order_of_lanes() {
        let mut rng = Seed(5).stream("lanes");
        for trial in 0..1000u32 {
            let (mut lanes, mut ties) = (Lanes::new(), ties());
            (0..1 + trial as usize % MAX_LANES).for_each(|_| assert!(lanes.add(&ties).is_some()));
            let mut orders = Vec::new();
            for identity in 0..20 {
                let ns = u64::from(rng.below(30));
                let lane = rng.below(1 + trial % MAX_LANES as u32) as usize;
                let number = push(&mut lanes, &mut ties, lane, ns, identity);
                orders.extend(number.map(|number| (ns, ties.order(Time::from_ns(ns), number), number)));
            }
            orders.sort_unstable();
            for (ns, _, number) in orders {
                assert_eq!(popped(&mut lanes, &ties), Some((ns, number)));
            }
            assert_eq!(popped(&mut lanes, &ties), None);
        }
    }

    #[test]
    fn a_lane_added_late_merges_with_active_ones() {
        for late in 1..MAX_LANES {
            let (mut lanes, mut ties) = (Lanes::new(), ties());
            for lane in 0..late {
                assert_eq!(lanes.add(&ties), Some(lane));
                assert!(push(&mut lanes, &mut ties, lane, 100 - lane as u64, 0).is_some());
                assert!(push(&mut lanes, &mut ties, lane, 200 + lane as u64, 1).is_some());
            }
            assert_eq!(popped(&mut lanes, &ties).map(|(ns, _)| ns), Some(101 - late as u64));
            assert_eq!(lanes.add(&ties), Some(late));
            assert!(push(&mut lanes, &mut ties, late, 150, 2).is_some());
            let taken: Vec<u64> =
                std::iter::from_fn(|| popped(&mut lanes, &ties)).map(|(ns, _)| ns).collect();
            assert!(taken.is_sorted() && taken.len() == 2 * late, "{late}: {taken:?}");
        }
    }

    #[test]
    fn entries_of_all_lanes_come_out_in_order() {
        let mut rng = Seed(4).stream("lanes");
        let (mut lanes, mut ties) = (Lanes::new(), ties());
        for _ in 0..MAX_LANES {
            assert!(lanes.add(&ties).is_some());
        }
        assert_eq!(lanes.add(&ties), None);
        let mut model = BTreeMap::new();
        let (mut clock, mut taken) = (0, 0);
        for identity in 0..100_000 {
            if rng.chance(0.52) {
                let ns = clock + u64::from(rng.below(500));
                if let Some(number) = push(&mut lanes, &mut ties, rng.below(18) as usize, ns, identity) {
                    model.insert((ns, ties.order(Time::from_ns(ns), number)), number);
                }
            } else {
                let expected = model.pop_first().map(|((ns, _), number)| (ns, number));
                taken += u32::from(expected.is_some());
                assert_eq!(popped(&mut lanes, &ties), expected);
                clock = expected.map_or(clock, |(ns, _)| ns);
            }
        }
        assert!(taken > 10_000, "{taken}");
    }

    #[test]
    fn lanes_of_one_half_do_not_hide_lanes_of_the_other() {
        let (mut lanes, mut ties) = (Lanes::new(), ties());
        (0..MAX_LANES).for_each(|_| assert!(lanes.add(&ties).is_some()));
        for (lane, times) in [(3, [1, 8]), (7, [2, 9]), (9, [5, 6])] {
            times.iter().for_each(|&ns| assert!(push(&mut lanes, &mut ties, lane, ns, 0).is_some()));
        }
        let taken: Vec<_> = std::iter::from_fn(|| popped(&mut lanes, &ties)).map(|(ns, _)| ns).collect();
        assert_eq!(taken, [1, 2, 5, 6, 8, 9]);
    }

    #[test]
    fn an_entry_not_after_the_last_of_its_lane_is_refused() {
        let (mut lanes, mut ties) = (Lanes::new(), Ties::new(TieRule::Fifo, Seed(1)));
        let lane = lanes.add(&ties).expect("the first");
        let early = ties.number(0);
        assert_eq!(push(&mut lanes, &mut ties, lane, 5, 0), Some(2));
        assert_eq!(push(&mut lanes, &mut ties, lane, 4, 0), None);
        assert!(!lanes.push(lane, Time::from_ns(5), &ties, early, Event::Wake(0)), "it was scheduled before");
        assert_eq!(push(&mut lanes, &mut ties, MAX_LANES, 6, 0), None, "there is no such lane");
        assert_eq!(push(&mut lanes, &mut ties, lane, LATEST, 0), None, "no key represents so late a time");
        assert_eq!(popped(&mut lanes, &ties), Some((5, 2)));
        assert_eq!(popped(&mut lanes, &ties), None);
    }
}
