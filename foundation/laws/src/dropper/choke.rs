//! CHOKe: choose and keep for responsive flows, choose and kill for unresponsive flows.
//!
//! # What it does
//! Keeps RED's average of the queue. While the average is above the lower threshold, each arrival
//! is compared with packets drawn at random from the queue. Drawn packets of the arrival's flow are
//! dropped along with the arrival. An arrival without a match takes RED's test.
//!
//! With `ecn` an early signal of RED's test marks ECN-capable packets; a match is always dropped.
//!
//! # Why
//! A flow is hit in proportion to the square of its share of the queue. That needs no state per
//! flow.
//!
//! # State and cost
//! RED's state for all flows, and 4 bytes per packet of buffer for the draws. O(1) per packet: one
//! draw, or as many as `draws` or `regions` demand.
//!
//! # Source (section, equation)
//! R. Pan, B. Prabhakar and K. Psounis, "CHOKe: A Stateless Active Queue Management Scheme for
//! Approximating Fair Bandwidth Allocation", INFOCOM 2000: the algorithm and its variants. RED's
//! test as in [`red`].
//!
//! # Where we differ
//! - RED's test spares the first arrival above the threshold. With `spare_short_queue` no packet is
//!   dropped on an idle link because of an old, high average. The paper leaves both open.
//! - A match does not reset RED's count of arrivals since its last signal.
//! - Draws are with replacement. A packet that is drawn twice is dropped once.
//! - Above the upper threshold there are as many draws as in the last region.
//! - A match drops the arrival and the queued packet, even if the arrival would not have fitted.
//!
//! # Example
//! ```toml
//! [discipline.choke]
//! min_threshold = "100 packets"
//! max_threshold = "200 packets"
//! regions = 8
//! ```

use crate::about::{About, Family};
use crate::dropper::red::{self, IdleRule, Red};
use crate::error::{BadParameter, Of as _, Parameter};
use crate::part::Part;
use crate::queueing::{CheckedQueue, Queueing};
use crate::site::Site;
use crate::spec::{Measure, Quantity};
use alloc::boxed::Box;
use alloc::vec::Vec;
use fairwire_core::units::Level;
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, Key, Needs, Packet, Probe, Rng, Time, Unit, Verdict, Victim,
};
use fairwire_parameters::{parameters, word};

/// The catalogue entry.
pub const ABOUT: About = About {
    family: Family::FairDropping,
    summary: "compares an arrival with a random waiting packet and drops both if they are of one flow",
    state: "that of RED, and 4 bytes per packet of buffer",
    cost: "O(1)",
    marks: true,
    source: "Pan, Prabhakar, Psounis 2000",
};

const NAME: &str = "choke";

/// Parameters of `choke`.
#[parameters(gated, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
    /// The number of waiting packets that an arrival is compared with.
    ///
    /// Values above 1 give the paper's M-CHOKe.
    #[parameter(default = 1, min = 1, max = 64, unit = "packets")]
    pub draws: Option<u32>,
    /// The number of regions between the thresholds. It replaces `draws`.
    ///
    /// In region i an arrival is compared with 2 i packets: the paper's self-adjusting form.
    #[parameter(unset = "none", min = 1, max = 32, unit = "1", source = "The paper has 8.")]
    pub regions: Option<u32>,
    /// The packets with which an arrival is compared.
    ///
    /// Random packets, the oldest (`front`) or the newest (`back`).
    #[parameter(default = Compare::Random)]
    pub compare: Option<Compare>,
    /// The unit in which the queue is counted.
    ///
    /// In bytes, RED's probability is also scaled by packet length. Random draws still treat all
    /// packets alike.
    #[parameter(default = Measure::Packets)]
    pub measure: Option<Measure>,
    /// The average queue below which no arrival is compared.
    ///
    /// The default is that of `red`.
    #[parameter(unset = "a quarter of the buffer")]
    pub min_threshold: Option<Quantity<Level>>,
    /// The average queue above which every arrival is dropped.
    ///
    /// The default is that of `red`.
    #[parameter(unset = "half of it")]
    pub max_threshold: Option<Quantity<Level>>,
    /// The probability of a signal at the upper threshold, in RED's test.
    #[parameter(default = 0.02, above = 0.0, max = 1.0, unit = "1")]
    pub max_probability: Option<f64>,
    /// w_q: the weight of the current queue in the average, which each arrival updates.
    #[parameter(default = 0.002, above = 0.0, max = 1.0, unit = "1")]
    pub weight: Option<f64>,
    /// Whether the probability rises steadily to 1 between the upper threshold and twice that
    /// threshold.
    ///
    /// If false, it jumps to 1 at the upper threshold.
    #[parameter(default = false)]
    pub gentle: Option<bool>,
    /// Whether at least 1/p arrivals pass between signals of probability p, as in ns-2.
    ///
    /// If false, at most 1/p arrivals pass, as in RED's paper of 1993, which CHOKe's paper cites.
    #[parameter(default = false)]
    pub wait: Option<bool>,
    /// The decay of the average while the link idles.
    #[parameter(unset = "`ns2`")]
    pub idle_rule: Option<IdleRule>,
    /// Whether an arrival that finds at most one packet (or byte) waiting is never dropped early.
    #[parameter(default = true)]
    pub spare_short_queue: Option<bool>,
}

impl Part for Spec {}

/// The queued packets with which an arrival is compared.
#[word(gated)]
pub enum Compare {
    /// Random ones: the original CHOKe.
    #[default]
    Random,
    /// The oldest.
    Front,
    /// The newest.
    Back,
}

/// The number of queued packets to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// Always this number.
    Fixed(u32),
    /// Twice the number of the region that contains the average queue. The field is the number of
    /// regions.
    Regions(u32),
}

