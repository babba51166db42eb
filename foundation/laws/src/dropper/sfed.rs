//! SFED: selective fair early detection.
//!
//! # What it does
//! Each active flow has a bucket of tokens, and all buckets have the same height. Buckets, queue
//! and pool together hold T tokens. An entering packet takes a token from its flow's bucket. A
//! departing packet returns the token to the pool, which is dealt out to the buckets in turn. The
//! emptier a flow's bucket, the likelier its packets are dropped.
//!
//! Packets of a flow without tokens are always dropped, whatever `ecn` says. In packet mode a
//! buffer in bytes counts as the number of typical packets that it holds.
//!
//! # Why
//! SFED is the predecessor of FABA, which approximates it in O(1) by random draws. In the paper's
//! table 1, SFED is fairer.
//!
//! # State and cost
//! 24 to 32 bytes for each flow whose bucket is not full, up to `max_flows`. O(N) for the first
//! packet of a flow, with N buckets. A departure deals out the pool, one token at a time: usually a
//! single token, but up to T after a deletion. With a million tokens, one call may take
//! milliseconds.
//!
//! # Source (section, equation)
//! A. Kamra, H. Saran, S. Sen and R. Shorey, "Fair adaptive bandwidth allocation: a rate control
//! based active queue management discipline", Computer Networks, 2004: section 4.1, with the
//! profile of section 4, figure 3.
//!
//! # Where we differ
//! - The pool starts with T tokens; the paper gives no initial value. With an empty pool, the
//!   first flow would start in debt.
//! - A deleted bucket returns its contents to the pool, so no token is created or lost. The paper
//!   returns the bucket's height.
//! - A packet that cannot enter creates no bucket and takes no token. Section 4.1 (4) says
//!   "enqueued".
//! - A bucket may run a debt of less than one token, or of less than one packet in byte mode.
//!   Otherwise no packet would be admitted once flows outnumber tokens.
//! - In byte mode, each turn gives a bucket as many tokens as the departing packet had bytes, or
//!   the whole pool if that is less.
//! - Beyond the maximum number of buckets, a new bucket replaces the bucket whose turn is next.
//!
//! # Example
//! ```toml
//! [discipline.sfed]
//! buffer = "390 packets"
//! lambda2 = 0.3
//! ```

use crate::about::{About, Family};
use crate::dropper::faba::tokens::Supply;
use crate::dropper::faba::{Balance, Knees, Profile, TOKEN};
use crate::error::{BadParameter, Of as _};
use crate::memory;
use crate::part::Part;
use crate::queueing::{CheckedQueue, Queueing};
use crate::role;
use crate::site::Site;
use crate::spec::Measure;
use alloc::boxed::Box;
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, FlowHash, FlowKey, FlowTable, Packet, Probe, Rng, Time, Unit, Verdict,
};
use fairwire_parameters::parameters;

/// This discipline's catalogue entry.
pub const ABOUT: About = About {
    family: Family::FairDropping,
    summary: "token buckets of one height, refilled in turn by departures, decide whom to drop",
    state: "32 bytes per active flow with its index entry, bounded by `max_flows`",
    cost: "O(active flows) for a flow's first packet, O(1) amortised otherwise; O(T) at worst",
    marks: true,
    source: "Kamra, Saran, Sen, Shorey 2004, section 4.1",
};

const NAME: &str = "sfed";

/// Parameters of `sfed`.
#[parameters(gated, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
    /// The unit of a token: a packet or a byte.
    #[parameter(is = role::MEASURE, default = Measure::Packets, source = "Section 4.2, \"Operating in byte mode\".")]
    pub measure: Option<Measure>,
    /// The number of tokens, and the number of flows they serve.
    #[parameter(flatten)]
    pub supply: Supply,
    /// The profile.
    #[parameter(flatten)]
    pub knees: Knees,
}

impl Part for Spec {
    fn table_bytes(&self, packets: u64) -> u64 {
        memory::count(self.supply.max_flows, memory::flows(packets)) * memory::BUCKET
    }
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The unit of a token.
    pub measure: Measure,
    /// T: the number of all tokens, in units of 2^-20 token.
    pub total: i64,
    /// The probability of a drop as a function of a bucket's fill.
    pub profile: Profile,
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
        Ok((queue, Config { measure, total, profile: self.knees.check(NAME)?, max_flows }))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(Sfed::new(config, site.rng(NAME))))
    }
}

/// The dropper of [SFED](self).
#[derive(Debug)]
pub struct Sfed {
    config: Config,
    rng: Rng,
    buckets: FlowTable<i64>,
    /// sigma.
    pool: i64,
    height: i64,
    /// The index of the bucket whose turn is next. An index past the end means the first bucket.
    turn: usize,
    /// The index of the bucket of the arrival being judged. It usually saves `tracked` a lookup.
    arrival: usize,
}

