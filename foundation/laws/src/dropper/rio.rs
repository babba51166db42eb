//! RIO: RED with "in" and "out".
//!
//! # What it does
//! Runs one RED for each colour on one queue. Packets in profile (green) have high thresholds;
//! those out of profile (yellow, red) have low ones. The coupling decides which packets a colour's
//! average counts.
//!
//! With `ecn` an early signal marks ECN-capable packets. `above_max` decides whether such packets
//! are also marked above a colour's upper threshold.
//!
//! # Why
//! The edge marks the packets that a contract covers (in profile). A core router honours the
//! contracts without distinguishing aggregates. With thresholds that do not overlap, every "out"
//! packet is dropped before any "in" packet.
//!
//! # State and cost
//! An average and four counters per colour. O(1), with an exponentiation per colour only after the
//! link was idle.
//!
//! # Source (section, equation)
//! D. Clark and W. Fang, "Explicit Allocation of Best-Effort Packet Delivery Service", IEEE/ACM ToN
//! 6(4), 1998: the algorithm of RIO. E. Park and C. Choi 2003, section IV: the thresholds. Each RED
//! is that of [`red`](super::red).
//!
//! # Where we differ
//! - Each arrival updates the averages that count it. With two colours and `coupled`, every arrival
//!   updates the average of all packets, and "in" arrivals also update the average of "in" packets,
//!   as in Clark and Fang.
//! - In ns-2's `rio.cc`, only "in" arrivals update the average of all packets. `out_rule = "ns2"`
//!   follows ns-2 and a trace of its decisions. Then, if an "out" arrival ends the idle time, only
//!   the average of "in" decays, and an "out" signal above the upper threshold does not reset the
//!   count.
//! - At the next arrival of any colour, idle time decays every average, once for each complete
//!   packet that the link could have sent.
//! - As in RED, no signal is given while the colour's queue is 1 (packet or byte) or less. The
//!   first arrival after the colour's average has risen above the lower threshold is spared.
//!
//! # Example
//! ```toml
//! [discipline.rio]
//! ecn = "mark"
//! green = { min_threshold = "50 packets", max_threshold = "80 packets", max_probability = 0.02 }
//! yellow = { min_threshold = "10 packets", max_threshold = "50 packets", max_probability = 0.1 }
//! ```

use super::red::{Ramp, Spreading};
use crate::about::{About, Family};
use crate::error::{BadParameter, Of as _, Parameter};
use crate::part::Part;
use crate::queueing::{CheckedQueue, Queueing};
use crate::site::{Room, Site};
use crate::spec::{Measure, Quantity};
use alloc::boxed::Box;
use fairwire_core::units::Level;
use fairwire_core::{
    Backlog, Buffer, Cause, Discipline, Dropper, FlowKey, Packet, Probe, Rate, Rng, Time, Unit, Verdict,
    Victim,
};
use fairwire_parameters::{parameters, word};

/// This discipline's catalogue entry.
pub const ABOUT: About = About {
    family: Family::ActiveQueueManagement,
    summary: "a RED for each colour on one queue: what is out of profile is dropped first",
    state: "an average and four counters per colour",
    cost: "O(1)",
    marks: true,
    source: "Clark and Fang 1998; Park and Choi 2003, section IV",
};

const NAME: &str = "rio";

/// The maximum number of colours.
pub const COLORS: usize = 3;

