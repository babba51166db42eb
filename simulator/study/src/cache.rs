//! Finished runs on disk, so a stopped study resumes where it was.
//!
//! Results are hashed, so incomplete or changed files count as absent. Files are written under a
//! temporary name and moved, so several commands can share a folder.

use crate::text::hex;
use crate::watch::Samples;
use fairwire_metrics::record::RunRecord;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Finished {
    /// The record.
    pub run: RunRecord,
    /// The samples.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub samples: Option<Samples>,
}

const MAGIC: &[u8] = b"fairwire result\n";
/// Files with neither this ending nor [`HALF`] are not ours, and remain.
const ENDING: &str = "result";
const HALF: &str = "half";
/// An incomplete result older than this was left by a terminated command.
const STALE: Duration = Duration::from_secs(24 * 3600);
/// A fast level of compression. Results are mostly digits, so their compressed size is within a
/// tenth of the best.
const LEVEL: u8 = 4;
/// The maximum size of a decompressed result, bytes. A file that would exceed it is broken.
const MAX_BYTES: usize = 1 << 30;
/// The unit in which a file system allocates a file.
const BLOCK: u64 = 4096;
const LEFT_AFTER_EVICTION: f64 = 0.9;

/// The maximum total size of a user's finished runs, bytes. All studies in full take some 200 MiB.
pub const MAX_CACHE_BYTES: u64 = 1 << 30;

/// The folder of a user's finished runs, below the cache folder of the XDG Base Directory
/// Specification, version 0.8; `None` if the environment names no folder.
pub fn cache_folder() -> Option<PathBuf> {
    let path = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = path("XDG_CACHE_HOME").or_else(|| Some(path("HOME")?.join(".cache")));
    Some(caches?.join("fairwire"))
}

/// A folder of finished runs, or none.
#[derive(Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
    is_fresh: bool,
    max_bytes: u64,
    clock: fn() -> SystemTime,
    /// The total bytes of all files; `None` until they are first counted. An eviction counts the
    /// files again, because other processes may write.
    taken: Mutex<Option<u64>>,
    /// Why nothing more is stored; empty before the first failure.
    refused: OnceLock<String>,
}

/// The contents of a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Results.
    pub results: usize,
    /// Bytes on disk of all files.
    pub bytes: u64,
}

impl Cache {
    /// A cache of at most `max_bytes` bytes in `folder`, which is created if missing. `clock`
    /// returns the time of day.
    pub fn open(folder: &Path, max_bytes: u64, clock: fn() -> SystemTime) -> Self {
        let cache = Cache { folder: Some(folder.into()), max_bytes, clock, ..Cache::none() };
        if let Err(error) = fs::create_dir_all(folder) {
            cache.refuse(&error);
        }
        cache
    }

    /// A cache that keeps nothing.
    pub fn none() -> Self {
        Cache {
            folder: None,
            is_fresh: false,
            max_bytes: 0,
            clock: || SystemTime::UNIX_EPOCH,
            taken: Mutex::default(),
            refused: OnceLock::new(),
        }
    }

    /// If `is_fresh`, existing results are ignored, so every run is made and stored again.
    pub fn fresh(self, is_fresh: bool) -> Self {
        Cache { is_fresh, ..self }
    }

    /// Why results are no longer stored; `None` if nothing has failed.
    pub fn problem(&self) -> Option<&str> {
        self.refused.get().map(String::as_str)
    }

    /// Is anything kept?
    pub fn is_kept(&self) -> bool {
        self.folder.is_some()
    }

    /// Is there a file for `key`? It may prove unusable.
    pub fn has(&self, key: &str) -> bool {
        !self.is_fresh && self.path(key).is_some_and(|path| path.is_file())
    }

    /// The result stored under `key`; `None` if it is absent or incomplete.
    pub fn load<T: for<'a> Deserialize<'a>>(&self, key: &str) -> Option<T> {
        let path = self.path(key).filter(|_| !self.is_fresh)?;
        let file = File::options().read(true).open(&path).ok()?;
        let bytes = fs::read(&path).ok()?;
        let (hash, packed) = bytes.strip_prefix(MAGIC)?.split_at_checked(32)?;
        if Sha256::digest(packed).as_slice() != hash {
            return None;
        }
        let body = decompress_to_vec_with_limit(packed, MAX_BYTES).ok()?;
        let result = serde_json::from_slice(&body).ok()?;
        // Marks the result as used now. If this fails, the only effect is that the result is
        // removed sooner.
        let _ = file.set_modified((self.clock)());
        Some(result)
    }

