//! FBFQ: frame-based fair queueing.
//!
//! # What it does
//! Each flow has its own queue with a potential: the bytes that the flow has sent, per weight. The
//! next packet is the one that brings its flow to the least potential. New flows start from a
//! system potential, which advances with the bytes sent. Potentials are divided into frames. Once
//! all flows have passed the end of a frame, the system potential passes it too.
//!
//! # Why
//! It bounds delay as weighted fair queueing does. The system potential must not fall behind the
//! flows' potentials. Otherwise a new flow, which starts there, would be served alone until it
//! caught up. Finding the least potential at each packet is expensive; once per frame is enough.
//! This is the fair queueing ("FQ") of Suter's paper.
//!
//! # State and cost
//! 172 bytes for each packet that the buffer has room for, in addition to the buffer's own. They
//! hold the backlogged queues, and as many idle flows whose potentials are ahead of the system
//! potential. O(log n) per packet, amortised, with n the larger of the two numbers. An idle flow is
//! forgotten when the system potential passes its potential. A packet during which k flows are
//! forgotten pays for all k, as exact virtual time requires. When the link goes idle, all are
//! forgotten in O(1).
//!
//! # Source (section, equation)
//! D. Stiliadis and A. Varma, "Design and Analysis of Frame-based Fair Queueing: A New Traffic
//! Scheduling Algorithm for Packet-Switched Networks", SIGMETRICS 1996: potentials and frames.
//!
//! # Where we differ
//! - It is not the published algorithm. The paper gives each flow a rate beforehand, and a frame
//!   has a length in time. Here a flow has a weight. Its rate is its share of the link among the
//!   flows that an ideal server (GPS) would be serving. The system potential and the rates follow
//!   the virtual time of GPS, with a memory of the idle flows that GPS would still be serving. A
//!   frame has a length in bytes per weight.
//! - So the system potential costs O(1) per packet in the paper, and O(log n), amortised, here.
//!   Both treat constantly backlogged flows the same.
//! - A queue has one potential, which a packet takes on when it reaches the head, not at arrival.
//!   With tags from the arrival, a flow would pay for packets that are pushed out, and one that
//!   sends more than its share would get nothing. For the same reason the queues that start within
//!   each frame are counted, rather than the packets that cross its end.
//! - If a packet is longer than the quantum times the weight, its queue may start several frames
//!   ahead. Up to seven are distinguished. A queue that starts later is counted in the seventh,
//!   which ends late; that is harmless.
//! - The memory of idle flows holds one per packet of the buffer, and at least 1024. When it is
//!   full, the flow with the least potential is forgotten, and may start from the system potential
//!   again.
//! - Within a packet, the system potential advances with the clock at the link's rate, and no
//!   further than the packet's length.
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

/// The description of this discipline in the catalogue.
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
    /// This is the length of a frame. Multiplied by the least weight, it should be at least a
    /// packet: Stiliadis and Varma 1996, where the length of a frame is a time.
    #[parameter(unset = "1514 B, or the typical packet if that is longer", unit = "size")]
    pub quantum: Option<Quantity<Size>>,
}

schedules!(Kind::Fbfq, quantum);
