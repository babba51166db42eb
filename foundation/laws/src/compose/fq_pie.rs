//! FQ-PIE: flow queueing with PIE.
//!
//! # What it does
//! As in FQ-CoDel, flows are hashed into queues, which are served by
//! [DRR++](crate::scheduler::drr_plus_plus). A full buffer drops from the head of the [fattest
//! queue](crate::dropper::fattest). Each queue has its own [PIE](crate::dropper::pie).
//!
//! # Why
//! Against an unresponsive flow, PIE's probability rises as far as needed, while CoDel's rate of
//! drops grows slowly.
//!
//! # State and cost
//! 130 bytes per queue, and each packet's links. O(log queues) per packet, to track the fattest
//! queue.
//!
//! # Source (section, equation)
//! RFC 8033 for PIE and RFC 8290 for the queues; G. Ramakrishnan and others, "FQ-PIE queue
//! discipline in the Linux kernel", IEEE LCN Symposium 2019.
//!
//! # Where we differ
//! - When the buffer is full, Linux refuses the arrival.
//! - The delay is estimated by timestamps, since a queue's departure rate is not the link's. Linux
//!   also offers the departure rate.
//!
//! # Example
//! ```toml
//! [discipline.fq-pie]
//! target = "15 ms"
//! queues = 1024
//! ```

use crate::about::{About, Family};
use crate::compose::fq_codel::quantum;
use crate::compose::per_flow::PerFlow;
use crate::dropper::fattest::Fattest;
use crate::dropper::pie::{self, Pie};
use crate::error::{BadParameter, Of as _};
use crate::memory;
use crate::part::Part;
use crate::role;
use crate::scheduler::drr_plus_plus::DrrPlusPlus;
use crate::site::Site;
use crate::spec::{EcnChoice, Quantity};
use alloc::boxed::Box;
use fairwire_core::units::{Amount, Size};
use fairwire_core::{Discipline, Limit, Queue, Queues};
use fairwire_parameters::parameters;

/// The catalogue entry.
pub const ABOUT: About = About {
    family: Family::FairQueueing,
    summary: "hashed queues served in turn, new ones first, each under PIE",
    state: "130 bytes per queue, 1024 queues",
    cost: "O(log queues), five steps for 1024",
    marks: true,
    source: "RFC 8033; RFC 8290",
};

const NAME: &str = "fq-pie";

/// Parameters of `fq-pie`.
#[parameters(gated, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The total size of all queues.
    #[parameter(is = role::BUFFER, unset = "the site's", source = "Linux has 10240 packets.")]
    pub buffer: Option<Quantity<Amount>>,
    /// Whether PIE's signals drop or mark ECN-capable packets.
    #[parameter(
        is = role::ECN,
        default = EcnChoice::Mark,
        source = "RFC 8033, section 5.1; Linux's `fq_pie` marks with its option `ecn`, and drops without it."
    )]
    pub ecn: Option<EcnChoice>,
    /// The parameters of PIE, which controls each queue.
    #[parameter(flatten)]
    pub pie: pie::Control,
    /// The number of queues into which flows are hashed.
    ///
    /// Flows that collide share a queue.
    #[parameter(is = role::QUEUES, default = 1024, min = 1, max = 65_536, unit = "queues", source = "Linux.")]
    pub queues: Option<u32>,
    /// Bytes of credit per round.
    #[parameter(
        unset = "1514 B, or the typical packet if that is longer",
        min = "256 B",
        max = "1 MiB",
        source = "Linux."
    )]
    pub quantum: Option<Quantity<Size>>,
    /// The maximum number of packets that one overflow drops.
    #[parameter(default = 64, min = 1, unit = "packets", source = "As FQ-CoDel.")]
    pub batch: Option<u32>,
}

impl Part for Spec {
    fn table_bytes(&self, _packets: u64) -> u64 {
        memory::count(self.queues, 1024) * memory::LAW
    }
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The total size of all queues.
    pub limit: Limit,
    /// PIE's parameters.
    pub terms: pie::Terms,
    /// The number of queues.
    pub queues: u32,
    /// Bytes of credit per round.
    pub quantum: u32,
    /// The maximum number of packets that one overflow drops.
    pub batch: u32,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        let given = self.checked().of(NAME)?;
        Ok(Config {
            limit: site.room(NAME, self.buffer)?.limit,
            terms: pie::Terms {
                control: self.pie.checked().of(NAME)?,
                given: pie::Checked::default(),
                packet_bytes: site.packet_bytes,
            },
            queues: given.queues,
            quantum: quantum(given.quantum, site),
            batch: given.batch,
        })
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let config = self.check(site)?;
        let mut rng = site.rng(NAME);
        let queues = Queues::hashed(config.queues, rng.next_u64());
        let common = pie::Common { terms: config.terms, rng };
        let dropper =
            PerFlow::<Pie, _>::new(config.queues, common, Fattest::new(config.queues, config.batch));
        let scheduler = DrrPlusPlus::<false>::new(config.queues, config.quantum);
        let policy = self.ecn.unwrap_or(EcnChoice::Mark).into();
        Ok(Box::new(Queue::with_queues(config.limit, queues, scheduler, dropper).with_ecn(policy)))
    }
}
