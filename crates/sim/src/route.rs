//! Ways through the network, cut into legs: what lies before a queued link, and that link.
//!
//! Time on links that nobody contends for is arithmetic, so a leg costs one event, at its queue.

use crate::event::{EventQueue, Lane};
use crate::plan::Hop;
use fairwire_core::{Duration, Rate};

/// Some wires, then a queued link or the far end of the way.
#[derive(Clone, Debug)]
pub(crate) struct Leg {
    delay: Duration,
    rates: Box<[Rate]>,
    /// Where it leads.
    pub(crate) to: Target,
    /// For arrivals there.
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
    /// How long `bytes` take on its wires.
    #[inline]
    pub(crate) fn takes(&self, bytes: u32) -> Duration {
        self.rates.iter().fold(self.delay, |sum, rate| sum + rate.time_to_send(bytes.into()))
    }
}

/// Adds the legs of a way to `legs`, one after the other, and tells the place of the first.
pub(crate) fn lay(hops: &[Hop], legs: &mut Vec<Leg>, events: &mut EventQueue) -> u32 {
    let first = legs.len() as u32;
    let (mut delay, mut rates) = (Duration::ZERO, Vec::new());
    for hop in hops {
        match *hop {
            Hop::Wire { rate, delay: more } => {
                delay = delay + more;
                rates.push(rate);
            }
            Hop::Link(link) => {
                let (delay, rates) = (std::mem::take(&mut delay), std::mem::take(&mut rates).into());
                legs.push(Leg { delay, rates, to: Target::Queue(link), lane: events.lane() });
            }
        }
    }
    legs.push(Leg { delay, rates: rates.into(), to: Target::End, lane: events.lane() });
    first
}
