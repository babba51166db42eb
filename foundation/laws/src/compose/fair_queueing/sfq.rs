//! SFQ: start-time fair queueing.
//!
//! # What it does
//! Each flow has a queue of its own with a start tag: what the flow has sent so far, in bytes per
//! weight. The least start tag goes next, and virtual time is the start tag of the packet that is
//! being sent. A flow that had nothing waiting starts from virtual time, or from where it left off
//! if that is later.
//!
//! # Why
//! It is as fair as self-clocked fair queueing (`scfq`), which serves packets in the order of the
//! tags at which they end. Here the tags at which they start give the order. So flows of low weight
//! or of long packets wait less than under `scfq`, and flows of short packets wait longer. It need
//! not know the link's rate, so it stays fair where the rate varies.
//!
//! # State and cost
//! 132 bytes for each packet that the buffer has room for, in addition to the memory of the buffer.
//! They hold the backlogged queues, and as many flows with nothing waiting whose tags are ahead of
//! virtual time. O(log n) per packet, with n the larger of the two numbers.
//!
//! # Source (section, equation)
//! P. Goyal, H. M. Vin and H. Cheng, "Start-time Fair Queuing: A Scheduling Algorithm for
//! Integrated Services Packet Switching Networks", SIGCOMM 1996: the definition of the algorithm.
//!
//! # Where we differ
//! - A queue has one start tag, which a packet takes on when it comes to the head, not when it
//!   arrives. With tags from the arrival a flow pays for packets that are pushed out, and one that
//!   sends more than its share gets nothing at all.
//! - The memory of flows with nothing waiting has room for as many as the buffer holds packets, and
//!   1024 at least. When it is full, the one with the least tag is forgotten, and may start from
//!   virtual time again.
//! - Equal tags go first come, first served.
//! - Where a scheduler is named, `sfq` and `sfq-start` mean this one. The discipline is `sfq-start`
//!   only, since `sfq` is known from Linux as stochastic fair queueing, which is `drr` with
//!   `queues`.
//!
//! # Example
//! ```toml
//! [discipline.sfq-start]
//! weights = { 1 = 2.0 }
//! dropper = "lqd"
//! ```

use super::entry::{CheckedEntry, Entry};
use crate::about::{About, Family};
use crate::error::BadParameter;
use crate::part::{ClassSupport, Part};
use crate::scheduler::kind::Kind;
use crate::scheduler::service::Per;
use crate::site::Site;
use crate::spec::{EcnChoice, Quantity, Weights};
use alloc::boxed::Box;
use fairwire_core::Discipline;
use fairwire_core::units::Amount;
use fairwire_parameters::parameters;

/// Its description in the catalogue.
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
    /// How much may wait.
    #[parameter(unset = "the site's")]
    pub buffer: Option<Quantity<Amount>>,
    /// Every discipline accepts it. Here it has no effect: nothing is signalled early.
    #[parameter(default = EcnChoice::Drop)]
    pub ecn: Option<EcnChoice>,
    /// What all entries that schedule have.
    #[parameter(flatten)]
    pub entry: Entry,
}

impl Part for Spec {
    fn buffer(&self) -> Option<Amount> {
        self.buffer.map(|buffer| buffer.0)
    }

    fn inherit_ecn(&mut self, ecn: EcnChoice) {
        self.ecn.get_or_insert(ecn);
    }

    fn table_bytes(&self, packets: u64) -> u64 {
        Kind::Sfq.table_bytes(packets, self.entry.queue.queues)
    }

    fn classes(&self) -> ClassSupport {
        ClassSupport::Weights
    }

    fn typed_classes(&self) -> Option<&'static str> {
        self.entry.queue.weights.is_some().then_some("weights")
    }

    fn set_weights(&mut self, weights: Weights) {
        self.entry.queue.per.get_or_insert(Per::Class);
        self.entry.queue.weights = Some(weights);
    }
}

impl Spec {
    /// Checks what was typed against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<CheckedEntry, BadParameter> {
        self.entry.check(NAME, Kind::Sfq, (self.buffer, self.ecn), None, site)
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        Ok(self.check(site)?.build(site.rng(NAME)))
    }
}
