//! SFQ: start-time fair queueing.
//!
//! # What it does
//! Each flow has its own queue with a start tag: the bytes that the flow has sent, per weight. The
//! queue with the least start tag is served next, and virtual time is the start tag of the packet
//! being sent. An idle flow starts from virtual time, or from its last finish tag if that is later.
//!
//! # Why
//! It is as fair as self-clocked fair queueing (`scfq`), which uses finish tags. Flows of low
//! weight or of long packets wait less, and flows of short packets wait longer. It stays fair if
//! the link's rate varies.
//!
//! # State and cost
//! 132 bytes per packet of buffer, plus the buffer's own. O(log n) per packet, with n the larger of
//! two numbers: the backlogged queues, and the idle flows ahead of virtual time.
//!
//! # Source (section, equation)
//! P. Goyal, H. M. Vin and H. Cheng, "Start-time Fair Queuing: A Scheduling Algorithm for
//! Integrated Services Packet Switching Networks", SIGCOMM 1996: the definition of the algorithm.
//!
//! # Where we differ
//! - A packet gets its start tag at the head of its queue, not at arrival. Otherwise a flow would
//!   pay for pushed-out packets.
//! - As many idle flows are remembered as the buffer holds packets, but at least 1024. Beyond that,
//!   the flow with the least tag is forgotten.
//! - Equal tags are served first come, first served.
//! - Unlike the scheduler, the discipline is not named `sfq`, since Linux's `sfq` is stochastic
//!   fair queueing (`drr` with `queues`).
//!
//! # Example
//! ```toml
//! [discipline.sfq-start]
//! weights = { 1 = 2.0 }
//! dropper = "lqd"
//! ```

use super::entry::{Entry, schedules};
use crate::about::{About, Family};
use crate::scheduler::kind::Kind;
use fairwire_parameters::parameters;

/// The catalogue entry.
pub const ABOUT: About = About {
    family: Family::FairQueueing,
    summary: "the flow that has sent least for its weight goes next, by start tags",
    state: "132 bytes per packet of buffer, of 1024 at least, and the buffer's queues",
    cost: "O(log n)",
    marks: false,
    source: "Goyal, Vin and Cheng 1996",
};

const NAME: &str = "sfq-start";

/// Parameters of `sfq-start`.
#[parameters(gated)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The parameters that all entries with a scheduler share.
    #[parameter(flatten)]
    pub entry: Entry,
}

schedules!(Kind::Sfq);