/// Parameters of `rio`.
#[parameters(gated, public, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
    /// The unit in which queues are averaged.
    ///
    /// In bytes, the probability is also scaled by packet length.
    #[parameter(default = Measure::Packets)]
    pub measure: Option<Measure>,
    /// The packets that a colour's average counts.
    ///
    /// See `Coupling`.
    #[parameter(default = Coupling::Coupled)]
    pub coupling: Option<Coupling>,
    /// The thresholds of packets in profile.
    ///
    /// Park and Choi 2003 use 50, 80 and 0.02 with the adaptive token bucket (ATB). Here 50 and 80
    /// are read as packets in a buffer of 100.
    #[parameter(unset = "50 % of the buffer, 80 % of the buffer, 0.02", unit = "table")]
    pub green: Option<Thresholds>,
    /// The thresholds of packets out of profile.
    ///
    /// Park and Choi 2003 use 10, 50 and 0.1; see `green`.
    #[parameter(unset = "10 % of the buffer, 50 % of the buffer, 0.1", unit = "table")]
    pub yellow: Option<Thresholds>,
    /// The thresholds of a third colour; fields left out have the values of yellow.
    ///
    /// Without this table, red packets count as yellow.
    #[parameter(unset = "none", unit = "table")]
    pub red: Option<Thresholds>,
    /// The weight w_q of the current queue when an arrival updates an average.
    ///
    /// The default is from Clark and Fang, and from ns-2.
    #[parameter(default = 0.002, above = 0.0, max = 1.0, unit = "1")]
    pub weight: Option<f64>,
    /// Whether the probability rises to 1 at twice the upper threshold, rather than jumping to 1 at
    /// that threshold.
    #[parameter(default = false)]
    pub gentle: Option<bool>,
    /// Whether at least 1/p arrivals pass between signals of probability p (ns-2), rather than at
    /// most 1/p (RED's paper of 1993).
    ///
    /// See `Spreading`. True is ns-2's default for RED. If true, the edges of the adaptive token
    /// bucket (ATB) receive marks at a lower rate than they expect, and its targets grow without
    /// bound.
    #[parameter(default = false)]
    pub wait: Option<bool>,
    /// The effect of packets out of profile on averages and counts.
    ///
    /// See `OutRule`. `ns2` is ns-2's `rio.cc`.
    #[parameter(default = OutRule::Paper)]
    pub out_rule: Option<OutRule>,
    /// The treatment of a packet at an average above its colour's upper threshold.
    ///
    /// See `AboveMax`. With `mark`, the throughput of traffic from the adaptive token bucket (ATB)
    /// collapses in over-subscription.
    #[parameter(default = AboveMax::Drop)]
    pub above_max: Option<AboveMax>,
}

impl Part for Spec {}

/// One colour's thresholds.
#[parameters(gated, name = "rio.thresholds", checked = CheckedThresholds)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Thresholds {
    /// The average below which there is no signal.
    #[parameter(unset = "the colour's")]
    pub min_threshold: Option<Quantity<Level>>,
    /// The average at which the probability is `max_probability`.
    #[parameter(unset = "the colour's")]
    pub max_threshold: Option<Quantity<Level>>,
    /// The probability of a signal at the upper threshold.
    #[parameter(unset = "the colour's", above = 0.0, max = 1.0, unit = "1")]
    pub max_probability: Option<f64>,
}

/// The packets that a colour's average counts.
#[word(gated)]
pub enum Coupling {
    /// Packets of this colour and of all better ones: RIO-C.
    #[default]
    Coupled,
    /// Only packets of this colour: RIO-D.
    Decoupled,
    /// Packets of every colour: weighted RED.
    Total,
}

/// The effect of packets out of profile on averages and counts.
#[word(gated)]
pub enum OutRule {
    /// Each arrival updates the averages that count it, and each drop or mark resets the colour's
    /// count of arrivals since the last signal.
    #[default]
    Paper,
    /// Only green arrivals update averages. Above the upper threshold, the drop or mark of a packet
    /// out of profile does not reset its colour's count.
    Ns2,
}

/// The treatment of a packet at an average above its colour's upper threshold, or above twice that
/// threshold if `gentle`.
#[word(gated)]
pub enum AboveMax {
    /// The packet is dropped, ECN-capable or not, as RED's authors and RFC 3168, section 7, advise.
    #[default]
    Drop,
    /// The packet is marked if an early signal would mark it, and dropped otherwise, as in ns-2's
    /// DiffServ module.
    Mark,
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The parameters, or their defaults. Thresholds are in the unit of `measure`.
    pub given: Checked,
    /// The number of colours, 2 or 3. Packets of worse colours count as the last colour.
    pub colors: usize,
    /// The probability as a function of the average, for each colour.
    pub ramps: [Ramp; COLORS],
    /// The rule that spreads signals.
    pub spreading: Spreading,
    /// A typical packet on the wire, in bytes.
    pub packet_bytes: u32,
    /// The link's rate, for the decay of averages over idle time.
    pub rate: Rate,
}

/// The default thresholds of a colour, as fractions of the buffer.
#[derive(Clone, Copy)]
struct Defaults {
    min: f64,
    max: f64,
    max_probability: f64,
}

