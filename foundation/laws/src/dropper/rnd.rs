//! RND: dynamic soft partitioning with random drop.
//!
//! # What it does
//! Admits every packet while there is room. When the buffer is full, a random queue above its share
//! of the buffer loses its oldest packet, and the arrival enters. Each push-out draws anew.
//!
//! The `weights` of the `scheduler` also decide the share of each queue in the buffer B: b = B w /
//! sum of w, where w is the queue's weight. In the paper n queues have equal shares, b = B/n
//! (section II.B). RND never marks.
//!
//! # Why
//! Longest queue drop takes many packets in a row from a queue much longer than the others, and TCP
//! Reno suffers under bursts of loss. Here losses are spread over all flows above their share, but
//! not so evenly that all of them slow down at once.
//!
//! # State and cost
//! Counting packets with equal weights: the queues in order of length, 12 bytes per packet of
//! buffer, O(1) per packet and per push-out. Counting bytes, or with weights: a balanced tree of
//! the queues, 40 bytes per packet of buffer (44 with weights), and O(log n) per packet. A push-out
//! takes O(log n) for each different weight, so at most 256 different weights are allowed,
//! including the weight 1 of unlisted classes. All memory is allocated at construction.
//!
//! # Source (section, equation)
//! B. Suter, T. V. Lakshman, D. Stiliadis and A. K. Choudhury, "Design Considerations for
//! Supporting TCP with Per-flow Queueing", INFOCOM 1998: sections II.B and II.B.2.
//!
//! # Where we differ
//! - The paper defines the rule for an arrival whose queue holds less than its share. Here it
//!   applies to any queue, so the arrival's queue may lose the packet.
//! - n counts the queue of the arrival, even if it is still empty.
//! - With `drop = "tail"`, an arrival whose queue must lose a packet is refused, since it is the
//!   newest.
//! - The weight of a queue is that of the class of the packet that made it backlogged. The paper
//!   has no weights in its rule.
//! - If no queue holds more than its share, the queue least below its share loses a packet; among
//!   equals, the arrival's queue. That happens if all queues are equal, or if long packets fill a
//!   buffer in bytes before queues counted in packets reach their shares.
//!
//! # Example
//! ```toml
//! [discipline.rnd]
//! buffer = "100 ms"
//! measure = "bytes"
//! ```

use crate::about::{About, Family};
use crate::dropper::lqd::Lqd;
use crate::dropper::push_out::{self, Config};
use crate::error::BadParameter;
use crate::part::Part;
use crate::queueing::CheckedQueue;
use crate::site::Site;
use alloc::boxed::Box;
use fairwire_core::Discipline;
use fairwire_parameters::parameters;

/// The description of this discipline in the catalogue.
pub const ABOUT: About = About {
    family: Family::PushOut,
    summary: "a full buffer drops from the front of a random queue above its part",
    state: "12 bytes per packet of buffer; 40 in bytes, 44 by weight",
    cost: "O(1); O(log n) with bytes; by weight O(log n) per packet, and per different weight at a push-out",
    marks: false,
    source: "Suter, Lakshman, Stiliadis, Choudhury 1998, section II.B.2",
};

const NAME: &str = "rnd";

/// Parameters of `rnd`.
#[parameters(gated)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The parameters that all push-out droppers share.
    #[parameter(flatten)]
    pub parameters: push_out::Parameters,
}

impl Part for Spec {}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Config), BadParameter> {
        let (queue, config) = self.parameters.check(NAME, site)?;
        Ok((queue, config.with_few_weights(NAME, &self.parameters.queue)?))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(Lqd::random(config, site.rng(NAME))))
    }
}
