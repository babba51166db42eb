//! A file that is written once and replaces no other.

use crate::failure::Failure;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

const MAX_NAME: usize = 64;

/// A scenario or gateway name from the file's name: letters, digits, `-` and `_`. Returns
/// `otherwise` if the name does not start with a letter.
pub fn name_of(path: &Path, otherwise: &str) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let letter = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' };
    let name: String = stem.chars().map(letter).take(MAX_NAME).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { otherwise.into() }
}

/// Rejects a path that exists, or that is in a missing folder.
pub fn check_free(path: &Path) -> Result<(), Failure> {
    if path.symlink_metadata().is_ok() {
        return Err(taken(path));
    }
    match path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => Err(Failure::user(
            format!("`{}` is to be written, but there is no folder `{}`", path.display(), folder.display()),
            FOLDER,
        )),
        None => Ok(()),
    }
}

const FOLDER: &str = "allowed: a file in a folder that exists and can be written";

/// Writes `text` to a new file.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file =
        OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => taken(path),
            _ => Failure::user(format!("`{}`: {error}", path.display()), FOLDER),
        })?;
    file.write_all(text.as_bytes()).map_err(|error| {
        let _ = std::fs::remove_file(path);
        Failure::user(format!("`{}`: {error}", path.display()), "make room on the disk")
    })
}

fn taken(path: &Path) -> Failure {
    Failure::user(
        format!("`{}` exists, and nothing is written over it", path.display()),
        "allowed: the name of a file that does not exist",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_valid_for_a_scenario_and_a_gateway() {
        let name = |path: &str| name_of(Path::new(path), "scenario");
        assert_eq!(name("out/my link.toml"), "my-link");
        assert_eq!(name("2nd.toml"), "scenario");
        assert_eq!(name(&"x".repeat(99)).len(), MAX_NAME);
    }
}
