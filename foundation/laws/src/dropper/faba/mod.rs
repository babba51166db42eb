//! FABA: fair adaptive bandwidth allocation.
//!
//! # What it does
//! Each active flow has a bucket of tokens, and all buckets have the same height. Buckets, queue
//! and pool together hold T tokens. A packet that enters the queue takes a token from its flow's
//! bucket. A departing packet returns a token to the pool, which hands it to a random bucket. The
//! emptier a flow's bucket, the likelier its packets are dropped.
//!
//! Packets of a flow without tokens are always dropped, whatever `ecn` says. In packet mode a
//! buffer in bytes counts as the number of typical packets that it holds.
//!
//! # Why
//! A single queue serves every flow at nearly the same rate, responsive or not: tokens return at
//! the link's rate and are dealt out evenly. The drop profile, that of gentle RED, slows TCP down
//! before its tokens run out.
//!
//! # State and cost
//! Each flow whose bucket is not full takes 16 bytes for the bucket and 8 to 16 for an index entry.
//! This memory is allocated at construction, for `max_flows` flows. Weights take 8 bytes more, and
//! draws in proportion to weights another 8 to 16. O(1) per arrival. At most `beta_max` moves per
//! departure. A draw in proportion to weights is O(log N).
//!
//! # Source (section, equation)
//! A. Kamra, H. Saran, S. Sen and R. Shorey, "Fair adaptive bandwidth allocation: a rate control
//! based active queue management discipline", Computer Networks, 2004: section 4.2 (there "FABAs"),
//! with the profile of section 4, figure 3, the settings of section 5, and the extensions of
//! sections 6.1 and 6.2. Section numbers of parameters refer to this paper.
//!
//! # Where we differ
//! - Only departures refill buckets, so a flow without tokens and without queued packets would wait
//!   for others to send. The paper says that "every bucket is full" when no packets are in the
//!   system. Here the first flow to send after the link went idle gets a full bucket from the pool,
//!   unless `idle_refill = false`.
//! - The pool starts with T tokens, so that the first flow does not start in debt. The paper does
//!   not state the start.
//! - The paper moves beta = sigma/Q + 1 tokens per departure, where sigma is the pool and Q the
//!   queue. If the pool has a deficit, beta is not positive. So tokens would never be taken back,
//!   contrary to the paper's text. Here `|sigma|` is used, and dealing stops when less than a whole
//!   token is left. `beta_rule` has the printed forms.
//! - With an empty queue, Q counts as 1 in that formula.
//! - A bucket may run a debt of less than one token (in byte mode, one packet). Otherwise no packet
//!   would be admitted once flows outnumber tokens. A token is never taken back from a bucket that
//!   has less than one, under any `beta_rule`.
//! - In byte mode a move carries as many tokens as the departing packet had bytes. It carries fewer
//!   if the pool's surplus or deficit is less. Q is at least the length of that packet.
//!   Moves of single tokens would need a move for each byte.
//! - A packet that cannot enter opens no bucket for its flow.
//! - With `free_below` no packet is dropped while the queue is short, as below RED's `min_th` (S.
//!   Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM
//!   ToN 1(4), 1993, section IV). In the paper a flow has T/N tokens however short the queue is. N
//!   also counts flows of a single packet. So a flood from random sources would starve a TCP flow
//!   on a link with free capacity.
//! - Below `free_below`, packets pay if their flow has tokens; other packets are lent tokens and
//!   open no bucket. Departures repay the loan before they fill buckets. Buckets, pool and queue
//!   sum to T plus the loan.
//! - The number of buckets is bounded; at the bound a new bucket replaces a random one.
//! - Tokens are integers of 2^-20 token. No number is drawn if the probability is 0 or 1.
//! - Weights are integers too, in units of 2^-39 of the greatest weight. Heights and portions are
//!   rounded to 2^-20 token.
//!
//! # Example
//! ```toml
//! [discipline.faba]
//! measure = "bytes"
//! share_between = "classes"
//! weights = { 1 = 3.0, 2 = 1.0 }
//! ```

