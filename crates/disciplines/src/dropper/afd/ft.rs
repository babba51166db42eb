//! AFD-FT: approximate fair dropping with a flow table alone.
//!
//! # What it does
//! As AFD-SB, but keeps only the count of each flow, as if there were a shadow buffer. When a sample has to make place it
//! draws a few flows at random, chooses one of them in proportion to their counts, and takes one from its count.
//!
//! # Why
//! No shadow buffer is needed. It is here for comparison: all flows come into the drawn set equally often, however many
//! samples they have, so fast flows lose too few samples, are taken for faster than they are, and get less than their
//! fair share. [AFD-NFT](super::nft) has the same state without that bias.
//!
//! # Parameters (unit, default, source)
//! - `buffer` (amount; the site's): how much may wait.
//! - `ecn` (choice; `drop`): whether an early signal marks ECN-capable packets. The paper's experiments drop.
//! - `mark_limit` (1; 0.5): above this probability ECN-capable packets are dropped too. A flow that ignores marks has at most
//!   1 / (1 - `mark_limit`) times the fair rate. Not in the paper, which drops. Ours: a flow of
//!   twice its fair rate has 0.5, and one that listens does not stay there. In Linux's SFB drops begin at 0.5 too. PIE's 0.1 (RFC
//!   8033, section 5.1) is of a whole queue; here it would drop from flows 11 % above their fair rate.
//! - `scheduler` (choice; `fcfs`): which packet leaves next.
//! - `measure` (choice; `packets`): whether m_i, m_fair and the queue are in packets or in bytes; in bytes a sample counts
//!   its packet's length. The paper has packets.
//! - `weights` (1 by class; 1 for each): w_i. A flow is dropped by m_i / w_i, so its fair rate is w_i times that of others.
//!   Not in the paper.
//! - `q_target` (amount; 50 packets or a quarter of the buffer, whichever is less): the queue that is aimed at. 50 as in a
//!   public implementation of the CCR paper; the quarter is ours, for small buffers.
//! - `alpha`, `beta` (1; 1.7 and `alpha` + 0.1): the gains of the controller of m_fair, for the last and the present queue.
//!   Pan et al., CCR 33(1), as public implementations quote them: 1.7 and 1.8.
//! - `interval` (time; 6.25 ms or 1/20 of the time to send a full buffer, whichever is less): the time between two steps of
//!   m_fair. 160 steps a second: Pan et al., CCR 33(1), as public implementations quote it. The twentieth is ours, for fast
//!   links, where a buffer fills or drains in less than 6.25 ms.
//! - `samples` (1; 1000): b, the size of the sample. All experiments of the paper; its rule is 10 R / r_fair, R being the
//!   rate of all arrivals.
//! - `sampling` (1; 0.2): p, the probability that an arrival is sampled. Not printed; public implementations of the CCR
//!   paper sample about one packet in five.
//! - `set_size` (flows; 5): s, of how many flows one is chosen. All experiments of the paper.
//!
//! # State and cost
//! For each flow in the sample, of which there are at most b and b/4 in the paper's traces, at most 32 bytes with its index.
//! O(s), with s = `set_size` fixed: one draw and one look-up per arrival, and s + 1 further draws where it is sampled.
//!
//! # Source (section, equation)
//! R. Pan, L. Breslau, B. Prabhakar and S. Shenker, "Approximate fair allocation of link bandwidth", IEEE Micro 23(1), 2003:
//! "Single data structure" and figure 4.
//!
//! # Where we differ
//! - With no more flows than `set_size` the set is all of them.
//! - Which flow loses a sample is drawn by numbers of samples in both measures: a sample is as likely to go as any other, as
//!   in the shadow buffer. In bytes it takes the mean size of its flow's samples with it, since no sample is remembered.
//! - The paper leaves gains, frequency, target and p to its companion, "Approximate fairness through differential dropping",
//!   CCR 33(1), 2003, which we know from public implementations only.
//! - m_fair starts at b, so that nobody is dropped before a queue has built, and is kept from 0 to b. In bytes b typical
//!   packets count, or what is sampled if that is more.
//! - With weights below 1 m_fair starts at, and is kept below, b divided by the least weight. A small least weight makes the
//!   first way down long.
//! - In bytes, m_fair grows and shrinks with what is sampled where that is more than b typical packets.
//! - The controller has no timer: it is brought up to date when a packet comes or goes, with the queue that there was at
//!   each instant in between.
//! - A sampled packet counts as at most 65535 bytes.
//! - No number is drawn where the probability of a drop is 0 or 1.
//!
//! # Example
//! ```toml
//! [discipline.afd-ft]
//! samples = 2000
//! set_size = 8
//! ```

