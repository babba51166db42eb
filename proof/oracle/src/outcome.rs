//! The fate of each packet of a trace.

use crate::trace::Arrival;
use fairwire_core::Ecn;
use serde::{Deserialize, Serialize};

/// The fate of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PacketOutcome {
    /// It never left.
    #[serde(rename = "d")]
    Dropped,
    /// The packet left unmarked. The time is the start of transmission, in nanoseconds since the
    /// start of the trace.
    #[serde(rename = "s")]
    Sent(u64),
    /// The packet left with a mark that it did not have on arrival.
    #[serde(rename = "m")]
    Marked(u64),
}

impl PacketOutcome {
    /// The fate of a packet that arrived with codepoint `came`, and left at `at_ns` with codepoint
    /// `left`.
    pub fn of(came: Ecn, left: Ecn, at_ns: u64) -> PacketOutcome {
        if left == Ecn::Ce && came != Ecn::Ce {
            PacketOutcome::Marked(at_ns)
        } else {
            PacketOutcome::Sent(at_ns)
        }
    }

    /// The start of the packet's transmission; `None` if it was dropped.
    pub fn left_ns(self) -> Option<u64> {
        match self {
            PacketOutcome::Dropped => None,
            PacketOutcome::Sent(at) | PacketOutcome::Marked(at) => Some(at),
        }
    }

    /// Are both packets sent, both marked or both dropped? Their times may differ.
    pub fn is_decided_as(self, other: PacketOutcome) -> bool {
        core::mem::discriminant(&self) == core::mem::discriminant(&other)
    }
}

/// One run of one discipline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The arrival time of each packet, in nanoseconds since the start of the trace.
    pub came_ns: Vec<u64>,
    /// The fate of each packet.
    pub fates: Vec<PacketOutcome>,
}

impl Outcome {
    /// Packets dropped.
    pub fn dropped(&self) -> usize {
        self.fates.iter().filter(|fate| **fate == PacketOutcome::Dropped).count()
    }

    /// Packets marked.
    pub fn marked(&self) -> usize {
        self.fates.iter().filter(|fate| matches!(fate, PacketOutcome::Marked(_))).count()
    }

    /// The waits of the packets that left, in milliseconds.
    pub fn waits_ms(&self) -> Vec<f64> {
        let pairs = self.fates.iter().zip(&self.came_ns);
        pairs.filter_map(|(fate, came)| Some((fate.left_ns()? - came) as f64 / 1e6)).collect()
    }

    /// The fraction of the departed bytes that belong to `flow`, or to any flow if `None`.
    pub fn share(&self, arrivals: &[Arrival], flow: Option<usize>) -> f64 {
        let sent = |wanted: Option<usize>| -> u64 {
            let pairs = self.fates.iter().zip(arrivals);
            pairs
                .filter(|(fate, arrival)| {
                    **fate != PacketOutcome::Dropped && wanted.is_none_or(|flow| flow == arrival.flow)
                })
                .map(|(_, arrival)| u64::from(arrival.bytes))
                .sum()
        };
        sent(flow) as f64 / sent(None).max(1) as f64
    }
}
