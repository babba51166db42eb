//! SFB: stochastic fair BLUE.
//!
//! # What it does
//! Flows are hashed into one bin on each level. Each bin has a probability, which rises while the
//! bin's backlog is above `bin_size` and falls when a packet finds the bin empty. A packet is
//! dropped (or marked) with the lowest probability among its flow's bins. If that probability is 1,
//! the flow counts as unresponsive, and a penalty box limits it to a low rate.
//!
//! # Why
//! An unresponsive flow drives all its bins to 1. A responsive flow shares some of these bins, but
//! hardly ever all. The hash changes periodically, so no flow shares an unresponsive flow's bins
//! for long. A second set of bins learns before each change, so an unresponsive flow escapes only
//! briefly.
//!
//! # State and cost
//! Two sets of `levels` times `bins` bins of 16 bytes, 4 KiB by default. O(1) per packet. Once per
//! `rehash_interval`, an arrival counts all n waiting packets, O(n).
//!
//! # Source (section, equation)
//! W. Feng, D. Kandlur, D. Saha and K. Shin, "Stochastic Fair Blue: A Queue Management Algorithm
//! for Enforcing Fairness", IEEE INFOCOM 2001: the pseudo-code of SFB. The defaults are those of
//! the Linux kernel's `sch_sfb`.
//!
//! # Where we differ
//! - By default, sizes of bins scale with the buffer, unlike Linux's.
//! - The paper's pseudo-code drops an arrival that meets any bin above its size. Here, as in Linux,
//!   an arrival is dropped only if all its bins are above `bin_limit`.
//! - A bin's probability rises if its backlog is above `bin_size`, as in the paper. In Linux an
//!   equal backlog suffices.
//! - The penalty box is one bucket for all flows in it, as in Linux.
//! - The second set learns from the traffic that the first set admits, as in Linux. So even with a
//!   warm-up, a change of the hash frees a flow from the penalty box for about a second.
//!
//! # Example
//! ```toml
//! [discipline.sfb]
//! levels = 2
//! bins = 23
//! bin_size = "13 packets"
//! increase = 0.005
//! decrease = 0.005
//! ```

pub mod bins;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
pub use bins::{Bin, Bins, Least, Steps};

use crate::about::{About, Family};
use crate::error::{BadParameter, Of as _, Parameter};
use crate::part::Part;
use crate::queueing::{CheckedQueue, Queueing};
use crate::site::{Room, Site};
use crate::spec::{Measure, Quantity};
use crate::timer::rescheduled;
use fairwire_core::units::Level;
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, Duration, FlowKey, Packet, Probe, Rng, Time, Unit, Verdict,
};
use fairwire_parameters::parameters;

/// This discipline's catalogue entry.
pub const ABOUT: About = About {
    family: Family::FairDropping,
    summary: "probabilities per hashed bin, on several levels, find the flows that do not listen",
    state: "two sets of 128 bins of 16 bytes by default, whatever the number of flows",
    cost: "O(1); O(packets waiting) once per rehash_interval",
    marks: true,
    source: "Feng, Kandlur, Saha, Shin 2001; Linux sch_sfb",
};

const NAME: &str = "sfb";

/// Parameters of `sfb`.
#[parameters(gated, public, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
    /// The unit in which bins count.
    ///
    /// With bytes, the probability is also scaled by packet length.
    #[parameter(default = Measure::Packets, source = "The paper uses packets.")]
    pub measure: Option<Measure>,
    /// The number of levels.
    ///
    /// Linux has 8 levels of 16 bins.
    #[parameter(default = 8, min = 1, max = 8, unit = "count", source = "The paper has 2 and 23.")]
    pub levels: Option<u32>,
    /// The number of bins per level.
    ///
    /// Linux has 8 levels of 16 bins.
    #[parameter(default = 16, min = 1, max = 256, unit = "count", source = "The paper has 2 and 23.")]
    pub bins: Option<u32>,
    /// The backlog above which a bin's probability rises.
    #[parameter(
        unset = "1.5 times the buffer / `bins`",
        source = "The paper's simulations, whose bins of 13 packets hold half as much again as their part of 200. Linux has 20 packets."
    )]
    pub bin_size: Option<Quantity<Level>>,
    /// The backlog limit of a bin. An arrival is dropped if all its bins are above this limit.
    #[parameter(
        unset = "1.25 times `bin_size`",
        source = "Linux, whose 25 packets are 1.25 times its size."
    )]
    pub bin_limit: Option<Quantity<Level>>,
    /// The step by which a bin's probability rises.
    ///
    /// The default is the Linux kernel's; `tc` sets 1/2000.
    #[parameter(default = 0.001, min = 0.0, max = 1.0, unit = "1")]
    pub increase: Option<f64>,
    /// The step by which a bin's probability falls.
    ///
    /// The default is the Linux kernel's; `tc` sets 1/20000.
    #[parameter(default = 1.0 / 6000.0, min = 0.0, max = 1.0, unit = "1")]
    pub decrease: Option<f64>,
    /// The rate of the penalty box, in packets per second, for all its flows together.
    #[parameter(default = 10.0, min = 0.001, max = 1e9, unit = "packets per second", source = "Linux.")]
    pub penalty_rate: Option<f64>,
    /// The number of packets that the penalty box lets through at once.
    #[parameter(default = 20, min = 1, unit = "packets", source = "Linux.")]
    pub penalty_burst: Option<u32>,
    /// The time between changes of the hash.
    #[parameter(default = "600 s", above = "0 s", source = "Linux.")]
    pub rehash_interval: Option<Quantity<Duration>>,
    /// The time for which the second set of bins learns before a change of the hash; at most
    /// `rehash_interval`.
    #[parameter(
        unset = "a tenth of `rehash_interval`",
        source = "Linux, whose 60 s are a tenth of its 600 s."
    )]
    pub warmup_time: Option<Quantity<Duration>>,
    /// The probability above which packets are dropped rather than marked.
    ///
    /// The paper has no such limit: the penalty box drops packets of flows that ignore marks. Above
    /// 0.5, Linux drops part of the signalled packets.
    #[parameter(unset = "none", min = 0.0, max = 1.0, unit = "1")]
    pub mark_limit: Option<f64>,
}

