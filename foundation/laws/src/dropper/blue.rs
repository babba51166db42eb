//! BLUE: one probability, driven by overflow and idleness.
//!
//! # What it does
//! Arrivals are dropped (or marked) with one probability. It rises by a step when the buffer
//! overflows, and falls by a smaller step when the link goes idle. After each step the probability
//! is frozen for `freeze_time`.
//!
//! # Why
//! Overflow and idleness depend on the load itself; the length of the queue, which RED uses,
//! depends on bursts as much as on load. The probability learns slowly: with the defaults it takes
//! at least 40 s to rise from 0 to 1.
//!
//! # State and cost
//! One probability and one time for all flows; O(1) per packet.
//!
//! # Source (section, equation)
//! W. Feng, K. Shin, D. Kandlur and D. Saha, "The BLUE active queue management algorithms",
//! IEEE/ACM ToN 10(4), 2002, the pseudo-code of BLUE.
//!
//! # Where we differ
//! - Each poll that finds no packet counts as the link being idle; `freeze_time` bounds the effect.
//!   In ns-1, which the paper uses, the transmitter polls once when it goes idle.
//! - With `idle_decay`, the first arrival after idle time takes all steps that were due meanwhile.
//!   Idle time begins at the first poll that found no packet.
//!
//! # Example
//! ```toml
//! [discipline.blue]
//! increase = 0.02
//! decrease = 0.002
//! threshold = "50 ms"
//! ```

use crate::about::{About, Family};
use crate::error::{BadParameter, Of as _};
use crate::part::Part;
use crate::queueing::{CheckedQueue, Queueing};
use crate::site::Site;
use crate::spec::{Measure, Quantity};
use alloc::boxed::Box;
use fairwire_core::units::Level;
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, Duration, FlowKey, Packet, Probe, Rng, Time, Unit, Verdict, Victim,
};
use fairwire_parameters::parameters;

/// The catalogue entry.
pub const ABOUT: About = About {
    family: Family::ActiveQueueManagement,
    summary: "drops or marks with a probability that overflow raises and an idle link lowers",
    state: "one probability and one time for all flows",
    cost: "O(1)",
    marks: true,
    source: "Feng, Shin, Kandlur, Saha 2002, the pseudo-code",
};

const NAME: &str = "blue";

/// Parameters of `blue`.
#[parameters(gated, public, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
    /// The unit in which the backlog is counted.
    ///
    /// `threshold` is in this unit. In bytes, the probability is also scaled by packet length.
    #[parameter(default = Measure::Packets, source = "The paper uses packets.")]
    pub measure: Option<Measure>,
    /// The step by which the probability rises.
    ///
    /// This is the paper's d1; the default is from the authors' code for ns-1.
    #[parameter(default = 0.0025, min = 0.0, max = 1.0, unit = "1")]
    pub increase: Option<f64>,
    /// The step by which the probability falls.
    ///
    /// This is the paper's d2; the default is from the authors' code for ns-1.
    #[parameter(default = 0.00025, min = 0.0, max = 1.0, unit = "1")]
    pub decrease: Option<f64>,
    /// The time after a step during which no other step is taken.
    #[parameter(default = "100 ms", above = "0 s", source = "The authors' code for ns-1.")]
    pub freeze_time: Option<Quantity<Duration>>,
    /// A backlog above this counts as overflow.
    #[parameter(unset = "none", source = "The paper's pseudo-code has it in brackets.")]
    pub threshold: Option<Quantity<Level>>,
    /// Whether the probability continues to fall, by a step per `freeze_time`, while the link stays
    /// idle.
    #[parameter(default = false)]
    pub idle_decay: Option<bool>,
}

impl Part for Spec {}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The parameters as given, or their defaults.
    pub given: Checked,
    /// The backlog above which an admission counts as overflow, in the unit of `measure`.
    pub threshold: Option<f64>,
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
            threshold: self.threshold.map(|typed| given.measure.counted(typed.0, site)),
            packet_bytes: site.packet_bytes,
        };
        Ok((queue, config))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(Blue::new(config, site.rng(NAME))))
    }
}

/// BLUE. See the [module](self).
#[derive(Debug)]
pub struct Blue {
    config: Config,
    rng: Rng,
    probability: f64,
    stepped: Option<Time>,
    idle_since: Option<Time>,
    now: Time,
}

impl Blue {
    /// A BLUE that draws from `rng`.
    pub fn new(config: Config, rng: Rng) -> Self {
        Blue { config, rng, probability: 0.0, stepped: None, idle_since: None, now: Time::ZERO }
    }

    /// p_m: the probability of a signal for a typical packet.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    fn is_frozen(&self, now: Time) -> bool {
        self.stepped.is_some_and(|last| now.since(last) <= self.config.given.freeze_time)
    }

    fn raise(&mut self, now: Time) {
        if !self.is_frozen(now) {
            self.probability = (self.probability + self.config.given.increase).min(1.0);
            self.stepped = Some(now);
        }
    }

    fn lower(&mut self, now: Time, steps: u64) {
        self.probability = (self.probability - steps as f64 * self.config.given.decrease).max(0.0);
        self.stepped = Some(now);
    }

    #[cold]
    fn end_idle(&mut self, since: Time, now: Time) {
        let from = self.stepped.unwrap_or(since).max(since);
        let steps = now.since(from).ns() / self.config.given.freeze_time.ns();
        if steps > 0 {
            self.lower(from + self.config.given.freeze_time * steps, steps);
        }
    }
}

impl Dropper for Blue {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, _: &Buffer, now: Time) -> Verdict {
        self.now = now;
        if let Some(since) = self.idle_since.take() {
            self.end_idle(since, now);
        }
        let p = match self.config.given.measure {
            Measure::Packets => self.probability,
            Measure::Bytes if self.probability >= 1.0 => 1.0, // what is certain stays certain, however short the packet
            Measure::Bytes => self.probability * f64::from(packet.len) / f64::from(self.config.packet_bytes),
        };
        if p > 0.0 && (p >= 1.0 || self.rng.chance(p)) {
            Verdict::Signal(Cause::Early)
        } else {
            Verdict::Pass
        }
    }

    fn victim(&mut self, _: &Packet, _: &Buffer, now: Time) -> Victim {
        self.raise(now);
        Victim::Arrival
    }

    #[inline]
    fn tracked(&mut self, _: &Packet, _: FlowKey, inside: bool, buffer: &Buffer) {
        let Some(threshold) = self.config.threshold else { return };
        if inside && self.config.given.measure.of(buffer.backlog()) > threshold {
            self.raise(self.now);
        }
    }

    fn idle(&mut self, now: Time) {
        if !self.is_frozen(now) {
            self.lower(now, 1);
        }
        if self.config.given.idle_decay {
            self.idle_since.get_or_insert(now);
        }
    }

    fn retune(&mut self, fresh: &Self, _: Time) -> bool {
        self.config = fresh.config;
        true
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("probability", Unit::One, self.probability);
    }
}