pub mod accounts;
pub mod profile;
mod shares;
pub mod tokens;

pub use accounts::Accounts;
use alloc::boxed::Box;
pub use profile::{Knees, Profile};
pub(crate) use shares::below;
pub use tokens::{Balance, Supply, TOKEN};

use crate::about::{About, Family};
use crate::error::{BadParameter, Of as _, Parameter};
use crate::memory;
use crate::part::Part;
use crate::queueing::{CheckedQueue, Queueing};
use crate::role;
use crate::site::Site;
use crate::spec::{Measure, Quantity, Share, WeightOf, Weights};
use fairwire_core::units::Level;
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, FlowHash, FlowKey, Packet, Probe, Rng, SetWeightError, Time, Unit,
    Verdict, Weight,
};
use fairwire_parameters::{parameters, word};
use tokens::{steps, tokens_of};

/// This discipline's catalogue entry.
pub const ABOUT: About = About {
    family: Family::FairDropping,
    summary: "token buckets of equal height, refilled at random by departures, decide whom to drop",
    state: "32 bytes per active flow with its index entry, bounded by `max_flows`",
    cost: "O(1) amortised",
    marks: true,
    source: "Kamra, Saran, Sen, Shorey 2004, sections 4.2, 6.1 and 6.2",
};

const NAME: &str = "faba";

/// Parameters of `faba`.
#[parameters(gated, public, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
    /// The unit of a token.
    #[parameter(is = role::MEASURE, default = Measure::Packets, source = "Section 4.2, \"Operating in byte mode\".")]
    pub measure: Option<Measure>,
    /// Whether each flow or each class has a bucket.
    #[parameter(is = role::SHARE_BETWEEN, default = Share::Flows, source = "Section 6.2.")]
    pub share_between: Option<Share>,
    /// The weights by class.
    ///
    /// The paper's gamma. A weight applies to each flow of the class, or to the entire class if
    /// each class has one bucket.
    #[parameter(is = role::WEIGHTS, unset = "1 for each", unit = "1 by class", source = "Section 6.1.")]
    pub weights: Option<Weights>,
    /// The use of weights in dealing out tokens.
    #[parameter(default = Choice::Uniform, source = "Section 6.1 leaves it open.")]
    pub choice: Option<Choice>,
    /// The number of tokens, and the number of flows they serve.
    #[parameter(flatten)]
    pub supply: Supply,
    /// The profile.
    #[parameter(flatten)]
    pub knees: Knees,
    /// The formula for the tokens dealt out per departure, from the tokens in the pool (sigma) and
    /// the packets in the queue (Q).
    #[parameter(default = BetaRule::Abs)]
    pub beta_rule: Option<BetaRule>,
    /// The maximum number of tokens that a departure moves between the pool and the buckets.
    #[parameter(
        default = 16,
        min = 1,
        max = 4096,
        unit = "1",
        source = "Not in the paper, where one departure may move T tokens."
    )]
    pub beta_max: Option<u32>,
    /// Whether the first flow to send after the link went idle gets a full bucket, unlike in the
    /// paper.
    ///
    /// See *Where we differ*.
    #[parameter(default = true)]
    pub idle_refill: Option<bool>,
    /// The backlog up to which every packet enters.
    ///
    /// Packets of a flow without tokens borrow them. See *Where we differ*.
    #[parameter(is = role::FREE_BELOW, unset = "none")]
    pub free_below: Option<Quantity<Level>>,
}

impl Part for Spec {
    fn table_bytes(&self, packets: u64) -> u64 {
        memory::count(self.supply.max_flows, memory::flows(packets)) * memory::BUCKET
    }

    fn marks_on_a_link(&self) -> bool {
        true
    }
}

/// The formula for the tokens dealt out per departure, from the pool sigma and the queue Q.
#[word(gated)]
pub enum BetaRule {
    /// floor(|sigma| / Q) + 1, as in the paper's text. Dealing stops once the pool's surplus or
    /// deficit is less than a token.
    #[default]
    Abs,
    /// floor(sigma / Q) + 1 as printed. Dealing never stops early.
    LiteralFloor,
    /// sigma / Q + 1 as printed, rounded towards zero as in C. Dealing never stops early.
    LiteralTrunc,
}

