//! What can be wrong with a document.

use crate::place::Place;
use crate::words::{printable, shortened};
use fairwire_core::spelling::{hint, question};
use std::fmt;
use std::path::PathBuf;

/// A document that was refused: the problem, and where it stands.
#[derive(Debug)]
pub struct DocumentError {
    /// What is wrong.
    pub problem: Problem,
    /// Where; absent when the file could not be read at all.
    pub place: Option<Box<Place>>,
    /// What else is wrong that the same reading found, in the order of the text.
    pub more: Box<[DocumentError]>,
}

/// What is wrong with a document.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// There is no such file.
    #[error("there is no file `{}`", path.display())]
    NotThere {
        /// What was asked for.
        path: PathBuf,
        /// The files beside it with the nearest names.
        nearest: Vec<String>,
        /// Which kind of file was meant.
        wanted: &'static str,
    },
    /// A directory stands there.
    #[error("`{}` is a directory", path.display())]
    Directory {
        /// What was asked for.
        path: PathBuf,
    },
    /// A pipe or a device: it may have no end, or nobody may ever write to it.
    #[error("`{}` is no regular file", path.display())]
    NotAFile {
        /// What was asked for.
        path: PathBuf,
    },
    /// The file is there but cannot be read.
    #[error("`{}` cannot be read: {cause}", path.display())]
    Unreadable {
        /// What was asked for.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// More than any such document needs.
    #[error("`{}` is too large{}", path.display(), bytes.map_or(String::new(), |b| format!(": {b} bytes")))]
    TooLarge {
        /// What was asked for.
        path: PathBuf,
        /// Its size, where the system tells it without reading.
        bytes: Option<u64>,
        /// The largest that is read, in bytes.
        most: u64,
    },
    /// Not UTF-8.
    #[error("`{}` is not UTF-8 text: byte {offset} is 0x{byte:02x}", path.display())]
    NotText {
        /// What was asked for.
        path: PathBuf,
        /// Offset of the first byte that is wrong.
        offset: usize,
        /// That byte.
        byte: u8,
    },
    /// Not TOML.
    #[error("this is not TOML: {message}")]
    NotToml {
        /// What the parser said.
        message: String,
    },
    /// A key or a word that does not exist here.
    #[error("unknown {what} `{given}`")]
    Unknown {
        /// What kind of thing, such as `key`.
        what: &'static str,
        /// What was given.
        given: String,
        /// What exists.
        allowed: Vec<String>,
    },
    /// A key that must be there is not.
    #[error("the key `{key}` is missing{}{}", within(table), remark(note))]
    Missing {
        /// The key.
        key: String,
        /// The table in which it is missing; empty for the top level.
        table: String,
        /// Why it must be there, or what may stand there instead; may be empty.
        note: String,
    },
    /// A value of the wrong type, or one that cannot be read.
    #[error("`{key}`: {message}")]
    BadValue {
        /// The key, dotted.
        key: String,
        /// What was given and what is allowed.
        message: String,
    },
    /// A value that can be read but makes no sense.
    #[error("`{key}` is {given}, but {why}")]
    Refused {
        /// The key, dotted.
        key: String,
        /// What was given.
        given: String,
        /// Why it is refused.
        why: String,
        /// What is allowed.
        allowed: String,
    },
    /// A `--set` that cannot be applied.
    #[error("{message}")]
    BadOverride {
        /// What was given and what is wrong with it.
        message: String,
        /// What is allowed.
        allowed: String,
    },
}

impl Problem {
    /// The same, where what the user typed can steer no terminal and is not repeated at length.
    pub(crate) fn printable(mut self) -> Self {
        match &mut self {
            Problem::Unknown { given, .. } | Problem::Refused { given, .. } => *given = shortened(given),
            Problem::Missing { key, table, .. } => (*key, *table) = (shortened(key), shortened(table)),
            Problem::NotToml { message } | Problem::BadOverride { message, .. } => {
                *message = printable(message)
            }
            Problem::BadValue { key, message } => (*key, *message) = (shortened(key), printable(message)),
            _ => {}
        }
        self
    }

    /// The same with keys as `named` has them.
    pub(crate) fn with_keys(mut self, named: impl Fn(&str) -> String) -> Self {
        match &mut self {
            Problem::Missing { table: key, .. }
            | Problem::BadValue { key, .. }
            | Problem::Refused { key, .. } => *key = named(key),
            _ => {}
        }
        self
    }

    /// What is allowed, and the nearest right spelling: the second half of the message.
    pub fn advice(&self) -> Option<String> {
        match self {
            Problem::NotThere { nearest, wanted, .. } => {
                let near = question(nearest).map_or(String::new(), |question| format!("; {question}"));
                Some(format!("allowed: {wanted}{near}"))
            }
            Problem::Directory { .. } | Problem::Unreadable { .. } => Some("allowed: a readable file".into()),
            Problem::NotAFile { .. } => Some("allowed: a regular file, no pipe and no device".into()),
            Problem::TooLarge { most, .. } => Some(format!("allowed: at most {most} bytes")),
            Problem::NotText { .. } => Some("allowed: text in UTF-8".into()),
            Problem::NotToml { .. } => {
                Some("allowed: TOML, for example `rate = \"10 Mbit/s\"`, one key to a line".into())
            }
            Problem::Unknown { given, allowed, .. } => Some(format!(
                "allowed: {}{}",
                listed(allowed),
                hint(given, allowed.iter().map(String::as_str))
            )),
            Problem::Missing { key, .. } => Some(format!("add `{key} = …`")),
            Problem::BadValue { .. } => None,
            Problem::Refused { allowed, .. } | Problem::BadOverride { allowed, .. } => {
                Some(format!("allowed: {allowed}"))
            }
        }
    }
}

impl DocumentError {
    /// All of `faults` as one: the first, with the others beside it. `None` where there are none.
    pub fn of_all(faults: Vec<DocumentError>) -> Option<DocumentError> {
        let mut faults = faults.into_iter();
        let first = faults.next()?;
        Some(DocumentError { more: faults.collect(), ..first })
    }
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{}:{}:{}: ", place.source, place.line, place.column)?;
        }
        write!(f, "{}", self.problem)?;
        if let Some(advice) = self.problem.advice() {
            write!(f, "; {advice}")?;
        }
        self.more.iter().try_for_each(|error| write!(f, "\n{error}"))
    }
}

impl std::error::Error for DocumentError {}

impl From<Problem> for DocumentError {
    fn from(problem: Problem) -> Self {
        DocumentError { problem, place: None, more: Box::default() }
    }
}

/// `a`, `b` or `c`.
pub fn listed(items: &[String]) -> String {
    let quoted: Vec<String> = items.iter().map(|item| format!("`{item}`")).collect();
    match quoted.split_last() {
        None => "nothing".into(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

fn remark(note: &str) -> String {
    if note.is_empty() { String::new() } else { format!(" ({note})") }
}

fn within(table: &str) -> String {
    if table.is_empty() { String::new() } else { format!(" in `{table}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_as_prose() {
        assert_eq!(listed(&["a".into()]), "`a`");
        assert_eq!(listed(&["a".into(), "b".into(), "c".into()]), "`a`, `b` or `c`");
        assert_eq!(listed(&[]), "nothing");
    }
}
