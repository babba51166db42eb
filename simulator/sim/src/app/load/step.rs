//! The reasons to invoke a load, and the steps that a load returns.

use fairwire_core::Time;
use fairwire_metrics::Lasted;

/// The reason why a load is invoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The load starts, or the time of its latest [`Step::WakeAt`] has come.
    Due,
    /// This connection has delivered all its data, and the sender knows it.
    Finished(u16),
}

/// One action of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Abandon the connection `place`, if it is open, and open another with `segments` to send.
    Open {
        /// The number of the connection, from 0.
        place: u16,
        /// Segments, at least 1; or [`ENDLESS`].
        segments: u64,
        /// The start of the transfer, if it is timed. The transfer ends when these segments have
        /// arrived.
        timed_from: Option<Time>,
    },
    /// Send this number of additional segments over a connection.
    Write {
        /// The number of the connection, from 0.
        place: u16,
        /// Segments, at least 1.
        segments: u64,
        /// The start of the transfer, if it is timed. The transfer ends when these and all earlier
        /// segments of the connection have arrived.
        timed_from: Option<Time>,
    },
    /// Invoke the load again at this time. Voids any previous `WakeAt`.
    WakeAt(Time),
    /// A page that began at this time is complete.
    PageSince(Time),
    /// A timed event of another type has ended, now or earlier.
    Lasted(Lasted),
}

/// The type of a load's demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// The load offers data regardless of the rate that it gets.
    Offered,
    /// The load requests data, and requests more only when the data has arrived.
    Requested,
    /// The load takes any rate that it gets.
    Endless,
}

/// More data than a connection can send.
pub const ENDLESS: u64 = u64::MAX;

/// Converts bytes to full segments, at least one. The simulator's TCP sends only full segments.
#[derive(Clone, Copy, Debug)]
pub struct Segments {
    pub(super) payload_bytes: u32,
}

impl Segments {
    /// The number of segments that `bytes` take.
    pub fn of(self, bytes: f64) -> u64 {
        ((bytes + 0.5) as u64).div_ceil(u64::from(self.payload_bytes).max(1)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_take_whole_segments_and_at_least_one() {
        let segments = Segments { payload_bytes: 1000 };
        assert_eq!([0.0, 1.0, 1000.0, 1001.0, 5000.0].map(|bytes| segments.of(bytes)), [1, 1, 1, 2, 5]);
    }
}
