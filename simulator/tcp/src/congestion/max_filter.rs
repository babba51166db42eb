//! A filter of maxima, which BBR uses for delivery rates and for clumps of acknowledgements.

/// The maximum over the last `N` rounds. For BBRv3's rates, `N` counts cycles.
#[derive(Debug)]
pub(super) struct MaxFilter<const N: usize> {
    best: [f64; N],
    /// The round of the latest value.
    taken_in: u32,
}

impl<const N: usize> Default for MaxFilter<N> {
    fn default() -> Self {
        MaxFilter { best: [0.0; N], taken_in: 0 }
    }
}

impl<const N: usize> MaxFilter<N> {
    pub(super) fn take(&mut self, value: f64, round: u32) {
        let passed = round.wrapping_sub(self.taken_in).min(N as u32);
        for back in 0..passed {
            self.best[round.wrapping_sub(back) as usize % N] = 0.0;
        }
        let best = &mut self.best[round as usize % N];
        (*best, self.taken_in) = (best.max(value), round);
    }

    pub(super) fn has_taken_in(&self, round: u32) -> bool {
        self.taken_in.wrapping_sub(round).cast_signed() >= 0
    }

    pub(super) fn max(&self) -> f64 {
        self.best.iter().fold(0.0, |max, &value| max.max(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Seed;

    #[test]
    fn the_filter_keeps_the_greatest_of_ten_rounds() {
        let mut rng = Seed(1).stream("max filter");
        let (mut filter, mut round, mut all) = (MaxFilter::<10>::default(), 0, Vec::new());
        for _ in 0..10_000 {
            round += if rng.chance(0.02) { rng.below(25) } else { rng.below(2) };
            let rate = rng.uniform();
            filter.take(rate, round);
            all.push((round, rate));
            let recent = all.iter().rev().take_while(|(at, _)| at + 10 > round);
            assert_eq!(filter.max(), recent.fold(0.0, |max: f64, &(_, rate)| max.max(rate)));
        }
    }
}
