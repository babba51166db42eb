//! The probability of a signal as a function of the average queue.

/// The function from the average queue to the probability of a signal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// The average below which there is no signal.
    pub min: f64,
    /// The average at which `max_probability` is reached; above `min`.
    pub max: f64,
    /// The probability at `max`, above 0 and at most 1.
    pub max_probability: f64,
    /// Does the probability rise to 1 at twice `max`, rather than jump to 1 at `max`?
    pub gentle: bool,
}

impl Ramp {
    /// The probability of a signal, p_b, from 0 to 1.
    ///
    /// ```
    /// use fairwire_laws::dropper::red::Ramp;
    ///
    /// let ramp = Ramp { min: 20.0, max: 40.0, max_probability: 0.02, gentle: true };
    /// assert_eq!(ramp.probability(19.0), 0.0);
    /// assert_eq!(ramp.probability(30.0), 0.01);
    /// assert_eq!(ramp.probability(60.0), 0.51);
    /// ```
    #[inline]
    pub fn probability(&self, average: f64) -> f64 {
        let Ramp { min, max, max_probability, gentle } = *self;
        if average < min {
            0.0
        } else if average < max {
            max_probability * (average - min) / (max - min)
        } else if average < self.certain_at() && gentle {
            max_probability + (1.0 - max_probability) * (average - max) / max
        } else {
            1.0
        }
    }

    /// The average at or above which every arrival is signalled.
    #[inline]
    pub(crate) fn certain_at(&self) -> f64 {
        if self.gentle { 2.0 * self.max } else { self.max }
    }
}