/// Park and Choi 2003, section IV, with a buffer of 100 packets assumed.
const GREEN: Defaults = Defaults { min: 0.5, max: 0.8, max_probability: 0.02 };
const YELLOW: Defaults = Defaults { min: 0.1, max: 0.5, max_probability: 0.1 };

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Config), BadParameter> {
        let given = self.checked().of(NAME)?;
        let queue = self.queue.check(NAME, site)?;
        let yellow = self.yellow.unwrap_or_default();
        let red = self.red.unwrap_or_default();
        let red = Thresholds {
            min_threshold: red.min_threshold.or(yellow.min_threshold),
            max_threshold: red.max_threshold.or(yellow.max_threshold),
            max_probability: red.max_probability.or(yellow.max_probability),
        };
        let ramp = |color, typed, defaults| ramp(color, typed, defaults, &given, &queue.room, site);
        let config = Config {
            given,
            colors: if self.red.is_some() { 3 } else { 2 },
            ramps: [
                ramp("green", self.green.unwrap_or_default(), GREEN)?,
                ramp("yellow", yellow, YELLOW)?,
                ramp("red", red, YELLOW)?,
            ],
            spreading: if given.wait { Spreading::AtLeast } else { Spreading::AtMost },
            packet_bytes: site.packet_bytes,
            rate: site.rate,
        };
        Ok((queue, config))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(Rio::new(config, site.rng(NAME))))
    }
}

fn ramp(
    color: &'static str,
    typed: Thresholds,
    defaults: Defaults,
    given: &Checked,
    room: &Room,
    site: &Site<'_>,
) -> Result<Ramp, BadParameter> {
    let unit = given.measure;
    let threshold = |typed: Option<Quantity<Level>>, part: f64| {
        typed.map_or(part * unit.counted(room.amount, site), |typed| unit.counted(typed.0, site))
    };
    let min = threshold(typed.min_threshold, defaults.min);
    let max = threshold(typed.max_threshold, defaults.max);
    if min >= max {
        let crossed = format_args!("a min_threshold of {min} and a max_threshold of {max} {unit}");
        return Err(Parameter::of(NAME, color).refuse(crossed, "a min_threshold below the max_threshold"));
    }
    let max_probability = typed.checked().of_table(Parameter::of(NAME, color))?.max_probability;
    let max_probability = max_probability.unwrap_or(defaults.max_probability);
    Ok(Ramp { min, max, max_probability, gentle: given.gentle })
}

/// The dropper of [RIO](self).
#[derive(Debug)]
pub struct Rio {
    config: Config,
    rng: Rng,
    colors: [Color; COLORS],
    idle_since: Option<Time>,
    /// True if, under ns-2's rule, a packet out of profile ended the idle time. Then only the
    /// average of green decays.
    is_idle_over: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Color {
    average: f64,
    held: Backlog,
    count: u64,
    count_bytes: u64,
    /// Was the average above the lower threshold at this colour's last arrival?
    is_above: bool,
}

impl Rio {
    /// A RIO that draws from `rng`.
    pub fn new(config: Config, rng: Rng) -> Self {
        Rio { config, rng, colors: [Color::default(); COLORS], idle_since: None, is_idle_over: false }
    }

    /// The average of each colour, in packets or bytes as configured.
    pub fn averages(&self) -> [f64; COLORS] {
        self.colors.map(|color| color.average)
    }

    #[inline]
    fn color_of(&self, packet: &Packet) -> usize {
        usize::from(packet.color).min(self.config.colors - 1)
    }

    #[inline]
    fn queue(&self, color: usize, buffer: &Buffer) -> f64 {
        let sum = match self.config.given.coupling {
            Coupling::Total => buffer.backlog(),
            Coupling::Decoupled => self.colors[color].held,
            Coupling::Coupled => self.colors[..=color].iter().fold(Backlog::default(), |sum, color| {
                Backlog { packets: sum.packets + color.held.packets, bytes: sum.bytes + color.held.bytes }
            }),
        };
        self.config.given.measure.of(sum)
    }

    #[inline]
    fn update_averages(&mut self, color: usize, buffer: &Buffer, now: Time) {
        if self.config.given.out_rule == OutRule::Ns2 && color != 0 {
            self.is_idle_over = true;
            return;
        }
        if let Some(since) = self.idle_since.take() {
            self.decay(since, now);
        }
        self.is_idle_over = false;
        let counting = match self.config.given.coupling {
            Coupling::Coupled => color..self.config.colors,
            Coupling::Decoupled => color..color + 1,
            Coupling::Total => 0..self.config.colors,
        };
        let weight = self.config.given.weight;
        for counting in counting {
            let queue = self.queue(counting, buffer);
            let average = &mut self.colors[counting].average;
            *average = *average * (1.0 - weight) + weight * queue;
        }
    }

