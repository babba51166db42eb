//! RQM: a rate-based discipline that estimates the number of sessions.
//!
//! # What it does
//! The desired use of the link grows with the number of sessions: b(n) = (1 - e^(-c n)) B', where c
//! is a steepness and B' is a little below the capacity. The inverse of b gives the number of
//! sessions from the measured rate. At the probability p = alpha / (1 - beta) (n / b)^2, losses
//! balance the growth of TCP's rates (see `alpha` and `beta`). Each arrival is dropped (or marked)
//! with probability p. If p is above 1, p packets are dropped for each arrival, the newest first.
//!
//! With `ecn = "mark"` and p above 1, the arrival is signalled, and then the newest unmarked
//! packets.
//!
//! # Why
//! RQM signals congestion before a queue has built up. In the paper's fluid model all sessions
//! converge to equal rates. On a real link the measured rate is nearly always above B', where b has
//! no inverse. So the rule for overload decides nearly everything.
//!
//! # State and cost
//! One rate, one queue length and one time for all flows. O(1) per packet. With marking, each
//! arrival inspects at most 64 waiting packets.
//!
//! # Source (section, equation)
//! J. Edmonds, S. Datta, P. Dymond and K. Ali, "RQM: A new rate-based active queue management
//! algorithm", York University Technical Report CSE-2006-09, 2006: section 3, figure 1.
//!
//! # Where we differ
//! - Step 1 of figure 1 measures the growth of the queue, although section 3 means the total
//!   sending rate: see `estimator`.
//! - Step 4 uses the rate before smoothing, which would make steps 2 and 3 redundant. The smoothed
//!   rate is used here.
//! - One sentence of the paper prints p without the square that every derivation has.
//! - The paper does not cover rates at and beyond the virtual capacity B': see `overload_rule`.
//!   Under `clamp` with the other defaults, a link below 30 packets per second would refuse every
//!   arrival while any packet waits. So `clamp_limit` bounds p. The default limit matters only on
//!   links below 42 packets per second.
//! - Simultaneous arrivals are one measurement.
//! - With marking, a packet that cannot carry a mark is dropped instead.
//!
//! # Example
//! ```toml
//! [discipline.rqm]
//! estimator = "ratio"
//! alpha_units = "per-rtt"
//! reference_rtt = "80 ms"
//! ```

pub mod law;
pub mod rate;

use alloc::boxed::Box;
pub use law::{Law, OverloadRule};
pub use rate::{Estimator, Meter, QueueSample};

use crate::about::{About, Family};
use crate::error::{BadParameter, Of as _};
use crate::part::Part;
use crate::queueing::{CheckedQueue, Queueing};
use crate::site::Site;
use crate::spec::{EcnChoice, Measure, Quantity};
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, Duration, Ecn, Key, Packet, Probe, Rng, Time, Unit, Verdict,
};
use fairwire_parameters::{parameters, word};

/// This discipline's catalogue entry.
pub const ABOUT: About = About {
    family: Family::ActiveQueueManagement,
    summary: "guesses the number of sessions from the rate, and drops as much as TCP needs to share it",
    state: "one rate, one queue length and one time for all flows",
    cost: "O(1)",
    marks: true,
    source: "Edmonds, Datta, Dymond, Ali 2006, section 3",
};

const NAME: &str = "rqm";

