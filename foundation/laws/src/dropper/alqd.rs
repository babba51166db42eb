//! ALQD: approximated longest queue drop.
//!
//! # What it does
//! Remembers one queue and its length. Whenever a packet enters or leaves a longer queue, that
//! queue replaces the remembered one. When the buffer is full, the remembered queue loses its
//! oldest packet, and the arrival enters.
//!
//! The `weights` of the `scheduler` also decide the share of each queue in the buffer B: b = B w /
//! sum of w, where w is the queue's weight. In the paper n queues have equal shares, b = B/n
//! (section II.B).
//!
//! # Why
//! It nearly matches the isolation of longest queue drop for one comparison per packet.
//!
//! # State and cost
//! One register for all queues, and with weights 4 bytes per packet of buffer. O(1) per packet.
//!
//! # Source (section, equation)
//! B. Suter, T. V. Lakshman, D. Stiliadis and A. K. Choudhury, "Design Considerations for
//! Supporting TCP with Per-flow Queueing", INFOCOM 1998: section II.B.3.
//!
//! # Where we differ
//! - In the paper an arrival is dropped if memory cannot be freed. Here that happens exactly when
//!   the remembered queue has run empty and no other has replaced it.
//! - With weights, queues are compared by the excess q - b of their length q over their current
//!   share b.
//! - With `drop = "tail"` the remembered queue loses its newest packet. If that queue is the
//!   arrival's own, the arrival is refused.
//! - The weight of a queue is that of the class of the packet that made it backlogged.
//!
//! # Example
//! ```toml
//! [discipline.alqd]
//! buffer = "64 KiB"
//! scheduler = { fcfs = { queues = 128, sharing = "random-replacement" } }
//! ```

use crate::about::{About, Family};
use crate::dropper::push_out::{self, Config, Shares};
use crate::error::BadParameter;
use crate::part::Part;
use crate::queueing::CheckedQueue;
use crate::site::Site;
use alloc::boxed::Box;
use fairwire_core::{
    Buffer, Discipline, Dropper, FlowKey, Needs, Packet, Probe, SetWeightError, Time, Victim, Weight,
};
use fairwire_parameters::parameters;

/// The catalogue entry.
pub const ABOUT: About = About {
    family: Family::PushOut,
    summary: "a full buffer drops from the front of the longest queue seen lately",
    state: "one register; 4 bytes per packet of buffer with weights",
    cost: "O(1)",
    marks: false,
    source: "Suter, Lakshman, Stiliadis, Choudhury 1998, section II.B.3",
};

const NAME: &str = "alqd";

/// Parameters of `alqd`.
#[parameters(gated)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The parameters that all push-out droppers share.
    #[parameter(flatten)]
    pub parameters: push_out::Parameters,
}

impl Part for Spec {
    fn drops_by_place(&self) -> bool {
        true
    }
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Config), BadParameter> {
        self.parameters.check(NAME, site)
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(Alqd::new(config)))
    }
}

/// Approximated longest queue drop. See the [module](self).
#[derive(Debug)]
pub struct Alqd {
    config: Config,
    shares: Shares,
    register: Option<Register>,
}

/// The longest known queue; it is backlogged.
#[derive(Clone, Copy, Debug)]
struct Register {
    flow: FlowKey,
    length: u64,
}

impl Alqd {
    /// An ALQD that does not remember a queue yet.
    pub fn new(config: Config) -> Self {
        Alqd { shares: Shares::new(&config), config, register: None }
    }

    /// The remembered queue, and its length in packets or bytes as configured.
    pub fn longest_known(&self) -> Option<(FlowKey, u64)> {
        self.register.map(|register| (register.flow, register.length))
    }

    #[inline]
    fn is_further(&self, queue: Register, other: Register, buffer: &Buffer) -> bool {
        if self.shares.are_equal() {
            return queue.length > other.length;
        }
        let unit = self.shares.unit(buffer);
        let above = |of: Register| of.length as f64 - unit * self.shares.weight(of.flow);
        above(queue) > above(other)
    }
}

impl Dropper for Alqd {
    fn needs(&self) -> Needs {
        Needs::QUEUES
    }

    #[inline]
    fn victim(&mut self, packet: &Packet, buffer: &Buffer, _: Time) -> Victim {
        match self.register {
            Some(Register { flow, .. }) => self.config.victim(flow, packet, buffer),
            None => Victim::Arrival,
        }
    }

    #[inline]
    fn tracked(&mut self, packet: &Packet, flow: FlowKey, inside: bool, buffer: &Buffer) {
        self.shares.tracked(packet, flow, inside, buffer);
        let queue = Register { flow, length: self.config.length(flow, buffer) };
        let becomes = match self.register {
            Some(known) if known.flow == flow => true,
            // An empty queue has no packet to lose. With weights it could still win, if `known` is
            // further below its own share.
            Some(known) => queue.length > 0 && self.is_further(queue, known, buffer),
            None => true,
        };
        if becomes {
            self.register = (queue.length > 0).then_some(queue);
        }
    }

    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        self.shares.set_weight(class, weight)
    }

    fn retune(&mut self, fresh: &Self, _: Time) -> bool {
        let takes = self.config.measure == fresh.config.measure && self.shares.retune(&fresh.shares);
        if takes {
            self.config.clone_from(&fresh.config);
        }
        takes
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let length = self.register.map_or(0, |register| register.length);
        probe.gauge("longest_queue_known", self.config.unit(), length as f64);
    }
}
