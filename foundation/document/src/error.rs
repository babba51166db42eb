//! The errors of documents.

use crate::location::Location;
use crate::words::{printable, shortened};
use fairwire_core::spelling::{hint, likely, question};
use std::fmt;
use std::path::PathBuf;

/// The most owners of a parameter that a message names. With more of them, the owner gives no clue
/// to what was meant.
pub const MAX_OWNERS: usize = 3;

/// A document that was refused: the problem, and its location.
#[derive(Debug)]
pub struct DocumentError {
    /// The fault itself.
    pub problem: Problem,
    /// Its location; absent when the file could not be read at all.
    pub location: Option<Box<Location>>,
    /// Other problems found in the same reading, in the order of the text.
    pub more: Box<[DocumentError]>,
}

/// A fault of a document.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// There is no such file.
    #[error("there is no file `{}`", path.display())]
    NotFound {
        /// The path that was given.
        path: PathBuf,
        /// The files of the same folder with the nearest names.
        nearest: Vec<String>,
        /// Which kind of file was meant.
        wanted: &'static str,
    },
    /// The path names a directory.
    #[error("`{}` is a directory", path.display())]
    Directory {
        /// The path that was given.
        path: PathBuf,
    },
    /// The path does not name a directory.
    #[error("`{}` is not a directory", path.display())]
    NotADirectory {
        /// The path that was given.
        path: PathBuf,
    },
    /// A pipe or a device, which may have no end or never be written to.
    #[error("`{}` is no regular file", path.display())]
    NotAFile {
        /// The path that was given.
        path: PathBuf,
    },
    /// The file exists but cannot be read.
    #[error("`{}` cannot be read: {cause}", path.display())]
    Unreadable {
        /// The path that was given.
        path: PathBuf,
        /// The error of the system.
        cause: std::io::Error,
    },
    /// The file is larger than any document of its kind needs.
    #[error("`{}` is too large{}", path.display(), bytes.map_or(String::new(), |b| format!(": {b} bytes")))]
    TooLarge {
        /// The path that was given.
        path: PathBuf,
        /// Its size, where the system reports it without reading.
        bytes: Option<u64>,
        /// The maximum size, in bytes.
        max: u64,
    },
    /// The file is not UTF-8.
    #[error("`{}` is not UTF-8 text: byte {offset} is 0x{byte:02x}", path.display())]
    NotText {
        /// The path that was given.
        path: PathBuf,
        /// Offset of the first byte that is wrong.
        offset: usize,
        /// That byte.
        byte: u8,
    },
    /// The text is not TOML.
    #[error("this is not TOML: {message}")]
    NotToml {
        /// The message of the parser.
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
    /// An unknown key that is a parameter of other parts.
    #[error("unknown key `{given}`: it is a parameter of {}", joined(of, "and"))]
    Elsewhere {
        /// What was given.
        given: String,
        /// The parts with that parameter.
        of: Vec<String>,
        /// The keys that exist here.
        allowed: Vec<String>,
    },
    /// A required key is missing.
    #[error("the key `{key}` is missing{}{}", within(table), remark(note))]
    Missing {
        /// The key.
        key: String,
        /// The table in which it is missing; empty for the top level.
        table: String,
        /// Why it is required, or what can be given instead; may be empty.
        note: String,
    },
    /// A value of the wrong type, or one that cannot be read.
    #[error("`{key}`: {}", halves(message).0)]
    BadValue {
        /// The key, dotted.
        key: String,
        /// What was given; then `; allowed: ` and what is allowed.
        message: String,
    },
    /// A value of the right type that makes no sense.
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
    /// The same problem without control characters, and with the user's text shortened.
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

    /// The same problem with keys renamed by `named`.
    pub(crate) fn with_keys(mut self, named: impl Fn(&str) -> String) -> Self {
        match &mut self {
            Problem::Missing { table: key, .. }
            | Problem::BadValue { key, .. }
            | Problem::Refused { key, .. } => *key = named(key),
            _ => {}
        }
        self
    }

    /// The second half of the message: what is allowed, and the nearest spelling.
    pub fn advice(&self) -> Option<String> {
        match self {
            Problem::NotFound { nearest, wanted, .. } => {
                let near = question(nearest).map_or(String::new(), |question| format!("; {question}"));
                Some(format!("allowed: {wanted}{near}"))
            }
            Problem::Directory { .. } => Some("allowed: a file".into()),
            Problem::NotADirectory { .. } => Some("allowed: a directory".into()),
            Problem::Unreadable { .. } => Some("allowed: a readable file".into()),
            Problem::NotAFile { .. } => Some("allowed: a regular file, no pipe and no device".into()),
            Problem::TooLarge { max, .. } => Some(format!("allowed: at most {max} bytes")),
            Problem::NotText { .. } => Some("allowed: text in UTF-8".into()),
            Problem::NotToml { .. } => {
                Some("allowed: TOML, for example `rate = \"10 Mbit/s\"`, one key to a line".into())
            }
            Problem::Unknown { allowed, .. } if allowed.is_empty() => Some("allowed: none here".into()),
            Problem::Unknown { given, allowed, .. } => {
                let known = match allowed.get(MAX_LISTED..) {
                    None | Some([]) => listed(allowed),
                    Some(_) => format!("one of the {} that there are", allowed.len()),
                };
                // Where one word is allowed, there is no doubt about what was meant.
                let meant = allowed.iter().map(String::as_str).filter(|_| allowed.len() > 1);
                Some(format!("allowed: {known}{}", hint(given, meant)))
            }
            Problem::Elsewhere { allowed, .. } => Some(format!("allowed: {}", listed(allowed))),
            Problem::Missing { key, table, .. } if key == "flow" && table.is_empty() => {
                Some("add `[[flow]]`".into())
            }
            Problem::Missing { key, .. } => Some(format!("add `{key} = …`")),
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
    /// Merges `faults` into one error: the first, which carries the others. `None` if there are
    /// none.
    pub fn of_all(faults: Vec<DocumentError>) -> Option<DocumentError> {
        let mut faults = faults.into_iter();
        let first = faults.next()?;
        Some(DocumentError { more: faults.collect(), ..first })
    }

    /// The same error, where an unknown key is said to be a parameter of the parts that `owners`
    /// returns for it. More than three parts, or a near spelling, leave it as it is.
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

/// Allowed words that a message lists: more than there are keys in a table, or disciplines.
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

/// Splits the message: the given value, and the allowed values if it names them.
fn halves(message: &str) -> (&str, Option<&str>) {
    message.split_once("; allowed: ").map_or((message, None), |(given, allowed)| (given, Some(allowed)))
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

    #[test]
    fn a_parameter_of_few_others_is_said_to_be_theirs_unless_a_spelling_is_near() {
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
