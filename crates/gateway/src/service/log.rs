//! The log of a gateway and of its guard: standard error.

use std::io::Write;

/// Writes a line.
pub(super) fn say(line: std::fmt::Arguments<'_>) {
    // Nobody may be listening.
    let _ = writeln!(std::io::stderr(), "{line}");
}
