//! FABA: fair adaptive bandwidth allocation.
//!
//! # What it does
//! Each active flow has a bucket of tokens, all of the same height; together with the queue and a pool they hold T tokens.
//! A packet that enters the queue takes a token from its flow's bucket, and a packet that leaves gives one back to the
//! pool, which hands it to a bucket picked at random. The emptier a flow's bucket, the likelier its packets are dropped.
//!
//! # Why
//! One first-come-first-served queue, yet every flow is served at nearly the same rate, responsive or not: tokens come
//! back at the link's rate and are dealt out evenly. The profile of drops (that of gentle RED) lets TCP slow down before
//! it has no tokens left.
//!
//! # Parameters (unit, default, source)
//! - `buffer` (amount; the site's): B. Tokens count packets: a buffer in bytes counts as so many typical packets.
//! - `ecn` (choice; `drop`): whether an early signal marks ECN-capable packets; a flow without tokens is always dropped.
//! - `alpha` (tokens per packet of buffer; 1): T = alpha B. Section 5; figure 5 sweeps 1 to 1.5.
//! - `lambda1`, `lambda2` (1; 0.5 and 0.25): the knees of the profile, as parts of the height. Section 5.
//! - `max_probability` (1; 0.02): the probability at `lambda2`. Section 5.
//! - `beta_rule` (choice; `abs`): how many tokens are dealt out per departure; see [`BetaRule`].
//! - `beta_max` (tokens; 16): at most so many per departure. Not in the paper, where one departure may move T tokens.
//! - `max_flows` (flows; 4096 or 4 T, whichever is more): at most so many buckets. Not in the paper.
//!
//! # State and cost
//! One bucket of 16 bytes and an index entry per flow whose bucket is not full, at most `max_flows`, all taken at
//! construction. O(1) per arrival; at most `beta_max` tokens moved per departure, 1.07 to 1.33 on average in ns-2 runs of the
//! paper's table 1.
//!
//! # Source (section, equation)
//! A. Kamra, H. Saran, S. Sen and R. Shorey, "Fair adaptive bandwidth allocation: a rate control based active queue
//! management discipline", Computer Networks, 2004: section 4.2 (there "FABAs"), with the profile of section 4, figure 3.
//!
//! # Where we differ
//! - The pool starts with T tokens; the paper does not say. With none, the first flow would start in debt.
//! - The paper's beta = sigma/Q + 1 is not positive for a deficit, so tokens would never be taken back as its text says:
//!   |sigma| is used, and dealing stops when less than a whole token is left over. `beta_rule` has the printed forms.
//! - With an empty queue Q counts as 1 in that formula.
//! - A bucket may fall into debt of less than one token; without that nobody would be admitted once flows outnumber tokens.
//!   A token is never taken back from a bucket that has less than one, under any `beta_rule`.
//! - No bucket is made for a packet that cannot enter.
//! - The number of buckets is bounded; at the bound a random bucket goes first.
//! - Tokens are integers of 2^-20 token. No number is drawn where the probability is 0 or 1.
//!
//! # Example
//! ```toml
//! [discipline.faba]
//! buffer = "780 packets"
//! max_probability = 0.02
//! ```

pub mod accounts;
pub mod profile;

pub use accounts::{Accounts, Balance, TOKEN};
pub use profile::Profile;

use crate::catalogue::{About, Family};
use crate::error::{BadParameter, BuildError, Parameter};
use crate::scheduler::Fcfs;
use crate::site::Site;
use crate::spec::{EcnChoice, Quantity};
use fairwire_core::units::Amount;
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, Limit, Packet, Probe, Queue, Rng, Time, Unit, Verdict,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the catalogue tells of it.
pub const ABOUT: About = About {
    family: Family::FairDropping,
    summary: "token buckets of equal height, refilled at random by departures, decide whom to drop",
    state: "16 bytes and an index entry per active flow, bounded",
    cost: "O(1) amortised",
    marks: true,
    source: "Kamra, Saran, Sen, Shorey 2004, section 4.2",
};

const NAME: &str = "faba";

/// What was typed for `faba`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// How much may wait. Default: the link's buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Quantity<Amount>>,
    /// Whether an early signal drops or marks ECN-capable packets. Default: `drop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnChoice>,
    /// Tokens per packet of buffer, above 0 and at most 1000. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// No drops while a bucket is at least this full, from 0 to 1. Default: 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda1: Option<f64>,
    /// At this fill the probability is `max_probability`, from 0 to `lambda1`. Default: 0.25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda2: Option<f64>,
    /// The probability of a drop at `lambda2`, from 0 to 1. Default: 0.02.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_probability: Option<f64>,
    /// How many tokens are dealt out per departure. Default: `abs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta_rule: Option<BetaRule>,
    /// At most so many tokens are dealt out per departure, from 1. Default: 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta_max: Option<u32>,
    /// At most so many flows have buckets, from 1 to 16777216. Default: 4096, or four times the tokens if that is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_flows: Option<u32>,
}

