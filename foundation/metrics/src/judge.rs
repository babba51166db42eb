//! Compares a value and its interval with the allowed range, and returns a [`Verdict`].
//!
//! ```
//! use fairwire_metrics::judge::{Allowed, Rule, Value, Verdict, judge};
//!
//! let share = Value { mean: 0.98, half_width_95: Some(0.03) };
//! assert_eq!(judge(share, Allowed::at_most(1.0), Rule::Mean), Verdict::Holds);
//! assert_eq!(judge(share, Allowed::at_most(1.0), Rule::Whole), Verdict::Unclear);
//! ```

use crate::record::Estimate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The result of a comparison, ordered from best to worst, with [`NotTestable`](Self::NotTestable)
/// last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Verdict {
    /// The value is in the allowed range.
    #[serde(rename = "holds")]
    Holds,
    /// More runs are needed: the interval is missing, or contains both allowed and refused values.
    #[serde(rename = "unclear")]
    Unclear,
    /// The value is outside the allowed range, for a recorded reason.
    #[serde(rename = "known")]
    Known,
    /// The value is outside the allowed range.
    #[serde(rename = "does not hold")]
    Fails,
    /// The claim cannot be tested, for example because its paper does not print enough.
    #[serde(rename = "not testable as printed")]
    NotTestable,
}

impl Verdict {
    /// The serialised form.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Unclear => "unclear",
            Verdict::Known => "known",
            Verdict::Fails => "does not hold",
            Verdict::NotTestable => "not testable as printed",
        }
    }

    /// With a recorded reason, [`Fails`](Self::Fails) becomes [`Known`](Self::Known).
    #[must_use]
    pub fn with_reason(self, has_reason: bool) -> Verdict {
        if self == Verdict::Fails && has_reason { Verdict::Known } else { self }
    }

    /// [`Unclear`](Self::Unclear) becomes [`Fails`](Self::Fails).
    #[must_use]
    pub fn strict(self) -> Verdict {
        if self == Verdict::Unclear { Verdict::Fails } else { self }
    }

    /// The worst of several verdicts; `None` if there are none.
    ///
    /// The result is [`NotTestable`](Self::NotTestable) only if every verdict is `NotTestable`.
    pub fn of_all(verdicts: impl IntoIterator<Item = Verdict>) -> Option<Verdict> {
        let rank = |verdict: &Verdict| (*verdict != Verdict::NotTestable, *verdict);
        verdicts.into_iter().max_by_key(rank)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.words())
    }
}

/// A measured value: a mean over runs, or a difference of two means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// The mean. NaN is outside every allowed range.
    pub mean: f64,
    /// Half of the mean's 95 % interval; `None` for a single run.
    pub half_width_95: Option<f64>,
}

impl Value {
    /// A value without an interval.
    pub fn exact(mean: f64) -> Value {
        Value { mean, half_width_95: None }
    }
}

impl From<Estimate> for Value {
    fn from(Estimate { mean, half_width_95, .. }: Estimate) -> Value {
        Value { mean, half_width_95 }
    }
}

/// The allowed range, both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowed {
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl Allowed {
    /// Every number.
    pub const ANYTHING: Allowed = Allowed { min: f64::NEG_INFINITY, max: f64::INFINITY };

    /// Allows `min` to `max`; `None` means no bound.
    pub fn between(min: Option<f64>, max: Option<f64>) -> Allowed {
        Allowed { min: min.unwrap_or(f64::NEG_INFINITY), max: max.unwrap_or(f64::INFINITY) }
    }

    /// `min` and more.
    pub fn at_least(min: f64) -> Allowed {
        Allowed { min, ..Self::ANYTHING }
    }

    /// `max` and less.
    pub fn at_most(max: f64) -> Allowed {
        Allowed { max, ..Self::ANYTHING }
    }

    /// Allows more than `bound`.
    pub fn above(bound: f64) -> Allowed {
        Self::at_least(bound.next_up())
    }

    /// Allows less than `bound`.
    pub fn below(bound: f64) -> Allowed {
        Self::at_most(bound.next_down())
    }

    /// Allows values within `distance` of `reference`.
    pub fn near(reference: f64, distance: f64) -> Allowed {
        Allowed { min: reference - distance, max: reference + distance }
    }

    /// Is `value` allowed? NaN is not.
    pub fn contains(&self, value: f64) -> bool {
        self.min <= value && value <= self.max
    }
}

/// The effect of an interval on the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Only the mean decides.
    Mean,
    /// The entire interval must be in the allowed range. If only the mean is known to be in the
    /// range, the verdict is unclear.
    Whole,
    /// The mean decides. If only the interval reaches the allowed range, the verdict is unclear.
    Reach,
    /// The mean decides, but a difference also holds if its interval contains 0.
    Meet,
}

