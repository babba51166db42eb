//! Tests that this machine cannot run.

use std::fmt::Display;
use std::io::Write;

/// Reports an untested feature and the reason. Writes directly to stderr, because the test runner
/// hides the output of a passing test. `.ci/test` lists these lines in its summary.
///
/// # Panics
/// With `CI=true`, because CI must test everything.
pub fn skipped(what_and_why: impl Display) {
    skipped_for_want_of_a_peer(&what_and_why);
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci != "true"),
        "nothing may be skipped here: {what_and_why}"
    );
}

/// Like [`skipped`], for a missing third-party program. `CI=true` causes no failure, because the
/// program is optional.
pub fn skipped_for_want_of_a_peer(what_and_why: impl Display) {
    let _ = writeln!(std::io::stderr(), "\nSKIPPED: {what_and_why}");
}
