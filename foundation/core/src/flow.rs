//! Hashes of flows, an index of flows, and a bounded table of values by flow.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// A salted 64-bit hash of a flow's key (5-tuple, source host or subscriber: the classifier's
/// choice).
///
/// Disciplines treat flows with the same hash as one. The salt is secret in the gateway, and
/// derived from the seed in the simulator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct FlowHash(pub u64);

impl FlowHash {
    /// The hash of a conversation of host number `host`. The upper 32 bits are `host`; the lower 32
    /// bits are those of `conversation`.
    #[inline]
    pub fn of_host(host: u32, conversation: FlowHash) -> Self {
        FlowHash(u64::from(host) << 32 | conversation.0 & u64::from(u32::MAX))
    }

    /// The host's number, if the hash was built by [`of_host`](FlowHash::of_host).
    #[inline]
    pub fn host(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

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

/// The largest capacity of an index: a place has 24 bits.
pub const MAX_PLACES: usize = 1 << 24;

/// Slots in a group: one for each byte of the 64-bit word of tags.
const GROUP: usize = 8;

/// Eight slots. Slots in use come first.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// For each slot, one byte of its flow's hash, or 0 if the slot is empty. The first slot has
    /// the lowest byte.
    tags: u64,
    places: [[u8; 3]; GROUP],
}

const _: () = assert!(size_of::<Group>() == 32 && MAX_PLACES == 1 << 24);

/// Finds a flow's place: its index in an array that the caller keeps. Memory is allocated at
/// construction.
///
/// The index uses open addressing with linear probing, by groups of eight slots. At most half of
/// all slots are in use, and a removal shifts entries back. A slot holds a place of 24 bits and a
/// tag of eight hash bits. All tags of a group are compared at once, so a lookup seldom reads
/// another flow's entry.
///
/// If a flow's group is full, the flow is in a later group. The group comes from the high bits of a
/// multiplicative mix, so groups fill evenly even if hashes are small integers. Only the
/// classifier's secret salt protects against chosen hashes.
#[derive(Debug)]
pub struct FlowIndex {
    groups: Box<[Group]>,
    shift: u32,
}

impl FlowIndex {
    /// An index of at most `capacity` places, each below `capacity`.
    ///
    /// # Panics
    /// When `capacity` is above [`MAX_PLACES`].
    pub fn new(capacity: usize) -> Self {
        assert!(capacity <= MAX_PLACES, "an index of {capacity} places is above the bound of {MAX_PLACES}");
        let groups = (capacity * 2).div_ceil(GROUP).max(2).next_power_of_two();
        FlowIndex { groups: vec![Group::EMPTY; groups].into(), shift: 64 - groups.trailing_zeros() }
    }

    /// Bytes of memory, all allocated at construction.
    pub fn memory(&self) -> usize {
        size_of_val(&*self.groups)
    }

    /// The place of `flow`. `is_at` returns whether the caller's array has this flow at a place.
    #[inline]
    pub fn find(&self, flow: FlowHash, is_at: impl Fn(usize) -> bool) -> Option<usize> {
        self.slot_where(flow, is_at).map(|(at, slot)| self.groups[at].place(slot))
    }

    /// Inserts `flow`, which must not be in the index, at `place`.
    #[inline]
    pub fn insert(&mut self, flow: FlowHash, place: usize) {
        let (mut at, tag) = self.home(flow);
        while self.groups[at].is_full() {
            at = self.after(at);
        }
        let group = &mut self.groups[at];
        group.set(group.used(), tag, place);
    }

    /// Records that `flow` moved from place `from` to place `to`.
    #[inline]
    pub fn moved(&mut self, flow: FlowHash, from: usize, to: usize) {
        let (at, slot) = self.slot_of(flow, from);
        self.groups[at].places[slot % GROUP] = short(to);
    }

    /// Removes `flow`, which is at `place`. `flow_at` returns the flow at any other place.
    #[inline]
    pub fn remove(&mut self, flow: FlowHash, place: usize, flow_at: impl Fn(usize) -> FlowHash) {
        let (at, slot) = self.slot_of(flow, place);
        let was_full = self.groups[at].is_full();
        self.groups[at].clear(slot);
        if was_full {
            self.refill(at, flow_at);
        }
    }

    /// Fills the only free slot of the group `gap`. A flow moves back from a later group if its
    /// home is `gap` or an earlier group. Its former slot is filled likewise.
    #[cold]
    fn refill(&mut self, mut gap: usize, flow_at: impl Fn(usize) -> FlowHash) {
        let mut at = gap;
        loop {
            at = self.after(at);
            let group = self.groups[at];
            // Is the flow's home outside the cyclic range (gap, at]?
            let belongs_before = |slot: &usize| {
                let (home, _) = self.home(flow_at(group.place(*slot)));
                self.distance(home, at) >= self.distance(gap, at)
            };
            if let Some(slot) = (0..group.used()).find(belongs_before) {
                self.groups[gap].set(GROUP - 1, group.tag(slot), group.place(slot));
                self.groups[at].clear(slot);
                gap = at;
            }
            if !group.is_full() {
                return;
            }
        }
    }

