//! RED: random early detection.
//!
//! # What it does
//! Keeps a slow average of the queue. While the average is between two thresholds, RED drops (or
//! marks) arrivals with a probability that rises with the average. Signals are spread out so they
//! neither cluster nor leave long gaps.
//!
//! With `ecn` an early signal marks ECN-capable packets; forced drops remain drops. With the
//! scheduler `fbfq`, RED is the FQ-RED of Suter et al.
//!
//! # Why
//! Senders learn of congestion before the buffer overflows, at different times, and as often as
//! their rates require. RED is blind to flows.
//!
//! # State and cost
//! One average and two counters. O(1), with an exponentiation only after the link was idle.
//!
//! # Source (section, equation)
//! S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM
//! ToN 1(4), 1993, figure 2 and sections 4 and 7; the gentle variant of S. Floyd, 2000; the details
//! as in ns-2 2.35. `adaptive`: S. Floyd, R. Gummadi and S. Shenker, "Adaptive RED: An Algorithm
//! for Increasing the Robustness of RED's Active Queue Management", 2001, the pseudo-code.
//!
//! # Where we differ
//! - The overflow test is exact: a buffer in bytes never exceeds its limit, while ns-2 lets the
//!   last packet overshoot.
//! - No number is drawn if the probability is 0 or 1.
//! - A forced drop removes the arrival.
//! - If an idle link is polled repeatedly, idle time counts from the first poll.
//! - Adaptive RED has no timer: as in ns-2, an arrival makes the due steps after it updates the
//!   average. If several steps are due, at most 64 are made, all with that average; ns-2 makes one.
//!   Adaptive RED's automatic `weight` and thresholds are not implemented.
//!
//! # Example
//! ```toml
//! [discipline.red]
//! min_threshold = "20 packets"
//! max_threshold = "60 packets"
//! max_probability = 0.1
//! ecn = "mark"
//! ```

mod adaptive;
mod ramp;

pub use adaptive::Adaptation;
use alloc::boxed::Box;
pub use ramp::Ramp;

use adaptive::Steps;

use crate::about::{About, Family};
use crate::error::{BadParameter, Of as _, Parameter};
use crate::part::Part;
use crate::queueing::{CheckedQueue, Queueing};
use crate::site::{Room, Site};
use crate::spec::{Measure, Quantity};
use fairwire_core::units::{Level, Size};
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, Duration, Packet, Probe, Rate, Rng, Time, Unit, Verdict, Victim,
};
use fairwire_parameters::{parameters, word};

/// This discipline's catalogue entry.
pub const ABOUT: About = About {
    family: Family::ActiveQueueManagement,
    summary: "drops or marks at random as the average queue grows, blind to flows",
    state: "one average and two counters for all flows",
    cost: "O(1)",
    marks: true,
    source: "Floyd and Jacobson 1993, figure 2; ns-2 2.35",
};

const NAME: &str = "red";

