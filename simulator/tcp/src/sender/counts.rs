//! How often a sender found losses, and how it found them. Nothing that is sent depends on this.

use super::{Phase, Reaction, Sender};
use std::ops::Add;

/// Counts of losses, by how the sender found them.
///
/// Losses are counted by episodes: an episode begins when a loss is found, and ends when all is
/// acknowledged that had been sent by then. A repair by duplicates and the timeout that it runs
/// into are one episode; so are a timeout and those that follow while it backs off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossCounts {
    /// How often the retransmission timer ran out, for a SYN too, which is in no episode.
    pub timeouts: u32,
    /// Episodes that began with duplicates, or with blocks of SACK, and had no timeout.
    pub repaired: u32,
    /// Episodes with a timeout at least.
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
    /// How it found its losses, since it was made or since
    /// [`forget_loss_counts`](Sender::forget_loss_counts).
    pub fn loss_counts(&self) -> LossCounts {
        self.counts
    }

    /// The same sender, which adds to `counts`: those of the connection before, in its place.
    pub fn counting_from(self, counts: LossCounts) -> Self {
        Sender { counts, ..self }
    }

    /// Counts from zero. An episode under way counts from its next timeout on, if that is its
    /// first.
    pub fn forget_loss_counts(&mut self) {
        self.counts = LossCounts::default();
    }

    /// Duplicates, or blocks of SACK, have found a loss, and a repair begins. Within an episode
    /// they begin none, unless a mark was echoed in it.
    pub(super) fn count_repair(&mut self) {
        self.counts.repaired += 1;
    }

    /// The retransmission timer has run out, and nothing is changed for it yet.
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
            // The repair became a timeout. If the counts were forgotten since, it is not in them.
            self.counts.repaired = self.counts.repaired.saturating_sub(1);
        }
        self.counts.timed_out += 1;
    }
}
