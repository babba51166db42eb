//! Files named by users: regular, bounded, UTF-8.

use crate::error::{DocumentError, Problem};
use fairwire_core::spelling::likely;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// Reads a file of at most `max_bytes`. If the file is missing, the error names the type `wanted`,
/// such as `a scenario file in TOML`.
pub fn read_text(path: &Path, max_bytes: u64, wanted: &'static str) -> Result<String, DocumentError> {
    text_of(path, bounded(path, max_bytes, wanted)?)
}

fn text_of(path: &Path, bytes: Vec<u8>) -> Result<String, DocumentError> {
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        Problem::NotText { path: path.into(), offset, byte: error.as_bytes()[offset] }.into()
    })
}

/// Reads an open file from its start, for a process without the permission to open `path`.
pub fn read_open(
    mut file: &File,
    path: &Path,
    max_bytes: u64,
    wanted: &'static str,
) -> Result<String, DocumentError> {
    io::Seek::rewind(&mut file).map_err(|cause| unreadable(path, cause, wanted))?;
    text_of(path, rest(file, path, max_bytes, wanted)?)
}

/// Reads a file of at most `max` bytes. A larger file is rejected before reading if the system
/// reports its size, and otherwise after `max` bytes.
pub fn bounded(path: &Path, max: u64, wanted: &'static str) -> Result<Vec<u8>, Problem> {
    // Checked before opening, because opening a pipe without a writer blocks forever.
    let about = fs::metadata(path).map_err(|cause| unreadable(path, cause, wanted))?;
    refuse_by_kind(&about, path, max)?;
    let file = File::open(path).map_err(|cause| unreadable(path, cause, wanted))?;
    rest(&file, path, max, wanted)
}

fn refuse_by_kind(about: &fs::Metadata, path: &Path, max: u64) -> Result<(), Problem> {
    if about.is_dir() {
        return Err(Problem::Directory { path: path.into() });
    }
    if !about.is_file() {
        return Err(Problem::NotAFile { path: path.into() });
    }
    if about.len() > max {
        return Err(Problem::TooLarge { path: path.into(), bytes: Some(about.len()), max });
    }
    Ok(())
}

fn rest(file: &File, path: &Path, max: u64, wanted: &'static str) -> Result<Vec<u8>, Problem> {
    let about = file.metadata().map_err(|cause| unreadable(path, cause, wanted))?;
    refuse_by_kind(&about, path, max)?;
    let mut bytes = Vec::new();
    file.take(max + 1).read_to_end(&mut bytes).map_err(|cause| unreadable(path, cause, wanted))?;
    if bytes.len() as u64 > max {
        return Err(Problem::TooLarge { path: path.into(), bytes: None, max });
    }
    Ok(bytes)
}

fn unreadable(path: &Path, cause: io::Error, wanted: &'static str) -> Problem {
    match cause.kind() {
        io::ErrorKind::NotFound => Problem::NotFound { path: path.into(), nearest: neighbours(path), wanted },
        io::ErrorKind::IsADirectory => Problem::Directory { path: path.into() },
        _ => Problem::Unreadable { path: path.into(), cause },
    }
}

fn neighbours(path: &Path) -> Vec<String> {
    near(path).unwrap_or_default()
}

fn near(path: &Path) -> Option<Vec<String>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let given = path.file_stem()?.to_str()?;
    let ending = path.extension().map_or(".toml".into(), |ending| format!(".{}", ending.to_string_lossy()));
    // A directory with more than 10,000 entries does not contain documents.
    let entries = fs::read_dir(folder).ok()?.take(10_000).flatten();
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let stems = likely(given, names.iter().filter_map(|name| name.strip_suffix(&ending)));
    Some(
        stems
            .iter()
            .map(|stem| path.with_file_name(format!("{stem}{ending}")).display().to_string())
            .collect(),
    )
}
