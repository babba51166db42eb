//! From the measured rate to the number of sessions, and from there to the number of drops.

use fairwire_parameters::word;

/// What is done where the measured rate reaches the virtual capacity, where the law has a pole.
#[word(gated)]
pub enum OverloadRule {
    /// The rate counts as just below the virtual capacity, by the part `epsilon` of it, and no more
    /// than `clamp_limit` packets go for each arrival.
    #[default]
    Clamp,
    /// Every arrival is dropped.
    Drop,
    /// Nothing is dropped: what a program does that takes the logarithm of a negative number and
    /// compares with the result.
    NanNoDrop,
}

/// Section 3's three functions, with the constants that they share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// B' = (1 - gamma) B, in packets per second.
    pub virtual_capacity: f64,
    /// c.
    pub steepness: f64,
    /// alpha / (1 - beta), in packets per second squared.
    pub gain: f64,
    /// What is done where the rate reaches the virtual capacity.
    pub overload_rule: OverloadRule,
    /// How near to the virtual capacity a clamped rate counts, as a part of it.
    pub epsilon: f64,
    /// p is not above this under [`OverloadRule::Clamp`].
    pub clamp_limit: f64,
}

impl Law {
    /// The rate that this number of sessions should fill, in packets per second: (1 - e^(-c n)) B'.
    pub fn utilization(&self, sessions: f64) -> f64 {
        -libm::expm1(-self.steepness * sessions) * self.virtual_capacity
    }

    /// The number of sessions that should fill `rate`: the inverse of
    /// [`utilization`](Law::utilization).
    #[inline]
    pub fn sessions(&self, rate: f64) -> f64 {
        -libm::log1p(-rate / self.virtual_capacity) / self.steepness
    }

    /// p: packets to drop per arrival at `rate`, which must be below the virtual capacity.
    ///
    /// ```
    /// use fairwire_laws::dropper::rqm::{Law, OverloadRule};
    ///
    /// let law = Law {
    ///     virtual_capacity: 1000.0,
    ///     steepness: 1.0,
    ///     gain: 2.0,
    ///     overload_rule: OverloadRule::Clamp,
    ///     epsilon: 1e-9,
    ///     clamp_limit: 0.5,
    /// };
    /// assert_eq!(law.probability(0.0), 2e-6);
    /// assert!(law.probability(500.0) < law.probability(900.0));
    /// ```
    #[inline]
    pub fn probability(&self, rate: f64) -> f64 {
        let sessions_per_rate = if rate == 0.0 {
            1.0 / (self.steepness * self.virtual_capacity) // the limit
        } else {
            self.sessions(rate) / rate
        };
        let drops = self.gain * sessions_per_rate * sessions_per_rate;
        match self.overload_rule {
            OverloadRule::Clamp => drops.min(self.clamp_limit),
            OverloadRule::Drop | OverloadRule::NanNoDrop => drops,
        }
    }

    /// Above this rate [`probability`](Law::probability) is not used unchanged.
    pub fn reach(&self) -> f64 {
        match self.overload_rule {
            OverloadRule::Clamp => (1.0 - self.epsilon) * self.virtual_capacity,
            OverloadRule::Drop | OverloadRule::NanNoDrop => self.virtual_capacity,
        }
    }

    /// Packets to drop per arrival at or above the [`reach`](Law::reach).
    pub(crate) fn drops_beyond(&self) -> f64 {
        match self.overload_rule {
            OverloadRule::Clamp => self.probability(self.reach()),
            OverloadRule::Drop => 1.0,
            OverloadRule::NanNoDrop => 0.0,
        }
    }
}
