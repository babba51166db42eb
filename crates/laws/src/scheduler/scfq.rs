//! SCFQ: self-clocked fair queueing.
//!
//! # What it does
//! Each flow has a queue of its own. The packet at the head of each queue has a finish tag: what its flow has sent, in bytes
//! per weight, once that packet is gone. The least tag goes next. A flow that had nothing waiting starts from the tag of the
//! packet that is being sent.
//!
//! # Why
//! It gives flows the shares of fair queueing without the cost of fair queueing's virtual time, which follows an ideal server
//! that is simulated beside the real one. Shares are as even as can be; delays are not: a packet may wait for one packet of each
//! of the others.
//!
//! # State and cost
//! 52 bytes for each packet that the buffer has room for, beside the buffer's own. O(log n) per packet with n backlogged flows.
//!
//! # Source (section, equation)
//! S. J. Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications", INFOCOM 1994: the definition of the
//! scheme.
//!
//! # Where we differ
//! - Tags are computed when a packet comes to the head of its queue, not when it arrives. With tags from the arrival a flow
//!   pays for packets that are pushed out, and one that sends more than its share gets nothing at all. Without push-out the
//!   two give the same tags, except that a flow's later packets are priced by the weights of the day.
//! - Nothing is remembered of a flow that has nothing waiting: its last finish tag was that of a packet being sent, so
//!   virtual time has reached it. For the same reason nothing need be reset when the link goes idle.
//! - Virtual time does not go back where a push-out brings a shorter packet to the head.
//! - Equal tags go first come, first served.
//!
//! # Example
//! ```toml
//! [discipline.scfq]
//! weights = { 1 = 2.0 }
//! dropper = "tail-drop"
//! ```

use super::entry::{CheckedEntry, Entry};
use super::heap::Heap;
use super::standing::{Standing, head};
use super::tag::{FRACTION_BITS, Price, Tag};
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
use fairwire_core::{Buffer, Discipline, Key, NotReweighed, Packet, Probe, Scheduler, Unit, Weight};
use fairwire_parameters::parameters;

/// What the catalogue tells of it.
pub const ABOUT: About = About {
    family: Family::FairQueueing,
    summary: "the least finish tag goes next; virtual time is the tag being sent",
    state: "52 bytes per packet of buffer, and the buffer's queues",
    cost: "O(log n)",
    marks: false,
    source: "Golestani 1994",
};

const NAME: &str = "scfq";

/// Parameters of `scfq`.
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
        Kind::Scfq.table_bytes(packets, self.entry.queues)
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
        self.entry.check(NAME, Kind::Scfq, (self.buffer, self.ecn), None, site)
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        Ok(self.check(site)?.build(site.rng(NAME)))
    }
}

/// Self-clocked fair queueing. See the [module](self).
#[derive(Debug)]
pub struct Scfq {
    price: Price,
    /// The finish tag of the packet being sent.
    virtual_time: Tag,
    /// The start tag of the head of each queue, by [`FlowKey::index`](fairwire_core::FlowKey::index): one for the queue,
    /// which a push-out does not move.
    starts: Box<[Tag]>,
    /// The backlogged queues by the finish tag of their heads.
    finishes: Heap,
}

impl Scfq {
    /// A scheduler with the weights of `terms`.
    pub fn new(terms: &Terms) -> Self {
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
    fn inserted(&mut self, key: Key, buffer: &Buffer) {
        let flow = buffer.flow_of(key);
        if buffer.flow_head(flow) == key {
            self.starts[flow.index()] = self.virtual_time;
            self.finishes.insert(flow.index(), self.finish(flow.index(), buffer.packet(key)));
        }
    }

    fn evicting(&mut self, key: Key, buffer: &Buffer) {
        let flow = buffer.flow_of(key).index();
        match Standing::of(key, buffer) {
            Standing::Only => self.finishes.remove(flow),
            Standing::First(next) => self.finishes.retag(flow, self.finish(flow, buffer.packet(next))),
            Standing::Behind => {}
        }
    }

    fn choose(&mut self, buffer: &Buffer) -> Option<Key> {
        let (_, flow) = self.finishes.least()?;
        Some(buffer.flow_head(buffer.flow_at(flow)))
    }

    fn charge(&mut self, _: &Packet, buffer: &Buffer) {
        let key = buffer.changed_flow();
        let (flow, finish) = (key.index(), self.finishes.rank(key.index()).tag);
        self.starts[flow] = finish;
        self.virtual_time = self.virtual_time.max(finish);
        match head(key, buffer) {
            Some(next) => self.finishes.change(flow, self.finish(flow, next)),
            None => self.finishes.remove(flow),
        }
    }

    fn skip(&mut self, _: &Packet, buffer: &Buffer) {
        let key = buffer.changed_flow();
        match head(key, buffer) {
            Some(next) => self.finishes.retag(key.index(), self.finish(key.index(), next)),
            None => self.finishes.remove(key.index()),
        }
    }

    fn reweigh(&mut self, class: u32, weight: Weight) -> Result<Weight, NotReweighed> {
        self.price.reweigh(class, weight)
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let bytes = self.virtual_time as f64 / (1u64 << FRACTION_BITS) as f64;
        probe.gauge("virtual_time", Unit::Bytes, bytes);
    }
}
