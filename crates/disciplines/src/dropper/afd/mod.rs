//! AFD: approximate fair dropping. What its four forms share.
//!
//! A flow that sends at r_i is dropped with probability d_i = max(0, 1 - r_fair / r_i), so that what it gets is
//! min(r_i, r_fair). Rates are told by counts: m_i is how much of flow i there is in a record of recent arrivals, and m_fair
//! stands for the fair rate. Nobody tells m_fair: a [controller](fair_share) moves it until the queue stays at a target.
//!
//! - [`sb`] keeps a sample of arrivals, the shadow buffer, and counts in it.
//! - [`ft`] keeps the counts alone, and removes one at random: biased against fast flows.
//! - [`nft`] does so too, in a way that has no such bias.
//! - [`exact`] counts all that fast flows send, as deployed switches do.
//!
//! The four differ in their [`Meter`] alone; [`Afd`] is the dropper.
//!
//! R. Pan, L. Breslau, B. Prabhakar and S. Shenker, "Approximate fair allocation of link bandwidth", IEEE Micro 23(1), 2003.

pub mod exact;
pub mod fair_share;
pub mod ft;
pub mod nft;
pub mod sample;
pub mod sb;

pub use fair_share::{Control, FairShare};
pub use sample::{Counts, Record, Sample, Sampled, Sampling};

use crate::error::{BadParameter, Parameter};
use crate::site::Site;
use crate::spec::{Measure, Quantity, WeightOf, Weights};
use fairwire_core::units::Amount;
use fairwire_core::{
    Buffer, Cause, Dropper, Duration, Limit, NotReweighed, Packet, Probe, Rng, Time, Unit, Verdict, Weight,
};

/// Tells how much a flow sent lately.
pub trait Meter: Send {
    /// m_i, now that `packet` of flow i has arrived and counts as `size`: what is on record of the flow; 0 for a flow that is
    /// not on record.
    fn arrival(&mut self, packet: &Packet, size: u32, now: Time, rng: &mut Rng) -> f64;

    /// What m_i would be for a flow that had the link to itself: m_fair need not rise above.
    fn most(&self) -> f64;

    /// Shows gauges; amounts are in `unit`.
    fn inspect(&self, unit: Unit, probe: &mut dyn Probe);
}

/// What the four forms have in common, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// How much may wait.
    pub limit: Limit,
    /// What m_i, m_fair and the queue are counted in.
    pub measure: Measure,
    /// The weights of classes.
    pub weights: WeightOf,
    /// Above this probability an ECN-capable packet is dropped rather than marked.
    pub mark_limit: f64,
    /// How m_fair is moved.
    pub control: Control,
}

impl Config {
    /// What a typical packet of `site` counts as.
    fn typical(&self, site: &Site<'_>) -> u32 {
        match self.measure {
            Measure::Packets => 1,
            Measure::Bytes => site.packet_bytes,
        }
    }
}

/// Approximate fair dropping. See the [module](self).
#[derive(Debug)]
pub struct Afd<M> {
    measure: Measure,
    weights: WeightOf,
    /// How many classes have a weight from each power of two to the next.
    powers: Powers,
    /// 1 / (the least weight), or up to twice that once weights were changed: who has that is not dropped while m_fair is so many times what a flow alone has on record.
    reach: f64,
    mark_limit: f64,
    fair: FairShare,
    meter: M,
    rng: Rng,
}

impl<M: Meter> Afd<M> {
    /// An AFD that knows flows by `meter` and draws from `rng`.
    pub fn new(config: &Config, meter: M, rng: Rng) -> Self {
        let reach = config.weights.distinct()[0].recip();
        let fair = FairShare::new(config.control, meter.most() * reach);
        let Config { measure, mark_limit, .. } = *config;
        let weights = config.weights.clone();
        Afd { measure, powers: Powers::new(&weights), weights, reach, mark_limit, fair, meter, rng }
    }

    /// What is known of flows.
    pub fn meter(&self) -> &M {
        &self.meter
    }

    /// m_fair and its controller.
    pub fn fair_share(&self) -> &FairShare {
        &self.fair
    }

    /// m_fair need not rise above this: it drops nobody, whatever its weight.
    #[inline]
    fn most(&self) -> f64 {
        self.meter.most() * self.reach
    }

    #[inline]
    fn size(&self, packet: &Packet) -> u32 {
        match self.measure {
            Measure::Packets => 1,
            Measure::Bytes => packet.len,
        }
    }

    #[inline]
    fn queue(&self, buffer: &Buffer) -> f64 {
        match self.measure {
            Measure::Packets => f64::from(buffer.len()),
            Measure::Bytes => buffer.bytes() as f64,
        }
    }
}

/// Counts weights by their power of two, from 2^-20 to 2^19.
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

    /// The greatest power of two that no weight is below.
    fn least(&self) -> f64 {
        let lowest = self.0.iter().position(|&count| count > 0).expect("that of 1, at least");
        libm::ldexp(1.0, lowest as i32 + LOWEST)
    }
}

