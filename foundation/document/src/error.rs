//! The errors of documents.

use crate::location::Location;
use crate::words::{printable, shortened};
use fairwire_core::spelling::{hint, likely, question};
use std::fmt;
use std::path::PathBuf;

/// The maximum number of parts that a message names as owners of an unknown key. More owners would
/// give no clue.
pub const MAX_OWNERS: usize = 3;

/// A rejected document.
#[derive(Debug)]
pub struct DocumentError {
    /// The problem.
    pub problem: Problem,
    /// The problem's location; absent if the file could not be read.
    pub location: Option<Box<Location>>,
    /// Other problems, in the order of the text.
    pub more: Box<[DocumentError]>,
}

/// A fault of a document.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// There is no such file.
    #[error(
        "there is no {} `{}`",
        if wanted.starts_with("a folder") { "folder" } else { "file" },
        path.display()
    )]
    NotFound {
        /// The given path.
        path: PathBuf,
        /// The files in the same folder with the most similar names.
        nearest: Vec<String>,
        /// The expected type of file.
        wanted: &'static str,
    },
    /// The path names a directory.
    #[error("`{}` is a directory", path.display())]
    Directory {
        /// The given path.
        path: PathBuf,
    },
    /// The path does not name a directory.
    #[error("`{}` is not a directory", path.display())]
    NotADirectory {
        /// The given path.
        path: PathBuf,
    },
    /// A pipe or a device, which may block or never end.
    #[error("`{}` is no regular file", path.display())]
    NotAFile {
        /// The given path.
        path: PathBuf,
    },
    /// The file exists but cannot be read.
    #[error("`{}` cannot be read: {cause}", path.display())]
    Unreadable {
        /// The given path.
        path: PathBuf,
        /// The system's error.
        cause: std::io::Error,
    },
    /// The file is larger than any document of its type needs.
    #[error("`{}` is too large{}", path.display(), bytes.map_or(String::new(), |b| format!(": {b} bytes")))]
    TooLarge {
        /// The given path.
        path: PathBuf,
        /// The size of the file, if the system reports it without reading.
        bytes: Option<u64>,
        /// The maximum size, in bytes.
        max: u64,
    },
    /// The file is not UTF-8.
    #[error("`{}` is not UTF-8 text: byte {offset} is 0x{byte:02x}", path.display())]
    NotText {
        /// The given path.
        path: PathBuf,
        /// Offset of the first invalid byte.
        offset: usize,
        /// The byte.
        byte: u8,
    },
    /// The text is not TOML.
    #[error("this is not TOML: {message}")]
    NotToml {
        /// The parser's message.
        message: String,
    },
    /// A key or a word that is invalid at its location.
    #[error("unknown {what} `{given}`")]
    Unknown {
        /// The type of name, such as `key`.
        what: &'static str,
        /// The given name.
        given: String,
        /// The allowed names.
        allowed: Vec<String>,
    },
    /// An unknown key that is a parameter of other parts.
    #[error("unknown key `{given}`: it is a parameter of {}", joined(of, "and"))]
    Elsewhere {
        /// The given key.
        given: String,
        /// The parts with this parameter.
        of: Vec<String>,
        /// The allowed keys.
        allowed: Vec<String>,
    },
    /// A required key is missing.
    #[error("the key `{key}` is missing{}{}", within(table), remark(note))]
    Missing {
        /// The key.
        key: String,
        /// The table that lacks the key; empty for the top level.
        table: String,
        /// The reason or an alternative; may be empty.
        note: String,
    },
    /// A value of the wrong type, or one that cannot be parsed.
    #[error("{}{}", if key.is_empty() { String::new() } else { format!("`{key}`: ") }, halves(message).0)]
    BadValue {
        /// The dotted key of the value; empty if the message is about a key.
        key: String,
        /// The given value, followed by `; allowed: ` and the allowed values.
        message: String,
    },
    /// An invalid value of the right type.
    #[error("`{key}` is {given}, but {why}")]
    Refused {
        /// The dotted key.
        key: String,
        /// The given value.
        given: String,
        /// Why it is rejected.
        why: String,
        /// The allowed values.
        allowed: String,
    },
    /// A `--set` that cannot be applied.
    #[error("{message}")]
    BadOverride {
        /// The given text and its error.
        message: String,
        /// The allowed forms.
        allowed: String,
    },
}

/// A `note` with an alternative to the missing key begins with this text.
const ALTERNATIVE: &str = "or ";

impl Problem {
    /// Removes control characters and shortens user text.
    pub(crate) fn printable(mut self) -> Self {
        match &mut self {
            Problem::Unknown { given, .. }
            | Problem::Elsewhere { given, .. }
            | Problem::Refused { given, .. } => *given = shortened(given),
            Problem::Missing { key, table, .. } => (*key, *table) = (shortened(key), shortened(table)),
            Problem::NotToml { message } | Problem::BadOverride { message, .. } => {
                *message = printable(message)
            }
            Problem::BadValue { key, message } => (*key, *message) = (shortened(key), printable(message)),
            _ => {}
        }
        self
    }

    pub(crate) fn with_keys(mut self, named: impl Fn(&str) -> String) -> Self {
        match &mut self {
            Problem::Missing { table: key, .. }
            | Problem::BadValue { key, .. }
            | Problem::Refused { key, .. } => *key = named(key),
            _ => {}
        }
        self
    }