/// The use of weights in dealing out tokens. Shares follow the weights if there are several tokens
/// for each unit of weight. With more flows than tokens, shares drift from the weights.
#[word(gated)]
pub enum Choice {
    /// All buckets are equally likely. The drawn bucket gets w / mean(w) tokens, where w is its
    /// weight. O(1).
    #[default]
    Uniform,
    /// A bucket is drawn in proportion to its weight, and gets one token. O(log N), and refills
    /// come in smaller steps.
    Proportional,
}

/// A checked [`Spec`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The parameters as given, or their defaults.
    pub given: Checked,
    /// gamma by class.
    pub weights: WeightOf,
    /// The greatest weight, including that of unlisted classes.
    pub heaviest: f64,
    /// T: the number of all tokens, in units of 2^-20 token.
    pub total: i64,
    /// The probability of a drop as a function of a bucket's fill.
    pub profile: Profile,
    /// The backlog up to which every packet enters, in units of 2^-20 token.
    pub free_below: i64,
    /// The maximum number of flows with buckets.
    pub max_flows: u32,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Config), BadParameter> {
        let given = self.checked().of(NAME)?;
        let queue = self.queue.check(NAME, site)?;
        let measure = given.measure;
        let (total, max_flows) = self.supply.check(NAME, measure, &queue.room, site)?;
        let (weights, heaviest) = self.checked_weights()?;
        let config = Config {
            given,
            weights,
            heaviest,
            total,
            profile: self.knees.check(NAME)?,
            free_below: self.free_below.map_or(0, |level| tokens_of(level.0, measure, total, site)),
            max_flows,
        };
        Ok((queue, config))
    }

    /// The weights, and the greatest weight: at least 1, the weight of unlisted classes.
    fn checked_weights(&self) -> Result<(WeightOf, f64), BadParameter> {
        let Some(typed) = &self.weights else { return Ok((WeightOf::equal(), 1.0)) };
        Ok((typed.check(Parameter::of(NAME, "weights"))?, typed.0.values().copied().fold(1.0, f64::max)))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(Faba::new(config, site.rng(NAME))))
    }
}

/// The dropper of [FABA](self).
#[derive(Debug)]
pub struct Faba {
    config: Config,
    rng: Rng,
    accounts: Accounts,
    /// The bucket of the arrival being judged, stored so that charging needs no second lookup.
    arrival: usize,
    is_lent: bool,
    /// The tokens lent to packets and not yet repaid, in units of 2^-20 token.
    lent: i64,
    departures: u64,
    moves: u64,
    /// Departures with sigma/Q + 1 above two, which the paper considers rare (section 5.2).
    above_two: u64,
    /// True if the link has gone idle since the last arrival whose flow had a bucket.
    was_idle: bool,
}

impl Faba {
    /// A FABA that draws from `rng`.
    pub fn new(config: Config, rng: Rng) -> Self {
        let accounts = Accounts::new(&config);
        Faba {
            config,
            rng,
            accounts,
            arrival: 0,
            is_lent: false,
            lent: 0,
            departures: 0,
            moves: 0,
            above_two: 0,
            was_idle: false,
        }
    }