/// How many tokens are dealt out per departure, from the pool sigma and the queue Q.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BetaRule {
    /// floor(|sigma| / Q) + 1, and no more once less than a whole token is over or missing: what the paper's text says.
    #[default]
    Abs,
    /// floor(sigma / Q) + 1 as printed, rounding down; dealing never stops early.
    LiteralFloor,
    /// sigma / Q + 1 as printed, rounding towards zero as C does; dealing never stops early.
    LiteralTrunc,
}

/// Buckets and their index for more flows than this would take over half a gigabyte.
const MOST_FLOWS: u32 = 1 << 24;

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// How much may wait.
    pub limit: Limit,
    /// T, in units of 2^-20 token.
    pub total: i64,
    /// The probability of a drop as a function of a bucket's fill.
    pub profile: Profile,
    /// How many tokens are dealt out per departure.
    pub beta_rule: BetaRule,
    /// At most so many tokens are dealt out per departure.
    pub beta_max: u32,
    /// At most so many flows have buckets.
    pub max_flows: u32,
}

impl Spec {
    /// Checks what was typed against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        let room = site.room(NAME, self.buffer)?;
        let alpha = parameter("alpha").above_zero(self.alpha.unwrap_or(1.0), 1000.0)?;
        // The site bounds the buffer to 2^24 packets of 28 bytes or more, so this is below 2^54 and the conversion exact.
        let total = ((alpha * room.packets * TOKEN as f64) as i64).max(1);
        let max_flows = self.max_flows.unwrap_or_else(|| default_max_flows(total));
        Ok(Config {
            limit: room.limit,
            total,
            profile: self.profile()?,
            beta_rule: self.beta_rule.unwrap_or_default(),
            beta_max: parameter("beta_max").count(self.beta_max.unwrap_or(16), u32::MAX)?,
            max_flows: parameter("max_flows").count(max_flows, MOST_FLOWS)?,
        })
    }

    fn profile(&self) -> Result<Profile, BadParameter> {
        let lambda1 = parameter("lambda1").zero_or_more(self.lambda1.unwrap_or(0.5), 1.0)?;
        // A lambda1 below a quarter is a wish for a lambda2 not above it, not a mistake.
        let lambda2 =
            parameter("lambda2").zero_or_more(self.lambda2.unwrap_or(0.25f64.min(lambda1)), lambda1)?;
        let max_probability =
            parameter("max_probability").zero_or_more(self.max_probability.unwrap_or(0.02), 1.0)?;
        Ok(Profile { lambda1, lambda2, max_probability })
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BuildError> {
        let config = self.check(site)?;
        let policy = self.ecn.unwrap_or_default().into();
        let faba = Faba::new(config, site.rng(NAME));
        Ok(Box::new(Queue::new(config.limit, Fcfs, faba).with_ecn(policy)))
    }
}

fn parameter(name: &'static str) -> Parameter {
    Parameter { discipline: NAME, name }
}

fn default_max_flows(total: i64) -> u32 {
    let four_times = (total / (TOKEN / 4)).clamp(4096, i64::from(MOST_FLOWS));
    four_times as u32
}

/// Fair adaptive bandwidth allocation. See the [module](self).
#[derive(Debug)]
pub struct Faba {
    config: Config,
    rng: Rng,
    accounts: Accounts,
    /// The bucket of the arrival that is being judged, so that charging it need not look it up again.
    arrival: usize,
    departures: u64,
    moved: u64,
}

impl Faba {
    /// A FABA that draws from `rng`.
    pub fn new(config: Config, rng: Rng) -> Self {
        let accounts = Accounts::new(config.total, config.max_flows as usize);
        Faba { config, rng, accounts, arrival: 0, departures: 0, moved: 0 }
    }

    /// The parts of the invariant with `buffer` as the queue: sum of all buckets + pool + queue = T, exactly.
    ///
    /// ```
    /// use fairwire_core::{Discipline, Ignore, Packet, Queue, Seed, Time, scheduler::Fcfs};
    /// # use fairwire_core::{Rate, units::Amount};
    /// use fairwire_disciplines::dropper::faba::{Faba, Spec, TOKEN};
    /// # let site = fairwire_disciplines::Site {
    /// #     rate: Rate::from_bps(1_000_000).unwrap(), buffer: Amount::Packets(8), packet_bytes: 512,
    /// #     seed: Seed(1), stream: "example",
    /// # };
    ///
    /// let config = Spec::default().check(&site)?; // a buffer of 8 packets
    /// let mut queue = Queue::new(config.limit, Fcfs, Faba::new(config, Seed(1).stream("example")));
    /// queue.enqueue(Packet::new(0, 512, 7.into(), Time::ZERO), Time::ZERO, &mut Ignore);
    ///
    /// let balance = queue.dropper().balance(queue.buffer());
    /// assert_eq!(balance.buckets, 7 * TOKEN);
    /// assert_eq!(balance.queue, TOKEN);
    /// assert_eq!(balance.sum(), 8 * TOKEN);
    /// # Ok::<(), fairwire_disciplines::BadParameter>(())
    /// ```
    pub fn balance(&self, buffer: &Buffer) -> Balance {
        Balance {
            buckets: self.accounts.sum(),
            pool: self.accounts.pool(),
            queue: i64::from(buffer.len()) * TOKEN,
        }
    }

