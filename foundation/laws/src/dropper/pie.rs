//! PIE: proportional integral controller enhanced.
//!
//! # What it does
//! Estimates the delay of the queue. Every update period, the probability of a drop (or mark)
//! changes in proportion to two numbers: the delay's distance from its target, and the delay's
//! change since the last update.
//!
//! # Why
//! A controller of the delay holds the delay at the target whatever the load; in RED the load
//! decides where the queue settles.
//!
//! # State and cost
//! 80 bytes; O(1). One call makes up for at most 1024 missed updates.
//!
//! # Source (section, equation)
//! RFC 8033, sections 4 and 5 and appendices A and B.
//!
//! # Where we differ
//! - There is no timer: an update is made at the first call after its due time, with the backlog at
//!   that time.
//! - The controller is always active: section 5.3, by which it may sleep while the queue is short,
//!   is omitted.
//! - A mark restarts the count of section 5.4 like a drop. In Linux only a drop restarts the count.
//! - A measurement of the departure rate starts when a packet leaves a queue whose backlog,
//!   including the packet, is at least DQ_THRESHOLD. Until the first measurement has ended, the
//!   delay counts as zero.
//! - No number is drawn if the probability is 0.
//!
//! # Example
//! ```toml
//! [discipline.pie]
//! target = "15 ms"
//! delay = "rate"
//! ```

use crate::about::{About, Family};
use crate::dropper::law::{Law, OneQueue};
use crate::error::{BadParameter, Of as _};
use crate::part::Part;
use crate::queueing::{CheckedQueue, Marking};
use crate::site::Site;
use crate::spec::{Measure, Quantity};
use crate::timer::rescheduled;
use alloc::boxed::Box;
use fairwire_core::{Backlog, Cause, Discipline, Duration, Packet, Probe, Rng, Time, Unit, Verdict};
use fairwire_parameters::{parameters, word};

/// This discipline's catalogue entry.
pub const ABOUT: About = About {
    family: Family::ActiveQueueManagement,
    summary: "drops with a probability that a controller moves to hold the delay at a target",
    state: "80 bytes",
    cost: "O(1)",
    marks: true,
    source: "RFC 8033",
};

const NAME: &str = "pie";

/// Parameters of `pie`.
#[parameters(gated, public, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Marking,
    /// The parameters of the controller.
    #[parameter(flatten)]
    pub control: Control,
    /// The method of estimating the delay.
    ///
    /// See `Estimate`.
    #[parameter(default = Estimate::Timestamps, source = "Linux has timestamps since 5.5.")]
    pub delay: Option<Estimate>,
    /// Whether drops are spread so that they neither cluster nor leave long gaps.
    ///
    /// The probabilities since the last drop are summed. Below a sum of 0.85 no packet is dropped;
    /// from 8.5 a drop is certain.
    #[parameter(default = true, source = "RFC 8033, section 5.4.")]
    pub derandomize: Option<bool>,
    /// Whether an update adds at most 0.02 to a probability of 0.1 or more.
    #[parameter(default = true, source = "RFC 8033, section 5.5.")]
    pub cap: Option<bool>,
    /// Whether an update adds 0.02 to the probability when the delay is above 250 ms.
    #[parameter(default = true, source = "Linux.")]
    pub boost: Option<bool>,
}

