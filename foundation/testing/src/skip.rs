//! Tests that this machine cannot run.

use std::fmt::Display;
use std::io::Write;

/// Reports what was not tested, and why, directly on stderr: the test runner hides the output of a
/// passing test. `.ci/test` lists these lines in its summary.
///
/// # Panics
/// With `CI=true`, since everything must be tested there.
pub fn skipped(what_and_why: impl Display) {
    skipped_for_want_of_a_peer(&what_and_why);
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci != "true"),
        "nothing may be skipped here: {what_and_why}"
    );
}

/// As [`skipped`], for a comparison with a third-party program that is not installed. No machine
/// must have that program, so this is not a failure with `CI=true` either.
pub fn skipped_for_want_of_a_peer(what_and_why: impl Display) {
    let _ = writeln!(std::io::stderr(), "\nSKIPPED: {what_and_why}");
}
