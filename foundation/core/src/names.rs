//! A hash index of backlogged queues by name.

use crate::flow::FlowHash;
use alloc::boxed::Box;
use alloc::vec;

/// No index: the end of a chain, or the result for a name that is not present.
pub(crate) const NONE: u32 = u32::MAX;

/// Finds the index of a queue by name: a flow's hash or a queue's number. Hash chains link the
/// indexes.
///
/// Queues appear and vanish with nearly every packet. An insertion needs no search, and a removal
/// searches one short chain. A [`FlowIndex`](crate::FlowIndex) would have to close gaps.
#[derive(Debug)]
pub(crate) struct Names {
    firsts: Box<[u32]>,
    nexts: Box<[u32]>,
    /// If names are numbers, the factor is 1 and the shift is 0, so a name is the number of its
    /// chain.
    factor: u64,
    shift: u32,
}

impl Names {
    /// An index for up to `places` entries. If `count` is given, names are numbers below `count`.
    pub(crate) fn new(places: usize, count: Option<u32>) -> Self {
        let (chains, factor, shift) = match count {
            Some(count) => (count as usize, 1, 0),
            None => {
                // At most half of the chains are in use, so that few names collide.
                let size = (places.max(1) * 2).next_power_of_two();
                // Multiplicative hashing (Knuth, The Art of Computer Programming, 6.4). The factor
                // is 2^64 over the golden ratio.
                (size, 0x9e37_79b9_7f4a_7c15, 64 - size.trailing_zeros())
            }
        };
        Names { firsts: vec![NONE; chains].into(), nexts: vec![NONE; places].into(), factor, shift }
    }

    pub(crate) fn memory(&self) -> usize {
        size_of_val(&*self.firsts) + size_of_val(&*self.nexts)
    }

    /// The index of `name`, or [`NONE`].
    #[inline]
    pub(crate) fn find(&self, name: FlowHash, name_at: impl Fn(usize) -> FlowHash) -> u32 {
        let mut place = self.firsts.get(self.chain(name)).map_or(NONE, |&first| first);
        while place != NONE && name_at(place as usize) != name {
            place = self.nexts[place as usize];
        }
        place
    }

    /// Inserts `name`, which must not be present, at `place`.
    ///
    /// # Panics
    /// When names must be below a bound, and `name` is not.
    #[inline]
    pub(crate) fn insert(&mut self, name: FlowHash, place: u32) {
        let chain = self.chain(name);
        self.nexts[place as usize] = core::mem::replace(&mut self.firsts[chain], place);
    }

    #[inline]
    pub(crate) fn remove(&mut self, name: FlowHash, place: u32) {
        let chain = self.chain(name);
        let next = self.nexts[place as usize];
        let mut before = self.firsts[chain];
        if before == place {
            self.firsts[chain] = next;
            return;
        }
        while self.nexts[before as usize] != place {
            before = self.nexts[before as usize];
        }
        self.nexts[before as usize] = next;
    }

    /// The chain of `name`. If names must be below a bound and `name` is not, the chain is invalid.
    #[inline]
    fn chain(&self, name: FlowHash) -> usize {
        (name.0.wrapping_mul(self.factor) >> self.shift) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Seed;
    use std::collections::HashMap;

    #[test]
    fn it_agrees_with_a_library_map_with_and_without_counts() {
        for count in [None, Some(100)] {
            let mut rng = Seed(8).stream("names");
            let mut names = Names::new(64, count);
            let mut at: Vec<FlowHash> = vec![FlowHash(0); 64];
            let mut free: Vec<u32> = (0..64).collect();
            let mut theirs: HashMap<FlowHash, u32> = HashMap::new();
            for _ in 0..100_000 {
                let name = FlowHash(u64::from(rng.below(100)));
                let place = names.find(name, |place| at[place]);
                assert_eq!(theirs.get(&name).copied().unwrap_or(NONE), place);
                if place != NONE {
                    names.remove(name, place);
                    theirs.remove(&name);
                    free.push(place);
                } else if let Some(place) = free.pop() {
                    at[place as usize] = name;
                    names.insert(name, place);
                    theirs.insert(name, place);
                }
            }
            assert!(!theirs.is_empty());
        }
    }

    #[test]
    fn colliding_names_are_kept_apart_in_any_order_of_removal() {
        let mut names = Names::new(8, None);
        let at: Vec<FlowHash> = (0..).map(FlowHash).filter(|name| names.chain(*name) == 3).take(8).collect();
        for leaving in [[0, 1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0], [3, 6, 1, 7, 0, 4, 2, 5]] {
            (0..8).for_each(|place| names.insert(at[place], place as u32));
            for (gone, &place) in leaving.iter().enumerate() {
                names.remove(at[place], place as u32);
                for (n, &other) in leaving.iter().enumerate() {
                    let expected = if n <= gone { NONE } else { other as u32 };
                    assert_eq!(names.find(at[other], |place| at[place]), expected);
                }
            }
        }
    }
}
