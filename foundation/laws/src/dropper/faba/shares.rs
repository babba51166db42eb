//! Unequal weights of FABA's buckets.

use crate::dropper::faba::Choice;
use crate::spec::WeightOf;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use fairwire_core::{Rng, SetWeightError, Weight};

/// The greatest weight. Weights are integers in units of 2^-39 of the greatest weight, so their sum
/// is exact: 2^24 weights add up to at most 2^63 units.
const HEAVIEST: f64 = (1u64 << 39) as f64;

/// The weights (gamma) of the buckets, by place, and their sum. Both count `parts`: units of 2^-39
/// of the greatest weight.
#[derive(Debug)]
pub(super) struct Shares {
    weights: WeightOf,
    parts_per_weight: f64,
    /// The maximum number of parts of a bucket, so that `sum` cannot overflow.
    max_parts: u64,
    /// True if a weight has been changed: buckets may then still have parts of an old weight.
    has_changed: bool,
    parts: Vec<u64>,
    sum: u64,
    total: f64,
    height_per_part: f64,
    /// One over the mean of all parts.
    per_mean: f64,
    draws: Option<Sums>,
}

impl Shares {
    pub(super) fn new(weights: WeightOf, heaviest: f64, choice: Choice, total: i64, capacity: usize) -> Self {
        Shares {
            weights,
            parts_per_weight: HEAVIEST / heaviest,
            max_parts: (1 << 63) / capacity.max(1) as u64,
            has_changed: false,
            parts: Vec::with_capacity(capacity),
            sum: 0,
            total: total as f64,
            height_per_part: 0.0,
            per_mean: 0.0,
            draws: (choice == Choice::Proportional).then(|| Sums::new(capacity)),
        }
    }

    pub(super) fn are_like(&self, fresh: &Shares) -> bool {
        self.weights == fresh.weights && self.parts_per_weight == fresh.parts_per_weight
    }

    pub(super) fn retune(&mut self, fresh: &Shares) {
        self.total = fresh.total;
        self.resize();
    }

    pub(super) fn push(&mut self, class: u32) {
        let parts = self.parts_of(class);
        if let Some(draws) = &mut self.draws {
            draws.add(self.parts.len(), parts);
        }
        self.parts.push(parts);
        self.sum += parts;
        self.resize();
    }

    fn parts_of(&self, class: u32) -> u64 {
        // At least one: a bucket of weight zero would never be served.
        ((self.weights.class(class) * self.parts_per_weight) as u64).max(1)
    }

    /// Sets a weight in O(1): each bucket of `class` changes when [`follow`](Self::follow) is
    /// called for it.
    pub(super) fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        self.weights.find(class)?;
        let most = self.max_parts as f64 / self.parts_per_weight;
        if weight.get() > most {
            return Err(SetWeightError::OutOfRange { weight, min: Weight::MIN.get(), max: most });
        }
        self.has_changed = true;
        self.weights.set(class, weight)
    }

    /// Gives the bucket at `place` the current weight of `class`.
    #[inline]
    pub(super) fn follow(&mut self, place: usize, class: u32) {
        if self.has_changed {
            self.set(place, self.parts_of(class));
        }
    }

    fn set(&mut self, place: usize, parts: u64) {
        let before = core::mem::replace(&mut self.parts[place], parts);
        if parts == before {
            return;
        }
        self.sum = self.sum - before + parts;
        if let Some(draws) = &mut self.draws {
            draws.take(place, before);
            draws.add(place, parts);
        }
        self.resize();
    }

    pub(super) fn swap_remove(&mut self, place: usize) {
        let parts = self.parts.swap_remove(place);
        self.sum -= parts;
        if let Some(draws) = &mut self.draws {
            draws.take(place, parts);
            if let Some(&moved) = self.parts.get(place) {
                draws.take(self.parts.len(), moved);
                draws.add(place, moved);
            }
        }
        self.resize();
    }

    fn resize(&mut self) {
        let sum = self.sum.max(1) as f64;
        self.height_per_part = self.total / sum;
        self.per_mean = self.parts.len() as f64 / sum;
    }

    /// L_i = w_i T, at least 1: the height of a bucket with the fraction w_i of all parts.
    #[inline]
    pub(super) fn height(&self, place: usize) -> i64 {
        ((self.parts[place] as f64 * self.height_per_part) as i64).max(1)
    }

    /// The tokens to move: `chunk` after a draw in proportion to weight, and `chunk` times gamma_i
    /// / mean(gamma) after a uniform draw.
    #[inline]
    pub(super) fn portion(&self, place: usize, chunk: i64) -> i64 {
        match self.draws {
            Some(_) => chunk,
            None => ((chunk as f64 * (self.parts[place] as f64 * self.per_mean) + 0.5) as i64).max(1),
        }
    }

    #[inline]
    pub(super) fn draw(&self, rng: &mut Rng) -> usize {
        match &self.draws {
            Some(draws) => draws.place(below(rng, self.sum)),
            None => rng.below(self.parts.len() as u32) as usize,
        }
    }
}

