//! What a run of a contest gave: the same figures on either side.

use serde::{Deserialize, Serialize};

/// What a run gave, counted between the end of the warm-up and the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Payload that reached each receiver in order and once, bytes.
    pub delivered_bytes: Vec<u64>,
    /// Packets that came to the bottleneck.
    pub arrived: u64,
    /// Those of them that were dropped.
    pub dropped: u64,
    /// Packets that left with a mark.
    pub marked: u64,
    /// How long each packet that left had waited, in order of departure, nanoseconds; without its own transmission.
    pub waits_ns: Vec<u64>,
    /// What each flow had at the bottleneck.
    #[serde(default)]
    pub flows: Vec<FlowTally>,
    /// The most packets that waited at once, of those that left.
    #[serde(default)]
    pub most_waiting: u64,
}

/// What one flow had at the bottleneck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowTally {
    /// Packets that came.
    pub arrived: u64,
    /// Those of them that were dropped.
    pub dropped: u64,
    /// Packets that left with a mark.
    pub marked: u64,
    /// Bytes of frames that left, from the Ethernet header on.
    pub left_bytes: u64,
    /// Packets that left.
    pub left: u64,
}

impl Tally {
    /// The mean wait, milliseconds.
    pub fn mean_wait_ms(&self) -> f64 {
        let sum: u64 = self.waits_ns.iter().sum();
        sum as f64 / self.waits_ns.len() as f64 / 1e6
    }

    /// The wait that 95 % of packets did not exceed, milliseconds; not a number where none left.
    pub fn long_wait_ms(&self) -> f64 {
        let mut waits = self.waits_ns.clone();
        waits.sort_unstable();
        waits.get(waits.len() * 95 / 100).map_or(f64::NAN, |&wait| wait as f64 / 1e6)
    }

    /// What the flows numbered `flows` got of all that was delivered, percent.
    pub fn share(&self, flows: std::ops::Range<usize>) -> f64 {
        let all: u64 = self.delivered_bytes.iter().sum();
        let part: u64 = self.delivered_bytes[flows].iter().sum();
        100.0 * part as f64 / all as f64
    }

    /// `count` in percent of the packets that came.
    pub fn percent(&self, count: u64) -> f64 {
        100.0 * count as f64 / self.arrived as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_waits_are_told_in_percent_and_milliseconds() {
        let tally = Tally {
            delivered_bytes: vec![100, 200, 100],
            arrived: 50,
            dropped: 1,
            marked: 2,
            waits_ns: (1..=100).rev().map(|ms| ms * 1_000_000).collect(),
            ..Tally::default()
        };
        assert_eq!((tally.share(0..1), tally.share(1..3)), (25.0, 75.0));
        assert_eq!((tally.mean_wait_ms(), tally.long_wait_ms()), (50.5, 96.0));
        assert_eq!((tally.percent(tally.dropped), tally.percent(tally.marked)), (2.0, 4.0));
    }

    #[test]
    fn a_run_in_which_nothing_left_has_no_waits() {
        let tally = Tally::default();
        assert!(tally.mean_wait_ms().is_nan() && tally.long_wait_ms().is_nan());
    }
}