/// Parameters of `red`.
#[parameters(gated, public, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
    /// Whether the queue is averaged in packets or in bytes.
    ///
    /// In bytes the probability is also scaled by packet length.
    #[parameter(default = Measure::Packets)]
    pub measure: Option<Measure>,
    /// The packet length to which the probability applies unscaled.
    ///
    /// In bytes, the probability is scaled in proportion to the packet's length, and thresholds in
    /// packets count packets of this length. Floyd and Jacobson, section 7, use the longest
    /// packet's length. ns-2 uses `mean_pktsize_`, by default 500 B. In either measure, the average
    /// decays by the number of packets of this length that an idle link could have sent.
    #[parameter(unset = "the site's typical packet", min = "1 B", max = "64 KiB", unit = "size")]
    pub mean_packet: Option<Quantity<Size>>,
    /// The average below which there is no signal.
    ///
    /// The default is from the FABA paper, section 5.
    #[parameter(unset = "a quarter of the buffer")]
    pub min_threshold: Option<Quantity<Level>>,
    /// The average at which the probability is `max_probability`.
    ///
    /// The default is from the FABA paper, section 5.
    #[parameter(unset = "half of it")]
    pub max_threshold: Option<Quantity<Level>>,
    /// The probability of a signal at the upper threshold.
    ///
    /// The default is from the FABA paper, section 5, and from ns-1.
    #[parameter(default = 0.02, above = 0.0, max = 1.0, unit = "1", source = "ns-2 2.35 has 0.1.")]
    pub max_probability: Option<f64>,
    /// The weight of the current queue in the average, which each arrival updates.
    #[parameter(
        default = 0.002,
        above = 0.0,
        max = 1.0,
        unit = "1",
        source = "Floyd and Jacobson; ns-2 until 2001-12-29."
    )]
    pub weight: Option<f64>,
    /// Whether the probability rises from `max_probability` at the upper threshold to 1 at twice
    /// that threshold.
    ///
    /// This is from Floyd 2000, and in ns-2 since 2001-04-23. If false, the probability jumps to 1
    /// at the upper threshold.
    #[parameter(default = true)]
    pub gentle: Option<bool>,
    /// Whether at least 1/p arrivals pass between signals of probability p (ns-2), rather than at
    /// most 1/p (the paper of 1993).
    ///
    /// See `Spreading`. True is ns-2's default. If false, signals are three times as frequent at
    /// the same average.
    #[parameter(default = true)]
    pub wait: Option<bool>,
    /// The decay of the average while the link idles.
    ///
    /// See `IdleRule`. The rules differ negligibly.
    #[parameter(default = IdleRule::Ns2)]
    pub idle_rule: Option<IdleRule>,
    /// Whether an arrival that finds at most one packet (or byte) waiting gets no early signal.
    ///
    /// Such an arrival is not counted, as in ns-2.
    #[parameter(default = true)]
    pub spare_short_queue: Option<bool>,
    /// The probability above which packets are dropped rather than marked.
    ///
    /// This is ns-2's `mark_p_` with `use_mark_p_`. With a limit, an average above the thresholds
    /// no longer forces a drop.
    #[parameter(unset = "none", min = 0.0, max = 1.0, unit = "1")]
    pub mark_limit: Option<f64>,
    /// Whether `max_probability` follows the load.
    ///
    /// In Adaptive RED, `max_probability` starts at the given value and changes between 0.01 and
    /// 0.5, to keep the average near the middle of the thresholds.
    #[parameter(default = false)]
    pub adaptive: Option<bool>,
    /// The time between two steps of `max_probability`.
    #[parameter(default = "500 ms", above = "0 s", source = "Adaptive RED.")]
    pub adapt_interval: Option<Quantity<Duration>>,
    /// The largest step up of `max_probability`.
    ///
    /// As in Adaptive RED, a step up is also at most a quarter of `max_probability`.
    #[parameter(default = 0.01, above = 0.0, max = 1.0, unit = "1")]
    pub adapt_increase: Option<f64>,
    /// The factor by which a step down multiplies `max_probability`.
    #[parameter(default = 0.9, above = 0.0, max = 1.0, unit = "1", source = "Adaptive RED.")]
    pub adapt_decrease: Option<f64>,
    /// The width of the band of averages in which `max_probability` does not change, as a fraction
    /// of the distance between the thresholds.
    ///
    /// The band lies around the middle of the thresholds. In Adaptive RED it is from 0.4 to 0.6.
    #[parameter(default = 0.2, min = 0.0, max = 1.0, unit = "1")]
    pub target_band: Option<f64>,
}

impl Part for Spec {
    fn drops_by_place(&self) -> bool {
        true
    }
}

/// The decay of the average while the link idles.
#[word(gated)]
pub enum IdleRule {
    /// ns-2: for each complete packet that the link could have sent, the average decays by one
    /// update with an empty queue. One normal update follows.
    #[default]
    Ns2,
    /// Floyd and Jacobson 1993, section 4: as `ns2`, but the number of packets may be fractional,
    /// and the arrival itself does not update the average.
    Floyd1993,
}

/// The rule that spreads signals over arrivals. p is the probability from the average; n counts
/// arrivals since the last signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spreading {
    /// The probability is p / (1 - n p). Gaps between signals are uniform from 1 to 1/p arrivals,
    /// about 1/(2p) on average. Floyd and Jacobson 1993, section 7.
    AtMost,
    /// The probability is 0 while n p < 1, then p / (2 - n p). Gaps between signals are uniform
    /// from 1/p to 2/p arrivals, about 3/(2p) on average. ns-2's `wait_`.
    AtLeast,
}

