//! WF2Q+: worst-case fair weighted fair queueing, with a virtual time that is cheap to keep.
//!
//! # What it does
//! Each flow has its own queue with a start tag: the bytes that the flow has sent, per weight. The
//! head of a queue is eligible once virtual time has reached the tag; the eligible packet with the
//! least finish tag is next. Virtual time follows the service that an ideal server would have
//! given.
//!
//! # Why
//! A flow is never more than one packet behind the ideal, as in weighted fair queueing, nor more
//! than one packet ahead. In a tree of these schedulers, the levels below then share smoothly too.
//!
//! # State and cost
//! 204 bytes per packet of buffer, plus the buffer's own. O(log n) per packet, amortised, with n
//! the larger of two numbers: the backlogged queues, and the idle flows ahead of virtual time.
//!
//! # Source (section, equation)
//! J. C. R. Bennett and H. Zhang, "Hierarchical Packet Fair Queueing Algorithms", IEEE/ACM ToN
//! 5(5), 1997: the virtual time V of WF2Q+, which after service s is V(t + s) = max(V(t) + s, least
//! start tag of the waiting packets).
//!
//! # Where we differ
//! - The paper gives each flow a rate beforehand. Here virtual time advances by bytes over the sum
//!   of the weights of the flows that the ideal server would be serving.
//! - A packet gets its start tag at the head of its queue, not at arrival. Otherwise a flow would
//!   pay for pushed-out packets.
//! - As many idle flows are remembered as the buffer holds packets, but at least 1024. Beyond that,
//!   the flow with the least tag is forgotten.
//! - Within a packet, virtual time advances with the clock, at most by the packet's length.
//! - Equal tags are served first come, first served.
//!
//! # Example
//! ```toml
//! [discipline."wf2q+"]
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
    /// The parameters that all entries with a scheduler share.
    #[parameter(flatten)]
    pub entry: Entry,
}

schedules!(Kind::Wf2qPlus);