/// d_i: the probability of a drop for a flow on record with `count`, where `fair` is its fair count.
///
/// ```
/// use fairwire_disciplines::dropper::afd::drop_probability;
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
        self.fair.catch_up(now, self.queue(buffer), self.most());
        let count = self.meter.arrival(packet, self.size(packet), now, &mut self.rng);
        self.fair.follow(self.most());
        let p = drop_probability(count, self.fair.value() * self.weights.class(packet.class));
        if p > 0.0 && (p >= 1.0 || self.rng.chance(p)) {
            // Who does not heed marks would fill the buffer, and m_fair would fall until others are refused.
            if p > self.mark_limit { Verdict::Drop(Cause::Early) } else { Verdict::Signal(Cause::Early) }
        } else {
            Verdict::Pass
        }
    }

    #[inline]
    fn on_departure(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Verdict {
        // The packet has left the buffer, but was there at every sampling instant up to now.
        let queue = self.queue(buffer) + f64::from(self.size(packet));
        self.fair.catch_up(now, queue, self.most());
        Verdict::Pass
    }

    fn reweigh(&mut self, class: u32, weight: Weight) -> Result<Weight, NotReweighed> {
        let before = self.weights.set(class, weight)?;
        self.powers.change(before.get(), weight.get());
        // To look for the least weight itself would take as long as there are classes.
        self.reach = self.powers.least().recip();
        Ok(before)
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let unit = match self.measure {
            Measure::Packets => Unit::Packets,
            Measure::Bytes => Unit::Bytes,
        };
        probe.gauge("fair_share", unit, self.fair.value());
        self.meter.inspect(unit, probe);
    }
}

/// What was typed of that which the four forms have in common.
pub(super) struct Typed<'a> {
    pub name: &'static str,
    pub buffer: Option<Quantity<Amount>>,
    pub measure: Measure,
    pub weights: &'a Option<Weights>,
    pub mark_limit: Option<f64>,
    pub q_target: Option<Quantity<Amount>>,
    pub alpha: Option<f64>,
    pub beta: Option<f64>,
    pub interval: Option<Quantity<Duration>>,
    /// The default of `interval` is at most this.
    pub longest: Duration,
}

/// The gains of the controller reach this far; the paper's are below 2.
const MOST_GAIN: f64 = 1000.0;

impl Typed<'_> {
    fn parameter(&self, name: &'static str) -> Parameter {
        Parameter { discipline: self.name, name }
    }

    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        let room = site.room(self.name, self.buffer)?;
        let weights = match self.weights {
            Some(weights) => weights.check(self.parameter("weights"))?,
            None => WeightOf::equal(),
        };
        let target = self.target(room.amount, site)?;
        let alpha = self.parameter("alpha").zero_or_more(self.alpha.unwrap_or(1.7), MOST_GAIN)?;
        let beta = self.beta.unwrap_or(alpha + 0.1);
        if !(alpha..=MOST_GAIN + 1.0).contains(&beta) {
            let allowed = format!("a number from alpha, which is {alpha}, to {}", MOST_GAIN + 1.0);
            return Err(self.parameter("beta").refuse(beta, allowed));
        }
        let interval = match self.interval {
            Some(typed) => period(self.parameter("interval"), typed.0)?,
            None => self.longest.min(twentieth(room.amount, site)).max(Duration::from_us(1)),
        };
        let mark_limit =
            self.parameter("mark_limit").zero_or_more(self.mark_limit.unwrap_or(MARK_LIMIT), 1.0)?;
        let control = Control { target, alpha, beta, interval };
        Ok(Config { limit: room.limit, measure: self.measure, weights, mark_limit, control })
    }

    fn target(&self, buffer: Amount, site: &Site<'_>) -> Result<f64, BadParameter> {
        let most = counted(buffer, self.measure, site);
        let Some(typed) = self.q_target else {
            return Ok((most / 4.0).min(counted(Amount::Packets(50), self.measure, site)));
        };
        let target = counted(typed.0, self.measure, site);
        if target > most {
            let allowed = format!("at most the buffer, which is {buffer}");
            return Err(self.parameter("q_target").refuse(typed, allowed));
        }
        Ok(target)
    }
}

/// `amount` in packets or bytes.
fn counted(amount: Amount, measure: Measure, site: &Site<'_>) -> f64 {
    match measure {
        Measure::Packets => amount.in_packets(site.packet_bytes, site.rate),
        Measure::Bytes => amount.in_bytes(site.packet_bytes, site.rate),
    }
}

/// The probability up to which marks are given: who ignores them has at most 1 / (1 - 0.5) fair rates. Drops begin there in
/// Linux's SFB too.
const MARK_LIMIT: f64 = 0.5;

/// A twentieth of the time that the link takes to send a full `buffer`: between two steps the queue moves by little, however
/// fast the link is.
fn twentieth(buffer: Amount, site: &Site<'_>) -> Duration {
    let bytes = buffer.in_bytes(site.packet_bytes, site.rate) as u64;
    Duration::from_ns(site.rate.time_to_send(bytes).ns() / 20)
}

/// The period of the controller: 160 times a second (Pan et al., CCR 33(1), 2003, as quoted).
const INTERVAL: Duration = Duration::from_us(6250);

/// `typed`, if it is a period that a controller can have.
fn period(parameter: Parameter, typed: Duration) -> Result<Duration, BadParameter> {
    if (Duration::from_us(1)..=Duration::from_secs(60)).contains(&typed) {
        Ok(typed)
    } else {
        Err(parameter.refuse(typed, "from 1 us to 1 min"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{ClassNumber, Weights};

    #[test]
    fn the_least_weight_is_known_to_a_factor_of_two_through_any_changes() {
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
