//! DRR: deficit round robin.
//!
//! # What it does
//! Each flow has a queue of its own. The queues are visited in turn, and at each visit a queue may send as many bytes as its
//! quantum, plus what it could not use of the last one because its next packet was too long.
//!
//! # Why
//! Flows get equal bytes, whatever the length of their packets, for the work of a plain round robin. There is no virtual time
//! to keep and nothing to sort. The price is delay: a packet may wait for one quantum of each of the others.
//!
//! # State and cost
//! 16 bytes for each packet that the buffer has room for, beside the buffer's own and those of [LQD](crate::dropper::lqd). Who
//! makes room takes what it takes LQD: O(1) where packets are counted, O(log n) with a buffer in bytes or time or with weights.
//! Service takes O(1) per packet while a quantum times the weight is at least a packet; otherwise O(backlogged flows) at worst,
//! since rounds in which nobody could send are skipped all at once.
//!
//! # Source (section, equation)
//! M. Shreedhar and G. Varghese, "Efficient Fair Queuing Using Deficit Round-Robin", IEEE/ACM ToN 4(3), 1996: the code of
//! enqueueing and dequeueing.
//!
//! # Where we differ
//! - The quantum of the next visit is added when a queue goes to the end of the list rather than when its turn comes. Nobody
//!   looks at it in between, so the order of service is the same.
//! - Deficits count in 2^-16 byte, so that a quantum times a small weight is not rounded to bytes.
//! - A queue that is emptied by push-out loses its deficit, as one that is emptied by service does.
//!
//! # Example
//! ```toml
//! [discipline.drr]
//! quantum = "1514 B"
//! weights = { 1 = 2.0 }
//! dropper = "lqd"
//! ```

use super::entry::{CheckedEntry, Entry, MakesRoom};
use crate::about::{About, Family};
use crate::dropper::fattest_host::FattestHost;
use crate::dropper::half_free::HalfFree;
use crate::dropper::tail_drop::TailDrop;
use crate::error::{BadParameter, Of as _, Parameter};
use crate::memory;
use crate::part::{ClassSupport, Part};
use crate::scheduler::any::{Kind, Terms};
use crate::scheduler::hosts::{Hosts, QUEUES};
use crate::scheduler::quantum::Quantum;
use crate::scheduler::service::{LEAST_PER_ROUND, Per};
use crate::site::Site;
use crate::spec::{EcnChoice, Quantity, WeightOf, Weights};
use alloc::boxed::Box;
use alloc::vec;
use fairwire_core::units::{Amount, Size};
use fairwire_core::{
    Buffer, Discipline, Dropper, Duration, Key, Needs, NotReweighed, Packet, Queue, Queues, Scheduler, Weight,
};
use fairwire_parameters::parameters;

/// What the catalogue tells of it.
pub const ABOUT: About = About {
    family: Family::FairQueueing,
    summary: "each flow sends a quantum of bytes in turn; the longest queue makes room",
    state: "16 bytes per packet of buffer, and the buffer's queues",
    cost: "O(1) where a quantum is a packet or more; O(log n) to push out by bytes or weight",
    marks: false,
    source: "Shreedhar and Varghese 1996",
};

const NAME: &str = "drr";

/// Parameters of `drr`.
#[parameters(gated, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// How much may wait.
    #[parameter(unset = "the site's")]
    pub buffer: Option<Quantity<Amount>>,
    /// Accepted as by every discipline, without effect: nothing is signalled early.
    #[parameter(default = EcnChoice::Drop)]
    pub ecn: Option<EcnChoice>,
    /// What all entries that schedule have.
    #[parameter(flatten)]
    pub entry: Entry,
    /// What a flow of weight 1 may send per round.
    ///
    /// At least the longest packet, or the work per packet grows: Shreedhar and Varghese 1996, on the work per packet.
    #[parameter(unset = "1514 B, or the typical packet if that is longer", unit = "size")]
    pub quantum: Option<Quantity<Size>>,
    /// The time that a round takes where few flows are backlogged: their quanta are as much longer.
    ///
    /// Where few flows are backlogged, the quantum of each is as much more as makes a round take this time, up to 64 KiB:
    /// trains of packets, which a gateway joins again.
    #[parameter(unset = "none", min = "1 us", max = "1 s")]
    pub round: Option<Quantity<Duration>>,
    /// Whether classes share equally first, and then the flows of each. Then flows have `queues` of which the one that was
    /// silent longest is given on, by default 8192.
    ///
    /// See hosts. The longest queue of the fattest host makes room.
    #[parameter(default = false)]
    pub hosts: Option<bool>,
}

impl Part for Spec {
    fn table_bytes(&self, packets: u64) -> u64 {
        let order = Kind::Drr.table_bytes(packets, self.entry.queues);
        if self.hosts == Some(true) {
            order + memory::count(self.entry.queues, QUEUES.into()) * (memory::LAW + memory::HOST)
        } else {
            order
        }
    }

