//! SFQ: start-time fair queueing.
//!
//! # What it does
//! Each flow has its own queue with a start tag: the bytes that the flow has sent, per weight. The
//! least start tag is next, and virtual time is the start tag of the packet being sent. An idle
//! flow starts from virtual time, or from its last finish tag if that is later.
//!
//! # Why
//! It is as fair as self-clocked fair queueing (`scfq`), which orders packets by their finish tags.
//! Here start tags give the order. So flows of low weight or of long packets wait less than under
//! `scfq`, and flows of short packets wait longer. It need not know the link's rate, so it stays
//! fair if the rate varies.
//!
//! # State and cost
//! 132 bytes for each packet that the buffer has room for, in addition to the buffer's own. They
//! hold the backlogged queues, and as many idle flows whose tags are ahead of virtual time. O(log
//! n) per packet, with n the larger of the two numbers.
//!
//! # Source (section, equation)
//! P. Goyal, H. M. Vin and H. Cheng, "Start-time Fair Queuing: A Scheduling Algorithm for
//! Integrated Services Packet Switching Networks", SIGCOMM 1996: the definition of the algorithm.
//!
//! # Where we differ
//! - A queue has one start tag, which a packet takes on when it reaches the head, not at arrival.
//!   With tags from the arrival, a flow would pay for packets that are pushed out, and one that
//!   sends more than its share would get nothing.
//! - The memory of idle flows holds one per packet of the buffer, and at least 1024. When it is
//!   full, the flow with the least tag is forgotten, and may start from virtual time again.
//! - Equal tags are served first come, first served.
//! - As names of schedulers, `sfq` and `sfq-start` both mean this one. The discipline is only
//!   `sfq-start`, since Linux's `sfq` is stochastic fair queueing, which is `drr` with `queues`.
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

/// The description of this discipline in the catalogue.
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