use crate::catalogue::{About, Family};
use crate::dropper::afd::{self, Afd, INTERVAL, Sampled, Sampling, nft::FlowSet};
use crate::error::{BadParameter, BuildError};
use crate::memory;
use crate::part::{ClassSupport, Part, any_scheduler};
use crate::scheduler::Service;
use crate::site::Site;
use crate::spec::{EcnChoice, Measure, Quantity, Weights};
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Duration, Rng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the catalogue tells of it.
pub const ABOUT: About = About {
    family: Family::FairDropping,
    summary: "as afd-sb without its samples: one table of counts, biased against fast flows",
    state: "at most 32 bytes per flow in the sample, bounded by the number of samples",
    cost: "O(1)",
    marks: true,
    source: "Pan, Breslau, Prabhakar, Shenker 2003, \"Single data structure\"",
};

const NAME: &str = "afd-ft";

/// What was typed for `afd-ft`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// How much may wait. Default: the link's buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Quantity<Amount>>,
    /// Whether an early signal drops or marks ECN-capable packets. Default: `drop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnChoice>,
    /// Drop rather than mark where the probability is above this, from 0 to 1. Default: 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_limit: Option<f64>,
    /// Which packet leaves next. Default: `fcfs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<Service>,
    /// What flows and the queue are counted in. Default: `packets`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<Measure>,
    /// The weights of classes: a flow may have so many times the fair rate. Default: 1 for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Weights>,
    /// The queue that is aimed at, at most the buffer. Default: 50 packets, or a quarter of the buffer if that is less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q_target: Option<Quantity<Amount>>,
    /// The gain of the last queue's distance from the target, from 0 to 1000. Default: 1.7.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// The gain of the present queue's distance from the target, from `alpha` to 1001. Default: `alpha` + 0.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// The time between two steps of the fair rate, from 1 us to 1 min. Default: 6.25 ms, or 1/20 of the
    /// time to send a full buffer if that is less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Quantity<Duration>>,
    /// b: how many samples are kept, from 1 to 1048576. Default: 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// p: the probability that an arrival is sampled, above 0 and at most 1. Default: 0.2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<f64>,
    /// s: of how many flows one is chosen to lose a sample, from 1 to 64. Default: 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_size: Option<u32>,
}

impl Part for Spec {
    any_scheduler!();

    fn table_bytes(&self, _packets: u64) -> u64 {
        memory::count(self.samples, 1000) * memory::BUCKET
    }

    fn classes(&self) -> ClassSupport {
        ClassSupport::Weights
    }

    fn weighs_each_flow(&self) -> bool {
        true
    }

    fn typed_classes(&self) -> Option<&'static str> {
        self.weights.is_some().then_some("weights")
    }

    fn set_weights(&mut self, weights: Weights) {
        self.weights = Some(weights);
    }

    fn default_to_bytes(&mut self) {
        self.measure.get_or_insert(Measure::Bytes);
    }
}

/// A checked [`Spec`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// What the forms of AFD have in common.
    pub common: afd::Config,
    /// How arrivals are sampled.
    pub sampling: Sampling,
    /// s: of how many flows one is chosen to lose a sample.
    pub set_size: u32,
}

impl Config {
    /// The dropper, which draws from `rng`.
    pub fn dropper(&self, rng: Rng) -> Afd<Sampled<FlowSet>> {
        // Another set for every sample is what a set that is never used again gives.
        let record = FlowSet::new(self.set_size, 0.0);
        Afd::new(&self.common, Sampled::new(self.sampling, record), rng)
    }
}

impl Spec {
    /// Checks what was typed against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        Service::check(&self.scheduler, NAME, site)?;
        let common = self.typed().check(site)?;
        let sampling = Sampling::check(NAME, self.samples, self.sampling, common.typical(site))?;
        Ok(Config { common, sampling, set_size: FlowSet::check_size(NAME, self.set_size)? })
    }

    fn typed(&self) -> afd::Typed<'_> {
        afd::Typed {
            name: NAME,
            buffer: self.buffer,
            measure: self.measure.unwrap_or_default(),
            weights: &self.weights,
            mark_limit: self.mark_limit,
            q_target: self.q_target,
            alpha: self.alpha,
            beta: self.beta,
            interval: self.interval,
            longest: INTERVAL,
        }
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BuildError> {
        let config = self.check(site)?;
        let dropper = config.dropper(site.rng(NAME));
        let service = Service::check(&self.scheduler, NAME, site)?;
        Ok(service.queue(config.common.limit, self.ecn.unwrap_or_default(), dropper))
    }
}
