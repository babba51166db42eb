//! FQ-CoDel's method of making room: drops packets from the head of the queue with the most bytes,
//! until half of these bytes or a maximum number of packets are gone (RFC 8290, section 4.1).
//!
//! The arrival counts as if it were in its queue already. Among queues with equal bytes, the one
//! with the lowest number loses.
//!
//! The RFC searches all queues. Here each node of a tree over the queues holds the maximum of the
//! four nodes below it. Arrivals raise the bytes in the tree, but departures do not lower them, and
//! so cost nothing. A maximum that proves too high is corrected, and the search is repeated, so the
//! result is exact.
//!
//! A correction takes O(log n) for n queues, amortised over the packets that raised the values; but
//! one overflow may correct all values.

use alloc::boxed::Box;
use alloc::vec;
use fairwire_core::{Buffer, Cause, Dropper, FlowHash, FlowKey, Key, Needs, Packet, Time, Verdict, Victim};

/// Makes room by drops from the fattest queue. The number of queues must be fixed. See the
/// [module](self).
#[derive(Debug)]
pub struct Fattest {
    batch: u32,
    open: Option<Batch>,
    bytes: Maxima,
}

#[derive(Clone, Copy, Debug)]
struct Batch {
    queue: FlowHash,
    /// Packets that may still be dropped.
    packets: u32,
    /// Bytes that should still be dropped.
    bytes: u64,
}

impl Fattest {
    pub(crate) fn new(queues: u32, batch: u32) -> Self {
        Fattest { batch: batch.max(1), open: None, bytes: Maxima::new(queues as usize) }
    }

    /// The fattest queue and its bytes, as if `packet` were already queued. `None` if that queue
    /// would hold only `packet`.
    fn fattest(&mut self, packet: &Packet, buffer: &Buffer) -> Option<(FlowHash, u64)> {
        let own = buffer.queue_of(packet);
        let (own_waiting, len) = (waiting(own, buffer), u64::from(packet.len));
        loop {
            let (place, most) = self.bytes.greatest();
            let queue = FlowHash(place as u64);
            let found = waiting(queue, buffer);
            if found != most {
                self.bytes.set(place, found); // packets have gone since
                continue;
            }
            let is_own = own_waiting + len > most || (own_waiting + len == most && own.0 < queue.0);
            return match is_own || own == queue {
                true => (own_waiting > 0).then_some((own, own_waiting + len)),
                false => Some((queue, most)),
            };
        }
    }

    /// The next packet of the open batch; closes the batch if there is no such packet.
    fn next(&mut self, buffer: &Buffer) -> Option<Key> {
        let batch = self.open.as_mut()?;
        let head = buffer.find(batch.queue).map(|flow| buffer.flow_head(flow));
        match head {
            Some(head) if batch.packets > 0 && batch.bytes > 0 => {
                batch.packets -= 1;
                batch.bytes = batch.bytes.saturating_sub(u64::from(buffer.packet(head).len));
                Some(head)
            }
            _ => {
                self.open = None;
                None
            }
        }
    }
}

#[inline]
fn waiting(queue: FlowHash, buffer: &Buffer) -> u64 {
    buffer.find(queue).map_or(0, |flow| buffer.flow_backlog(flow).bytes)
}

impl Dropper for Fattest {
    fn needs(&self) -> Needs {
        Needs::QUEUES
    }

    fn victim(&mut self, packet: &Packet, buffer: &Buffer, _: Time) -> Victim {
        if let Some(key) = self.next(buffer) {
            return Victim::Waiting(key);
        }
        let Some((queue, bytes)) = self.fattest(packet, buffer) else { return Victim::Arrival };
        self.open = Some(Batch { queue, packets: self.batch, bytes: (bytes / 2).max(1) });
        self.next(buffer).map_or(Victim::Arrival, Victim::Waiting)
    }

    fn another(&mut self, _: &Packet, buffer: &Buffer, _: Time) -> Option<(Key, Verdict)> {
        self.next(buffer).map(|key| (key, Verdict::Drop(Cause::PushOut)))
    }