/// Compares `value` with the `allowed` range, by `rule`.
pub fn judge(value: Value, allowed: Allowed, rule: Rule) -> Verdict {
    let Value { mean, half_width_95 } = value;
    let half = half_width_95.unwrap_or(0.0);
    let is_within = allowed.contains(mean);
    let is_whole = half_width_95.is_some() && allowed.contains(mean - half) && allowed.contains(mean + half);
    let reaches = mean - half <= allowed.max && mean + half >= allowed.min;
    match rule {
        Rule::Whole if is_within && !is_whole => Verdict::Unclear,
        Rule::Reach if !is_within && reaches => Verdict::Unclear,
        Rule::Meet if mean.abs() <= half => Verdict::Holds,
        _ if is_within => Verdict::Holds,
        _ => Verdict::Fails,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(mean: f64, half: f64) -> Value {
        Value { mean, half_width_95: Some(half) }
    }

    #[test]
    fn the_mean_rule_ignores_the_interval() {
        let allowed = Allowed::between(Some(1.0), Some(2.0));
        for (mean, verdict) in [(1.0, Verdict::Holds), (2.0, Verdict::Holds), (2.1, Verdict::Fails)] {
            assert_eq!(judge(value(mean, 9.0), allowed, Rule::Mean), verdict);
            assert_eq!(judge(Value::exact(mean), allowed, Rule::Mean), verdict);
        }
        assert_eq!(judge(value(5.0, 0.0), Allowed::between(None, None), Rule::Mean), Verdict::Holds);
    }

    #[test]
    fn the_whole_rule_needs_an_interval_within_the_bounds() {
        let allowed = Allowed::at_least(1.0);
        assert_eq!(judge(value(2.0, 1.0), allowed, Rule::Whole), Verdict::Holds);
        assert_eq!(judge(value(2.0, 1.1), allowed, Rule::Whole), Verdict::Unclear);
        assert_eq!(judge(Value::exact(2.0), allowed, Rule::Whole), Verdict::Unclear);
        assert_eq!(judge(value(0.9, 1.0), allowed, Rule::Whole), Verdict::Fails);
    }

    #[test]
    fn an_interval_that_reaches_into_the_bounds_is_unclear() {
        let allowed = Allowed::near(0.0, 0.03);
        assert_eq!(judge(Value::exact(0.02), allowed, Rule::Reach), Verdict::Holds);
        assert_eq!(judge(value(0.02, 1.0), allowed, Rule::Reach), Verdict::Holds);
        assert_eq!(judge(value(-0.04, 0.02), allowed, Rule::Reach), Verdict::Unclear);
        assert_eq!(judge(value(-0.04, 0.005), allowed, Rule::Reach), Verdict::Fails);
        assert_eq!(judge(Value::exact(0.04), allowed, Rule::Reach), Verdict::Fails);
    }

    #[test]
    fn the_meet_rule_accepts_a_difference_whose_interval_contains_zero() {
        let allowed = Allowed::near(0.0, 1.0);
        assert_eq!(judge(value(20.0, 25.4), allowed, Rule::Meet), Verdict::Holds);
        assert_eq!(judge(value(30.0, 25.4), allowed, Rule::Meet), Verdict::Fails);
        assert_eq!(judge(value(26.0, 25.4), allowed, Rule::Meet), Verdict::Fails, "it must reach 0 itself");
        assert_eq!(judge(Value::exact(1.0), allowed, Rule::Meet), Verdict::Holds);
    }

    #[test]
    fn a_strict_bound_excludes_itself() {
        assert!(!Allowed::above(0.1).contains(0.1) && Allowed::above(0.1).contains(0.1f64.next_up()));
        assert!(!Allowed::below(0.0).contains(0.0) && Allowed::below(0.0).contains(-1e-300));
    }

    #[test]
    fn nan_fails_every_rule() {
        for rule in [Rule::Mean, Rule::Whole, Rule::Reach, Rule::Meet] {
            assert_eq!(judge(Value::exact(f64::NAN), Allowed::ANYTHING, rule), Verdict::Fails, "{rule:?}");
        }
    }

    #[test]
    fn a_reason_excuses_only_a_failure() {
        assert_eq!(Verdict::Fails.with_reason(true), Verdict::Known);
        assert_eq!(Verdict::Fails.with_reason(false), Verdict::Fails);
        assert_eq!(Verdict::Unclear.with_reason(true), Verdict::Unclear);
        assert_eq!([Verdict::Unclear, Verdict::Holds].map(Verdict::strict), [Verdict::Fails, Verdict::Holds]);
    }

    #[test]
    fn the_worst_testable_verdict_counts() {
        use Verdict::{Fails, Holds, Known, NotTestable, Unclear};
        assert_eq!(Verdict::of_all([Holds, Known, Unclear]), Some(Known));
        assert_eq!(Verdict::of_all([Fails, NotTestable, Holds]), Some(Fails));
        assert_eq!(Verdict::of_all([NotTestable]), Some(NotTestable));
        assert_eq!(Verdict::of_all([]), None);
    }

    #[test]
    fn printed_words_match_the_serialised_form() {
        use Verdict::{Fails, Holds, Known, NotTestable, Unclear};
        for verdict in [Holds, Unclear, Known, Fails, NotTestable] {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.words());
        }
    }
}
