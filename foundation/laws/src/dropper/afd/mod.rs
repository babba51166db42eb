//! AFD: approximate fair dropping. The four forms of AFD share this module's code. They differ only
//! in their [`Meter`].
//!
//! Packets of flow i, which sends at r_i, are dropped with probability d_i = max(0, 1 - r_fair /
//! r_i). So the flow gets min(r_i, r_fair). The amount m_i of flow i in a record of recent arrivals
//! represents r_i, and m_fair represents r_fair. A [controller](fair_share) adjusts m_fair to keep
//! the queue at a target.
//!
//! R. Pan, L. Breslau, B. Prabhakar and S. Shenker, "Approximate fair allocation of link
//! bandwidth", IEEE Micro 23(1), 2003.

pub mod exact;
pub mod fair_share;
pub mod ft;
pub mod nft;
pub mod sample;
pub mod sb;

use alloc::format;
pub use fair_share::{Control, FairShare};
pub use sample::{Counts, Record, Sample, Sampled, Sampling};

use crate::error::{BadParameter, Of as _, Parameter};
use crate::memory;
use crate::queueing::{CheckedQueue, Queueing};
use crate::role;
use crate::site::{Room, Site};
use crate::spec::{Measure, Quantity, WeightOf, Weights};
use fairwire_core::units::{Amount, Level};
use fairwire_core::{
    Buffer, Cause, Dropper, Duration, Left, Packet, Probe, Rng, SetWeightError, Time, Unit, Verdict, Weight,
};
use fairwire_parameters::parameters;

/// Estimates the recent traffic of a flow.
pub trait Meter: Send + 'static {
    /// Records the arrival of `packet`, counted as `size`. Returns m_i of its flow, or 0 if the
    /// flow is not on record.
    fn arrival(&mut self, packet: &Packet, size: u32, now: Time, rng: &mut Rng) -> f64;

    /// m_i of a flow that has the link to itself. With equal weights, an m_fair above this value
    /// has no effect.
    fn most(&self) -> f64;

    /// Takes over the parameters of `fresh`. Returns false if they need tables of another shape.
    fn retune(&mut self, fresh: &Self) -> bool;

    /// Reports gauges, with amounts in `unit`.
    fn inspect(&self, unit: Unit, probe: &mut dyn Probe);
}

/// The checked parameters that the four forms of AFD share.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The unit of m_i, m_fair and the queue.
    pub measure: Measure,
    /// The weights of classes.
    pub weights: WeightOf,
    /// Above this probability an ECN-capable packet is dropped rather than marked.
    pub mark_limit: f64,
    /// The controller of m_fair.
    pub control: Control,
}

/// Approximate fair dropping. See the [module](self).
#[derive(Debug)]
pub struct Afd<M> {
    measure: Measure,
    weights: WeightOf,
    powers: Powers,
    /// The maximum of m_fair, divided by the meter's `most`: 1 / (the least weight). After a weight
    /// has changed, it may be up to twice as large.
    reach: f64,
    mark_limit: f64,
    fair: FairShare,
    meter: M,
    rng: Rng,
}

impl<M: Meter> Afd<M> {
    /// An AFD that measures flows with `meter` and takes random numbers from `rng`.
    pub fn new(config: &Config, meter: M, rng: Rng) -> Self {
        let reach = config.weights.distinct()[0].recip();
        let fair = FairShare::new(config.control, meter.most() * reach);
        let Config { measure, mark_limit, .. } = *config;
        let weights = config.weights.clone();
        Afd { measure, powers: Powers::new(&weights), weights, reach, mark_limit, fair, meter, rng }
    }

    /// The meter of flows.
    pub fn meter(&self) -> &M {
        &self.meter
    }

    /// m_fair and its controller.
    pub fn fair_share(&self) -> &FairShare {
        &self.fair
    }

    /// The useful maximum of m_fair: at this value no packet is dropped, whatever the weights.
    #[inline]
    fn most(&self) -> f64 {
        self.meter.most() * self.reach
    }
}

/// The number of weights from 2^k to below 2^(k+1), for each k from -20 to 19.
#[derive(Debug)]
struct Powers([u32; 40]);

const LOWEST: i32 = -20;

impl Powers {
    fn new(weights: &WeightOf) -> Self {
        let mut powers = Powers([0; 40]);
        *powers.count(1.0) += 1; // of classes without a weight of their own
        (0..weights.len() as u32).for_each(|class| *powers.count(weights.class(class)) += 1);
        powers
    }

    fn count(&mut self, weight: f64) -> &mut u32 {
        let exponent = (weight.to_bits() >> 52) as i32 - 1023; // of a number above zero, and not subnormal
        &mut self.0[(exponent - LOWEST) as usize]
    }

    fn change(&mut self, before: f64, after: f64) {
        *self.count(before) -= 1;
        *self.count(after) += 1;
    }

    fn least(&self) -> f64 {
        let lowest = (LOWEST..).zip(&self.0).find(|&(_, &count)| count > 0);
        libm::ldexp(1.0, lowest.expect("that of 1, at least").0)
    }
}

