//! The file of slots.

use super::slot::{STEPS_S, Slot};
use fairwire_control::snapshot::Change;
use rusqlite::{Connection, ErrorCode, params};
use std::path::{Path, PathBuf};

/// The bounds of the store in size and time.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The maximum size of the file, in bytes.
    pub bytes: u64,
    /// The age, in seconds, at which one-minute slots are deleted.
    pub keep_s: u64,
}

/// Slots in a file, or in memory.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    bounds: Bounds,
    path: Option<PathBuf>,
    tidied_s: u64,
}

const VERSION: i32 = 1;
/// The length of a database page, in bytes.
const PAGE: u64 = 4096;
const TIDY_S: u64 = 60;
/// The ages, in seconds, at which slots of 1 s and of 10 s are deleted.
const KEPT_S: [u64; 2] = [900, 7200];

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS slot (step INTEGER, at INTEGER, way INTEGER, rate INTEGER, bytes_in INTEGER, bytes_out INTEGER,
  backlog INTEGER, p50 REAL, p95 REAL, p99 REAL, jain REAL, worst REAL, PRIMARY KEY (step, at, way)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cause (step INTEGER, at INTEGER, way INTEGER, fate TEXT, reason TEXT, count INTEGER,
  PRIMARY KEY (step, at, way, fate, reason)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS share (step INTEGER, at INTEGER, way INTEGER, class TEXT, bytes_in REAL, bytes_out REAL, fair REAL,
  PRIMARY KEY (step, at, way, class)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS change (at INTEGER, kind TEXT, text TEXT);
";

impl Store {
    /// A store in memory.
    pub fn in_memory(bounds: Bounds) -> Self {
        let connection = Connection::open_in_memory().expect("memory can be had");
        prepare(&connection, bounds).expect("new tables in memory");
        Store { connection, bounds, path: None, tidied_s: 0 }
    }

    /// Opens or creates the file at `path`. Renames a file that is corrupt or of another program or
    /// version, and returns its new name.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn open(path: &Path, bounds: Bounds) -> Result<(Self, Option<PathBuf>), rusqlite::Error> {
        let store = |connection| Store { connection, bounds, path: Some(path.to_owned()), tidied_s: 0 };
        match opened(path, bounds) {
            Ok(connection) => Ok((store(connection), None)),
            Err(error) if is_corrupt(&error) => {
                let aside = put_aside(path).map_err(|_| error)?;
                Ok((store(opened(path, bounds)?), Some(aside)))
            }
            Err(error) => Err(error),
        }
    }

    pub(crate) fn is_in_memory(&self) -> bool {
        self.path.is_none()
    }

    /// Its bounds.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Stores slots, and deletes old ones. If there is no room, deletes the oldest quarter of the
    /// one-minute slots.
    ///
    /// # Errors
    /// If the slots cannot be written.
    pub fn keep(&mut self, slots: &[Slot], now_s: u64) -> Result<(), rusqlite::Error> {
        if now_s >= self.tidied_s + TIDY_S {
            self.tidied_s = now_s;
            self.forget(now_s)?;
        }
        match self.write(slots) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => {
                self.make_room()?;
                self.write(slots)
            }
            outcome => outcome,
        }
    }

    fn write(&mut self, slots: &[Slot]) -> Result<(), rusqlite::Error> {
        let transaction = self.connection.transaction()?;
        {
            let mut slot =
                transaction.prepare_cached("INSERT OR REPLACE INTO slot VALUES (?,?,?,?,?,?,?,?,?,?,?,?)")?;
            let mut cause =
                transaction.prepare_cached("INSERT OR REPLACE INTO cause VALUES (?,?,?,?,?,?)")?;
            let mut share =
                transaction.prepare_cached("INSERT OR REPLACE INTO share VALUES (?,?,?,?,?,?,?)")?;
            for s in slots {
                let (step, at, way) = (s.step_s, s.at_s, s.way);
                let [p50, p95, p99] = s.waits_s;
                let (rate, backlog) = (s.rate_bps, s.backlog_bytes);
                slot.execute(params![
                    step,
                    at,
                    way,
                    rate,
                    s.bytes_in,
                    s.bytes_out,
                    backlog,
                    p50,
                    p95,
                    p99,
                    s.jain,
                    s.worst_points
                ])?;
                for ((fate, reason), count) in &s.causes {
                    cause.execute(params![step, at, way, fate, reason, count])?;
                }
                for class in &s.classes {
                    share.execute(params![
                        step,
                        at,
                        way,
                        class.class,
                        class.bytes_in,
                        class.bytes_out,
                        class.fair_bytes
                    ])?;
                }
            }
        }
        transaction.commit()
    }

    /// Keeps a change.
    ///
    /// # Errors
    /// If the change cannot be written.
    pub fn note(&mut self, change: &Change) -> Result<(), rusqlite::Error> {
        let Change { at_s, kind, text } = change;
        self.connection.execute("INSERT INTO change VALUES (?,?,?)", params![at_s, kind, text]).map(|_| ())
    }

    fn forget(&mut self, now_s: u64) -> Result<(), rusqlite::Error> {
        let [seconds, tens] = KEPT_S;
        for (step, kept) in STEPS_S.into_iter().zip([seconds, tens, self.bounds.keep_s]) {
            self.forget_before(step, now_s.saturating_sub(kept))?;
        }
        let before = now_s.saturating_sub(self.bounds.keep_s);
        self.connection.execute("DELETE FROM change WHERE at < ?", [before]).map(|_| ())
    }

    fn forget_before(&mut self, step: u64, before: u64) -> Result<(), rusqlite::Error> {
        for table in ["slot", "cause", "share"] {
            self.connection
                .execute(&format!("DELETE FROM {table} WHERE step = ? AND at < ?"), params![step, before])?;
        }
        Ok(())
    }

    fn make_room(&mut self) -> Result<(), rusqlite::Error> {
        let minutes = STEPS_S[2];
        let (first, last): (u64, u64) = self.connection.query_row(
            "SELECT COALESCE(MIN(at), 0), COALESCE(MAX(at), 0) FROM slot WHERE step = ?",
            [minutes],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        self.forget_before(minutes, first + (last - first) / 4 + 1)
    }
}

fn opened(path: &Path, bounds: Bounds) -> Result<Connection, rusqlite::Error> {
    let connection = Connection::open(path)?;
    // Only one process uses the file, so the write-ahead log needs no shared memory. A crash of the
    // machine may lose the last seconds, but leaves no half-written slot.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let version: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables: i64 = connection.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let verdict: String = connection.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    if verdict != "ok" || (version != VERSION && tables > 0) {
        return Err(corrupt());
    }
    prepare(&connection, bounds)?;
    Ok(connection)
}

fn prepare(connection: &Connection, bounds: Bounds) -> Result<(), rusqlite::Error> {
    let pages = i64::try_from(bounds.bytes / PAGE).unwrap_or(i64::MAX);
    connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    connection.pragma_update(None, "user_version", VERSION)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.execute_batch(TABLES)
}

fn corrupt() -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    rusqlite::Error::SqliteFailure(code, None)
}

