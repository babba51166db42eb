//! Tail-drop.
//!
//! # What it does
//! Refuses an arrival when the buffer is full.
//!
//! # Why
//! Tail-drop is the baseline of every comparison. Long-lived TCP flows synchronise, the queue stays
//! full, and a sender that does not back off takes any share.
//!
//! # State and cost
//! No state beyond the buffer; O(1) per packet.
//!
//! # Source (section, equation)
//! RFC 7567, section 2: "tail drop".
//!
//! # Where we differ
//! ns-2's `Queue/DropTail` with a limit of B holds B - 1 packets; here a buffer of B holds B.
//!
//! # Example
//! ```toml
//! [discipline.tail-drop]
//! buffer = "100 ms"
//! ```

use crate::about::{About, Family};
use crate::error::BadParameter;
use crate::part::Part;
use crate::queueing::{CheckedQueue, Queueing};
use crate::site::Site;
use alloc::boxed::Box;
use fairwire_core::{Discipline, Dropper, Time};
use fairwire_parameters::parameters;

/// This discipline's catalogue entry.
pub const ABOUT: About = About {
    family: Family::Baseline,
    summary: "refuses an arrival when the buffer is full",
    state: "none",
    cost: "O(1)",
    marks: false,
    source: "RFC 7567, section 2",
};

const NAME: &str = "tail-drop";

/// Parameters of `tail-drop`.
#[parameters(gated)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
}

impl Part for Spec {
    fn drops_by_place(&self) -> bool {
        true
    }
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<CheckedQueue, BadParameter> {
        self.queue.check(NAME, site)
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        Ok(self.check(site)?.serve(TailDrop))
    }
}

/// The dropper of [tail-drop](self).
#[derive(Clone, Copy, Debug, Default)]
pub struct TailDrop;

impl Dropper for TailDrop {
    fn retune(&mut self, _: &Self, _: Time) -> bool {
        true
    }
}
