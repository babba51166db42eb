//! What is asked of a running gateway, as far as it is refused before one is needed.

use crate::common;

use common::{code, run, stderr};
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// Refused as the user's to mend, with these parts in the message.
fn refused(args: &[&str], parts: &[&str]) {
    let output = run(args);
    let message = stderr(&output);
    assert_eq!(code(&output), 2, "{args:?}: {message}");
    parts.iter().for_each(|part| assert!(message.contains(part), "{args:?}: no `{part}` in {message}"));
}

#[test]
fn a_configuration_that_is_a_pipe_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe.toml");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).expect("a pipe");
    let pipe = pipe.display().to_string();
    refused(&["gateway", "reload", &pipe], &["pipe.toml"]);
}

#[test]
fn a_weight_that_is_none_is_told_with_what_is_allowed() {
    for weight in ["abc", "-2", "0", "nan", "inf", "1e7"] {
        refused(&["gateway", "weigh", "gw.toml", "a", weight], &[weight, "from 0.000001 to 1000000"]);
    }
}

#[test]
fn a_capture_goes_to_a_new_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().display().to_string();
    refused(
        &["gateway", "capture", "gw.toml", "--out", &place],
        &[&place, "it is a folder", "not there yet"],
    );
}