fn is_corrupt(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

const MAX_ASIDE: u32 = 4;

fn put_aside(path: &Path) -> std::io::Result<PathBuf> {
    let beside = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let numbered = (2..=MAX_ASIDE).map(|number| beside(&format!(".broken-{number}")));
    let names: Vec<PathBuf> = std::iter::once(beside(".broken")).chain(numbered).collect();
    let free = names.iter().find(|name| !name.exists()).or(names.last());
    let aside = free.cloned().unwrap_or_default();
    for gone in [aside.clone(), beside("-wal"), beside("-journal"), beside("-shm")] {
        // The file may not exist.
        let _ = std::fs::remove_file(gone);
    }
    // A hard link gives the file its new name, since the process may create and remove names but
    // not rename.
    std::fs::hard_link(path, &aside)?;
    std::fs::remove_file(path)?;
    Ok(aside)
}

#[cfg(test)]
mod tests {
    use super::super::slot::ClassSlot;
    use super::super::{History, PastRequest, Span};
    use super::*;

    const BOUNDS: Bounds = Bounds { bytes: 1 << 20, keep_s: 7 * 86_400 };

    fn slot(step_s: u64, at_s: u64, classes: usize) -> Slot {
        let class =
            |n: usize| ClassSlot { class: format!("class-{n}"), bytes_out: n as f64, ..ClassSlot::default() };
        Slot {
            step_s,
            at_s,
            bytes_out: 1000 * step_s,
            causes: [(("dropped", "early".to_owned()), 5)].into(),
            classes: (0..classes).map(class).collect(),
            ..Slot::default()
        }
    }

    fn count(store: &Store, step: u64) -> i64 {
        let count = "SELECT COUNT(*) FROM slot WHERE step = ?";
        store.connection.query_row(count, [step], |row| row.get(0)).expect("a count")
    }

    #[test]
    fn the_stored_history_is_available_after_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("home.sqlite");
        let change = Change { at_s: 90, kind: "reload".into(), text: "`download.rate`".into() };
        {
            let (mut store, _) = Store::open(&path, BOUNDS).expect("it is ours");
            store.keep(&[slot(60, 60, 3)], 100).expect("there is room");
            store.note(&change).expect("there is room");
        }
        let (store, aside) = Store::open(&path, BOUNDS).expect("it is ours");
        assert_eq!((count(&store, 60), aside), (1, None));
    }

    #[test]
    fn a_process_killed_during_a_write_loses_no_stored_history() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("home.sqlite");
        let (mut store, _) = Store::open(&path, BOUNDS).expect("it is ours");
        store.keep(&[slot(60, 60, 3)], 100).expect("there is room");
        // A killed process would leave the files as copied here.
        let copy = folder.path().join("copy.sqlite");
        for ending in ["", "-wal"] {
            let named = |path: &Path| format!("{}{ending}", path.display());
            std::fs::copy(named(&path), named(&copy)).expect("it is there");
        }
        let (left, aside) = Store::open(&copy, BOUNDS).expect("it is ours");
        assert_eq!((count(&left, 60), aside), (1, None));
    }

    #[test]
    fn a_closed_history_is_complete_in_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("home.sqlite");
        let mut history = History::open(Some(&path), BOUNDS);
        history.keep(&[slot(60, 60, 3)], 100);
        let log = folder.path().join("home.sqlite-wal");
        assert!(log.exists());
        history.close();
        assert!(!log.exists());
        let (store, aside) = Store::open(&path, BOUNDS).expect("it is ours");
        assert_eq!((count(&store, 60), aside), (1, None));
    }

    #[test]
    fn old_history_is_forgotten() {
        let mut store = Store::in_memory(BOUNDS);
        store.keep(&[slot(1, 0, 1), slot(10, 0, 1), slot(60, 0, 1)], 10).expect("there is room");
        let counts = |store: &Store| STEPS_S.map(|step| count(store, step));
        for (now_s, left) in [(800, [1, 1, 1]), (1000, [0, 1, 1]), (8000, [0, 0, 1]), (604_900, [0, 0, 0])] {
            store.keep(&[], now_s).expect("there is room");
            assert_eq!(counts(&store), left, "{now_s}");
        }
    }

    #[test]
    fn a_full_file_drops_its_oldest_minutes_and_stays_within_its_bound() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("home.sqlite");
        let (mut store, _) = Store::open(&path, BOUNDS).expect("it is ours");
        for minute in 0..3000 {
            store.keep(&[slot(60, minute * 60, 33)], minute * 60).expect("it makes room");
        }
        let kept = count(&store, 60);
        assert!((100..2999).contains(&kept), "{kept}");
        let newest: u64 =
            store.connection.query_row("SELECT MAX(at) FROM slot", [], |row| row.get(0)).expect("one");
        assert_eq!(newest, 2999 * 60);
        drop(store);
        let bytes = std::fs::metadata(&path).expect("it is there").len();
        assert!(bytes <= BOUNDS.bytes, "{bytes}");
    }

    #[test]
    fn a_corrupt_file_is_set_aside_and_a_new_one_begins() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("home.sqlite");
        std::fs::write(
            &path,
            "this is no database, and longer than a header of SQLite must be, at that".repeat(9),
        )
        .expect("it is ours");
        let mut history = History::open(Some(&path), BOUNDS);
        assert!(history.fault().expect("it says so").contains("home.sqlite.broken"));
        history.keep(&[slot(60, 60, 1)], 100);
        drop(history);
        assert!(History::open(Some(&path), BOUNDS).fault().is_none());
        let mut bytes = std::fs::read(&path).expect("it is there");
        let middle = bytes.len() / 2;
        bytes[4096..middle.max(4097 + 64)].fill(0xa5);
        std::fs::write(&path, bytes).expect("it is ours");
        let fault = History::open(Some(&path), BOUNDS).fault().expect("it says so").to_owned();
        assert!(fault.contains("could not be read") && fault.contains("home.sqlite.broken-2"), "{fault}");
        let first = std::fs::read(folder.path().join("home.sqlite.broken")).expect("it stays");
        assert!(first.starts_with(b"this is no database"));
    }

    #[test]
    fn without_a_writable_folder_the_history_stays_in_memory_and_says_why() {
        let mut history = History::open(Some(Path::new("/nonexistent/home.sqlite")), BOUNDS);
        assert!(history.fault().expect("it says so").contains("cannot be used"));
        let now_s = fairwire_linux::clock::calendar().ns() / 1_000_000_000;
        history.keep(&[slot(60, now_s - 60, 1)], now_s);
        let answer = history.read(&PastRequest { span: Span::Day, class: None });
        assert!(answer.is_in_memory && answer.ways[0].at_s == [now_s - 60], "{answer:?}");
    }
}
