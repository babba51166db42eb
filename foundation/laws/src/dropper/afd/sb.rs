//! AFD-SB: approximate fair dropping with a shadow buffer.
//!
//! # What it does
//! Keeps a random sample of recent arrivals, the shadow buffer. Each flow's packets are dropped
//! with the probability that brings the flow down to the fair rate: d_i = max(0, 1 - m_fair / m_i),
//! where flow i has m_i of the samples. A controller adjusts m_fair to keep the queue at a target.
//!
//! # Why
//! One first-come-first-served queue provides nearly max-min fair rates. Few flows need state: most
//! slow flows are not in the sample.
//!
//! # State and cost
//! 16 bytes for each of the b samples, and at most 32 bytes, index included, for each flow in the
//! sample. There are at most b such flows; in the paper's traces there are b/4. O(1).
//!
//! # Source (section, equation)
//! R. Pan, L. Breslau, B. Prabhakar and S. Shenker, "Approximate fair allocation of link
//! bandwidth", IEEE Micro 23(1), 2003: "Approximate fair dropping" and "Implementing AFD".
//!
//! # Where we differ
//! - Gains, frequency, target and p are those of the companion paper, "Approximate fairness through
//!   differential dropping", CCR 33(1), 2003, as public implementations quote it.
//! - m_fair is kept from 0 to b. It starts at b, so no packet is dropped before a queue has built.
//!   With weights below 1, the maximum is b divided by the least weight. In bytes, b is replaced by
//!   the size of b typical packets or of all samples, whichever is more. A change of the maximum
//!   scales m_fair.
//! - The controller has no timer: it catches up when a packet arrives or leaves.
//! - A sampled packet counts as at most 65535 bytes.
//!
//! # Example
//! ```toml
//! [discipline.afd-sb]
//! samples = 2000
//! q_target = "10 ms"
//! ```

use crate::about::{About, Family};
use crate::dropper::afd::{self, Afd, Counts, Record, Sample, Sampled, Sampling};
use crate::error::BadParameter;
use crate::part::Part;
use crate::queueing::CheckedQueue;
use crate::site::Site;
use alloc::boxed::Box;
use alloc::vec::Vec;
use fairwire_core::{Discipline, Rng};
use fairwire_parameters::parameters;

/// The catalogue entry.
pub const ABOUT: About = About {
    family: Family::FairDropping,
    summary: "drops each flow down to the fair rate, rates estimated from a random sample of arrivals",
    state: "16 bytes per sample, and at most 32 per flow in the sample, bounded by the number of samples",
    cost: "O(1)",
    marks: true,
    source: "Pan, Breslau, Prabhakar, Shenker 2003, \"Implementing AFD\"",
};

const NAME: &str = "afd-sb";

/// Parameters of `afd-sb`.
#[parameters(gated)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The parameters that all sampling forms share.
    #[parameter(flatten)]
    pub samples: afd::Samples,
}

impl Part for Spec {
    fn table_bytes(&self, _packets: u64) -> u64 {
        self.samples.table_bytes()
    }
}

/// A checked [`Spec`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The parameters that all forms of AFD share.
    pub common: afd::Config,
    /// How arrivals are sampled.
    pub sampling: Sampling,
}

impl Config {
    /// The dropper.
    pub fn dropper(&self, rng: Rng) -> Afd<Sampled<ShadowBuffer>> {
        let record = ShadowBuffer::new(self.sampling.samples);
        Afd::new(&self.common, Sampled::new(self.sampling, record), rng)
    }
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Config), BadParameter> {
        let (queue, common, sampling) = self.samples.check(NAME, site)?;
        Ok((queue, Config { common, sampling }))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(config.dropper(site.rng(NAME))))
    }
}

/// The shadow buffer: all samples, each equally likely to be replaced.
#[derive(Debug)]
pub struct ShadowBuffer {
    samples: Vec<Sample>,
}

impl ShadowBuffer {
    /// An empty shadow buffer with room for `capacity` samples.
    pub fn new(capacity: u32) -> Self {
        ShadowBuffer { samples: Vec::with_capacity(capacity as usize) }
    }

    /// The samples, in no particular order.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }
}

impl Record for ShadowBuffer {
    fn append(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    /// As in the paper, replaces a random sample rather than the oldest, to avoid synchronisation.
    #[inline]
    fn replace(&mut self, sample: Sample, counts: &mut Counts, rng: &mut Rng) {
        let slot = rng.below(self.samples.len() as u32) as usize;
        counts.take(core::mem::replace(&mut self.samples[slot], sample));
    }

    fn retune(&mut self, _: &Self) -> bool {
        true
    }
}
