//! Notices on stderr.

use crate::terminal::{columns_of_stderr, wrapped};
use std::fmt;
use std::io::{self, Write};

/// Writes `line` to stderr. On a terminal, a single line is wrapped between words.
///
/// If the write fails, only the notice is lost. `eprintln!` would panic and lose the results.
pub fn notice(line: fmt::Arguments<'_>) {
    let mut line = line.to_string();
    if let Some(columns) = columns_of_stderr().filter(|_| !line.contains('\n')) {
        line = wrapped(&line, columns, "  ");
    }
    let _ = writeln!(io::stderr().lock(), "{line}");
}
