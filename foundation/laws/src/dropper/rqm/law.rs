//! RQM's formulas: they derive the number of sessions from the measured rate, and the number of
//! drops from both.

use super::Checked;
use fairwire_parameters::word;

/// The rule for a measured rate at or above the virtual capacity, for which the formulas fail.
#[word(gated)]
pub enum OverloadRule {
    /// A rate above (1 - `epsilon`) times the virtual capacity counts as that product. At most
    /// `clamp_limit` packets are dropped for each arrival.
    #[default]
    Clamp,
    /// Every arrival is dropped.
    Drop,
    /// No packet is dropped, as in a program without an overload rule: the logarithm is NaN, and
    /// any comparison with NaN is false.
    NanNoDrop,
}

/// The functions of the paper's section 3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// B' = (1 - gamma) B: the virtual capacity of a link of capacity B, in packets per second.
    pub virtual_capacity: f64,
    /// alpha / (1 - beta), in packets per second squared.
    pub gain: f64,
    /// The parameters as given, or their defaults.
    pub given: Checked,
}

impl Law {
    /// The rate that `sessions` should fill, in packets per second: (1 - e^(-c n)) B', where n is
    /// `sessions` and c the steepness.
    pub fn utilization(&self, sessions: f64) -> f64 {
        -libm::expm1(-self.given.steepness * sessions) * self.virtual_capacity
    }

    /// The inverse of [`utilization`](Law::utilization).
    #[inline]
    pub fn sessions(&self, rate: f64) -> f64 {
        -libm::log1p(-rate / self.virtual_capacity) / self.given.steepness
    }

    /// p: packets to drop per arrival at `rate`, which must be below the virtual capacity.
    ///
    /// ```
    /// use fairwire_laws::dropper::rqm::{Checked, Law};
    ///
    /// let law = Law { virtual_capacity: 1000.0, gain: 2.0, given: Checked::default() };
    /// assert_eq!(law.probability(0.0), 2e-6);
    /// assert!(law.probability(500.0) < law.probability(900.0));
    /// ```
    #[inline]
    pub fn probability(&self, rate: f64) -> f64 {
        let sessions_per_rate = if rate == 0.0 {
            1.0 / (self.given.steepness * self.virtual_capacity) // the limit
        } else {
            self.sessions(rate) / rate
        };
        let drops = self.gain * sessions_per_rate * sessions_per_rate;
        match self.given.overload_rule {
            OverloadRule::Clamp => drops.min(self.given.clamp_limit),
            OverloadRule::Drop | OverloadRule::NanNoDrop => drops,
        }
    }

    /// The rate from which the overload rule applies instead of [`probability`](Law::probability).
    pub fn reach(&self) -> f64 {
        match self.given.overload_rule {
            OverloadRule::Clamp => (1.0 - self.given.epsilon) * self.virtual_capacity,
            OverloadRule::Drop | OverloadRule::NanNoDrop => self.virtual_capacity,
        }
    }

    /// The packets to drop per arrival at a rate of [`reach`](Law::reach) or more.
    pub(crate) fn drops_beyond(&self) -> f64 {
        match self.given.overload_rule {
            OverloadRule::Clamp => self.probability(self.reach()),
            OverloadRule::Drop => 1.0,
            OverloadRule::NanNoDrop => 0.0,
        }
    }
}