    fn classes(&self) -> ClassSupport {
        ClassSupport::Weights
    }

    fn typed_classes(&self) -> Option<&'static str> {
        self.entry.weights.is_some().then_some("weights")
    }

    fn set_weights(&mut self, weights: Weights) {
        self.entry.per.get_or_insert(Per::Class);
        self.entry.weights = Some(weights);
    }

    fn set_hosts(&mut self) -> bool {
        let has_other_queues = self.entry.per.is_some() || self.entry.sharing.is_some();
        let has_other_shares = self.entry.weights.is_some() || self.entry.dropper.is_some();
        !has_other_queues && !has_other_shares && *self.hosts.get_or_insert(true)
    }

    fn default_round(&mut self, round: Duration) {
        self.round.get_or_insert(Quantity(round));
    }
}

impl Spec {
    /// Checks what was typed against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<CheckedEntry, BadParameter> {
        self.checked().of(NAME)?;
        let parameter = |name| Parameter { discipline: NAME, name };
        if self.hosts == Some(true) {
            let hosts = [
                ("weights", self.entry.weights.is_some()),
                ("per", self.entry.per.is_some()),
                ("sharing", self.entry.sharing.is_some()),
                ("dropper", self.entry.dropper.is_some_and(|dropper| dropper != MakesRoom::Lqd)),
            ];
            if let Some((name, _)) = hosts.into_iter().find(|(_, is_typed)| *is_typed) {
                return Err(parameter(name)
                    .refuse("a value", "nothing with `hosts = true`, where hosts have equal parts"));
            }
        }
        self.entry.check(NAME, Kind::Drr, (self.buffer, self.ecn), self.quantum, site)
    }

    /// Checks and builds. Not by way of [`CheckedEntry::build`]: here the scheduler is known when this is compiled, which saves
    /// a test at each of its calls.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let checked = self.check(site)?;
        let filled =
            Quantum::fixed(checked.service.quantum()).filling(self.round.map(|round| round.0), site.rate);
        if self.hosts == Some(true) {
            let (queues, limit) = (self.entry.queues.unwrap_or(QUEUES), checked.limit);
            let (scheduler, dropper) = (Hosts::new(queues, filled), FattestHost::new(queues));
            let queues = Queues::least_recently_used(queues);
            let queue = Queue::with_queues(limit, queues, scheduler, dropper);
            return Ok(Box::new(queue.with_ecn(checked.ecn.into())));
        }
        let filled = self.round.map(|_| filled);
        Ok(match checked.dropper {
            MakesRoom::Lqd => queue(&checked, filled, checked.lqd(site.rng(NAME))),
            MakesRoom::TailDrop => queue(&checked, filled, TailDrop),
            MakesRoom::HalfFree => queue(&checked, filled, HalfFree),
        })
    }
}

fn queue<D: Dropper + 'static>(
    checked: &CheckedEntry,
    filled: Option<Quantum>,
    dropper: D,
) -> Box<dyn Discipline> {
    let CheckedEntry { limit, ecn, ref service, .. } = *checked;
    let drr = Drr::new(&service.terms(limit)).filling(filled);
    Box::new(Queue::with_queues(limit, service.queues(), drr, dropper).with_ecn(ecn.into()))
}

/// Deficits count in 2^-16 byte.
const FRACTION_BITS: u32 = 16;

const NONE: u32 = u32::MAX;

/// A queue's place in the round, and what it may still send.
#[derive(Clone, Copy, Debug)]
struct Turn {
    deficit: u64,
    next: u32,
    previous: u32,
}

/// Deficit round robin. See the [module](self).
#[derive(Debug)]
pub struct Drr {
    /// By [`FlowKey::index`]; a ring of those that are backlogged.
    turns: Box<[Turn]>,
    /// Whose turn it is.
    current: u32,
    quantum: u64,
    /// Where the quantum hangs on how many queues are backlogged.
    filling: Option<Quantum>,
    /// `None` where all have the weight 1.
    weights: Option<WeightOf>,
}

impl Drr {
    /// A round robin with the quantum and the weights of `terms`.
    pub fn new(terms: &Terms) -> Self {
        let turn = Turn { deficit: 0, next: 0, previous: 0 };
        Drr {
            turns: vec![turn; terms.limit.max_packets() as usize].into(),
            current: NONE,
            quantum: u64::from(terms.quantum) << FRACTION_BITS,
            filling: None,
            weights: (!terms.weights.is_equal()).then(|| terms.weights.clone()),
        }
    }

    /// The same, with the quantum that fills a round of so many queues as are backlogged.
    #[must_use]
    pub fn filling(self, quantum: Option<Quantum>) -> Self {
        Drr { filling: quantum, ..self }
    }

    /// Follows the number of backlogged queues, where the quantum hangs on it.
    #[inline]
    fn follow(&mut self, buffer: &Buffer) {
        if let Some(quantum) = &self.filling {
            self.quantum = (quantum.of(buffer.backlogged_flows()) as u64) << FRACTION_BITS;
        }
    }

