//! The type of a rejected file, to name the command that accepts it.

use std::fs;
use std::path::Path;

const MAX_BYTES: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Scenario,
    Plan,
}

/// The type of the file at `path`, by keys that only one type has. `None` without such keys, or
/// with keys of both types.
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
