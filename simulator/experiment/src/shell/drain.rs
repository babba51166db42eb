//! What is on its way when the command has ended.
//!
//! The kernel goes on with the connections of processes that have ended, as long as there is a
//! network. So the links are there until all has arrived that the command has sent.

use fairwire_core::{Duration, Time};
use fairwire_testbed::enclosure::{Beyond, Network};
use std::fmt;

/// What has not arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    /// Bytes that the command's TCP has to send, or that are not acknowledged.
    bytes: u64,
    /// Packets on the link away from the command.
    packets: u64,
    /// Connections of which the relay has not passed on all.
    relayed: usize,
}

/// How long nothing may come through before the rest is given up.
const PATIENCE: Duration = Duration::from_ms(10_000);

impl Left {
    pub(super) const NOTHING: Left = Left { bytes: 0, packets: 0, relayed: 0 };

    /// With this many packets on the link.
    pub(super) fn of(network: &Network, beyond: &Beyond, packets: u64) -> Self {
        let relayed = match beyond {
            Beyond::Relay(relay) => relay.sending(),
            Beyond::Machine { .. } => 0,
        };
        Left { bytes: network.unacknowledged(), packets, relayed }
    }
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Left { bytes, packets, relayed } = self;
        write!(
            f,
            "the command has ended, and not all that it sent has arrived: {bytes} B not acknowledged, \
             {packets} packets on the link, {relayed} connections of the relay, which are reset"
        )
    }
}

/// What was left at the last look.
#[derive(Default)]
pub(super) struct Progress {
    before: Option<Left>,
    /// The fewest bytes so far, and since when.
    least: Option<(u64, Time)>,
}

impl Progress {
    /// Is there nothing to wait for? That nothing is left is taken for true when it is seen twice:
    /// a connection may be between the kernel and the relay.
    pub(super) fn is_over(&mut self, left: Left, now: Time) -> bool {
        let is_empty = left == Left::NOTHING && self.before == Some(left);
        self.before = Some(left);
        if self.least.is_none_or(|(least, _)| left.bytes < least) {
            self.least = Some((left.bytes, now));
        }
        is_empty || self.least.is_some_and(|(_, since)| now.since(since) >= PATIENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn it_is_over_when_nothing_is_left_twice_and_when_nothing_comes_through_for_ten_seconds() {
        let some = |bytes| Left { bytes, ..Left::NOTHING };
        let mut progress = Progress::default();
        assert!(!progress.is_over(Left::NOTHING, at(0)));
        assert!(progress.is_over(Left::NOTHING, at(20)));
        // As long as bytes are acknowledged it goes on, however long that takes.
        let mut progress = Progress::default();
        for step in 0..100 {
            assert!(!progress.is_over(some(1000 - step), at(9_999 * step)), "{step}");
        }
        let last = 9_999 * 99;
        assert!(!progress.is_over(some(901), at(last + 9_999)));
        assert!(progress.is_over(some(901), at(last + 10_000)));
    }
}
