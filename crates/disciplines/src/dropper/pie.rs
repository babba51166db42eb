//! PIE: proportional integral controller enhanced.
//!
//! # What it does
//! Estimates the delay of the queue, and every update period moves a drop probability by how far the delay is from its
//! target and by how much it changed. Arrivals are dropped (or marked) with that probability.
//!
//! # Why
//! A controller of the delay holds it at the target whatever the load, where a probability read off the queue's length, as
//! RED has it, settles wherever the load puts it. It needs no timestamps and does its work at arrival, which suits hardware.
//!
//! # Parameters (unit, default, source)
//! - `buffer` (amount; the site's): how much may wait.
//! - `ecn` (choice; `drop`): whether a signal marks ECN-capable packets or drops them as well.
//! - `scheduler` (choice; `fcfs`): which packet leaves next.
//! - `measure` (choice; `packets`): in `bytes` the probability is scaled by the packet's length over the typical one. RFC 8033,
//!   section 4.1 and appendix B.
//! - `target` (time; 15 ms): QDELAY_REF. RFC 8033, section 4.2.
//! - `update` (time; 15 ms): T_UPDATE. RFC 8033, section 4.2.
//! - `alpha`, `beta` (Hz; 0.125 and 1.25): what an update adds per second of delay above the target, and per second of change.
//!   RFC 8033, section 4.2.
//! - `max_burst` (time; 150 ms): MAX_BURST, for so long nothing is dropped after the queue was short; 0 ms switches the
//!   allowance off. RFC 8033, section 4.4.
//! - `delay` (choice; `timestamps`): how the delay is estimated; see [`Estimate`]. Linux has timestamps since 5.5.
//! - `derandomize` (true or false; true): spreads drops: none before the probabilities since the last one sum to 0.85,
//!   certainty from 8.5 on. RFC 8033, section 5.4.
//! - `cap` (true or false; true): an update adds at most 0.02 when the probability is 0.1 or more. RFC 8033, section 5.5.
//! - `boost` (true or false; true): an update adds 0.02 when the delay is above 250 ms. Linux.
//! - `mark_limit` (1; 0.1): above this probability capable packets are dropped too. RFC 8033, section 5.1.
//!
//! # State and cost
//! 80 bytes; O(1) per packet. Updates that were missed while nobody called are made up for, at most 1024 of them.
//!
//! # Source (section, equation)
//! RFC 8033, sections 4 and 5 and appendices A and B.
//!
//! # Where we differ
//! - There is no timer: updates are made at the first call after they were due, with the queue as it was then.
//! - The controller is always active; section 5.3, which lets it sleep while the queue is short, is left out. Its purpose is
//!   to spare work; while the delay is zero the probability decays to zero all the same.
//! - A mark starts the count of section 5.4 anew like a drop. In Linux only a drop does.
//! - The measurement of the departure rate begins with the packet that leaves behind a threshold's worth of queue counting
//!   itself. Until it has ended once, the delay counts as zero.
//! - No number is drawn where the probability is 0.
//!
//! # Example
//! ```toml
//! [discipline.pie]
//! target = "15 ms"
//! delay = "rate"
//! ```

