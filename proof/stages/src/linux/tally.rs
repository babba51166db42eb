//! What a run of a contest gave: the same figures on either side.

use fairwire_testbed::path::FaultCounts;
use serde::{Deserialize, Serialize};

/// The counts of a run, between the end of the warm-up and the end of the run.
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
    /// How long each packet that left had waited, in order of departure, nanoseconds; without its
    /// own transmission.
    pub waits_ns: Vec<u64>,
    /// What each flow had at the bottleneck.
    #[serde(default)]
    pub flows: Vec<FlowTally>,
    /// The most packets that waited at once, of those that left.
    #[serde(default)]
    pub most_waiting: u64,
    /// How long each packet that left took on a wire with faults, in the order of leaving,
    /// nanoseconds; `None` for one that was lost there.
    #[serde(default)]
    pub crossed_ns: Vec<Option<u64>>,
    /// What faults did behind the bottleneck.
    #[serde(default)]
    pub faults: FaultCounts,
}

/// The counts of one flow at the bottleneck.
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
