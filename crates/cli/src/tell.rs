//! What is said on stderr.

use std::fmt;
use std::io::{self, Write};

/// Says `line` on stderr.
///
/// Where stderr cannot be written (a closed terminal, a full disk), nobody is there to be told, and the results must not
/// be lost for it: `eprintln!` would panic.
pub fn tell(line: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