/// d_i: the probability that a packet is dropped if its flow has `count` on record and `fair` is
/// the fair count.
///
/// ```
/// use fairwire_laws::dropper::afd::drop_probability;
///
/// assert_eq!(drop_probability(20.0, 24.0), 0.0);
/// assert_eq!(drop_probability(32.0, 24.0), 0.25);
/// assert_eq!(drop_probability(0.0, 0.0), 0.0);
/// ```
#[inline]
pub fn drop_probability(count: f64, fair: f64) -> f64 {
    if count > fair { 1.0 - fair / count } else { 0.0 }
}

impl<M: Meter> Dropper for Afd<M> {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Verdict {
        self.fair.catch_up(now, self.measure.of(buffer.backlog()), self.most());
        let count = self.meter.arrival(packet, self.measure.size(packet.len), now, &mut self.rng);
        self.fair.follow(self.most());
        let p = drop_probability(count, self.fair.value() * self.weights.class(packet.class));
        if p > 0.0 && (p >= 1.0 || self.rng.chance(p)) {
            // A flow that ignores marks would fill the buffer if its packets were only marked.
            if p > self.mark_limit { Verdict::Drop(Cause::Early) } else { Verdict::Signal(Cause::Early) }
        } else {
            Verdict::Pass
        }
    }

    #[inline]
    fn on_departure(&mut self, packet: &Packet, _: Left, buffer: &Buffer, now: Time) -> Verdict {
        // The steps made here were due while `packet` was in the buffer, so `queue` includes
        // `packet`.
        let queue = self.measure.of(buffer.backlog()) + f64::from(self.measure.size(packet.len));
        self.fair.catch_up(now, queue, self.most());
        Verdict::Pass
    }

    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        let before = self.weights.set(class, weight)?;
        self.powers.change(before.get(), weight.get());
        // The smallest weight is rounded down to a power of two. To find its exact value would take
        // O(classes).
        self.reach = self.powers.least().recip();
        Ok(before)
    }

    fn retune(&mut self, fresh: &Self, now: Time) -> bool {
        if self.measure != fresh.measure || self.weights != fresh.weights {
            return false;
        }
        let before = self.most();
        if !self.meter.retune(&fresh.meter) {
            return false;
        }
        self.mark_limit = fresh.mark_limit;
        let after = self.most();
        self.fair.retune(&fresh.fair, (before != after).then_some(after), now);
        true
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let unit = self.measure.unit();
        probe.gauge("fair_share", unit, self.fair.value());
        self.meter.inspect(unit, probe);
    }
}

/// The parameters that the four forms share.
#[parameters(gated, checked = Checked, group)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shared {
    /// The probability above which ECN-capable packets are dropped rather than marked.
    ///
    /// A flow that ignores marks gets at most 1 / (1 - `mark_limit`) times the fair rate. The
    /// default permits twice the fair rate, which a responsive flow does not sustain. PIE's 0.1
    /// (RFC 8033, section 5.1) is for an entire queue; here it would drop packets of flows 11 %
    /// above their fair rate.
    #[parameter(default = 0.5, min = 0.0, max = 1.0, unit = "1", source = "Ours.")]
    pub mark_limit: Option<f64>,
    /// The weight of each class, by which the fair rate of its flows is multiplied.
    ///
    /// A flow is judged by m_i / w_i, its amount on record divided by its weight.
    #[parameter(is = role::FLOW_WEIGHTS, unset = "1 for each", unit = "1 by class", source = "Not in the paper.")]
    pub weights: Option<Weights>,
    /// The target length of the queue, at most the buffer.
    #[parameter(
        unset = "50 packets or a quarter of the buffer, whichever is less",
        source = "50 as in a public implementation of the CCR paper; the quarter is ours, for small buffers."
    )]
    pub q_target: Option<Quantity<Level>>,
    /// The gain for the queue's distance from the target at the previous step.
    #[parameter(
        default = 1.7,
        min = 0.0,
        max = 1000.0,
        unit = "1",
        source = "Pan et al., CCR 33(1), as public implementations quote it."
    )]
    pub alpha: Option<f64>,
    /// The gain for the queue's current distance from the target. It is between `alpha` and 1001.
    #[parameter(
        unset = "`alpha` + 0.1",
        unit = "1",
        source = "Pan et al., CCR 33(1), as public implementations quote it: 1.8."
    )]
    pub beta: Option<f64>,
    /// The time between two steps of the fair rate.
    ///
    /// The limit of 1/20 is ours: on fast links a buffer fills or drains in less than 6.25 ms. Half
    /// of `age_period` is from Cisco's profiles.
    #[parameter(
        unset = "6.25 ms or 1/20 of the time to send a full buffer, whichever is less; for `afd-exact` at most half of `age_period`",
        min = "1 us",
        max = "1 min",
        source = "160 steps a second: Pan et al., CCR 33(1), as public implementations quote it."
    )]
    pub interval: Option<Quantity<Duration>>,
}

