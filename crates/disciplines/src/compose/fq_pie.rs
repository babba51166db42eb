//! FQ-PIE: flow queueing with PIE.
//!
//! # What it does
//! Flows are hashed into queues; queues are served by deficit round robin, new ones first
//! ([DRR++](crate::scheduler::drr_plus_plus)); each queue has its own [PIE](crate::dropper::pie); and a full buffer drops
//! from the head of the [fattest queue](crate::dropper::fattest), up to half of it at once.
//!
//! # Why
//! As FQ-CoDel keeps flows apart, with the controller that works at arrival. PIE's probability follows a flow that does not
//! listen up to any rate of drops, where CoDel's rate of drops grows slowly.
//!
//! # Parameters (unit, default, source)
//! - `buffer` (amount; the site's): how much may wait in all queues together. Linux has 10240 packets.
//! - `ecn` (choice; `drop`): whether PIE's signals mark ECN-capable packets or drop them as well.
//! - `measure` (choice; `packets`): in `bytes` the probability is scaled by the packet's length. RFC 8033, section 4.1.
//! - `target` (time; 15 ms): the delay to hold. RFC 8033, section 4.2.
//! - `update` (time; 15 ms): the time between updates. RFC 8033, section 4.2.
//! - `alpha`, `beta` (Hz; 0.125 and 1.25): what an update adds per second of delay above the target, and per second of change.
//!   RFC 8033, section 4.2.
//! - `max_burst` (time; 150 ms): for so long nothing is dropped after a queue was short. RFC 8033, section 4.4.
//! - `mark_limit` (1; 0.1): above this probability capable packets are dropped too. RFC 8033, section 5.1.
//! - `queues` (queues; 1024): flows that meet in one share it. Linux.
//! - `quantum` (bytes; 1514, or the typical packet if that is longer): credit per round. Linux.
//! - `batch` (packets; 64): the most that one overflow drops. As FQ-CoDel.
//!
//! # State and cost
//! 130 bytes per queue, and each packet's links. O(log queues) per packet, for the fattest queue to be
//! known: five steps for 1024 queues. All else is O(1).
//!
//! # Source (section, equation)
//! RFC 8033 for PIE and RFC 8290 for the queues; G. Ramakrishnan and others, "FQ-PIE queue discipline in the Linux kernel",
//! IEEE LCN Symposium 2019.
//!
//! # Where we differ
//! - Linux refuses the arrival when the buffer is full, whoever filled it; here the fattest queue gives way, as in FQ-CoDel.
//! - The delay is estimated by timestamps, as a queue's departure rate is not the link's. Linux leaves the choice.
//! - See the parts for theirs.
//!
//! # Example
//! ```toml
//! [discipline.fq-pie]
//! target = "15 ms"
//! queues = 1024
//! ```

use crate::catalogue::{About, Family};
use crate::compose::fq_codel::{MOST_QUEUES, quantum};
use crate::compose::per_flow::PerFlow;
use crate::dropper::fattest::Fattest;
use crate::dropper::pie::{self, Pie};
use crate::error::{BadParameter, BuildError, Parameter};
use crate::memory;
use crate::part::Part;
use crate::scheduler::drr_plus_plus::DrrPlusPlus;
use crate::site::Site;
use crate::spec::{EcnChoice, Measure, Quantity};
use fairwire_core::units::{Amount, Size};
use fairwire_core::{Discipline, Duration, Limit, Queue, Queues};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the catalogue tells of it.
pub const ABOUT: About = About {
    family: Family::FairQueueing,
    summary: "hashed queues served in turn, new ones first, each under PIE",
    state: "130 bytes per queue, 1024 queues",
    cost: "O(log queues), five steps for 1024",
    marks: true,
    source: "RFC 8033; RFC 8290",
};

const NAME: &str = "fq-pie";

/// What was typed for `fq-pie`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// How much may wait in all queues together. Default: the link's buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Quantity<Amount>>,
    /// Whether PIE's signals drop or mark ECN-capable packets. Default: `drop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnChoice>,
    /// Whether the probability is scaled by the packet's length. Default: `packets`, not scaled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<Measure>,
    /// The delay to hold, from 1 us to 1 h. Default: 15 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Quantity<Duration>>,
    /// How often the probability is updated, from 1 us to 1 h. Default: 15 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<Quantity<Duration>>,
    /// What an update adds per second of delay above the target, from 0 to 1000 Hz. Default: 0.125.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// What an update adds per second by which the delay grew, from 0 to 1000 Hz. Default: 1.25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// For so long nothing is dropped after a queue was short, up to 1 h. Default: 150 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_burst: Option<Quantity<Duration>>,
    /// Above this probability capable packets are dropped too, from 0 to 1. Default: 0.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_limit: Option<f64>,
    /// Into how many queues flows are hashed, from 1 to 65536. Default: 1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<u32>,
    /// Bytes of credit per round, from 256 B to 1 MiB. Default: 1514 B, or the typical packet if that is longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Quantity<Size>>,
    /// The most packets that one overflow drops, from 1. Default: 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
}

impl Part for Spec {
    fn table_bytes(&self, _packets: u64) -> u64 {
        memory::count(self.queues, 1024) * memory::LAW
    }

    fn default_queues(&mut self, queues: u32) {
        self.queues.get_or_insert(queues);
    }
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// How much may wait in all queues together.
    pub limit: Limit,
    /// PIE's parameters.
    pub terms: pie::Terms,
    /// Into how many queues flows are hashed.
    pub queues: u32,
    /// Bytes of credit per round.
    pub quantum: u32,
    /// The most packets that one overflow drops.
    pub batch: u32,
}

impl Spec {
    /// Checks what was typed against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        let pie = pie::Spec {
            measure: self.measure,
            target: self.target,
            update: self.update,
            alpha: self.alpha,
            beta: self.beta,
            max_burst: self.max_burst,
            mark_limit: self.mark_limit,
            ..pie::Spec::default()
        };
        Ok(Config {
            limit: site.room(NAME, self.buffer)?.limit,
            terms: pie.terms(NAME, site)?,
            queues: parameter("queues").count(self.queues.unwrap_or(1024), MOST_QUEUES)?,
            quantum: quantum(parameter("quantum"), self.quantum, site)?,
            batch: parameter("batch").count(self.batch.unwrap_or(64), u32::MAX)?,
        })
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BuildError> {
        let config = self.check(site)?;
        let mut rng = site.rng(NAME);
        let queues = Queues::hashed(config.queues, rng.next_u64());
        let common = pie::Common { terms: config.terms, rng };
        let dropper =
            PerFlow::<Pie, _>::new(config.queues, common, Fattest::new(config.queues, config.batch));
        let scheduler = DrrPlusPlus::new(config.queues, config.quantum);
        let policy = self.ecn.unwrap_or_default().into();
        Ok(Box::new(Queue::with_queues(config.limit, queues, scheduler, dropper).with_ecn(policy)))
    }
}

fn parameter(name: &'static str) -> Parameter {
    Parameter { discipline: NAME, name }
}
