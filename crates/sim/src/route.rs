//! Ways through the network, cut into legs: what lies before a queued link, and that link.
//!
//! Time on links that nobody contends for is arithmetic, so a leg costs one event, at its queue.

use crate::event::{EventQueue, Lane};
use crate::plan::Hop;
use fairwire_core::Duration;

/// Some wires, then a queued link or the far end of the way.
#[derive(Clone, Debug)]
pub(crate) struct Leg {
    takes: [Duration; 2],
    /// Where it leads.
    pub(crate) to: Target,
    /// For arrivals there from the link before; those from a source have the lane of their flow.
    pub(crate) lane: Lane,
}

/// Where a leg leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The queue of this link.
    Queue(u32),
    /// The access link at the end of the way.
    End,
}

impl Leg {
    /// How long a packet takes on its wires; `is_data`: is it one with data, or only an acknowledgement?
    #[inline]
    pub(crate) fn takes(&self, is_data: bool) -> Duration {
        self.takes[usize::from(is_data)]
    }
}

/// Bytes on the wire of the packets that go some way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// With data.
    pub(crate) data: u32,
    /// Acknowledgements.
    pub(crate) ack: u32,
}

/// Adds the legs of a way to `legs`, one after the other, and tells the place of the first.
pub(crate) fn lay(hops: &[Hop], sizes: Sizes, legs: &mut Vec<Leg>, events: &mut EventQueue) -> u32 {
    let first = legs.len() as u32;
    let mut takes = [Duration::ZERO; 2];
    for hop in hops {
        match *hop {
            Hop::Wire { rate, delay } => {
                let both = [sizes.ack, sizes.data].map(|bytes| rate.time_to_send(bytes.into()) + delay);
                takes = [takes[0] + both[0], takes[1] + both[1]];
            }
            Hop::Link(link) => {
                let lane = if legs.len() as u32 == first { Lane::NONE } else { events.lane() };
                legs.push(Leg { takes: std::mem::take(&mut takes), to: Target::Queue(link), lane });
            }
        }
    }
    legs.push(Leg { takes, to: Target::End, lane: Lane::NONE });
    first
}
