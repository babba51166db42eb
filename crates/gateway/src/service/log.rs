//! The log of a gateway and of its guard: standard error.

use crate::telemetry::{Board, ChangeKind};
use std::io::Write;

/// Writes a line.
pub(super) fn say(line: std::fmt::Arguments<'_>) {
    // Standard error may be closed.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Writes that `text` happened, and notes it for readers of `board`.
pub(super) fn report(board: &Board, kind: ChangeKind, text: String) {
    say(format_args!("{text}"));
    board.note(kind, text);
}