impl Spreading {
    /// The probability of a signal for the `arrivals`th arrival since the last signal, from 0 to 1.
    ///
    /// ```
    /// use fairwire_laws::dropper::red::Spreading;
    ///
    /// assert_eq!(Spreading::AtMost.probability(0.25, 2), 0.5);
    /// assert_eq!(Spreading::AtLeast.probability(0.25, 2), 0.0);
    /// assert_eq!(Spreading::AtLeast.probability(0.25, 6), 0.5);
    /// ```
    #[inline]
    pub fn probability(self, p: f64, arrivals: u64) -> f64 {
        let reached = arrivals as f64 * p;
        let certain = match self {
            Spreading::AtMost => 1.0,
            Spreading::AtLeast if reached < 1.0 => return 0.0,
            Spreading::AtLeast => 2.0,
        };
        if reached < certain { (p / (certain - reached)).min(1.0) } else { 1.0 }
    }
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The parameters, or their defaults. Thresholds are in the unit of `measure`.
    pub given: Checked,
    /// The probability as a function of the average, before any adaptation.
    pub ramp: Ramp,
    /// The adaptation of `max_probability`, if enabled.
    pub adaptation: Option<Adaptation>,
    /// The rule that spreads signals.
    pub spreading: Spreading,
    /// The mean packet on the wire, in bytes.
    pub packet_bytes: u32,
    /// The link's rate, for the decay of the average over idle time.
    pub rate: Rate,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Config), BadParameter> {
        let given = self.checked().of(NAME)?;
        let queue = self.queue.check(NAME, site)?;
        let packet_bytes = given.mean_packet.map_or(site.packet_bytes, |size| size.0 as u32);
        let ramp = self.ramp(&given, &queue.room, packet_bytes, site)?;
        let config = Config {
            given,
            ramp,
            adaptation: given.adaptive.then(|| adaptation(&given, &ramp)),
            spreading: if given.wait { Spreading::AtLeast } else { Spreading::AtMost },
            packet_bytes,
            rate: site.rate,
        };
        Ok((queue, config))
    }

    /// The checked thresholds. A packet counts as `mean_packet` bytes in a threshold, and as
    /// `site.packet_bytes` in the buffer.
    fn ramp(
        &self,
        given: &Checked,
        room: &Room,
        mean_packet: u32,
        site: &Site<'_>,
    ) -> Result<Ramp, BadParameter> {
        let counted = |level: Level, mean_packet: u32| match given.measure {
            Measure::Packets => level.in_packets(site.packet_bytes, site.rate),
            Measure::Bytes => level.in_bytes(mean_packet, site.rate),
        };
        let all = counted(room.amount.into(), site.packet_bytes);
        let threshold = |typed: Option<Quantity<Level>>, part: f64| {
            typed.map_or(part * all, |typed| counted(typed.0, mean_packet))
        };
        let (min, max) = (threshold(self.min_threshold, 0.25), threshold(self.max_threshold, 0.5));
        if min >= max {
            return Err(self.crossed(min, max));
        }
        Ok(Ramp { min, max, max_probability: given.max_probability, gentle: given.gentle })
    }

    /// Refuses a given threshold and states the other. If neither was given, refuses the buffer.
    fn crossed(&self, min: f64, max: f64) -> BadParameter {
        let unit = self.measure.unwrap_or_default();
        match (self.min_threshold, self.max_threshold) {
            (_, Some(typed)) => Parameter::of(NAME, "max_threshold")
                .refuse(typed, format_args!("more than min_threshold, which is {min} {unit}")),
            (Some(typed), None) => Parameter::of(NAME, "min_threshold")
                .refuse(typed, format_args!("less than max_threshold, which is {max} {unit}")),
            (None, None) => {
                Parameter::of(NAME, "buffer").refuse(format_args!("{} {unit}", max * 2.0), "more than that")
            }
        }
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(Red::new(config, site.rng(NAME))))
    }
}

fn adaptation(given: &Checked, ramp: &Ramp) -> Adaptation {
    let at = |part: f64| ramp.min + part * (ramp.max - ramp.min);
    Adaptation {
        interval: given.adapt_interval,
        increase: given.adapt_increase,
        decrease: given.adapt_decrease,
        target_from: at(0.5 - given.target_band / 2.0),
        target_to: at(0.5 + given.target_band / 2.0),
    }
}

/// The dropper of [RED](self).
#[derive(Debug)]
pub struct Red {
    config: Config,
    rng: Rng,
    average: f64,
    count: u64,
    count_bytes: u64,
    /// False after an arrival that was exempt because of a low average or a short queue. The next
    /// arrival then gets no signal unless a drop is certain.
    is_above: bool,
    idle_since: Option<Time>,
    steps: Option<Steps>,
}

impl Red {
    /// A RED that draws from `rng`.
    pub fn new(config: Config, rng: Rng) -> Self {
        Red {
            config,
            rng,
            average: 0.0,
            count: 0,
            count_bytes: 0,
            is_above: false,
            idle_since: None,
            steps: config.adaptation.map(|adaptation| Steps::new(adaptation, config.ramp.max_probability)),
        }
    }

    /// The average queue, in packets or bytes as configured.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// Updates the average. Returns the backlog, in packets or bytes as configured.
    #[inline]
    pub(crate) fn meet(&mut self, buffer: &Buffer, now: Time) -> f64 {
        let queue = self.config.given.measure.of(buffer.backlog());
        self.update_average(queue, now);
        queue
    }

    /// True if an arrival that finds the backlog `queue` is exempt from early signals.
    #[inline]
    pub(crate) fn spares(&self, queue: f64) -> bool {
        self.average < self.config.ramp.min || (self.config.given.spare_short_queue && queue <= 1.0)
    }

