//! The results of a contest's run, in the guest and on the host.

use fairwire_testbed::path::FaultCounts;
use serde::{Deserialize, Serialize};

/// The counts between the end of the warm-up and the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// In-order payload delivered to each receiver, bytes.
    pub delivered_bytes: Vec<u64>,
    /// Packets that arrived at the bottleneck.
    pub arrived: u64,
    /// Packets that arrived, but were dropped.
    pub dropped: u64,
    /// Packets that left with a mark.
    pub marked: u64,
    /// The wait of each packet that left, in order of departure, nanoseconds. It excludes the
    /// packet's transmission time.
    pub waits_ns: Vec<u64>,
    /// The counts of each flow at the bottleneck.
    #[serde(default)]
    pub flows: Vec<FlowTally>,
    /// The longest queue in packets, not counting dropped packets.
    #[serde(default)]
    pub most_waiting: u64,
    /// The delay of each packet on a wire with faults, in order of departure, nanoseconds; `None`
    /// if the packet was lost.
    #[serde(default)]
    pub crossed_ns: Vec<Option<u64>>,
    /// The counts of the faults behind the bottleneck.
    #[serde(default)]
    pub faults: FaultCounts,
}

/// The counts of one flow at the bottleneck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowTally {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that arrived, but were dropped.
    pub dropped: u64,
    /// Packets that left with a mark.
    pub marked: u64,
    /// Bytes of the frames that left, including the Ethernet header.
    pub left_bytes: u64,
    /// Packets that left.
    pub left: u64,
}
