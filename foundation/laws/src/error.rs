//! Errors in a discipline's parameters.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use core::fmt::{self, Display};
use fairwire_parameters::OutOfRange;

/// A parameter out of range. Callers use the public fields to find the parameter's line in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadParameter {
    /// The discipline's name in the catalogue.
    pub discipline: &'static str,
    /// The parameter's name, as given. For an item of a list, the path to the item, with its index
    /// from 0: `band.0.discipline`.
    pub parameter: Cow<'static, str>,
    /// The path of the outer disciplines' tables, such as `prio.band.0.discipline`. Empty for an
    /// outermost discipline.
    pub within: String,
    /// The value given, or the default.
    pub given: String,
    /// The allowed values.
    pub allowed: String,
}

impl BadParameter {
    /// The parameter's path, from the outermost discipline on: `prio.band.0.discipline.red.weight`.
    pub fn path(&self) -> String {
        let dot = if self.within.is_empty() { "" } else { "." };
        format!("{}{dot}{}.{}", self.within, self.discipline, self.parameter)
    }

    /// Puts the table `outer`, which holds the discipline or marker, in front of `within`.
    pub fn inside(self, outer: &str) -> Self {
        let dot = if self.within.is_empty() { "" } else { "." };
        BadParameter { within: format!("{outer}{dot}{}", self.within), ..self }
    }

    /// Appends the list index `place` and then `key` to the parameter's name.
    pub fn of_item(self, place: usize, key: &str) -> Self {
        BadParameter { parameter: format!("{}.{place}.{key}", self.parameter).into(), ..self }
    }
}

impl core::error::Error for BadParameter {}

impl Display for BadParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BadParameter { discipline, parameter, within, given, allowed } = self;
        write!(f, "`{parameter}` of `{discipline}`")?;
        if !within.is_empty() {
            write!(f, " in `{within}`")?;
        }
        write!(f, " is {given}; allowed: {allowed}")
    }
}

/// Adds the discipline's name to an error.
pub trait Of<T> {
    /// Attributes the error to `discipline`.
    fn of(self, discipline: &'static str) -> Result<T, BadParameter>;

    /// Attributes the error to the table `parameter`.
    fn of_table(self, parameter: Parameter) -> Result<T, BadParameter>;

    /// Attributes the error to the item at index `place` of the list `parameter`.
    fn of_item(self, parameter: Parameter, place: usize) -> Result<T, BadParameter>;
}

impl<T> Of<T> for Result<T, OutOfRange> {
    fn of(self, discipline: &'static str) -> Result<T, BadParameter> {
        self.map_err(|OutOfRange { name, given, allowed }| {
            Parameter { discipline, name }.refuse(given, allowed)
        })
    }

    fn of_table(self, parameter: Parameter) -> Result<T, BadParameter> {
        self.map_err(|OutOfRange { name, given, allowed }| {
            let bad = parameter.refuse(given, allowed);
            BadParameter { parameter: format!("{}.{name}", bad.parameter).into(), ..bad }
        })
    }

    fn of_item(self, parameter: Parameter, place: usize) -> Result<T, BadParameter> {
        self.map_err(|OutOfRange { name, given, allowed }| {
            parameter.refuse(given, allowed).of_item(place, name)
        })
    }
}

/// The full name of a parameter, for errors.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The discipline's name in the catalogue.
    pub discipline: &'static str,
    /// The parameter's name, as given.
    pub name: &'static str,
}

impl Parameter {
    /// The parameter `name` of `discipline`.
    pub fn of(discipline: &'static str, name: &'static str) -> Self {
        Parameter { discipline, name }
    }

    /// The error that refuses the `given` value.
    pub fn refuse(self, given: impl Display, allowed: impl Display) -> BadParameter {
        BadParameter {
            discipline: self.discipline,
            parameter: self.name.into(),
            within: String::new(),
            given: given.to_string(),
            allowed: allowed.to_string(),
        }
    }

    /// Returns `value`, if it is above zero and at most `most`. Refuses not-a-number, too.
    pub fn above_zero(self, value: f64, most: f64) -> Result<f64, BadParameter> {
        if value > 0.0 && value <= most {
            Ok(value)
        } else {
            Err(self.refuse(value, format_args!("a number above 0, at most {most}")))
        }
    }

    /// Returns `value`, if it is from 1 to `most`.
    pub fn count(self, value: u32, most: u32) -> Result<u32, BadParameter> {
        if (1..=most).contains(&value) {
            Ok(value)
        } else {
            Err(self.refuse(value, format_args!("a whole number from 1 to {most}")))
        }
    }
}
