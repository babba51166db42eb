//! WF2Q+: worst-case fair weighted fair queueing, with a virtual time that is cheap to keep.
//!
//! # What it does
//! Each flow has its own queue with a start tag: the bytes that the flow has sent, per weight. The
//! head of a queue is eligible once virtual time has reached its start tag; the eligible packet
//! with the least finish tag is next. Virtual time follows the service that an ideal server would
//! have given to each flow.
//!
//! # Why
//! A flow is never more than one packet behind the ideal, as in weighted fair queueing, and here it
//! is also never more than one packet ahead. Service is thus as smooth as packets allow. In a tree
//! of these schedulers, the levels below then share smoothly too.
//!
//! # State and cost
//! 204 bytes for each packet that the buffer has room for, in addition to the buffer's own. They
//! hold the backlogged queues, and as many idle flows whose tags are ahead of virtual time. O(log
//! n) per packet, amortised, with n the larger of the two numbers. An idle flow is forgotten when
//! virtual time passes its tag. A packet during which k flows are forgotten pays for all k, as
//! exact virtual time requires. When the link goes idle, all are forgotten in O(1).
//!
//! # Source (section, equation)
//! J. C. R. Bennett and H. Zhang, "Hierarchical Packet Fair Queueing Algorithms", IEEE/ACM ToN
//! 5(5), 1997: the virtual time V of WF2Q+, which after service s is V(t + s) = max(V(t) + s, least
//! start tag of the waiting packets).
//!
//! # Where we differ
//! - The paper gives each flow a rate beforehand. Here it has a weight. Its rate is its share of
//!   the link among the flows that the ideal server would be serving: virtual time advances by
//!   bytes over the sum of their weights.
//! - A queue has one start tag, which a packet takes on when it reaches the head, not at arrival.
//!   With tags from the arrival, a flow would pay for packets that are pushed out, and one that
//!   sends more than its share would get nothing.
//! - The memory of idle flows holds one per packet of the buffer, and at least 1024. When it is
//!   full, the flow with the least tag is forgotten, and may start from virtual time again.
//! - Within a packet, virtual time advances with the clock at the link's rate, and no further than
//!   the packet's length.
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

/// The description of this discipline in the catalogue.
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
