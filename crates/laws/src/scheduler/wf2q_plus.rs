//! WF2Q+: worst-case fair weighted fair queueing, with a virtual time that is cheap to keep.
//!
//! # What it does
//! Each flow has a queue of its own with a start tag: what the flow has sent so far, in bytes per weight. The head of a queue may
//! go once virtual time has reached its start tag; of those that may, the one with the least finish tag goes next. Virtual time
//! follows what an ideal server would have given to each.
//!
//! # Why
//! A flow is never more than one packet behind the ideal, as in weighted fair queueing, nor more than one packet ahead of it,
//! as there it may be. So service is as smooth as packets allow, and what is shared further down, in a tree of such
//! schedulers, is smooth too.
//!
//! # State and cost
//! 204 bytes for each packet that the buffer has room for, beside the buffer's own: the backlogged queues, and as many flows
//! with nothing waiting whose tags lie ahead of virtual time. O(log n) per packet, with n the number of either,
//! amortised: a remembered flow is forgotten once. When the link goes idle all are, in O(1). But a packet within which
//! virtual time passes the tags of k remembered flows pays for all k, as exact virtual time has it.
//!
//! # Source (section, equation)
//! J. C. R. Bennett and H. Zhang, "Hierarchical Packet Fair Queueing Algorithms", IEEE/ACM ToN 5(5), 1997: the virtual time of
//! WF2Q+, V(t + s) = max(V(t) + s, least start tag of those waiting).
//!
//! # Where we differ
//! - The paper gives each flow a rate beforehand. Here it has a weight, and its rate is its part of the link among those that
//!   the ideal server would be serving: virtual time goes by bytes over the sum of their weights.
//! - A queue has one start tag, which a packet takes on when it comes to the head, not when it arrives. With tags from the
//!   arrival a flow pays for packets that are pushed out, and one that sends more than its share gets nothing at all.
//! - The memory of flows with nothing waiting has room for as many as the buffer holds packets, and 1024 at least. When it is full, the one with the least tag
//!   is forgotten, and may start from virtual time again.
//! - Within a packet, virtual time goes on with the clock at the link's rate, and no further than the packet's length.
//! - Equal tags go first come, first served.
//!
//! # Example
//! ```toml
//! [discipline."wf2q+"]
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
use fairwire_core::units::Amount;
use fairwire_core::{
    Buffer, Discipline, FlowKey, Key, NotReweighed, Packet, Probe, Scheduler, Time, Unit, Weight,
};
use fairwire_parameters::parameters;

/// What the catalogue tells of it.
pub const ABOUT: About = About {
    family: Family::FairQueueing,
    summary: "of the flows that may start, the one that would finish first goes next",
    state: "204 bytes per packet of buffer, of 1024 at least, and the buffer's queues",
    cost: "O(log n), amortised",
    marks: false,
    source: "Bennett and Zhang 1997",
};

const NAME: &str = "wf2q+";

/// Parameters of `wf2q+`.
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
}

impl Part for Spec {
    fn table_bytes(&self, packets: u64) -> u64 {
        Kind::Wf2qPlus.table_bytes(packets, self.entry.queues)
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
        self.entry.check(NAME, Kind::Wf2qPlus, (self.buffer, self.ecn), None, site)
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        Ok(self.check(site)?.build(site.rng(NAME)))
    }
}

/// What is known of a backlogged queue.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    /// The start tag: one for the queue, which a push-out does not move.
    start: Tag,
    weight: u64,
    /// May it go? Then it stands in `eligible`, by finish tag, otherwise in `early`, by start tag.
    is_eligible: bool,
}

/// Worst-case fair weighted fair queueing. See the [module](self).
#[derive(Debug)]
pub struct Wf2qPlus {
    fluid: Fluid,
    /// By [`FlowKey::index`](fairwire_core::FlowKey::index).
    heads: Box<[Head]>,
    eligible: Heap,
    early: Heap,
}

impl Wf2qPlus {
    /// A scheduler with the rate and the weights of `terms`.
    pub fn new(terms: &Terms) -> Self {
        let queues = terms.limit.max_packets() as usize;
        Wf2qPlus {
            fluid: Fluid::new(terms),
            heads: vec![Head::default(); queues].into(),
            eligible: Heap::new(queues),
            early: Heap::new(queues),
        }
    }

    /// Enters a queue where its start tag says.
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

    /// The last packet of a queue is gone; it would go on from `tag`.
    fn leave(&mut self, key: FlowKey, tag: Tag, buffer: &Buffer) {
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

    /// Lets those go that virtual time has reached; if nobody may go, it goes on to where somebody may.
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

    fn inserted(&mut self, key: Key, buffer: &Buffer) {
        let flow = buffer.flow_of(key);
        if buffer.flow_head(flow) == key {
            let packet = buffer.packet(key);
            let weight = self.fluid.weight(packet);
            let start = self.fluid.join(buffer.flow_hash(flow), weight);
            self.heads[flow.index()] = Head { start, weight, is_eligible: false };
            self.enter(flow.index(), packet);
        }
    }

    fn evicting(&mut self, key: Key, buffer: &Buffer) {
        let (name, flow) = (buffer.flow_hash(buffer.flow_of(key)), buffer.flow_of(key).index());
        match Standing::of(key, buffer) {
            Standing::Only => {
                self.take_out(flow);
                let Head { start, weight, .. } = self.heads[flow];
                self.fluid.leave(name, Account { tag: start, weight });
            }
            Standing::First(next) => {
                let next = buffer.packet(next);
                self.reweigh(flow, next);
                if self.heads[flow].is_eligible {
                    self.eligible.retag(flow, self.heads[flow].start + self.fluid.price().of(next));
                }
            }
            Standing::Behind => {}
        }
    }

    fn choose(&mut self, buffer: &Buffer) -> Option<Key> {
        self.fluid.sent();
        self.let_start(buffer);
        let Some((_, flow)) = self.eligible.least() else {
            self.fluid.idle();
            return None;
        };
        Some(buffer.flow_head(buffer.flow_at(flow)))
    }

    fn charge(&mut self, packet: &Packet, buffer: &Buffer) {
        let key = buffer.changed_flow();
        let (flow, finish) = (key.index(), self.eligible.rank(key.index()).tag);
        self.eligible.remove(flow);
        self.heads[flow].start = finish;
        self.fluid.send(packet.len, finish);
        match head(key, buffer) {
            Some(next) => {
                self.reweigh(flow, next);
                self.enter(flow, next);
            }
            None => self.leave(key, finish, buffer),
        }
    }

    fn skip(&mut self, _: &Packet, buffer: &Buffer) {
        let key = buffer.changed_flow();
        let (flow, start) = (key.index(), self.heads[key.index()].start);
        match head(key, buffer) {
            Some(next) => {
                self.reweigh(flow, next);
                // It was eligible, and virtual time has not gone back.
                self.eligible.retag(flow, start + self.fluid.price().of(next));
            }
            None => {
                self.eligible.remove(flow);
                self.leave(key, start, buffer);
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
