//! Random quantities: sizes, gaps, counts.

use fairwire_core::{Duration, Rng};
use std::f64::consts::TAU;

/// The distribution of a random quantity. Its user defines the unit: seconds, bytes, packets or
/// objects. No value is negative.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// Always this value; at least 0.
    Fixed(f64),
    /// Uniform from 0 to this value, which is above 0.
    Uniform(f64),
    /// Exponential.
    Exponential {
        /// Above 0.
        mean: f64,
    },
    /// Pareto: P\[X > x\] = (least / x)^shape, with least = mean (shape - 1) / shape.
    Pareto {
        /// Above 0.
        mean: f64,
        /// The shape, above 1; otherwise there is no mean. Up to 2 the variance is infinite.
        shape: f64,
    },
    /// Lognormal: the logarithm is normal.
    LogNormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm; at least 0.
        sigma: f64,
    },
    /// The values of a law between two bounds. A value outside is drawn again. After a hundred such
    /// values in a row, the last is moved to the nearer bound.
    Between {
        /// The law.
        law: Box<Law>,
        /// Smallest.
        min: f64,
        /// Largest; not below `min`.
        max: f64,
    },
    /// A law's draws, cut to an upper bound.
    AtMost {
        /// The law.
        law: Box<Law>,
        /// Largest.
        max: f64,
    },
    /// A law's draws minus a constant, and at least 0.
    Less {
        /// The law.
        law: Box<Law>,
        /// The amount subtracted.
        by: f64,
    },
}

/// After this number of consecutive draws outside the bounds, a law is assumed to have nearly no
/// weight inside them.
const MAX_DRAWS: u32 = 100;

impl Law {
    /// The lognormal law of a quantity with this mean and standard deviation.
    pub fn log_normal(moments: Moments) -> Law {
        let Moments { mean, deviation } = moments;
        let spread = deviation / mean;
        let variance = libm::log1p(spread * spread);
        Law::LogNormal { mu: libm::log(mean) - variance / 2.0, sigma: libm::sqrt(variance) }
    }

    /// The law's problem, if any.
    pub fn problem(&self) -> Option<&'static str> {
        let is = |good: bool, problem| if good { None } else { Some(problem) };
        match *self {
            Law::Fixed(value) => {
                is(value >= 0.0 && value.is_finite(), "a fixed value is below 0 or no number")
            }
            Law::Uniform(most) => is(most > 0.0 && most.is_finite(), "a uniform law's end is not above 0"),
            Law::Exponential { mean } => is(mean > 0.0 && mean.is_finite(), "the mean is not above 0"),
            Law::Pareto { mean, shape } => {
                let good = mean > 0.0 && mean.is_finite() && shape > 1.0 && shape.is_finite();
                is(good, "a Pareto law needs a mean above 0 and a shape above 1")
            }
            Law::LogNormal { mu, sigma } => {
                let good = mu.is_finite() && sigma >= 0.0 && sigma.is_finite();
                is(good, "a lognormal law needs a mean above 0 and a deviation of 0 or more")
            }
            Law::Between { ref law, min, max } => {
                law.problem().or_else(|| is(0.0 <= min && min <= max, "`min` is below 0 or above `max`"))
            }
            Law::AtMost { ref law, max } => law.problem().or_else(|| is(max >= 0.0, "a bound is below 0")),
            Law::Less { ref law, by } => {
                law.problem().or_else(|| is(by >= 0.0, "what is taken off is below 0"))
            }
        }
    }

    /// Prepares the law for drawing.
    ///
    /// # Panics
    /// When the law has a [`problem`](Law::problem).
    pub fn sampler(&self) -> Sampler {
        if let Some(problem) = self.problem() {
            panic!("{self:?}: {problem}");
        }
        Sampler(match *self {
            Law::Fixed(value) => Shape::Fixed(value),
            Law::Uniform(most) => Shape::Uniform(most),
            Law::Exponential { mean } => Shape::Exponential { mean },
            Law::Pareto { mean, shape } => {
                Shape::Pareto { least: mean * (shape - 1.0) / shape, power: -1.0 / shape }
            }
            Law::LogNormal { mu, sigma } => Shape::LogNormal { mu, sigma },
            Law::Between { ref law, min, max } => {
                Shape::Between { sampler: Box::new(law.sampler()), min, max }
            }
            Law::AtMost { ref law, max } => Shape::AtMost { sampler: Box::new(law.sampler()), max },
            Law::Less { ref law, by } => Shape::Less { sampler: Box::new(law.sampler()), by },
        })
    }
}

