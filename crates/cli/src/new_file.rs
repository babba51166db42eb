//! A file that is written once, and over nothing.

use crate::failure::Failure;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

/// Refuses a path where something is.
pub(crate) fn check_free(path: &Path) -> Result<(), Failure> {
    if path.symlink_metadata().is_ok() { Err(taken(path)) } else { Ok(()) }
}

/// Writes `text` to a new file.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file =
        OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => taken(path),
            _ => Failure::user(
                format!("`{}`: {error}", path.display()),
                "allowed: a file in a folder that is there and can be written",
            ),
        })?;
    file.write_all(text.as_bytes()).map_err(|error| {
        // What is there is half of it, and ours.
        let _ = std::fs::remove_file(path);
        Failure::user(format!("`{}`: {error}", path.display()), "make room on the disk")
    })
}

fn taken(path: &Path) -> Failure {
    Failure::user(
        format!("`{}` is there already, and nothing is written over it", path.display()),
        "allowed: the name of a file that is not there yet",
    )
}
