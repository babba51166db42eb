//! Snapshots of the link at a fixed interval. The queue and the link's drops come from the kernel's
//! counters. The flows' counts come from observations at both ends of the link.
//!
//! A kernel discipline keeps the order within each flow. So a packet counts as dropped when a later
//! packet of its flow leaves. The flows' drops therefore lag the link's drops by the queueing time.
//!
//! Two processors may deliver two packets to the watching socket and to the queue in different
//! orders. So a packet may leave after it was counted as dropped. The mistake cancels the flow's
//! next drop.

use crate::linux::ETHERNET;
use crate::linux::watched::Passing;
use fairwire_core::{Backlog, Duration, Ecn, Time};
use fairwire_experiment::contest::ContestError;
use fairwire_experiment::series::{Count, Rhythm, Snapshot};
use fairwire_linux::netlink::Netlink;
use fairwire_linux::port::PortError;
use fairwire_linux::traffic_control::{QueueCounts, counted};
use fairwire_testbed::bed::Side;
use fairwire_testbed::shaping::QUEUE;
use std::collections::VecDeque;

/// The number of a flow's latest drops that late departures can still cancel.
const REMEMBERED: usize = 64;

pub(super) struct Samples {
    rhythm: Rhythm,
    netlink: Netlink,
    drops: Drops,
    /// The flows, in the order of results.
    flows: Vec<Flow>,
    pub(super) taken: Vec<Snapshot>,
}

#[derive(Clone, Debug, Default)]
struct Flow {
    count: Count,
    /// Packets that have arrived but not left, by IPv4 identification.
    inside: VecDeque<u16>,
    /// The latest packets counted as dropped, at most [`REMEMBERED`].
    dropped: VecDeque<u16>,
    /// Drops counted wrongly and not yet cancelled.
    surplus: u64,
}

impl Samples {
    pub(super) fn new(every: Duration, until: Duration, netlink: Netlink, flows: usize) -> Self {
        Samples {
            rhythm: Rhythm::new(Some(every), until),
            netlink,
            drops: Drops::default(),
            flows: vec![Flow::default(); flows],
            taken: Vec::new(),
        }
    }

    pub(super) fn due(&self, start: Time) -> Time {
        self.rhythm.due(start)
    }

    pub(super) fn came(&mut self, flow: usize, packet: Passing) {
        self.flows[flow].inside.push_back(packet.identification);
    }

    pub(super) fn left(&mut self, flow: usize, packet: Passing) {
        self.flows[flow].left(packet);
    }

    pub(super) fn take(&mut self, start: Time, now: Time) -> Result<(), ContestError> {
        let Some(at) = self.rhythm.take(start, now) else { return Ok(()) };
        let queue = counted(&self.netlink, Side::Right.end().index, QUEUE).map_err(|source| {
            let (operation, name) = ("reading the backlog", Side::Right.name().to_owned());
            PortError::System { operation, source, name }
        })?;
        let flows: Vec<Count> = self.flows.iter().map(|flow| flow.count).collect();
        let all = flows.iter().copied().fold(Count::default(), Count::plus);
        let link = Count { dropped: self.drops.all(queue.dropped), ..all };
        let QueueCounts { packets, bytes, .. } = queue;
        self.taken.push(Snapshot { at, backlog: Backlog { packets, bytes: bytes.into() }, link, flows });
        Ok(())
    }
}

impl Flow {
    fn left(&mut self, Passing { identification, ecn, bytes, .. }: Passing) {
        let is_this = |one: &u16| *one == identification;
        if let Some(before) = self.inside.iter().position(is_this) {
            let counted = before as u64;
            self.dropped.extend(self.inside.drain(..=before).take(before));
            self.dropped.drain(..self.dropped.len().saturating_sub(REMEMBERED));
            let cancelled = counted.min(self.surplus);
            self.surplus -= cancelled;
            self.count.dropped += counted - cancelled;
        } else if let Some(place) = self.dropped.iter().position(is_this) {
            self.dropped.remove(place);
            self.surplus += 1;
        } else {
            return; // it arrived before the watch started
        }
        self.count.left_bytes += bytes - u64::from(ETHERNET);
        self.count.marked += u64::from(ecn == Ecn::Ce);
    }
}

/// Total drops, from a 32-bit counter that wraps.
#[derive(Debug, Default)]
struct Drops {
    all: u64,
    counter: u32,
}

impl Drops {
    fn all(&mut self, counter: u32) -> u64 {
        self.all += u64::from(counter.wrapping_sub(self.counter));
        self.counter = counter;
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(identification: u16, ecn: Ecn) -> Passing {
        Passing { port: 1, identification, ecn, bytes: 114 }
    }

    #[test]
    fn packets_overtaken_by_a_departure_were_dropped() {
        let mut flow = Flow { inside: (1..=5).collect(), ..Flow::default() };
        flow.left(packet(1, Ecn::NotEct));
        flow.left(packet(4, Ecn::Ce));
        flow.left(packet(77, Ecn::NotEct)); // it arrived before the watch started
        assert_eq!(flow.count, Count { left_bytes: 200, dropped: 2, marked: 1 });
        assert_eq!(flow.inside, [5]);
    }

    #[test]
    fn a_late_departure_cancels_the_flows_next_drop() {
        let mut flow = Flow { inside: (1..=6).collect(), ..Flow::default() };
        let mut left = |identification| {
            flow.left(packet(identification, Ecn::NotEct));
            flow.count.dropped
        };
        // Packet 2 was observed before packet 3, but queued after it. Packet 5 was dropped.
        assert_eq!([1, 3, 2, 4, 6].map(&mut left), [0, 1, 1, 1, 1]);
        assert_eq!(flow.count.left_bytes, 500);
    }

    #[test]
    fn the_memory_of_drops_is_bounded() {
        let mut flow = Flow { inside: (0..1000).collect(), ..Flow::default() };
        flow.left(packet(999, Ecn::NotEct));
        assert_eq!((flow.count.dropped, flow.dropped.len()), (999, REMEMBERED));
    }

    #[test]
    fn drops_continue_across_a_reset_of_the_kernel_counter() {
        let mut drops = Drops::default();
        let all: Vec<u64> = [3, u32::MAX, 1].into_iter().map(|counter| drops.all(counter)).collect();
        assert_eq!(all, [3, u64::from(u32::MAX), u64::from(u32::MAX) + 2]);
    }
}