use crate::catalogue::{About, Family};
use crate::dropper::law::{self, Law, OneQueue};
use crate::error::{BadParameter, BuildError, Parameter};
use crate::part::{Part, any_scheduler};
use crate::scheduler::Service;
use crate::site::Site;
use crate::spec::{EcnChoice, Measure, Quantity};
use fairwire_core::units::Amount;
use fairwire_core::{Backlog, Cause, Discipline, Duration, Limit, Packet, Probe, Rng, Time, Unit, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the catalogue tells of it.
pub const ABOUT: About = About {
    family: Family::ActiveQueueManagement,
    summary: "drops with a probability that a controller moves to hold the delay at a target",
    state: "80 bytes",
    cost: "O(1)",
    marks: true,
    source: "RFC 8033",
};

const NAME: &str = "pie";

/// What was typed for `pie`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// How much may wait. Default: the link's buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Quantity<Amount>>,
    /// Whether a signal drops or marks ECN-capable packets. Default: `drop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnChoice>,
    /// Which packet leaves next. Default: `fcfs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<Service>,
    /// Whether the probability is scaled by the packet's length. Default: `packets`, not scaled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<Measure>,
    /// The delay to hold, from 1 us to 1 h. Default: 15 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Quantity<Duration>>,
    /// How often the probability is updated, from 1 us to 1 h. Default: 15 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<Quantity<Duration>>,
    /// What an update adds per second of delay above the target, from 0 to 1000 Hz. Default: 0.125.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// What an update adds per second by which the delay grew, from 0 to 1000 Hz. Default: 1.25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// For so long nothing is dropped after the queue was short, up to 1 h. Default: 150 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_burst: Option<Quantity<Duration>>,
    /// How the delay is estimated. Default: `timestamps`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Estimate>,
    /// Spread drops so that they neither cluster nor leave long gaps. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub derandomize: Option<bool>,
    /// Add at most 0.02 per update when the probability is 0.1 or more. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<bool>,
    /// Add 0.02 per update when the delay is above 250 ms. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boost: Option<bool>,
    /// Above this probability capable packets are dropped too, from 0 to 1. Default: 0.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_limit: Option<f64>,
}

impl Part for Spec {
    any_scheduler!();
}

/// How the delay is estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Estimate {
    /// The time that the packet that left last had waited; zero once nothing waits. RFC 8033, section 4.3.
    #[default]
    Timestamps,
    /// What waits over an average of the departure rate (Little's law). RFC 8033, sections 4.3 and 5.2.
    Rate,
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// How much may wait.
    pub limit: Limit,
    /// The law's parameters.
    pub terms: Terms,
}

/// The parameters of the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// QDELAY_REF.
    pub target: Duration,
    /// T_UPDATE.
    pub update: Duration,
    /// What an update adds per second of delay above the target.
    pub alpha: f64,
    /// What an update adds per second by which the delay grew.
    pub beta: f64,
    /// MAX_BURST.
    pub max_burst: Duration,
    /// How the delay is estimated.
    pub delay: Estimate,
    /// Spread drops.
    pub derandomize: bool,
    /// Add at most 0.02 when the probability is 0.1 or more.
    pub cap: bool,
    /// Add 0.02 when the delay is above 250 ms.
    pub boost: bool,
    /// Above this probability capable packets are dropped too.
    pub mark_limit: f64,
    /// Whether the probability is scaled by the packet's length.
    pub measure: Measure,
    /// MEAN_PKTSIZE.
    pub packet_bytes: u32,
}

impl Spec {
    /// Checks what was typed against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        Service::check(&self.scheduler, NAME, site)?;
        Ok(Config { limit: site.room(NAME, self.buffer)?.limit, terms: self.terms(NAME, site)? })
    }

    /// The parameters of the law, for whichever `discipline` uses it.
    pub(crate) fn terms(&self, discipline: &'static str, site: &Site<'_>) -> Result<Terms, BadParameter> {
        let parameter = |name| Parameter { discipline, name };
        let max_burst = match self.max_burst {
            Some(Quantity(Duration::ZERO)) => Duration::ZERO,
            typed => law::time(parameter("max_burst"), typed, Duration::from_ms(150))?,
        };
        Ok(Terms {
            target: law::time(parameter("target"), self.target, Duration::from_ms(15))?,
            update: law::time(parameter("update"), self.update, Duration::from_ms(15))?,
            alpha: parameter("alpha").zero_or_more(self.alpha.unwrap_or(0.125), 1000.0)?,
            beta: parameter("beta").zero_or_more(self.beta.unwrap_or(1.25), 1000.0)?,
            max_burst,
            delay: self.delay.unwrap_or_default(),
            derandomize: self.derandomize.unwrap_or(true),
            cap: self.cap.unwrap_or(true),
            boost: self.boost.unwrap_or(true),
            mark_limit: parameter("mark_limit").zero_or_more(self.mark_limit.unwrap_or(0.1), 1.0)?,
            measure: self.measure.unwrap_or_default(),
            packet_bytes: site.packet_bytes,
        })
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BuildError> {
        let config = self.check(site)?;
        let service = Service::check(&self.scheduler, NAME, site)?;
        let pie = OneQueue::<Pie>::new(Common { terms: config.terms, rng: site.rng(NAME) });
        Ok(service.queue(config.limit, self.ecn.unwrap_or_default(), pie))
    }
}