/// The controller parameters of PIE and FQ-PIE.
#[parameters(gated, public, checked = CheckedControl, group)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Control {
    /// Whether the probability is scaled by the packet's length.
    ///
    /// With `bytes`, the probability is multiplied by the packet's length over the typical length.
    #[parameter(default = Measure::Packets, source = "RFC 8033, section 4.1 and appendix B.")]
    pub measure: Option<Measure>,
    /// The target delay, QDELAY_REF in the RFC.
    #[parameter(default = "15 ms", min = "1 us", max = "1 h", source = "RFC 8033, section 4.2.")]
    pub target: Option<Quantity<Duration>>,
    /// The period between updates of the probability, T_UPDATE in the RFC.
    #[parameter(default = "15 ms", min = "1 us", max = "1 h", source = "RFC 8033, section 4.2.")]
    pub update: Option<Quantity<Duration>>,
    /// The change of the probability per update, for each second of delay above the target.
    #[parameter(default = 0.125, min = 0.0, max = 1000.0, unit = "Hz", source = "RFC 8033, section 4.2.")]
    pub alpha: Option<f64>,
    /// The change of the probability per update, for each second by which the delay grew.
    #[parameter(default = 1.25, min = 0.0, max = 1000.0, unit = "Hz", source = "RFC 8033, section 4.2.")]
    pub beta: Option<f64>,
    /// The time without drops after the queue was last short.
    ///
    /// 0 ms disables this rule.
    #[parameter(default = "150 ms", max = "1 h", source = "RFC 8033, section 4.4.")]
    pub max_burst: Option<Quantity<Duration>>,
    /// The probability above which ECN-capable packets are dropped too.
    #[parameter(default = 0.1, min = 0.0, max = 1.0, unit = "1", source = "RFC 8033, section 5.1.")]
    pub mark_limit: Option<f64>,
}

impl Part for Spec {}

/// The method of estimating the delay.
#[word(gated)]
pub enum Estimate {
    /// The wait of the last packet that left; zero once the queue is empty. RFC 8033, section 4.3.
    #[default]
    Timestamps,
    /// The backlog divided by an average of the departure rate (Little's law). RFC 8033, sections
    /// 4.3 and 5.2.
    Rate,
}

/// The checked parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// The controller.
    pub control: CheckedControl,
    /// The method of estimating the delay, and the rules for drops and updates.
    pub given: Checked,
    /// MEAN_PKTSIZE.
    pub packet_bytes: u32,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Terms), BadParameter> {
        let queue = self.queue.check(NAME, site)?;
        let given = self.checked().of(NAME)?;
        let control = self.control.checked().of(NAME)?;
        Ok((queue, Terms { control, given, packet_bytes: site.packet_bytes }))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, terms) = self.check(site)?;
        Ok(queue.serve(OneQueue::<Pie>::new(Common { terms, rng: site.rng(NAME) })))
    }
}

/// The parameters and the random numbers that all queues under PIE share.
#[derive(Debug)]
pub struct Common {
    /// The parameters.
    pub terms: Terms,
    /// Draws the drops.
    pub rng: Rng,
}

/// DQ_THRESHOLD: the backlog that begins a measurement of the departure rate, and the departed
/// bytes that end it.
const MEASURED_BYTES: u64 = 1 << 14;

/// DQ_THRESHOLD / 2^16.
const MEASURED_WEIGHT: f64 = 0.25;

/// The delay, in seconds, above which an update adds 0.02, as in Linux.
const BOOSTED: f64 = 0.25;

/// The maximum number of missed updates that one call makes up for. By default they span 15 s, in
/// which a probability of 1 decays to 1e-9.
const MAX_UPDATES: u64 = 1024;

/// [PIE](self) for one queue.
#[derive(Clone, Debug, Default)]
pub struct Pie {
    probability: f64,
    /// The sum of the probabilities since the last signal.
    accumulated: f64,
    /// The delay at the last update, in seconds.
    last_delay: f64,
    /// The remaining time in which no packet is dropped.
    burst: Duration,
    /// The due time; zero before the first call.
    next_update: Time,
    delay: Delay,
}

#[derive(Clone, Debug, Default)]
struct Delay {
    /// With timestamps: the wait of the last packet that left, in seconds.
    stamped: f64,
    /// With rates: seconds per [`MEASURED_BYTES`], zero before the first measurement has ended.
    per_measure: f64,
    /// The start of the current measurement, and the bytes that have left since.
    measuring: Option<(Time, u64)>,
}

impl Delay {
    /// The delay of this backlog, in seconds.
    #[inline]
    fn of(&self, queue: Backlog, by: Estimate) -> f64 {
        match by {
            Estimate::Timestamps => self.stamped,
            Estimate::Rate => queue.bytes as f64 / MEASURED_BYTES as f64 * self.per_measure,
        }
    }

