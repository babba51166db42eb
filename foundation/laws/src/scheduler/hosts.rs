//! Equal shares for hosts, then for the flows of each host: DRR++ over hosts, and DRR++ over the
//! flows within each host.
//!
//! # What it does
//! [`HostOf`] reads a packet's host: its class or the upper half of its flow hash. Hosts take turns
//! by [DRR++](crate::scheduler::drr_plus_plus). A host that becomes backlogged is served first,
//! with one quantum of credit. A host without credit gets a quantum and moves to the end of the old
//! hosts. During a host's turn, its flows take turns by the same rule. Both levels charge every
//! packet. So a host gets no more turns by dividing its packets between flows. A flow that sends
//! little never waits for bulky flows.
//!
//! # Why
//! CAKE divides a flow's quantum by the number of its host's bulky flows. Only flows whose queues
//! do not drain count as bulky. Many TCP flows with small windows empty their queues, return as new
//! and are served first, so their host gets too much.
//!
//! # State and cost
//! 52 bytes per queue and 88 bytes per host, for as many hosts as queues. O(1) amortised per packet
//! if the quantum is not below the longest packet: each inspection of an empty queue or host
//! removes it from its list. With a smaller quantum, rounds in which nothing could be sent are
//! credited at once.
//!
//! # Source (section, equation)
//! M. Shreedhar and G. Varghese, "Efficient Fair Queuing Using Deficit Round-Robin", IEEE/ACM ToN
//! 4(3), 1996; RFC 8290, sections 3 and 4, for each level.
//!
//! # Where we differ
//! - A queue follows the host and the codepoint of its latest packet.
//! - A flow marked as background may have a fraction of a quantum, as in the lowest tin of CAKE.
//! - After an entire round without backlog, all flows of a host count as new again.
//! - An empty flow that returns within a round is also served first, with its remaining credit. It
//!   gets a new quantum only once a round has passed since its last quantum. So no flow has more
//!   than a quantum in a round. In RFC 8290, a flow that pauses after a turn gets a second quantum
//!   at once.

use crate::scheduler::quantum::Quantum;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::any::Any;
use fairwire_core::{
    Buffer, Chosen, FlowHash, FlowIndex, FlowKey, Key, Needs, Packet, Probe, Scheduler, Time, Unit,
};
use fairwire_parameters::word;

/// The default number of queues. Most home links' buffers hold fewer packets, so no queue is
/// reassigned while packets wait in it.
pub const QUEUES: u32 = 8192;

/// The field of a packet that names its host.
#[word(gated)]
pub enum HostOf {
    /// Its class.
    #[default]
    Class,
    /// The upper half of the packet's flow hash.
    Flow,
}

impl HostOf {
    #[inline]
    pub(crate) fn name(self, packet: &Packet) -> u32 {
        match self {
            HostOf::Class => packet.class,
            HostOf::Flow => packet.flow.host(),
        }
    }
}

/// The scheduler's terms for hosts and flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostTerms {
    /// The field of a packet that names its host.
    pub host_of: HostOf,
    /// A background flow gets 1 / `background` of the share of another flow of its host.
    pub background: u8,
}

impl Default for HostTerms {
    fn default() -> Self {
        HostTerms { host_of: HostOf::Class, background: 1 }
    }
}

/// Is `dscp` LE (RFC 8622), or its predecessor CS1?
fn is_background(dscp: u8) -> bool {
    matches!(dscp, 1 | 8)
}

/// Credit per byte.
const BYTE: i64 = 1 << 16;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Idle,
    New,
    /// On the old list, waiting for its turn.
    Old,
    /// On the old list, empty, with credit left. When its next packet arrives, it is served first
    /// again.
    Paused,
}

/// A host among all hosts, or a queue among the queues of its host.
#[derive(Clone, Copy, Debug)]
struct Member {
    credit: i64,
    next: u32,
    previous: u32,
    packets: u32,
    status: Status,
    parts: u8,
    /// The value of `Round::moves` at the member's latest move to the end of the old list.
    moved: u64,
    /// The value of `Round::moves` when the member last ended a turn or got a quantum as a new
    /// member.
    credited: u64,
}