/// What all queues under PIE have in common.
#[derive(Debug)]
pub struct Common {
    /// The parameters.
    pub terms: Terms,
    /// Where drops are drawn from.
    pub rng: Rng,
}

/// Bytes that must wait for a measurement of the departure rate to begin, and leave for it to end: DQ_THRESHOLD, 2^14.
const MEASURED_BYTES: u64 = 1 << 14;

/// The weight of a measurement in the average: DQ_THRESHOLD / 2^16.
const MEASURED_WEIGHT: f64 = 0.25;

/// Above this delay, in seconds, an update adds 0.02: Linux.
const BOOSTED: f64 = 0.25;

/// Updates made up for in one call. With the defaults that is 15 s, within which a probability of 1 decays to 1e-9.
const MOST_UPDATES: u64 = 1024;

/// The law for one queue. See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Pie {
    probability: f64,
    /// Sum of the probabilities since the last signal.
    accumulated: f64,
    /// The delay at the last update, in seconds.
    last_delay: f64,
    /// Nothing is dropped before this has run down.
    burst: Duration,
    /// When the next update is due; zero before the first call.
    next_update: Time,
    delay: Delay,
}

/// An estimate of the delay, by either method.
#[derive(Clone, Debug, Default)]
struct Delay {
    /// By timestamps: of the packet that left last, in seconds.
    stamped: f64,
    /// By rate: seconds per [`MEASURED_BYTES`], zero before the first measurement has ended.
    per_measure: f64,
    /// A measurement is on since then, and so many bytes have left.
    measuring: Option<(Time, u64)>,
}

impl Delay {
    /// The delay in seconds when so much waits.
    #[inline]
    fn of(&self, queue: Backlog, by: Estimate) -> f64 {
        match by {
            Estimate::Timestamps => self.stamped,
            Estimate::Rate => queue.bytes as f64 / MEASURED_BYTES as f64 * self.per_measure,
        }
    }

    /// A packet of `len` bytes left when `waiting` bytes, itself included, waited.
    fn measure(&mut self, len: u32, waiting: u64, now: Time) {
        if self.measuring.is_none() && waiting >= MEASURED_BYTES {
            self.measuring = Some((now, 0));
        }
        let Some((since, left)) = &mut self.measuring else { return };
        *left += u64::from(len);
        if *left >= MEASURED_BYTES {
            let took = now.since(*since).secs();
            self.measuring = None;
            self.per_measure = if self.per_measure == 0.0 {
                took
            } else {
                MEASURED_WEIGHT * took + (1.0 - MEASURED_WEIGHT) * self.per_measure
            };
        }
    }
}

