//! Makes room from the fattest host, and within it from one of its fattest queues.
//!
//! When the buffer is full, a queue of the host with the most bytes loses its oldest packet. This
//! queue is more than half as long as the host's longest queue. The arrival counts as if it were
//! already in its host. Among hosts with equal bytes, the arrival's host loses, or else the first
//! in the tree.
//!
//! [The tree](super::fattest) of FQ-CoDel finds the fattest host exactly. The queues of a host are
//! in bins by length, as in [LQD with bins](super::lqd_binned): O(1).
//!
//! A queue belongs to the host of its latest packet, as [`HostOf`] and the matching
//! [scheduler](crate::scheduler::hosts) define it.

use crate::dropper::fattest::Maxima;
use crate::scheduler::hosts::HostOf;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use fairwire_core::{
    Buffer, Dropper, FlowHash, FlowIndex, FlowKey, Needs, Packet, Probe, Time, Unit, Victim,
};

const NONE: u32 = u32::MAX;

/// The number of bins per host. The last bin also holds queues of 2^24 bytes or more.
const BINS: usize = 24;

#[derive(Clone, Copy, Debug)]
struct Link {
    host: u32,
    before: u32,
    after: u32,
    bin: u8,
}

#[derive(Clone, Copy, Debug)]
struct Host {
    name: u32,
    /// Its backlogged queues.
    queues: u32,
    bytes: u64,
    /// The first queue of each bin.
    bins: [u32; BINS],
    /// A bit for each bin in use.
    used: u32,
}

/// The dropper of the [module](self). The number of queues must be fixed.
#[derive(Debug)]
pub(crate) struct FattestHost {
    host_of: HostOf,
    links: Box<[Link]>,
    hosts: Box<[Host]>,
    index: FlowIndex,
    free: Vec<u32>,
    bytes: Maxima,
}

impl FattestHost {
    pub(crate) fn new(queues: u32, host_of: HostOf) -> Self {
        let count = queues as usize;
        FattestHost {
            host_of,
            links: vec![Link { host: NONE, before: NONE, after: NONE, bin: 0 }; count].into(),
            hosts: vec![Host { name: 0, queues: 0, bytes: 0, bins: [NONE; BINS], used: 0 }; count].into(),
            index: FlowIndex::new(count),
            free: (0..queues).rev().collect(),
            bytes: Maxima::new(count),
        }
    }

    fn find(&self, name: u32) -> Option<u32> {
        self.index.find(hashed(name), |at| self.hosts[at].name == name).map(|at| at as u32)
    }

    fn place_of(&mut self, name: u32) -> u32 {
        if let Some(at) = self.find(name) {
            return at;
        }
        let at = self.free.pop().expect("no more hosts are backlogged than queues");
        self.hosts[at as usize] = Host { name, queues: 0, bytes: 0, bins: [NONE; BINS], used: 0 };
        self.index.insert(hashed(name), at as usize);
        at
    }

    fn link(&mut self, queue: u32, host: u32, bytes: u64) {
        let bin = (bytes.max(1).ilog2() as usize).min(BINS - 1);
        let of = &mut self.hosts[host as usize];
        let after = core::mem::replace(&mut of.bins[bin], queue);
        of.used |= 1 << bin;
        if after != NONE {
            self.links[after as usize].before = queue;
        }
        self.links[queue as usize] = Link { host, before: NONE, after, bin: bin as u8 };
    }

    fn unlink(&mut self, queue: u32) {
        let Link { host, before, after, bin } = self.links[queue as usize];
        if after != NONE {
            self.links[after as usize].before = before;
        }
        if before != NONE {
            self.links[before as usize].after = after;
            return;
        }
        let of = &mut self.hosts[host as usize];
        of.bins[usize::from(bin)] = after;
        if after == NONE {
            of.used &= !(1 << bin);
        }
    }

    /// Removes `bytes`, the entire backlog of `queue`, from its host.
    fn leave(&mut self, queue: u32, bytes: u64) {
        self.unlink(queue);
        let at = core::mem::replace(&mut self.links[queue as usize].host, NONE);
        let host = &mut self.hosts[at as usize];
        host.queues -= 1;
        host.bytes -= bytes;
        if host.queues == 0 {
            let name = host.name;
            self.index.remove(hashed(name), at as usize, |at| hashed(self.hosts[at].name));
            self.free.push(at);
        }
    }

    /// The bytes of `host`, or 0 if its place is free.
    fn held(&self, host: usize) -> u64 {
        self.hosts[host].bytes
    }

    /// The host with the most bytes, `packet` included. `None` if nothing of that host waits.
    fn fattest(&mut self, packet: &Packet) -> Option<u32> {
        let own = self.find(self.host_of.name(packet));
        let with_own = own.map_or(0, |own| self.held(own as usize)) + u64::from(packet.len);
        loop {
            let (place, most) = self.bytes.greatest();
            let held = self.held(place);
            if held != most {
                self.bytes.set(place, held); // packets have gone since
            } else if with_own >= most {
                return own;
            } else {
                return Some(place as u32);
            }
        }
    }
}

fn hashed(name: u32) -> FlowHash {
    FlowHash(name.into())
}

impl Dropper for FattestHost {
    fn needs(&self) -> Needs {
        Needs::QUEUES
    }

