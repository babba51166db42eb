//! AFD-FT: approximate fair dropping with only a flow table.
//!
//! # What it does
//! Works as AFD-SB, but keeps only each flow's count of samples. To make room for a new sample,
//! AFD-FT picks a few flows at random. It chooses one of them in proportion to their counts, and
//! deducts one from that count.
//!
//! With `ecn = "mark"` an early signal marks ECN-capable packets.
//!
//! # Why
//! AFD-FT is here for comparison. All flows are picked equally often, however many samples they
//! have. So fast flows lose too few samples, appear faster than they are, and get less than their
//! fair share. [AFD-NFT](super::nft) has the same state without that bias.
//!
//! # State and cost
//! Each flow in the sample takes at most 32 bytes with its index. There are at most b such flows,
//! where b is the number of samples, and b/4 in the paper's traces. Each arrival takes one random
//! number and one look-up. A sampled arrival takes s + 1 further random numbers and O(s^2)
//! comparisons, where s is `set_size`.
//!
//! # Source (section, equation)
//! R. Pan, L. Breslau, B. Prabhakar and S. Shenker, "Approximate fair allocation of link
//! bandwidth", IEEE Micro 23(1), 2003: "Single data structure" and figure 4.
//!
//! # Where we differ
//! - If there are at most `set_size` flows, all are picked.
//! - The flow that loses a sample is chosen by numbers of samples, even if counts are in bytes. In
//!   bytes, that flow loses the mean size of its samples, since individual sizes are not stored.
//! - The differences of `afd-sb` apply, too.
//!
//! # Example
//! ```toml
//! [discipline.afd-ft]
//! samples = 2000
//! set_size = 8
//! ```

use crate::about::{About, Family};
use crate::dropper::afd::{self, nft};
use crate::error::{BadParameter, Of as _};
use crate::part::Part;
use crate::queueing::CheckedQueue;
use crate::site::Site;
use alloc::boxed::Box;
use fairwire_core::Discipline;
use fairwire_parameters::parameters;

/// The catalogue entry.
pub const ABOUT: About = About {
    family: Family::FairDropping,
    summary: "as afd-sb without its samples: one table of counts, biased against fast flows",
    state: "at most 32 bytes per flow in the sample, bounded by the number of samples",
    cost: "O(1)",
    marks: true,
    source: "Pan, Breslau, Prabhakar, Shenker 2003, \"Single data structure\"",
};

const NAME: &str = "afd-ft";

/// Parameters of `afd-ft`.
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
}

impl Part for Spec {
    fn table_bytes(&self, _packets: u64) -> u64 {
        self.samples.table_bytes()
    }
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, nft::Config), BadParameter> {
        let Checked { set_size } = self.checked().of(NAME)?;
        let (queue, common, sampling) = self.samples.check(NAME, site)?;
        // `reuse` is zero, because the set is drawn again for every sample.
        Ok((queue, nft::Config { common, sampling, set_size, reuse: 0.0 }))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(config.dropper(site.rng(NAME))))
    }
}
