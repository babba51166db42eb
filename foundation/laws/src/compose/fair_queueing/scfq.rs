//! SCFQ: self-clocked fair queueing.
//!
//! # What it does
//! Each flow has its own queue. The packet at the head of each queue has a finish tag: the bytes
//! that its flow has sent, per weight, once that packet is gone. The packet with the least tag is
//! sent next. An idle flow starts from the tag of the packet being sent.
//!
//! # Why
//! SCFQ gives the shares of fair queueing without simulating an ideal server. The price is delay: a
//! packet may wait for one packet of each other flow.
//!
//! # State and cost
//! 52 bytes per packet of buffer, plus the buffer's own. O(log n) per packet with n backlogged
//! flows.
//!
//! # Source (section, equation)
//! S. J. Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications", INFOCOM 1994:
//! the definition of the scheme.
//!
//! # Where we differ
//! - Tags are computed when a packet reaches the head of its queue, not at arrival. Otherwise a
//!   flow would pay for pushed-out packets. Without push-outs and changes of weight, the tags are
//!   the paper's.
//! - Virtual time does not go back if a push-out brings a shorter packet to the head.
//! - Equal tags are served first come, first served.
//!
//! # Example
//! ```toml
//! [discipline.scfq]
//! weights = { 1 = 2.0 }
//! dropper = "tail-drop"
//! ```

use super::entry::{Entry, schedules};
use crate::about::{About, Family};
use crate::scheduler::kind::Kind;
use fairwire_parameters::parameters;

/// The catalogue entry.
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
    /// The parameters that all entries with a scheduler share.
    #[parameter(flatten)]
    pub entry: Entry,
}

schedules!(Kind::Scfq);