    /// Stores `result` under `key`, completely or not at all. After a failure, which
    /// [`problem`](Self::problem) returns, nothing more is stored.
    pub fn store<T: Serialize>(&self, key: &str, result: &T) {
        let Some(folder) = self.folder.as_deref().filter(|_| self.problem().is_none()) else { return };
        let packed = match serde_json::to_vec(result) {
            Ok(body) => compress_to_vec(&body, LEVEL),
            Err(error) => return self.refuse(&error.into()),
        };
        match self.write(folder, key, &packed) {
            Ok(()) => self.make_room(folder, on_disk((MAGIC.len() + 32 + packed.len()) as u64)),
            Err(error) => self.refuse(&error),
        }
    }

    fn write(&self, folder: &Path, key: &str, packed: &[u8]) -> io::Result<()> {
        let (key, half) = (format!("{key}."), format!(".{HALF}"));
        let mut file = tempfile::Builder::new().prefix(&key).suffix(&half).tempfile_in(folder)?;
        file.write_all(MAGIC)?;
        file.write_all(&Sha256::digest(packed))?;
        file.write_all(packed)?;
        let _ = file.as_file().set_modified((self.clock)()); // as when it is loaded
        file.persist(folder.join(key + ENDING))?;
        Ok(())
    }

    fn make_room(&self, folder: &Path, more: u64) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let now = match *taken {
            Some(before) => before + more,
            None => files(folder).iter().map(|file| file.bytes).sum(),
        };
        *taken = Some(if now > self.max_bytes { evict(folder, self.max_bytes, (self.clock)()) } else { now });
    }

    fn refuse(&self, error: &io::Error) {
        let folder = self.folder.as_deref().unwrap_or(Path::new("")).display();
        let _ = self.refused.set(format!("`{folder}`: {error}"));
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{key}.{ENDING}")))
    }
}

/// The contents of `folder`; nothing if it does not exist.
pub fn held(folder: &Path) -> Held {
    files(folder).iter().fold(Held::default(), |held, file| Held {
        results: held.results + usize::from(!file.is_half),
        bytes: held.bytes + file.bytes,
    })
}

