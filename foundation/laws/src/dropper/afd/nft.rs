//! AFD-NFT: approximate fair dropping with a flow table, and without bias.
//!
//! # What it does
//! Works as AFD-SB, but keeps only the number of each flow's samples. When a new sample needs room,
//! a flow of a small, randomly drawn set loses one. Within the set, a flow is drawn in proportion
//! to its number of samples. The set is replaced after u losses, a small fraction of its samples.
//!
//! With `ecn = "mark"` an early signal marks ECN-capable packets.
//!
//! # Why
//! AFD-NFT drops as AFD-SB does, without storing the samples. Each flow enters a set equally often,
//! but a set with more samples is kept for longer. So a flow that has m_i of the b samples loses
//! m_i samples in b updates on average.
//!
//! # State and cost
//! Each flow in the sample takes at most 32 bytes with its index. There are at most b such flows,
//! where b is the number of samples; in the paper's traces there are b/4. Each arrival takes one
//! draw and one look-up. A sampled arrival takes one further draw and O(s) steps, where s is
//! `set_size`. A new set takes s draws and O(s^2) comparisons.
//!
//! # Source (section, equation)
//! R. Pan, L. Breslau, B. Prabhakar and S. Shenker, "Approximate fair allocation of link
//! bandwidth", IEEE Micro 23(1), 2003: "New flow table design" and "Analysis".
//!
//! # Where we differ
//! - The paper's "m_i / (sum m_j)^-1" is a misprint of m_i (sum m_j)^-1.
//! - u is the fraction a (`reuse`) of the samples that the set has when drawn. It is rounded down,
//!   and at least 1. The paper does not state the rounding; rounding down gives its 180 sets per b
//!   updates in table 1.
//! - A flow that has lost its last sample leaves the set; a set without flows is replaced early.
//! - If at most `set_size` flows have samples, all of them form the set.
//! - The flow that loses a sample is drawn by numbers of samples, even if counts are in bytes. In
//!   bytes, that flow loses the mean size of its samples, since individual sizes are not stored.
//! - The differences of `afd-sb` apply, too.
//!
//! # Example
//! ```toml
//! [discipline.afd-nft]
//! samples = 2000
//! weights = { 1 = 2.0 }
//! ```

use crate::about::{About, Family};
use crate::dropper::afd::{self, Afd, Counts, Record, Sample, Sampled, Sampling};
use crate::error::{BadParameter, Of as _};
use crate::part::Part;
use crate::queueing::CheckedQueue;
use crate::site::Site;
use alloc::boxed::Box;
use fairwire_core::{Discipline, Probe, Rng, Unit};
use fairwire_parameters::parameters;

/// The catalogue entry.
pub const ABOUT: About = About {
    family: Family::FairDropping,
    summary: "as afd-sb without its samples: one table of counts, without bias",
    state: "at most 32 bytes per flow in the sample, bounded by the number of samples",
    cost: "O(1)",
    marks: true,
    source: "Pan, Breslau, Prabhakar, Shenker 2003, \"New flow table design\"",
};

const NAME: &str = "afd-nft";

/// Parameters of `afd-nft`.
#[parameters(gated, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The parameters that all sampling forms share.
    #[parameter(flatten)]
    pub samples: afd::Samples,
    /// s: the number of flows from which one is chosen to lose a sample.
    ///
    /// All experiments of the paper use the default.
    #[parameter(default = 5, min = 1, max = 64, unit = "flows")]
    pub set_size: Option<u32>,
    /// a: the fraction of its samples that a set of flows loses before another set is drawn.
    ///
    /// All experiments of the paper use the default.
    #[parameter(default = 0.06, above = 0.0, max = 1.0, unit = "1")]
    pub reuse: Option<f64>,
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
    /// s: the number of flows in a set.
    pub set_size: u32,
    /// a: the fraction of its samples that a set loses before another set is drawn.
    pub reuse: f64,
}

