//! RS.lost: the losses since a segment was sent, for a sample of the delivery rate.

use std::collections::VecDeque;

/// The count of lost segments as a function of the delivered count, over the last round trip.
#[derive(Debug, Default)]
pub(super) struct Losses {
    /// All lost segments so far, wrapping.
    lost: u32,
    /// Each increase of `lost`, oldest first: the delivered count at that time, and `lost` before
    /// the increase.
    rises: VecDeque<(u32, u32)>,
}

/// The maximum number of increases kept. If a round trip has more, its first losses are not
/// counted.
const KEPT: usize = 64;

impl Losses {
    pub(super) fn take(&mut self, lost: u32, delivered: u32) {
        if lost == 0 {
            return;
        }
        if self.rises.len() == KEPT {
            self.rises.pop_front();
        }
        self.rises.push_back((delivered, self.lost));
        self.lost = self.lost.wrapping_add(lost);
    }

    /// Returns the number of losses since the delivered count was `delivered_before`. From call to
    /// call, `delivered_before` must not decrease.
    pub(super) fn since(&mut self, delivered_before: u32) -> u32 {
        let is_before = |&(at, _): &(u32, u32)| delivered_before.wrapping_sub(at).cast_signed() >= 0;
        while self.rises.front().is_some_and(is_before) {
            self.rises.pop_front();
        }
        self.rises.front().map_or(0, |&(_, before)| self.lost.wrapping_sub(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_since_a_segment_was_sent_are_counted() {
        let mut losses = Losses::default();
        for (lost, delivered) in [(0, 5), (2, 10), (3, 20), (1, 30)] {
            losses.take(lost, delivered);
        }
        let counts = [9, 10, 15, 20, 29, 30, 31].map(|before| losses.since(before));
        assert_eq!(counts, [6, 4, 4, 1, 1, 0, 0]);
    }

    #[test]
    fn memory_is_bounded_for_any_number_of_losses() {
        let mut losses = Losses::default();
        for delivered in 0..10_000 {
            losses.take(1, delivered);
        }
        assert_eq!(losses.rises.len(), KEPT);
        assert_eq!(losses.since(0), KEPT as u32);
    }
}
