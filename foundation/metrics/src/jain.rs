//! Jain's fairness index.
//!
//! Source: Jain, Chiu and Hawe, *A Quantitative Measure of Fairness*, DEC-TR-301, 1984.

/// Jain's index of `rates`: (sum r)^2 / (n sum r^2), from 1/n (one flow has everything) to 1 (all
/// are equal or zero, or there are none).
pub fn jain(rates: &[f64]) -> f64 {
    jain_of(rates.iter().copied())
}

/// [`jain`] of an iterator of rates.
pub fn jain_of(rates: impl Iterator<Item = f64>) -> f64 {
    index(rates)
}

/// The rate of one flow, and its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighted {
    /// The rate, in a unit that all flows share.
    pub rate: f64,
    /// The weight, above zero.
    pub weight: f64,
}

/// Jain's index of the rates divided by their weights: 1 if all rates are in proportion to their
/// weights.
///
/// # Panics
/// If a weight is not above zero.
pub fn weighted(flows: &[Weighted]) -> f64 {
    index(flows.iter().map(|flow| {
        assert!(flow.weight > 0.0, "a weight of {} is not above zero", flow.weight);
        flow.rate / flow.weight
    }))
}

fn index(rates: impl Iterator<Item = f64>) -> f64 {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for rate in rates {
        n += 1.0;
        sum += rate;
        squares += rate * rate;
    }
    if squares == 0.0 { 1.0 } else { sum * sum / (n * squares) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_goodputs_of_faba_table_2_give_its_indices() {
        // Kamra et al. 2004, Table 2. The paper prints 0.99325 and 0.99743, truncated, not rounded.
        let fred = [3401.94, 2910.18, 3641.26, 3518.34];
        let faba = [4059.04, 4109.35, 4012.97, 3605.87];
        assert_eq!((jain(&fred) * 1e5).round(), 99_326.0);
        assert_eq!((jain(&faba) * 1e5).round(), 99_744.0);
    }

    #[test]
    fn equal_rates_give_one_and_a_single_winner_gives_one_over_n() {
        assert_eq!(jain(&[3.0; 7]), 1.0);
        assert_eq!(jain(&[0.0, 0.0, 5.0, 0.0]), 0.25);
    }

    #[test]
    fn rates_of_zero_are_equal() {
        assert_eq!(jain(&[]), 1.0);
        assert_eq!(jain(&[0.0, 0.0]), 1.0);
    }

    #[test]
    fn rates_in_proportion_to_their_weights_are_fair() {
        let flows = [Weighted { rate: 2.0, weight: 1.0 }, Weighted { rate: 6.0, weight: 3.0 }];
        assert_eq!(weighted(&flows), 1.0);
        assert_eq!(jain(&[2.0, 6.0]), 0.8);
    }
}