/// An unbiased uniform integer in `0..n` (Lemire 2019, as [`Rng::below`]).
#[inline]
pub(crate) fn below(rng: &mut Rng, n: u64) -> u64 {
    let mut wide = u128::from(rng.next_u64()) * u128::from(n);
    if (wide as u64) < n {
        let threshold = n.wrapping_neg() % n;
        while (wide as u64) < threshold {
            wide = u128::from(rng.next_u64()) * u128::from(n);
        }
    }
    (wide >> 64) as u64
}

/// Prefix sums, read and updated in O(log n) (Fenwick, "A new data structure for cumulative
/// frequency tables", 1994).
#[derive(Debug)]
struct Sums {
    /// Entry i is the sum over the places from i - (lowest set bit of i) to i - 1. The length is a
    /// power of two plus one.
    tree: Box<[u64]>,
}

impl Sums {
    fn new(capacity: usize) -> Self {
        Sums { tree: vec![0; capacity.max(1).next_power_of_two() + 1].into() }
    }

    fn add(&mut self, place: usize, parts: u64) {
        self.each(place, |sum| *sum += parts);
    }

    fn take(&mut self, place: usize, parts: u64) {
        self.each(place, |sum| *sum -= parts);
    }

    fn each(&mut self, place: usize, change: impl Fn(&mut u64)) {
        let mut at = place + 1;
        while at < self.tree.len() {
            change(&mut self.tree[at]);
            at += at & at.wrapping_neg();
        }
    }

    /// The first place whose prefix sum exceeds `mark`. `mark` must be below the total.
    fn place(&self, mut mark: u64) -> usize {
        let (mut at, mut step) = (0, self.tree.len() - 1);
        while step > 0 {
            if let Some(&sum) = self.tree.get(at + step)
                && sum <= mark
            {
                mark -= sum;
                at += step;
            }
            step /= 2;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Seed;

    #[test]
    fn sums_agree_with_a_plain_list_over_random_changes() {
        let (mut rng, mut sums, mut list) = (Seed(1).stream("sums"), Sums::new(13), [0u64; 13]);
        for _ in 0..20_000 {
            let (place, parts) = (rng.below(13) as usize, u64::from(rng.below(50)));
            if rng.chance(0.5) {
                sums.add(place, parts);
                list[place] += parts;
            } else {
                let parts = parts.min(list[place]);
                sums.take(place, parts);
                list[place] -= parts;
            }
            let sum: u64 = list.iter().sum();
            if sum > 0 {
                let mark = below(&mut rng, sum);
                let mut before = 0;
                let expected = list.iter().position(|parts| {
                    before += parts;
                    mark < before
                });
                assert_eq!(Some(sums.place(mark)), expected, "{mark} in {list:?}");
            }
        }
    }

    #[test]
    fn draws_below_a_large_n_are_uniform() {
        // n is three quarters of 2^64. Remainders modulo n would be twice as frequent below n / 3
        // as above it.
        let (mut rng, n) = (Seed(1).stream("below"), 3 << 62);
        let low = (0..30_000).filter(|_| below(&mut rng, n) < 1 << 62).count();
        assert!((9_700..10_300).contains(&low), "{low}"); // 10 000 +- 3.6 sd
    }
}
