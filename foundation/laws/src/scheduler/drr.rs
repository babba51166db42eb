//! DRR: deficit round robin.
//!
//! Queues are visited in turn, and at each visit a queue may send its quantum of bytes. If its next
//! packet is longer than the remaining bytes, the queue keeps these bytes for its next visit.
//!
//! M. Shreedhar and G. Varghese, "Efficient Fair Queuing Using Deficit Round-Robin", IEEE/ACM ToN
//! 4(3), 1996: the code of enqueueing and dequeueing. [`drr`](crate::compose::fair_queueing::drr)
//! lists the differences.

use crate::scheduler::quantum::Quantum;
use crate::scheduler::service::MIN_PER_ROUND;
use crate::scheduler::terms::Terms;
use crate::spec::WeightOf;
use alloc::boxed::Box;
use alloc::vec;
use core::any::Any;
use fairwire_core::{Buffer, Chosen, FlowKey, Key, Needs, Packet, Scheduler, SetWeightError, Time, Weight};

/// Deficits count in units of 2^-16 byte.
const FRACTION_BITS: u32 = 16;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Turn {
    deficit: u64,
    next: u32,
    previous: u32,
}

#[derive(Debug)]
pub(crate) struct Drr {
    /// Turns by [`FlowKey::index`]. The turns of the backlogged queues form a ring.
    turns: Box<[Turn]>,
    current: u32,
    quantum: u64,
    /// The rule for a quantum that depends on the number of backlogged queues.
    filling: Option<Quantum>,
    /// `None` if all weights are 1.
    weights: Option<WeightOf>,
}

impl Drr {
    pub(crate) fn new(terms: &Terms) -> Self {
        let turn = Turn { deficit: 0, next: 0, previous: 0 };
        Drr {
            turns: vec![turn; terms.limit.max_packets() as usize].into(),
            current: NONE,
            quantum: u64::from(terms.quantum) << FRACTION_BITS,
            filling: None,
            weights: (!terms.weights.is_equal()).then(|| terms.weights.clone()),
        }
    }

    #[must_use]
    pub(crate) fn filling(self, quantum: Option<Quantum>) -> Self {
        Drr { filling: quantum, ..self }
    }

    #[inline]
    fn follow(&mut self, buffer: &Buffer) {
        if let Some(quantum) = &self.filling {
            self.quantum = (quantum.of(buffer.backlogged_flows()) as u64) << FRACTION_BITS;
        }
    }

    #[inline]
    fn quantum(&self, packet: &Packet) -> u64 {
        match &self.weights {
            None => self.quantum,
            Some(weights) => ((self.quantum as f64 * weights.class(packet.class)) as u64).max(1),
        }
    }

    /// Inserts `flow` as the last of the round.
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

    /// Gives a quantum to the current queue, which cannot send `head`, and passes the turn on.
    /// `visits` counts such turns. Returns the new count.
    #[inline(never)] // rarely needed: inlined, its registers would be saved at every turn
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

    /// Gives each queue the quanta of all rounds in which no queue can send.
    #[cold]
    fn skip_rounds(&mut self, buffer: &Buffer) {
        let mut rounds = u64::MAX;
        for flow in buffer.flows() {
            let packet = buffer.packet(buffer.flow_head(flow));
            let missing = cost(packet).saturating_sub(self.turns[flow.index()].deficit);
            rounds = rounds.min(missing.div_ceil(self.quantum(packet)));
        }
        let rounds = rounds.saturating_sub(1); // the last of them is visited as usual
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
    fn inserted(&mut self, key: Key, flow: FlowKey, buffer: &Buffer) {
        self.follow(buffer);
        if buffer.flow_backlog(flow).packets == 1 {
            self.enter(flow.index() as u32, self.quantum(buffer.packet(key)));
        }
    }

    #[inline]
    fn evicting(&mut self, _: Key, flow: FlowKey, buffer: &Buffer) {
        if buffer.flow_backlog(flow).packets == 1 {
            self.leave(flow.index() as u32);
        }
    }

    #[inline]
    fn choose(&mut self, buffer: &Buffer) -> Option<Chosen> {
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
                return Some(head.into());
            }
            visits = self.pass(visits, head, buffer);
        }
    }

    #[inline]
    fn charge(&mut self, packet: &Packet, flow: FlowKey, buffer: &Buffer) {
        // `flow` has the turn. If the deficit is too small, the next `choose` passes the turn on.
        self.turns[self.current as usize].deficit -= cost(packet);
        self.skip(packet, flow, buffer);
    }

    #[inline]
    fn skip(&mut self, _: &Packet, flow: FlowKey, buffer: &Buffer) {
        if buffer.flow_backlog(flow).packets == 0 {
            self.leave(self.current);
        }
    }

    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        let weights = self.weights.as_mut().ok_or(SetWeightError::NoWeights)?;
        weights.find(class)?;
        let least = MIN_PER_ROUND / (self.quantum >> FRACTION_BITS) as f64;
        if weight.get() < least {
            return Err(SetWeightError::OutOfRange { weight, min: least, max: Weight::MAX.get() });
        }
        weights.set(class, weight)
    }

    fn retune(&mut self, fresh: &dyn Scheduler, _: Time) -> bool {
        let Some(fresh) = (fresh as &dyn Any).downcast_ref::<Self>() else { return false };
        if fresh.turns.len() > self.turns.len() || fresh.filling.is_some() != self.filling.is_some() {
            return false;
        }
        self.filling = fresh.filling;
        if self.filling.is_none() {
            self.quantum = fresh.quantum;
        }
        self.weights.clone_from(&fresh.weights);
        true
    }
}
