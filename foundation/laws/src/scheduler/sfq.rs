//! SFQ: start-time fair queueing.
//!
//! Each flow's queue has a start tag: the bytes that the flow has sent, divided by its weight. The
//! queue with the least start tag is next, and virtual time is the start tag of the packet being
//! sent. An idle flow starts from virtual time, or from its last finish tag if that is later.
//!
//! P. Goyal, H. M. Vin and H. Cheng, "Start-time Fair Queuing: A Scheduling Algorithm for
//! Integrated Services Packet Switching Networks", SIGCOMM 1996.
//! [`sfq`](crate::compose::fair_queueing::sfq) lists the differences.

use super::finished::{Account, Finished};
use super::heap::Heap;
use super::standing::{Standing, head};
use super::tag::{FRACTION_BITS, Price, Tag};
use crate::scheduler::terms::Terms;
use core::any::Any;
use fairwire_core::{
    Buffer, Chosen, FlowHash, FlowKey, Key, Packet, Probe, Scheduler, SetWeightError, Time, Unit, Weight,
};

#[derive(Debug)]
pub(crate) struct Sfq {
    price: Price,
    virtual_time: Tag,
    /// The greatest finish tag given, to which virtual time moves when the link goes idle.
    latest: Tag,
    /// The start tags, which belong to queues, so a push-out does not change them.
    starts: Heap,
    finished: Finished,
}

impl Sfq {
    pub(crate) fn new(terms: &Terms) -> Self {
        let queues = terms.limit.max_packets() as usize;
        Sfq {
            price: Price::new(terms.weights.clone()),
            virtual_time: 0,
            latest: 0,
            starts: Heap::new(queues),
            finished: Finished::beside(queues),
        }
    }

    fn remember(&mut self, flow: FlowHash, tag: Tag) {
        if tag > self.virtual_time {
            self.finished.remember(flow, Account { tag, weight: 0 });
        }
    }
}

impl Scheduler for Sfq {
    fn inserted(&mut self, key: Key, flow: FlowKey, buffer: &Buffer) {
        if buffer.flow_head(flow) == key {
            let before = self.finished.recall(buffer.flow_hash(flow));
            let start = before.map_or(0, |account| account.tag).max(self.virtual_time);
            self.starts.insert(flow.index(), start);
        }
    }

    fn evicting(&mut self, key: Key, flow: FlowKey, buffer: &Buffer) {
        if Standing::of(key, buffer) == Standing::Only {
            let start = self.starts.rank(flow.index()).tag;
            self.starts.remove(flow.index());
            self.remember(buffer.flow_hash(flow), start);
        }
    }

    fn choose(&mut self, buffer: &Buffer) -> Option<Chosen> {
        // Flows whose tags are not ahead of virtual time have no effect. Forgetting two at a time
        // is enough: each departure adds at most one.
        let _ =
            self.finished.expired(self.virtual_time).and_then(|_| self.finished.expired(self.virtual_time));
        let Some((_, flow)) = self.starts.least() else {
            self.virtual_time = self.latest;
            return None;
        };
        Some(buffer.flow_head(buffer.flow_at(flow)).into())
    }

    fn charge(&mut self, packet: &Packet, key: FlowKey, buffer: &Buffer) {
        let start = self.starts.rank(key.index()).tag;
        let finish = start + self.price.of(packet);
        self.virtual_time = start;
        self.latest = self.latest.max(finish);
        match head(key, buffer) {
            Some(_) => self.starts.change(key.index(), finish),
            None => {
                self.starts.remove(key.index());
                self.remember(buffer.flow_hash(key), finish);
            }
        }
    }

    fn skip(&mut self, _: &Packet, key: FlowKey, buffer: &Buffer) {
        if head(key, buffer).is_none() {
            let start = self.starts.rank(key.index()).tag;
            self.starts.remove(key.index());
            self.remember(buffer.flow_hash(key), start);
        }
    }

    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        self.price.set_weight(class, weight)
    }

    fn retune(&mut self, fresh: &dyn Scheduler, _: Time) -> bool {
        let Some(fresh) = (fresh as &dyn Any).downcast_ref::<Self>() else { return false };
        self.starts.has_room_for(&fresh.starts) && self.price.retune(&fresh.price)
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let bytes = self.virtual_time as f64 / (1u64 << FRACTION_BITS) as f64;
        probe.gauge("virtual_time", Unit::Bytes, bytes);
        probe.gauge("remembered_flows", Unit::Flows, self.finished.len() as f64);
    }
}