impl Member {
    const IDLE: Member = Member {
        credit: 0,
        next: NONE,
        previous: NONE,
        packets: 0,
        status: Status::Idle,
        parts: 1,
        moved: 0,
        credited: 0,
    };

    /// The member's credit per round, if an undivided quantum is `bytes`.
    #[inline]
    fn quantum(&self, bytes: i64) -> i64 {
        bytes * BYTE / i64::from(self.parts)
    }
}

#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

impl List {
    const EMPTY: List = List { first: NONE, last: NONE };

    fn push(&mut self, at: u32, members: &mut [Member]) {
        let previous = core::mem::replace(&mut self.last, at);
        match previous {
            NONE => self.first = at,
            last => members[last as usize].next = at,
        }
        let member = &mut members[at as usize];
        (member.previous, member.next) = (previous, NONE);
    }

    fn unlink(&mut self, at: u32, members: &mut [Member]) {
        let Member { next, previous, .. } = members[at as usize];
        match previous {
            NONE => self.first = next,
            before => members[before as usize].next = next,
        }
        match next {
            NONE => self.last = previous,
            after => members[after as usize].previous = previous,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Round {
    new: List,
    old: List,
    count: u32,
    /// The total number of moves to the end of the old list.
    moves: u64,
}

impl Round {
    const EMPTY: Round = Round { new: List::EMPTY, old: List::EMPTY, count: 0, moves: 0 };

    /// Puts a member on the new list. An idle member gets a quantum. A paused member keeps its
    /// remaining credit, or gets a quantum once a round has passed.
    fn arrived(&mut self, at: u32, members: &mut [Member], quantum: &Quantum) {
        let has_a_quantum = match members[at as usize].status {
            Status::New | Status::Old => return,
            Status::Idle => {
                self.count += 1;
                true
            }
            Status::Paused => {
                let has_gone_round = self.has_gone_round(members[at as usize].credited, members);
                self.old.unlink(at, members);
                has_gone_round
            }
        };
        let member = &mut members[at as usize];
        if has_a_quantum {
            member.credit = member.quantum(quantum.of(self.count));
            member.credited = self.moves;
        }
        member.status = Status::New;
        self.new.push(at, members);
    }

    /// True if every member that was on the old list after `moves` moves has since had a turn.
    fn has_gone_round(&self, moves: u64, members: &[Member]) -> bool {
        self.old.first == NONE || members[self.old.first as usize].moved > moves
    }

    fn leave(&mut self, at: u32, members: &mut [Member]) {
        match members[at as usize].status {
            Status::Idle => return,
            Status::New => self.new.unlink(at, members),
            Status::Old | Status::Paused => self.old.unlink(at, members),
        }
        members[at as usize].status = Status::Idle;
        self.count -= 1;
    }

    fn move_to_end(&mut self, at: u32, status: Status, members: &mut [Member]) {
        match members[at as usize].status {
            Status::Idle => return,
            Status::New => self.new.unlink(at, members),
            Status::Old | Status::Paused => self.old.unlink(at, members),
        }
        self.moves += 1;
        (members[at as usize].status, members[at as usize].moved) = (status, self.moves);
        self.old.push(at, members);
    }

    /// Lets an empty member with credit wait a round before it counts as idle. Otherwise a pause
    /// would bring a new quantum (RFC 8290, section 4.2).
    fn pause(&mut self, at: u32, members: &mut [Member]) {
        if members[at as usize].status == Status::Old {
            members[at as usize].credited = self.moves;
        }
        self.move_to_end(at, Status::Paused, members);
    }

    /// The member that has the turn, if any. Paused members found empty are removed and passed to
    /// `gone`.
    fn next(&mut self, members: &mut [Member], quantum: &Quantum, mut gone: impl FnMut(u32)) -> Option<u32> {
        let mut vain = 0;
        loop {
            let at = if self.new.first != NONE { self.new.first } else { self.old.first };
            if at == NONE {
                return None;
            }
            let Member { credit, packets, status, .. } = members[at as usize];
            if packets == 0 && status == Status::Paused {
                self.leave(at, members);
                gone(at);
                vain = 0;
            } else if credit <= 0 {
                let member = &mut members[at as usize];
                member.credit += member.quantum(quantum.of(self.count));
                self.move_to_end(at, Status::Old, members);
                vain += 1;
                if vain > self.count {
                    self.credit_vain_rounds(members, quantum);
                    vain = 0;
                }
            } else if packets == 0 {
                self.pause(at, members);
            } else {
                return Some(at);
            }
        }
    }

    /// After a round in which no member could send, adds the credit of all further such rounds at
    /// once.
    #[cold]
    fn credit_vain_rounds(&self, members: &mut [Member], quantum: &Quantum) {
        let quantum = quantum.of(self.count);
        let (mut rounds, mut at) = (i64::MAX, self.old.first);
        while at != NONE {
            let member = &members[at as usize];
            rounds = rounds.min(-member.credit / member.quantum(quantum));
            at = member.next;
        }
        let mut at = self.old.first;
        while at != NONE && rounds > 0 {
            let member = &mut members[at as usize];
            member.credit += rounds * member.quantum(quantum);
            at = member.next;
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Host {
    name: u32,
    flows: Round,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    /// The index of the queue's host, while the queue takes turns or holds packets.
    host: u32,
    flow: Option<FlowKey>,
}

/// The scheduler. The buffer must count its backlog by queue. See the [module](self).
#[derive(Debug)]
pub struct Hosts {
    terms: HostTerms,
    quantum: Quantum,
    queues: Box<[Queue]>,
    flows: Box<[Member]>,
    hosts: Box<[Host]>,
    turns: Box<[Member]>,
    index: FlowIndex,
    free: Vec<u32>,
    round: Round,
    served: u32,
}

impl Hosts {
    /// A scheduler with the same quantum for each queue and host.
    pub fn new(queues: u32, quantum: Quantum, terms: HostTerms) -> Self {
        let count = queues as usize;
        Hosts {
            terms,
            quantum,
            queues: vec![Queue { host: NONE, flow: None }; count].into(),
            flows: vec![Member::IDLE; count].into(),
            hosts: vec![Host { name: 0, flows: Round::EMPTY }; count].into(),
            turns: vec![Member::IDLE; count].into(),
            index: FlowIndex::new(count),
            free: (0..queues).rev().collect(),
            round: Round::EMPTY,
            served: NONE,
        }
    }

    fn place_of(&mut self, name: u32) -> u32 {
        let hosts = &self.hosts;
        if let Some(at) = self.index.find(hashed(name), |at| hosts[at].name == name) {
            return at as u32;
        }
        let at = self.free.pop().expect("no more hosts are in turn than queues");
        self.hosts[at as usize] = Host { name, flows: Round::EMPTY };
        self.turns[at as usize] = Member::IDLE;
        self.index.insert(hashed(name), at as usize);
        at
    }

    fn follow(&mut self, queue: u32, name: u32) {
        let had = self.queues[queue as usize].host;
        if had != NONE {
            if self.hosts[had as usize].name == name {
                return;
            }
            self.hosts[had as usize].flows.leave(queue, &mut self.flows);
            let packets = self.flows[queue as usize].packets;
            self.turns[had as usize].packets -= packets;
            self.queues[queue as usize].host = NONE;
            self.forget_if_gone(had);
        }
        let host = self.place_of(name);
        self.queues[queue as usize].host = host;
        let packets = self.flows[queue as usize].packets;
        self.turns[host as usize].packets += packets;
    }

    fn forget_if_gone(&mut self, host: u32) {
        if self.hosts[host as usize].flows.count == 0 {
            self.round.leave(host, &mut self.turns);
            forget(host, &self.hosts, &mut self.index, &mut self.free);
        }
    }
}

fn forget(host: u32, hosts: &[Host], index: &mut FlowIndex, free: &mut Vec<u32>) {
    let name = hosts[host as usize].name;
    index.remove(hashed(name), host as usize, |at| hashed(hosts[at].name));
    free.push(host);
}

fn hashed(name: u32) -> FlowHash {
    FlowHash(name.into())
}

impl Scheduler for Hosts {
    fn needs(&self) -> Needs {
        Needs::QUEUES
    }

    fn inserted(&mut self, key: Key, flow: FlowKey, buffer: &Buffer) {
        let queue = buffer.flow_hash(flow).0 as u32;
        let packet = buffer.packet(key);
        self.follow(queue, self.terms.host_of.name(packet));
        self.flows[queue as usize].parts = if is_background(packet.dscp) { self.terms.background } else { 1 };
        let host = self.queues[queue as usize].host;
        self.queues[queue as usize].flow = Some(flow);
        self.flows[queue as usize].packets += 1;
        self.turns[host as usize].packets += 1;
        self.hosts[host as usize].flows.arrived(queue, &mut self.flows, &self.quantum);
        self.round.arrived(host, &mut self.turns, &self.quantum);
    }

    fn evicting(&mut self, _: Key, flow: FlowKey, buffer: &Buffer) {
        let queue = buffer.flow_hash(flow).0 as usize;
        self.flows[queue].packets -= 1;
        self.turns[self.queues[queue].host as usize].packets -= 1;
    }

    fn choose(&mut self, buffer: &Buffer) -> Option<Chosen> {
        let Hosts { quantum, queues, flows, hosts, turns, index, free, round, .. } = self;
        let host = round.next(turns, quantum, |host| {
            // The host had no backlog for a round, so its flows are new when they return.
            let of_host = &mut hosts[host as usize].flows;
            while let Some(queue) = [of_host.new.first, of_host.old.first].into_iter().find(|&at| at != NONE)
            {
                of_host.leave(queue, flows);
                queues[queue as usize].host = NONE;
            }
            forget(host, hosts, index, free);
        })?;
        let queue =
            hosts[host as usize].flows.next(flows, quantum, |queue| queues[queue as usize].host = NONE)?;
        let key = buffer.flow_head(queues[queue as usize].flow.expect("its packets wait"));
        flows[queue as usize].packets -= 1;
        turns[host as usize].packets -= 1;
        self.served = queue;
        Some(key.into())
    }

    fn charge(&mut self, packet: &Packet, _: FlowKey, _: &Buffer) {
        let cost = i64::from(packet.len) * BYTE;
        let host = self.queues[self.served as usize].host;
        self.flows[self.served as usize].credit -= cost;
        self.turns[host as usize].credit -= cost;
    }

    fn retune(&mut self, fresh: &dyn Scheduler, _: Time) -> bool {
        let Some(fresh) = (fresh as &dyn Any).downcast_ref::<Self>() else { return false };
        let takes = self.queues.len() == fresh.queues.len() && self.terms == fresh.terms;
        if takes {
            self.quantum = fresh.quantum;
        }
        takes
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("busy_hosts", Unit::One, f64::from(self.round.count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dropper::tail_drop::TailDrop;
    use fairwire_core::{Discipline, Ignore, Limit, Queues, Seed, Time};

    type Served = fairwire_core::Queue<Hosts, TailDrop>;

    fn queue(queues: u32) -> Served {
        let scheduler = Hosts::new(queues, Quantum::fixed(1500), HostTerms::default());
        let queues = Queues::least_recently_used(queues);
        fairwire_core::Queue::with_queues(Limit::packets(4000), queues, scheduler, TailDrop)
    }

    fn offer(queue: &mut Served, host: u32, flow: u64, len: u32) {
        let packet = Packet { class: host, ..Packet::new(0, len, flow.into(), Time::ZERO) };
        queue.enqueue(packet, Time::ZERO, &mut Ignore);
    }

    fn next(queue: &mut Served) -> Option<(u32, u64, u32)> {
        queue.dequeue(Time::ZERO, &mut Ignore).map(|packet| (packet.class, packet.flow.0, packet.len))
    }

    #[test]
    fn a_host_of_64_sparse_flows_gets_no_more_than_a_host_of_one() {
        let mut queue = queue(256);
        let mut sent = [0u64; 2];
        let mut is_waiting = [false; 64];
        for _ in 0..4000 {
            // Each flow of host 0 sends again only after its packet has left, so it always returns
            // as new.
            for (flow, is_waiting) in (0..).zip(&mut is_waiting) {
                if !std::mem::replace(is_waiting, true) {
                    offer(&mut queue, 0, flow, 1500);
                }
            }
            while queue.scheduler().hosts_packets(1) < 40 {
                offer(&mut queue, 1, 100, 1500);
            }
            let (host, flow, len) = next(&mut queue).expect("packets wait");
            sent[host as usize] += u64::from(len);
            if host == 0 {
                is_waiting[flow as usize] = false;
            }
        }
        assert!(sent[0].abs_diff(sent[1]) <= 2 * 1500, "{sent:?}");
    }

    #[test]
    fn a_background_flow_gets_a_sixteenth_within_its_host_only() {
        let terms = HostTerms { host_of: HostOf::Flow, background: 16 };
        let scheduler = Hosts::new(64, Quantum::fixed(1500), terms);
        let queues = Queues::least_recently_used(64);
        let mut queue = fairwire_core::Queue::with_queues(Limit::packets(4000), queues, scheduler, TailDrop);
        let flows = [(1, 1, 0), (1, 2, 8), (2, 1, 1)]; // its host, its number, its codepoint
        let mut sent = [0u32; 3];
        for turn in 0..3400 {
            for (host, number, dscp) in flows {
                let flow = FlowHash::of_host(host, number.into());
                let packet = Packet { dscp, ..Packet::new(0, 1500, flow, Time::ZERO) };
                queue.enqueue(packet, Time::ZERO, &mut Ignore);
            }
            let packet = queue.dequeue(Time::ZERO, &mut Ignore).expect("packets wait");
            let at = flows
                .iter()
                .position(|(host, number, _)| packet.flow == FlowHash::of_host(*host, (*number).into()));
            sent[at.expect("one of them")] += u32::from(turn > 0);
        }
        assert!(sent[2].abs_diff(1700) < 3, "{sent:?}");
        assert!(sent[0].abs_diff(16 * sent[1]) < 16, "{sent:?}");
    }

    #[test]
    fn a_sparse_flow_is_served_before_the_bulky_flows_of_its_host() {
        let mut queue = queue(64);
        for flow in 0..20 {
            (0..5).for_each(|_| offer(&mut queue, 0, flow, 1500));
        }
        (0..40).for_each(|_| {
            next(&mut queue);
        });
        offer(&mut queue, 0, 99, 100);
        assert_eq!(next(&mut queue), Some((0, 99, 100)));
    }

    /// Returns each flow's bytes, and the maximum number of packets sent while a ping waited.
    ///
    /// Flows below `standing` are always backlogged. Any other flow pauses for `pause` packets
    /// after each of its packets. A ping comes every `gap` packets.
    fn serve(packets: u64, [standing, players]: [u64; 2], pause: u64, gap: u64) -> (Vec<u64>, u64) {
        let mut queue = queue(256);
        let flows = standing + players;
        let mut sent = vec![0u64; flows as usize];
        let mut comes = vec![0; flows as usize];
        let (mut pinged, mut longest) = (None, 0);
        (0..standing).for_each(|flow| (0..3).for_each(|_| offer(&mut queue, 0, flow, 1500)));
        for now in 0..packets {
            for flow in standing..flows {
                if comes[flow as usize] == now {
                    offer(&mut queue, 0, flow, 1500);
                }
            }
            // Pings start after the first round, in which all flows are new too.
            if now >= 200 && now % gap == gap - 1 {
                assert_eq!(pinged.replace(now), None, "a ping waits for more than {gap} packets");
                offer(&mut queue, 0, 1000, 100);
            }
            let (_, mut flow, _) = next(&mut queue).expect("packets wait");
            if flow == 1000 {
                longest = longest.max(now - pinged.take().expect("it was sent"));
                (_, flow, _) = next(&mut queue).expect("packets wait");
            }
            assert!(flow < flows, "two pings in a row");
            sent[flow as usize] += 1500;
            comes[flow as usize] = now + 1 + pause;
            if flow < standing {
                offer(&mut queue, 0, flow, 1500);
            }
        }
        (sent, longest)
    }

    #[test]
    fn state_has_the_documented_size() {
        let index = size_of::<u32>() + size_of::<u32>(); // a slot of the table of hosts, and a free number
        let queue = size_of::<Queue>() + size_of::<Member>();
        assert_eq!((queue, size_of::<Host>() + size_of::<Member>() + index), (52, 88));
    }

    #[test]
    fn a_ping_is_served_before_64_standing_flows_of_its_host() {
        // A round is 64 packets.
        for gap in [5, 20, 41, 64, 128] {
            let (sent, longest) = serve(20_000, [64, 0], 0, gap);
            assert!(longest <= 1, "each {gap} packets: it waited for {longest}");
            let [least, most] = [sent.iter().min().unwrap(), sent.iter().max().unwrap()];
            assert!(most - least <= 2 * 1500, "{sent:?}");
        }
    }

    #[test]
    fn flows_that_pause_after_each_packet_get_no_more_than_backlogged_flows() {
        for standing in [1, 8, 64] {
            for pause in [0, 1, 2, 10, 63, 64, 65, 100, 128] {
                let (sent, _) = serve(30_000, [standing, 64], pause, 100);
                let (backlogged, paused) = sent.split_at(standing as usize);
                let [least, most] = [backlogged.iter().min().unwrap(), paused.iter().max().unwrap()];
                // Two flows may differ by two quanta: one of the current turn, and one carried
                // over.
                assert!(
                    *most <= least + 2 * 1500,
                    "{standing} backlogged, pause {pause}: {least} and {most}"
                );
            }
        }
    }

    #[test]
    fn a_queue_follows_the_host_of_its_latest_packet_and_nothing_is_lost() {
        let mut queue = queue(8);
        offer(&mut queue, 0, 7, 100);
        offer(&mut queue, 3, 7, 100);
        assert_eq!((queue.scheduler().hosts_packets(0), queue.scheduler().hosts_packets(3)), (0, 2));
        assert_eq!([next(&mut queue), next(&mut queue), next(&mut queue)].iter().flatten().count(), 2);
    }

    #[test]
    fn random_operations_serve_every_backlog_and_share_equally_between_hosts() {
        let mut rng = Seed(5).stream("hosts");
        let mut queue = queue(32);
        let (mut offered, mut left) = (0u32, 0u32);
        for _ in 0..200_000 {
            if rng.chance(0.5) && queue.backlog().packets < 4000 {
                let (host, flow) = (rng.below(9), u64::from(rng.below(60)));
                offer(&mut queue, host, flow, 64 + rng.below(9000));
                offered += 1;
            } else {
                let waiting = queue.backlog().packets;
                let found = next(&mut queue).is_some();
                assert_eq!(found, waiting > 0);
                left += u32::from(found);
            }
        }
        assert_eq!(offered - left, queue.backlog().packets);
        while next(&mut queue).is_some() {}
        assert_eq!(queue.scheduler().round.count, 0);
        assert_eq!(queue.scheduler().free.len(), 32, "every place of a host was given up");
    }

    impl Hosts {
        fn hosts_packets(&self, name: u32) -> u32 {
            let found = self.index.find(hashed(name), |at| self.hosts[at].name == name);
            found.map_or(0, |at| self.turns[at].packets)
        }
    }
}
