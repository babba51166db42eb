//! Decides when a cell has enough seeds.

use fairwire_metrics::interval::estimate;

const FIRST: usize = 8;

/// The number of seeds for a cell, at most `max`. The cell's intervals are examined after 8 seeds,
/// and again whenever the number has grown by half. The result is the first examined number at
/// which the intervals are narrow, or at which results are still missing. So the order of the runs
/// does not matter.
pub(crate) fn seeds(
    max: usize,
    is_known: impl Fn(usize) -> bool,
    is_narrow: impl Fn(usize) -> bool,
) -> usize {
    let mut looked = FIRST.min(max);
    while looked < max && is_known(looked) && !is_narrow(looked) {
        looked = (looked + looked.div_ceil(2)).min(max);
    }
    looked
}

pub(crate) fn is_narrow(runs: &[f64], precision: f64) -> bool {
    match estimate(runs) {
        None => true, // not measured in this cell
        Some(estimate) => estimate.half_width_95.is_some_and(|half| half <= precision * estimate.mean.abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Seed;

    #[test]
    fn few_numbers_of_seeds_are_checked_up_to_the_maximum() {
        let all = |max: usize| -> Vec<usize> {
            let looked = std::cell::RefCell::new(Vec::new());
            let last = seeds(
                max,
                |_| true,
                |seeds| {
                    looked.borrow_mut().push(seeds);
                    false
                },
            );
            looked.into_inner().into_iter().chain([last]).collect()
        };
        assert_eq!(all(60), [8, 12, 18, 27, 41, 60]);
        assert_eq!(all(5), [5]);
        assert_eq!(seeds(60, |seeds| seeds <= 12, |_| false), 18, "they are to be made");
        assert_eq!(seeds(60, |_| true, |seeds| seeds >= 12), 12);
    }

    fn covered(deviation: f64, precision: f64, cells: u32) -> (f64, f64) {
        let mut rng = Seed(7).stream("normal");
        let mut normal = || (0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0; // by the central limit theorem
        let (mut hits, mut all) = (0, 0);
        for _ in 0..cells {
            let runs: Vec<f64> = (0..1000).map(|_| 1.0 + deviation * normal()).collect();
            let seeds = seeds(runs.len(), |_| true, |seeds| is_narrow(&runs[..seeds], precision));
            let estimate = estimate(&runs[..seeds]).unwrap();
            hits += u32::from((estimate.mean - 1.0).abs() <= estimate.half_width_95.unwrap());
            all += seeds;
        }
        (f64::from(hits) / f64::from(cells), all as f64 / f64::from(cells))
    }

    /// `docs/sweeps.md` has this test's figures for 20 000 cells instead of 1000.
    #[test]
    fn stopping_costs_a_few_points_of_coverage_at_most() {
        for (deviation, precision) in [(0.01, 0.01), (0.02, 0.01), (0.05, 0.01), (0.1, 0.01)] {
            let (coverage, seeds) = covered(deviation, precision, 1000);
            println!("deviation {deviation}: {coverage} with {seeds} seeds");
            // Over 1000 cells, the coverage has a standard error of 0.8 percentage points.
            assert!((0.88..0.975).contains(&coverage), "{deviation}: {coverage}");
        }
    }
}
