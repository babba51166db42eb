//! Step marking: the switch rule that DCTCP needs.
//!
//! # What it does
//! Marks an ECN-capable arrival that finds a backlog above K. All other packets pass until the
//! buffer is full.
//!
//! # Why
//! DCTCP counts marks, so it must learn at once when the queue itself, not its average, exceeds K.
//!
//! # State and cost
//! No state beyond the buffer; O(1) per packet.
//!
//! # Source (section, equation)
//! M. Alizadeh and others, "Data center TCP (DCTCP)", SIGCOMM 2010, section 3.1 (1), "Simple
//! Marking at the Switch". Section 3.4, equation 13: K is more than a seventh of the
//! bandwidth-delay product.
//!
//! # Where we differ
//! - The backlog does not include the arrival.
//! - Switches that use RED for this rule drop packets that are not ECN-capable.
//!
//! # Example
//! ```toml
//! [discipline.step]
//! threshold = "65 packets"
//! ```

use crate::about::{About, Family};
use crate::error::{BadParameter, Of as _};
use crate::part::Part;
use crate::queueing::{CheckedQueue, Marking};
use crate::site::Site;
use crate::spec::Quantity;
use alloc::boxed::Box;
use fairwire_core::units::Amount;
use fairwire_core::{Buffer, Cause, Discipline, Dropper, Packet, Time, Verdict};
use fairwire_parameters::parameters;

/// This discipline's catalogue entry.
pub const ABOUT: About = About {
    family: Family::ActiveQueueManagement,
    summary: "marks what finds more than a threshold waiting, for DCTCP",
    state: "none",
    cost: "O(1)",
    marks: true,
    source: "Alizadeh et al. 2010, section 3.1",
};

const NAME: &str = "step";

/// Parameters of `step`.
#[parameters(gated, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Marking,
    /// K: the backlog above which an arrival is marked.
    ///
    /// A time is converted at the link's rate.
    #[parameter(
        default = "20 packets",
        source = "Alizadeh et al. 2010, section 4, for 1 Gbit/s; 65 packets for 10 Gbit/s."
    )]
    pub threshold: Option<Quantity<Amount>>,
}

impl Part for Spec {}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Step), BadParameter> {
        let Checked { threshold } = self.checked().of(NAME)?;
        let queue = self.queue.check(NAME, site)?;
        let step = match threshold {
            Amount::Packets(packets) => Step { packets, bytes: u64::MAX },
            other => Step { packets: u32::MAX, bytes: other.in_bytes(site.packet_bytes, site.rate) as u64 },
        };
        Ok((queue, step))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, step) = self.check(site)?;
        Ok(queue.serve(step))
    }
}

/// The dropper of [step marking](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    packets: u32,
    bytes: u64,
}

impl Dropper for Step {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, _: Time) -> Verdict {
        let is_above = buffer.len() > self.packets || buffer.bytes() > self.bytes;
        if is_above && packet.ecn.is_capable() { Verdict::Signal(Cause::Early) } else { Verdict::Pass }
    }

    fn retune(&mut self, new: &Self, _: Time) -> bool {
        *self = *new;
        true
    }
}
