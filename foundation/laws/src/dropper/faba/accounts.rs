//! FABA's token accounts: one bucket per active flow, and a pool. A bucket's height is the number
//! of tokens in the full bucket. All amounts are in units of 2^-20 token.

use crate::dropper::faba::shares::Shares;
use crate::dropper::faba::{Config, Profile};
use fairwire_core::{FlowHash, FlowTable, Rng, SetWeightError, Verdict, Weight};

/// The buckets, their index, and the pool.
#[derive(Debug)]
pub struct Accounts {
    /// T.
    total: i64,
    /// sigma.
    pool: i64,
    /// The cached [`height`](Self::height), which needs a division.
    height: i64,
    /// With equal weights, a packet passes without a random draw if its flow's bucket holds more
    /// than this.
    safe: i64,
    profile: Profile,
    buckets: FlowTable<i64>,
    /// `None` if all weights are equal.
    shares: Option<Shares>,
}

impl Accounts {
    pub(super) fn new(config: &Config) -> Self {
        let (total, capacity) = (config.total, config.max_flows as usize);
        let shares =
            || Shares::new(config.weights.clone(), config.heaviest, config.given.choice, total, capacity);
        let mut accounts = Accounts {
            total,
            pool: total,
            height: 0,
            safe: 0,
            profile: config.profile,
            buckets: FlowTable::new(capacity),
            shares: (!config.weights.is_equal()).then(shares),
        };
        accounts.resize();
        accounts
    }

    #[inline]
    fn resize(&mut self) {
        // `total` is not negative, and an unsigned division is faster.
        let (total, flows) = (self.total as u64, self.buckets.len().max(1) as u64);
        self.height = ((total / flows).cast_signed()).max(1);
        self.safe = self.profile.safe(self.height);
    }

    /// Takes over the parameters of `fresh`. If the weights differ, it changes nothing and returns
    /// false.
    pub(super) fn retune(&mut self, fresh: &Accounts) -> bool {
        match (&mut self.shares, &fresh.shares) {
            (None, None) => {}
            (Some(shares), Some(fresh)) if shares.are_like(fresh) => shares.retune(fresh),
            _ => return false,
        }
        self.pool += fresh.total - self.total;
        (self.total, self.profile) = (fresh.total, fresh.profile);
        self.resize();
        true
    }

    /// T: the number of all tokens, in units of 2^-20 token.
    pub fn total(&self) -> i64 {
        self.total
    }

    /// sigma: the pool, in units of 2^-20 token; negative if the buckets got more than the pool
    /// held.
    #[inline]
    pub fn pool(&self) -> i64 {
        self.pool
    }

    /// L = T/N, rounded down, in units of 2^-20 token: the height of a bucket or, with weights, the
    /// mean height. T if there are no buckets.
    #[inline]
    pub fn height(&self) -> i64 {
        self.height
    }

    /// N: the number of flows with buckets.
    #[inline]
    pub fn len(&self) -> usize {
        self.buckets.len()
    }

    /// True if there are no buckets.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// True if there is no room for another bucket.
    pub fn is_full(&self) -> bool {
        self.buckets.is_full()
    }

    /// The sum of all buckets, in units of 2^-20 token. O(N); for tests only.
    pub fn sum(&self) -> i64 {
        self.buckets.iter().map(|(_, tokens)| tokens).sum()
    }

    /// The tokens in the bucket of `flow`, in units of 2^-20 token.
    pub fn of(&self, flow: FlowHash) -> Option<i64> {
        self.find(flow).map(|bucket| self.tokens(bucket))
    }

    /// The height of the bucket of `flow`, in units of 2^-20 token.
    pub fn height_of(&self, flow: FlowHash) -> Option<i64> {
        self.find(flow).map(|bucket| self.height_at(bucket))
    }

    #[inline]
    pub(super) fn find(&self, flow: FlowHash) -> Option<usize> {
        self.buckets.find(flow)
    }