/// Removes all results in `folder`, and the folder if it is then empty. Returns the removed
/// contents.
pub fn clean(folder: &Path) -> io::Result<Held> {
    let mut gone = Held::default();
    for file in files(folder) {
        match fs::remove_file(&file.path) {
            Ok(()) => {
                gone.results += usize::from(!file.is_half);
                gone.bytes += file.bytes;
            }
            // Another command has already removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    let _ = fs::remove_dir(folder); // it stays if it contains something else
    Ok(gone)
}

struct Kept {
    path: PathBuf,
    used: SystemTime,
    bytes: u64,
    is_half: bool,
}

fn files(folder: &Path) -> Vec<Kept> {
    let kept = |entry: fs::DirEntry| {
        let path = entry.path();
        let is_half = path.extension().is_some_and(|ending| ending == HALF);
        let is_ours = is_half || path.extension().is_some_and(|ending| ending == ENDING);
        let metadata = entry.metadata().ok().filter(|metadata| is_ours && metadata.is_file())?;
        let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Some(Kept { path, used, bytes: on_disk(metadata.len()), is_half })
    };
    fs::read_dir(folder).into_iter().flatten().flatten().filter_map(kept).collect()
}

fn on_disk(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK) * BLOCK
}

/// Removes stale incomplete results, then the least recently used results until at most the
/// fraction [`LEFT_AFTER_EVICTION`] of `max` bytes is left.
fn evict(folder: &Path, max: u64, now: SystemTime) -> u64 {
    let mut files = files(folder);
    files.sort_by_key(|file| file.used);
    let mut taken: u64 = files.iter().map(|file| file.bytes).sum();
    let wanted = (max as f64 * LEFT_AFTER_EVICTION) as u64;
    let is_stale = |file: &Kept| now.duration_since(file.used).is_ok_and(|age| age > STALE);
    let (stale, whole): (Vec<Kept>, Vec<Kept>) =
        files.into_iter().filter(|file| !file.is_half || is_stale(file)).partition(|file| file.is_half);
    for (at, file) in stale.iter().chain(&whole).enumerate() {
        if at >= stale.len() && taken <= wanted {
            break;
        }
        // If the file cannot be removed, or another command removed it, the next file is tried.
        if fs::remove_file(&file.path).is_ok() {
            taken -= file.bytes;
        }
    }
    taken
}

/// The name of a result: a hash of everything on which the result depends.
pub fn key(parts: &[&str]) -> String {
    let mut all = Sha256::new();
    for part in parts {
        all.update(part.len().to_le_bytes());
        all.update(part.as_bytes());
    }
    hex(&all.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOMY: u64 = 1 << 30;
    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000)
    }

    fn open(folder: &Path, max_bytes: u64) -> Cache {
        Cache::open(folder, max_bytes, now)
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn stored_results_are_loaded_with_the_same_bits() {
        let folder = tempfile::tempdir().unwrap();
        let cache = open(folder.path(), ROOMY);
        let values = vec![0.1 + 0.2, 1.0 / 3.0, 1e-310, f64::MAX];
        assert_eq!(cache.load::<Vec<f64>>("a"), None);
        cache.store("a", &values);
        assert_eq!(cache.load::<Vec<f64>>("a"), Some(values));
        assert_eq!(open(folder.path(), ROOMY).fresh(true).load::<Vec<f64>>("a"), None);
        assert_eq!(names(folder.path()), ["a.result"], "nothing half done stays");
        assert_eq!(held(folder.path()), Held { results: 1, bytes: BLOCK });
    }

    #[test]
    fn changed_and_truncated_entries_are_misses_and_stored_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = open(folder.path(), ROOMY);
        cache.store("a", &vec![1.5, 2.5]);
        let path = folder.path().join("a.result");
        let whole = fs::read(&path).unwrap();
        let flipped = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        };
        let mut broken: Vec<Vec<u8>> = (0..whole.len()).map(flipped).collect();
        broken.extend([whole[..whole.len() / 2].to_vec(), Vec::new(), MAGIC.to_vec()]);
        for bytes in broken {
            fs::write(&path, &bytes).unwrap();
            assert_eq!(cache.load::<Vec<f64>>("a"), None, "{bytes:?}");
        }
        cache.store("a", &vec![1.5]);
        assert_eq!(cache.load::<Vec<f64>>("a"), Some(vec![1.5]));
    }

    #[test]
    fn a_full_cache_forgets_the_least_recently_used_entry() {
        let folder = tempfile::tempdir().unwrap();
        let cache = open(folder.path(), 10 * BLOCK);
        let hour = Duration::from_secs(3600);
        let age = |name: &str, hours: u32| {
            let file = File::options().write(true).open(folder.path().join(name)).unwrap();
            file.set_modified(now() - hour * hours).unwrap();
        };
        for at in 0..10u32 {
            cache.store(&at.to_string(), &at);
            age(&format!("{at}.result"), 20 - at);
        }
        fs::write(folder.path().join("0.7-1.half"), "").unwrap();
        age("0.7-1.half", 25);
        fs::write(folder.path().join("notes.txt"), "not ours").unwrap();
        assert_eq!(cache.load("0"), Some(0), "the oldest, but used just now");
        cache.store("new", &11);
        // The eleventh block exceeds the limit of ten, and the cache evicts down to nine.
        let left =
            ["0.result", "3.result", "4.result", "5.result", "6.result", "7.result", "8.result", "9.result"];
        let all: Vec<&str> = left.into_iter().chain(["new.result", "notes.txt"]).collect();
        assert_eq!(names(folder.path()), all);
    }

    #[test]
    fn a_cache_without_a_writable_folder_keeps_nothing_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let cache = open(&file.join("below"), ROOMY);
        cache.store("a", &1);
        assert_eq!(cache.load::<u32>("a"), None);
        assert!(cache.problem().unwrap().contains("file/below"), "{:?}", cache.problem());
        let none = Cache::none();
        none.store("a", &1);
        assert_eq!((none.load::<u32>("a"), none.problem()), (None, None));
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "what is half written has the true time")]
    fn commands_that_share_a_folder_do_not_disturb_each_other() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for own in 0..4u64 {
                let folder = folder.path();
                scope.spawn(move || {
                    let cache = Cache::open(folder, 40 * BLOCK, SystemTime::now);
                    for at in 0..100u64 {
                        let key = (at % 50).to_string();
                        cache.store(&key, &vec![at % 50; 100]);
                        let found = cache.load::<Vec<u64>>(&key);
                        assert!(found.is_none_or(|found| found == vec![at % 50; 100]), "{own} {at}");
                    }
                    assert_eq!(cache.problem(), None);
                });
            }
        });
        // Between two counts of the folder, each of the four caches knows only its own results. So
        // each may add 40 blocks.
        assert!(held(folder.path()).bytes <= 4 * 40 * BLOCK);
        let gone = clean(folder.path()).unwrap();
        assert!(gone.results > 0 && !folder.path().exists());
    }

    #[test]
    fn only_results_are_cleaned_away() {
        let folder = tempfile::tempdir().unwrap();
        let cache = open(folder.path(), ROOMY);
        cache.store("a", &1);
        fs::write(folder.path().join("notes.txt"), "not ours").unwrap();
        assert_eq!(clean(folder.path()).unwrap(), Held { results: 1, bytes: BLOCK });
        assert_eq!(names(folder.path()), ["notes.txt"]);
        assert_eq!(clean(&folder.path().join("nowhere")).unwrap(), Held::default());
    }

    #[test]
    fn keys_separate_their_parts() {
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_eq!(key(&["ab", "c"]).len(), 64);
    }
}
