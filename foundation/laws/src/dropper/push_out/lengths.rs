//! The backlogged queues in order of their length in packets.

use alloc::boxed::Box;
use alloc::vec;
use fairwire_core::{Buffer, FlowKey};

/// The backlogged queues, longest first. A queue changes by one packet at a time, so a single
/// exchange takes it past the queues of its old length.
///
/// The empty queues follow, in any order. So a queue that appears or empties takes no extra branch,
/// which would be hard to predict.
#[derive(Debug)]
pub struct Lengths {
    /// Every [`FlowKey::index`].
    order: Box<[u32]>,
    /// The position in `order` of each queue's index.
    place: Box<[u32]>,
    /// At index n, the number of queues with at least n packets.
    at_least: Box<[u32]>,
}

impl Lengths {
    /// Starts with all queues empty, and with room for `slots` packets and `slots` queues.
    pub fn new(slots: u32) -> Self {
        let at_least = vec![0; slots as usize + 2].into();
        Lengths { order: (0..slots).collect(), place: (0..slots).collect(), at_least }
    }

    pub(super) fn has_room_for(&self, other: &Lengths) -> bool {
        self.order.len() >= other.order.len()
    }

    /// Moves `flow` after it has grown or shrunk by one packet to `length`.
    #[inline]
    pub fn changed(&mut self, flow: FlowKey, length: u32, grown: bool) {
        // A queue that grew swaps positions with the first queue of its old length. A queue that
        // shrank swaps with the last such queue.
        let count = &mut self.at_least[length as usize + usize::from(!grown)];
        let to = *count - u32::from(!grown);
        *count = to + u32::from(grown);
        self.exchange(flow.index() as u32, to);
    }

    #[inline]
    fn exchange(&mut self, flow: u32, to: u32) {
        let from = core::mem::replace(&mut self.place[flow as usize], to);
        let other = core::mem::replace(&mut self.order[to as usize], flow);
        // If the queue keeps its position, these lines change nothing.
        self.place[other as usize] = from;
        self.order[from as usize] = other;
    }

    /// The number of queues with at least `length` packets, for a `length` of 1 or more.
    #[inline]
    pub fn at_least(&self, length: u32) -> u32 {
        self.at_least.get(length as usize).map_or(0, |&count| count)
    }

    /// The `n`th longest of the backlogged queues, counted from 0.
    #[inline]
    pub fn nth(&self, n: u32, buffer: &Buffer) -> FlowKey {
        buffer.flow_at(self.order[n as usize] as usize)
    }

    /// Only for gauges: this searches.
    pub(crate) fn longest_length(&self) -> u32 {
        self.at_least[1..].partition_point(|&count| count > 0) as u32
    }
}
