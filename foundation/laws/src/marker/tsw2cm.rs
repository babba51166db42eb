//! TSW2CM: the time-sliding-window two-colour marker.
//!
//! # What it does
//! Estimates the aggregate's rate over a sliding window. The fraction of the estimate above `rate`
//! is the probability that a packet is yellow. Other packets are green.
//!
//! # Why
//! The excess is spread over packets at random, so no single flow of the aggregate bears all of it.
//!
//! # State and cost
//! One average and one random stream; O(1) per packet.
//!
//! # Source (section, equation)
//! W. Fang, N. Seddigh and B. Nandy, RFC 2859, for the estimator; D. Clark and W. Fang 1998, and
//! ns-2's `dsPolicy`, for two colours.
//!
//! # Where we differ
//! Yellow is "out" in the sources.
//!
//! # Example
//! ```toml
//! [discipline.conditioner]
//! marker = { tsw2cm = { rate = "4 Mbit/s", window = "500 ms" } }
//! ```

use super::tokens::committed_rate;
use super::tsw::Estimator;
use super::{About, GREEN, YELLOW};
use crate::error::{BadParameter, Of as _};
use crate::site::Site;
use crate::spec::Quantity;
use alloc::boxed::Box;
use core::any::Any;
use fairwire_core::{Duration, Marker, Packet, Probe, Rate, Rng, Time, Unit};
use fairwire_parameters::parameters;

/// This marker's catalogue entry.
pub const ABOUT: About = About {
    summary: "estimates the rate; yellow at random, as much as is above the target",
    source: "Clark and Fang 1998; estimator as in RFC 2859",
};

const NAME: &str = "tsw2cm";

/// Parameters of `tsw2cm`.
#[parameters(gated, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The committed target rate, CTR.
    #[parameter(unset = "half of the link's")]
    pub rate: Option<Quantity<Rate>>,
    /// The length of the window, about a round-trip time or more for TCP.
    #[parameter(
        default = "1 s",
        above = "0 s",
        source = "RFC 2859 leaves it open; Clark and Fang have 1 s."
    )]
    pub window: Option<Quantity<Duration>>,
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// CTR.
    pub rate: Rate,
    /// The window.
    pub window: Duration,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        Ok(Config { rate: committed_rate(self.rate, site), window: self.checked().of(NAME)?.window })
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Marker>, BadParameter> {
        Ok(Box::new(Tsw2cm::new(self.check(site)?, site.rng(NAME))))
    }
}

/// The marker. See the [module](self).
#[derive(Debug)]
pub struct Tsw2cm {
    config: Config,
    target: f64, // bytes per second
    estimator: Estimator,
    rng: Rng,
}

impl Tsw2cm {
    /// A marker that draws from `rng`.
    pub fn new(config: Config, rng: Rng) -> Self {
        let estimator = Estimator::new(config.rate, config.window);
        Tsw2cm { config, target: config.rate.bps() as f64 / 8.0, estimator, rng }
    }
}

impl Marker for Tsw2cm {
    #[inline]
    fn color(&mut self, packet: &mut Packet, now: Time) {
        let average = self.estimator.update(packet.len, now);
        let is_out = average > self.target && self.rng.chance((average - self.target) / average);
        packet.color = if is_out { YELLOW } else { GREEN };
    }

    fn is_like(&self, other: &dyn Marker) -> bool {
        (other as &dyn Any).downcast_ref::<Self>().is_some_and(|other| other.config == self.config)
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("contract_rate", Unit::BitsPerSecond, self.target * 8.0);
        probe.gauge("estimated_rate", Unit::BitsPerSecond, self.estimator.rate_bps());
    }
}