/// The first two moments of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
}

/// A law prepared for drawing.
#[derive(Clone, Debug)]
pub struct Sampler(Shape);

#[derive(Clone, Debug)]
enum Shape {
    Fixed(f64),
    Uniform(f64),
    Exponential { mean: f64 },
    Pareto { least: f64, power: f64 },
    LogNormal { mu: f64, sigma: f64 },
    Between { sampler: Box<Sampler>, min: f64, max: f64 },
    AtMost { sampler: Box<Sampler>, max: f64 },
    Less { sampler: Box<Sampler>, by: f64 },
}

impl Sampler {
    /// A draw.
    pub fn draw(&self, rng: &mut Rng) -> f64 {
        match self.0 {
            Shape::Fixed(value) => value,
            Shape::Uniform(most) => rng.uniform() * most,
            Shape::Exponential { mean } => -mean * libm::log(above_zero(rng)),
            Shape::Pareto { least, power } => least * libm::pow(above_zero(rng), power),
            Shape::LogNormal { mu, sigma } => libm::exp(mu + sigma * normal(rng)),
            Shape::Between { ref sampler, min, max } => {
                let mut value = sampler.draw(rng);
                for _ in 1..MAX_DRAWS {
                    if (min..=max).contains(&value) {
                        break;
                    }
                    value = sampler.draw(rng);
                }
                value.clamp(min, max)
            }
            Shape::AtMost { ref sampler, max } => sampler.draw(rng).min(max),
            Shape::Less { ref sampler, by } => (sampler.draw(rng) - by).max(0.0),
        }
    }

    /// A random value, taken as seconds.
    pub fn duration(&self, rng: &mut Rng) -> Duration {
        Duration::from_secs_f64(self.draw(rng))
    }

    /// A draw rounded to an integer.
    pub fn count(&self, rng: &mut Rng) -> u64 {
        (self.draw(rng) + 0.5) as u64
    }
}

/// Uniform in (0, 1], so its logarithm exists.
fn above_zero(rng: &mut Rng) -> f64 {
    1.0 - rng.uniform()
}

