//! The weight of a class, and why one cannot be changed.

use core::fmt;

/// A weight: who has twice that of another gets twice as much, as long as both want it.
///
/// From 10^-6 to 10^6: wide enough for 1 bit/s against 1 Gbit/s at a weight of 1 in between, narrow enough for exact sums.
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
    /// The least.
    pub const LEAST: Weight = Weight(1e-6);
    /// The weight of whatever was given none.
    pub const ONE: Weight = Weight(1.0);
    /// The greatest.
    pub const MOST: Weight = Weight(1e6);

    /// `weight`, if it is from 10^-6 to 10^6.
    pub fn new(weight: f64) -> Option<Self> {
        (Weight::LEAST.0..=Weight::MOST.0).contains(&weight).then_some(Weight(weight))
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

/// Why the weight of a class was not changed. Everything is as it was before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NotReweighed {
    /// Here are no weights: the discipline has none, or was built without.
    NoWeights,
    /// The class was not among those that have a weight of their own.
    NoSuchClass {
        /// Its number.
        class: u32,
    },
    /// The weight is too small to count beside the quantum, or too great beside the others.
    OutOfRange {
        /// What was asked for.
        weight: Weight,
        /// The least that is allowed here.
        least: f64,
        /// The greatest that is allowed here.
        most: f64,
    },
    /// Classes would have more different weights than can be told apart.
    TooManyWeights {
        /// So many different weights are allowed, that of classes without one of their own among them.
        most: usize,
    },
}

impl fmt::Display for NotReweighed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotReweighed::NoWeights => {
                write!(
                    f,
                    "there are no weights here; allowed: a discipline that was built with weights of classes"
                )
            }
            NotReweighed::NoSuchClass { class } => {
                write!(
                    f,
                    "class {class} has no weight of its own; allowed: classes that were given one at the start"
                )
            }
            NotReweighed::OutOfRange { weight, least, most } => {
                write!(f, "the weight is {weight}; allowed: from {least} to {most}")
            }
            NotReweighed::TooManyWeights { most } => {
                write!(f, "one more different weight; allowed: {most} at once")
            }
        }
    }
}

impl core::error::Error for NotReweighed {}

impl NotReweighed {
    /// Is it just that the class is not known here, rather than that its weight is refused?
    fn is_elsewhere(self) -> bool {
        matches!(self, NotReweighed::NoWeights | NotReweighed::NoSuchClass { .. })
    }
}

/// Changes the weight of a class in two parts of a discipline that may both know it: in both, or in neither. Each is given as
/// a function that sets a weight and tells the one before.
///
/// # Errors
/// When neither knows the class, or one of them refuses the weight.
pub fn reweigh_both(
    weight: Weight,
    mut first: impl FnMut(Weight) -> Result<Weight, NotReweighed>,
    mut second: impl FnMut(Weight) -> Result<Weight, NotReweighed>,
) -> Result<Weight, NotReweighed> {
    match (first(weight), second(weight)) {
        (Ok(before), Ok(_)) => Ok(before),
        (Ok(before), Err(error)) | (Err(error), Ok(before)) if error.is_elsewhere() => Ok(before),
        (Ok(before), Err(error)) => first(before).and(Err(error)),
        (Err(error), Ok(before)) => second(before).and(Err(error)),
        (Err(NotReweighed::NoWeights), Err(error)) => Err(error),
        (Err(error), Err(_)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_CLASS: NotReweighed = NotReweighed::NoSuchClass { class: 1 };
    const MANY: NotReweighed = NotReweighed::TooManyWeights { most: 2 };

    /// Two parts, each with the weight that it has or the reason why it refuses; and what came of weight 3.
    fn both(
        parts: [Result<f64, NotReweighed>; 2],
    ) -> (Result<Weight, NotReweighed>, [Result<f64, NotReweighed>; 2]) {
        let set = |part: &mut Result<f64, NotReweighed>, weight: Weight| match part {
            Ok(held) => Ok(Weight(core::mem::replace(held, weight.0))),
            Err(error) => Err(*error),
        };
        let [mut first, mut second] = parts;
        let result =
            reweigh_both(Weight(3.0), |weight| set(&mut first, weight), |weight| set(&mut second, weight));
        (result, [first, second])
    }

    #[test]
    fn a_weight_is_changed_wherever_it_is_known_or_nowhere() {
        let done = Ok(Weight(2.0));
        assert_eq!(both([Ok(2.0), Ok(2.0)]), (done, [Ok(3.0), Ok(3.0)]));
        for elsewhere in [NotReweighed::NoWeights, NO_CLASS] {
            assert_eq!(both([Ok(2.0), Err(elsewhere)]), (done, [Ok(3.0), Err(elsewhere)]));
            assert_eq!(both([Err(elsewhere), Ok(2.0)]), (done, [Err(elsewhere), Ok(3.0)]));
        }
        assert_eq!(both([Ok(2.0), Err(MANY)]), (Err(MANY), [Ok(2.0), Err(MANY)]));
        assert_eq!(both([Err(MANY), Ok(2.0)]), (Err(MANY), [Err(MANY), Ok(2.0)]));
        assert_eq!(both([Err(NotReweighed::NoWeights), Err(NO_CLASS)]).0, Err(NO_CLASS));
        assert_eq!(both([Err(NO_CLASS), Err(NotReweighed::NoWeights)]).0, Err(NO_CLASS));
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
    fn a_refusal_says_what_is_allowed() {
        let weight = Weight(0.5);
        for (error, said) in [
            (NotReweighed::NoWeights, "built with weights"),
            (NotReweighed::NoSuchClass { class: 7 }, "class 7"),
            (NotReweighed::OutOfRange { weight, least: 2.0, most: 4.0 }, "is 0.5; allowed: from 2 to 4"),
            (MANY, "allowed: 2 at once"),
        ] {
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}
