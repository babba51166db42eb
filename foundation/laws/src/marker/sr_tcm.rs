//! srTCM: the single-rate three-colour marker.
//!
//! # What it does
//! Tokens, each worth a byte, come at `rate` into a committed bucket and, while it is full, into an
//! excess bucket. A packet that the committed bucket can pay for is green. Otherwise, a packet that
//! the excess bucket can pay for is yellow, and any other is red. With `aware`, a packet never gets
//! a better colour than it had.
//!
//! # Why
//! Only the size of a burst decides the colour, not the peak rate.
//!
//! # State and cost
//! Two counts of tokens and one remainder; O(1) per packet.
//!
//! # Source (section, equation)
//! RFC 2697, sections 2 and 3.
//!
//! # Where we differ
//! Lengths include link-layer overhead; the RFC counts IP packets.
//!
//! # Example
//! ```toml
//! [discipline.conditioner]
//! marker = { sr-tcm = { rate = "4 Mbit/s", committed_burst = "20 kB", excess_burst = "40 kB" } }
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
    summary: "one rate, green within a committed burst, yellow within an excess burst, else red",
    source: "RFC 2697",
};

const NAME: &str = "sr-tcm";

/// Parameters of `sr-tcm`.
#[parameters(gated, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The committed rate, CIR.
    #[parameter(unset = "half of the link's")]
    pub rate: Option<Quantity<Rate>>,
    /// The size of the committed bucket, CBS.
    ///
    /// CBS or EBS must be above zero.
    #[parameter(
        unset = "what `rate` brings in 40 ms, at least two typical packets",
        source = "RFC 2697, section 2, requires no less than the largest packet."
    )]
    pub committed_burst: Option<Quantity<Size>>,
    /// The size of the excess bucket, EBS.
    ///
    /// CBS or EBS must be above zero.
    #[parameter(
        unset = "what `rate` brings in 40 ms, at least two typical packets",
        source = "RFC 2697, section 2, requires no less than the largest packet."
    )]
    pub excess_burst: Option<Quantity<Size>>,
    /// Whether a packet's previous colour counts (colour-aware mode).
    #[parameter(default = false)]
    pub aware: Option<bool>,
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// CIR.
    pub rate: Rate,
    /// CBS, in bytes.
    pub committed_burst: u64,
    /// EBS, in bytes.
    pub excess_burst: u64,
    /// Does a packet's previous colour count?
    pub aware: bool,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        let given = self.checked().of(NAME)?;
        let rate = committed_rate(self.rate, site);
        let parameter = |name| Parameter { discipline: NAME, name };
        let committed_burst = bucket(self.committed_burst, rate, site, parameter("committed_burst"))?;
        let excess_burst = bucket(self.excess_burst, rate, site, parameter("excess_burst"))?;
        if committed_burst == 0 && excess_burst == 0 {
            let allowed = "more than 0 B where committed_burst is 0 B";
            return Err(parameter("excess_burst").refuse(Size(0), allowed));
        }
        Ok(Config { rate, committed_burst, excess_burst, aware: given.aware })
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Marker>, BadParameter> {
        Ok(Box::new(SrTcm::new(self.check(site)?)))
    }
}

/// The marker. See the [module](self).
#[derive(Debug)]
pub struct SrTcm {
    config: Config,
    clock: TokenClock,
    committed: u64,
    excess: u64,
}

impl SrTcm {
    /// A marker whose buckets are full.
    pub fn new(config: Config) -> Self {
        let Config { committed_burst: committed, excess_burst: excess, .. } = config;
        SrTcm { config, clock: TokenClock::new(config.rate), committed, excess }
    }

    #[inline]
    fn refill(&mut self, now: Time) {
        let tokens = self.clock.tokens(now);
        let committed = tokens.min(self.config.committed_burst - self.committed);
        self.committed += committed;
        self.excess += (tokens - committed).min(self.config.excess_burst - self.excess);
    }
}

impl Marker for SrTcm {
    #[inline]
    fn color(&mut self, packet: &mut Packet, now: Time) {
        self.refill(now);
        let before = if self.config.aware { packet.color } else { GREEN };
        let len = u64::from(packet.len);
        packet.color = if before == GREEN && len <= self.committed {
            self.committed -= len;
            GREEN
        } else if before <= YELLOW && len <= self.excess {
            self.excess -= len;
            YELLOW
        } else {
            RED
        };
    }

    fn is_like(&self, other: &dyn Marker) -> bool {
        (other as &dyn Any).downcast_ref::<Self>().is_some_and(|other| other.config == self.config)
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("contract_rate", Unit::BitsPerSecond, self.config.rate.bps() as f64);
        probe.gauge("committed_tokens", Unit::Tokens, self.committed as f64);
        probe.gauge("excess_tokens", Unit::Tokens, self.excess as f64);
    }
}
