//! AVQ: an adaptive virtual queue.
//!
//! # What it does
//! Runs a virtual queue along with the real one, with the same buffer and a lower capacity. A
//! packet that would overflow the virtual queue is dropped (or marked) in the real one. The virtual
//! capacity falls with arrivals and rises with time, until the arrival rate is the desired fraction
//! of the link's rate.
//!
//! # Why
//! The real queue stays short, since the virtual one overflows first. Unresponsive senders drive
//! the virtual capacity down towards 0, so when they overload the link, almost no packet passes.
//!
//! # State and cost
//! A virtual backlog, a virtual capacity and one time for all flows. O(1) per packet, without
//! random draws.
//!
//! # Source (section, equation)
//! S. Kunniyur and R. Srikant, "Analysis and Design of an Adaptive Virtual Queue (AVQ) Algorithm
//! for Active Queue Management", ACM SIGCOMM 2001: the pseudo-code of AVQ.
//!
//! # Where we differ
//! - The virtual capacity starts at the link's rate; the paper does not state a start.
//! - A virtual buffer given in packets counts each packet as a typical one.
//! - As in the paper, every arrival counts against the virtual capacity, even if it is dropped.
//! - A packet that finds the virtual queue empty never overflows it. Otherwise a packet longer than
//!   the entire virtual buffer would never pass.
//!
//! # Example
//! ```toml
//! [discipline.avq]
//! utilization = 0.95
//! ecn = "mark"
//! ```

use crate::about::{About, Family};
use crate::error::{BadParameter, Of as _};
use crate::part::Part;
use crate::queueing::{CheckedQueue, Queueing};
use crate::site::Site;
use crate::spec::Measure;
use alloc::boxed::Box;
use fairwire_core::{Buffer, Cause, Discipline, Dropper, Packet, Probe, Time, Unit, Verdict};
use fairwire_parameters::parameters;

/// The catalogue entry.
pub const ABOUT: About = About {
    family: Family::ActiveQueueManagement,
    summary: "drops or marks what would overflow a virtual queue that is slower than the link",
    state: "a virtual backlog, a virtual capacity and one time for all flows",
    cost: "O(1)",
    marks: true,
    source: "Kunniyur and Srikant 2001, the pseudo-code",
};

const NAME: &str = "avq";

/// Parameters of `avq`.
#[parameters(gated, public, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
    /// The unit of the virtual queue.
    ///
    /// Bytes, as in the paper, or packets of the typical size.
    #[parameter(default = Measure::Bytes)]
    pub measure: Option<Measure>,
    /// The desired fraction of the link's rate.
    #[parameter(default = 0.98, above = 0.0, max = 1.0, unit = "1", source = "The paper's simulations.")]
    pub utilization: Option<f64>,
    /// The speed at which the virtual capacity adapts.
    #[parameter(default = 0.15, above = 0.0, max = 100.0, unit = "1", source = "The paper's simulations.")]
    pub alpha: Option<f64>,
}

impl Part for Spec {}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The parameters as given, or their defaults.
    pub given: Checked,
    /// The virtual buffer, in bytes.
    pub virtual_buffer: f64,
    /// C: the link's rate, in bytes per second.
    pub capacity: f64,
    /// A typical packet on the wire, in bytes.
    pub packet_bytes: u32,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Config), BadParameter> {
        let given = self.checked().of(NAME)?;
        let queue = self.queue.check(NAME, site)?;
        let config = Config {
            given,
            virtual_buffer: queue.room.amount.in_bytes(site.packet_bytes, site.rate),
            capacity: site.rate.bps() as f64 / 8.0,
            packet_bytes: site.packet_bytes,
        };
        Ok((queue, config))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(Avq::new(config)))
    }
}

/// The adaptive virtual queue. See the [module](self).
#[derive(Debug)]
pub struct Avq {
    config: Config,
    /// VQ, in bytes.
    backlog: f64,
    /// The virtual capacity, in bytes per second.
    capacity: f64,
    arrived: Time,
}

impl Avq {
    /// An AVQ whose virtual capacity starts at the link's rate.
    pub fn new(config: Config) -> Self {
        Avq { config, backlog: 0.0, capacity: config.capacity, arrived: Time::ZERO }
    }

    /// VQ: the virtual backlog, in bytes.
    pub fn virtual_backlog(&self) -> f64 {
        self.backlog
    }

    /// The virtual capacity, in bytes per second: from 0 to the link's rate.
    pub fn virtual_capacity(&self) -> f64 {
        self.capacity
    }
}

impl Dropper for Avq {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, _: &Buffer, now: Time) -> Verdict {
        let Config { given, virtual_buffer, capacity, packet_bytes } = self.config;
        let Checked { measure, utilization, alpha } = given;
        let bytes = f64::from(if measure == Measure::Bytes { packet.len } else { packet_bytes });
        let elapsed = now.since(self.arrived).secs();
        self.arrived = now;
        self.backlog = (self.backlog - self.capacity * elapsed).max(0.0);
        // Without the first test, a packet longer than the virtual buffer would never pass.
        let overflows = self.backlog > 0.0 && self.backlog + bytes > virtual_buffer;
        if !overflows {
            self.backlog += bytes;
        }
        let risen = (self.capacity + alpha * utilization * capacity * elapsed).min(capacity);
        self.capacity = (risen - alpha * bytes).max(0.0);
        if overflows { Verdict::Signal(Cause::Early) } else { Verdict::Pass }
    }

    fn retune(&mut self, fresh: &Self, _: Time) -> bool {
        if self.config.capacity != fresh.config.capacity {
            self.capacity = self.capacity / self.config.capacity * fresh.config.capacity;
        }
        self.config = fresh.config;
        true
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("virtual_backlog", Unit::Bytes, self.backlog);
        probe.gauge("virtual_capacity", Unit::BitsPerSecond, self.capacity * 8.0);
    }
}