/// A checked [`Spec`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The parameters of the average and of RED's test.
    pub red: red::Config,
    /// The number of comparisons.
    pub draws: Draws,
    /// The packets compared.
    pub compare: Compare,
}

impl Config {
    #[inline]
    pub(crate) fn draws_at(&self, average: f64) -> u32 {
        match self.draws {
            Draws::Fixed(draws) => draws,
            Draws::Regions(regions) => {
                let red::Ramp { min, max, .. } = self.red.ramp;
                let region = (f64::from(regions) * (average - min) / (max - min)) as u32 + 1;
                2 * region.min(regions)
            }
        }
    }

    fn most_draws(&self) -> usize {
        match self.draws {
            Draws::Fixed(draws) => draws as usize,
            Draws::Regions(regions) => 2 * regions as usize,
        }
    }
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Config), BadParameter> {
        let given = self.checked().of(NAME)?;
        let of_choke = |bad| BadParameter { discipline: NAME, ..bad };
        let (queue, red) = self.red(&given).check(site).map_err(of_choke)?;
        let draws = given.draws;
        let draws = match given.regions {
            None => Draws::Fixed(draws),
            Some(_) if self.draws.is_some() => {
                return Err(Parameter::of(NAME, "draws")
                    .refuse(draws, "no `draws` along with `regions`, which sets them"));
            }
            Some(regions) => Draws::Regions(regions),
        };
        Ok((queue, Config { red, draws, compare: given.compare }))
    }

    fn red(&self, given: &Checked) -> red::Spec {
        red::Spec {
            queue: self.queue.clone(),
            measure: Some(given.measure),
            min_threshold: self.min_threshold,
            max_threshold: self.max_threshold,
            max_probability: Some(given.max_probability),
            weight: Some(given.weight),
            gentle: Some(given.gentle),
            wait: Some(given.wait),
            idle_rule: self.idle_rule,
            spare_short_queue: Some(given.spare_short_queue),
            ..red::Spec::default()
        }
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(Choke::new(config, site.rng(NAME), site.rng("choke/red"))))
    }
}

/// CHOKe. See the [module](self).
#[derive(Debug)]
pub struct Choke {
    config: Config,
    rng: Rng,
    red: Red,
    /// Queued packets of the arrival's flow, to be dropped with the arrival.
    matches: Vec<Key>,
}

impl Choke {
    /// A CHOKe that draws packets with `rng`; RED's test draws with `red_rng`.
    pub fn new(config: Config, rng: Rng, red_rng: Rng) -> Self {
        let matches = Vec::with_capacity(config.most_draws());
        Choke { red: Red::new(config.red, red_rng), config, rng, matches }
    }

    /// The average queue, in packets or bytes as configured.
    pub fn average(&self) -> f64 {
        self.red.average()
    }

    #[inline]
    fn compare(&mut self, packet: &Packet, buffer: &Buffer) {
        let mut next = match self.config.compare {
            Compare::Random => None,
            Compare::Front => buffer.oldest(),
            Compare::Back => buffer.newest(),
        };
        for _ in 0..self.config.draws_at(self.red.average()) {
            let drawn = match self.config.compare {
                Compare::Random => buffer.random_packet(&mut self.rng),
                Compare::Front => next.inspect(|&key| next = buffer.newer(key)),
                Compare::Back => next.inspect(|&key| next = buffer.older(key)),
            };
            let Some(key) = drawn else { return };
            if buffer.packet(key).flow == packet.flow && !self.matches.contains(&key) {
                self.matches.push(key);
            }
        }
    }
}

impl Dropper for Choke {
    fn needs(&self) -> Needs {
        match self.config.compare {
            Compare::Random => Needs::RANDOM_PACKET,
            Compare::Front | Compare::Back => Needs::ORDER,
        }
    }

    #[inline]
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Verdict {
        let queue = self.red.meet(buffer, now);
        if !self.red.spares(queue) {
            self.compare(packet, buffer);
            if !self.matches.is_empty() {
                return Verdict::Drop(Cause::Forced);
            }
        }
        self.red.test(packet, queue, buffer)
    }

    #[inline]
    fn another(&mut self, _: &Packet, _: &Buffer, _: Time) -> Option<(Key, Verdict)> {
        self.matches.pop().map(|key| (key, Verdict::Drop(Cause::Forced)))
    }

    fn victim(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Victim {
        self.red.victim(packet, buffer, now)
    }

    fn idle(&mut self, now: Time) {
        self.red.idle(now);
    }

    fn retune(&mut self, fresh: &Self, now: Time) -> bool {
        self.matches.reserve(fresh.config.most_draws());
        self.config.clone_from(&fresh.config);
        self.red.retune(&fresh.red, now)
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        self.red.inspect(probe);
        let average = self.red.average();
        let draws = if average < self.config.red.ramp.min { 0 } else { self.config.draws_at(average) };
        probe.gauge("draws", Unit::Packets, f64::from(draws));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::units::Amount;
    use fairwire_core::{Rate, Seed};

    #[test]
    fn draws_rise_by_two_per_region() {
        let site = Site {
            rate: Rate::from_bps(1_000_000).expect("a rate"),
            buffer: Amount::Packets(80),
            packet_bytes: 512,
            seed: Seed(1),
            stream: "test",
        };
        // The thresholds are 20 and 40 packets.
        let (_, config) = Spec { regions: Some(4), ..Spec::default() }.check(&site).expect("it makes sense");
        let draws = [20.0, 24.9, 25.0, 39.0, 60.0].map(|average| config.draws_at(average));
        assert_eq!(draws, [2, 2, 4, 8, 8]);
    }
}
