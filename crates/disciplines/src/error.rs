//! What can be wrong with a discipline as typed.

use crate::catalogue::UnknownDiscipline;
use core::fmt::Display;
use fairwire_parameters::OutOfRange;
use std::borrow::Cow;

/// A discipline that could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// No discipline has that name.
    #[error(transparent)]
    Unknown(#[from] UnknownDiscipline),
    /// One of its parameters makes no sense.
    #[error(transparent)]
    Parameter(#[from] BadParameter),
}

/// A parameter outside of what is allowed. The fields are public so that a caller can point at the place in its file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{parameter}` of `{discipline}`{} is {given}; allowed: {allowed}", place(within))]
pub struct BadParameter {
    /// The discipline's name in the catalogue.
    pub discipline: &'static str,
    /// The parameter's name, as typed; in an item of a list with the way to it, from 0: `band.0.discipline`.
    pub parameter: Cow<'static, str>,
    /// The table of parameters that it stands in, inside other disciplines: `prio.band.0.parameters`, where the first band is
    /// 0. Empty for a discipline that stands in no other.
    pub within: String,
    /// What was given, or what its default came to.
    pub given: String,
    /// What is allowed.
    pub allowed: String,
}

impl BadParameter {
    /// Where it stands among what was typed, from the outermost discipline on: `prio.band.0.parameters.red.weight`.
    pub fn path(&self) -> String {
        let dot = if self.within.is_empty() { "" } else { "." };
        format!("{}{dot}{}.{}", self.within, self.discipline, self.parameter)
    }

    /// The same, of a discipline or a marker whose parameters stand in the table `outer`.
    pub(crate) fn inside(self, outer: &str) -> Self {
        let dot = if self.within.is_empty() { "" } else { "." };
        BadParameter { within: format!("{outer}{dot}{}", self.within), ..self }
    }

    /// The same, of `key` in the item at `place` of the list that the parameter is.
    pub(crate) fn of_item(self, place: usize, key: &str) -> Self {
        BadParameter { parameter: format!("{}.{place}.{key}", self.parameter).into(), ..self }
    }
}

fn place(within: &str) -> String {
    if within.is_empty() { String::new() } else { format!(" in `{within}`") }
}

/// Says whose parameter was out of range.
pub trait Of<T> {
    /// The same, with the error as that of `discipline`.
    fn of(self, discipline: &'static str) -> Result<T, BadParameter>;
}

impl<T> Of<T> for Result<T, OutOfRange> {
    fn of(self, discipline: &'static str) -> Result<T, BadParameter> {
        self.map_err(|OutOfRange { name, given, allowed }| {
            Parameter { discipline, name }.refuse(given, allowed)
        })
    }
}

/// Names a parameter while it is being checked.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The discipline's name in the catalogue.
    pub discipline: &'static str,
    /// The parameter's name, as typed.
    pub name: &'static str,
}

impl Parameter {
    /// The error of what was given for it, and what is allowed.
    pub fn refuse(self, given: impl Display, allowed: impl Display) -> BadParameter {
        BadParameter {
            discipline: self.discipline,
            parameter: self.name.into(),
            within: String::new(),
            given: given.to_string(),
            allowed: allowed.to_string(),
        }
    }

    /// `value`, if it is above zero and at most `most`. Not-a-number is refused like everything else.
    pub fn above_zero(self, value: f64, most: f64) -> Result<f64, BadParameter> {
        if value > 0.0 && value <= most {
            Ok(value)
        } else {
            Err(self.refuse(value, format_args!("a number above 0, at most {most}")))
        }
    }

    /// `value`, if it is a count from 1 to `most`.
    pub fn count(self, value: u32, most: u32) -> Result<u32, BadParameter> {
        if (1..=most).contains(&value) {
            Ok(value)
        } else {
            Err(self.refuse(value, format_args!("a whole number from 1 to {most}")))
        }
    }
}