    fn victim(&mut self, packet: &Packet, buffer: &Buffer, _: Time) -> Victim {
        let Some(host) = self.fattest(packet) else { return Victim::Arrival };
        let Host { bins, used, .. } = &self.hosts[host as usize];
        let Some(bin) = used.checked_ilog2() else { return Victim::Arrival };
        let queue = FlowHash(bins[bin as usize].into());
        buffer.find(queue).map_or(Victim::Arrival, |flow| Victim::Waiting(buffer.flow_head(flow)))
    }

    fn tracked(&mut self, packet: &Packet, flow: FlowKey, inside: bool, buffer: &Buffer) {
        let queue = buffer.flow_hash(flow).0 as u32;
        let (backlog, len) = (buffer.flow_backlog(flow), u64::from(packet.len));
        if !inside {
            if backlog.is_empty() {
                return self.leave(queue, len);
            }
            let host = self.links[queue as usize].host;
            self.unlink(queue);
            self.hosts[host as usize].bytes -= len;
            return self.link(queue, host, backlog.bytes);
        }
        let had = self.links[queue as usize].host;
        if had != NONE && self.hosts[had as usize].name == self.host_of.name(packet) {
            self.unlink(queue);
            self.hosts[had as usize].bytes += len;
            self.link(queue, had, backlog.bytes);
        } else {
            if had != NONE {
                self.leave(queue, backlog.bytes - len);
            }
            let host = self.place_of(self.host_of.name(packet));
            self.hosts[host as usize].queues += 1;
            self.hosts[host as usize].bytes += backlog.bytes;
            self.link(queue, host, backlog.bytes);
        }
        let host = self.links[queue as usize].host as usize;
        self.bytes.raise(host, self.hosts[host].bytes);
    }

    fn retune(&mut self, _: &Self, _: Time) -> bool {
        true
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let taken = self.hosts.len() - self.free.len();
        probe.gauge("backlogged_hosts", Unit::One, taken as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::hosts::{HostTerms, Hosts};
    use crate::scheduler::quantum::Quantum;
    use fairwire_core::{Cause, Discipline, Limit, Queue, Queues, Seed, Signals};
    use std::collections::BTreeMap;

    type Full = Queue<Hosts, FattestHost>;

    fn full(packets: u32) -> Full {
        let (scheduler, dropper) =
            (Hosts::new(64, Quantum::fixed(1500), HostTerms::default()), FattestHost::new(64, HostOf::Class));
        Queue::with_queues(Limit::packets(packets), Queues::least_recently_used(64), scheduler, dropper)
    }

    fn packet(class: u32, flow: u64, len: u32) -> Packet {
        Packet { class, ..Packet::new(0, len, flow.into(), Time::ZERO) }
    }

    #[derive(Default)]
    struct Gone(Vec<(u32, u64)>);

    impl Signals for Gone {
        fn dropped(&mut self, packet: Packet, _: Cause) {
            self.0.push((packet.class, packet.flow.0));
        }
        fn marked(&mut self, _: &Packet, _: Cause) {}
    }

    #[test]
    fn the_host_with_most_bytes_makes_room_even_if_its_flows_are_short() {
        let (mut queue, mut gone) = (full(40), Gone::default());
        (0..10).for_each(|_| queue.enqueue(packet(1, 900, 1000), Time::ZERO, &mut gone));
        (0..30).for_each(|flow| queue.enqueue(packet(2, flow % 15, 1000), Time::ZERO, &mut gone));
        assert!(gone.0.is_empty());
        (0..10).for_each(|_| queue.enqueue(packet(1, 900, 1000), Time::ZERO, &mut gone));
        assert_eq!(gone.0.len(), 10);
        assert!(gone.0.iter().all(|(class, _)| *class == 2), "{:?}", gone.0);
    }

    #[test]
    fn within_a_host_the_flow_that_floods_makes_room() {
        let (mut queue, mut gone) = (full(40), Gone::default());
        (0..8).for_each(|flow| queue.enqueue(packet(2, flow, 1000), Time::ZERO, &mut gone));
        (0..100).for_each(|_| queue.enqueue(packet(2, 99, 1000), Time::ZERO, &mut gone));
        assert_eq!(gone.0.len(), 68);
        assert!(gone.0.iter().all(|(_, flow)| *flow == 99), "{:?}", gone.0);
    }

    #[test]
    fn bytes_per_host_agree_with_a_plain_count_over_random_operations() {
        let mut rng = Seed(11).stream("fattest host");
        let (mut queue, mut gone) = (full(50), Gone::default());
        for _ in 0..100_000 {
            if rng.chance(0.6) {
                // Flows change hosts now and then.
                let flow = u64::from(rng.below(40));
                let class = if rng.chance(0.05) { 0 } else { flow as u32 % 7 };
                queue.enqueue(packet(class, flow, 64 + rng.below(1400)), Time::ZERO, &mut gone);
            } else {
                queue.dequeue(Time::ZERO, &mut gone);
            }
            let dropper = queue.dropper();
            let mut plain = BTreeMap::new();
            for flow in queue.buffer().flows() {
                let link = dropper.links[queue.buffer().flow_hash(flow).0 as usize];
                *plain.entry(link.host).or_insert(0) += queue.buffer().flow_backlog(flow).bytes;
            }
            for (host, bytes) in &plain {
                assert_eq!(dropper.hosts[*host as usize].bytes, *bytes);
            }
            assert_eq!(dropper.hosts.len() - dropper.free.len(), plain.len());
        }
        assert!(gone.0.len() > 10_000, "it was full");
    }
}