    #[inline]
    pub(super) fn is_at(&self, place: usize, flow: FlowHash) -> bool {
        self.buckets.is_at(flow, place)
    }

    #[inline]
    pub(super) fn tokens(&self, bucket: usize) -> i64 {
        *self.buckets.value(bucket)
    }

    #[inline]
    fn height_at(&self, bucket: usize) -> i64 {
        match &self.shares {
            None => self.height(),
            Some(shares) => shares.height(bucket),
        }
    }

    /// Judges a packet whose flow has `bucket`. The bucket must hold more than zero tokens.
    #[inline]
    pub(super) fn verdict(&self, bucket: usize, rng: &mut Rng) -> Verdict {
        let tokens = self.tokens(bucket);
        let passes = self.shares.is_none() && tokens > self.safe;
        if passes { Verdict::Pass } else { self.profile.verdict(tokens, self.height_at(bucket), rng) }
    }

    /// True if `bucket` is above its height. Tokens are integers, so rounding T/N down changes
    /// nothing.
    #[inline]
    pub(super) fn is_overfull(&self, bucket: usize) -> bool {
        self.tokens(bucket) > self.height_at(bucket)
    }

    #[inline]
    pub(super) fn draw(&self, rng: &mut Rng) -> usize {
        match &self.shares {
            None => rng.below(self.buckets.len() as u32) as usize,
            Some(shares) => shares.draw(rng),
        }
    }

    /// The amount to move to or from the drawn `bucket`: `chunk`. With weights and uniform draws,
    /// `chunk` is multiplied by the bucket's weight over the mean weight.
    #[inline]
    pub(super) fn portion(&self, bucket: usize, chunk: i64) -> i64 {
        match &self.shares {
            None => chunk,
            Some(shares) => shares.portion(bucket, chunk),
        }
    }

    #[inline]
    pub(super) fn create(&mut self, flow: FlowHash, class: u32) -> usize {
        let bucket = self.buckets.insert(flow, 0);
        if let Some(shares) = &mut self.shares {
            shares.push(class);
        }
        self.resize();
        let height = self.height_at(bucket);
        *self.buckets.value_mut(bucket) = height;
        self.pool -= height;
        bucket
    }

    #[inline]
    pub(super) fn delete(&mut self, bucket: usize) {
        self.pool += self.buckets.remove(bucket);
        if let Some(shares) = &mut self.shares {
            shares.swap_remove(bucket);
        }
        self.resize();
    }

    pub(super) fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        self.shares.as_mut().ok_or(SetWeightError::NoWeights)?.set_weight(class, weight)
    }

    #[inline]
    pub(super) fn follow(&mut self, bucket: usize, class: u32) {
        if let Some(shares) = &mut self.shares {
            shares.follow(bucket, class);
        }
    }

    #[inline]
    pub(super) fn gather(&mut self, bucket: usize) {
        if self.is_overfull(bucket) {
            let height = self.height_at(bucket);
            let tokens = self.buckets.value_mut(bucket);
            self.pool += *tokens - height;
            *tokens = height;
        }
    }

    /// Fills `bucket` up to its height from the pool, which may become negative.
    pub(super) fn top_up(&mut self, bucket: usize) {
        let missing = (self.height_at(bucket) - self.tokens(bucket)).max(0);
        self.fill(bucket, missing);
    }

    #[inline]
    pub(super) fn take(&mut self, bucket: usize, price: i64) {
        *self.buckets.value_mut(bucket) -= price;
    }

    pub(super) fn take_from_pool(&mut self, price: i64) {
        self.pool -= price;
    }

    #[inline]
    pub(super) fn give_to_pool(&mut self, price: i64) {
        self.pool += price;
    }

    #[inline]
    pub(super) fn fill(&mut self, bucket: usize, amount: i64) {
        self.pool -= amount;
        *self.buckets.value_mut(bucket) += amount;
    }

    #[inline]
    pub(super) fn grab(&mut self, bucket: usize, amount: i64) {
        self.pool += amount;
        *self.buckets.value_mut(bucket) -= amount;
    }
}
