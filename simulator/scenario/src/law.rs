//! Random quantities as entered: a probability law, its parameters with their units, and bounds.

use fairwire_core::Duration;
use fairwire_core::units::Size;
use fairwire_parameters::{Quantity, Written};
use fairwire_sim::app::{Law, Moments};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The probability law of a random quantity, and bounds. Exactly one law is required.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "Q: Written", serialize = "Q: Written"))]
#[serde(expecting = "a table with a law, such as `{ uniform = … }`")]
#[schemars(bound = "Q: Written")]
pub struct LawSpec<Q> {
    /// Always this.
    pub fixed: Option<Quantity<Q>>,
    /// Uniform from 0 to this value.
    pub uniform: Option<Quantity<Q>>,
    /// Exponential, of this mean.
    pub exponential: Option<Quantity<Q>>,
    /// Pareto.
    pub pareto: Option<ParetoSpec<Q>>,
    /// Lognormal.
    pub lognormal: Option<LogNormalSpec<Q>>,
    /// Normal, with negative values raised to 0; only for `jitter`.
    pub normal: Option<LogNormalSpec<Q>>,
    /// The lower bound. A smaller value is drawn again. Default: 0.
    pub min: Option<Quantity<Q>>,
    /// The upper bound. A larger value is drawn again. Default: no bound.
    pub max: Option<Quantity<Q>>,
    /// The bound that replaces larger values. Default: no bound.
    pub cut: Option<Quantity<Q>>,
    /// The amount subtracted from each value, after all bounds. Results below 0 become 0. Default:
    /// nothing.
    pub less: Option<Quantity<Q>>,
}

/// A Pareto law.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "Q: Written", serialize = "Q: Written"))]
#[schemars(bound = "Q: Written")]
pub struct ParetoSpec<Q> {
    /// The mean before bounds.
    pub mean: Quantity<Q>,
    /// The shape, above 1. Up to 2, the variance is infinite.
    pub shape: f64,
}

/// Parameters of a lognormal or normal law.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "Q: Written", serialize = "Q: Written"))]
#[schemars(bound = "Q: Written")]
pub struct LogNormalSpec<Q> {
    /// The mean before bounds.
    pub mean: Quantity<Q>,
    /// The standard deviation before bounds.
    pub deviation: Quantity<Q>,
}

/// The type of a random quantity.
pub trait Random: Written + Copy {
    /// The value in the unit of [`Law`]s.
    fn value(self) -> f64;
}

impl Random for Duration {
    fn value(self) -> f64 {
        self.secs()
    }
}

impl Random for Size {
    fn value(self) -> f64 {
        self.0 as f64
    }
}

/// Defines a type for numbers of packets or the like. They need not be integers, because they may
/// be means.
macro_rules! number_of {
    ($name:ident, $one:literal, $many:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name(pub f64);

        impl FromStr for $name {
            type Err = NumberError;

            fn from_str(text: &str) -> Result<Self, NumberError> {
                let refuse = || NumberError { given: fairwire_document::shortened(text), wanted: $many };
                let digits = text.trim().strip_suffix($many).or_else(|| text.trim().strip_suffix($one));
                let number =
                    digits.map(str::trim).filter(|digits| digits.starts_with(|c: char| c.is_ascii_digit()));
                let number = number.and_then(|digits| digits.parse().ok()).filter(|n: &f64| n.is_finite());
                number.map($name).ok_or_else(refuse)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} {}", self.0, if self.0 == 1.0 { $one } else { $many })
            }
        }

        impl Written for $name {
            const NAME: &'static str = stringify!($name);
            const DESCRIPTION: &'static str = concat!("a number of ", $many, ", which need not be whole");
            const PATTERN: &'static str = concat!(r"^\s*[0-9]+\.?[0-9]*\s*", $one, r"s?\s*$");
            const EXAMPLES: &'static [&'static str] = &[concat!("15 ", $many), concat!("2.5 ", $many)];
        }

        impl Random for $name {
            fn value(self) -> f64 {
                self.0
            }
        }
    };
}

number_of!(Packets, "packet", "packets", "A number of packets, such as \"15 packets\".");
number_of!(Objects, "object", "objects", "A number of objects of a page, such as \"5 objects\".");

/// The error for a text that is not a number with the required unit, such as "packets".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no number of {wanted}; allowed: a number and its unit, such as \"15 {wanted}\"")]
pub struct NumberError {
    given: String,
    wanted: &'static str,
}

impl<Q> Default for LawSpec<Q> {
    fn default() -> Self {
        let (fixed, uniform, exponential, pareto, lognormal, normal) = (None, None, None, None, None, None);
        let (min, max, cut, less) = (None, None, None, None);
        LawSpec { fixed, uniform, exponential, pareto, lognormal, normal, min, max, cut, less }
    }
}

impl<Q: Random> LawSpec<Q> {
    pub(crate) fn law(&self) -> Result<Law, &'static str> {
        let value = |quantity: Quantity<Q>| quantity.0.value();
        let pareto = |p: ParetoSpec<Q>| Law::Pareto { mean: value(p.mean), shape: p.shape };
        let mut named = [
            self.fixed.map(|fixed| Law::Fixed(value(fixed))),
            self.uniform.map(|most| Law::Uniform(value(most))),
            self.exponential.map(|mean| Law::Exponential { mean: value(mean) }),
            self.pareto.map(pareto),
            self.lognormal
                .map(|l| Law::log_normal(Moments { mean: value(l.mean), deviation: value(l.deviation) })),
        ]
        .into_iter()
        .flatten();
        if self.normal.is_some() {
            return Err("only the jitter of a wire is `normal`");
        }
        let mut law = named.next().ok_or("no law is named")?;
        if named.next().is_some() {
            return Err("two laws are named");
        }
        if self.min.is_some() || self.max.is_some() {
            let (min, max) = (self.min.map_or(0.0, value), self.max.map_or(f64::INFINITY, value));
            law = Law::Between { law: Box::new(law), min, max };
        }
        if let Some(max) = self.cut {
            law = Law::AtMost { law: Box::new(law), max: value(max) };
        }
        if let Some(by) = self.less {
            law = Law::Less { law: Box::new(law), by: value(by) };
        }
        law.problem().map_or(Ok(law), Err)
    }

    /// The approximate mean: the mean without bounds, clamped to the bounds.
    pub(crate) fn about(&self) -> f64 {
        let value =
            |quantity: Option<Quantity<Q>>, default| quantity.map_or(default, |quantity| quantity.0.value());
        let mean = self.fixed.or(self.exponential);
        let mean = mean.or(self.pareto.map(|p| p.mean)).or(self.lognormal.map(|l| l.mean));
        let mean = value(mean, value(self.uniform, 0.0) / 2.0);
        let bounded = mean.max(value(self.min, 0.0)).min(value(self.max, f64::INFINITY));
        (bounded.min(value(self.cut, f64::INFINITY)) - value(self.less, 0.0)).max(0.0)
    }
}
