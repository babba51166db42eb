//! The weight of a class.

use alloc::vec::Vec;
use core::fmt;

/// The weight of a class: its share of the link relative to other backlogged classes.
///
/// The range from 10^-6 to 10^6 is wide enough for 1 bit/s against 1 Gbit/s, and narrow enough for
/// exact sums.
///
/// ```
/// use fairwire_core::Weight;
///
/// assert_eq!(Weight::new(2.5).map(Weight::get), Some(2.5));
/// assert!(Weight::new(0.0).is_none() && Weight::new(f64::NAN).is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Weight(f64);

impl Weight {
    /// The smallest weight.
    pub const MIN: Weight = Weight(1e-6);
    /// The default weight of a class.
    pub const ONE: Weight = Weight(1.0);
    /// The largest weight.
    pub const MAX: Weight = Weight(1e6);

    /// The weight with this value; `None` outside 10^-6 to 10^6.
    pub fn new(weight: f64) -> Option<Self> {
        (Weight::MIN.0..=Weight::MAX.0).contains(&weight).then_some(Weight(weight))
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why the weight of a class was not set. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SetWeightError {
    /// The discipline has no weights.
    NoWeights,
    /// The class has no separate weight.
    NoSuchClass {
        /// Its number.
        class: u32,
    },
    /// The weight is too small relative to the quantum, or too large relative to other weights.
    OutOfRange {
        /// The weight that was requested.
        weight: Weight,
        /// The smallest weight allowed here.
        min: f64,
        /// The largest weight allowed here.
        max: f64,
    },
    /// There would be more distinct weights than the discipline can distinguish.
    TooManyWeights {
        /// The number of distinct weights allowed, the default weight included.
        max: usize,
    },
}

impl fmt::Display for SetWeightError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetWeightError::NoWeights => {
                f.write_str("the discipline has no weights; allowed: one that was built with class weights")
            }
            SetWeightError::NoSuchClass { class } => {
                write!(f, "class {class} has no weight of its own; allowed: classes with a configured weight")
            }
            SetWeightError::OutOfRange { weight, min, max } => {
                write!(f, "weight {weight} is out of range; allowed: {min} to {max}")
            }
            SetWeightError::TooManyWeights { max } => {
                write!(f, "too many distinct weights; allowed: at most {max} at once")
            }
        }
    }
}

impl core::error::Error for SetWeightError {}

impl SetWeightError {
    /// True if the class is unknown here; false if its weight is refused.
    fn is_elsewhere(self) -> bool {
        matches!(self, SetWeightError::NoWeights | SetWeightError::NoSuchClass { .. })
    }
}

/// Sets a class's weight in those of two parts that know the class. If a part refuses the weight,
/// neither changes. Each part is a function that sets a weight and returns the previous one.
///
/// # Errors
/// When neither part knows the class, or one refuses the weight.
pub fn set_weight_in_both(
    weight: Weight,
    mut first: impl FnMut(Weight) -> Result<Weight, SetWeightError>,
    mut second: impl FnMut(Weight) -> Result<Weight, SetWeightError>,
) -> Result<Weight, SetWeightError> {
    match (first(weight), second(weight)) {
        (Ok(before), Ok(_)) => Ok(before),
        (Ok(before), Err(error)) | (Err(error), Ok(before)) if error.is_elsewhere() => Ok(before),
        (Ok(before), Err(error)) => first(before).and(Err(error)),
        (Err(error), Ok(before)) => second(before).and(Err(error)),
        (Err(SetWeightError::NoWeights), Err(error)) => Err(error),
        (Err(error), Err(_)) => Err(error),
    }
}

/// Sets the weight of a class in all disciplines that know the class, or in none.
#[derive(Default)]
pub(crate) struct SetInAll {
    first: Option<Result<Weight, SetWeightError>>,
    others: Vec<Result<Weight, SetWeightError>>,
}

impl SetInAll {
    pub(crate) fn next(&mut self, set: impl FnOnce() -> Result<Weight, SetWeightError>) {
        if self.refusal().is_none() {
            let result = set();
            if self.first.is_none() { self.first = Some(result) } else { self.others.push(result) }
        }
    }

