//! The flows of hierarchical FABA and their buckets.

use fairwire_core::{FlowHash, FlowTable};

/// A flow's bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    /// x: the tokens in the bucket, in units of 2^-20 token.
    pub tokens: i64,
    /// The index of the flow's class.
    pub class: u32,
    next: u32,
    previous: u32,
}

/// All buckets. The buckets of a class form a ring; the class knows the flow whose turn is next.
#[derive(Debug)]
pub(super) struct Leaves {
    table: FlowTable<Leaf>,
}

impl Leaves {
    pub(super) fn new(capacity: usize) -> Self {
        Leaves { table: FlowTable::new(capacity) }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.table.is_full()
    }

    #[inline]
    pub(super) fn find(&self, flow: FlowHash) -> Option<usize> {
        self.table.find(flow)
    }

    #[inline]
    pub(super) fn is_at(&self, flow: FlowHash, place: usize) -> bool {
        self.table.is_at(flow, place)
    }

    /// Every bucket; for tests only.
    pub(super) fn iter(&self) -> impl Iterator<Item = (FlowHash, &Leaf)> {
        self.table.iter()
    }

    #[inline]
    pub(super) fn get(&self, place: usize) -> &Leaf {
        self.table.value(place)
    }

    #[inline]
    pub(super) fn tokens_mut(&mut self, place: usize) -> &mut i64 {
        &mut self.table.value_mut(place).tokens
    }

    #[inline]
    pub(super) fn next(&self, place: usize) -> usize {
        self.table.value(place).next as usize
    }

    /// Adds an empty bucket for `flow` to the ring of `class`; its turn comes last. `turn` is the
    /// bucket whose turn is next, or `None` if the ring is empty.
    #[inline]
    pub(super) fn insert(&mut self, flow: FlowHash, class: usize, turn: Option<usize>) -> usize {
        let place = self.table.len() as u32;
        let next = turn.map_or(place, |turn| turn as u32);
        let previous = turn.map_or(place, |turn| self.table.value(turn).previous);
        self.table.insert(flow, Leaf { tokens: 0, class: class as u32, next, previous });
        self.table.value_mut(previous as usize).next = place;
        self.table.value_mut(next as usize).previous = place;
        place as usize
    }

    /// Removes and returns the bucket at `place`. Also returns the move of the table's last bucket
    /// to `place`, if there is one.
    #[inline]
    pub(super) fn remove(&mut self, place: usize) -> (Leaf, Option<Moved>) {
        let Leaf { next, previous, .. } = *self.table.value(place);
        self.table.value_mut(previous as usize).next = next;
        self.table.value_mut(next as usize).previous = previous;
        let removed = self.table.remove(place);
        let from = self.table.len();
        if place == from {
            return (removed, None);
        }
        let Leaf { class, next, previous, .. } = *self.table.value(place);
        if next as usize == from {
            // The moved bucket was alone in its ring.
            let moved = self.table.value_mut(place);
            (moved.next, moved.previous) = (place as u32, place as u32);
        } else {
            self.table.value_mut(previous as usize).next = place as u32;
            self.table.value_mut(next as usize).previous = place as u32;
        }
        (removed, Some(Moved { class: class as usize, from }))
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    /// Its class.
    pub class: usize,
    /// Its previous place.
    pub from: usize,
}
