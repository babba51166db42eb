//! The policer: a rate and a bucket, without a queue.
//!
//! # What it does
//! A token is worth a byte. Tokens come at `rate` into a bucket of size `bucket`, which starts
//! full. A packet with enough tokens takes them and passes; any other is dropped. Passed packets
//! wait only for the link.
//!
//! # Why
//! Many access lines are sold at a rate that a policer enforces, since a policer needs no memory
//! for packets. A sender sees losses without a prior rise of the delay. TCP fills such a line only
//! if the bucket holds about one round trip of its traffic.
//!
//! # State and cost
//! One count of tokens and one remainder; O(1).
//!
//! # Source (section, equation)
//! RFC 2475, section 2.3.3.3 (policers); RFC 3290, section 5.1.3 (a simple token bucket: strict
//! conformance). In any T seconds, the bytes that pass are at most `bucket` plus T times `rate`.
//!
//! # Where we differ
//! - `ecn = "mark"` has no effect. If an ECN-capable packet without tokens passed with a mark, a
//!   sender that ignores marks could exceed the rate.
//! - A `rate` without a `bucket` is refused, since lines sold at one rate differ by their buckets.
//!   A bucket too small for a typical packet is refused too.
//!
//! # Example
//! ```toml
//! [discipline.policer]
//! rate = "8 Mbit/s"
//! bucket = "64 kB"
//! ```

use crate::about::{About, Family};
use crate::error::{BadParameter, Parameter};
use crate::marker::tokens::{TokenClock, bucket};
use crate::part::Part;
use crate::queueing::{CheckedQueue, Queueing};
use crate::site::Site;
use crate::spec::Quantity;
use alloc::boxed::Box;
use fairwire_core::units::Size;
use fairwire_core::{Buffer, Cause, Discipline, Dropper, Packet, Probe, Rate, Time, Unit, Verdict};
use fairwire_parameters::parameters;

/// This discipline's catalogue entry.
pub const ABOUT: About = About {
    family: Family::Baseline,
    summary: "a rate and a bucket: what exceeds them is dropped, and nothing waits for tokens",
    state: "one count",
    cost: "O(1)",
    marks: false,
    source: "RFC 2475, section 2.3.3.3; RFC 3290, section 5.1.3",
};

const NAME: &str = "policer";

/// Parameters of `policer`.
#[parameters(gated)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer for the link, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
    /// The token rate, in bytes on the wire.
    ///
    /// Requires `bucket`.
    #[parameter(unset = "the link's")]
    pub rate: Option<Quantity<Rate>>,
    /// The number of bytes that may pass at once after a pause: at least a typical packet.
    #[parameter(
        unset = "what `rate` brings in 40 ms, at least two typical packets; required beside `rate`",
        unit = "size"
    )]
    pub bucket: Option<Quantity<Size>>,
}

impl Part for Spec {}

/// A checked [`Spec`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The queue that follows the policer.
    pub queue: CheckedQueue,
    /// Token rate.
    pub rate: Rate,
    /// The bucket, in bytes.
    pub bucket: u64,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        let parameter = Parameter { discipline: NAME, name: "bucket" };
        let least = u64::from(site.packet_bytes);
        let allowed = format_args!("a size of a typical packet, {}, or more", Size(least));
        match (self.rate, self.bucket) {
            (Some(_), None) => return Err(parameter.refuse("not given beside `rate`", allowed)),
            (_, Some(small)) if small.0.0 < least => return Err(parameter.refuse(small.0, allowed)),
            _ => {}
        }
        let rate = self.rate.map_or(site.rate, |rate| rate.0);
        Ok(Config {
            queue: self.queue.check(NAME, site)?,
            rate,
            bucket: bucket(self.bucket, rate, site, parameter)?,
        })
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let Config { queue, rate, bucket } = self.check(site)?;
        Ok(queue.serve(Policer { clock: TokenClock::new(rate), bucket, tokens: bucket }))
    }
}

/// The dropper of [the policer](self).
#[derive(Debug)]
pub struct Policer {
    clock: TokenClock,
    bucket: u64,
    tokens: u64,
}

impl Policer {
    fn fill(&mut self, now: Time) {
        self.tokens = self.tokens.saturating_add(self.clock.tokens(now)).min(self.bucket);
    }
}

impl Dropper for Policer {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, _: &Buffer, now: Time) -> Verdict {
        self.fill(now);
        match self.tokens.checked_sub(packet.len.into()) {
            Some(left) => {
                self.tokens = left;
                Verdict::Pass
            }
            None => Verdict::Drop(Cause::NoTokens),
        }
    }

    fn retune(&mut self, fresh: &Self, now: Time) -> bool {
        self.fill(now);
        self.clock.go_on_at(fresh.clock.rate());
        let taken = self.bucket - self.tokens;
        (self.bucket, self.tokens) = (fresh.bucket, fresh.bucket.saturating_sub(taken));
        true
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("policed_rate", Unit::BitsPerSecond, self.clock.rate().bps() as f64);
        probe.gauge("tokens", Unit::Tokens, self.tokens as f64);
    }
}
