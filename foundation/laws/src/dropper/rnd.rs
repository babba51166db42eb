//! RND: dynamic soft partitioning with random drop.
//!
//! # What it does
//! When the buffer is full, a random queue above its share of the buffer loses its oldest packet,
//! and the arrival enters.
//!
//! In a buffer of size B, a queue of weight w has the share b = B w / (sum of w). The `scheduler`
//! sets the `weights`. The paper's weights are equal (section II.B).
//!
//! # Why
//! Longest queue drop takes many packets in a row from one long queue, and TCP Reno suffers under
//! bursts of loss. RND spreads losses over all flows above their share.
//!
//! # State and cost
//! In packets with equal weights: 12 bytes per packet of buffer, O(1) per packet and per push-out.
//! Otherwise: 40 bytes per packet of buffer (44 with weights), O(log n) per packet. A push-out then
//! takes O(log n) for each different weight, so at most 256 different weights are allowed,
//! including the weight 1 of unlisted classes.
//!
//! # Source (section, equation)
//! B. Suter, T. V. Lakshman, D. Stiliadis and A. K. Choudhury, "Design Considerations for
//! Supporting TCP with Per-flow Queueing", INFOCOM 1998: sections II.B and II.B.2.
//!
//! # Where we differ
//! - The paper defines the rule for an arrival whose queue holds less than its share. Here the rule
//!   applies to every arrival, so the arrival's queue may lose the packet.
//! - The arrival's queue counts as backlogged even if it is empty.
//! - A queue has the weight of the class of the packet that made it backlogged.
//! - If no queue holds more than its share, the queue closest to its share loses a packet. Among
//!   equals, the arrival's queue loses.
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

/// This discipline's catalogue entry.
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