    #[inline]
    fn slot_of(&self, flow: FlowHash, place: usize) -> (usize, usize) {
        let slot = self.slot_where(flow, |at| at == place);
        slot.unwrap_or_else(|| panic!("{flow:?} is not in the index at place {place}"))
    }

    #[inline]
    fn slot_where(&self, flow: FlowHash, is_at: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
        let (mut at, tag) = self.home(flow);
        loop {
            let group = &self.groups[at];
            let mut matches = group.matches(tag);
            while matches != 0 {
                let slot = matches.trailing_zeros() as usize / 8;
                if is_at(group.place(slot)) {
                    return Some((at, slot));
                }
                matches &= matches - 1;
            }
            if !group.is_full() {
                return None;
            }
            at = self.after(at);
        }
    }

    #[inline]
    fn home(&self, flow: FlowHash) -> (usize, u8) {
        let mixed = flow.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed >> self.shift) as usize, ((mixed >> 24) as u8).max(1))
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        (at + 1) & (self.groups.len() - 1)
    }

    #[inline]
    fn distance(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & (self.groups.len() - 1)
    }
}

impl Group {
    const EMPTY: Group = Group { tags: 0, places: [[0; 3]; GROUP] };

    #[inline]
    fn place(&self, slot: usize) -> usize {
        let [low, middle, high] = self.places[slot % GROUP];
        u32::from_le_bytes([low, middle, high, 0]) as usize
    }

    #[inline]
    fn tag(&self, slot: usize) -> u8 {
        (self.tags >> (slot % GROUP * 8)) as u8
    }

    #[inline]
    fn set(&mut self, slot: usize, tag: u8, place: usize) {
        let shift = slot % GROUP * 8;
        self.tags = self.tags & !(0xff << shift) | u64::from(tag) << shift;
        self.places[slot % GROUP] = short(place);
    }

    #[inline]
    fn clear(&mut self, slot: usize) {
        let last = self.used() - 1;
        self.set(slot, self.tag(last), self.place(last));
        self.tags &= !(0xff << (last % GROUP * 8));
    }

    #[inline]
    fn used(&self) -> usize {
        (64 - self.tags.leading_zeros()).div_ceil(8) as usize
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.tags >> 56 != 0
    }

    /// A word with the highest bit set in each byte whose tag equals `tag`; all other bits are 0.
    #[inline]
    fn matches(&self, tag: u8) -> u64 {
        const EACH: u64 = u64::MAX / 0xff;
        const LOW: u64 = EACH * 0x7f;
        let differences = self.tags ^ (u64::from(tag) * EACH);
        !(((differences & LOW) + LOW) | differences | LOW)
    }
}

#[inline]
fn short(place: usize) -> [u8; 3] {
    let [low, middle, high, _] = (place as u32).to_le_bytes();
    [low, middle, high]
}

/// A table of fixed capacity, from flow to value, with O(1) operations. Memory is allocated at
/// construction. Entries are a dense array, so finding a random entry needs one random number.
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
    /// When `capacity` is above [`MAX_PLACES`].
    pub fn new(capacity: usize) -> Self {
        FlowTable { entries: Vec::with_capacity(capacity), index: FlowIndex::new(capacity), capacity }
    }

    /// The number of flows in the table. Every place is below this number.
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

    /// The maximum number of flows.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Bytes of memory, index included, all allocated at construction.
    pub fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<(FlowHash, V)>() + self.index.memory()
    }

    /// The place of `flow`, valid until an entry is removed.
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

    /// Appends `flow`, which must not be in the table, and returns its place.
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

    /// Removes the entry at `place`; the last entry moves there.
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
    fn flows_that_collide_in_one_slot_are_kept_apart() {
        // The index has two groups for seven flows, so at least four flows share a group.
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
    fn groups_that_overflow_into_the_next_and_around_the_end_lose_no_flow() {
        let mut rng = Seed(3).stream("collisions");
        let mut table = FlowTable::new(40); // 16 groups
        let index = FlowIndex::new(40);
        // All homes are in the last two groups, so runs of full groups wrap around.
        let flows: Vec<FlowHash> =
            (0..2000).map(FlowHash).filter(|&flow| index.home(flow).0 >= index.groups.len() - 2).collect();
        let mut inside = std::collections::BTreeSet::new();
        let mut refills = 0;
        for _ in 0..100_000 {
            let flow = flows[rng.below(60) as usize];
            match table.find(flow) {
                Some(place) => {
                    assert!(inside.remove(&flow));
                    refills += u32::from(inside.len() >= 16);
                    table.remove(place);
                }
                None if !table.is_full() => {
                    assert!(inside.insert(flow), "{flow:?} was lost");
                    table.insert(flow, ());
                }
                None => {
                    let place = rng.below(40) as usize;
                    assert!(inside.remove(&table.flow(place)));
                    table.remove(place);
                }
            }
            assert_eq!(table.len(), inside.len());
        }
        assert!(inside.iter().all(|&flow| table.find(flow).is_some()));
        assert!(refills > 10_000, "{refills}");
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
