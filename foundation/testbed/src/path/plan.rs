//! The plan of a path and the counts of its frames, as data that one process hands to another.

use super::faults::Faults;
use crate::side::Side;
use fairwire_core::Duration;
use serde::{Deserialize, Serialize};

/// The delays and faults of a path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Path {
    /// For packets from the source.
    pub to_sink: Lane,
    /// For packets from the sink.
    pub to_source: Lane,
    /// The seed of the draws that decide the fate of a packet.
    pub seed: u64,
    /// Where it belongs to a run: faults begin with that, so that connections are made before.
    /// Where it is `None` they begin at once, and all are counted.
    pub run: Option<Run>,
}

/// The run that a path belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// When counting begins, nanoseconds after the run does.
    pub from_ns: u64,
    /// It ends then.
    pub until_ns: u64,
}

/// One direction of a path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    /// How long the packets of each flow take, nanoseconds, by the flow's
    /// [number](crate::traffic::port_of).
    pub flows_ns: Vec<u64>,
    /// How long everything else takes, nanoseconds.
    pub others_ns: u64,
    /// The wire's faults for IP packets. Packets by which hosts find each other meet no fault.
    pub faults: Faults,
    /// The name of its random streams; empty for that of the direction.
    pub name: String,
}

impl Path {
    /// Round-trip times, one for each flow, spent entirely on the path back to the source: data
    /// pass at once.
    pub fn round_trips(flows: impl IntoIterator<Item = Duration>) -> Self {
        let flows_ns = flows.into_iter().map(Duration::ns).collect();
        Path { to_source: Lane { flows_ns, ..Lane::default() }, ..Path::default() }
    }

    /// This one-way delay for everything, in both directions.
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

/// Counts of the frames of a path, both directions together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// Frames that came out.
    pub passed: u64,
    /// The faults while it was [counted](Run).
    pub faults: FaultCounts,
    /// Frames that were lost because too many bytes were under way.
    pub overflowed: u64,
    /// Frames lost for other reasons: not fetched in time, refused by the interface, or without a
    /// valid header.
    pub failed: u64,
    /// Processor time, nanoseconds.
    pub processor_ns: u64,
    /// How long it was ready without a processor, nanoseconds.
    pub waited_ns: u64,
}

/// Counts of a wire's faults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultCounts {
    /// Packets lost.
    pub lost: u64,
    /// Losses of each flow.
    pub lost_of: Vec<u64>,
    /// Packets held back, so that others could overtake them.
    pub held_back: u64,
    /// Packets that came out twice.
    pub duplicated: u64,
}

impl FaultCounts {
    /// The sum of both directions.
    pub(super) fn plus(mut self, other: &FaultCounts) -> Self {
        self.lost_of.resize(self.lost_of.len().max(other.lost_of.len()), 0);
        self.lost_of.iter_mut().zip(&other.lost_of).for_each(|(own, other)| *own += other);
        self.lost += other.lost;
        self.held_back += other.held_back;
        self.duplicated += other.duplicated;
        self
    }
}
