//! Data in transit when the command has ended.
//!
//! The kernel continues the connections of ended processes while the network exists. The links
//! therefore stay until all of the data has arrived, nothing progresses for [`PATIENCE`], or a
//! signal arrives.

use fairwire_core::{Duration, Time};
use fairwire_testbed::enclosure::{Beyond, Network};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    /// Bytes of the command's TCP connections that are not sent or not acknowledged yet.
    bytes: u64,
    /// Packets on the link from the command to the outside.
    packets: u64,
    /// Connections with data that the relay has not passed on.
    relayed: usize,
}

/// The time without progress after which the remaining data is given up.
const PATIENCE: Duration = Duration::from_ms(10_000);

impl Left {
    pub(super) const NOTHING: Left = Left { bytes: 0, packets: 0, relayed: 0 };

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

#[derive(Default)]
pub(super) struct Progress {
    before: Option<Left>,
    /// The smallest number of remaining bytes so far, and when it was first observed.
    least: Option<(u64, Time)>,
}

impl Progress {
    /// True after two successive checks without data, or after [`PATIENCE`] without progress. One
    /// check is not enough, because data may be between the kernel and the relay.
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
    fn draining_ends_when_empty_twice_or_after_ten_seconds_without_progress() {
        let some = |bytes| Left { bytes, ..Left::NOTHING };
        let mut progress = Progress::default();
        assert!(!progress.is_over(Left::NOTHING, at(0)));
        assert!(progress.is_over(Left::NOTHING, at(20)));
        let mut progress = Progress::default();
        for step in 0..100 {
            assert!(!progress.is_over(some(1000 - step), at(9_999 * step)), "{step}");
        }
        let last = 9_999 * 99;
        assert!(!progress.is_over(some(901), at(last + 9_999)));
        assert!(progress.is_over(some(901), at(last + 10_000)));
    }
}
