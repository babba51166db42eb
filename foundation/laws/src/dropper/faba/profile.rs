//! FABA's profile: the drop probability as a function of a bucket's fill.

use crate::error::{BadParameter, Of as _, Parameter};
use fairwire_core::{Cause, Rng, Verdict};
use fairwire_parameters::parameters;

/// The profile of gentle RED, upside down. Flows with a full bucket never lose packets; flows with
/// an empty bucket always do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    /// The fill, from 0 to 1, at and above which no packet is dropped.
    pub lambda1: f64,
    /// The fill at which `max_probability` is reached, from 0 to `lambda1`.
    pub lambda2: f64,
    /// The probability at `lambda2`, 0 to 1.
    pub max_probability: f64,
}

/// The parameters of a [`Profile`].
#[parameters(gated, checked = Checked, group)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Knees {
    /// The fill of a bucket, as a fraction of its height, at and above which nothing is dropped.
    #[parameter(default = 1.0 / 2.0, min = 0.0, max = 1.0, unit = "1", source = "Section 5.")]
    pub lambda1: Option<f64>,
    /// The fill of a bucket, as a fraction of its height, at which the probability of a drop is
    /// `max_probability`; from 0 to `lambda1`.
    ///
    /// As the fill falls from `lambda1` to `lambda2`, the probability rises linearly from 0. It
    /// then rises linearly to 1 for an empty bucket.
    #[parameter(unset = "1/4, or `lambda1` if that is less", unit = "1", source = "Section 5.")]
    pub lambda2: Option<f64>,
    /// The probability of a drop at `lambda2`.
    #[parameter(default = 0.02, min = 0.0, max = 1.0, unit = "1", source = "Section 5.")]
    pub max_probability: Option<f64>,
}

impl Knees {
    pub(crate) fn check(&self, discipline: &'static str) -> Result<Profile, BadParameter> {
        let Checked { lambda1, max_probability } = self.checked().of(discipline)?;
        let lambda2 = self.lambda2.unwrap_or(0.25f64.min(lambda1));
        if !(0.0..=lambda1).contains(&lambda2) {
            let allowed = format_args!("a number from 0 to lambda1, which is {lambda1}");
            return Err(Parameter { discipline, name: "lambda2" }.refuse(lambda2, allowed));
        }
        Ok(Profile { lambda1, lambda2, max_probability })
    }
}

/// The excess over 1 is far greater than the rounding errors of a few multiplications, which are at
/// most 2^-53 each.
const BEYOND_ROUNDING: f64 = 1.0 + 1e-12;

impl Profile {
    /// f_p at `fill`, the bucket's tokens as a fraction of its height (Kamra et al. 2004, section
    /// 4, figure 3). The paper leaves f_p undefined at the knees, `lambda1` and `lambda2`. Here
    /// each branch includes its lower end.
    ///
    /// ```
    /// use fairwire_laws::dropper::faba::Profile;
    ///
    /// let profile = Profile { lambda1: 0.5, lambda2: 0.25, max_probability: 0.02 };
    /// assert_eq!(profile.probability(0.5), 0.0);
    /// assert_eq!(profile.probability(0.25), 0.02);
    /// assert_eq!(profile.probability(0.0), 1.0);
    /// ```
    #[inline]
    pub fn probability(&self, fill: f64) -> f64 {
        let Profile { lambda1, lambda2, max_probability } = *self;
        if fill <= 0.0 {
            1.0
        } else if fill >= lambda1 {
            0.0
        } else if fill >= lambda2 {
            max_probability * (lambda1 - fill) / (lambda1 - lambda2)
        } else {
            max_probability + (1.0 - max_probability) * (lambda2 - fill) / lambda2
        }
    }
}

impl Profile {
    /// True if a packet surely passes when its flow's bucket of `height` holds `tokens`, above
    /// zero. Otherwise [`probability`](Self::probability) decides, which needs a division.
    #[inline]
    pub(crate) fn surely_passes(&self, tokens: f64, height: f64) -> bool {
        tokens > height * (self.lambda1 * BEYOND_ROUNDING)
    }

    /// The number of tokens in a bucket of `height` above which a packet surely passes.
    #[inline]
    pub(crate) fn safe(&self, height: i64) -> i64 {
        // The added 1 makes up for rounding down.
        (height as f64 * (self.lambda1 * BEYOND_ROUNDING)) as i64 + 1
    }

    /// Judges a packet whose flow's bucket of `height` holds `tokens`, a number above zero. Takes a
    /// random number only if neither verdict is certain.
    #[inline]
    pub(crate) fn verdict(&self, tokens: i64, height: i64, rng: &mut Rng) -> Verdict {
        let (tokens, height) = (tokens as f64, height as f64);
        if self.surely_passes(tokens, height) {
            return Verdict::Pass;
        }
        let p = self.probability(tokens / height);
        if p > 0.0 && (p >= 1.0 || rng.chance(p)) { Verdict::Signal(Cause::Early) } else { Verdict::Pass }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Seed;

    /// A few units in the last place near 1.
    const ROUNDING: f64 = 1e-15;

    #[test]
    fn the_profile_has_the_values_of_the_papers_vectors() {
        let profile = Profile { lambda1: 0.5, lambda2: 0.25, max_probability: 0.02 };
        for (fill, p) in
            [(1.0, 0.0), (0.5, 0.0), (0.375, 0.01), (0.25, 0.02), (0.125, 0.51), (0.0, 1.0), (-0.1, 1.0)]
        {
            assert!(
                (profile.probability(fill) - p).abs() < ROUNDING,
                "{fill}: {}",
                profile.probability(fill)
            );
        }
    }

    #[test]
    fn a_flow_that_surely_passes_has_a_drop_probability_of_zero() {
        let mut rng = Seed(1).stream("fills");
        for (lambda1, lambda2) in [(0.5, 0.25), (0.3, 0.3), (0.0, 0.0), (1.0, 0.1)] {
            let profile = Profile { lambda1, lambda2, max_probability: 0.02 };
            let mut sure = 0;
            for _ in 0..20_000 {
                let height = f64::from(rng.below(u32::MAX)) + 1.0;
                let near = (height * lambda1).floor() + f64::from(rng.below(3));
                let tokens = if rng.chance(0.5) { near } else { height * rng.uniform() }.max(1.0);
                if profile.surely_passes(tokens, height) {
                    assert_eq!(profile.probability(tokens / height), 0.0, "{tokens} of {height}");
                    sure += 1;
                }
            }
            assert!(sure > 1_000, "{lambda1}: {sure}");
        }
    }

    #[test]
    fn coinciding_knees_and_knees_at_zero_give_no_nan() {
        for (lambda1, lambda2) in [(0.25, 0.25), (0.5, 0.0), (0.0, 0.0), (1.0, 1.0)] {
            let profile = Profile { lambda1, lambda2, max_probability: 0.02 };
            for fill in (-4..=8).map(|i| f64::from(i) / 4.0) {
                assert!((0.0..=1.0).contains(&profile.probability(fill)), "{lambda1} {lambda2} {fill}");
            }
        }
    }
}
