//! TSW3CM: the time-sliding-window three-colour marker.
//!
//! # What it does
//! Estimates the aggregate's rate over a sliding window. The estimate's fraction above the peak
//! target rate is red. The fraction between the committed and the peak target rate is yellow, and
//! the rest is green. Packets are picked at random.
//!
//! # Why
//! The excess is spread as in [`tsw2cm`](super::tsw2cm), with a second limit.
//!
//! # State and cost
//! One average and one random stream; O(1) per packet.
//!
//! # Source (section, equation)
//! W. Fang, N. Seddigh and B. Nandy, RFC 2859: the rate estimator and the marking algorithm.
//!
//! # Where we differ
//! One random number per packet is compared with both probabilities.
//!
//! # Example
//! ```toml
//! [discipline.conditioner]
//! marker = { tsw3cm = { rate = "2 Mbit/s", peak_rate = "4 Mbit/s", window = "500 ms" } }
//! ```

use super::tokens::committed_rate;
use super::tsw::Estimator;
use super::{About, GREEN, RED, YELLOW};
use crate::error::{BadParameter, Of as _, Parameter};
use crate::site::Site;
use crate::spec::Quantity;
use alloc::boxed::Box;
use core::any::Any;
use fairwire_core::{Duration, Marker, Packet, Probe, Rate, Rng, Time, Unit};
use fairwire_parameters::parameters;

/// The catalogue entry.
pub const ABOUT: About = About {
    summary: "estimates the rate; yellow and red at random, as much as is above the two targets",
    source: "RFC 2859",
};

const NAME: &str = "tsw3cm";

/// Parameters of `tsw3cm`.
#[parameters(gated, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The committed target rate, CTR.
    #[parameter(unset = "half of the link's")]
    pub rate: Option<Quantity<Rate>>,
    /// The peak target rate, PTR, at least the committed rate.
    #[parameter(unset = "twice `rate`")]
    pub peak_rate: Option<Quantity<Rate>>,
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
    /// PTR.
    pub peak_rate: Rate,
    /// The window.
    pub window: Duration,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        let parameter = |name| Parameter { discipline: NAME, name };
        let rate = committed_rate(self.rate, site);
        let twice = || Rate::from_bps(rate.bps().saturating_mul(2)).expect("not zero");
        let peak_rate = self.peak_rate.map_or_else(twice, |typed| typed.0);
        if peak_rate < rate {
            let allowed = format_args!("no less than the committed `rate`, which is {rate}");
            return Err(parameter("peak_rate").refuse(peak_rate, allowed));
        }
        Ok(Config { rate, peak_rate, window: self.checked().of(NAME)?.window })
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Marker>, BadParameter> {
        Ok(Box::new(Tsw3cm::new(self.check(site)?, site.rng(NAME))))
    }
}

/// The marker. See the [module](self).
#[derive(Debug)]
pub struct Tsw3cm {
    config: Config,
    target: f64, // bytes per second
    peak: f64,   // bytes per second
    estimator: Estimator,
    rng: Rng,
}

impl Tsw3cm {
    /// A marker that draws from `rng`.
    pub fn new(config: Config, rng: Rng) -> Self {
        let bytes = |rate: Rate| rate.bps() as f64 / 8.0;
        let estimator = Estimator::new(config.rate, config.window);
        Tsw3cm { config, target: bytes(config.rate), peak: bytes(config.peak_rate), estimator, rng }
    }
}

impl Marker for Tsw3cm {
    #[inline]
    fn color(&mut self, packet: &mut Packet, now: Time) {
        let average = self.estimator.update(packet.len, now);
        if average <= self.target {
            packet.color = GREEN;
            return;
        }
        let red = (average - self.peak).max(0.0) / average;
        let yellow = (average.min(self.peak) - self.target) / average;
        let drawn = self.rng.uniform();
        packet.color = if drawn < red {
            RED
        } else if drawn < red + yellow {
            YELLOW
        } else {
            GREEN
        };
    }

    fn is_like(&self, other: &dyn Marker) -> bool {
        (other as &dyn Any).downcast_ref::<Self>().is_some_and(|other| other.config == self.config)
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("contract_rate", Unit::BitsPerSecond, self.target * 8.0);
        probe.gauge("estimated_rate", Unit::BitsPerSecond, self.estimator.rate_bps());
    }
}
