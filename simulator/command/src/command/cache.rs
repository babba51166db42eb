//! `fairwire cache`, and the location of finished runs.

use crate::args::CacheCommand;
use crate::report;
use fairwire_core::units::Size;
use fairwire_study::{Cache, Held, MAX_CACHE_BYTES, cache_folder, clean, held};
use fairwire_terminal::failure::{Ending, Failure};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

pub(crate) fn cache(command: Option<&CacheCommand>) -> Result<Ending, Failure> {
    let Some(folder) = cache_folder() else {
        return Err(Failure::user("there is no folder for finished runs", ADVICE));
    };
    let shown = folder.display();
    let text = match command {
        None => {
            let Held { results, bytes } = held(&folder);
            let most = Size(MAX_CACHE_BYTES);
            format!("folder   {shown}\nruns     {results}\nsize     {}\nat most  {most}\n", in_words(bytes))
        }
        Some(CacheCommand::Clean) => {
            let gone = clean(&folder).map_err(|error| {
                Failure::user(format!("`{shown}`: {error}"), "allowed: a folder that can be written")
            })?;
            format!("{} runs removed, {}\n", gone.results, in_words(gone.bytes))
        }
    };
    report::print(text.as_bytes())?;
    Ok(Ending::Done)
}

const ADVICE: &str = "set XDG_CACHE_HOME or HOME to a folder, with its whole path";

/// Are components of other crates registered? If so, no run is kept, because no hash covers their
/// code.
static HAS_PARTS_FROM_OUTSIDE: AtomicBool = AtomicBool::new(false);

pub(crate) fn parts_from_outside() {
    HAS_PARTS_FROM_OUTSIDE.store(true, Ordering::Relaxed);
}

pub(crate) fn has_parts_from_outside() -> bool {
    HAS_PARTS_FROM_OUTSIDE.load(Ordering::Relaxed)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command line may know the time: what was used last is kept longest"
)]
pub(crate) fn open() -> Cache {
    cache_folder().map_or_else(Cache::none, |folder| Cache::open(&folder, MAX_CACHE_BYTES, SystemTime::now))
}

pub(crate) fn problem(cache: &Cache) -> Option<String> {
    match cache_folder() {
        None => Some(format!("there is no folder for them: {ADVICE}")),
        Some(_) => cache.problem().map(str::to_owned),
    }
}

fn in_words(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.0} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}
