//! SCFQ: self-clocked fair queueing.
//!
//! The packet at the head of each flow's queue has a finish tag: the bytes that its flow will have
//! sent once the packet has left, divided by the flow's weight. The packet with the least tag is
//! next. An idle flow starts from the tag of the packet being sent.
//!
//! S. J. Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications", INFOCOM 1994.
//! [`scfq`](crate::compose::fair_queueing::scfq) lists the differences.

use super::heap::Heap;
use super::standing::{Standing, head};
use super::tag::{FRACTION_BITS, Price, Tag};
use crate::scheduler::terms::Terms;
use alloc::boxed::Box;
use alloc::vec;
use core::any::Any;
use fairwire_core::{
    Buffer, Chosen, FlowKey, Key, Packet, Probe, Scheduler, SetWeightError, Time, Unit, Weight,
};

#[derive(Debug)]
pub(crate) struct Scfq {
    price: Price,
    /// The finish tag of the packet being sent.
    virtual_time: Tag,
    /// Start tags by [`FlowKey::index`](fairwire_core::FlowKey::index). A tag belongs to the queue,
    /// not to its head, so a push-out does not change it.
    starts: Box<[Tag]>,
    finishes: Heap,
}

impl Scfq {
    pub(crate) fn new(terms: &Terms) -> Self {
        let queues = terms.limit.max_packets() as usize;
        Scfq {
            price: Price::new(terms.weights.clone()),
            virtual_time: 0,
            starts: vec![0; queues].into(),
            finishes: Heap::new(queues),
        }
    }

    fn finish(&self, flow: usize, head: &Packet) -> Tag {
        self.starts[flow] + self.price.of(head)
    }
}

impl Scheduler for Scfq {
    fn inserted(&mut self, key: Key, flow: FlowKey, buffer: &Buffer) {
        if buffer.flow_head(flow) == key {
            self.starts[flow.index()] = self.virtual_time;
            self.finishes.insert(flow.index(), self.finish(flow.index(), buffer.packet(key)));
        }
    }

    fn evicting(&mut self, key: Key, flow: FlowKey, buffer: &Buffer) {
        let flow = flow.index();
        match Standing::of(key, buffer) {
            Standing::Only => self.finishes.remove(flow),
            Standing::First(next) => self.finishes.retag(flow, self.finish(flow, buffer.packet(next))),
            Standing::Behind => {}
        }
    }

    fn choose(&mut self, buffer: &Buffer) -> Option<Chosen> {
        let (_, flow) = self.finishes.least()?;
        Some(buffer.flow_head(buffer.flow_at(flow)).into())
    }

    fn charge(&mut self, _: &Packet, key: FlowKey, buffer: &Buffer) {
        let (flow, finish) = (key.index(), self.finishes.rank(key.index()).tag);
        self.starts[flow] = finish;
        self.virtual_time = self.virtual_time.max(finish);
        match head(key, buffer) {
            Some(next) => self.finishes.change(flow, self.finish(flow, next)),
            None => self.finishes.remove(flow),
        }
    }

    fn skip(&mut self, _: &Packet, key: FlowKey, buffer: &Buffer) {
        match head(key, buffer) {
            Some(next) => self.finishes.retag(key.index(), self.finish(key.index(), next)),
            None => self.finishes.remove(key.index()),
        }
    }

    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        self.price.set_weight(class, weight)
    }

    fn retune(&mut self, fresh: &dyn Scheduler, _: Time) -> bool {
        let Some(fresh) = (fresh as &dyn Any).downcast_ref::<Self>() else { return false };
        self.finishes.has_room_for(&fresh.finishes) && self.price.retune(&fresh.price)
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let bytes = self.virtual_time as f64 / (1u64 << FRACTION_BITS) as f64;
        probe.gauge("virtual_time", Unit::Bytes, bytes);
    }
}
