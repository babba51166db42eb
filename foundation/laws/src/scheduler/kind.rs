//! The schedulers by name.

use crate::scheduler::terms::Terms;
use crate::scheduler::{Drr, Fbfq, Fcfs, Scfq, Sfq, Wf2qPlus};
use alloc::boxed::Box;
use fairwire_core::Scheduler;
use fairwire_parameters::word;

/// The schedulers by name.
#[word(gated)]
pub enum Kind {
    /// First come, first served.
    #[default]
    Fcfs,
    /// Frame-based fair queueing, the fair queueing of Suter et al.
    Fbfq,
    /// Deficit round robin.
    Drr,
    /// Self-clocked fair queueing.
    Scfq,
    /// Start-time fair queueing.
    #[cfg_attr(feature = "serde", serde(alias = "sfq-start"))]
    Sfq,
    /// Worst-case fair weighted fair queueing.
    #[cfg_attr(feature = "serde", serde(rename = "wf2q+"))]
    Wf2qPlus,
}

/// Bytes of a queue in a bounded table of queues.
const QUEUE: u64 = 64;
const REMEMBERED: u64 = 1024;

impl Kind {
    /// All schedulers, in the order in which users see them.
    pub const ALL: [Kind; 6] = [Kind::Fcfs, Kind::Fbfq, Kind::Drr, Kind::Scfq, Kind::Sfq, Kind::Wf2qPlus];

    /// The scheduler's name, as users write it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Fcfs => "fcfs",
            Kind::Fbfq => "fbfq",
            Kind::Drr => "drr",
            Kind::Scfq => "scfq",
            Kind::Sfq => "sfq",
            Kind::Wf2qPlus => "wf2q+",
        }
    }

    /// The names of [`ALL`](Self::ALL), in the same order, then the aliases.
    #[cfg(feature = "serde")]
    pub(super) const NAMES: &[&str] = &{
        let mut names = [Self::OTHER_NAME; Self::ALL.len() + 1];
        let mut at = 0;
        while at < Self::ALL.len() {
            names[at] = Self::ALL[at].name();
            at += 1;
        }
        names
    };

    #[cfg(feature = "serde")]
    pub(super) fn called(at: usize) -> Self {
        Self::ALL.get(at).copied().unwrap_or(Kind::Sfq)
    }

    const OTHER_NAME: &str = "sfq-start";

    /// The scheduler's alias, as users write it.
    pub const fn alias(self) -> Option<&'static str> {
        match self {
            Kind::Sfq => Some(Self::OTHER_NAME),
            _ => None,
        }
    }

    /// Does the scheduler serve in rounds or frames of one quantum?
    pub fn has_rounds(self) -> bool {
        matches!(self, Kind::Drr | Kind::Fbfq)
    }

    /// The scheduler of this name. A `Box` takes 2 to 7 % fewer instructions per packet than an
    /// enum of all schedulers (`docs/adr/contracts.md`).
    pub fn scheduler(self, terms: &Terms) -> Box<dyn Scheduler> {
        match self {
            Kind::Fcfs => Box::new(Fcfs),
            Kind::Fbfq => Box::new(Fbfq::new(terms)),
            Kind::Drr => Box::new(Drr::new(terms)),
            Kind::Scfq => Box::new(Scfq::new(terms)),
            Kind::Sfq => Box::new(Sfq::new(terms)),
            Kind::Wf2qPlus => Box::new(Wf2qPlus::new(terms)),
        }
    }

    /// The estimated bytes of the tables for a buffer of `packets` and a bounded number of
    /// `queues`.
    pub fn table_bytes(self, packets: u64, queues: Option<u32>) -> u64 {
        let order = match self {
            Kind::Fcfs => 0,
            Kind::Drr => 16 * packets,
            Kind::Scfq => 52 * packets,
            Kind::Sfq => 132 * packets.max(REMEMBERED),
            Kind::Fbfq => 172 * packets.max(REMEMBERED),
            Kind::Wf2qPlus => 204 * packets.max(REMEMBERED),
        };
        order + queues.map_or(0, |queues| u64::from(queues) * QUEUE)
    }
}
