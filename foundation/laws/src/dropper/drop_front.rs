//! Drop-front: a full buffer drops its oldest packet.
//!
//! # What it does
//! Admits every packet. When the buffer is full, the oldest packets of the entire buffer are
//! dropped until the arrival fits, under any scheduler.
//!
//! # Why
//! The gap in the sequence does not wait in the queue before it reaches the receiver, so TCP
//! retransmits sooner than under tail-drop. The rule is blind to flows: the heaviest flow still
//! holds most of the buffer.
//!
//! # State and cost
//! No state beyond the buffer; O(1) per packet.
//!
//! # Source (section, equation)
//! T. V. Lakshman, A. Neidhardt and T. J. Ott, "The Drop from Front Strategy in TCP and in TCP over
//! ATM", INFOCOM 1996, abstract; cited by Suter et al. 1998, section II.B.
//!
//! # Where we differ
//! - The paper drops the cell that is closest to being sent, which is the oldest only under first
//!   come, first served.
//! - Packets differ in size, unlike ATM cells, so one arrival may push out several packets.
//!
//! # Example
//! ```toml
//! [discipline.drop-front]
//! buffer = "100 packets"
//! ```

use crate::about::{About, Family};
use crate::error::BadParameter;
use crate::part::Part;
use crate::queueing::{CheckedQueue, Queueing};
use crate::site::Site;
use alloc::boxed::Box;
use fairwire_core::{Buffer, Discipline, Dropper, Packet, Time, Victim};
use fairwire_parameters::parameters;

/// The catalogue entry.
pub const ABOUT: About = About {
    family: Family::Baseline,
    summary: "a full buffer drops its oldest packet",
    state: "none",
    cost: "O(1)",
    marks: false,
    source: "Lakshman, Neidhardt, Ott 1996",
};

const NAME: &str = "drop-front";

/// Parameters of `drop-front`.
#[parameters(gated)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
}

impl Part for Spec {}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<CheckedQueue, BadParameter> {
        self.queue.check(NAME, site)
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        Ok(self.check(site)?.serve(DropFront))
    }
}

/// Drops the oldest packet. See the [module](self).
#[derive(Clone, Copy, Debug, Default)]
pub struct DropFront;

impl Dropper for DropFront {
    #[inline]
    fn victim(&mut self, _: &Packet, buffer: &Buffer, _: Time) -> Victim {
        buffer.oldest().map_or(Victim::Arrival, Victim::Waiting)
    }

    fn retune(&mut self, _: &Self, _: Time) -> bool {
        true
    }
}