    /// The tokens in all buckets, in the pool and in the queue. They always add up to T, the tokens
    /// of the buffer. The packets in `buffer` have paid the tokens in the queue.
    ///
    /// ```
    /// use fairwire_core::{Discipline, Ignore, Packet, Queue, Seed, Time, scheduler::Fcfs};
    /// # use fairwire_core::{Rate, units::Amount};
    /// use fairwire_laws::dropper::faba::{Faba, Spec, TOKEN};
    /// # let site = fairwire_laws::Site {
    /// #     rate: Rate::from_bps(1_000_000).unwrap(),
    /// #     buffer: Amount::Packets(8),
    /// #     packet_bytes: 512,
    /// #     seed: Seed(1), stream: "example",
    /// # };
    /// let (whole, config) = Spec::default().check(&site)?; // a buffer of 8 packets
    /// let mut queue = Queue::new(whole.room.limit, Fcfs, Faba::new(config, Seed(1).stream("example")));
    /// queue.enqueue(Packet::new(0, 512, 7.into(), Time::ZERO), Time::ZERO, &mut Ignore);
    ///
    /// let balance = queue.dropper().balance(queue.buffer());
    /// assert_eq!(balance.buckets, 7 * TOKEN);
    /// assert_eq!(balance.queue, TOKEN);
    /// assert_eq!(balance.sum(), 8 * TOKEN);
    /// # Ok::<(), fairwire_laws::BadParameter>(())
    /// ```
    pub fn balance(&self, buffer: &Buffer) -> Balance {
        Balance {
            buckets: self.accounts.sum(),
            pool: self.accounts.pool(),
            queue: self.config.given.measure.price_of_all(buffer) - self.lent,
        }
    }

    /// The buckets, for tests and pictures.
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    #[inline]
    fn payer(&self, packet: &Packet) -> FlowHash {
        match self.config.given.share_between {
            Share::Flows => packet.flow,
            Share::Classes => FlowHash(packet.class.into()),
        }
    }

    #[inline]
    fn open(&mut self, payer: FlowHash, class: u32) -> usize {
        if self.accounts.is_full() {
            let unlucky = self.rng.below(self.accounts.len() as u32) as usize;
            self.accounts.delete(unlucky);
        }
        self.accounts.create(payer, class)
    }

    #[inline]
    fn is_free(&self, packet: &Packet, buffer: &Buffer) -> bool {
        let Config { free_below, given: Checked { measure, .. }, .. } = self.config;
        free_below > 0 && measure.price_of_all(buffer) + measure.price(packet) <= free_below
    }

    #[inline]
    fn charge(&mut self, packet: &Packet) {
        let (payer, price) = (self.payer(packet), self.config.given.measure.price(packet));
        if core::mem::take(&mut self.is_lent) {
            self.lent += price;
            return;
        }
        // Push-outs may have refilled buckets, and so moved or deleted the arrival's bucket.
        let bucket = if self.accounts.is_at(self.arrival, payer) {
            Some(self.arrival)
        } else {
            self.accounts.find(payer)
        };
        match bucket {
            Some(bucket) => self.accounts.take(bucket, price),
            // The arrival's bucket became overfull and was deleted. Its tokens are in the pool, so
            // the pool pays.
            None => self.accounts.take_from_pool(price),
        }
    }

    #[inline]
    fn refill(&mut self, packet: &Packet, buffer: &Buffer) {
        let (price, queue) =
            (self.config.given.measure.price(packet), self.config.given.measure.price_of_all(buffer));
        self.departures += 1;
        let paid = price.min(self.lent);
        self.lent -= paid;
        self.accounts.give_to_pool(price - paid);
        // A packet of no bytes costs nothing, but tokens are still dealt out.
        let quantum = price.max(TOKEN);
        match self.config.given.beta_rule {
            BetaRule::Abs => self.deal(queue, quantum),
            BetaRule::LiteralFloor | BetaRule::LiteralTrunc => self.deal_as_printed(queue, quantum),
        }
    }

    #[inline]
    fn deal(&mut self, queue: i64, quantum: i64) {
        let steps = steps(self.accounts.pool().abs(), queue, quantum, self.config.given.beta_max);
        self.above_two += u64::from(steps > 2);
        for _ in 0..steps {
            let pool = self.accounts.pool();
            if pool.abs() < TOKEN || self.accounts.is_empty() {
                return;
            }
            self.step(pool > 0, pool.abs().min(quantum));
        }
    }

    fn deal_as_printed(&mut self, queue: i64, quantum: i64) {
        let steps = self.printed_steps(queue.max(quantum));
        self.above_two += u64::from(steps > 2);
        for _ in 0..steps {
            if self.accounts.is_empty() {
                return;
            }
            let surplus = self.accounts.pool() > 0;
            self.step(surplus, quantum);
        }
    }