    /// What the flow of `packet` may send per round.
    #[inline]
    fn quantum(&self, packet: &Packet) -> u64 {
        match &self.weights {
            None => self.quantum,
            Some(weights) => ((self.quantum as f64 * weights.class(packet.class)) as u64).max(1),
        }
    }

    /// Puts `flow` in as the last of the round.
    #[inline]
    fn enter(&mut self, flow: u32, deficit: u64) {
        if self.current == NONE {
            self.current = flow;
            self.turns[flow as usize] = Turn { deficit, next: flow, previous: flow };
            return;
        }
        let (next, previous) = (self.current, self.turns[self.current as usize].previous);
        self.turns[flow as usize] = Turn { deficit, next, previous };
        self.turns[previous as usize].next = flow;
        self.turns[next as usize].previous = flow;
    }

    /// Takes `flow` out of the round; if it was its turn, it is the next one's.
    #[inline]
    fn leave(&mut self, flow: u32) {
        let Turn { next, previous, .. } = self.turns[flow as usize];
        if next == flow {
            self.current = NONE;
            return;
        }
        self.turns[previous as usize].next = next;
        self.turns[next as usize].previous = previous;
        if self.current == flow {
            self.current = next;
        }
    }

    /// The queue whose turn it is cannot send its packet `head`: it gets its next quantum, and the turn goes on. Told by the
    /// number of such visits, and tells it again.
    #[inline(never)] // most turns end otherwise, and what this needs at hand would be kept for all of them
    fn pass(&mut self, visits: u32, head: Key, buffer: &Buffer) -> u32 {
        let quantum = self.quantum(buffer.packet(head));
        let turn = &mut self.turns[self.current as usize];
        turn.deficit += quantum;
        self.current = turn.next;
        if visits + 1 < 2 * buffer.backlogged_flows() {
            return visits + 1;
        }
        self.skip_rounds(buffer);
        0
    }

    /// Gives everybody what would come to them in rounds in which nobody can send.
    #[cold]
    fn skip_rounds(&mut self, buffer: &Buffer) {
        let mut rounds = u64::MAX;
        for flow in buffer.flows() {
            let packet = buffer.packet(buffer.flow_head(flow));
            let missing = cost(packet).saturating_sub(self.turns[flow.index()].deficit);
            rounds = rounds.min(missing.div_ceil(self.quantum(packet)));
        }
        let rounds = rounds.saturating_sub(1); // the last of them is gone through as usual
        for flow in buffer.flows() {
            let quantum = self.quantum(buffer.packet(buffer.flow_head(flow)));
            self.turns[flow.index()].deficit += rounds * quantum;
        }
    }
}

#[inline]
fn cost(packet: &Packet) -> u64 {
    u64::from(packet.len) << FRACTION_BITS
}

impl Scheduler for Drr {
    fn needs(&self) -> Needs {
        Needs::QUEUES
    }

    #[inline]
    fn inserted(&mut self, key: Key, buffer: &Buffer) {
        self.follow(buffer);
        let flow = buffer.changed_flow();
        if buffer.flow_backlog(flow).packets == 1 {
            self.enter(flow.index() as u32, self.quantum(buffer.packet(key)));
        }
    }

    #[inline]
    fn evicting(&mut self, key: Key, buffer: &Buffer) {
        let flow = buffer.flow_of(key);
        if buffer.flow_backlog(flow).packets == 1 {
            self.leave(flow.index() as u32);
        }
    }

    #[inline]
    fn choose(&mut self, buffer: &Buffer) -> Option<Key> {
        if self.current == NONE {
            return None;
        }
        self.follow(buffer);
        let mut visits = 0;
        loop {
            let flow = self.current;
            let backlog = buffer.flow_at(flow as usize);
            let head = buffer.flow_head(backlog);
            if cost(buffer.packet(head)) <= self.turns[flow as usize].deficit {
                return Some(head);
            }
            visits = self.pass(visits, head, buffer);
        }
    }

    #[inline]
    fn charge(&mut self, packet: &Packet, buffer: &Buffer) {
        // The flow whose turn it is: a turn that is over goes on at the next choice.
        self.turns[self.current as usize].deficit -= cost(packet);
        self.skip(packet, buffer);
    }

    #[inline]
    fn skip(&mut self, _: &Packet, buffer: &Buffer) {
        if buffer.flow_backlog(buffer.changed_flow()).packets == 0 {
            self.leave(self.current);
        }
    }

    fn reweigh(&mut self, class: u32, weight: Weight) -> Result<Weight, NotReweighed> {
        let weights = self.weights.as_mut().ok_or(NotReweighed::NoWeights)?;
        weights.find(class)?;
        let least = LEAST_PER_ROUND / (self.quantum >> FRACTION_BITS) as f64;
        if weight.get() < least {
            return Err(NotReweighed::OutOfRange { weight, least, most: Weight::MOST.get() });
        }
        weights.set(class, weight)
    }
}
