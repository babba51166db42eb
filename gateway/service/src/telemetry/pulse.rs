//! What is read of the board many times a second: counters of both ways, and of what was picked.

use super::tick::{Tick, WayTick};
use fairwire_core::{FlowHash, Time};
use fairwire_datapath::Datapath;
use fairwire_datapath::account::FlowCount;
use fairwire_wire::Way;

/// Classes and flows that may be picked at once: to copy them costs the thread that forwards about
/// a microsecond.
pub(crate) const MAX_PICKED: usize = 32;

/// A class or a flow whose counters are taken at each interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pick {
    /// The way.
    pub way: Way,
    /// Which.
    pub what: Picked,
}

/// What is picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Picked {
    /// A leaf among the classes, by its number.
    Class(u32),
    /// A flow that is counted by itself.
    Flow(FlowHash),
}

impl Pick {
    /// What it got since the start.
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
    /// By the number of the [`Way`].
    pub ways: [WayPulse; 2],
    /// What was picked, and what it got since the start.
    pub picked: Vec<(Pick, FlowCount)>,
}

/// The counters of one way.
#[derive(Clone, Copy, Debug, Default)]
pub struct WayPulse {
    /// Bytes that came in since the start.
    pub bytes_in: u64,
    /// Bytes sent on since the start.
    pub bytes_out: u64,
    /// Packets dropped since the start, by the discipline.
    pub dropped: u64,
    /// Packets marked since the start.
    pub marked: u64,
    /// Packets that wait.
    pub backlog_packets: u32,
    /// Bytes that wait.
    pub backlog_bytes: u64,
    /// The median, the 95th and the 99th percentile of the waits of the last second, seconds.
    pub waits_s: [f64; 3],
}

impl Pulse {
    /// Of an observation.
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
