//! REM: random exponential marking.
//!
//! # What it does
//! The link has a price. At fixed intervals, the price changes in proportion to a sum: arrivals
//! above the capacity, plus weighted backlog above a target. If the sum is negative, the price
//! falls, but not below 0. A packet is dropped (or marked) with probability 1 - phi^(-price), for a
//! constant phi above 1.
//!
//! # Why
//! The price settles where rate and backlog both reach their targets, whatever the number of
//! senders. Over several links, the probabilities of passing multiply, so a sender learns the sum
//! of the prices.
//!
//! # State and cost
//! A price, an average and a count. O(1), with one exponential per change of the price.
//!
//! # Source (section, equation)
//! S. Athuraliya, V. H. Li, S. H. Low and Q. Yin, "REM: Active Queue Management", IEEE Network
//! 15(3), 2001: the price and the probability; the details as in ns-2 2.35.
//!
//! # Where we differ
//! - ns-2 holds one packet fewer than its limit, and admits an arrival before dropping it. Here the
//!   buffer is exact.
//! - There is no timer: the next arrival or departure updates the price for all past intervals.
//!   Intervals without arrivals are summed in closed form, so last digits may differ.
//!
//! # Example
//! ```toml
//! [discipline.rem]
//! target = "10 ms"
//! interval = "5 ms"
//! ecn = "mark"
//! ```

use crate::about::{About, Family};
use crate::error::{BadParameter, Of as _};
use crate::part::Part;
use crate::queueing::{CheckedQueue, Queueing};
use crate::site::{Room, Site};
use crate::spec::{EcnChoice, Measure, Quantity};
use crate::timer::rescheduled;
use alloc::boxed::Box;
use fairwire_core::units::Level;
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, Duration, Left, Packet, Probe, Rng, Time, Unit, Verdict,
};
use fairwire_parameters::{parameters, word};

/// This discipline's catalogue entry.
pub const ABOUT: About = About {
    family: Family::ActiveQueueManagement,
    summary: "drops or marks by a price that rises while rate or backlog are above what is wanted",
    state: "a price, an average and a count for all flows",
    cost: "O(1)",
    marks: true,
    source: "Athuraliya, Li, Low, Yin 2001; ns-2 2.35",
};

const NAME: &str = "rem";

/// Parameters of `rem`.
#[parameters(gated, public, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
    /// The unit of arrivals and backlog: packets, or bytes converted to typical packets.
    ///
    /// With bytes, the probability is also scaled by packet length, as in ns-2.
    #[parameter(default = Measure::Packets)]
    pub measure: Option<Measure>,
    /// The desired backlog, B* in the paper.
    #[parameter(
        unset = "20 packets, or a quarter of the buffer where that is less",
        source = "ns-2 has the 20, also where the buffer holds less, so that the backlog never comes above it and the price hardly ever from 0."
    )]
    pub target: Option<Quantity<Level>>,
    /// The time between two changes of the price.
    #[parameter(default = "2 ms", above = "0 s", source = "ns-2.")]
    pub interval: Option<Quantity<Duration>>,
    /// The factor of each change of the price.
    #[parameter(default = 0.001, above = 0.0, max = 1000.0, unit = "1", source = "ns-2.")]
    pub gamma: Option<f64>,
    /// The weight of the backlog relative to the rate.
    #[parameter(default = 0.1, min = 0.0, max = 1000.0, unit = "1", source = "ns-2.")]
    pub alpha: Option<f64>,
    /// phi in the probability 1 - phi^(-price).
    #[parameter(default = 1.001, above = 1.0, max = 1000.0, unit = "1", source = "ns-2.")]
    pub phi: Option<f64>,
    /// The weight of the latest interval in the average of arrivals.
    #[parameter(default = 1.0, above = 0.0, max = 1.0, unit = "1", source = "ns-2.")]
    pub input_weight: Option<f64>,
    /// The time at which ECN-capable packets are judged under `ecn = "mark"`.
    ///
    /// See `MarkAt`.
    #[parameter(default = MarkAt::Departure)]
    pub mark_at: Option<MarkAt>,
    /// Whether packets that cannot carry a mark are dropped with the probability of a mark.
    ///
    /// Applies under `ecn = "mark"`. RFC 3168, section 5, requires true; ns-2 has false.
    #[parameter(default = true)]
    pub drop_incapable: Option<bool>,
}

impl Part for Spec {}

/// The time at which packets that can carry a mark are judged. Drops always occur at arrival.
#[word(gated)]
pub enum MarkAt {
    /// At departure, by the price at that time, as in ns-2: the sender learns of the price sooner.
    #[default]
    Departure,
    /// At arrival.
    Arrival,
}

/// The constants of the price. Amounts are in typical packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// The parameters as given, or their defaults.
    pub given: Checked,
    /// b*: the desired backlog.
    pub target: f64,
    /// c: the amount that the link can send in one interval.
    pub capacity: f64,
}

impl Law {
    /// The probability of a signal at `price`: 1 - phi^(-price).
    ///
    /// ```
    /// use fairwire_laws::dropper::rem::{Checked, Law};
    ///
    /// let law = Law { given: Checked::default(), target: 20.0, capacity: 2.5 };
    /// assert_eq!(law.probability(0.0), 0.0);
    /// assert!((law.probability(700.0) - 0.5032).abs() < 5e-5);
    /// ```
    pub fn probability(&self, price: f64) -> f64 {
        -libm::expm1(-price * libm::log(self.given.phi))
    }
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The constants of the price.
    pub law: Law,
    /// When packets are judged.
    pub judged: Judged,
    /// A typical packet on the wire, in bytes.
    pub packet_bytes: u32,
}

