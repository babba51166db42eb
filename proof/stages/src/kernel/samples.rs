//! Snapshots of the link at a fixed interval. The queue and the link's drops come from the kernel's
//! counters. The flows' counts come from observations at both ends of the link.
//!
//! A kernel discipline keeps the order within each flow. So a packet is known to be dropped when a
//! later packet of its flow leaves. The flows' drops therefore lag the link's drops by the queueing
//! time.

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

pub(super) struct Samples {
    rhythm: Rhythm,
    /// The connection that reads the state of the queue.
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
        let Some(before) = self.inside.iter().position(|one| *one == identification) else { return };
        self.inside.drain(..=before);
        let Count { left_bytes, dropped, marked } = &mut self.count;
        *dropped += before as u64;
        *left_bytes += bytes - u64::from(ETHERNET);
        *marked += u64::from(ecn == Ecn::Ce);
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
    fn drops_continue_across_a_reset_of_the_kernel_counter() {
        let mut drops = Drops::default();
        let all: Vec<u64> = [3, u32::MAX, 1].into_iter().map(|counter| drops.all(counter)).collect();
        assert_eq!(all, [3, u64::from(u32::MAX), u64::from(u32::MAX) + 2]);
    }
}
