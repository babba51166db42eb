//! Paths through the network, cut into legs. A leg is a queued link and the wires before it.
//!
//! The time on uncontended links is computed, so a leg costs one event, at its queue.

use crate::event::{Events, Lane};
use crate::plan::Hop;
use fairwire_core::{Duration, Rate};

#[derive(Clone, Debug)]
pub(crate) struct Leg {
    takes: [Duration; 2],
    /// The leg's wires one by one; empty unless packet sizes vary.
    wires: Box<[(Rate, Duration)]>,
    pub(crate) to: Target,
    /// The lane for arrivals from the previous link. Arrivals from a source use their flow's lane.
    pub(crate) lane: Lane,
    pub(crate) group: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Queue(u32),
    End,
}

impl Leg {
    #[inline]
    pub(crate) fn takes(&self, is_data: bool) -> Duration {
        self.takes[usize::from(is_data)]
    }

    #[inline(never)]
    pub(crate) fn takes_bytes(&self, bytes: u32) -> Duration {
        let takes = |(rate, delay): &(Rate, Duration)| rate.time_to_send(bytes.into()) + *delay;
        self.wires.iter().fold(Duration::ZERO, |sum, wire| sum + takes(wire))
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) data: u32,
    pub(crate) ack: u32,
    /// Do packets also have sizes other than `data` and `ack`?
    pub(crate) vary: bool,
}

/// Appends the path's legs. Returns the index of the first.
pub(crate) fn lay(
    hops: &[Hop],
    group: u32,
    sizes: Sizes,
    legs: &mut Vec<Leg>,
    events: &mut impl Events,
) -> u32 {
    let first = legs.len() as u32;
    let (mut takes, mut wires) = ([Duration::ZERO; 2], Vec::new());
    for hop in hops {
        match *hop {
            Hop::Wire { rate, delay } => {
                let both = [sizes.ack, sizes.data].map(|bytes| rate.time_to_send(bytes.into()) + delay);
                takes = [takes[0] + both[0], takes[1] + both[1]];
                if sizes.vary {
                    wires.push((rate, delay));
                }
            }
            Hop::Link(link) => {
                let lane = if legs.len() as u32 == first { Lane::NONE } else { events.lane_at_links() };
                let (takes, wires) = (std::mem::take(&mut takes), std::mem::take(&mut wires).into());
                legs.push(Leg { takes, wires, to: Target::Queue(link), lane, group });
            }
        }
    }
    legs.push(Leg { takes, wires: wires.into(), to: Target::End, lane: Lane::NONE, group });
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Settings, TieRule};
    use crate::queue::Sides;
    use crate::tuning::Tuning;
    use fairwire_core::Seed;

    #[test]
    fn precomputed_times_match_where_packet_sizes_vary() {
        let wire = |mbps: u64, ms| Hop::Wire {
            rate: Rate::from_bps(mbps * 1_000_000).expect("not zero"),
            delay: Duration::from_ms(ms),
        };
        let hops = [wire(10, 2), wire(7, 3), Hop::Link(0), wire(3, 5), Hop::Link(1)];
        let (tie_rule, seed) = (TieRule::Fifo, Seed(1));
        let settings = Settings { duration: Duration::from_ms(1), warm_up: Duration::ZERO, seed, tie_rule };
        let (mut legs, mut events) = (Vec::new(), Sides::new(&settings, &Tuning::default()));
        lay(&hops, 0, Sizes { data: 1500, ack: 40, vary: true }, &mut legs, &mut events);
        assert_eq!(legs.len(), 3);
        for leg in &legs {
            assert_eq!((leg.takes_bytes(1500), leg.takes_bytes(40)), (leg.takes(true), leg.takes(false)));
        }
        // The wires have 10 and 7 Mbit/s, and their delays sum to 5 ms.
        assert_eq!(legs[0].takes_bytes(1000), Duration::from_ns(5_000_000 + 800_000 + 1_142_857));
        assert_eq!(legs[2].takes_bytes(1000), Duration::ZERO);
    }
}
