//! Bounds of values, and the error for a value outside its bounds.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::{self, Debug, Display};
use core::str::FromStr;
use fairwire_core::units::Size;
use fairwire_core::{Duration, Rate};

/// A type of value that can have bounds.
pub trait Bounded: Copy + PartialOrd + Display {
    /// The kind of value with its article, such as `a number`.
    const KIND: &'static str;
}

impl Bounded for f64 {
    const KIND: &'static str = "a number";
}

impl Bounded for u32 {
    const KIND: &'static str = "a whole number";
}

impl Bounded for u8 {
    const KIND: &'static str = "a whole number";
}

impl Bounded for Duration {
    const KIND: &'static str = "a time";
}

impl Bounded for Size {
    const KIND: &'static str = "a size";
}

impl Bounded for Rate {
    const KIND: &'static str = "a rate";
}

/// The bounds of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<T> {
    /// The exclusive lower bound.
    pub above: Option<T>,
    /// The smallest value.
    pub min: Option<T>,
    /// The largest value.
    pub max: Option<T>,
    /// The range in words, with units as declared.
    pub range: &'static str,
}

impl<T: Bounded> Bounds<T> {
    /// Returns `value` if it is within the bounds. Refuses not-a-number, too.
    pub fn check(&self, name: &'static str, value: T) -> Result<T, OutOfRange> {
        let is_above = self.above.is_none_or(|above| value > above);
        let is_enough = self.min.is_none_or(|min| value >= min);
        let is_at_most = self.max.is_none_or(|max| value <= max);
        if is_above && is_enough && is_at_most {
            return Ok(value);
        }
        let of = if self.range.starts_with("at ") { " of" } else { "" };
        let allowed = format!("{}{of} {}", T::KIND, self.range);
        Err(OutOfRange { name, given: value.to_string(), allowed })
    }
}

/// The error for a value outside its bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// The parameter.
    pub name: &'static str,
    /// The value given.
    pub given: String,
    /// The allowed values.
    pub allowed: String,
}

impl core::error::Error for OutOfRange {}

impl Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is {}; allowed: {}", self.name, self.given, self.allowed)
    }
}

/// Returns the value of a required parameter, which only a struct built in code may lack.
pub fn required<T>(name: &'static str, value: Option<T>) -> Result<T, OutOfRange> {
    value.ok_or_else(|| OutOfRange {
        name,
        given: "missing".into(),
        allowed: "a value, which must be given".into(),
    })
}

/// A default or a bound, parsed from a declaration.
///
/// # Panics
/// If the text cannot be parsed.
pub fn literal<T: FromStr<Err: Debug>>(text: &str) -> T {
    text.parse().unwrap_or_else(|error| panic!("the declaration has a wrong value {text:?}: {error:?}"))
}
