//! Parameters read from TOML text without serde, for small programs that embed a discipline.
//!
//! The reader refuses dates and texts of several lines. Otherwise it agrees with other readers of
//! TOML.

mod parse;
mod value;

pub use value::{Table, Value};

use crate::field::{Declared, Field};
use crate::quantity::Quantity;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Display};
use core::str::FromStr;
use fairwire_core::spelling;

/// An error in a text, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The line, from 1.
    pub line: u32,
    /// The error, and the allowed form.
    pub message: String,
}

impl core::error::Error for TextError {}

impl Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// The reason why a value is refused, and the allowed form.
pub type Refusal = String;

/// A type of value that can be read from text.
pub trait FromValue: Sized {
    /// Reads it.
    fn from_value(value: &Value) -> Result<Self, Refusal>;
}

/// The slot of a parameter in its struct: an `Option`.
pub trait Place {
    /// Puts the value into the slot.
    fn put(&mut self, value: &Value) -> Result<(), Refusal>;
}

impl<T: FromValue> Place for Option<T> {
    fn put(&mut self, value: &Value) -> Result<(), Refusal> {
        *self = Some(T::from_value(value)?);
        Ok(())
    }
}

/// A struct of declared parameters that can be read from text. Implemented by
/// [`parameters`](crate::parameters).
pub trait Placed: Declared {
    /// The slot of the parameter with index `at`.
    fn place(&mut self, at: usize) -> &mut dyn Place;
}

/// Reads the parameters of `S` from a TOML document.
///
/// # Errors
/// If the text is not TOML, or a parameter is unknown, missing or of the wrong type. Bounds are
/// checked later.
pub fn from_text<S: Placed>(text: &str) -> Result<S, TextError> {
    let mut given = S::default();
    put_all(&Table::parse(text)?, S::NAMES, const { required(S::FIELDS) }, &mut |at, value| {
        given.place(at).put(value)
    })?;
    Ok(given)
}

/// Reads the parameters of `S` from a nested table.
pub fn from_table<S: Placed>(value: &Value) -> Result<S, Refusal> {
    let Value::Table(table) = value else { return Err(value.instead_of("a table of parameters")) };
    let mut given = S::default();
    put_all(table, S::NAMES, const { required(S::FIELDS) }, &mut |at, value| given.place(at).put(value))
        .map_err(|error| error.message)?;
    Ok(given)
}

/// A bit for each parameter, set if required. Computed at compile time, to keep the texts of
/// declarations out of the program.
const fn required(fields: &[Field]) -> u64 {
    assert!(fields.len() <= 64);
    let (mut bits, mut at) = (0, 0);
    while at < fields.len() {
        bits |= (fields[at].is_required as u64) << at;
        at += 1;
    }
    bits
}

fn put_all(
    table: &Table,
    names: &[&str],
    required: u64,
    put: &mut dyn FnMut(usize, &Value) -> Result<(), Refusal>,
) -> Result<(), TextError> {
    for (name, line, value) in table.entries() {
        let at = names.iter().position(|other| *other == name);
        let result = at
            .ok_or_else(|| unknown(name, names))
            .and_then(|at| put(at, value).map_err(|message| format!("`{name}`: {message}")));
        result.map_err(|message| TextError { line, message })?;
    }
    match (0..).zip(names).find(|(at, name)| required >> at & 1 == 1 && !table.has(name)) {
        Some((_, missing)) => Err(TextError {
            line: table.line(),
            message: format!("`{missing}` is missing; it must be given"),
        }),
        None => Ok(()),
    }
}

fn unknown(name: &str, known: &[&str]) -> String {
    let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let (name, hint) = (shortened(name), spelling::hint(name, known.iter().copied()));
    format!("`{name}` is no parameter here; allowed: {}{hint}", names.join(", "))
}

fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

/// The meaning of the word `value`, as listed in `words`.
pub fn word<T: Copy>(value: &Value, words: &[(&str, T)]) -> Result<T, Refusal> {
    let is_it = |(word, _): &&(&str, T)| matches!(value, Value::Text(text) if text == word);
    let found = words.iter().find(is_it);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| no_word(value, &mut words.iter().map(|(word, _)| *word)))
}

/// The refusal of a value that is none of `words`. One function for all types saves code.
fn no_word(value: &Value, words: &mut dyn Iterator<Item = &str>) -> Refusal {
    let words: Vec<&str> = words.collect();
    let allowed = words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
    let Value::Text(text) = value else { return value.instead_of(allowed) };
    let hint = spelling::hint(text, words.iter().copied());
    format!("\"{}\" is given; allowed: {allowed}{hint}", shortened(text))
}

impl FromValue for bool {
    fn from_value(value: &Value) -> Result<Self, Refusal> {
        match value {
            Value::Truth(truth) => Ok(*truth),
            _ => Err(value.instead_of("true or false")),
        }
    }
}

impl FromValue for f64 {
    fn from_value(value: &Value) -> Result<Self, Refusal> {
        match value {
            Value::Number(number) => Ok(*number),
            Value::Whole(whole) => Ok(*whole as f64),
            _ => Err(value.instead_of("a number")),
        }
    }
}

impl FromValue for u32 {
    fn from_value(value: &Value) -> Result<Self, Refusal> {
        whole(value, u32::MAX)
    }
}

impl FromValue for u8 {
    fn from_value(value: &Value) -> Result<Self, Refusal> {
        whole(value, u8::MAX)
    }
}

fn whole<T: TryFrom<i64> + Display>(value: &Value, most: T) -> Result<T, Refusal> {
    let number = match value {
        Value::Whole(whole) => T::try_from(*whole).ok(),
        _ => None,
    };
    number.ok_or_else(|| value.instead_of(format_args!("a whole number from 0 to {most}")))
}

impl<T: FromStr<Err: Display>> FromValue for Quantity<T> {
    fn from_value(value: &Value) -> Result<Self, Refusal> {
        match value {
            Value::Text(text) => text.parse().map(Quantity).map_err(|error: T::Err| error.to_string()),
            _ => Err(value.instead_of("a text with a unit, such as \"10 ms\"")),
        }
    }
}

impl<T: FromValue> FromValue for Vec<T> {
    fn from_value(value: &Value) -> Result<Self, Refusal> {
        match value {
            Value::List(list) => list.iter().map(T::from_value).collect(),
            _ => Err(value.instead_of("a list")),
        }
    }
}
