//! Flows: their hashes, and a bounded table from flow to value.

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

/// A hash table from flow to a small value, of fixed capacity: open addressing with linear probing, at most half full,
/// removal by shifting back. It allocates once, at construction.
///
/// The first probe comes from the high bits of a multiplicative mix, so table positions stay spread out even where
/// hashes are small integers. That is no defence against somebody who chooses the hashes: the classifier's secret salt is.
#[derive(Debug)]
pub struct FlowMap<V> {
    slots: Box<[Option<(FlowHash, V)>]>,
    len: usize,
    shift: u32,
    capacity: usize,
}

impl<V: Copy> FlowMap<V> {
    /// A table for at most `capacity` flows.
    pub fn new(capacity: usize) -> Self {
        let size = (capacity.max(1) * 2).next_power_of_two();
        let slots = (0..size).map(|_| None).collect();
        FlowMap { slots, len: 0, shift: 64 - size.trailing_zeros(), capacity }
    }

    /// Flows in the table.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Is the table empty?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Is there no room for another flow?
    pub fn is_full(&self) -> bool {
        self.len == self.capacity
    }

    /// Bytes that the table takes, counted once at construction.
    pub fn memory(&self) -> usize {
        size_of_val(&*self.slots)
    }

    /// The value of `flow`.
    #[inline]
    pub fn find(&self, flow: FlowHash) -> Option<V> {
        let mut at = self.home(flow);
        while let Some((other, value)) = self.slots[at] {
            if other == flow {
                return Some(value);
            }
            at = self.after(at);
        }
        None
    }

    /// Gives `flow` the value `value`, new or in place of its old one.
    ///
    /// # Panics
    /// When `flow` is new and the table is full.
    #[inline]
    pub fn insert(&mut self, flow: FlowHash, value: V) {
        let mut at = self.home(flow);
        while let Some((other, _)) = self.slots[at] {
            if other == flow {
                self.slots[at] = Some((flow, value));
                return;
            }
            at = self.after(at);
        }
        assert!(self.len < self.capacity, "flow table over its stated bound of {}", self.capacity);
        self.slots[at] = Some((flow, value));
        self.len += 1;
    }

    /// Takes `flow` out of the table.
    #[inline]
    pub fn remove(&mut self, flow: FlowHash) -> Option<V> {
        let mut at = self.home(flow);
        loop {
            match self.slots[at] {
                None => return None,
                Some((other, value)) if other == flow => {
                    self.close_gap(at);
                    self.len -= 1;
                    return Some(value);
                }
                Some(_) => at = self.after(at),
            }
        }
    }

    /// Empties slot `gap`, moving later entries of the same run back so that every probe still meets its flow.
    fn close_gap(&mut self, mut gap: usize) {
        let mut at = gap;
        loop {
            self.slots[gap] = None;
            loop {
                at = self.after(at);
                let Some((flow, _)) = self.slots[at] else { return };
                let home = self.home(flow);
                // May the entry at `at` move to `gap`? Only if its home does not lie cyclically in (gap, at].
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
    fn home(&self, flow: FlowHash) -> usize {
        (flow.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Seed;
    use std::collections::HashMap;

    #[test]
    fn it_agrees_with_a_library_map_over_random_operations() {
        let mut rng = Seed(7).stream("flow map");
        let mut ours = FlowMap::new(64);
        let mut theirs = HashMap::new();
        for step in 0..200_000u64 {
            let flow = FlowHash(u64::from(rng.below(100)));
            if rng.chance(0.5) && (theirs.len() < 64 || theirs.contains_key(&flow)) {
                ours.insert(flow, step);
                theirs.insert(flow, step);
            } else {
                assert_eq!(ours.remove(flow), theirs.remove(&flow));
            }
            assert_eq!(ours.len(), theirs.len());
            let probe = FlowHash(u64::from(rng.below(100)));
            assert_eq!(ours.find(probe), theirs.get(&probe).copied());
        }
    }

    #[test]
    #[should_panic(expected = "over its stated bound of 1")]
    fn it_never_grows_past_its_bound() {
        let mut map = FlowMap::new(1);
        map.insert(1.into(), ());
        map.insert(2.into(), ());
    }
}
