//! Normal jitter, with or without a correlation from packet to packet.

use core::f64::consts::TAU;
use fairwire_core::{Duration, Jitter, Rng};

/// Jitter with a normal distribution; a negative value counts as zero.
///
/// With a correlation rho, each normal value is rho times its predecessor plus sqrt(1 - rho^2)
/// times a fresh value. So rho changes neither mean nor deviation, and packets k apart have the
/// correlation rho^k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normal {
    mean: Duration,
    deviation: Duration,
    correlation: f64,
}

impl Normal {
    /// `None` unless the correlation is from 0 to below 1.
    pub fn new(mean: Duration, deviation: Duration, correlation: f64) -> Option<Self> {
        (0.0..1.0).contains(&correlation).then_some(Normal { mean, deviation, correlation })
    }
}

impl Jitter for Normal {
    fn draw(&self, rng: &mut Rng) -> Duration {
        self.draw_after(&mut None, rng)
    }

    fn draw_after(&self, memory: &mut Option<f64>, rng: &mut Rng) -> Duration {
        // G. E. P. Box and M. E. Muller, Annals of Mathematical Statistics 29, 1958.
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - rng.uniform()));
        let fresh = radius * libm::cos(TAU * rng.uniform());
        let rho = self.correlation;
        let value = memory.map_or(fresh, |last| rho * last + libm::sqrt(1.0 - rho * rho) * fresh);
        *memory = Some(value);
        Duration::from_secs_f64(self.mean.secs() + value * self.deviation.secs())
    }

    fn correlation(&self) -> f64 {
        self.correlation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::{Fate, Seed, Time, Wire, WireLaw};
    use std::sync::Arc;
    use std::vec::Vec;

    /// The delay of each packet, in ms.
    fn taken(normal: Normal, overtakes: bool) -> Vec<f64> {
        let law = WireLaw { jitter: Some(Arc::new(normal)), overtakes, ..WireLaw::default() };
        let mut wire = Wire::new(law, Seed(1), "wire");
        let sent = |packet: u64| Time::ZERO + Duration::from_ms(20 * packet);
        let mut last = Time::ZERO;
        let takes = |packet| {
            let Fate::Arrives { at, .. } = wire.carry(sent(packet), Duration::ZERO) else {
                panic!("nothing is lost")
            };
            assert!(overtakes || at >= last, "none overtakes");
            last = at;
            at.since(sent(packet)).seconds() * 1e3
        };
        (0..100_000).map(takes).collect()
    }

    fn moments(values: &[f64], lag: usize) -> (f64, f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        let shared = values.iter().zip(&values[lag..]).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>() / n;
        (mean, variance.sqrt(), shared / variance)
    }

    #[test]
    fn a_correlation_changes_neither_the_mean_nor_the_deviation() {
        for rho in [0.0, 0.25, 0.9] {
            let normal = Normal::new(Duration::from_ms(300), Duration::from_ms(15), rho).expect("below 1");
            let taken = taken(normal, true);
            let (mean, deviation, lag_1) = moments(&taken, 1);
            // Each bound is at least 2.4 standard errors, which are at most about 0.2 ms for the
            // mean, 0.1 ms for the deviation and 0.004 for a correlation.
            assert!((mean - 300.0).abs() < 0.5, "{rho}: {mean}");
            assert!((deviation - 15.0).abs() < 0.3, "{rho}: {deviation}");
            assert!((lag_1 - rho).abs() < 0.03, "{rho}: {lag_1}");
            assert!((moments(&taken, 3).2 - rho * rho * rho).abs() < 0.03, "{rho}");
        }
    }

    #[test]
    fn no_delay_is_negative_and_the_order_is_kept() {
        let normal = Normal::new(Duration::from_ms(60), Duration::from_ms(30), 0.25).expect("below 1");
        let at_once = taken(normal, true).into_iter().filter(|ms| *ms == 0.0).count();
        // Draws more than 2 standard deviations below the mean, 2.275 %, give a delay of 0. The
        // range is 2275 +- 4 standard deviations of at most 61.
        assert!((2_030..2_520).contains(&at_once), "{at_once}");
        assert_eq!(taken(normal, false).len(), 100_000);
        assert_eq!(
            [-0.1, 1.0, 1.5, f64::NAN].map(|rho| Normal::new(Duration::ZERO, Duration::ZERO, rho)),
            [None; 4]
        );
    }
}