impl Part for Spec {}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The parameters as given, or their defaults.
    pub given: Checked,
    /// How probabilities move.
    pub steps: Steps,
    /// The backlog limit of a bin. An arrival is dropped if all its bins are above this limit.
    pub bin_limit: u64,
    /// The time in which the penalty box lets one packet through.
    pub penalty_interval: Duration,
    /// The time for which the second set of bins learns before a change of the hash.
    pub warmup_time: Duration,
    /// A typical packet on the wire, in bytes.
    pub packet_bytes: u32,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Config), BadParameter> {
        let given = self.checked().of(NAME)?;
        let queue = self.queue.check(NAME, site)?;
        let (bin_size, bin_limit) = self.sizes(&given, &queue.room, site)?;
        let config = Config {
            given,
            steps: Steps { bin_size, increase: given.increase, decrease: given.decrease },
            bin_limit,
            penalty_interval: Duration::from_secs_f64(1.0 / given.penalty_rate),
            warmup_time: self.warmup_time(given.rehash_interval)?,
            packet_bytes: site.packet_bytes,
        };
        Ok((queue, config))
    }

    /// `bin_size` and `bin_limit` in whole packets or bytes. A given number of packets is rounded
    /// down: a count that exceeds 77 also exceeds 77.5.
    fn sizes(&self, given: &Checked, room: &Room, site: &Site<'_>) -> Result<(u64, u64), BadParameter> {
        let counted = |level: Quantity<Level>| match level.0 {
            Level::Packets(_) => libm::floor(given.measure.counted(level.0, site)),
            Level::Amount(amount) => given.measure.counted(amount, site),
        };
        let part = || 1.5 * given.measure.counted(room.amount, site) / f64::from(given.bins);
        let size = libm::ceil(self.bin_size.map_or_else(part, counted));
        let limit = libm::ceil(self.bin_limit.map_or(1.25 * size, counted));
        if limit < size {
            let typed = self.bin_limit.map_or_else(|| limit.to_string(), |typed| typed.to_string());
            return Err(Parameter::of(NAME, "bin_limit")
                .refuse(typed, format_args!("bin_size, which is {size}, or more")));
        }
        Ok((size as u64, limit as u64))
    }

    fn warmup_time(&self, rehash: Duration) -> Result<Duration, BadParameter> {
        let warmup = self.warmup_time.map_or(Duration::from_ns(rehash.ns() / 10), |typed| typed.0);
        if warmup > rehash {
            let allowed = format!("at most rehash_interval, which is {rehash}");
            return Err(Parameter::of(NAME, "warmup_time").refuse(warmup, allowed));
        }
        Ok(warmup)
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(Sfb::new(config, site.rng(NAME))))
    }
}

/// The dropper of [SFB](self).
#[derive(Debug)]
pub struct Sfb {
    config: Config,
    rng: Rng,
    bins: Bins,
    /// The bins that take over at the next change of the hash; updated while `is_warming`.
    next_bins: Bins,
    is_warming: bool,
    /// The time at which the next warm-up starts, or the current one ends.
    next_change: Time,
    penalty: Penalty,
}

/// The penalty box. `credit` grows with time up to `most`. Each packet let through costs
/// `interval`.
#[derive(Debug)]
struct Penalty {
    interval: Duration,
    most: Duration,
    credit: Duration,
    at: Time,
}

