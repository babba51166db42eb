//! The backlogged queues in order of their length in packets.

use fairwire_core::FlowKey;

/// The backlogged queues, longest first. A queue grows or shrinks by one packet at a time, so it moves past those of its own
/// length only, and one exchange does that.
#[derive(Debug)]
pub struct Lengths {
    order: Vec<FlowKey>,
    /// Where a flow stands in `order`, by its index.
    place: Box<[u32]>,
    /// How many queues have at least so many packets.
    at_least: Box<[u32]>,
}

impl Lengths {
    /// No queue, with room for `slots` packets and as many queues.
    pub fn new(slots: u32) -> Self {
        let slots = slots as usize;
        Lengths {
            order: Vec::with_capacity(slots),
            place: vec![0; slots].into(),
            at_least: vec![0; slots + 2].into(),
        }
    }

    /// `flow` has grown by one packet to `length`.
    #[inline]
    pub fn grown(&mut self, flow: FlowKey, length: u32) {
        if length == 1 {
            self.place[flow.index()] = self.order.len() as u32;
            self.order.push(flow);
        }
        // It becomes the last of those that are as long now.
        let to = self.at_least[length as usize];
        self.at_least[length as usize] += 1;
        self.exchange(flow, to);
    }

    /// `flow` has shrunk by one packet to `length`.
    #[inline]
    pub fn shrunk(&mut self, flow: FlowKey, length: u32) {
        // It leaves as the last of those that are as long as it was.
        self.at_least[length as usize + 1] -= 1;
        let to = self.at_least[length as usize + 1];
        self.exchange(flow, to);
        if length == 0 {
            self.order.pop();
        }
    }

    #[inline]
    fn exchange(&mut self, flow: FlowKey, to: u32) {
        let from = core::mem::replace(&mut self.place[flow.index()], to);
        let other = core::mem::replace(&mut self.order[to as usize], flow);
        // Where it stays, this writes the same again.
        self.place[other.index()] = from;
        self.order[from as usize] = other;
    }

    /// Those of at least `length` packets, which is 1 or more; longest first.
    #[inline]
    pub fn at_least(&self, length: u32) -> &[FlowKey] {
        let count = self.at_least.get(length as usize).map_or(0, |&count| count as usize);
        &self.order[..count]
    }

    /// The length of the longest; for gauges, as it searches.
    pub fn longest_length(&self) -> u32 {
        self.at_least[1..].partition_point(|&count| count > 0) as u32
    }

    /// The first of the longest.
    #[inline]
    pub fn longest(&self) -> Option<FlowKey> {
        self.order.first().copied()
    }
}