    /// The allowed values, and the nearest spelling.
    pub fn advice(&self) -> Option<String> {
        match self {
            Problem::NotFound { nearest, wanted, .. } => {
                let near = question(nearest).map_or(String::new(), |question| format!("; {question}"));
                Some(format!("allowed: {wanted}{near}"))
            }
            Problem::Directory { .. } => Some("allowed: a file".into()),
            Problem::NotADirectory { .. } => Some("allowed: a directory".into()),
            Problem::Unreadable { path, .. } if path.is_dir() => Some("allowed: a readable folder".into()),
            Problem::Unreadable { .. } => Some("allowed: a readable file".into()),
            Problem::NotAFile { .. } => Some("allowed: a regular file, no pipe and no device".into()),
            Problem::TooLarge { max, .. } => Some(format!("allowed: at most {max} bytes")),
            Problem::NotText { .. } => Some("allowed: text in UTF-8".into()),
            Problem::NotToml { .. } => {
                let example = "`rate = \"10 Mbit/s\"`";
                Some(format!("allowed: TOML, for example {example}, one key to a line, each key once"))
            }
            Problem::Unknown { what, allowed, .. } if allowed.is_empty() => {
                Some(format!("allowed: no {what} here"))
            }
            Problem::Unknown { given, allowed, .. } => {
                let known = match allowed.get(MAX_LISTED..) {
                    None | Some([]) => listed(allowed),
                    Some(_) => format!("one of the {} that there are", allowed.len()),
                };
                // A single allowed word needs no suggestion.
                let meant = allowed.iter().map(String::as_str).filter(|_| allowed.len() > 1);
                Some(format!("allowed: {known}{}", hint(given, meant)))
            }
            Problem::Elsewhere { allowed, .. } => Some(format!("allowed: {}", listed(allowed))),
            Problem::Missing { key, table, .. } if key == "flow" && table.is_empty() => {
                Some("add `[[flow]]`".into())
            }
            Problem::Missing { key, note, .. } => match note.strip_prefix(ALTERNATIVE) {
                Some(other) => Some(format!("add `{key} = …`, or {other}")),
                None => Some(format!("add `{key} = …`")),
            },
            Problem::BadValue { message, .. } => {
                halves(message).1.map(|allowed| format!("allowed: {allowed}"))
            }
            Problem::Refused { allowed, .. } | Problem::BadOverride { allowed, .. } => {
                Some(format!("allowed: {allowed}"))
            }
        }
    }
}

impl DocumentError {
    /// The first of `faults`, with the others in `more`; `None` without faults.
    pub fn of_all(faults: Vec<DocumentError>) -> Option<DocumentError> {
        let mut faults = faults.into_iter();
        let first = faults.next()?;
        Some(DocumentError { more: faults.collect(), ..first })
    }

    /// Adds the `owners` of an unknown key to the error: the parts that have this parameter.
    /// Changes nothing if there are more than three owners, or if an allowed key is spelt
    /// similarly.
    pub fn with_owners(mut self, owners: &dyn Fn(&str) -> Vec<&'static str>) -> DocumentError {
        self.more = self.more.into_iter().map(|error| error.with_owners(owners)).collect();
        let Problem::Unknown { what: "key", given, allowed } = &mut self.problem else { return self };
        let of = owners(given);
        if (1..=MAX_OWNERS).contains(&of.len())
            && likely(given, allowed.iter().map(String::as_str)).is_empty()
        {
            let (given, allowed) = (std::mem::take(given), std::mem::take(allowed));
            self.problem =
                Problem::Elsewhere { given, of: of.into_iter().map(String::from).collect(), allowed };
        }
        self
    }
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(f, "{}:{}:{}: ", location.source, location.line, location.column)?;
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
        DocumentError { problem, location: None, more: Box::default() }
    }
}

/// The maximum number of allowed words in a message. Tables have fewer keys, and there are fewer
/// disciplines.
const MAX_LISTED: usize = 100;

/// `a`, `b` or `c`.
pub fn listed(items: &[String]) -> String {
    joined(items, "or")
}

fn joined(items: &[String], before_last: &str) -> String {
    let quoted: Vec<String> = items.iter().map(|item| format!("`{item}`")).collect();
    match quoted.split_last() {
        None => "nothing".into(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {before_last} {last}", rest.join(", ")),
    }
}

fn halves(message: &str) -> (&str, Option<&str>) {
    message.split_once("; allowed: ").map_or((message, None), |(given, allowed)| (given, Some(allowed)))
}

fn remark(note: &str) -> String {
    if note.is_empty() || note.starts_with(ALTERNATIVE) { String::new() } else { format!(" ({note})") }
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

    #[test]
    fn a_key_of_a_few_other_disciplines_is_attributed_to_them() {
        let allowed = || vec!["quantum".to_owned(), "per".to_owned()];
        let message = |given: &str, owners: &[&'static str]| {
            let problem = Problem::Unknown { what: "key", given: given.into(), allowed: allowed() };
            let outer = Problem::Unknown { what: "key", given: "other".into(), allowed: allowed() };
            let more = Box::new([DocumentError::from(problem)]);
            let all = DocumentError { more, ..outer.into() };
            let owners = |key: &str| if key == given { owners.to_vec() } else { Vec::new() };
            all.with_owners(&owners).to_string().lines().last().map(String::from).unwrap_or_default()
        };
        let allowed = "; allowed: `quantum` or `per`";
        let of = |owners: &str| format!("unknown key `lambda2`: it is a parameter of {owners}{allowed}");
        assert_eq!(message("lambda2", &["faba"]), of("`faba`"));
        assert_eq!(message("lambda2", &["faba", "hfaba"]), of("`faba` and `hfaba`"));
        assert_eq!(message("lambda2", &["a", "b", "c", "d"]), format!("unknown key `lambda2`{allowed}"));
        let near = message("quantun", &["other"]);
        assert_eq!(near, format!("unknown key `quantun`{allowed}; did you mean `quantum`?"));
    }
}
