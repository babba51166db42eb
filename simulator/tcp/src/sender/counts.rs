//! Counts of losses, by how the sender found them. The counts do not affect sending.

use super::{Phase, Reaction, Sender};
use std::ops::Add;

/// Counts of losses, by how the sender found them.
///
/// Losses are counted by episodes. An episode begins when a loss is detected, and ends when
/// everything sent by then is acknowledged. A repair after duplicates and the timeout that ends the
/// repair are one episode. So are a timeout and the further timeouts during its back-off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossCounts {
    /// Expiries of the retransmission timer. Those for a SYN are included, but belong to no
    /// episode.
    pub timeouts: u32,
    /// Episodes that began with duplicates, or with SACK blocks, and had no timeout.
    pub repaired: u32,
    /// Episodes with at least one timeout.
    pub timed_out: u32,
}

impl LossCounts {
    /// All episodes.
    pub fn episodes(self) -> u64 {
        u64::from(self.repaired) + u64::from(self.timed_out)
    }
}

impl Add for LossCounts {
    type Output = LossCounts;

    fn add(self, other: LossCounts) -> LossCounts {
        LossCounts {
            timeouts: self.timeouts + other.timeouts,
            repaired: self.repaired + other.repaired,
            timed_out: self.timed_out + other.timed_out,
        }
    }
}

impl Sender {
    /// The counts of losses since the sender's creation or since
    /// [`forget_loss_counts`](Sender::forget_loss_counts).
    pub fn loss_counts(&self) -> LossCounts {
        self.counts
    }

    /// Returns this sender with the `counts` of the connection that it replaces.
    pub fn counting_from(self, counts: LossCounts) -> Self {
        Sender { counts, ..self }
    }

    /// Resets the counts. An episode in progress is then counted only if its first timeout is still
    /// to come.
    pub fn forget_loss_counts(&mut self) {
        self.counts = LossCounts::default();
    }

    /// Counts the beginning of a repair after duplicates or SACK blocks. An episode counts once,
    /// unless a mark is echoed during the episode.
    pub(super) fn count_repair(&mut self) {
        self.counts.repaired += 1;
    }

    /// Counts a timeout. Call this before the timeout changes the sender's state.
    pub(super) fn count_timeout(&mut self) {
        self.counts.timeouts += 1;
        if matches!(self.phase, Phase::SynSent { .. }) {
            return;
        }
        let is_under_way = self.unacked < self.recover;
        if is_under_way && self.reaction == Reaction::Timeout {
            return;
        }
        if is_under_way && self.reaction == Reaction::Duplicates {
            // The episode now counts as timed out. A reset of the counts may have removed its
            // repair.
            self.counts.repaired = self.counts.repaired.saturating_sub(1);
        }
        self.counts.timed_out += 1;
    }
}
