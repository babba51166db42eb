//! Means over runs with 95 % confidence intervals.
//!
//! Source: Law, *Simulation Modeling and Analysis*, 5th edition, 2015, sections 4.5 (one mean) and
//! 10.2.1 (paired runs).

use crate::record::Estimate;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The mean of independent runs with its 95 % Student-t interval; `None` without runs.
pub fn estimate(runs: &[f64]) -> Option<Estimate> {
    if runs.is_empty() {
        return None;
    }
    let mean = runs.iter().sum::<f64>() / runs.len() as f64;
    Some(Estimate {
        mean,
        half_width_95: (runs.len() > 1).then(|| half_width_95(runs, mean)),
        min: runs.iter().copied().fold(f64::INFINITY, f64::min),
        max: runs.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    })
}

/// The mean difference, first minus second, of pairs of runs with the same seed, and its 95 %
/// interval; `None` without runs.
///
/// "A is better than B" holds at the 95 % level if the interval excludes zero.
pub fn paired_difference(runs: &[(f64, f64)]) -> Option<Estimate> {
    let differences: Vec<f64> = runs.iter().map(|(first, second)| first - second).collect();
    estimate(&differences)
}

/// Wilson's 95 % interval of a probability, from `successes` in `draws` independent trials; `None`
/// without trials. The interval is within 0 to 1, and correct near these bounds.
///
/// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", J.
/// Am. Stat. Assoc. 22, 1927.
pub fn proportion(successes: usize, draws: usize) -> Option<[f64; 2]> {
    // The 97.5 % quantile of the normal distribution.
    const Z: f64 = 1.959_963_984_540_054;
    let (p, n) = (successes as f64 / draws as f64, draws as f64);
    let centre = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / (1.0 + Z * Z / n);
    (draws > 0).then(|| [(centre - half).max(0.0), (centre + half).min(1.0)])
}

fn half_width_95(runs: &[f64], mean: f64) -> f64 {
    let n = runs.len() as f64;
    let variance = runs.iter().map(|run| (run - mean) * (run - mean)).sum::<f64>() / (n - 1.0);
    let t = StudentsT::new(0.0, 1.0, n - 1.0).expect("one degree of freedom or more").inverse_cdf(0.975);
    t * (variance / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_student() {
        // The half width is t(0.975, 9) × s / sqrt(10) = 2.26216 × 3.02765 / sqrt(10).
        let runs: Vec<f64> = (1..=10).map(f64::from).collect();
        let actual = estimate(&runs).unwrap();
        assert_eq!((actual.mean, actual.min, actual.max), (5.5, 1.0, 10.0));
        // An error of 1e-5 in t changes the half width by about 1e-5.
        assert!((actual.half_width_95.unwrap() - 2.165_85).abs() < 1e-5, "{actual:?}");
    }

    #[test]
    fn the_interval_of_a_share_is_that_of_wilson() {
        // By hand, for z = 1.96: the interval of 8 successes in 10 trials is 0.71674 ± 0.22658.
        let [low, high] = proportion(8, 10).unwrap();
        assert!((low - 0.49016).abs() < 1e-4 && (high - 0.94332).abs() < 1e-4, "{low} {high}");
        let [low, high] = proportion(0, 16).unwrap();
        assert!(low == 0.0 && (high - 0.19361).abs() < 1e-4, "{low} {high}");
        assert_eq!(proportion(0, 0), None);
    }

    #[test]
    fn two_runs_have_a_very_wide_interval() {
        // The half width is t(0.975, 1) × s / sqrt(2) = 12.7062 × 0.5.
        let actual = estimate(&[1.0, 2.0]).unwrap();
        assert!((actual.half_width_95.unwrap() - 6.3531).abs() < 1e-4, "{actual:?}");
    }

    #[test]
    fn one_run_has_no_interval_and_none_has_no_mean() {
        assert_eq!(estimate(&[4.0]), Some(Estimate { mean: 4.0, half_width_95: None, min: 4.0, max: 4.0 }));
        assert_eq!(estimate(&[]), None);
    }

    #[test]
    fn equal_runs_have_an_interval_of_zero_width() {
        assert_eq!(estimate(&[0.5; 4]).unwrap().half_width_95, Some(0.0));
    }

    #[test]
    fn pairing_removes_the_common_part() {
        let actual = paired_difference(&[(11.0, 10.0), (51.0, 50.0), (31.0, 30.0)]).unwrap();
        assert_eq!((actual.mean, actual.half_width_95), (1.0, Some(0.0)));
    }
}
