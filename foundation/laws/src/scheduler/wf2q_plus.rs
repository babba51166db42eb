//! WF2Q+: worst-case fair weighted fair queueing.
//!
//! Each flow's queue has a start tag: the bytes that the flow has sent, divided by its weight. The
//! head of a queue is eligible once virtual time has reached the start tag. The eligible packet
//! with the least finish tag is next.
//!
//! J. C. R. Bennett and H. Zhang, "Hierarchical Packet Fair Queueing Algorithms", IEEE/ACM ToN
//! 5(5), 1997: the virtual time V(t + s) = max(V(t) + s, least start tag of the waiting packets).
//! [`wf2q_plus`](crate::compose::fair_queueing::wf2q_plus) lists the differences.

use super::finished::Account;
use super::fluid::Fluid;
use super::heap::Heap;
use super::standing::{Standing, head};
use super::tag::{FRACTION_BITS, Tag};
use crate::scheduler::terms::Terms;
use alloc::boxed::Box;
use alloc::vec;
use core::any::Any;
use fairwire_core::{
    Buffer, Chosen, FlowKey, Key, Packet, Probe, Scheduler, SetWeightError, Time, Unit, Weight,
};

#[derive(Clone, Copy, Debug, Default)]
struct Head {
    /// The queue's start tag, which a push-out does not change.
    start: Tag,
    weight: u64,
    /// May the head be sent? If so, the queue is in `eligible`, sorted by finish tag; otherwise in
    /// `early`, sorted by start tag.
    is_eligible: bool,
}

#[derive(Debug)]
pub(crate) struct Wf2qPlus {
    fluid: Fluid,
    /// By [`FlowKey::index`](fairwire_core::FlowKey::index).
    heads: Box<[Head]>,
    eligible: Heap,
    early: Heap,
}

impl Wf2qPlus {
    pub(crate) fn new(terms: &Terms) -> Self {
        let queues = terms.limit.max_packets() as usize;
        Wf2qPlus {
            fluid: Fluid::new(terms),
            heads: vec![Head::default(); queues].into(),
            eligible: Heap::new(queues),
            early: Heap::new(queues),
        }
    }

    fn enter(&mut self, flow: usize, packet: &Packet) {
        let head = &mut self.heads[flow];
        head.is_eligible = head.start <= self.fluid.virtual_time();
        match head.is_eligible {
            true => self.eligible.insert(flow, head.start + self.fluid.price().of(packet)),
            false => self.early.insert(flow, head.start),
        }
    }

    fn take_out(&mut self, flow: usize) {
        match self.heads[flow].is_eligible {
            true => self.eligible.remove(flow),
            false => self.early.remove(flow),
        }
    }

    /// Removes a queue that has become empty. If its flow returns, it continues from `tag`.
    fn leave(&mut self, key: FlowKey, tag: Tag, buffer: &Buffer) {
        self.fluid.leave(buffer.flow_hash(key), Account { tag, weight: self.heads[key.index()].weight });
    }

    fn set_weight(&mut self, flow: usize, packet: &Packet) {
        let weight = self.fluid.weight(packet);
        let before = core::mem::replace(&mut self.heads[flow].weight, weight);
        if before != weight {
            self.fluid.set_weight(before, weight);
        }
    }

    /// If no flow is eligible, raises virtual time to the least start tag. Then makes all flows
    /// eligible whose start tags are not ahead of virtual time.
    fn let_start(&mut self, buffer: &Buffer) {
        if let (true, Some((start, _))) = (self.eligible.is_empty(), self.early.least()) {
            self.fluid.raise(start);
        }
        while let Some((start, flow)) = self.early.least() {
            if start > self.fluid.virtual_time() {
                return;
            }
            self.early.remove(flow);
            self.enter(flow, buffer.packet(buffer.flow_head(buffer.flow_at(flow))));
        }
    }
}

impl Scheduler for Wf2qPlus {
    fn clock(&mut self, now: Time) {
        self.fluid.clock(now);
    }

    fn inserted(&mut self, key: Key, flow: FlowKey, buffer: &Buffer) {
        if buffer.flow_head(flow) == key {
            let packet = buffer.packet(key);
            let weight = self.fluid.weight(packet);
            let start = self.fluid.join(buffer.flow_hash(flow), weight);
            self.heads[flow.index()] = Head { start, weight, is_eligible: false };
            self.enter(flow.index(), packet);
        }
    }

    fn evicting(&mut self, key: Key, flow: FlowKey, buffer: &Buffer) {
        let (name, flow) = (buffer.flow_hash(flow), flow.index());
        match Standing::of(key, buffer) {
            Standing::Only => {
                self.take_out(flow);
                let Head { start, weight, .. } = self.heads[flow];
                self.fluid.leave(name, Account { tag: start, weight });
            }
            Standing::First(next) => {
                let next = buffer.packet(next);
                self.set_weight(flow, next);
                if self.heads[flow].is_eligible {
                    self.eligible.retag(flow, self.heads[flow].start + self.fluid.price().of(next));
                }
            }
            Standing::Behind => {}
        }
    }

    fn choose(&mut self, buffer: &Buffer) -> Option<Chosen> {
        self.fluid.sent();
        self.let_start(buffer);
        let Some((_, flow)) = self.eligible.least() else {
            self.fluid.idle();
            return None;
        };
        Some(buffer.flow_head(buffer.flow_at(flow)).into())
    }

    fn charge(&mut self, packet: &Packet, key: FlowKey, buffer: &Buffer) {
        let (flow, finish) = (key.index(), self.eligible.rank(key.index()).tag);
        self.eligible.remove(flow);
        self.heads[flow].start = finish;
        self.fluid.send(packet.len, finish);
        match head(key, buffer) {
            Some(next) => {
                self.set_weight(flow, next);
                self.enter(flow, next);
            }
            None => self.leave(key, finish, buffer),
        }
    }

    fn skip(&mut self, _: &Packet, key: FlowKey, buffer: &Buffer) {
        let (flow, start) = (key.index(), self.heads[key.index()].start);
        match head(key, buffer) {
            Some(next) => {
                self.set_weight(flow, next);
                // The queue stays eligible: its start tag is the same, and virtual time has not
                // gone back.
                self.eligible.retag(flow, start + self.fluid.price().of(next));
            }
            None => {
                self.eligible.remove(flow);
                self.leave(key, start, buffer);
            }
        }
    }

    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        self.fluid.set_class_weight(class, weight)
    }

    fn retune(&mut self, fresh: &dyn Scheduler, _: Time) -> bool {
        let Some(fresh) = (fresh as &dyn Any).downcast_ref::<Self>() else { return false };
        self.eligible.has_room_for(&fresh.eligible) && self.fluid.retune(&fresh.fluid)
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let bytes = self.fluid.virtual_time() as f64 / (1u64 << FRACTION_BITS) as f64;
        probe.gauge("virtual_time", Unit::Bytes, bytes);
        probe.gauge("remembered_flows", Unit::Flows, self.fluid.remembered() as f64);
    }
}
