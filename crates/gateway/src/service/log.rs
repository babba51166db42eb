//! The log of a gateway and of its guard: standard error.

use std::io::Write;

/// Writes a line.
pub(super) fn say(line: std::fmt::Arguments<'_>) {
    // Standard error may be closed.
    let _ = writeln!(std::io::stderr(), "{line}");
}
