//! Flows: their hashes, an index from flow to place, and a bounded table from flow to value.

use core::fmt;

/// A salted 64-bit hash of a flow's key (5-tuple, source host, subscriber: the classifier's choice).
///
/// Two flows with the same hash are one flow to a discipline. The salt is the classifier's business: keyed and secret in
/// the gateway, fixed by the seed in the simulator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowHash(pub u64);

impl From<u64> for FlowHash {
    fn from(hash: u64) -> Self {
        FlowHash(hash)
    }
}

impl fmt::Debug for FlowHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "flow:{:016x}", self.0)
    }
}

/// No index has room for more places than this.
pub const MOST_PLACES: usize = 1 << 24;

const EMPTY: u32 = u32::MAX;
const PLACE: u32 = MOST_PLACES as u32 - 1;
const TAGS: u32 = 255; // one fewer than eight bits hold, so that no tag and place look like EMPTY

/// Finds a flow's place in an array kept elsewhere: open addressing with linear probing, at most half full, removal by
/// shifting back. Four bytes a slot: a place of 24 bits and eight bits of the flow's hash, so that a probe of another
/// flow's slot seldom costs a look into the array. It allocates once, at construction.
///
/// The first probe comes from the high bits of a multiplicative mix, so slots stay spread out even where hashes are small
/// integers. That is no defence against somebody who chooses the hashes: the classifier's secret salt is.
#[derive(Debug)]
pub struct FlowIndex {
    slots: Box<[u32]>,
    shift: u32,
}

impl FlowIndex {
    /// An index of at most `capacity` places, each below `capacity`.
    ///
    /// # Panics
    /// When `capacity` is above [`MOST_PLACES`].
    pub fn new(capacity: usize) -> Self {
        assert!(capacity <= MOST_PLACES, "an index of {capacity} places is above the bound of {MOST_PLACES}");
        let size = (capacity.max(1) * 2).next_power_of_two();
        FlowIndex { slots: vec![EMPTY; size].into(), shift: 64 - size.trailing_zeros() }
    }

    /// Bytes of memory, all taken at construction.
    pub fn memory(&self) -> usize {
        size_of_val(&*self.slots)
    }

    /// The place of `flow`; `is_at` looks into the array and says whether the flow at a place is this one.
    #[inline]
    pub fn find(&self, flow: FlowHash, is_at: impl Fn(usize) -> bool) -> Option<usize> {
        let (mut at, tag) = self.home(flow);
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                return None;
            }
            if slot & !PLACE == tag && is_at((slot & PLACE) as usize) {
                return Some((slot & PLACE) as usize);
            }
            at = self.after(at);
        }
    }

    /// Enters `flow`, which must not be in the index, at `place`.
    #[inline]
    pub fn insert(&mut self, flow: FlowHash, place: usize) {
        let (mut at, tag) = self.home(flow);
        while self.slots[at] != EMPTY {
            at = self.after(at);
        }
        self.slots[at] = tag | place as u32;
    }

    /// Tells that `flow` moved from place `from` to place `to`.
    #[inline]
    pub fn moved(&mut self, flow: FlowHash, from: usize, to: usize) {
        let (at, tag) = self.slot_of(flow, from);
        self.slots[at] = tag | to as u32;
    }

    /// Takes out `flow`, which is at `place`; `flow_at` tells the flow of any other place.
    #[inline]
    pub fn remove(&mut self, flow: FlowHash, place: usize, flow_at: impl Fn(usize) -> FlowHash) {
        let (mut gap, _) = self.slot_of(flow, place);
        let mut at = gap;
        loop {
            self.slots[gap] = EMPTY;
            // The next entry of the run whose home does not lie cyclically in (gap, at] moves into the gap.
            loop {
                at = self.after(at);
                let slot = self.slots[at];
                if slot == EMPTY {
                    return;
                }
                let (home, _) = self.home(flow_at((slot & PLACE) as usize));
                let stays = if gap <= at { gap < home && home <= at } else { gap < home || home <= at };
                if !stays {
                    break;
                }
            }
            self.slots[gap] = self.slots[at];
            gap = at;
        }
    }

    #[inline]
    fn slot_of(&self, flow: FlowHash, place: usize) -> (usize, u32) {
        let (mut at, tag) = self.home(flow);
        while self.slots[at] != tag | place as u32 {
            assert!(self.slots[at] != EMPTY, "{flow:?} is not in the index at place {place}");
            at = self.after(at);
        }
        (at, tag)
    }

    #[inline]
    fn home(&self, flow: FlowHash) -> (usize, u32) {
        let mixed = flow.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let tag = (mixed >> (self.shift - 8)) as u32 & 0xff;
        ((mixed >> self.shift) as usize, tag.min(TAGS - 1) << 24)
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }
}

/// A table from flow to value of fixed capacity: a dense array, so that a uniformly random entry is one draw, and an
/// index. All O(1); it allocates once, at construction.
///
/// ```
/// use fairwire_core::FlowTable;
///
/// let mut packets: FlowTable<u32> = FlowTable::new(2);
/// let place = packets.insert(7.into(), 1);
/// *packets.value_mut(place) += 1;
/// assert_eq!(packets.find(7.into()).map(|place| *packets.value(place)), Some(2));
/// assert_eq!(packets.find(8.into()), None);
/// ```
#[derive(Debug)]
pub struct FlowTable<V> {
    entries: Vec<(FlowHash, V)>,
    index: FlowIndex,
    capacity: usize,
}