/// Parameters of `rqm`.
#[parameters(gated, public, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
    /// The unit of rates.
    ///
    /// With bytes, rates are in typical packets, and the probability is also scaled by packet
    /// length.
    #[parameter(default = Measure::Packets, source = "The paper does not say.")]
    pub measure: Option<Measure>,
    /// The growth of a session's rate.
    #[parameter(
        default = 1.0,
        above = 0.0,
        max = 1e12,
        unit = "packets per second squared, or packets per round-trip time squared",
        source = "Section 5.2."
    )]
    pub alpha: Option<f64>,
    /// The unit of `alpha`.
    ///
    /// See `AlphaUnits`.
    #[parameter(default = AlphaUnits::Literal, source = "The paper's counts of drops fit `literal`.")]
    pub alpha_units: Option<AlphaUnits>,
    /// The round-trip time that `per-rtt` refers to.
    #[parameter(default = "100 ms", above = "0 s", source = "Not in the paper.")]
    pub reference_rtt: Option<Quantity<Duration>>,
    /// The fraction of its rate that a session keeps after a loss.
    #[parameter(default = 0.5, min = 0.0, max = 0.999, unit = "1", source = "Section 5.2.")]
    pub beta: Option<f64>,
    /// The fraction of the capacity that is left unused.
    #[parameter(default = 0.01, min = 0.0, max = 0.999, unit = "1", source = "Section 5.2.")]
    pub gamma: Option<f64>,
    /// The steepness with which the desired use grows with the number of sessions.
    #[parameter(default = 1.0, above = 0.0, max = 1000.0, unit = "1", source = "Section 5.2.")]
    pub steepness: Option<f64>,
    /// The fraction of the old rate that each measurement keeps.
    #[parameter(default = 0.5, min = 0.0, max = 0.999, unit = "1", source = "Section 5.2.")]
    pub smoothing: Option<f64>,
    /// The method of measuring the rate.
    ///
    /// See `Estimator`.
    #[parameter(default = Estimator::SlopePlusCapacity)]
    pub estimator: Option<Estimator>,
    /// The length of a window of the estimator `window`.
    #[parameter(default = "100 ms", above = "0 s", source = "Not in the paper.")]
    pub window: Option<Quantity<Duration>>,
    /// The rule for a rate at or above the virtual capacity.
    ///
    /// See `OverloadRule`.
    #[parameter(default = OverloadRule::Clamp)]
    pub overload_rule: Option<OverloadRule>,
    /// The distance of a clamped rate from the virtual capacity, as a fraction of the virtual
    /// capacity.
    #[parameter(
        default = 1e-9,
        above = 0.0,
        max = 0.5,
        unit = "1",
        source = "Not in the paper; in ns-2 this value came near the drops of its table 1 (138 of 131); here it makes 32 or 101, by how that table is read."
    )]
    pub epsilon: Option<f64>,
    /// The maximum number of packets dropped for each arrival under `clamp`.
    ///
    /// The limit applies at any rate.
    #[parameter(
        default = 0.5,
        above = 0.0,
        max = 1e6,
        unit = "packets",
        source = "Not in the paper; ours, so that at least every second arrival passes on a slow link: see below."
    )]
    pub clamp_limit: Option<f64>,
}

impl Part for Spec {}

/// The unit of `alpha`.
#[word(gated)]
pub enum AlphaUnits {
    /// Packets per second, each second, whatever the round-trip time.
    #[default]
    Literal,
    /// Packets per round-trip time, each round-trip time, as TCP grows: p is then 2 / W^2 for a
    /// window of W packets.
    PerRtt,
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The formulas that turn the rate into the number of drops.
    pub law: Law,
    /// B, the capacity of the link, in typical packets per second.
    pub capacity: f64,
    /// A typical packet on the wire, in bytes.
    pub packet_bytes: u32,
    /// True if waiting packets are marked, not dropped, when p is above 1.
    pub marks: bool,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Config), BadParameter> {
        let given = self.checked().of(NAME)?;
        let queue = self.queue.check(NAME, site)?;
        let capacity = site.rate.packets_per_second(site.packet_bytes);
        let config = Config {
            law: given.law(capacity),
            capacity,
            packet_bytes: site.packet_bytes,
            marks: self.queue.ecn == Some(EcnChoice::Mark),
        };
        Ok((queue, config))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(Rqm::new(config, site.rng(NAME))))
    }
}

impl Checked {
    /// The formulas for a link that sends `capacity` typical packets per second.
    fn law(self, capacity: f64) -> Law {
        let rtt = self.reference_rtt.secs();
        let alpha = match self.alpha_units {
            AlphaUnits::Literal => self.alpha,
            AlphaUnits::PerRtt => self.alpha / (rtt * rtt),
        };
        let virtual_capacity = (1.0 - self.gamma) * capacity;
        Law { virtual_capacity, gain: alpha / (1.0 - self.beta), given: self }
    }
}

/// The maximum number of waiting packets that an arrival inspects in search of an unmarked packet.
const MAX_LOOKED_AT: u32 = 64;

/// The dropper of [RQM](self).
#[derive(Debug)]
pub struct Rqm {
    config: Config,
    rng: Rng,
    meter: Meter,
    reach: f64,
    drops_beyond: f64,
    /// The maximum of p at rates below [`Law::reach`].
    most_below: f64,
    arrivals: u64,
    overloaded: u64,
    others: Others,
}

/// The search for waiting packets to signal together with the arrival.
#[derive(Clone, Copy, Debug, Default)]
struct Others {
    wanted: u32,
    at: Option<Key>,
    looks: u32,
}

impl Rqm {
    /// An RQM that draws from `rng`.
    pub fn new(config: Config, rng: Rng) -> Self {
        let Config { law, capacity, .. } = config;
        let Checked { estimator, smoothing, window, .. } = law.given;
        Rqm {
            config,
            rng,
            meter: Meter::new(estimator, capacity, smoothing, window),
            reach: law.reach(),
            drops_beyond: law.drops_beyond(),
            // p is highest just below `reach`. The factor covers the rounding of the logarithm.
            most_below: law.probability(law.reach().next_down()) * (1.0 + 1e-9),
            arrivals: 0,
            overloaded: 0,
            others: Others::default(),
        }
    }