impl Penalty {
    fn retune(&mut self, fresh: &Penalty) {
        let is_full = self.credit == self.most;
        (self.interval, self.most) = (fresh.interval, fresh.most);
        self.credit = if is_full { self.most } else { self.credit.min(self.most) };
    }

    fn lets_through(&mut self, now: Time) -> bool {
        self.credit = (self.credit + now.since(self.at)).min(self.most);
        self.at = now;
        if self.credit < self.interval {
            return false;
        }
        self.credit = self.credit - self.interval;
        true
    }
}

impl Sfb {
    /// An SFB that draws from `rng`.
    pub fn new(config: Config, mut rng: Rng) -> Self {
        let Config { given, penalty_interval, warmup_time, .. } = config;
        let Checked { levels, bins, penalty_burst, rehash_interval, .. } = given;
        let most = penalty_interval * u64::from(penalty_burst);
        Sfb {
            config,
            bins: Bins::new(levels, bins, rng.next_u64()),
            next_bins: Bins::new(levels, bins, 0),
            is_warming: false,
            next_change: Time::ZERO + (rehash_interval - warmup_time),
            penalty: Penalty { interval: penalty_interval, most, credit: most, at: Time::ZERO },
            rng,
        }
    }

    /// The current bins.
    pub fn bins(&self) -> &Bins {
        &self.bins
    }

    #[cold]
    fn change(&mut self, buffer: &Buffer, now: Time) {
        let Config { given: Checked { rehash_interval, measure, .. }, warmup_time, .. } = self.config;
        let missed = now.since(self.next_change).ns() / rehash_interval.ns();
        if missed > 2 {
            self.next_change += rehash_interval * (missed - 2);
        }
        // At most three changes of the hash can be due, each in two steps: the start and the end of
        // its warm-up.
        for _ in 0..6 {
            if now < self.next_change {
                return;
            }
            if self.is_warming {
                core::mem::swap(&mut self.bins, &mut self.next_bins);
                self.next_change += rehash_interval - warmup_time;
            } else {
                let amount = |len| measure.size(len).into();
                self.next_bins.start_anew(self.rng.next_u64(), buffer, amount);
                self.next_change += warmup_time;
            }
            self.is_warming = !self.is_warming;
        }
    }

    #[inline]
    fn judge(&mut self, packet: &Packet, least: Least, now: Time) -> Verdict {
        if least.backlog > self.config.bin_limit {
            return Verdict::Drop(Cause::Forced);
        }
        let p = least.probability;
        if p >= 1.0 {
            return match self.penalty.lets_through(now) {
                true => Verdict::Pass,
                false => Verdict::Drop(Cause::NoTokens),
            };
        }
        let scaled = match self.config.given.measure {
            Measure::Packets => p,
            Measure::Bytes => p * f64::from(packet.len) / f64::from(self.config.packet_bytes),
        };
        if scaled <= 0.0 || !self.rng.chance(scaled) {
            Verdict::Pass
        } else if self.config.given.mark_limit.is_some_and(|limit| p > limit) {
            Verdict::Drop(Cause::Early)
        } else {
            Verdict::Signal(Cause::Early)
        }
    }
}

impl Dropper for Sfb {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Verdict {
        if now >= self.next_change {
            self.change(buffer, now);
        }
        let least = self.bins.arrived(packet.flow, &self.config.steps);
        if self.is_warming {
            self.next_bins.arrived(packet.flow, &self.config.steps);
        }
        self.judge(packet, least, now)
    }

    #[inline]
    fn tracked(&mut self, packet: &Packet, _: FlowKey, inside: bool, _: &Buffer) {
        let amount = self.config.given.measure.size(packet.len).into();
        self.bins.tracked(packet.flow, amount, inside);
        if self.is_warming {
            self.next_bins.tracked(packet.flow, amount, inside);
        }
    }

    fn retune(&mut self, fresh: &Self, now: Time) -> bool {
        let shape = |of: &Config| (of.given.measure, of.given.levels, of.given.bins);
        if shape(&self.config) != shape(&fresh.config) {
            return false;
        }
        let until_change = |of: &Config| match self.is_warming {
            true => of.warmup_time,
            false => of.given.rehash_interval - of.warmup_time,
        };
        let (before, after) = (until_change(&self.config), until_change(&fresh.config));
        self.next_change = rescheduled(self.next_change, before, after, now);
        self.penalty.retune(&fresh.penalty);
        self.config = fresh.config;
        true
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let all = self.bins.all();
        let mean = all.iter().map(|bin| bin.probability).sum::<f64>() / all.len() as f64;
        let highest = all.iter().map(|bin| bin.probability).fold(0.0, f64::max);
        probe.gauge("mean_probability", Unit::One, mean);
        probe.gauge("highest_probability", Unit::One, highest);
        let certain = all.iter().filter(|bin| bin.probability >= 1.0).count();
        probe.gauge("bins_at_one", Unit::One, certain as f64);
    }
}
