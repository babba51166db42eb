//! The breaches that rules find.

use std::fmt;

/// A breach of a rule, and its position.
#[derive(Clone, Debug)]
pub struct Breach {
    /// The file, relative to the root of the repository.
    pub path: String,
    /// The line, counted from 1; 0 for the entire file.
    pub line: usize,
    /// The text found, and what is allowed.
    pub message: String,
}

impl Breach {
    /// A breach of an entire file.
    pub fn of(path: &str, message: impl Into<String>) -> Breach {
        Breach::at(path, 0, message)
    }

    /// A breach in a line, counted from 1.
    pub fn at(path: &str, line: usize, message: impl Into<String>) -> Breach {
        Breach { path: path.into(), line, message: message.into() }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = if self.line == 0 { String::new() } else { format!(":{}", self.line) };
        write!(f, "{}{line}: {}", self.path, self.message)
    }
}