    #[inline]
    fn tracked(&mut self, _: &Packet, flow: FlowKey, inside: bool, buffer: &Buffer) {
        if inside {
            self.bytes.raise(buffer.flow_hash(flow).0 as usize, buffer.flow_backlog(flow).bytes);
        }
    }

    fn retune(&mut self, fresh: &Self, _: Time) -> bool {
        self.batch = fresh.batch;
        true
    }
}

/// A tree of numbers that knows the place of the greatest.
///
/// All numbers are at the same depth. The first levels above a raised number are updated without a
/// branch. There the branch is unpredictable, and a misprediction costs more than an update.
#[derive(Debug)]
pub(super) struct Maxima {
    /// Node 0 is the root. The children of node i are the nodes 4 i + 1 to 4 i + 4. The lowest
    /// level holds the numbers.
    nodes: Box<[u64]>,
    /// The first node of the lowest level.
    lowest: usize,
    depth: u32,
}

const CHILDREN: usize = 4;

/// The number of levels updated without a branch. A node of the next level holds the greatest of 64
/// numbers.
const UNTESTED: u32 = 2;

impl Maxima {
    pub(super) fn new(numbers: usize) -> Self {
        let (mut level, mut lowest, mut depth) = (1, 0, 0);
        while level < numbers {
            (lowest, level, depth) = (lowest + level, CHILDREN * level, depth + 1);
        }
        Maxima { nodes: vec![0; lowest + level].into(), lowest, depth }
    }

    #[inline]
    pub(super) fn raise(&mut self, place: usize, number: u64) {
        let mut at = self.lowest + place;
        self.nodes[at] = number.max(self.nodes[at]);
        for level in 1..=self.depth {
            at = (at - 1) / CHILDREN;
            let most = self.nodes[at];
            if level > UNTESTED && most >= number {
                return; // and so are all above
            }
            self.nodes[at] = number.max(most);
        }
    }

    pub(super) fn set(&mut self, place: usize, number: u64) {
        let mut at = self.lowest + place;
        self.nodes[at] = number;
        for _ in 0..self.depth {
            at = (at - 1) / CHILDREN;
            let [a, b, c, d] = self.children(at);
            self.nodes[at] = a.max(b).max(c.max(d));
        }
    }

    /// The first place that holds the greatest number, and that number.
    pub(super) fn greatest(&self) -> (usize, u64) {
        let (mut at, most) = (0, self.nodes[0]);
        for _ in 0..self.depth {
            let [a, b, c, _] = self.children(at);
            let past_a = a != most;
            let past_b = past_a & (b != most);
            let past_c = past_b & (c != most);
            at = CHILDREN * at + 1 + usize::from(past_a) + usize::from(past_b) + usize::from(past_c);
        }
        (at - self.lowest, most)
    }

    #[inline]
    fn children(&self, at: usize) -> [u64; CHILDREN] {
        let first = CHILDREN * at + 1;
        self.nodes[first..first + CHILDREN].try_into().expect("four are four")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Seed;

    #[test]
    fn the_greatest_agrees_with_a_scan_and_ties_go_to_the_first() {
        for numbers in [1, 2, 3, 4, 5, 16, 100] {
            let mut rng = Seed(numbers).stream("maxima");
            let mut maxima = Maxima::new(numbers as usize);
            let mut scanned = vec![0; numbers as usize];
            for _ in 0..5000 {
                let place = rng.below(numbers as u32) as usize;
                let number = u64::from(rng.below(20));
                if rng.chance(0.5) {
                    scanned[place] = number;
                    maxima.set(place, number);
                } else {
                    scanned[place] = number.max(scanned[place]);
                    maxima.raise(place, number);
                }
                let most = *scanned.iter().max().expect("at least one");
                let first = scanned.iter().position(|&number| number == most).expect("it is there");
                assert_eq!(maxima.greatest(), (first, most));
            }
        }
    }
}