/// The parameters of the three sampling forms.
#[parameters(gated, checked = CheckedSamples, group)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
    /// The parameters that all forms of AFD share.
    #[parameter(flatten)]
    pub shared: Shared,
    /// The unit in which flows and the queue are counted.
    ///
    /// With bytes, a sample counts its packet's length.
    #[parameter(is = role::MEASURE, default = Measure::Packets, source = "The paper has packets.")]
    pub measure: Option<Measure>,
    /// b: the number of samples kept.
    ///
    /// The paper's rule is 10 R / r_fair, for a rate R of all arrivals and a fair rate r_fair.
    #[parameter(
        default = 1000,
        min = 1,
        max = 1_048_576,
        unit = "1",
        source = "All experiments of the paper."
    )]
    pub samples: Option<u32>,
    /// p: the probability that an arrival is sampled.
    #[parameter(
        default = 0.2,
        above = 0.0,
        max = 1.0,
        unit = "1",
        source = "Not printed; public implementations of the CCR paper sample about one packet in five."
    )]
    pub sampling: Option<f64>,
}

impl Samples {
    pub(super) fn check(
        &self,
        discipline: &'static str,
        site: &Site<'_>,
    ) -> Result<(CheckedQueue, Config, Sampling), BadParameter> {
        let queue = self.queue.check(discipline, site)?;
        let (room, shared, measure) = (queue.room, &self.shared, self.measure.unwrap_or_default());
        let common = Given { name: discipline, room, measure, shared, longest: INTERVAL }.check(site)?;
        let CheckedSamples { samples, sampling, .. } = self.checked().of(discipline)?;
        let typical = measure.size(site.packet_bytes);
        Ok((queue, common, Sampling { samples, probability: sampling, typical }))
    }

    /// Bytes of the table of counts. It has an entry for each sample, since each sample may belong
    /// to a different flow.
    pub(super) fn table_bytes(&self) -> u64 {
        memory::count(self.samples, 1000) * memory::BUCKET
    }
}

pub(super) struct Given<'a> {
    pub name: &'static str,
    pub room: Room,
    pub measure: Measure,
    pub shared: &'a Shared,
    /// The upper limit of the default of `interval`.
    pub longest: Duration,
}

/// The maximum gain of the controller; the paper's gains are below 2.
const MAX_GAIN: f64 = 1001.0;

impl Given<'_> {
    fn parameter(&self, name: &'static str) -> Parameter {
        Parameter { discipline: self.name, name }
    }

    pub(super) fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        let room = self.room;
        let given = self.shared.checked().of(self.name)?;
        let weights = match &self.shared.weights {
            Some(weights) => weights.check(self.parameter("weights"))?,
            None => WeightOf::equal(),
        };
        let target = self.target(room.amount, site)?;
        let alpha = given.alpha;
        let beta = self.shared.beta.unwrap_or(alpha + 0.1);
        if !(alpha..=MAX_GAIN).contains(&beta) {
            let allowed = format!("a number from alpha, which is {alpha}, to {MAX_GAIN}");
            return Err(self.parameter("beta").refuse(beta, allowed));
        }
        let default_interval = || self.longest.min(twentieth(room.amount, site)).max(Duration::from_us(1));
        let interval = given.interval.unwrap_or_else(default_interval);
        let control = Control { target, alpha, beta, interval };
        Ok(Config { measure: self.measure, weights, mark_limit: given.mark_limit, control })
    }

    fn target(&self, buffer: Amount, site: &Site<'_>) -> Result<f64, BadParameter> {
        let counted = |level: Level| self.measure.counted(level, site);
        let most = counted(buffer.into());
        let Some(typed) = self.shared.q_target else {
            return Ok((most / 4.0).min(counted(Amount::Packets(50).into())));
        };
        let target = counted(typed.0);
        if target > most {
            let allowed = format!("at most the buffer, which is {buffer}");
            return Err(self.parameter("q_target").refuse(typed, allowed));
        }
        Ok(target)
    }
}

/// A twentieth of the time to send a full `buffer`, so the queue changes little between two steps.
fn twentieth(buffer: Amount, site: &Site<'_>) -> Duration {
    let bytes = buffer.in_bytes(site.packet_bytes, site.rate) as u64;
    Duration::from_ns(site.rate.time_to_send(bytes).ns() / 20)
}

/// The longest default interval of the controller: 160 steps a second (Pan et al., CCR 33(1), 2003,
/// as public implementations quote it).
const INTERVAL: Duration = Duration::from_us(6250);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{ClassNumber, Weights};

    #[test]
    fn the_least_weight_is_known_within_a_factor_of_two() {
        let parameter = Parameter { discipline: "some", name: "weights" };
        let typed = Weights(
            [(0, 1e-6), (1, 8.0), (2, 1e6)].map(|(class, weight)| (ClassNumber(class), weight)).into(),
        );
        let mut powers = Powers::new(&typed.check(parameter).expect("allowed"));
        assert_eq!(powers.least(), libm::ldexp(1.0, -20));
        powers.change(1e-6, 0.3);
        assert_eq!(powers.least(), 0.25);
        powers.change(0.3, 1e6);
        assert_eq!(powers.least(), 1.0, "that of classes without a weight of their own");
    }
}
