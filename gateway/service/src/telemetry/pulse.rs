//! The data that readers take from the board many times a second.

use super::tick::{Tick, WayTick};
use fairwire_core::{FlowHash, Time};
use fairwire_datapath::Datapath;
use fairwire_datapath::account::FlowCount;
use fairwire_wire::Way;

/// The most classes and flows picked at once. Copying them costs the datapath thread about a
/// microsecond.
pub(crate) const MAX_PICKED: usize = 32;

/// A class or a flow whose counters are copied at each interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pick {
    /// The direction.
    pub way: Way,
    /// The picked class or flow.
    pub what: Picked,
}

/// A class or a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Picked {
    /// A leaf of the tree of classes, by its number.
    Class(u32),
    /// An individually counted flow.
    Flow(FlowHash),
}

impl Pick {
    pub(super) fn count(self, datapath: &Datapath) -> FlowCount {
        let direction = match self.way {
            Way::Download => &datapath.forward,
            Way::Upload => &datapath.backward,
        };
        match self.what {
            Picked::Class(class) => {
                direction.classes().all().get(class as usize).copied().unwrap_or_default()
            }
            Picked::Flow(flow) => direction.accounts().of(flow),
        }
    }
}

/// The counters at one interval.
#[derive(Clone, Debug)]
pub struct Pulse {
    /// When.
    pub at: Time,
    /// The counters of each direction. The index is the number of the [`Way`].
    pub ways: [WayPulse; 2],
    /// Each pick with its counters since the start.
    pub picked: Vec<(Pick, FlowCount)>,
}

/// The counters of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct WayPulse {
    /// Bytes that arrived since the start.
    pub bytes_in: u64,
    /// Bytes sent since the start.
    pub bytes_out: u64,
    /// Packets dropped by the discipline since the start.
    pub dropped: u64,
    /// Packets marked since the start.
    pub marked: u64,
    /// Waiting packets.
    pub backlog_packets: u32,
    /// Waiting bytes.
    pub backlog_bytes: u64,
    /// The median, the 95th and the 99th percentile of the last second's waits, seconds.
    pub waits_s: [f64; 3],
}

impl Pulse {
    pub(super) fn of(tick: &Tick) -> Self {
        Pulse {
            at: tick.now,
            ways: [0, 1].map(|way: usize| WayPulse::of(&tick.ways[way])),
            picked: tick.picked.clone(),
        }
    }
}

impl WayPulse {
    fn of(tick: &WayTick) -> Self {
        let (totals, sojourn) = (&tick.totals, &tick.sojourn);
        WayPulse {
            bytes_in: totals.bytes_in,
            bytes_out: totals.bytes_out,
            dropped: totals.dropped.iter().sum(),
            marked: totals.marked.iter().sum(),
            backlog_packets: tick.backlog.packets,
            backlog_bytes: tick.backlog.bytes,
            waits_s: [sojourn.p50_s, sojourn.p95_s, sojourn.p99_s],
        }
    }
}
