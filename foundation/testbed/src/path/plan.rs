//! A path's description and frame counts, as data for other processes.

use super::faults::Faults;
use crate::side::Side;
use fairwire_core::Duration;
use serde::{Deserialize, Serialize};

/// The delays and faults of a path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Path {
    /// The direction towards the sink.
    pub to_sink: Lane,
    /// The direction towards the source.
    pub to_source: Lane,
    /// The seed of the random fates of packets.
    pub seed: u64,
    /// The part of the run in which faults are counted. Faults begin at the run's start. If `None`,
    /// faults begin immediately, and all count.
    pub run: Option<Run>,
}

/// The part of a run in which faults are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The start of counting, nanoseconds after the run's start.
    pub from_ns: u64,
    /// When counting ends.
    pub until_ns: u64,
}

/// One direction of a path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    /// The delay of each flow's packets, nanoseconds, by the flow's
    /// [number](crate::traffic::port_of).
    pub flows_ns: Vec<u64>,
    /// The delay of all other packets, nanoseconds.
    pub others_ns: u64,
    /// Faults of IP packets. Address resolution has none.
    pub faults: Faults,
    /// The name of the wire's random streams. If empty, `path/to-sink` or `path/to-source`.
    pub name: String,
}

impl Path {
    /// A path with these round-trip times, one per flow. Only packets to the source are delayed, by
    /// the entire round-trip time.
    pub fn round_trips(flows: impl IntoIterator<Item = Duration>) -> Self {
        let flows_ns = flows.into_iter().map(Duration::ns).collect();
        Path { to_source: Lane { flows_ns, ..Lane::default() }, ..Path::default() }
    }

    /// A path that delays all packets by `delay`, in both directions.
    pub fn one_way(delay: Duration) -> Self {
        let lane = Lane { others_ns: delay.ns(), ..Lane::default() };
        Path { to_sink: lane.clone(), to_source: lane, ..Path::default() }
    }

    /// The direction that ends at `side`.
    pub fn to(&self, side: Side) -> &Lane {
        match side {
            Side::Left => &self.to_source,
            Side::Right => &self.to_sink,
        }
    }
}

/// The counts of a path's frames, over both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// Frames that left the path.
    pub passed: u64,
    /// The faults in the counted part of the [run](Run).
    pub faults: FaultCounts,
    /// Frames lost because too many bytes were in transit.
    pub overflowed: u64,
    /// Frames lost for other reasons: fetched too late, refused by the interface, or without a
    /// valid header.
    pub failed: u64,
    /// CPU time, nanoseconds.
    pub processor_ns: u64,
    /// The time the path's thread waited for a processor, nanoseconds.
    pub waited_ns: u64,
}

/// Counts of a wire's faults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultCounts {
    /// Packets lost.
    pub lost: u64,
    /// Losses per flow.
    pub lost_of: Vec<u64>,
    /// Packets held back for others to overtake.
    pub held_back: u64,
    /// Duplicated packets.
    pub duplicated: u64,
}

impl FaultCounts {
    pub(super) fn plus(mut self, other: &FaultCounts) -> Self {
        self.lost_of.resize(self.lost_of.len().max(other.lost_of.len()), 0);
        self.lost_of.iter_mut().zip(&other.lost_of).for_each(|(own, other)| *own += other);
        self.lost += other.lost;
        self.held_back += other.held_back;
        self.duplicated += other.duplicated;
        self
    }
}