impl Sfed {
    /// An SFED that draws from `rng`.
    pub fn new(config: Config, rng: Rng) -> Self {
        let buckets = FlowTable::new(config.max_flows as usize);
        Sfed { config, rng, buckets, pool: config.total, height: config.total, turn: 0, arrival: 0 }
    }

    /// The terms of the invariant: sum of all buckets + pool + queue = T, exactly.
    pub fn balance(&self, buffer: &Buffer) -> Balance {
        Balance {
            buckets: self.buckets.iter().map(|(_, tokens)| tokens).sum(),
            pool: self.pool,
            queue: self.config.measure.price_of_all(buffer),
        }
    }

    /// N: the number of flows with buckets.
    pub fn flows(&self) -> usize {
        self.buckets.len()
    }

    /// L = T/N: the height of a bucket, in units of 2^-20 token, rounded down. Without buckets it
    /// is T.
    pub fn height(&self) -> i64 {
        self.height
    }

    /// The tokens in the bucket of `flow`, in units of 2^-20 token.
    pub fn tokens_of(&self, flow: FlowHash) -> Option<i64> {
        self.buckets.find(flow).map(|bucket| *self.buckets.value(bucket))
    }

    /// Adds a full bucket (section 4.1 (4)). This lowers the height of all buckets. The others
    /// return their excess tokens to the pool.
    fn create(&mut self, flow: FlowHash) -> usize {
        if self.buckets.is_full() {
            self.delete(self.next_turn());
        }
        let bucket = self.buckets.insert(flow, 0);
        self.resize();
        *self.buckets.value_mut(bucket) = self.height;
        self.pool -= self.height;
        for other in 0..bucket {
            let tokens = self.buckets.value_mut(other);
            let excess = (*tokens - self.height).max(0);
            *tokens -= excess;
            self.pool += excess;
        }
        bucket
    }

    /// Deletes a bucket (section 4.1 (5)). The last bucket moves to its index.
    fn delete(&mut self, bucket: usize) {
        self.pool += self.buckets.remove(bucket);
        self.resize();
    }

    fn resize(&mut self) {
        self.height = (self.config.total / (self.buckets.len().max(1) as u64).cast_signed()).max(1);
    }

    fn next_turn(&self) -> usize {
        if self.turn < self.buckets.len() { self.turn } else { 0 }
    }

    /// Section 4.1 (3): deals whole tokens from the pool to the buckets in turn.
    fn distribute(&mut self, quantum: i64) {
        while self.pool >= TOKEN && !self.buckets.is_empty() {
            let (bucket, chunk) = (self.next_turn(), self.pool.min(quantum));
            self.pool -= chunk;
            let tokens = self.buckets.value_mut(bucket);
            *tokens += chunk;
            if *tokens >= self.height {
                self.delete(bucket);
                self.turn = bucket;
            } else {
                self.turn = bucket + 1;
            }
        }
    }
}

impl Dropper for Sfed {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, _: Time) -> Verdict {
        let Some(bucket) = self.buckets.find(packet.flow) else {
            // A new bucket is full, so the packet passes. A packet that does not fit creates no
            // bucket, and `victim` refuses it.
            if buffer.fits(packet.len) {
                self.arrival = self.create(packet.flow);
            }
            return Verdict::Pass;
        };
        self.arrival = bucket;
        let tokens = *self.buckets.value(bucket);
        if tokens <= 0 {
            return Verdict::Drop(Cause::NoTokens);
        }
        self.config.profile.verdict(tokens, self.height, &mut self.rng)
    }

    #[inline]
    fn tracked(&mut self, packet: &Packet, _: FlowKey, inside: bool, _: &Buffer) {
        let price = self.config.measure.price(packet);
        if !inside {
            self.pool += price;
            // A packet of no bytes has the price 0, but the quantum must be above 0.
            return self.distribute(price.max(TOKEN));
        }
        // Push-outs that made room may have refilled buckets, and moved or deleted the arrival's
        // bucket.
        let at_place = self.buckets.is_at(packet.flow, self.arrival).then_some(self.arrival);
        match at_place.or_else(|| self.buckets.find(packet.flow)) {
            Some(bucket) => *self.buckets.value_mut(bucket) -= price,
            // The arrival's bucket was full and has been deleted. Its tokens went to the pool, so
            // the pool pays.
            None => self.pool -= price,
        }
    }

    fn retune(&mut self, fresh: &Self, _: Time) -> bool {
        let Config { measure, max_flows, total, .. } = fresh.config;
        if (measure, max_flows) != (self.config.measure, self.config.max_flows) {
            return false;
        }
        self.pool += total - self.config.total;
        self.config = fresh.config;
        self.resize();
        true
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let tokens = |raw: i64| raw as f64 / TOKEN as f64;
        probe.gauge("flows", Unit::Flows, self.buckets.len() as f64);
        probe.gauge("pool", Unit::Tokens, tokens(self.pool));
        probe.gauge("height", Unit::Tokens, tokens(self.height));
    }
}
