//! trTCM: the two-rate three-colour marker.
//!
//! # What it does
//! Two buckets are filled independently, one at a peak rate and one at a committed rate. A packet
//! that the peak bucket cannot pay for is red and takes no tokens. If the committed bucket cannot
//! pay for the packet, the packet is yellow, and only the peak bucket pays. Any other packet is
//! green, and both buckets pay. With `aware`, a packet never gets a better colour than it had.
//!
//! # Why
//! trTCM suits services that promise a committed rate and police a peak rate.
//!
//! # State and cost
//! Two counts of tokens and two remainders; O(1) per packet.
//!
//! # Source (section, equation)
//! RFC 2698, sections 2 and 3.
//!
//! # Where we differ
//! Lengths include link-layer overhead; the RFC counts IP packets.
//!
//! # Example
//! ```toml
//! [discipline.conditioner]
//! marker = { tr-tcm = { rate = "2 Mbit/s", peak_rate = "5 Mbit/s" } }
//! ```

use super::tokens::{TokenClock, bucket, committed_rate};
use super::{About, GREEN, RED, YELLOW};
use crate::error::{BadParameter, Of as _, Parameter};
use crate::site::Site;
use crate::spec::Quantity;
use alloc::boxed::Box;
use core::any::Any;
use fairwire_core::units::Size;
use fairwire_core::{Marker, Packet, Probe, Rate, Time, Unit};
use fairwire_parameters::parameters;

/// This marker's catalogue entry.
pub const ABOUT: About = About {
    summary: "green within a committed rate, yellow within a peak rate, else red",
    source: "RFC 2698",
};

const NAME: &str = "tr-tcm";

/// Parameters of `tr-tcm`.
#[parameters(gated, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The committed rate, CIR.
    #[parameter(unset = "half of the link's")]
    pub rate: Option<Quantity<Rate>>,
    /// The peak rate, PIR, at least the committed rate.
    #[parameter(unset = "twice `rate`")]
    pub peak_rate: Option<Quantity<Rate>>,
    /// The size of the committed bucket, CBS.
    ///
    /// CBS and PBS must be above zero.
    #[parameter(
        unset = "what `rate` brings in 40 ms, at least two typical packets",
        source = "RFC 2698, section 2, requires no less than the largest packet."
    )]
    pub committed_burst: Option<Quantity<Size>>,
    /// The size of the peak bucket, PBS.
    ///
    /// CBS and PBS must be above zero.
    #[parameter(
        unset = "what `peak_rate` brings in 40 ms, at least two typical packets",
        source = "RFC 2698, section 2, requires no less than the largest packet."
    )]
    pub peak_burst: Option<Quantity<Size>>,
    /// Whether a packet's previous colour counts (colour-aware mode).
    #[parameter(default = false)]
    pub aware: Option<bool>,
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// CIR.
    pub rate: Rate,
    /// PIR.
    pub peak_rate: Rate,
    /// CBS, in bytes.
    pub committed_burst: u64,
    /// PBS, in bytes.
    pub peak_burst: u64,
    /// Does a packet's previous colour count?
    pub aware: bool,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        let given = self.checked().of(NAME)?;
        let parameter = |name| Parameter { discipline: NAME, name };
        let rate = committed_rate(self.rate, site);
        let twice = || Rate::from_bps(rate.bps().saturating_mul(2)).expect("not zero");
        let peak_rate = self.peak_rate.map_or_else(twice, |typed| typed.0);
        if peak_rate < rate {
            let allowed = format_args!("no less than the committed `rate`, which is {rate}");
            return Err(parameter("peak_rate").refuse(peak_rate, allowed));
        }
        let sized = |typed, rate, name| {
            let size = bucket(typed, rate, site, parameter(name))?;
            if size == 0 { Err(parameter(name).refuse(Size(0), "more than 0 B")) } else { Ok(size) }
        };
        let committed_burst = sized(self.committed_burst, rate, "committed_burst")?;
        let peak_burst = sized(self.peak_burst, peak_rate, "peak_burst")?;
        Ok(Config { rate, peak_rate, committed_burst, peak_burst, aware: given.aware })
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Marker>, BadParameter> {
        Ok(Box::new(TrTcm::new(self.check(site)?)))
    }
}

/// The marker. See the [module](self).
#[derive(Debug)]
pub struct TrTcm {
    config: Config,
    committed_clock: TokenClock,
    peak_clock: TokenClock,
    committed: u64,
    peak: u64,
}

impl TrTcm {
    /// A marker whose buckets are full.
    pub fn new(config: Config) -> Self {
        TrTcm {
            config,
            committed_clock: TokenClock::new(config.rate),
            peak_clock: TokenClock::new(config.peak_rate),
            committed: config.committed_burst,
            peak: config.peak_burst,
        }
    }

    #[inline]
    fn refill(&mut self, now: Time) {
        let Config { committed_burst, peak_burst, .. } = self.config;
        self.committed = self.committed.saturating_add(self.committed_clock.tokens(now)).min(committed_burst);
        self.peak = self.peak.saturating_add(self.peak_clock.tokens(now)).min(peak_burst);
    }
}

impl Marker for TrTcm {
    #[inline]
    fn color(&mut self, packet: &mut Packet, now: Time) {
        self.refill(now);
        let before = if self.config.aware { packet.color } else { GREEN };
        let len = u64::from(packet.len);
        packet.color = if before >= RED || len > self.peak {
            RED
        } else if before == YELLOW || len > self.committed {
            self.peak -= len;
            YELLOW
        } else {
            self.peak -= len;
            self.committed -= len;
            GREEN
        };
    }

    fn is_like(&self, other: &dyn Marker) -> bool {
        (other as &dyn Any).downcast_ref::<Self>().is_some_and(|other| other.config == self.config)
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("contract_rate", Unit::BitsPerSecond, self.config.rate.bps() as f64);
        probe.gauge("committed_tokens", Unit::Tokens, self.committed as f64);
        probe.gauge("peak_tokens", Unit::Tokens, self.peak as f64);
    }
}