    /// Measures the departure rate. `waiting` includes the packet of `len` bytes that left.
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

/// The divisor of a step of the probability: a low probability moves in small steps. RFC 8033,
/// section 4.2.
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

    /// Makes the updates that are due. `queue` is the backlog, unchanged since the last call.
    #[inline]
    fn advance(&mut self, terms: &Terms, queue: Backlog, now: Time) {
        if now >= self.next_update {
            self.make_updates(terms, queue, now);
        }
    }

    fn make_updates(&mut self, terms: &Terms, queue: Backlog, now: Time) {
        let CheckedControl { target, update, max_burst, .. } = terms.control;
        if self.next_update == Time::ZERO {
            self.next_update = now + update;
            self.burst = max_burst;
            return;
        }
        let due = now.since(self.next_update).ns() / update.ns() + 1;
        self.next_update += update * due;
        let delay = self.delay.of(queue, terms.given.delay);
        for _ in 0..due.min(MAX_UPDATES) {
            let is_low = delay <= target.secs() && delay <= BOOSTED;
            if self.probability == 0.0 && delay == self.last_delay && is_low {
                break; // at rest: further updates change nothing
            }
            self.update(terms, delay);
        }
        self.burst = self.burst - update * due;
    }

    fn update(&mut self, terms: &Terms, delay: f64) {
        let CheckedControl { target, alpha, beta, .. } = terms.control;
        let error = alpha * (delay - target.secs());
        let trend = beta * (delay - self.last_delay);
        let mut step = (error + trend) / divisor(self.probability);
        if terms.given.cap && self.probability >= 0.1 && step > 0.02 {
            step = 0.02;
        }
        if terms.given.boost && delay > BOOSTED {
            step += 0.02;
        }
        self.probability += step;
        if delay == 0.0 && self.last_delay == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.last_delay = delay;
    }

    fn is_short(&self, terms: &Terms, delay: f64) -> bool {
        let half = terms.control.target.secs() / 2.0;
        delay < half && self.last_delay < half
    }

    #[inline]
    fn is_picked(&mut self, common: &mut Common, packet: &Packet) -> bool {
        let terms = &common.terms;
        let scale = match terms.control.measure {
            Measure::Packets => 1.0,
            Measure::Bytes => f64::from(packet.len) / f64::from(terms.packet_bytes),
        };
        let p = self.probability * scale;
        if terms.given.derandomize {
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
        if self.probability == 0.0 && self.is_short(&terms, self.delay.of(queue, terms.given.delay)) {
            self.burst = terms.control.max_burst;
        }
        let half = terms.control.target.secs() / 2.0;
        let is_idle = self.last_delay < half && self.probability < 0.2;
        let is_spared = is_idle || queue.bytes <= 2 * u64::from(terms.packet_bytes);
        if !self.burst.is_zero() || is_spared || !self.is_picked(common, packet) {
            return Verdict::Pass;
        }
        self.accumulated = 0.0;
        if self.probability > terms.control.mark_limit {
            Verdict::Drop(Cause::Early)
        } else {
            Verdict::Signal(Cause::Early)
        }
    }

    #[inline]
    fn on_departure(&mut self, common: &mut Common, packet: &Packet, queue: Backlog, now: Time) -> Verdict {
        let before = Backlog { packets: queue.packets + 1, bytes: queue.bytes + u64::from(packet.len) };
        self.advance(&common.terms, before, now);
        match common.terms.given.delay {
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

    fn retune(laws: &mut [Self], common: &mut Common, fresh: &Common, now: Time) -> bool {
        let (before, after) = (common.terms.control, fresh.terms.control);
        for law in laws.iter_mut().filter(|law| law.next_update > Time::ZERO) {
            law.next_update = rescheduled(law.next_update, before.update, after.update, now);
            law.burst = law.burst.min(after.max_burst);
        }
        common.terms = fresh.terms;
        true
    }

    fn inspect(&self, _: &Common, probe: &mut dyn Probe) {
        probe.gauge("probability", Unit::One, self.probability);
        probe.gauge("delay", Unit::Seconds, self.last_delay);
        probe.gauge("burst_allowance", Unit::Seconds, self.burst.secs());
    }
}
