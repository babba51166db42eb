//! Tests that this machine cannot run.

use std::fmt::Display;
use std::io::Write;

/// Says loudly that something was not tested, and why: past the test runner, which swallows what a
/// passing test prints. `.ci/test` gathers these lines in its summary.
///
/// # Panics
/// With `CI=true`, where everything must be tested.
pub fn skipped(what_and_why: impl Display) {
    skipped_for_want_of_a_peer(&what_and_why);
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci != "true"),
        "nothing may be skipped here: {what_and_why}"
    );
}

/// As [`skipped`], for a comparison with a third-party program that is not installed. No machine
/// needs it, so this is no failure with `CI=true` either.
pub fn skipped_for_want_of_a_peer(what_and_why: impl Display) {
    let _ = writeln!(std::io::stderr(), "\nSKIPPED: {what_and_why}");
}