/// A standard normal random number (G. E. P. Box and M. E. Muller, Annals of Mathematical
/// Statistics 29, 1958). The second number that the method yields is discarded: keeping it would
/// add state to a source.
fn normal(rng: &mut Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(above_zero(rng)));
    radius * libm::cos(TAU * rng.uniform())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Seed;

    const DRAWS: usize = 200_000;

    fn draws(law: &Law) -> Vec<f64> {
        let (sampler, mut rng) = (law.sampler(), Seed(1).stream("law"));
        (0..DRAWS).map(|_| sampler.draw(&mut rng)).collect()
    }

    fn has_moments(law: &Law, mean: f64, variance: f64, kurtosis: f64) {
        let (draws, n) = (draws(law), DRAWS as f64);
        let measured = draws.iter().sum::<f64>() / n;
        let bound = 3.3 * (variance / n).sqrt();
        assert!((measured - mean).abs() < bound, "{law:?}: mean {measured}, not {mean} +- {bound}");
        let spread = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        let bound = 3.3 * variance * ((kurtosis - 1.0) / n).sqrt();
        assert!((spread - variance).abs() < bound, "{law:?}: variance {spread}, not {variance} +- {bound}");
    }

    #[test]
    fn a_uniform_law_ranges_from_zero_to_its_end() {
        has_moments(&Law::Uniform(0.6), 0.3, 0.03, 1.8);
    }

    #[test]
    fn an_exponential_law_has_the_square_of_its_mean_for_variance() {
        has_moments(&Law::Exponential { mean: 0.3 }, 0.3, 0.09, 9.0);
    }

    #[test]
    fn a_pareto_law_with_a_light_tail_has_its_mean_and_variance() {
        // The minimum is m.
        let (a, m) = (7.0_f64, 6.0 / 7.0);
        let variance = m * m * a / ((a - 1.0) * (a - 1.0) * (a - 2.0));
        let kurtosis = 3.0 * (a - 2.0) * (3.0 * a * a + a + 2.0) / (a * (a - 3.0) * (a - 4.0));
        has_moments(&Law::Pareto { mean: 1.0, shape: a }, 1.0, variance, kurtosis);
    }

    #[test]
    fn a_pareto_law_without_a_variance_has_its_tail() {
        let draws = draws(&Law::Pareto { mean: 15.0, shape: 1.5 });
        assert!(draws.iter().all(|&x| x >= 5.0));
        for (x, tail) in [(10.0, 0.353_553), (20.0, 0.125), (80.0, 0.015_625)] {
            let share = draws.iter().filter(|&&draw| draw > x).count() as f64 / DRAWS as f64;
            let bound = 3.3 * (tail * (1.0 - tail) / DRAWS as f64).sqrt();
            assert!((share - tail).abs() < bound, "beyond {x}: {share}, not {tail} +- {bound}");
        }
    }

    #[test]
    fn a_lognormal_law_has_the_given_moments() {
        // w is e^(s^2) = 1 + (deviation / mean)^2, where s is the deviation of the logarithm.
        let w = 1.25_f64;
        let kurtosis = w.powi(4) + 2.0 * w.powi(3) + 3.0 * w * w - 3.0;
        has_moments(&Law::log_normal(Moments { mean: 8.0, deviation: 4.0 }), 8.0, 16.0, kurtosis);
    }

    #[test]
    fn bounds_hold_and_cut_weight_falls_on_the_bound() {
        let law = || Box::new(Law::Exponential { mean: 1.0 });
        let within = draws(&Law::Between { law: law(), min: 0.5, max: 1.5 });
        assert!(within.iter().all(|x| (0.5..=1.5).contains(x)));
        // An exponential draw between a = 0.5 and b = 1.5 has the mean ((a+1) e^-a - (b+1) e^-b) /
        // (e^-a - e^-b).
        let (ea, eb) = ((-0.5_f64).exp(), (-1.5_f64).exp());
        let mean = (1.5 * ea - 2.5 * eb) / (ea - eb);
        let measured = within.iter().sum::<f64>() / DRAWS as f64;
        // The deviation of these draws is below 1/sqrt(12), the deviation of uniform draws.
        assert!((measured - mean).abs() < 3.3 * (1.0 / 12.0 / DRAWS as f64).sqrt(), "{measured}, not {mean}");
        let cut = draws(&Law::AtMost { law: law(), max: 1.0 });
        let share = cut.iter().filter(|&&x| x == 1.0).count() as f64 / DRAWS as f64;
        let tail = (-1.0_f64).exp();
        assert!((share - tail).abs() < 3.3 * (tail * (1.0 - tail) / DRAWS as f64).sqrt(), "{share}");
        assert!(draws(&Law::Less { law: law(), by: 1.0 }).iter().all(|&x| x >= 0.0));
    }

    #[test]
    fn a_nonsensical_law_is_refused_with_the_reason() {
        for law in [
            Law::Fixed(-1.0),
            Law::Fixed(f64::NAN),
            Law::Uniform(0.0),
            Law::Exponential { mean: 0.0 },
            Law::Pareto { mean: 1.0, shape: 1.0 },
            Law::LogNormal { mu: f64::INFINITY, sigma: 1.0 },
            Law::Between { law: Box::new(Law::Fixed(1.0)), min: 2.0, max: 1.0 },
            Law::AtMost { law: Box::new(Law::Fixed(-1.0)), max: 1.0 },
            Law::Less { law: Box::new(Law::Fixed(1.0)), by: -1.0 },
        ] {
            assert!(law.problem().is_some(), "{law:?}");
        }
        assert_eq!(Law::Fixed(0.0).problem(), None);
    }
}
