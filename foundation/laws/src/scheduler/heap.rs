//! A heap of queues by tag. Schedulers choose from it, and any queue can be removed.

use super::tag::Tag;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// A queue's rank in the order of service.
///
/// The turn wraps after 2^32 insertions and changes. A few queues with equal tags may then be
/// served once in the wrong order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// The tag.
    pub tag: Tag,
    /// The number of the item's insertion or latest `change`. Among equal tags, the first in is the
    /// first out.
    pub turn: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    tag: Tag,
    turn: u32,
    item: u32,
}

impl Entry {
    #[inline]
    fn rank(&self) -> Rank {
        Rank { tag: self.tag, turn: self.turn }
    }
}

/// Items by rank, each at most once. An item is a number below the capacity. The least item is
/// found in O(1); other operations take O(log n). Allocates only at construction.
#[derive(Debug)]
pub(super) struct Heap {
    entries: Vec<Entry>,
    /// For each item, its index in `entries`; meaningless for absent items.
    places: Box<[u32]>,
    turn: u32,
}

impl Heap {
    pub(super) fn new(capacity: usize) -> Self {
        Heap { entries: Vec::with_capacity(capacity), places: vec![0; capacity].into(), turn: 0 }
    }

    pub(super) fn has_room_for(&self, other: &Heap) -> bool {
        self.places.len() >= other.places.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub(super) fn contains(&self, item: usize) -> bool {
        let entry = self.entries.get(self.places[item] as usize);
        entry.is_some_and(|entry| entry.item as usize == item)
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    #[inline]
    pub(super) fn least(&self) -> Option<(Tag, usize)> {
        self.entries.first().map(|entry| (entry.tag, entry.item as usize))
    }

    /// The rank of `item`, which must be in the heap.
    #[inline]
    pub(super) fn rank(&self, item: usize) -> Rank {
        self.entries[self.place(item)].rank()
    }

    /// Inserts `item`, which must not be in the heap, behind items with equal tags.
    #[inline]
    pub(super) fn insert(&mut self, item: usize, tag: Tag) {
        let rank = self.rank_now(tag);
        self.entries.push(Entry { tag: rank.tag, turn: rank.turn, item: item as u32 });
        self.rise(self.entries.len() - 1);
    }

    /// Changes the tag of `item`, which must be in the heap, and puts `item` behind items with the
    /// new tag.
    #[inline]
    pub(super) fn change(&mut self, item: usize, tag: Tag) {
        let rank = self.rank_now(tag);
        self.restore(item, rank);
    }

    /// Changes the tag of `item`, which must be in the heap, without changing its turn.
    #[inline]
    pub(super) fn retag(&mut self, item: usize, tag: Tag) {
        let turn = self.rank(item).turn;
        self.restore(item, Rank { tag, turn });
    }

    /// Gives `item`, which must be in the heap, exactly `rank`.
    #[inline]
    pub(super) fn restore(&mut self, item: usize, rank: Rank) {
        let place = self.place(item);
        (self.entries[place].tag, self.entries[place].turn) = (rank.tag, rank.turn);
        self.settle(place);
    }

    /// Removes `item`, which must be in the heap.
    #[inline]
    pub(super) fn remove(&mut self, item: usize) {
        let place = self.place(item);
        self.entries.swap_remove(place);
        if place < self.entries.len() {
            self.settle(place);
        }
    }

    pub(super) fn rename(&mut self, from: usize, to: usize) {
        let place = self.place(from);
        self.entries[place].item = to as u32;
        self.places[to] = place as u32;
    }

    fn rank_now(&mut self, tag: Tag) -> Rank {
        self.turn = self.turn.wrapping_add(1);
        Rank { tag, turn: self.turn }
    }

    #[inline]
    fn place(&self, item: usize) -> usize {
        let place = self.places[item] as usize;
        debug_assert!(self.entries[place].item as usize == item, "item {item} is not in the heap");
        place
    }

    fn settle(&mut self, place: usize) {
        let place = self.rise(place);
        self.sink(place);
    }

    #[inline]
    fn rise(&mut self, mut place: usize) -> usize {
        let entry = self.entries[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.entries[parent].rank() <= entry.rank() {
                break;
            }
            self.put(place, self.entries[parent]);
            place = parent;
        }
        self.put(place, entry);
        place
    }

    #[inline]
    fn sink(&mut self, mut place: usize) {
        let entry = self.entries[place];
        loop {
            let mut child = 2 * place + 1;
            if child >= self.entries.len() {
                break;
            }
            if child + 1 < self.entries.len() && self.entries[child + 1].rank() < self.entries[child].rank() {
                child += 1;
            }
            if entry.rank() <= self.entries[child].rank() {
                break;
            }
            self.put(place, self.entries[child]);
            place = child;
        }
        self.put(place, entry);
    }

    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        self.entries[place] = entry;
        self.places[entry.item as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Seed;

    #[test]
    fn it_agrees_with_a_sorted_list_over_random_operations() {
        let mut rng = Seed(5).stream("heap");
        let mut heap = Heap::new(40);
        let mut model: Vec<(Tag, u32, usize)> = Vec::new(); // tag, turn, item
        let mut turn = 0;
        for _ in 0..50_000 {
            let (item, tag) = (rng.below(40) as usize, Tag::from(rng.below(12)));
            let at = model.iter().position(|entry| entry.2 == item);
            match (at, rng.below(3)) {
                (None, _) => {
                    turn += 1;
                    heap.insert(item, tag);
                    model.push((tag, turn, item));
                }
                (Some(at), 0) => {
                    turn += 1;
                    heap.change(item, tag);
                    model[at] = (tag, turn, item);
                }
                (Some(at), 1) => {
                    heap.retag(item, tag);
                    model[at].0 = tag;
                }
                (Some(at), _) => {
                    heap.remove(item);
                    model.swap_remove(at);
                }
            }
            let least = model.iter().min().map(|&(tag, _, item)| (tag, item));
            assert_eq!(heap.least(), least);
            assert_eq!(heap.len(), model.len());
            assert_eq!(heap.is_empty(), model.is_empty());
            let item = rng.below(40) as usize;
            assert_eq!(heap.contains(item), model.iter().any(|entry| entry.2 == item));
            if rng.below(500) == 0 {
                heap.clear();
                model.clear();
            }
        }
    }

    #[test]
    fn a_renamed_item_keeps_its_rank() {
        let mut heap = Heap::new(3);
        heap.insert(0, 5);
        heap.insert(1, 4);
        heap.rename(1, 2);
        assert_eq!(heap.least(), Some((4, 2)));
        heap.remove(2);
        assert_eq!(heap.least(), Some((5, 0)));
    }
}
