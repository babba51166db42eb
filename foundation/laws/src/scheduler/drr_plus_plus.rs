//! DRR++: deficit round robin that serves new queues first, optionally with equal shares for hosts.
//!
//! # What it does
//! A queue that becomes backlogged joins the list of new queues with one quantum of credit. New
//! queues are served before old ones. A queue without credit gets a quantum and moves to the end of
//! the old queues. A new queue found empty moves there too; an old queue found empty is removed. So
//! a flow that sends less than a quantum per round never waits for bulky flows, and a bulky flow
//! gains nothing by pausing.
//!
//! With hosts, a queue's quantum is divided by the number of its host's bulky queues, unless only
//! one host has bulky queues. Hosts then get equal shares however many flows each has.
//!
//! # Why
//! Sparse flows gain most from short delay, at almost no cost to other flows. See RFC 8290, section
//! 3.
//!
//! # Parameters (unit, default, source)
//! - `quantum` (bytes): the credit of one round. If a round has a minimum [time](super::quantum),
//!   the quantum grows until the round takes that time.
//!
//! # State and cost
//! 32 bytes per queue. With hosts, each host takes 16 bytes and an index entry. There are at most
//! as many hosts as queues.
//!
//! O(1) per packet if the quantum is not far below the longest packet. Rounds in which no queue
//! could send are credited at once, so the search for a packet inspects each backlogged queue at
//! most about four times. Each queue found empty adds four inspections.
//!
//! # Source (section, equation)
//! RFC 8290, sections 3 and 4; M. MacGregor and W. Shi, "Deficits for bursty latency-critical
//! flows: DRR++", IEEE ICON 2000; hosts: T. Hoiland-Jorgensen, D. Taht and J. Morton, "Piece of
//! CAKE", IEEE LANMAN 2018, on the isolation of hosts.
//!
//! # Where we differ
//! - Credit is counted in 2^-16 byte, so dividing a quantum loses nothing; CAKE rounds quotients at
//!   random.
//! - If no old queues wait, Linux removes a new queue found empty. Here this is an option.
//! - A queue belongs to the host of the packet that made it backlogged.
//! - Gated service is an option for queues whose new packets make older ones needless, as
//!   acknowledgements do. A turn serves only the packets that were waiting when it began (H.
//!   Takagi, "Analysis of polling systems", 1986). A queue with credit left continues after the
//!   turn of one old queue.
//!
//! # Example
//! ```toml
//! [discipline.fq-codel]
//! quantum = "300 B"
//! ```

use crate::scheduler::hosts::HostOf;
use crate::scheduler::quantum::Quantum;
use alloc::boxed::Box;
use alloc::vec;
use core::any::Any;
use fairwire_core::{
    Buffer, Chosen, FlowHash, FlowKey, FlowTable, Key, Needs, Packet, Probe, Scheduler, Time, Unit,
};

/// Credit per byte.
const BYTE: i64 = 1 << 16;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// On neither list.
    Idle,
    New,
    /// On the list of old queues, because it was found empty as a new queue. It is not bulky.
    Resting,
    /// On the list of old queues, and bulky.
    Bulky,
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    credit: i64,
    next: u32,
    host: u32,
    packets: u32,
    status: Status,
    /// Was the queue polled and found empty since its last packet?
    polled_empty: bool,
    /// Has a packet of the queue superseded an older packet since the queue became backlogged?
    supersedes: bool,
    /// Set while packets wait.
    flow: Option<FlowKey>,
}

#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

impl List {
    const EMPTY: List = List { first: NONE, last: NONE };

    fn push(&mut self, queue: u32, turns: &mut [Turn]) {
        turns[queue as usize].next = NONE;
        match self.last {
            NONE => self.first = queue,
            last => turns[last as usize].next = queue,
        }
        self.last = queue;
    }

    fn pop(&mut self, turns: &[Turn]) {
        self.first = turns[self.first as usize].next;
        if self.first == NONE {
            self.last = NONE;
        }
    }
}

/// The scheduler. The buffer must count its backlog by queue. See the [module](self).
#[derive(Debug)]
pub struct DrrPlusPlus<const GATED: bool = false> {
    turns: Box<[Turn]>,
    new: List,
    old: List,
    quantum: i64,
    /// The rule for a quantum that depends on the number of backlogged queues.
    filling: Option<Quantum>,
    /// The number of bulky queues of each host, if hosts share the link.
    hosts: Option<FlowTable<u32>>,
    host_of: HostOf,
    lets_go: bool,
    served: u32,
    /// The queue whose last packet the current poll dropped. If the same poll then finds the queue
    /// empty, `polled_empty` is not set.
    just_emptied: u32,
    passed_over: u32,
    /// With gated service: the queue that has the turn, the start of the turn, and the current
    /// time.
    turn: u32,
    began: Time,
    now: Time,
}

