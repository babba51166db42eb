//! FABA's profile: the probability of a drop as a function of how full a bucket is.

/// The profile of gentle RED, upside down: a full bucket is never dropped from, an empty one always.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    /// No drops from this fill on, 0 to 1.
    pub lambda1: f64,
    /// `max_probability` is reached here, 0 to `lambda1`.
    pub lambda2: f64,
    /// The probability at `lambda2`, 0 to 1.
    pub max_probability: f64,
}

impl Profile {
    /// f_p at `fill`, the bucket's tokens as a part of its height (Kamra et al. 2004, section 4, figure 3). The paper leaves the
    /// knees undefined; the function is continuous where `lambda1 > lambda2`, so each branch includes its lower end.
    ///
    /// ```
    /// use fairwire_disciplines::dropper::faba::Profile;
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
            // Not reached where the knees coincide.
            max_probability * (lambda1 - fill) / (lambda1 - lambda2)
        } else {
            // Not reached where lambda2 is 0.
            max_probability + (1.0 - max_probability) * (lambda2 - fill) / lambda2
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Differences of a few units in the last place of numbers near 1.
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
    fn coinciding_knees_and_knees_at_zero_give_no_nan() {
        for (lambda1, lambda2) in [(0.25, 0.25), (0.5, 0.0), (0.0, 0.0), (1.0, 1.0)] {
            let profile = Profile { lambda1, lambda2, max_probability: 0.02 };
            for fill in (-4..=8).map(|i| f64::from(i) / 4.0) {
                assert!((0.0..=1.0).contains(&profile.probability(fill)), "{lambda1} {lambda2} {fill}");
            }
        }
    }
}
