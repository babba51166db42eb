//! All packets in order of arrival, even in a buffer that does not maintain that order.

use super::{Buffer, Key, NONE, some};

impl Buffer {
    /// The oldest of all packets; [`next_by_arrival`](Self::next_by_arrival) returns the others.
    /// The order is valid until another packet arrives.
    ///
    /// Find the next packet before removing this one, because a freed slot loses its link.
    ///
    /// A buffer that does not maintain this order rebuilds it from times of arrival, in O(n log
    /// flows). Packets of one flow stay in order whatever their times.
    pub(crate) fn by_arrival(&mut self) -> Option<Key> {
        if self.needs.order || self.active == 0 {
            return some(self.oldest).map(Key); // none, if nothing waits
        }
        some(self.chain(0, self.active)).map(Key)
    }

    /// The packet after `key` in the order of the last call of [`by_arrival`](Self::by_arrival).
    pub(crate) fn next_by_arrival(&self, key: Key) -> Option<Key> {
        some(self.slots[key.index()].newer).map(Key)
    }

    /// Links the packets of the backlogged flows `from..to` by arrival, and returns the first. The
    /// sort merges whole flows, because the packets of each flow are in order.
    ///
    /// The links are in `newer`. Otherwise, waiting packets use `newer` only in a buffer that
    /// maintains the order of arrival.
    fn chain(&mut self, from: u32, to: u32) -> u32 {
        if to - from > 1 {
            let middle = from + (to - from) / 2;
            let (some, others) = (self.chain(from, middle), self.chain(middle, to));
            return self.merge(some, others);
        }
        let head = self.flows[self.backlogged[from as usize] as usize].head;
        let mut at = head;
        while at != NONE {
            let slot = &mut self.slots[at as usize];
            slot.newer = slot.links.newer;
            at = slot.newer;
        }
        head
    }

    fn merge(&mut self, mut one: u32, mut other: u32) -> u32 {
        let arrived = |buffer: &Buffer, at: u32| buffer.slots[at as usize].packet.arrived;
        let (mut first, mut last) = (NONE, NONE);
        while one != NONE && other != NONE {
            if arrived(self, other) < arrived(self, one) {
                core::mem::swap(&mut one, &mut other);
            }
            let next = self.slots[one as usize].newer;
            self.append(&mut first, &mut last, one);
            one = next;
        }
        self.append(&mut first, &mut last, if one == NONE { other } else { one });
        first
    }

    fn append(&mut self, first: &mut u32, last: &mut u32, at: u32) {
        match core::mem::replace(last, at) {
            NONE => *first = at,
            last => self.slots[last as usize].newer = at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Limit;
    use crate::needs::Needs;
    use crate::packet::Packet;
    use crate::queues::Queues;
    use crate::rng::Seed;
    use crate::time::Time;

    fn frames(buffer: &mut Buffer) -> Vec<u32> {
        let first = buffer.by_arrival();
        core::iter::successors(first, |&key| buffer.next_by_arrival(key))
            .map(|key| buffer.packet(key).frame)
            .collect()
    }

    #[test]
    fn the_order_of_arrival_is_restored_where_it_was_not_maintained() {
        let mut rng = Seed(5).stream("arrival");
        for needs in [Needs::QUEUES, Needs::FLOWS, Needs::ORDER, Needs::default()] {
            let mut buffer = Buffer::with(Limit::packets(50), needs, Queues::PerFlow);
            let mut model: Vec<(u32, Key)> = Vec::new();
            for frame in 0..5_000 {
                if buffer.fits(100) && rng.chance(0.52) {
                    let arrived = Time::from_ns(frame.into());
                    let key = buffer.push(Packet::new(frame, 100, u64::from(rng.below(9)).into(), arrived));
                    model.push((frame, key));
                } else if !model.is_empty() {
                    let (_, key) = model.remove(rng.below(model.len() as u32) as usize);
                    buffer.remove(key);
                }
                if frame % 7 == 0 {
                    assert_eq!(frames(&mut buffer), model.iter().map(|m| m.0).collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn packets_of_a_flow_stay_in_order_at_any_times_of_arrival() {
        let mut buffer = Buffer::with(Limit::packets(9), Needs::QUEUES, Queues::PerFlow);
        for (frame, flow, arrived) in [(0, 1, 9), (1, 2, 3), (2, 1, 1), (3, 2, 3), (4, 1, 2), (5, 3, 4)] {
            buffer.push(Packet::new(frame, 100, flow.into(), Time::from_ns(arrived)));
        }
        assert_eq!(frames(&mut buffer), [1, 3, 5, 0, 2, 4]);
    }
}