impl<const GATED: bool> DrrPlusPlus<GATED> {
    /// A scheduler that gives each queue `quantum` bytes per round.
    pub(crate) fn new(queues: u32, quantum: u32) -> Self {
        let turn = Turn {
            credit: 0,
            next: NONE,
            host: 0,
            packets: 0,
            status: Status::Idle,
            polled_empty: false,
            supersedes: false,
            flow: None,
        };
        DrrPlusPlus {
            turns: vec![turn; queues as usize].into(),
            new: List::EMPTY,
            old: List::EMPTY,
            quantum: i64::from(quantum.max(1)) * BYTE,
            filling: None,
            hosts: None,
            host_of: HostOf::Class,
            lets_go: false,
            served: 0,
            just_emptied: NONE,
            passed_over: 0,
            turn: NONE,
            began: Time::ZERO,
            now: Time::ZERO,
        }
    }

    pub(crate) fn filling(self, quantum: Quantum) -> Self {
        DrrPlusPlus { filling: Some(quantum), ..self }
    }

    pub(crate) fn with_hosts(self, host_of: HostOf) -> Self {
        DrrPlusPlus { hosts: Some(FlowTable::new(self.turns.len())), host_of, ..self }
    }

    /// Lets a new queue leave when found empty, if no old queue waits, as in Linux.
    pub(crate) fn letting_go(self) -> Self {
        DrrPlusPlus { lets_go: true, ..self }
    }

    /// The number of bulky queues of a host; `None` if hosts do not share.
    pub fn bulky_queues(&self, host: u32) -> Option<u32> {
        let hosts = self.hosts.as_ref()?;
        Some(hosts.find(named(host)).map_or(0, |place| *hosts.value(place)))
    }

    /// The number of queues inspected in vain before the last packet was found.
    pub fn passed_over(&self) -> u32 {
        self.passed_over
    }

    /// After a round in which no old queue could send, adds the credit of all further such rounds
    /// at once. This does not change the order of service. Returns the number of old queues.
    fn credit_vain_rounds(&mut self) -> u32 {
        let (mut rounds, mut queues) = (i64::MAX, 0);
        let mut queue = self.old.first;
        while queue != NONE {
            let turn = &self.turns[queue as usize];
            rounds = rounds.min(-turn.credit / self.quantum(queue));
            queues += 1;
            queue = turn.next;
        }
        let mut queue = self.old.first;
        while queue != NONE && rounds > 0 {
            self.turns[queue as usize].credit += rounds * self.quantum(queue);
            queue = self.turns[queue as usize].next;
        }
        queues
    }

    #[inline]
    fn follow(&mut self, buffer: &Buffer) {
        if let Some(quantum) = &self.filling {
            self.quantum = quantum.of(buffer.backlogged_flows()) * BYTE;
        }
    }

    #[inline]
    fn quantum(&self, queue: u32) -> i64 {
        match &self.hosts {
            None => self.quantum,
            Some(hosts) => self.part_of_quantum(queue, hosts),
        }
    }

    #[inline(never)] // it would bloat the path of queues without hosts
    fn part_of_quantum(&self, queue: u32, hosts: &FlowTable<u32>) -> i64 {
        if hosts.len() <= 1 {
            return self.quantum; // the only host shares with no other
        }
        let host = named(self.turns[queue as usize].host);
        let bulky = hosts.find(host).map_or(1, |place| *hosts.value(place));
        self.quantum / i64::from(bulky)
    }

    #[inline]
    fn put(&mut self, queue: u32, status: Status) {
        let before = core::mem::replace(&mut self.turns[queue as usize].status, status);
        if self.hosts.is_some() {
            self.count_bulky(queue, before, status);
        }
    }

    #[inline(never)] // likewise
    fn count_bulky(&mut self, queue: u32, before: Status, status: Status) {
        let Some(hosts) = &mut self.hosts else { return };
        let host = named(self.turns[queue as usize].host);
        match (before == Status::Bulky, status == Status::Bulky) {
            (false, true) => {
                let at = hosts.find(host).unwrap_or_else(|| hosts.insert(host, 0));
                *hosts.value_mut(at) += 1;
            }
            (true, false) => {
                let at = hosts.find(host).expect("a bulky queue is counted by its host");
                *hosts.value_mut(at) -= 1;
                if *hosts.value(at) == 0 {
                    hosts.remove(at);
                }
            }
            _ => {}
        }
    }

    /// With gated service: true if the head of `queue` arrived after the queue's turn began. The
    /// turn begins now if another queue had the turn.
    fn ends_turn(&mut self, queue: u32, arrived: Time) -> bool {
        if core::mem::replace(&mut self.turn, queue) != queue {
            self.began = self.now;
        }
        arrived > self.began
    }

    /// Moves `queue` from the head of its list to second place among the old queues.
    fn step_back(&mut self, queue: u32, is_new: bool) {
        let list = if is_new { &mut self.new } else { &mut self.old };
        list.pop(&self.turns);
        match self.old.first {
            NONE => self.old.push(queue, &mut self.turns),
            first => {
                self.turns[queue as usize].next = self.turns[first as usize].next;
                self.turns[first as usize].next = queue;
                self.old.last = if self.old.last == first { queue } else { self.old.last };
            }
        }
        self.put(queue, Status::Bulky);
        self.turn = NONE;
    }

