//! What is said on stderr.

use crate::terminal::{columns_of_stderr, wrapped};
use std::fmt;
use std::io::{self, Write};

/// Says `line` on stderr.
///
/// Where stderr cannot be written (a closed terminal, a full disk), nobody is there to be told, and the results must not
/// be lost for it: `eprintln!` would panic.
///
/// On a terminal a line ends between words. What has lines already is told as it is.
pub(crate) fn tell(line: fmt::Arguments<'_>) {
    let mut line = line.to_string();
    if let Some(columns) = columns_of_stderr().filter(|_| !line.contains('\n')) {
        line = wrapped(&line, columns, "  ");
    }
    let _ = writeln!(io::stderr().lock(), "{line}");
}
