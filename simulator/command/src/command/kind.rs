//! What a file that was refused is, where it is for another command.

use std::fs;
use std::path::Path;

/// More of a file is not read.
const MAX_BYTES: u64 = 1 << 20;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Scenario,
    Plan,
}

/// What the file at `path` is, by the tables that one of the two alone has; `None` where it is
/// neither, or has both.
pub(super) fn of(path: &Path) -> Option<Kind> {
    let about = fs::metadata(path).ok().filter(|about| about.is_file() && about.len() <= MAX_BYTES)?;
    let text = if about.len() == 0 { String::new() } else { fs::read_to_string(path).ok()? };
    let table: toml::Table = text.parse().ok()?;
    let has = |keys: &[&str]| keys.iter().any(|key| table.contains_key(*key));
    match (has(&["flow", "link", "network", "duration"]), has(&["vary", "scenario", "measures"])) {
        (true, false) => Some(Kind::Scenario),
        (false, true) => Some(Kind::Plan),
        _ => None,
    }
}