    /// Moves `queue`, which is at the head of its list, to the end of the old queues.
    #[inline]
    fn rotate(&mut self, queue: u32, is_new: bool, status: Status) {
        if is_new {
            self.new.pop(&self.turns)
        } else {
            self.old.pop(&self.turns)
        }
        self.old.push(queue, &mut self.turns);
        self.put(queue, status);
        self.turn = NONE;
    }
}

fn named(host: u32) -> FlowHash {
    FlowHash(host.into())
}

impl<const GATED: bool> Scheduler for DrrPlusPlus<GATED> {
    fn needs(&self) -> Needs {
        Needs::QUEUES
    }

    #[inline]
    fn clock(&mut self, now: Time) {
        if GATED {
            self.now = now;
        }
    }

    #[inline]
    fn inserted(&mut self, key: Key, flow: FlowKey, buffer: &Buffer) {
        self.follow(buffer);
        let queue = buffer.flow_hash(flow).0 as u32;
        let turn = &mut self.turns[queue as usize];
        turn.packets += 1;
        turn.flow = Some(flow);
        // A match with four arms would become a jump table, which is hard to predict.
        if turn.status == Status::Idle {
            turn.host = self.host_of.name(buffer.packet(key));
            self.turns[queue as usize].credit = self.quantum(queue);
            self.new.push(queue, &mut self.turns);
            self.put(queue, Status::New);
        } else if turn.status == Status::Resting {
            self.put(queue, Status::Bulky);
        }
    }

    fn evicting(&mut self, _: Key, flow: FlowKey, buffer: &Buffer) {
        self.turns[buffer.flow_hash(flow).0 as usize].packets -= 1;
    }

    fn superseded(&mut self, flow: FlowKey, buffer: &Buffer) {
        self.turns[buffer.flow_hash(flow).0 as usize].supersedes = true;
    }

    #[inline]
    fn choose(&mut self, buffer: &Buffer) -> Option<Chosen> {
        self.follow(buffer);
        // The first old queue of a round in which no queue has sent yet.
        let mut round = NONE;
        self.passed_over = 0;
        loop {
            let is_new = self.new.first != NONE;
            let queue = if is_new { self.new.first } else { self.old.first };
            if queue == NONE {
                return None;
            }
            if self.turns[queue as usize].credit <= 0 {
                if round == queue {
                    self.passed_over += self.credit_vain_rounds();
                    round = NONE;
                } else if is_new || round == NONE {
                    round = if is_new { NONE } else { queue };
                }
                self.passed_over += 1;
                self.turns[queue as usize].credit += self.quantum(queue);
                let status = match self.turns[queue as usize].status {
                    Status::New if self.turns[queue as usize].packets > 0 => Status::Bulky,
                    Status::New => Status::Resting,
                    status => status,
                };
                self.rotate(queue, is_new, status);
                continue;
            }
            let turn = &self.turns[queue as usize];
            if let (Some(flow), true) = (turn.flow, turn.packets > 0) {
                let key = buffer.flow_head(flow);
                if GATED {
                    let (supersedes, arrived) = (turn.supersedes, buffer.packet(key).arrived);
                    if supersedes && self.ends_turn(queue, arrived) {
                        self.step_back(queue, is_new);
                        round = NONE; // it can send at its next turn
                        continue;
                    }
                    self.turn = if supersedes { queue } else { NONE };
                }
                let turn = &mut self.turns[queue as usize];
                turn.packets -= 1;
                let polled_empty = core::mem::take(&mut turn.polled_empty);
                self.served = queue;
                return Some(Chosen { key, polled_empty });
            }
            self.turns[queue as usize].polled_empty = self.just_emptied != queue;
            self.just_emptied = NONE;
            round = NONE; // a queue comes or goes
            self.passed_over += 1;
            if is_new && !(self.lets_go && self.old.first == NONE) {
                self.rotate(queue, true, Status::Resting);
            } else {
                let list = if is_new { &mut self.new } else { &mut self.old };
                list.pop(&self.turns);
                self.put(queue, Status::Idle);
                self.turns[queue as usize].supersedes = false;
            }
        }
    }

    #[inline]
    fn charge(&mut self, packet: &Packet, _: FlowKey, _: &Buffer) {
        self.turns[self.served as usize].credit -= i64::from(packet.len) * BYTE;
    }

    fn skip(&mut self, _: &Packet, _: FlowKey, _: &Buffer) {
        if self.turns[self.served as usize].packets == 0 {
            self.just_emptied = self.served;
        }
    }

    fn retune(&mut self, fresh: &dyn Scheduler, _: Time) -> bool {
        let Some(fresh) = (fresh as &dyn Any).downcast_ref::<Self>() else { return false };
        let hosts = |of: &Self| of.hosts.is_some().then_some(of.host_of);
        let shape = |of: &Self| (of.turns.len(), of.filling.is_some(), hosts(of), of.lets_go);
        if shape(self) != shape(fresh) {
            return false;
        }
        self.filling = fresh.filling;
        if self.filling.is_none() {
            self.quantum = fresh.quantum;
        }
        true
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        if let Some(hosts) = &self.hosts {
            probe.gauge("bulky_hosts", Unit::One, hosts.len() as f64);
        }
    }
}