impl Config {
    /// The dropper.
    pub fn dropper(&self, rng: Rng) -> Afd<Sampled<FlowSet>> {
        let record = FlowSet::new(self.set_size, self.reuse);
        Afd::new(&self.common, Sampled::new(self.sampling, record), rng)
    }
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Config), BadParameter> {
        let Checked { set_size, reuse } = self.checked().of(NAME)?;
        let (queue, common, sampling) = self.samples.check(NAME, site)?;
        Ok((queue, Config { common, sampling, set_size, reuse }))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(config.dropper(site.rng(NAME))))
    }
}

/// The maximum number of flows in a set. The paper's sets have fewer than 10 flows. Drawing a set
/// takes time quadratic in its size.
const MAX_IN_SET: usize = 64;

/// S: a few randomly drawn flows that lose samples until another set replaces them.
#[derive(Debug)]
pub struct FlowSet {
    size: u32,
    reuse: f64,
    places: [u32; MAX_IN_SET],
    len: usize,
    left: u32,
    drawn: u64,
}

impl FlowSet {
    /// Flow sets of `size` flows, at most 64. A set is used until it has lost the fraction `reuse`
    /// of its samples, or one sample if that is more.
    pub fn new(size: u32, reuse: f64) -> Self {
        let size = size.min(MAX_IN_SET as u32);
        FlowSet { size, reuse, places: [0; MAX_IN_SET], len: 0, left: 0, drawn: 0 }
    }

    /// The places of the set's flows in the table of counts.
    pub fn places(&self) -> &[u32] {
        &self.places[..self.len]
    }

    /// The number of samples that the set has yet to lose. It starts at u.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// The number of sets drawn so far.
    pub fn drawn(&self) -> u64 {
        self.drawn
    }

    /// Draws distinct flows, all equally likely, by R. W. Floyd's method (Bentley, "Programming
    /// pearls: a sample of brilliance", CACM 30(9), 1987).
    fn draw(&mut self, counts: &Counts, rng: &mut Rng) {
        let flows = counts.flows() as u32;
        self.len = 0;
        for last in flows.saturating_sub(self.size)..flows {
            let place = if flows <= self.size { last } else { rng.below(last + 1) };
            let place = if self.places().contains(&place) { last } else { place };
            self.places[self.len] = place;
            self.len += 1;
        }
        self.drawn += 1;
        self.left = ((self.reuse * f64::from(self.samples(counts))) as u32).max(1);
    }

    #[inline]
    fn samples(&self, counts: &Counts) -> u32 {
        self.places().iter().map(|&place| counts.samples_at(place as usize)).sum()
    }

    /// The index in the set of the flow that owns the set's sample number `nth`, counted from 0.
    #[inline]
    fn owner(&self, mut nth: u32, counts: &Counts) -> usize {
        let mut at = 0;
        loop {
            let samples = counts.samples_at(self.places[at] as usize);
            if nth < samples {
                return at;
            }
            nth -= samples;
            at += 1;
        }
    }

    /// Removes the flow at index `at` from the set. The flow has left the table of counts, whose
    /// last flow has moved from place `flows` to the freed place.
    fn leave(&mut self, at: usize, flows: usize) {
        let gone = self.places[at];
        self.len -= 1;
        self.places[at] = self.places[self.len];
        for place in &mut self.places[..self.len] {
            if *place == flows as u32 {
                *place = gone;
            }
        }
    }
}

impl Record for FlowSet {
    fn append(&mut self, _: Sample) {}

    #[inline]
    fn replace(&mut self, _: Sample, counts: &mut Counts, rng: &mut Rng) {
        if self.left == 0 || self.len == 0 {
            self.draw(counts, rng);
        }
        self.left -= 1;
        let nth = rng.below(self.samples(counts));
        let at = self.owner(nth, counts);
        if counts.take_mean(self.places[at] as usize) {
            self.leave(at, counts.flows());
        }
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("sets_drawn", Unit::One, self.drawn as f64);
    }

    fn retune(&mut self, fresh: &Self) -> bool {
        (self.size, self.reuse) = (fresh.size, fresh.reuse);
        true
    }
}
