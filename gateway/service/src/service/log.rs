//! Writes the log of a gateway and of its guard to standard error.

use crate::telemetry::{Board, ChangeKind};
use std::cell::RefCell;
use std::io::{self, Write};
use std::thread::{Builder, JoinHandle};

thread_local! {
    /// The gateway for which this thread logs, if its process has several.
    static GATEWAY: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Puts this gateway name before each line of this thread, and of threads that this thread starts
/// with [`start`].
pub(super) fn set_gateway(name: Option<String>) {
    GATEWAY.with_borrow_mut(|own| *own = name);
}

/// Writes a line.
pub fn say(line: std::fmt::Arguments<'_>) {
    // The write fails if standard error is closed.
    let _ = GATEWAY.with_borrow(|gateway| match gateway {
        Some(name) => writeln!(io::stderr(), "{name}: {line}"),
        None => writeln!(io::stderr(), "{line}"),
    });
}

pub(super) fn report(board: &Board, kind: ChangeKind, text: String) {
    say(format_args!("{text}"));
    board.note(kind, text);
}

pub(super) fn start<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let gateway = GATEWAY.with_borrow(Clone::clone);
    Builder::new().name(name.to_owned()).spawn(move || {
        set_gateway(gateway);
        body()
    })
}
