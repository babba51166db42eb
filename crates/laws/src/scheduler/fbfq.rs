//! FBFQ: frame-based fair queueing.
//!
//! # What it does
//! Each flow has a queue of its own with a potential: what the flow has sent so far, in bytes per weight. The packet that would
//! bring its flow to the least potential goes next. A system potential, from which new flows start, goes on with the bytes
//! sent; potentials are cut into frames, and once all flows have passed the end of a frame, so has the system.
//!
//! # Why
//! It bounds delay as weighted fair queueing does. The system potential must not fall behind those of the flows, or a new flow would
//! be served alone until it has caught up; looking for the least potential at each packet is what is dear, and one look per
//! frame is enough. This is the fair queueing ("FQ") of Suter's paper.
//!
//! # State and cost
//! 172 bytes for each packet that the buffer has room for, beside the buffer's own: the backlogged queues, and as many flows
//! with nothing waiting whose potentials lie ahead of the system's. O(log n) per packet, with n the number of either,
//! amortised: a remembered flow is forgotten once. When the link goes idle all are, in O(1). But a packet within which
//! virtual time passes the tags of k remembered flows pays for all k, as exact virtual time has it.
//!
//! # Source (section, equation)
//! D. Stiliadis and A. Varma, "Design and Analysis of Frame-based Fair Queueing: A New Traffic Scheduling Algorithm for
//! Packet-Switched Networks", SIGMETRICS 1996: potentials and frames.
//!
//! # Where we differ
//! - It is not the algorithm as published. The paper gives each flow a rate beforehand, and a frame has a length in time. Here a flow has
//!   a weight, and its rate is its part of the link among those that an ideal server (GPS) would be serving: system potential and rates
//!   follow GPS's virtual time, with a memory of the flows that it still serves. A frame has a length in bytes per weight.
//! - So the system potential costs O(1) per packet in the paper, and O(log n), amortised, here. Flows that always have packets waiting
//!   are served alike by both.
//! - A queue has one potential, which a packet takes on when it comes to the head, not when it arrives. With tags from the
//!   arrival a flow pays for packets that are pushed out, and one that sends more than its share gets nothing at all. For the
//!   same reason the packets that cross the end of a frame are not counted, but the queues that start within each frame.
//! - Where a packet is longer than the quantum times the weight, its queue may start more than one frame ahead. Up to seven are
//!   told apart; one that starts later is counted with the seventh, so that frame ends late and no harm is done.
//! - The memory of flows with nothing waiting has room for as many as the buffer holds packets, and 1024 at least. When it is full, the one with the least
//!   potential is forgotten, and may start from the system's again.
//! - Within a packet, the system potential goes on with the clock at the link's rate, and no further than the packet's length.
//! - Equal tags go first come, first served.
//!
//! # Example
//! ```toml
//! [discipline.fbfq]
//! quantum = "1514 B"
//! weights = { 1 = 2.0 }
//! dropper = "lqd"
//! ```

use super::entry::{CheckedEntry, Entry};
use super::finished::Account;
use super::fluid::Fluid;
use super::heap::Heap;
use super::standing::{Standing, head};
use super::tag::{FRACTION_BITS, Tag};
use crate::about::{About, Family};
use crate::error::BadParameter;
use crate::part::{ClassSupport, Part};
use crate::scheduler::any::{Kind, Terms};
use crate::scheduler::service::Per;
use crate::site::Site;
use crate::spec::{EcnChoice, Quantity, Weights};
use alloc::boxed::Box;
use alloc::vec;
use fairwire_core::units::{Amount, Size};
use fairwire_core::{
    Buffer, Discipline, FlowKey, Key, NotReweighed, Packet, Probe, Scheduler, Time, Unit, Weight,
};
use fairwire_parameters::parameters;

/// What the catalogue tells of it.
pub const ABOUT: About = About {
    family: Family::FairQueueing,
    summary: "the least finish tag goes next; virtual time catches up at the end of each frame",
    state: "172 bytes per packet of buffer, of 1024 at least, and the buffer's queues",
    cost: "O(log n), amortised",
    marks: false,
    source: "Stiliadis and Varma 1996",
};

const NAME: &str = "fbfq";

/// Parameters of `fbfq`.
#[parameters(gated)]
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
    /// What a flow of weight 1 may send per frame.
    ///
    /// The length of a frame: Times the least weight it should be at least a packet: Stiliadis and Varma 1996, whose frame is
    /// a time.
    #[parameter(unset = "1514 B, or the typical packet if that is longer", unit = "size")]
    pub quantum: Option<Quantity<Size>>,
}

impl Part for Spec {
    fn table_bytes(&self, packets: u64) -> u64 {
        Kind::Fbfq.table_bytes(packets, self.entry.queues)
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
}

impl Spec {
    /// Checks what was typed against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<CheckedEntry, BadParameter> {
        self.entry.check(NAME, Kind::Fbfq, (self.buffer, self.ecn), self.quantum, site)
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        Ok(self.check(site)?.build(site.rng(NAME)))
    }
}

/// So many frames are told apart, the current one included.
const FRAMES: usize = 8;

/// Which frames the backlogged queues start in.
#[derive(Clone, Debug)]
struct Frames {
    /// In units of tags.
    length: Tag,
    /// Where the current frame begins.
    begin: Tag,
    /// The current frame's place in `queues`, which is a ring.
    current: usize,
    queues: [u32; FRAMES],
}