    fn results(&self) -> impl Iterator<Item = Result<Weight, SetWeightError>> {
        self.first.into_iter().chain(self.others.iter().copied())
    }

    fn refusal(&self) -> Option<SetWeightError> {
        self.results().filter_map(Result::err).find(|error| !error.is_elsewhere())
    }

    /// Returns the result for all disciplines, and each discipline's previous weight in the order
    /// of the calls of [`next`](Self::next). After an error, the caller restores these weights.
    pub(crate) fn finish(self) -> (Result<Weight, SetWeightError>, impl Iterator<Item = Option<Weight>>) {
        let unknown =
            || self.results().filter_map(Result::err).find(|error| *error != SetWeightError::NoWeights);
        let result = match self.refusal() {
            Some(refusal) => Err(refusal),
            None => self
                .results()
                .find_map(Result::ok)
                .ok_or_else(|| unknown().unwrap_or(SetWeightError::NoWeights)),
        };
        (result, self.first.into_iter().chain(self.others).map(Result::ok))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_CLASS: SetWeightError = SetWeightError::NoSuchClass { class: 1 };
    const MANY: SetWeightError = SetWeightError::TooManyWeights { max: 2 };

    /// Sets weight 3 in two parts. `parts` has each part's present weight, or the error that the
    /// part returns.
    fn both(
        parts: [Result<f64, SetWeightError>; 2],
    ) -> (Result<Weight, SetWeightError>, [Result<f64, SetWeightError>; 2]) {
        let set = |part: &mut Result<f64, SetWeightError>, weight: Weight| match part {
            Ok(held) => Ok(Weight(core::mem::replace(held, weight.0))),
            Err(error) => Err(*error),
        };
        let [mut first, mut second] = parts;
        let result = set_weight_in_both(
            Weight(3.0),
            |weight| set(&mut first, weight),
            |weight| set(&mut second, weight),
        );
        (result, [first, second])
    }

    #[test]
    fn a_weight_changes_everywhere_or_nowhere() {
        let done = Ok(Weight(2.0));
        assert_eq!(both([Ok(2.0), Ok(2.0)]), (done, [Ok(3.0), Ok(3.0)]));
        for elsewhere in [SetWeightError::NoWeights, NO_CLASS] {
            assert_eq!(both([Ok(2.0), Err(elsewhere)]), (done, [Ok(3.0), Err(elsewhere)]));
            assert_eq!(both([Err(elsewhere), Ok(2.0)]), (done, [Err(elsewhere), Ok(3.0)]));
        }
        assert_eq!(both([Ok(2.0), Err(MANY)]), (Err(MANY), [Ok(2.0), Err(MANY)]));
        assert_eq!(both([Err(MANY), Ok(2.0)]), (Err(MANY), [Err(MANY), Ok(2.0)]));
        assert_eq!(both([Err(SetWeightError::NoWeights), Err(NO_CLASS)]).0, Err(NO_CLASS));
        assert_eq!(both([Err(NO_CLASS), Err(SetWeightError::NoWeights)]).0, Err(NO_CLASS));
    }

    #[test]
    fn a_weight_is_from_a_millionth_to_a_million() {
        for weight in [1e-6, 1.0, 1e6] {
            assert_eq!(Weight::new(weight).map(Weight::get), Some(weight));
        }
        for weight in [0.0, -1.0, 0.9e-6, 1.1e6, f64::NAN, f64::INFINITY] {
            assert_eq!(Weight::new(weight), None, "{weight}");
        }
    }

    #[test]
    fn a_refusal_names_the_allowed_weights() {
        let weight = Weight(0.5);
        for (error, said) in [
            (SetWeightError::NoWeights, "built with class weights"),
            (SetWeightError::NoSuchClass { class: 7 }, "class 7"),
            (
                SetWeightError::OutOfRange { weight, min: 2.0, max: 4.0 },
                "weight 0.5 is out of range; allowed: 2 to 4",
            ),
            (MANY, "allowed: at most 2 at once"),
        ] {
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}
