//! The length of a run's warm-up, by MSER-5.
//!
//! The method averages batches of five samples, and cuts where the standard error of the remaining
//! means is smallest. Source: White, Cobb and Spratt, "A comparison of five steady-state truncation
//! heuristics for simulation", Winter Simulation Conference 2000. A cut in the second half means
//! that the run is too short: White, "An effective truncation heuristic for bias reduction in
//! simulation output", Simulation 69(6), 1997.

/// Samples in a batch.
pub const BATCH: usize = 5;

/// The minimum number of batches. With fewer batches, the first half has too few means for a valid
/// cut.
const MIN_BATCHES: usize = 10;

/// The result of MSER-5 for a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// Omit this number of samples at the start.
    Samples(usize),
    /// The best cut is in the second half.
    TooShort,
}

/// The cut of `series`; `None` if `series` has fewer than 50 samples. Samples after the last
/// complete batch are ignored.
pub fn mser5(series: &[f64]) -> Option<Truncation> {
    let (batches, _) = series.as_chunks::<BATCH>();
    let means: Vec<f64> = batches.iter().map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    if means.len() < MIN_BATCHES {
        return None;
    }
    let cut = best_cut(&means);
    Some(if 2 * cut > means.len() { Truncation::TooShort } else { Truncation::Samples(cut * BATCH) })
}

/// The first cut with the smallest standard error. The last five batches always remain, because a
/// few values may agree by chance (White, Cobb and Spratt).
fn best_cut(means: &[f64]) -> usize {
    // The overall mean is subtracted first: otherwise `squares` and `sum * sum / left` could be
    // almost equal, and their difference inexact.
    let overall = means.iter().sum::<f64>() / means.len() as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (cut, mean) in means.iter().enumerate().rev() {
        let from_overall = mean - overall;
        sum += from_overall;
        squares += from_overall * from_overall;
        let left = (means.len() - cut) as f64;
        let error = (squares - sum * sum / left).max(0.0) / (left * left);
        if left >= 5.0 && error <= best.0 {
            best = (error, cut);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_definition(means: &[f64]) -> usize {
        let error = |cut: usize| {
            let rest = &means[cut..];
            let mean = rest.iter().sum::<f64>() / rest.len() as f64;
            rest.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (rest.len() as f64).powi(2)
        };
        (0..=means.len() - 5).min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap()
    }

    #[test]
    fn a_ramp_before_an_even_part_is_cut_off() {
        let series: Vec<f64> =
            (0..500).map(|i| if i < 100 { f64::from(i) / 10.0 } else { 10.0 + f64::from(i % 2) }).collect();
        assert_eq!(mser5(&series), Some(Truncation::Samples(100)));
    }

    #[test]
    fn an_even_series_is_kept_and_a_climbing_one_is_too_short() {
        let even: Vec<f64> = (0..200).map(|i| f64::from(i * 7 % 5)).collect();
        assert_eq!(mser5(&even), Some(Truncation::Samples(0)));
        let late: Vec<f64> =
            (0..200).map(|i| f64::from((i - 150).max(-1) + 150 - i).abs() * f64::from(200 - i)).collect();
        assert_eq!(mser5(&late), Some(Truncation::TooShort));
    }

    #[test]
    fn fewer_than_fifty_samples_give_no_result() {
        assert_eq!(mser5(&[1.0; 49]), None);
        assert_eq!(mser5(&[1.0; 50]), Some(Truncation::Samples(0)));
    }

    #[test]
    fn running_sums_give_the_cut_of_the_definition() {
        let mut state = 1u64;
        for length in 10..60 {
            let means: Vec<f64> = (0..length)
                .map(|i| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    1e7 + (state >> 40) as f64 - 1e7 * f64::from(-i).exp()
                })
                .collect();
            assert_eq!(best_cut(&means), by_definition(&means), "{length}");
        }
    }
}