    /// The smoothed rate, in typical packets per second.
    pub fn rate(&self) -> f64 {
        self.meter.rate()
    }

    /// The estimated number of sessions. Under every overload rule, a rate above (1 - `epsilon`)
    /// times the virtual capacity counts as that product.
    pub fn sessions(&self) -> f64 {
        self.config.law.sessions(
            self.rate().min((1.0 - self.config.law.given.epsilon) * self.config.law.virtual_capacity),
        )
    }

    /// The current number of packets to drop per arrival.
    #[inline]
    pub fn probability(&self) -> f64 {
        if self.is_overloaded() { self.drops_beyond } else { self.config.law.probability(self.rate()) }
    }

    /// The fraction of arrivals so far at which the rate was [`Law::reach`] or more, from 0 to 1.
    pub fn overloaded(&self) -> f64 {
        if self.arrivals == 0 { 0.0 } else { self.overloaded as f64 / self.arrivals as f64 }
    }

    #[inline]
    fn is_overloaded(&self) -> bool {
        self.rate() >= self.reach
    }

    #[inline]
    fn measure(&mut self, packet: &Packet, buffer: &Buffer, now: Time) {
        let (amount, queue) = match self.config.law.given.measure {
            Measure::Packets => (1.0, f64::from(buffer.len())),
            Measure::Bytes => (self.typical(packet.len.into()), self.typical(buffer.bytes())),
        };
        self.meter.arrived(QueueSample { at: now, queue, amount });
        self.arrivals += 1;
        self.overloaded += u64::from(self.is_overloaded());
    }

    fn typical(&self, bytes: u64) -> f64 {
        bytes as f64 / f64::from(self.config.packet_bytes)
    }

    /// The number of packets to signal for this arrival: p on average.
    #[inline]
    fn drops(&mut self, packet: &Packet) -> u32 {
        let scale = match self.config.law.given.measure {
            Measure::Packets => 1.0,
            Measure::Bytes => self.typical(packet.len.into()),
        };
        if self.most_below * scale < 1.0 && !self.is_overloaded() {
            // The number drawn usually exceeds `most_below`, so the logarithm in `probability` is
            // seldom needed.
            let drawn = self.rng.uniform();
            return u32::from(drawn < self.most_below * scale && drawn < self.probability() * scale);
        }
        let p = self.probability() * scale;
        let whole = p as u32; // rounds down, and saturates
        let rest = p - f64::from(whole);
        whole.saturating_add(u32::from(rest > 0.0 && self.rng.chance(rest)))
    }

    /// The next unmarked waiting packet, searched from newer to older.
    fn unmarked(&mut self, buffer: &Buffer) -> Option<Key> {
        while let Some(key) = self.others.at {
            if self.others.looks == MAX_LOOKED_AT {
                return None;
            }
            self.others.looks += 1;
            self.others.at = buffer.older(key);
            if buffer.packet(key).ecn != Ecn::Ce {
                return Some(key);
            }
        }
        None
    }
}

impl Dropper for Rqm {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Verdict {
        self.measure(packet, buffer, now);
        let drops = self.drops(packet);
        if drops == 0 {
            self.others.wanted = 0;
            return Verdict::Pass;
        }
        self.others = Others { wanted: drops - 1, at: buffer.newest(), looks: 0 };
        Verdict::Signal(Cause::Early)
    }

    fn another(&mut self, _: &Packet, buffer: &Buffer, _: Time) -> Option<(Key, Verdict)> {
        self.others.wanted = self.others.wanted.checked_sub(1)?;
        let key = if self.config.marks { self.unmarked(buffer) } else { buffer.newest() };
        if key.is_none() {
            self.others.wanted = 0;
        }
        Some((key?, Verdict::Signal(Cause::Early)))
    }

    fn retune(&mut self, fresh: &Self, now: Time) -> bool {
        self.config = fresh.config;
        self.meter.retune(&fresh.meter, now);
        (self.reach, self.drops_beyond, self.most_below) =
            (fresh.reach, fresh.drops_beyond, fresh.most_below);
        true
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let bits_per_packet = 8.0 * f64::from(self.config.packet_bytes);
        probe.gauge("rate", Unit::BitsPerSecond, self.rate() * bits_per_packet);
        probe.gauge("sessions", Unit::Flows, self.sessions());
        probe.gauge("probability", Unit::One, self.probability());
        probe.gauge("overloaded", Unit::One, self.overloaded());
    }
}
