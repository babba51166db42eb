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
//! # Parameters (unit, default, source)
//! - `buffer` (amount; the site's): how much may wait.
//! - `ecn` (choice; `drop`): accepted as by every discipline, without effect: nothing is signalled early.
//! - `weights` (numbers by class; 1 for each): a flow's share is in proportion to the weight of its class, as in Golestani 1994.
//! - `per` (choice; `flow`): whether each flow or each class has a queue.
//! - `queues` (count; as many as flows): at most so many queues.
//! - `sharing` (choice; `hash`): what happens when there are more flows than queues. Suter et al. 1998, figure 10.
//! - `dropper` (choice; `lqd`): who makes room: the front of the longest queue, or the arrival itself.
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

use super::entry::{Checked, MakesRoom, Typed};
use super::heap::Heap;
use super::standing::{Standing, head};
use super::tag::{FRACTION_BITS, Price, Tag};
use crate::catalogue::{About, Family};
use crate::error::{BadParameter, BuildError};
use crate::part::{ClassSupport, Part};
use crate::scheduler::any::{Kind, Terms};
use crate::scheduler::service::{Per, Sharing};
use crate::site::Site;
use crate::spec::{EcnChoice, Quantity, Weights};
use fairwire_core::units::Amount;
use fairwire_core::{Buffer, Discipline, Key, NotReweighed, Packet, Probe, Scheduler, Unit, Weight};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// What was typed for `scfq`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// How much may wait. Default: the link's buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Quantity<Amount>>,
    /// Accepted as by every discipline, without effect: nothing is signalled early. Default: `drop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnChoice>,
    /// The weights of classes. Default: 1 for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Weights>,
    /// Whether each flow or each class has a queue. Default: `flow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per: Option<Per>,
    /// At most so many queues, from 1 to 65536. Default: as many as flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<u32>,
    /// What happens when there are more flows than `queues`. Default: `hash`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// Who makes room in a full buffer. Default: `lqd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropper: Option<MakesRoom>,
}

impl Part for Spec {
    fn table_bytes(&self, packets: u64) -> u64 {
        Kind::Scfq.table_bytes(packets, self.queues)
    }

    fn classes(&self) -> ClassSupport {
        ClassSupport::Weights
    }

    fn typed_classes(&self) -> Option<&'static str> {
        self.weights.is_some().then_some("weights")
    }

    fn set_weights(&mut self, weights: Weights) {
        self.per.get_or_insert(Per::Class);
        self.weights = Some(weights);
    }
}

impl Spec {
    /// Checks what was typed against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<Checked, BadParameter> {
        let typed = Typed {
            buffer: self.buffer,
            ecn: self.ecn,
            quantum: None,
            weights: &self.weights,
            per: self.per,
            queues: self.queues,
            sharing: self.sharing,
            dropper: self.dropper,
        };
        typed.check(NAME, Kind::Scfq, site)
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BuildError> {
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