impl Frames {
    /// The place of the frame that `start` is in.
    #[inline]
    fn place(&self, start: Tag) -> usize {
        let ahead = start.saturating_sub(self.begin);
        let frames = if ahead < self.length { 0 } else { (ahead / self.length).min(FRAMES as Tag - 1) };
        (self.current + frames as usize) % FRAMES
    }

    /// Goes on to the first frame that a queue starts in, if there is one.
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

/// What is known of a backlogged queue.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    /// The potential: one for the queue, which a push-out does not move.
    start: Tag,
    weight: u64,
    /// The place of its frame.
    frame: usize,
}

/// Frame-based fair queueing. See the [module](self).
#[derive(Debug)]
pub struct Fbfq {
    fluid: Fluid,
    frames: Frames,
    /// By [`FlowKey::index`](fairwire_core::FlowKey::index).
    heads: Box<[Head]>,
    finishes: Heap,
}

impl Fbfq {
    /// A scheduler with the rate, the weights and the quantum of `terms`.
    pub fn new(terms: &Terms) -> Self {
        let queues = terms.limit.max_packets() as usize;
        let length = Tag::from(terms.quantum) << FRACTION_BITS;
        Fbfq {
            fluid: Fluid::new(terms),
            frames: Frames { length, begin: 0, current: 0, queues: [0; FRAMES] },
            heads: vec![Head::default(); queues].into(),
            finishes: Heap::new(queues),
        }
    }

    /// Counts a queue into the frame that it starts in.
    fn start(&mut self, flow: usize, start: Tag) {
        let frame = self.frames.place(start);
        self.frames.queues[frame] += 1;
        (self.heads[flow].start, self.heads[flow].frame) = (start, frame);
    }

    fn stop(&mut self, flow: usize) {
        self.frames.queues[self.heads[flow].frame] -= 1;
    }

    /// The last packet of a queue is gone; it would go on from `tag`.
    fn leave(&mut self, key: FlowKey, tag: Tag, buffer: &Buffer) {
        self.finishes.remove(key.index());
        self.fluid.leave(buffer.flow_hash(key), Account { tag, weight: self.heads[key.index()].weight });
    }

    /// `packet` comes to the head of a queue.
    fn reweigh(&mut self, flow: usize, packet: &Packet) {
        let weight = self.fluid.weight(packet);
        let before = core::mem::replace(&mut self.heads[flow].weight, weight);
        if before != weight {
            self.fluid.reweigh(before, weight);
        }
    }

    /// The tag of a queue whose first packet is `packet`.
    fn finish(&self, flow: usize, packet: &Packet) -> Tag {
        self.heads[flow].start + self.fluid.price().of(packet)
    }
}

impl Scheduler for Fbfq {
    fn clock(&mut self, now: Time) {
        self.fluid.clock(now);
    }

    fn inserted(&mut self, key: Key, buffer: &Buffer) {
        let flow = buffer.flow_of(key);
        if buffer.flow_head(flow) == key {
            let packet = buffer.packet(key);
            let weight = self.fluid.weight(packet);
            let start = self.fluid.join(buffer.flow_hash(flow), weight);
            self.heads[flow.index()].weight = weight;
            self.start(flow.index(), start);
            self.finishes.insert(flow.index(), self.finish(flow.index(), packet));
        }
    }

    fn evicting(&mut self, key: Key, buffer: &Buffer) {
        let (name, flow) = (buffer.flow_hash(buffer.flow_of(key)), buffer.flow_of(key).index());
        match Standing::of(key, buffer) {
            Standing::Only => {
                self.stop(flow);
                self.finishes.remove(flow);
                let Head { start, weight, .. } = self.heads[flow];
                self.fluid.leave(name, Account { tag: start, weight });
            }
            Standing::First(next) => {
                self.reweigh(flow, buffer.packet(next));
                self.finishes.retag(flow, self.finish(flow, buffer.packet(next)));
            }
            Standing::Behind => {}
        }
    }

    fn choose(&mut self, buffer: &Buffer) -> Option<Key> {
        self.fluid.sent();
        let Some((_, flow)) = self.finishes.least() else {
            self.fluid.idle();
            self.frames.begin = self.fluid.virtual_time();
            return None;
        };
        self.frames.go_on();
        self.fluid.raise(self.frames.begin);
        Some(buffer.flow_head(buffer.flow_at(flow)))
    }

    fn charge(&mut self, packet: &Packet, buffer: &Buffer) {
        let key = buffer.changed_flow();
        let (flow, finish) = (key.index(), self.finishes.rank(key.index()).tag);
        self.stop(flow);
        self.fluid.send(packet.len, finish);
        match head(key, buffer) {
            Some(next) => {
                self.start(flow, finish);
                self.reweigh(flow, next);
                self.finishes.change(flow, self.finish(flow, next));
            }
            None => self.leave(key, finish, buffer),
        }
    }

    fn skip(&mut self, _: &Packet, buffer: &Buffer) {
        let key = buffer.changed_flow();
        let flow = key.index();
        match head(key, buffer) {
            Some(next) => {
                self.reweigh(flow, next);
                self.finishes.retag(flow, self.finish(flow, next));
            }
            None => {
                self.stop(flow);
                self.leave(key, self.heads[flow].start, buffer);
            }
        }
    }

    fn reweigh(&mut self, class: u32, weight: Weight) -> Result<Weight, NotReweighed> {
        self.fluid.reweigh_class(class, weight)
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let bytes = self.fluid.virtual_time() as f64 / (1u64 << FRACTION_BITS) as f64;
        probe.gauge("virtual_time", Unit::Bytes, bytes);
        probe.gauge("remembered_flows", Unit::Flows, self.fluid.remembered() as f64);
    }
}