    #[cold]
    fn decay(&mut self, since: Time, now: Time) {
        let bits = u128::from(now.since(since).ns()) * u128::from(self.config.rate.bps());
        let packets = bits / (8_000_000_000 * u128::from(self.config.packet_bytes));
        let kept = libm::pow(1.0 - self.config.given.weight, packets as f64);
        let decaying = if self.is_idle_over { 1 } else { COLORS };
        self.colors[..decaying].iter_mut().for_each(|color| color.average *= kept);
    }

    #[inline]
    fn judge(&mut self, at: usize, packet: &Packet, queue: f64) -> Verdict {
        let ramp = self.config.ramps[at];
        let color = &mut self.colors[at];
        if color.average < ramp.min || queue <= 1.0 {
            color.is_above = false;
            return Verdict::Pass;
        }
        if color.average >= ramp.certain_at() {
            return match self.config.given.above_max {
                AboveMax::Drop => Verdict::Drop(Cause::Forced),
                AboveMax::Mark => Verdict::Signal(Cause::Forced),
            };
        }
        if !core::mem::replace(&mut color.is_above, true) {
            color.count = 1;
            color.count_bytes = u64::from(packet.len);
            return Verdict::Pass;
        }
        let p = self.spread(at, ramp.probability(self.colors[at].average), packet);
        let is_picked = p >= 1.0 || (p > 0.0 && self.rng.chance(p));
        if is_picked { Verdict::Signal(Cause::Early) } else { Verdict::Pass }
    }

    #[inline]
    fn spread(&self, at: usize, p: f64, packet: &Packet) -> f64 {
        let Config { spreading, packet_bytes, .. } = self.config;
        let color = &self.colors[at];
        match self.config.given.measure {
            Measure::Packets => spreading.probability(p, color.count),
            Measure::Bytes => {
                let spread = spreading.probability(p, color.count_bytes / u64::from(packet_bytes));
                if spread < 1.0 { spread * f64::from(packet.len) / f64::from(packet_bytes) } else { 1.0 }
            }
        }
    }

    fn forget_count(&mut self, at: usize) {
        self.colors[at].count = 0;
        self.colors[at].count_bytes = 0;
    }
}

impl Dropper for Rio {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Verdict {
        let at = self.color_of(packet);
        self.update_averages(at, buffer, now);
        self.colors[at].count += 1;
        self.colors[at].count_bytes += u64::from(packet.len);
        let queue = self.queue(at, buffer);
        let verdict = self.judge(at, packet, queue);
        let keeps_count = self.config.given.out_rule == OutRule::Ns2 && at != 0;
        let is_forced = matches!(verdict, Verdict::Drop(Cause::Forced) | Verdict::Signal(Cause::Forced));
        if verdict != Verdict::Pass && !(keeps_count && is_forced) {
            self.forget_count(at);
        }
        // A packet that does not fit passes here, and `victim` drops it.
        if buffer.fits(packet.len) { verdict } else { Verdict::Pass }
    }

    fn victim(&mut self, packet: &Packet, _: &Buffer, _: Time) -> Victim {
        self.forget_count(self.color_of(packet));
        Victim::Arrival
    }

    #[inline]
    fn tracked(&mut self, packet: &Packet, _: FlowKey, inside: bool, _: &Buffer) {
        let held = &mut self.colors[usize::from(packet.color).min(self.config.colors - 1)].held;
        if inside {
            held.packets += 1;
            held.bytes += u64::from(packet.len);
        } else {
            held.packets -= 1;
            held.bytes -= u64::from(packet.len);
        }
    }

    fn idle(&mut self, now: Time) {
        match self.config.given.out_rule {
            OutRule::Paper => {
                self.idle_since.get_or_insert(now);
            }
            OutRule::Ns2 => (self.idle_since, self.is_idle_over) = (Some(now), false),
        }
    }

    fn retune(&mut self, fresh: &Self, _: Time) -> bool {
        let counts = |of: &Config| (of.given.measure, of.given.coupling, of.colors);
        let counts_alike = counts(&self.config) == counts(&fresh.config);
        if counts_alike {
            self.config = fresh.config;
        }
        counts_alike
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let unit = self.config.given.measure.unit();
        for (at, name) in ["green", "yellow", "red"].into_iter().enumerate().take(self.config.colors) {
            let color = &self.colors[at];
            probe.enter(name);
            probe.gauge("backlog_packets", Unit::Packets, f64::from(color.held.packets));
            probe.gauge("average", unit, color.average);
            probe.gauge("probability", Unit::One, self.config.ramps[at].probability(color.average));
            probe.leave();
        }
    }
}
