//! FBFQ: frame-based fair queueing.
//!
//! Each flow's queue has a potential: the bytes that the flow has sent, divided by its weight. The
//! next packet is the one that brings its flow to the least potential. New flows start from a
//! system potential, which advances with the bytes sent. Potentials are divided into frames. Once
//! all flows have passed the end of a frame, the system potential passes it too.
//!
//! D. Stiliadis and A. Varma, "Design and Analysis of Frame-based Fair Queueing: A New Traffic
//! Scheduling Algorithm for Packet-Switched Networks", SIGMETRICS 1996.
//! [`fbfq`](crate::compose::fair_queueing::fbfq) lists the differences.

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

/// The number of frames that are distinguished, including the current frame.
const FRAMES: usize = 8;

/// The frames, with the number of backlogged queues whose start tags lie in each.
#[derive(Clone, Debug)]
struct Frames {
    length: Tag,
    begin: Tag,
    current: usize,
    queues: [u32; FRAMES],
}

impl Frames {
    #[inline]
    fn place(&self, start: Tag) -> usize {
        let ahead = start.saturating_sub(self.begin);
        let frames = if ahead < self.length { 0 } else { (ahead / self.length).min(FRAMES as Tag - 1) };
        (self.current + frames as usize) % FRAMES
    }

    /// Advances to the first frame that contains the start tag of a queue, if any.
    #[inline]
    fn go_on(&mut self) {
        for _ in 0..FRAMES {
            if self.queues[self.current] > 0 {
                return;
            }
            self.current = (self.current + 1) % FRAMES;
            self.begin += self.length;
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Head {
    /// The queue's potential, which a push-out does not change.
    start: Tag,
    weight: u64,
    frame: usize,
}

#[derive(Debug)]
pub(crate) struct Fbfq {
    fluid: Fluid,
    frames: Frames,
    /// By [`FlowKey::index`](fairwire_core::FlowKey::index).
    heads: Box<[Head]>,
    finishes: Heap,
}

impl Fbfq {
    pub(crate) fn new(terms: &Terms) -> Self {
        let queues = terms.limit.max_packets() as usize;
        let length = Tag::from(terms.quantum) << FRACTION_BITS;
        Fbfq {
            fluid: Fluid::new(terms),
            frames: Frames { length, begin: 0, current: 0, queues: [0; FRAMES] },
            heads: vec![Head::default(); queues].into(),
            finishes: Heap::new(queues),
        }
    }

    fn start(&mut self, flow: usize, start: Tag) {
        let frame = self.frames.place(start);
        self.frames.queues[frame] += 1;
        (self.heads[flow].start, self.heads[flow].frame) = (start, frame);
    }

    fn stop(&mut self, flow: usize) {
        self.frames.queues[self.heads[flow].frame] -= 1;
    }

    /// Removes a queue that has become empty. If its flow returns, it continues from `tag`.
    fn leave(&mut self, key: FlowKey, tag: Tag, buffer: &Buffer) {
        self.finishes.remove(key.index());
        self.fluid.leave(buffer.flow_hash(key), Account { tag, weight: self.heads[key.index()].weight });
    }

    fn set_weight(&mut self, flow: usize, packet: &Packet) {
        let weight = self.fluid.weight(packet);
        let before = core::mem::replace(&mut self.heads[flow].weight, weight);
        if before != weight {
            self.fluid.set_weight(before, weight);
        }
    }

    fn finish(&self, flow: usize, packet: &Packet) -> Tag {
        self.heads[flow].start + self.fluid.price().of(packet)
    }
}

impl Scheduler for Fbfq {
    fn clock(&mut self, now: Time) {
        self.fluid.clock(now);
    }

    fn inserted(&mut self, key: Key, flow: FlowKey, buffer: &Buffer) {
        if buffer.flow_head(flow) == key {
            let packet = buffer.packet(key);
            let weight = self.fluid.weight(packet);
            let start = self.fluid.join(buffer.flow_hash(flow), weight);
            self.heads[flow.index()].weight = weight;
            self.start(flow.index(), start);
            self.finishes.insert(flow.index(), self.finish(flow.index(), packet));
        }
    }

    fn evicting(&mut self, key: Key, flow: FlowKey, buffer: &Buffer) {
        let (name, flow) = (buffer.flow_hash(flow), flow.index());
        match Standing::of(key, buffer) {
            Standing::Only => {
                self.stop(flow);
                self.finishes.remove(flow);
                let Head { start, weight, .. } = self.heads[flow];
                self.fluid.leave(name, Account { tag: start, weight });
            }
            Standing::First(next) => {
                self.set_weight(flow, buffer.packet(next));
                self.finishes.retag(flow, self.finish(flow, buffer.packet(next)));
            }
            Standing::Behind => {}
        }
    }

    fn choose(&mut self, buffer: &Buffer) -> Option<Chosen> {
        self.fluid.sent();
        let Some((_, flow)) = self.finishes.least() else {
            self.fluid.idle();
            self.frames.begin = self.fluid.virtual_time();
            return None;
        };
        self.frames.go_on();
        self.fluid.raise(self.frames.begin);
        Some(buffer.flow_head(buffer.flow_at(flow)).into())
    }

    fn charge(&mut self, packet: &Packet, key: FlowKey, buffer: &Buffer) {
        let (flow, finish) = (key.index(), self.finishes.rank(key.index()).tag);
        self.stop(flow);
        self.fluid.send(packet.len, finish);
        match head(key, buffer) {
            Some(next) => {
                self.start(flow, finish);
                self.set_weight(flow, next);
                self.finishes.change(flow, self.finish(flow, next));
            }
            None => self.leave(key, finish, buffer),
        }
    }

    fn skip(&mut self, _: &Packet, key: FlowKey, buffer: &Buffer) {
        let flow = key.index();
        match head(key, buffer) {
            Some(next) => {
                self.set_weight(flow, next);
                self.finishes.retag(flow, self.finish(flow, next));
            }
            None => {
                self.stop(flow);
                self.leave(key, self.heads[flow].start, buffer);
            }
        }
    }

    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        self.fluid.set_class_weight(class, weight)
    }

    fn retune(&mut self, fresh: &dyn Scheduler, _: Time) -> bool {
        let Some(fresh) = (fresh as &dyn Any).downcast_ref::<Self>() else { return false };
        self.frames.length == fresh.frames.length
            && self.finishes.has_room_for(&fresh.finishes)
            && self.fluid.retune(&fresh.fluid)
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let bytes = self.fluid.virtual_time() as f64 / (1u64 << FRACTION_BITS) as f64;
        probe.gauge("virtual_time", Unit::Bytes, bytes);
        probe.gauge("remembered_flows", Unit::Flows, self.fluid.remembered() as f64);
    }
}