    /// The buckets, for tests and pictures.
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// Makes a bucket for a new flow, at the bound in place of a random other one.
    fn open(&mut self, packet: &Packet) -> usize {
        if self.accounts.is_full() {
            let unlucky = self.rng.below(self.accounts.len() as u32) as usize;
            self.accounts.delete(unlucky);
        }
        self.accounts.create(packet.flow)
    }

    /// Takes the token of a packet that has entered.
    #[inline]
    fn charge(&mut self, packet: &Packet) {
        // Pushing out other packets to make room refills buckets, and may move or delete this one.
        let bucket = if self.accounts.is_at(self.arrival, packet.flow) {
            Some(self.arrival)
        } else {
            self.accounts.find(packet.flow)
        };
        match bucket {
            Some(bucket) => self.accounts.take(bucket),
            // Deleted because it was overfull: its tokens are in the pool, and this packet's comes from there.
            None => self.accounts.take_from_pool(),
        }
    }

    /// Gives the token of a packet that has left to the pool, and deals the pool out.
    #[inline]
    fn refill(&mut self, queue: u32) {
        self.departures += 1;
        self.accounts.give_to_pool();
        match self.config.beta_rule {
            BetaRule::Abs => self.deal(queue),
            BetaRule::LiteralFloor | BetaRule::LiteralTrunc => self.deal_as_printed(queue),
        }
    }

    #[inline]
    fn deal(&mut self, queue: u32) {
        let steps = self.steps(self.accounts.pool().abs(), queue);
        for _ in 0..steps {
            if self.accounts.pool().abs() < TOKEN || self.accounts.is_empty() {
                return;
            }
            let surplus = self.accounts.pool() > 0;
            self.step(surplus);
        }
    }

    fn deal_as_printed(&mut self, queue: u32) {
        for _ in 0..self.printed_steps(queue) {
            if self.accounts.is_empty() {
                return;
            }
            let surplus = self.accounts.pool() > 0;
            self.step(surplus);
        }
    }

    /// Moves one token between the pool and a random bucket.
    #[inline]
    fn step(&mut self, surplus: bool) {
        let bucket = self.rng.below(self.accounts.len() as u32) as usize;
        if surplus {
            self.accounts.fill(bucket);
            self.moved += 1;
        } else if self.accounts.tokens(bucket) >= TOKEN {
            self.accounts.grab(bucket);
            self.moved += 1;
        }
        if self.accounts.is_overfull(bucket) {
            self.accounts.delete(bucket);
        }
    }

    /// floor(tokens / queue) + 1, at most `beta_max`. The division is spared where the answer is 1, as it mostly is.
    #[inline]
    fn steps(&self, tokens: i64, queue: u32) -> u32 {
        let queue = i64::from(queue.max(1)) * TOKEN;
        if tokens < queue {
            return 1;
        }
        (tokens / queue + 1).min(i64::from(self.config.beta_max)) as u32
    }

    /// sigma/Q + 1 as printed; none where that is not positive.
    fn printed_steps(&self, queue: u32) -> u32 {
        let (pool, queue) = (self.accounts.pool(), i64::from(queue.max(1)) * TOKEN);
        let quotient = match self.config.beta_rule {
            BetaRule::LiteralFloor => pool.div_euclid(queue),
            BetaRule::Abs | BetaRule::LiteralTrunc => pool / queue,
        };
        (quotient + 1).clamp(0, i64::from(self.config.beta_max)) as u32
    }
}

impl Dropper for Faba {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, _: Time) -> Verdict {
        self.arrival = match self.accounts.find(packet.flow) {
            Some(bucket) => bucket,
            None if buffer.fits(packet.len) => self.open(packet),
            None => return Verdict::Pass, // `victim` will refuse it, and no bucket is made for it
        };
        self.accounts.gather(self.arrival);
        if self.accounts.tokens(self.arrival) <= 0 {
            return Verdict::Drop(Cause::NoTokens);
        }
        let p = self.config.profile.probability(self.accounts.fraction(self.arrival));
        if p > 0.0 && (p >= 1.0 || self.rng.chance(p)) {
            Verdict::Signal(Cause::Early)
        } else {
            Verdict::Pass
        }
    }

    #[inline]
    fn tracked(&mut self, packet: &Packet, inside: bool, buffer: &Buffer) {
        if inside {
            self.charge(packet);
        } else {
            self.refill(buffer.len());
        }
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let tokens = |raw: f64| raw / TOKEN as f64;
        probe.gauge("flows", Unit::Flows, self.accounts.len() as f64);
        probe.gauge("pool", Unit::Tokens, tokens(self.accounts.pool() as f64));
        probe.gauge("height", Unit::Tokens, tokens(self.accounts.height() as f64));
        let mean = if self.departures == 0 { 0.0 } else { self.moved as f64 / self.departures as f64 };
        probe.gauge("moved_per_departure", Unit::Tokens, mean);
    }
}