impl<V> FlowTable<V> {
    /// A table for at most `capacity` flows.
    ///
    /// # Panics
    /// When `capacity` is above [`MOST_PLACES`].
    pub fn new(capacity: usize) -> Self {
        FlowTable { entries: Vec::with_capacity(capacity), index: FlowIndex::new(capacity), capacity }
    }

    /// Flows in the table: places are below this.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Is the table empty?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Is there no room for another flow?
    #[inline]
    pub fn is_full(&self) -> bool {
        self.entries.len() == self.capacity
    }

    /// The most flows that there is room for.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Bytes that the table takes, index included, all at construction.
    pub fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<(FlowHash, V)>() + self.index.memory()
    }

    /// The place of `flow`. Valid until an entry is removed.
    #[inline]
    pub fn find(&self, flow: FlowHash) -> Option<usize> {
        self.index.find(flow, |place| self.entries[place].0 == flow)
    }

    /// Is `flow` at `place`?
    #[inline]
    pub fn is_at(&self, flow: FlowHash, place: usize) -> bool {
        self.entries.get(place).is_some_and(|entry| entry.0 == flow)
    }

    /// The flow at `place`.
    #[inline]
    pub fn flow(&self, place: usize) -> FlowHash {
        self.entries[place].0
    }

    /// The value at `place`.
    #[inline]
    pub fn value(&self, place: usize) -> &V {
        &self.entries[place].1
    }

    /// The value at `place`.
    #[inline]
    pub fn value_mut(&mut self, place: usize) -> &mut V {
        &mut self.entries[place].1
    }

    /// Every flow and its value, by place.
    pub fn iter(&self) -> impl Iterator<Item = (FlowHash, &V)> {
        self.entries.iter().map(|(flow, value)| (*flow, value))
    }

    /// Adds `flow`, which must not be in the table, and tells its place: the last.
    ///
    /// # Panics
    /// When the table is full.
    #[inline]
    pub fn insert(&mut self, flow: FlowHash, value: V) -> usize {
        let place = self.entries.len();
        assert!(place < self.capacity, "flow table over its stated bound of {}", self.capacity);
        self.entries.push((flow, value));
        self.index.insert(flow, place);
        place
    }

    /// Takes out the entry at `place`; the last entry moves there.
    #[inline]
    pub fn remove(&mut self, place: usize) -> V {
        let flow = self.entries[place].0;
        self.index.remove(flow, place, |place| self.entries[place].0);
        let (_, value) = self.entries.swap_remove(place);
        if let Some(&(moved, _)) = self.entries.get(place) {
            self.index.moved(moved, self.entries.len(), place);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Seed;
    use std::collections::HashMap;

    #[test]
    fn it_agrees_with_a_library_map_over_random_operations() {
        let mut rng = Seed(7).stream("flow table");
        let mut ours = FlowTable::new(64);
        let mut theirs = HashMap::new();
        for step in 0..200_000u64 {
            let flow = FlowHash(u64::from(rng.below(100)));
            let place = ours.find(flow);
            assert_eq!(place.map(|place| *ours.value(place)), theirs.get(&flow).copied());
            match place {
                Some(place) if rng.chance(0.5) => *ours.value_mut(place) = step,
                Some(place) => assert_eq!(Some(ours.remove(place)), theirs.remove(&flow)),
                None if theirs.len() < 64 => assert_eq!(ours.insert(flow, step), theirs.len()),
                None => assert!(ours.is_full()),
            }
            if ours.find(flow).is_some() {
                theirs.insert(flow, step);
            }
            let place = ours.find(flow);
            place.into_iter().for_each(|place| *ours.value_mut(place) = step);
            assert_eq!(ours.len(), theirs.len());
        }
        assert!(ours.iter().all(|(flow, value)| theirs[&flow] == *value));
    }

    #[test]
    fn flows_that_meet_in_one_slot_are_told_apart() {
        // Many flows in a small index: runs are long and wrap around.
        let mut table = FlowTable::new(7);
        for round in 0..1000u64 {
            for i in 0..7 {
                table.insert((round * 7 + i).into(), i);
            }
            for i in [3, 0, 6, 1, 5, 2, 4] {
                let place = table.find((round * 7 + i).into()).expect("inserted");
                assert_eq!(table.remove(place), i);
            }
            assert!(table.is_empty());
        }
    }

    #[test]
    #[should_panic(expected = "over its stated bound of 1")]
    fn it_never_grows_past_its_bound() {
        let mut table = FlowTable::new(1);
        table.insert(1.into(), ());
        table.insert(2.into(), ());
    }

    #[test]
    fn an_entry_with_a_count_of_four_bytes_takes_at_most_32_bytes_with_its_index() {
        for flows in [1usize << 10, 1000, 1 << 20] {
            let table: FlowTable<u32> = FlowTable::new(flows);
            assert!(table.memory() <= 32 * flows, "{flows}: {}", table.memory());
        }
    }
}