/// The lower the probability, the smaller its steps: the divisor of an increment. RFC 8033, section 4.2.
fn divisor(probability: f64) -> f64 {
    const STEPS: [(f64, f64); 6] =
        [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
    STEPS.iter().find(|(below, _)| probability < *below).map_or(1.0, |(_, divisor)| *divisor)
}

impl Pie {
    /// The drop probability, from 0 to 1.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Makes the updates that are due, with `queue` as what has waited since the last call.
    #[inline]
    fn advance(&mut self, terms: &Terms, queue: Backlog, now: Time) {
        if now >= self.next_update {
            self.make_updates(terms, queue, now);
        }
    }

    fn make_updates(&mut self, terms: &Terms, queue: Backlog, now: Time) {
        if self.next_update == Time::ZERO {
            self.next_update = now + terms.update;
            self.burst = terms.max_burst;
            return;
        }
        let due = now.since(self.next_update).ns() / terms.update.ns() + 1;
        self.next_update += terms.update * due;
        let delay = self.delay.of(queue, terms.delay);
        for _ in 0..due.min(MOST_UPDATES) {
            let is_low = delay <= terms.target.secs() && delay <= BOOSTED;
            if self.probability == 0.0 && delay == self.last_delay && is_low {
                break; // at rest: further updates change nothing
            }
            self.update(terms, delay);
        }
        self.burst = self.burst - terms.update * due;
    }

    fn update(&mut self, terms: &Terms, delay: f64) {
        let error = terms.alpha * (delay - terms.target.secs());
        let trend = terms.beta * (delay - self.last_delay);
        let mut step = (error + trend) / divisor(self.probability);
        if terms.cap && self.probability >= 0.1 && step > 0.02 {
            step = 0.02;
        }
        if terms.boost && delay > BOOSTED {
            step += 0.02;
        }
        self.probability += step;
        if delay == 0.0 && self.last_delay == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.last_delay = delay;
    }

    /// Is the delay at most half of the target, and was it at the last update?
    fn is_short(&self, terms: &Terms, delay: f64) -> bool {
        let half = terms.target.secs() / 2.0;
        delay < half && self.last_delay < half
    }

    /// Is this arrival picked?
    #[inline]
    fn is_picked(&mut self, common: &mut Common, packet: &Packet) -> bool {
        let terms = &common.terms;
        let scale = match terms.measure {
            Measure::Packets => 1.0,
            Measure::Bytes => f64::from(packet.len) / f64::from(terms.packet_bytes),
        };
        let p = self.probability * scale;
        if terms.derandomize {
            self.accumulated = if p == 0.0 { 0.0 } else { self.accumulated + p };
            if self.accumulated < 0.85 {
                return false;
            }
            if self.accumulated >= 8.5 {
                return true;
            }
        }
        p > 0.0 && common.rng.chance(p)
    }
}

impl Law for Pie {
    type Common = Common;
    const AT_ARRIVAL: bool = true;

    #[inline]
    fn on_arrival(&mut self, common: &mut Common, packet: &Packet, queue: Backlog, now: Time) -> Verdict {
        let terms = common.terms;
        self.advance(&terms, queue, now);
        if self.probability == 0.0 && self.is_short(&terms, self.delay.of(queue, terms.delay)) {
            self.burst = terms.max_burst;
        }
        let half = terms.target.secs() / 2.0;
        let is_idle = self.last_delay < half && self.probability < 0.2;
        let is_spared = is_idle || queue.bytes <= 2 * u64::from(terms.packet_bytes);
        if !self.burst.is_zero() || is_spared || !self.is_picked(common, packet) {
            return Verdict::Pass;
        }
        self.accumulated = 0.0;
        if self.probability > terms.mark_limit {
            Verdict::Drop(Cause::Early)
        } else {
            Verdict::Signal(Cause::Early)
        }
    }

    #[inline]
    fn on_departure(&mut self, common: &mut Common, packet: &Packet, queue: Backlog, now: Time) -> Verdict {
        let before = Backlog { packets: queue.packets + 1, bytes: queue.bytes + u64::from(packet.len) };
        self.advance(&common.terms, before, now);
        match common.terms.delay {
            Estimate::Timestamps if queue.is_empty() => self.delay.stamped = 0.0,
            Estimate::Timestamps => self.delay.stamped = now.since(packet.arrived).secs(),
            Estimate::Rate => self.delay.measure(packet.len, before.bytes, now),
        }
        Verdict::Pass
    }

    fn overflowed(&mut self, common: &mut Common, queue: Backlog, now: Time) {
        self.advance(&common.terms, queue, now);
        self.accumulated = 0.0;
    }

    fn emptied(&mut self, common: &mut Common, now: Time) {
        self.advance(&common.terms, Backlog::default(), now);
        self.delay.stamped = 0.0;
    }

    fn inspect(&self, _: &Common, probe: &mut dyn Probe) {
        probe.gauge("probability", Unit::One, self.probability);
        probe.gauge("delay", Unit::Seconds, self.last_delay);
        probe.gauge("burst_allowance", Unit::Seconds, self.burst.secs());
    }
}
