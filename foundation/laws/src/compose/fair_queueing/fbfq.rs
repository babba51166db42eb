//! FBFQ: frame-based fair queueing.
//!
//! # What it does
//! Each flow has its own queue with a potential: the bytes that the flow has sent, per weight. The
//! next packet is the one that brings its flow to the least potential. New flows start from a
//! system potential, which advances with the bytes sent. Potentials are divided into frames. Once
//! all flows have passed the end of a frame, the system potential passes it too.
//!
//! # Why
//! Delay is bounded as in weighted fair queueing. If the system potential fell behind the flows'
//! potentials, a new flow would be served alone until it reached them. Finding the least potential
//! once per frame prevents that. FBFQ is the fair queueing ("FQ") of Suter's paper.
//!
//! # State and cost
//! 172 bytes per packet of buffer, plus the buffer's own. O(log n) per packet, amortised, with n
//! the larger of two numbers: the backlogged queues, and the idle flows ahead of the system
//! potential.
//!
//! # Source (section, equation)
//! D. Stiliadis and A. Varma, "Design and Analysis of Frame-based Fair Queueing: A New Traffic
//! Scheduling Algorithm for Packet-Switched Networks", SIGMETRICS 1996: potentials and frames.
//!
//! # Where we differ
//! - This is not the published algorithm. The paper gives each flow a rate beforehand; a frame is a
//!   time. Here each flow has a weight; a frame is a number of bytes per weight. A flow's rate is
//!   its share of the link among the flows that an ideal server (GPS) would be serving. Therefore
//!   the system potential costs O(log n) per packet, amortised, instead of O(1).
//! - A packet gets its potential at the head of its queue, not at arrival. Otherwise a flow would
//!   pay for pushed-out packets. For the same reason the queues that start within each frame are
//!   counted, not the packets that cross its end.
//! - A packet longer than the quantum times the weight may move its queue several frames ahead.
//!   Frames after the seventh count as the seventh, which then ends late without harm.
//! - As many idle flows are remembered as the buffer holds packets, but at least 1024. Beyond that,
//!   the flow with the least potential is forgotten.
//! - Within a packet, the system potential advances with the clock, at most by the packet's length.
//! - Equal tags are served first come, first served.
//!
//! # Example
//! ```toml
//! [discipline.fbfq]
//! quantum = "1514 B"
//! weights = { 1 = 2.0 }
//! dropper = "lqd"
//! ```

use super::entry::{Entry, schedules};
use crate::about::{About, Family};
use crate::scheduler::kind::Kind;
use crate::spec::Quantity;
use fairwire_core::units::Size;
use fairwire_parameters::parameters;

/// The catalogue entry.
pub const ABOUT: About = About {
    family: Family::FairQueueing,
    summary: "the least finish tag goes next; virtual time catches up at the end of each frame",
    state: "172 bytes per packet of buffer, of 1024 at least, and the buffer's queues",
    cost: "O(log n), amortised",
    marks: false,
    source: "Stiliadis and Varma 1996",
};

const NAME: &str = "fbfq";

/// Parameters of `fbfq`.
#[parameters(gated)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The parameters that all entries with a scheduler share.
    #[parameter(flatten)]
    pub entry: Entry,
    /// The amount that a flow of weight 1 may send per frame.
    ///
    /// The amount times the least weight should be at least a packet: Stiliadis and Varma 1996,
    /// where the length of a frame is a time.
    #[parameter(unset = "1514 B, or the typical packet if that is longer", unit = "size")]
    pub quantum: Option<Quantity<Size>>,
}

schedules!(Kind::Fbfq, quantum);