/// The packets that are judged, and whether at arrival or at departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Are packets that can carry a mark judged at departure, rather than at arrival?
    pub capable_at_departure: bool,
    /// True if packets that cannot carry a mark are judged. This happens at arrival.
    pub incapable: bool,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Config), BadParameter> {
        let given = self.checked().of(NAME)?;
        let queue = self.queue.check(NAME, site)?;
        let marks = self.queue.ecn == Some(EcnChoice::Mark);
        let judged = Judged {
            capable_at_departure: marks && given.mark_at == MarkAt::Departure,
            incapable: !marks || given.drop_incapable,
        };
        let config =
            Config { law: self.law(given, &queue.room, site), judged, packet_bytes: site.packet_bytes };
        Ok((queue, config))
    }

    fn law(&self, given: Checked, room: &Room, site: &Site<'_>) -> Law {
        let target = self.target.map(|typed| typed.0.in_packets(site.packet_bytes, site.rate));
        Law {
            given,
            target: target.unwrap_or_else(|| f64::min(20.0, room.packets / 4.0)),
            capacity: given.interval.secs() * site.rate.packets_per_second(site.packet_bytes),
        }
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(Rem::new(config, site.rng(NAME))))
    }
}

/// The dropper of [REM](self).
#[derive(Debug)]
pub struct Rem {
    config: Config,
    rng: Rng,
    price: f64,
    probability: f64,
    /// The average of arrivals per interval. `arrived` counts the current interval's arrivals.
    input: f64,
    arrived: f64,
    next_change: Time,
}

impl Rem {
    /// A REM that draws from `rng`.
    pub fn new(config: Config, rng: Rng) -> Self {
        let next_change = Time::ZERO + config.law.given.interval;
        Rem { config, rng, price: 0.0, probability: 0.0, input: 0.0, arrived: 0.0, next_change }
    }

    /// The price, without a unit.
    pub fn price(&self) -> f64 {
        self.price
    }

    /// Changes the price if an interval has ended. `queue` is the backlog, unchanged since the last
    /// call.
    #[inline]
    fn keep_up(&mut self, queue: f64, now: Time) {
        if now >= self.next_change {
            self.change(queue, now);
        }
    }

    fn change(&mut self, queue: f64, now: Time) {
        let Law { given, target, capacity } = self.config.law;
        let Checked { interval, gamma, alpha, input_weight, .. } = given;
        let excess = alpha * (queue - target) - capacity;
        let kept = 1.0 - input_weight;
        self.input = kept * self.input + input_weight * self.arrived;
        self.arrived = 0.0;
        self.price = (self.price + gamma * (self.input + excess)).max(0.0);
        // Without arrivals, the steps of the price never grow, so a falling price never rises
        // again. It is enough to clamp the price at 0 once, after all these steps.
        let silent = now.since(self.next_change).ns() / interval.ns();
        if silent > 0 {
            let left = libm::pow(kept, silent as f64);
            let inputs = self.input * kept * (1.0 - left) / input_weight;
            self.input *= left;
            self.price = (self.price + gamma * (inputs + silent as f64 * excess)).max(0.0);
        }
        self.next_change += interval * (silent + 1);
        self.probability = self.config.law.probability(self.price);
    }

    /// Returns the amount in typical packets.
    #[inline]
    fn counted(&self, packets: u32, bytes: u64) -> f64 {
        match self.config.law.given.measure {
            Measure::Packets => f64::from(packets),
            Measure::Bytes => bytes as f64 / f64::from(self.config.packet_bytes),
        }
    }

    #[inline]
    fn judge(&mut self, packet: &Packet) -> Verdict {
        let p = self.probability * self.counted(1, packet.len.into());
        if p > 0.0 && (p >= 1.0 || self.rng.chance(p)) {
            Verdict::Signal(Cause::Early)
        } else {
            Verdict::Pass
        }
    }
}

impl Dropper for Rem {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Verdict {
        self.keep_up(self.counted(buffer.len(), buffer.bytes()), now);
        self.arrived += self.counted(1, packet.len.into());
        let Judged { capable_at_departure, incapable } = self.config.judged;
        if if packet.ecn.is_capable() { !capable_at_departure } else { incapable } {
            self.judge(packet)
        } else {
            Verdict::Pass
        }
    }

    #[inline]
    fn on_departure(&mut self, packet: &Packet, _: Left, buffer: &Buffer, now: Time) -> Verdict {
        let bytes = buffer.bytes() + u64::from(packet.len); // it waited until now
        self.keep_up(self.counted(buffer.len() + 1, bytes), now);
        if self.config.judged.capable_at_departure && packet.ecn.is_capable() {
            self.judge(packet)
        } else {
            Verdict::Pass
        }
    }

    fn idle(&mut self, now: Time) {
        self.keep_up(0.0, now);
    }

    fn retune(&mut self, fresh: &Self, now: Time) -> bool {
        let (before, after) = (self.config.law.given.interval, fresh.config.law.given.interval);
        self.next_change = rescheduled(self.next_change, before, after, now);
        self.config = fresh.config;
        self.probability = self.config.law.probability(self.price);
        true
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("price", Unit::One, self.price);
        probe.gauge("probability", Unit::One, self.probability);
        probe.gauge("arrivals_per_interval", Unit::Packets, self.input);
    }
}
