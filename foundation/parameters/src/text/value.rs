//! The values of a text.

use super::shortened;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;

/// A value as given.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text in quotes.
    Text(String),
    /// An integer.
    Whole(i64),
    /// A number with a point or an exponent, an infinity, or not-a-number.
    Number(f64),
    /// True or false.
    Truth(bool),
    /// A list.
    List(Vec<Value>),
    /// A table.
    Table(Table),
}

/// A table: its keys in order, each with its line and value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub(super) entries: Vec<(String, u32, Value)>,
    pub(super) line: u32,
    pub(super) made_by: MadeBy,
}

/// The syntax that created a table. Only this syntax may add to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum MadeBy {
    /// `[name]`
    #[default]
    Header,
    /// `name.key = value`
    Dots,
    /// `name = { key = value }`
    Braces,
}

impl Value {
    /// The error message for this value where only `allowed` is accepted.
    pub fn instead_of(&self, allowed: impl Display) -> String {
        let given = match self {
            Value::Text(text) => format!("\"{}\"", shortened(text)),
            Value::Whole(whole) => format!("{whole}"),
            Value::Number(number) => format!("{number}"),
            Value::Truth(truth) => format!("{truth}"),
            Value::List(_) => "a list".into(),
            Value::Table(_) => "a table".into(),
        };
        format!("{given} is given; allowed: {allowed}")
    }
}

impl Table {
    /// The keys in order, each with its line and value.
    pub fn entries(&self) -> impl Iterator<Item = (&str, u32, &Value)> {
        self.entries.iter().map(|(key, line, value)| (&**key, *line, value))
    }

    /// The line in which the table begins.
    pub fn line(&self) -> u32 {
        self.line
    }

    pub(super) fn new(line: u32, made_by: MadeBy) -> Self {
        Table { entries: Vec::new(), line, made_by }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(other, ..)| other == key)
    }

    pub(super) fn entry(&mut self, key: String, line: u32, fresh: Value) -> &mut Value {
        let found = self.entries.iter().position(|(other, ..)| *other == key);
        let at = found.unwrap_or_else(|| {
            self.entries.push((key, line, fresh));
            self.entries.len() - 1
        });
        &mut self.entries[at].2
    }
}
