//! The backlogged queues in order of weight and length, for lengths that change by more than one.

use alloc::boxed::Box;
use alloc::vec;
use fairwire_core::rng::mix;
use fairwire_core::{FlowKey, Rng};

const NONE: u32 = u32::MAX;

/// The number of the weight, then the length. Queues of equal rank are ordered by index.
pub(super) type Rank = (u32, u64);

#[derive(Clone, Copy, Debug)]
struct Node {
    rank: Rank,
    flow: Option<FlowKey>,
    left: u32,
    right: u32,
    size: u32,
}

/// A counting treap (Seidel and Aragon 1996). Nodes are flow indices, so nothing is allocated.
/// Priorities are a salted hash of the index, so operations take expected O(log n).
#[derive(Debug)]
pub(crate) struct Ranking {
    nodes: Box<[Node]>,
    root: u32,
    salt: u64,
}

impl Ranking {
    pub(crate) fn new(slots: u32, rng: &mut Rng) -> Self {
        let node = Node { rank: (0, 0), flow: None, left: NONE, right: NONE, size: 0 };
        Ranking { nodes: vec![node; slots as usize].into(), root: NONE, salt: rng.next_u64() }
    }

    pub(super) fn has_room_for(&self, other: &Ranking) -> bool {
        self.nodes.len() >= other.nodes.len()
    }

    #[inline]
    pub(crate) fn rank(&self, flow: FlowKey) -> Rank {
        self.nodes[flow.index()].rank
    }

    /// Inserts `flow`, which is not in the order.
    #[inline]
    pub(crate) fn insert(&mut self, flow: FlowKey, rank: Rank) {
        let at = flow.index();
        self.nodes[at] = Node { rank, flow: Some(flow), left: NONE, right: NONE, size: 1 };
        self.root = self.put(self.root, at as u32);
    }

    /// Removes `flow`, which is in the order.
    #[inline]
    pub(crate) fn remove(&mut self, flow: FlowKey) {
        self.root = self.take(self.root, flow.index() as u32);
    }

    #[inline]
    pub(crate) fn below(&self, rank: Rank) -> u32 {
        let (mut at, mut count) = (self.root, 0);
        while at != NONE {
            let node = &self.nodes[at as usize];
            if node.rank < rank {
                count += self.size(node.left) + 1;
                at = node.right;
            } else {
                at = node.left;
            }
        }
        count
    }

    /// The queue with exactly `below` others below it.
    #[inline]
    pub(crate) fn nth(&self, mut below: u32) -> Option<FlowKey> {
        let mut at = self.root;
        while at != NONE {
            let node = &self.nodes[at as usize];
            let left = self.size(node.left);
            match below.cmp(&left) {
                core::cmp::Ordering::Less => at = node.left,
                core::cmp::Ordering::Equal => return node.flow,
                core::cmp::Ordering::Greater => {
                    below -= left + 1;
                    at = node.right;
                }
            }
        }
        None
    }

    #[inline]
    fn size(&self, at: u32) -> u32 {
        if at == NONE { 0 } else { self.nodes[at as usize].size }
    }

    /// The index makes all keys different.
    #[inline]
    fn key(&self, at: u32) -> (Rank, u32) {
        (self.nodes[at as usize].rank, at)
    }

    #[inline]
    fn priority(&self, at: u32) -> u64 {
        mix(self.salt ^ u64::from(at))
    }

    #[inline]
    fn count(&mut self, at: u32) -> u32 {
        let Node { left, right, .. } = self.nodes[at as usize];
        self.nodes[at as usize].size = self.size(left) + self.size(right) + 1;
        at
    }

    fn put(&mut self, root: u32, new: u32) -> u32 {
        if root == NONE {
            return new;
        }
        if self.priority(new) > self.priority(root) {
            let (left, right) = self.split(root, self.key(new));
            (self.nodes[new as usize].left, self.nodes[new as usize].right) = (left, right);
            return self.count(new);
        }
        let Node { left, right, .. } = self.nodes[root as usize];
        if self.key(new) < self.key(root) {
            self.nodes[root as usize].left = self.put(left, new);
        } else {
            self.nodes[root as usize].right = self.put(right, new);
        }
        self.count(root)
    }

    fn take(&mut self, root: u32, gone: u32) -> u32 {
        assert!(root != NONE, "a flow that is not in the order was taken out");
        let Node { left, right, .. } = self.nodes[root as usize];
        if root == gone {
            return self.merge(left, right);
        }
        if self.key(gone) < self.key(root) {
            self.nodes[root as usize].left = self.take(left, gone);
        } else {
            self.nodes[root as usize].right = self.take(right, gone);
        }
        self.count(root)
    }

    fn split(&mut self, root: u32, key: (Rank, u32)) -> (u32, u32) {
        if root == NONE {
            return (NONE, NONE);
        }
        let Node { left, right, .. } = self.nodes[root as usize];
        if self.key(root) < key {
            let (low, high) = self.split(right, key);
            self.nodes[root as usize].right = low;
            (self.count(root), high)
        } else {
            let (low, high) = self.split(left, key);
            self.nodes[root as usize].left = high;
            (low, self.count(root))
        }
    }

    /// All nodes of `low` must be below all nodes of `high`.
    fn merge(&mut self, low: u32, high: u32) -> u32 {
        if low == NONE {
            return high;
        }
        if high == NONE {
            return low;
        }
        if self.priority(low) > self.priority(high) {
            self.nodes[low as usize].right = self.merge(self.nodes[low as usize].right, high);
            self.count(low)
        } else {
            self.nodes[high as usize].left = self.merge(low, self.nodes[high as usize].left);
            self.count(high)
        }
    }
}
