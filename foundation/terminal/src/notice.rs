//! Notices on stderr.

use crate::terminal::{columns_of_stderr, wrapped};
use std::fmt;
use std::io::{self, Write};

/// Writes `line` to stderr.
///
/// If stderr cannot be written (a closed terminal, a full disk), the notice is lost; `eprintln!`
/// would panic and lose the results.
///
/// On a terminal, a single line is wrapped between words.
pub fn notice(line: fmt::Arguments<'_>) {
    let mut line = line.to_string();
    if let Some(columns) = columns_of_stderr().filter(|_| !line.contains('\n')) {
        line = wrapped(&line, columns, "  ");
    }
    let _ = writeln!(io::stderr().lock(), "{line}");
}
