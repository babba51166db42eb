//! The token-bucket marker: "in" or "out" of a profile of one rate.
//!
//! # What it does
//! Tokens come at `rate` into a bucket that holds `burst`; a token is a byte. A packet for which
//! there are enough tokens takes them and is green ("in"). Any other packet is yellow ("out") and
//! takes none.
//!
//! # Why
//! The edge marks the packets that the contract of an aggregate covers. So a core router that does
//! not distinguish aggregates can drop packets out of profile first. See
//! [`rio`](crate::dropper::rio).
//!
//! # State and cost
//! One count of tokens and one remainder; O(1) per packet.
//!
//! # Source (section, equation)
//! D. Clark and W. Fang, "Explicit Allocation of Best-Effort Packet Delivery Service", IEEE/ACM ToN
//! 6(4), 1998; E. Park and C. Choi, "Adaptive Token Bucket Algorithm for Fair Bandwidth Allocation
//! in DiffServ Networks", 2003, section II.
//!
//! # Where we differ
//! "Out" is yellow, not red: a dropper with three colours keeps red for worse packets. A burst of 0
//! B makes every packet "out".
//!
//! # Example
//! ```toml
//! [discipline.conditioner]
//! marker = { token-bucket = { rate = "4 Mbit/s", burst = "50 kB" } }
//! ```

use super::tokens::{TokenClock, bucket, committed_rate};
use super::{About, GREEN, YELLOW};
use crate::error::{BadParameter, Parameter};
use crate::site::Site;
use crate::spec::Quantity;
use alloc::boxed::Box;
use core::any::Any;
use fairwire_core::units::Size;
use fairwire_core::{Marker, Packet, Probe, Rate, Time, Unit};
use fairwire_parameters::parameters;

/// This marker's catalogue entry.
pub const ABOUT: About = About {
    summary: "green within a rate and a burst, else yellow",
    source: "Clark and Fang 1998; Park and Choi 2003, section II",
};

const NAME: &str = "token-bucket";

/// Parameters of `token-bucket`.
#[parameters(gated)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The rate of the contract, R_t in Park and Choi 2003. Packets are green up to this rate.
    #[parameter(unset = "half of the link's")]
    pub rate: Option<Quantity<Rate>>,
    /// The size of the bucket.
    ///
    /// Park and Choi do not print it. 50 kB at 10 Mbit/s reproduces their results.
    #[parameter(unset = "what `rate` brings in 40 ms, at least two typical packets", unit = "size")]
    pub burst: Option<Quantity<Size>>,
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The contract.
    pub rate: Rate,
    /// The size of the bucket, in bytes.
    pub burst: u64,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        let rate = committed_rate(self.rate, site);
        let parameter = Parameter { discipline: NAME, name: "burst" };
        Ok(Config { rate, burst: bucket(self.burst, rate, site, parameter)? })
    }

    /// True if `burst` is given as 0. Then every packet is "out".
    pub fn is_empty(&self) -> bool {
        self.burst.is_some_and(|burst| burst.0.0 == 0)
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Marker>, BadParameter> {
        Ok(Box::new(TokenBucket::new(self.check(site)?)))
    }
}

/// The marker. See the [module](self).
#[derive(Debug)]
pub struct TokenBucket {
    clock: TokenClock,
    burst: u64,
    tokens: u64,
}

impl TokenBucket {
    /// A marker whose bucket is full.
    pub fn new(config: Config) -> Self {
        TokenBucket { clock: TokenClock::new(config.rate), burst: config.burst, tokens: config.burst }
    }
}

impl Marker for TokenBucket {
    #[inline]
    fn color(&mut self, packet: &mut Packet, now: Time) {
        self.tokens = self.tokens.saturating_add(self.clock.tokens(now)).min(self.burst);
        packet.color = match self.tokens.checked_sub(u64::from(packet.len)) {
            Some(left) => {
                self.tokens = left;
                GREEN
            }
            None => YELLOW,
        };
    }

    fn is_like(&self, other: &dyn Marker) -> bool {
        (other as &dyn Any)
            .downcast_ref::<Self>()
            .is_some_and(|other| (other.clock.rate(), other.burst) == (self.clock.rate(), self.burst))
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("contract_rate", Unit::BitsPerSecond, self.clock.rate().bps() as f64);
        probe.gauge("tokens", Unit::Tokens, self.tokens as f64);
    }
}