    #[inline]
    fn step(&mut self, surplus: bool, chunk: i64) {
        let bucket = self.accounts.draw(&mut self.rng);
        let amount = self.accounts.portion(bucket, chunk);
        if surplus {
            self.accounts.fill(bucket, amount);
            self.moves += 1;
        } else if self.accounts.tokens(bucket) >= amount {
            self.accounts.grab(bucket, amount);
            self.moves += 1;
        }
        if self.accounts.is_overfull(bucket) {
            self.accounts.delete(bucket);
        }
    }

    /// sigma/Q + 1 as the paper prints it; 0 if not positive.
    fn printed_steps(&self, queue: i64) -> u32 {
        let pool = self.accounts.pool();
        let quotient = match self.config.given.beta_rule {
            BetaRule::LiteralFloor => pool.div_euclid(queue),
            BetaRule::Abs | BetaRule::LiteralTrunc => pool / queue,
        };
        (quotient + 1).clamp(0, i64::from(self.config.given.beta_max)) as u32
    }
}

impl Dropper for Faba {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, _: Time) -> Verdict {
        let (payer, is_free) = (self.payer(packet), self.is_free(packet, buffer));
        self.is_lent = false;
        let Some(bucket) = self.accounts.find(payer) else {
            if is_free {
                self.is_lent = true;
                return Verdict::Pass;
            }
            // A packet that does not fit opens no bucket, since `victim` will refuse it. A packet
            // that fits opens a full bucket, so it passes.
            if buffer.fits(packet.len) {
                self.arrival = self.open(payer, packet.class);
            }
            return Verdict::Pass;
        };
        self.arrival = bucket;
        self.accounts.follow(bucket, packet.class);
        if self.was_idle && core::mem::take(&mut self.was_idle) && buffer.is_empty() {
            self.accounts.top_up(bucket);
        }
        self.accounts.gather(bucket);
        if self.accounts.tokens(bucket) <= 0 {
            self.is_lent = is_free;
            return if is_free { Verdict::Pass } else { Verdict::Drop(Cause::NoTokens) };
        }
        if is_free {
            return Verdict::Pass;
        }
        self.accounts.verdict(bucket, &mut self.rng)
    }

    #[inline]
    fn tracked(&mut self, packet: &Packet, _: FlowKey, inside: bool, buffer: &Buffer) {
        if inside {
            self.charge(packet);
        } else {
            self.refill(packet, buffer);
        }
    }

    fn idle(&mut self, _: Time) {
        self.was_idle = self.config.given.idle_refill;
    }

    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        self.accounts.set_weight(class, weight)
    }

    fn retune(&mut self, fresh: &Self, _: Time) -> bool {
        let shape = |of: &Config| (of.given.measure, of.given.share_between, of.given.choice, of.max_flows);
        let takes = shape(&self.config) == shape(&fresh.config) && self.accounts.retune(&fresh.accounts);
        if takes {
            self.config.clone_from(&fresh.config);
        }
        takes
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let tokens = |raw: f64| raw / TOKEN as f64;
        probe.gauge("flows", Unit::Flows, self.accounts.len() as f64);
        probe.gauge("pool", Unit::Tokens, tokens(self.accounts.pool() as f64));
        probe.gauge("height", Unit::Tokens, tokens(self.accounts.height() as f64));
        if self.config.free_below > 0 {
            probe.gauge("lent", Unit::Tokens, tokens(self.lent as f64));
        }
        let mean = if self.departures == 0 { 0.0 } else { self.moves as f64 / self.departures as f64 };
        probe.gauge("moves_per_departure", Unit::One, mean);
        // From these totals a sampler can compute moves per departure since its previous sample.
        probe.gauge("departures", Unit::Packets, self.departures as f64);
        probe.gauge("moves", Unit::One, self.moves as f64);
        probe.gauge("departures_above_two_moves", Unit::Packets, self.above_two as f64);
    }
}
