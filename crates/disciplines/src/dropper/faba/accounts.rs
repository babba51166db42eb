//! FABA's token accounts: one bucket per active flow, a pool, and the height that all buckets share.
//!
//! Tokens are integers of 2^-20 token, so they are conserved exactly. A bucket is found by flow through a hash index, and
//! at random through its place in the table; one that goes leaves its place to the last.

use fairwire_core::{FlowHash, FlowTable};

/// One token, in the units of all accounts.
pub const TOKEN: i64 = 1 << 20;

/// The parts of FABA's invariant, in units of 2^-20 token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// The sum of x over all buckets.
    pub buckets: i64,
    /// sigma: what the pool holds; a deficit is negative.
    pub pool: i64,
    /// Q: one token for each packet that waits.
    pub queue: i64,
}

impl Balance {
    /// What must equal T.
    pub fn sum(&self) -> i64 {
        self.buckets + self.pool + self.queue
    }
}

/// The buckets, their index, and the pool.
#[derive(Debug)]
pub struct Accounts {
    total: i64,
    pool: i64,
    height: i64,
    per_height: f64,
    buckets: FlowTable<i64>,
}

impl Accounts {
    /// No buckets, room for `capacity` of them, and all of `total` (in units of 2^-20 token) in the pool.
    pub(super) fn new(total: i64, capacity: usize) -> Self {
        let buckets = FlowTable::new(capacity);
        Accounts { total, pool: total, height: total, per_height: 1.0 / total as f64, buckets }
    }

    /// T, in units of 2^-20 token.
    pub fn total(&self) -> i64 {
        self.total
    }

    /// sigma, in units of 2^-20 token; negative when more was lent to buckets than there was.
    #[inline]
    pub fn pool(&self) -> i64 {
        self.pool
    }

    /// L = T/N, in units of 2^-20 token, rounded down; T itself while there are no buckets.
    pub fn height(&self) -> i64 {
        self.height
    }

    /// N: how many flows have buckets.
    #[inline]
    pub fn len(&self) -> usize {
        self.buckets.len()
    }

    /// Are there no buckets?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// Is there no room for another bucket?
    pub fn is_full(&self) -> bool {
        self.buckets.is_full()
    }

    /// The sum of all buckets, in units of 2^-20 token. O(N): for tests.
    pub fn sum(&self) -> i64 {
        self.buckets.iter().map(|(_, tokens)| tokens).sum()
    }

    /// What the bucket of `flow` holds, in units of 2^-20 token, if it has one.
    pub fn of(&self, flow: FlowHash) -> Option<i64> {
        self.find(flow).map(|bucket| self.tokens(bucket))
    }

    /// The place of the bucket of `flow`.
    #[inline]
    pub(super) fn find(&self, flow: FlowHash) -> Option<usize> {
        self.buckets.find(flow)
    }

    /// Is the bucket of `flow` at `place`?
    #[inline]
    pub(super) fn is_at(&self, place: usize, flow: FlowHash) -> bool {
        self.buckets.is_at(flow, place)
    }

    #[inline]
    pub(super) fn tokens(&self, bucket: usize) -> i64 {
        *self.buckets.value(bucket)
    }

    /// How full a bucket is, as a part of the height.
    #[inline]
    pub(super) fn fraction(&self, bucket: usize) -> f64 {
        self.tokens(bucket) as f64 * self.per_height
    }

    #[inline]
    pub(super) fn is_overfull(&self, bucket: usize) -> bool {
        self.tokens(bucket) > self.height
    }

    /// Makes a full bucket for `flow`, which lowers the height of all.
    pub(super) fn create(&mut self, flow: FlowHash) -> usize {
        let bucket = self.buckets.insert(flow, 0);
        self.resize();
        *self.buckets.value_mut(bucket) = self.height;
        self.pool -= self.height;
        bucket
    }

    /// Returns a bucket with what it holds, which raises the height of the others.
    pub(super) fn delete(&mut self, bucket: usize) {
        self.pool += self.buckets.remove(bucket);
        self.resize();
    }

    fn resize(&mut self) {
        let flows = self.buckets.len().max(1) as i64;
        self.height = (self.total / flows).max(1);
        self.per_height = 1.0 / self.height as f64;
    }

    /// Moves what a bucket holds above the height, left by earlier falls of the height, to the pool.
    #[inline]
    pub(super) fn gather(&mut self, bucket: usize) {
        let tokens = self.buckets.value_mut(bucket);
        if *tokens > self.height {
            self.pool += *tokens - self.height;
            *tokens = self.height;
        }
    }

    /// A packet entered: a token goes from its bucket into the queue.
    #[inline]
    pub(super) fn take(&mut self, bucket: usize) {
        *self.buckets.value_mut(bucket) -= TOKEN;
    }

    /// A packet without a bucket entered: a token goes from the pool into the queue.
    pub(super) fn take_from_pool(&mut self) {
        self.pool -= TOKEN;
    }

    /// A packet left: its token goes from the queue into the pool.
    #[inline]
    pub(super) fn give_to_pool(&mut self) {
        self.pool += TOKEN;
    }

    /// A token goes from the pool into a bucket.
    #[inline]
    pub(super) fn fill(&mut self, bucket: usize) {
        self.pool -= TOKEN;
        *self.buckets.value_mut(bucket) += TOKEN;
    }

    /// A token goes back from a bucket into the pool.
    #[inline]
    pub(super) fn grab(&mut self, bucket: usize) {
        self.pool += TOKEN;
        *self.buckets.value_mut(bucket) -= TOKEN;
    }
}