    #[inline]
    pub(crate) fn test(&mut self, packet: &Packet, queue: f64, buffer: &Buffer) -> Verdict {
        self.count += 1;
        self.count_bytes += u64::from(packet.len);
        let verdict = self.judge(packet, queue);
        if verdict != Verdict::Pass {
            self.forget_count();
        }
        // A packet that does not fit passes here: `victim` drops it with the right cause.
        if buffer.fits(packet.len) { verdict } else { Verdict::Pass }
    }

    /// The signal probability at the upper threshold, as adapted so far.
    pub fn max_probability(&self) -> f64 {
        self.config.ramp.max_probability
    }

    #[inline]
    fn update_average(&mut self, queue: f64, now: Time) {
        if let Some(since) = self.idle_since.take() {
            self.decay(since, now);
            if self.config.given.idle_rule == IdleRule::Floyd1993 {
                return;
            }
        }
        self.average = self.average * (1.0 - self.config.given.weight) + self.config.given.weight * queue;
    }

    /// Decays the average over idle time: one update with an empty queue per packet that the link
    /// could have sent.
    #[cold]
    fn decay(&mut self, since: Time, now: Time) {
        let bits = u128::from(now.since(since).ns()) * u128::from(self.config.rate.bps());
        let bits_per_packet = 8_000_000_000 * u128::from(self.config.packet_bytes); // in bit-nanoseconds per second
        let packets = match self.config.given.idle_rule {
            IdleRule::Ns2 => (bits / bits_per_packet) as f64,
            IdleRule::Floyd1993 => bits as f64 / bits_per_packet as f64,
        };
        self.average *= libm::pow(1.0 - self.config.given.weight, packets);
    }

    #[inline]
    fn judge(&mut self, packet: &Packet, queue: f64) -> Verdict {
        let Config { ramp, given: Checked { mark_limit, .. }, .. } = self.config;
        if self.spares(queue) {
            self.is_above = false;
            return Verdict::Pass;
        }
        if mark_limit.is_none() && self.average >= ramp.certain_at() {
            return Verdict::Drop(Cause::Forced);
        }
        if !core::mem::replace(&mut self.is_above, true) {
            self.count = 1;
            self.count_bytes = u64::from(packet.len);
            return Verdict::Pass;
        }
        let p = ramp.probability(self.average);
        match self.is_picked(p, packet) {
            false => Verdict::Pass,
            true if mark_limit.is_some_and(|limit| p > limit) => Verdict::Drop(Cause::Early),
            true => Verdict::Signal(Cause::Early),
        }
    }

    #[inline]
    fn is_picked(&mut self, p: f64, packet: &Packet) -> bool {
        let Config { spreading, packet_bytes, .. } = self.config;
        let p = match self.config.given.measure {
            Measure::Packets => spreading.probability(p, self.count),
            Measure::Bytes => {
                let spread = spreading.probability(p, self.count_bytes / u64::from(packet_bytes));
                if spread < 1.0 { spread * f64::from(packet.len) / f64::from(packet_bytes) } else { 1.0 }
            }
        };
        p >= 1.0 || (p > 0.0 && self.rng.chance(p))
    }

    fn forget_count(&mut self) {
        self.count = 0;
        self.count_bytes = 0;
    }
}

impl Dropper for Red {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Verdict {
        let queue = self.meet(buffer, now);
        if let Some(steps) = &mut self.steps {
            steps.keep_up(&mut self.config.ramp.max_probability, self.average, now);
        }
        self.test(packet, queue, buffer)
    }

    fn victim(&mut self, _: &Packet, _: &Buffer, _: Time) -> Victim {
        self.forget_count();
        Victim::Arrival
    }

    fn idle(&mut self, now: Time) {
        self.idle_since.get_or_insert(now);
    }

    fn retune(&mut self, fresh: &Self, now: Time) -> bool {
        if self.config.given.measure != fresh.config.given.measure {
            return false; // the average counts in the measure
        }
        let adapted = self.config.ramp.max_probability;
        self.config = fresh.config;
        self.steps = match (self.steps.take(), &fresh.steps) {
            (Some(steps), Some(fresh)) if steps.starts_as(fresh) => {
                self.config.ramp.max_probability = adapted;
                Some(steps.retuned(fresh, now))
            }
            (_, fresh) => fresh.as_ref().map(|fresh| fresh.begun(now)),
        };
        true
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("average", self.config.given.measure.unit(), self.average);
        probe.gauge("probability", Unit::One, self.config.ramp.probability(self.average));
        probe.gauge("max_probability", Unit::One, self.config.ramp.max_probability);
    }
}
