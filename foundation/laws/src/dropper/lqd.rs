//! LQD: longest queue drop.
//!
//! # What it does
//! Admits every packet while there is room. When the buffer is full, the queue that is furthest
//! above its share of the buffer loses its oldest packet, and the arrival enters. With equal shares
//! that is the longest queue.
//!
//! The `weights` of the `scheduler` also decide the share of each queue in the buffer B: b = B w /
//! sum of w, where w is the queue's weight. In the paper b = B/n for n queues (section II.B).
//!
//! # Why
//! The flows that cause the congestion bear the losses. A flow below its share loses nothing,
//! whatever others do. With fair queueing, LQD isolates flows nearly perfectly.
//!
//! With first come, first served, LQD is harsh on a flow that has the longest queue and does not
//! back off. In large buffers push-outs take nearly all of its packets.
//!
//! # State and cost
//! Counting packets with equal weights: 12 bytes per packet of buffer, and O(1) per packet and
//! push-out. Counting bytes, or with weights: 40 bytes per packet of buffer (44 with weights), and
//! O(log n) per packet. A push-out takes O(log n) for each different weight, so at most 256 are
//! allowed, including the weight 1 of unlisted classes. All memory is allocated at construction.
//!
//! # Source (section, equation)
//! B. Suter, T. V. Lakshman, D. Stiliadis and A. K. Choudhury, "Design Considerations for
//! Supporting TCP with Per-flow Queueing", INFOCOM 1998: sections II.B and II.B.1; section IV for
//! bytes.
//!
//! # Where we differ
//! - The paper defines the rule for an arrival whose queue holds less than its share. Here it
//!   applies to any queue, so the arrival's queue may lose the packet.
//! - n counts the queue of the arrival, even if it is still empty.
//! - With `drop = "tail"`, an arrival whose queue must lose a packet is refused.
//! - The weight of a queue is that of the class of the packet that made it backlogged. The paper
//!   has no weights in its rule.
//! - Among queues equally far above their shares, the arrival's queue loses, or else a random one.
//!   The paper does not say.
//!
//! # Example
//! ```toml
//! [discipline.lqd]
//! scheduler = { fcfs = { weights = { 1 = 2.0 } } }
//! drop = "front"
//! ```

use crate::about::{About, Family};
use crate::dropper::push_out::{self, Backlogs, Config};
use crate::error::BadParameter;
use crate::part::Part;
use crate::queueing::CheckedQueue;
use crate::site::Site;
use alloc::boxed::Box;
use fairwire_core::{
    Buffer, Discipline, Dropper, FlowKey, Needs, Packet, Probe, Rng, SetWeightError, Time, Victim, Weight,
};
use fairwire_parameters::parameters;

/// This discipline's catalogue entry.
pub const ABOUT: About = About {
    family: Family::PushOut,
    summary: "a full buffer drops from the front of the longest queue",
    state: "12 bytes per packet of buffer; 40 in bytes, 44 by weight",
    cost: "O(1); O(log n) with bytes; by weight O(log n) per packet, and per different weight at a push-out",
    marks: false,
    source: "Suter, Lakshman, Stiliadis, Choudhury 1998, section II.B.1",
};

const NAME: &str = "lqd";

/// Parameters of `lqd`.
#[parameters(gated)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The parameters that all push-out droppers share.
    #[parameter(flatten)]
    pub parameters: push_out::Parameters,
}

impl Part for Spec {
    fn drops_by_place(&self) -> bool {
        true
    }
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Config), BadParameter> {
        let (queue, config) = self.parameters.check(NAME, site)?;
        Ok((queue, config.with_few_weights(NAME, &self.parameters.queue)?))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(Lqd::new(config, site.rng(NAME))))
    }
}

/// [Longest queue drop](self), or [RND](crate::dropper::rnd), which drops from a random queue.
#[derive(Debug)]
pub struct Lqd {
    /// True if a random queue above its share makes room. If false, or without such a queue, the
    /// queue furthest above its share makes room.
    is_random: bool,
    rng: Rng,
    backlogs: Backlogs,
}

impl Lqd {
    /// An LQD that draws from `rng`.
    pub fn new(config: Config, mut rng: Rng) -> Self {
        Lqd { is_random: false, backlogs: Backlogs::new(config, &mut rng), rng }
    }

    /// An RND that draws from `rng`.
    pub fn random(config: Config, rng: Rng) -> Self {
        Lqd { is_random: true, ..Lqd::new(config, rng) }
    }

    /// The backlogged queues, for tests.
    pub fn backlogs(&self) -> &Backlogs {
        &self.backlogs
    }
}

impl Dropper for Lqd {
    fn needs(&self) -> Needs {
        Needs::QUEUES
    }

    #[inline]
    fn victim(&mut self, packet: &Packet, buffer: &Buffer, _: Time) -> Victim {
        let any = if self.is_random { self.backlogs.any_above(packet, buffer, &mut self.rng) } else { None };
        match any.or_else(|| self.backlogs.furthest_above(packet, buffer, &mut self.rng)) {
            Some(flow) => self.backlogs.config().victim(flow, packet, buffer),
            None => Victim::Arrival,
        }
    }

    #[inline]
    fn tracked(&mut self, packet: &Packet, flow: FlowKey, inside: bool, buffer: &Buffer) {
        self.backlogs.tracked(packet, flow, inside, buffer);
    }

    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        self.backlogs.set_weight(class, weight)
    }

    fn retune(&mut self, fresh: &Self, _: Time) -> bool {
        self.backlogs.retune(&fresh.backlogs)
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("longest_queue", self.backlogs.config().unit(), self.backlogs.longest() as f64);
    }
}
