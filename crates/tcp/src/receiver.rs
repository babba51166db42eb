//! The receiving end: cumulative acknowledgements of whole segments, one per segment that arrives.

use crate::sender::Segment;
use std::collections::VecDeque;

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Everything below this has arrived: the next segment expected.
    pub next: u64,
    /// Does it answer a SYN rather than data? Such an answer is never a duplicate of an acknowledgement of data.
    pub is_for_syn: bool,
}

/// What has arrived of one connection.
#[derive(Debug, Default)]
pub struct Receiver {
    next: u64,
    ahead: VecDeque<bool>, // ahead[i]: has segment `next + 1 + i` arrived?
}

impl Receiver {
    /// A receiver that has nothing.
    pub fn new() -> Self {
        Receiver::default()
    }

    /// Takes in a segment and acknowledges it at once.
    pub fn on_segment(&mut self, segment: Segment) -> Ack {
        if let Segment::Data(seq) = segment {
            self.take(seq);
        }
        Ack { next: self.next, is_for_syn: segment == Segment::Syn }
    }

    /// Segments that have arrived in order, each counted once.
    pub fn delivered(&self) -> u64 {
        self.next
    }

    fn take(&mut self, seq: u64) {
        if seq == self.next {
            self.next += 1;
            while let Some(here) = self.ahead.pop_front() {
                if !here {
                    break;
                }
                self.next += 1;
            }
        } else if seq > self.next {
            let at = (seq - self.next - 1) as usize;
            if at >= self.ahead.len() {
                self.ahead.resize(at + 1, false);
            }
            self.ahead[at] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Seed;

    fn acks(receiver: &mut Receiver, segments: &[u64]) -> Vec<u64> {
        segments.iter().map(|&seq| receiver.on_segment(Segment::Data(seq)).next).collect()
    }

    #[test]
    fn a_hole_holds_the_acknowledgement_until_it_is_filled() {
        let mut receiver = Receiver::new();
        assert_eq!(acks(&mut receiver, &[0, 2, 3, 5, 1, 4]), [1, 1, 1, 1, 4, 6]);
    }

    #[test]
    fn a_duplicate_changes_nothing() {
        let mut receiver = Receiver::new();
        assert_eq!(acks(&mut receiver, &[0, 0, 2, 2, 1, 1, 2]), [1, 1, 1, 1, 3, 3, 3]);
    }

    #[test]
    fn any_order_delivers_everything_once() {
        let mut rng = Seed(1).stream("receiver");
        for _ in 0..200 {
            let mut order: Vec<u64> = (0..20).collect();
            for i in (1..order.len()).rev() {
                order.swap(i, rng.below(i as u32 + 1) as usize);
            }
            let mut receiver = Receiver::new();
            for (arrived, &seq) in order.iter().enumerate() {
                receiver.on_segment(Segment::Data(seq));
                let here = &order[..=arrived];
                let expected = (0..20).find(|seq| !here.contains(seq)).unwrap_or(20);
                assert_eq!(receiver.delivered(), expected);
            }
        }
    }
}
