//! A folder of Parquet files with finished runs. Several processes may write it concurrently.
//!
//! A file is a *part* with some rows. It is written under a temporary name, then renamed to a hash
//! of its content, and never changed. A reader takes each run once, from any part that has it.
//!
//! Two columns identify the run of a row: `seed`, and `cell`, a hash of everything else on which
//! the run depends.

use crate::columns::{Cells, Kind, Table, Texts};
use crate::parquet::{self, Reader};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::ChunkReader;
use bytes::Bytes;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) const CELL: &str = "cell";
pub(crate) const SEED: &str = "seed";
/// The version of the layout of a store, in the metadata of each part.
const FORMAT: &str = "2";
/// The readable versions. Version 1 was replaced because Arrow's readers interpreted its texts as
/// dictionaries.
const READ: [&str; 2] = ["1", FORMAT];
const FORMAT_KEY: &str = "fairwire.store";
const ENDING: &str = "parquet";
const HALF: &str = "half";
const MAX_LISTS: usize = 20;
const COMPACT_ROWS: usize = 200_000;

/// An error of a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// An error of the file system.
    #[error("`{}`: {error}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A file that is not a part.
    #[error(
        "`{}`: {why}; allowed: a file that this version of fairwire wrote. Remove the present file to repeat its runs, or give another folder",
        path.display()
    )]
    Broken {
        /// Its path.
        path: PathBuf,
        /// The reason.
        why: String,
    },
}

impl StoreError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |error| StoreError::Io { path, error }
    }

    fn broken(path: &Path) -> impl FnOnce(ParquetError) -> Self {
        let path = path.to_path_buf();
        move |error| StoreError::Broken { path, why: error.to_string() }
    }
}

/// Maps each cell of a part or a store to the seeds of its runs.
pub type Runs = HashMap<Arc<str>, HashSet<u64>>;

/// The properties that parts must share to be merged: their columns, and their metadata.
type Likeness<'a> = (&'a BTreeMap<String, Kind>, &'a BTreeMap<String, String>);

/// A part, without its rows.
#[derive(Debug)]
pub struct Part {
    path: PathBuf,
    columns: BTreeMap<String, Kind>,
    about: BTreeMap<String, String>,
    runs: Runs,
    rows: usize,
}

impl Part {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The value of `key` in the part's metadata.
    pub fn about(&self, key: &str) -> Option<&str> {
        self.about.get(key).map(String::as_str)
    }

    fn has(&self, columns: &[String]) -> bool {
        columns.iter().all(|column| self.columns.contains_key(column))
    }

    /// The cells with runs in the part.
    pub fn cells(&self) -> impl Iterator<Item = &str> {
        self.runs.keys().map(|cell| &**cell)
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }
}

/// A folder of parts.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// The parts by file name. Parts never change, so each is examined once.
    known: Mutex<BTreeMap<String, Arc<Part>>>,
}

impl Store {
    /// The store in `folder`, which need not exist.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Store { folder: folder.into(), known: Mutex::default() }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Creates the folder and verifies that it is writable, before any run is made.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn prepare(&self) -> Result<(), StoreError> {
        fs::create_dir_all(&self.folder).map_err(StoreError::io(&self.folder))?;
        self.half().map(drop).map_err(StoreError::io(&self.folder))
    }

    /// Writes `rows` as a part, completely or not at all. `about` goes into its metadata.
    ///
    /// # Errors
    /// If the folder cannot be written, or the file system is full.
    pub fn write(&self, rows: &Table, about: &[(&str, &str)]) -> Result<PathBuf, StoreError> {
        let about = [about, &[(FORMAT_KEY, FORMAT)]].concat();
        let mut bytes = Vec::new();
        parquet::write_about(&mut bytes, rows, &about)
            .map_err(|error| StoreError::Io { path: self.folder.clone(), error: io::Error::other(error) })?;
        let path = self.folder.join(format!("{}.{ENDING}", name_of(&bytes)));
        self.place(&path, &bytes).map_err(StoreError::io(&path))?;
        Ok(path)
    }

    /// A file for an unfinished part, readable according to the user's umask.
    fn half(&self) -> io::Result<tempfile::NamedTempFile> {
        let suffix = format!(".{HALF}");
        let mut builder = tempfile::Builder::new();
        builder.suffix(&suffix);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        // The error omits the path: a temporary name would mean nothing to the user.
        builder.tempfile_in(&self.folder).map_err(|error| io::Error::from(error.kind()))
    }

    fn place(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut half = self.half()?;
        io::Write::write_all(&mut half, bytes)?;
        half.as_file().sync_all()?;
        half.persist(path).map(drop).map_err(|error| error.error)
    }

    /// All current parts, in name order.
    ///
    /// # Errors
    /// If the folder cannot be read, or has a Parquet file that is not a part.
    pub fn parts(&self) -> Result<Vec<Arc<Part>>, StoreError> {
        // If a part has disappeared, another process has merged it into a larger part, which the
        // next listing shows.
        for _ in 0..MAX_LISTS {
            if let Some(parts) = self.listed()? {
                return Ok(parts);
            }
        }
        Err(StoreError::io(&self.folder)(io::Error::other("it changes all the time: try again")))
    }

    /// Lists the parts; `None` if a part disappeared meanwhile.
    fn listed(&self) -> Result<Option<Vec<Arc<Part>>>, StoreError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(Vec::new())),
            Err(error) => return Err(StoreError::io(&self.folder)(error)),
        };
        let mut names = BTreeSet::new();
        for entry in entries {
            let path = entry.map_err(StoreError::io(&self.folder))?.path();
            if path.extension().is_some_and(|ending| ending == ENDING) {
                names.extend(path.file_name().and_then(|name| name.to_str()).map(str::to_owned));
            }
        }
        let new: Vec<&String> = {
            let mut known = self.known();
            known.retain(|name, _| names.contains(name));
            names.iter().filter(|name| !known.contains_key(*name)).collect()
        };
        let looked: Vec<(String, Option<Part>)> = new
            .into_par_iter()
            .map(|name| Ok((name.clone(), look(&self.folder.join(name))?)))
            .collect::<Result<_, StoreError>>()?;
        let is_whole = looked.iter().all(|(_, part)| part.is_some());
        let mut known = self.known();
        known.extend(looked.into_iter().filter_map(|(name, part)| Some((name, Arc::new(part?)))));
        Ok(is_whole.then(|| known.values().cloned().collect()))
    }

    /// The runs for which some part has all of `columns`.
    ///
    /// # Errors
    /// As [`parts`](Self::parts).
    pub fn runs(&self, columns: &[String]) -> Result<Runs, StoreError> {
        let mut all = Runs::new();
        for part in self.parts()?.iter().filter(|part| part.has(columns)) {
            for (cell, seeds) in &part.runs {
                all.entry(cell.clone()).or_default().extend(seeds);
            }
        }
        Ok(all)
    }

    /// Reads `columns`, `cell` and `seed` in batches, from the parts that have these columns and
    /// satisfy `is_wanted`.
    ///
    /// # Errors
    /// As [`parts`](Self::parts), or if the store is being compacted.
    pub fn read(
        &self,
        columns: &[String],
        is_wanted: impl Fn(&Part) -> bool,
        mut each: impl FnMut(&Batch),
    ) -> Result<(), StoreError> {
        for part in self.parts()?.iter().filter(|part| part.has(columns) && is_wanted(part)) {
            let names = [CELL, SEED].into_iter().chain(columns.iter().map(String::as_str));
            match read(&part.path, Some(&names.collect::<Vec<_>>()), &mut each) {
                Err(StoreError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(StoreError::Io {
                        path: part.path.clone(),
                        error: io::Error::other("the store is being compacted: try again"),
                    });
                }
                done => done?,
            }
        }
        Ok(())
    }

    /// Merges small parts into few large ones, with each run once. Returns the number of parts
    /// before and after. Other processes may read and write meanwhile. If this process is killed,
    /// some rows are present twice until the next compaction.
    ///
    /// # Errors
    /// If the store cannot be read or written. No part is removed before its replacement is
    /// present.
    pub fn compact(&self) -> Result<(usize, usize), StoreError> {
        let parts = self.parts()?;
        let mut groups: BTreeMap<Likeness<'_>, Vec<&Arc<Part>>> = BTreeMap::new();
        for part in parts.iter().filter(|part| part.rows < COMPACT_ROWS / 2) {
            groups.entry((&part.columns, &part.about)).or_default().push(part);
        }
        for ((_, about), parts) in groups.into_iter().filter(|(_, parts)| parts.len() > 1) {
            let about: Vec<(&str, &str)> = about
                .iter()
                .filter(|(key, _)| key.starts_with("fairwire."))
                .map(|(key, value)| (key.as_str(), value.as_str()))
                .filter(|(key, _)| *key != FORMAT_KEY)
                .collect();
            let mut written = Vec::new();
            let (mut rows, mut taken): (Option<Table>, _) = (None, HashSet::new());
            for (at, part) in parts.iter().enumerate() {
                self.rows_of(part, &mut |batch| {
                    let new = batch.without(&taken);
                    match &mut rows {
                        Some(rows) => rows.append(&new),
                        None => rows = Some(new),
                    }
                })?;
                taken.extend(
                    part.runs
                        .iter()
                        .flat_map(|(cell, seeds)| seeds.iter().map(move |seed| (cell.clone(), *seed))),
                );
                let is_full = |rows: &Table| rows.len() >= COMPACT_ROWS || at + 1 == parts.len();
                if let Some(rows) = rows.take_if(|rows| is_full(rows)) {
                    written.push(self.write(&rows, &about)?);
                }
            }
            for part in parts.iter().filter(|part| !written.contains(&part.path)) {
                match fs::remove_file(&part.path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(StoreError::io(&part.path)(error));
                    }
                    _ => {}
                }
            }
        }
        Ok((parts.len(), self.parts()?.len()))
    }

    /// Reads all columns of `part`.
    ///
    /// # Errors
    /// As [`parts`](Self::parts).
    pub fn rows_of(&self, part: &Part, each: &mut dyn FnMut(&Batch)) -> Result<(), StoreError> {
        read(&part.path, None, each)
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Part>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Rows of a part, each belonging to a run.
#[derive(Debug)]
pub struct Batch {
    rows: Table,
    cells: usize,
    seeds: Vec<u64>,
}

impl Batch {
    /// The columns.
    pub fn rows(&self) -> &Table {
        &self.rows
    }

    /// The cell and the seed of row number `row`.
    pub fn run(&self, row: usize) -> (&Arc<str>, u64) {
        (self.cells().get(row).expect("a cell for each row"), self.seeds[row])
    }

    fn cells(&self) -> &Texts {
        match &self.rows.columns()[self.cells].cells {
            Cells::Texts(texts) => texts,
            _ => unreachable!("looked at when it was made"),
        }
    }

    fn without(&self, taken: &HashSet<(Arc<str>, u64)>) -> Table {
        self.rows.filtered(|row| {
            let (cell, seed) = self.run(row);
            !taken.contains(&(cell.clone(), seed))
        })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Is the batch without rows?
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn new(rows: Table) -> Result<Self, ParquetError> {
        let broken = |why: &str| ParquetError::General(why.to_owned());
        let place = |name: &str| {
            let place = rows.columns().iter().position(|column| column.name == name);
            place.ok_or_else(|| broken(&format!("it has no column `{name}`")))
        };
        let seeds = match &rows.columns()[place(SEED)?].cells {
            Cells::Counts(seeds) => seeds.iter().copied().collect::<Option<Vec<u64>>>(),
            _ => None,
        };
        let seeds = seeds.ok_or_else(|| broken("its column `seed` has no whole numbers"))?;
        let cells = place(CELL)?;
        match &rows.columns()[cells].cells {
            Cells::Texts(texts) if texts.iter().all(|cell| cell.is_some()) => {}
            _ => return Err(broken("its column `cell` has no texts")),
        }
        Ok(Batch { rows, cells, seeds })
    }
}

/// Examines a part; `None` if it has disappeared. Reads the whole file to compare its hash with the
/// part's name, because Parquet would not notice a changed number.
fn look(path: &Path) -> Result<Option<Part>, StoreError> {
    let mut bytes = Vec::new();
    let bytes = match parquet::open(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => Bytes::from(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(_) if path.exists() && !path.is_file() => {
            return Err(StoreError::Broken { path: path.into(), why: "it is no regular file".into() });
        }
        Err(error) => return Err(StoreError::io(path)(error)),
    };
    let broken = |why: &str| StoreError::Broken { path: path.into(), why: why.into() };
    if path.file_stem().is_none_or(|name| *name != *name_of(&bytes)) {
        return Err(broken("it was changed or truncated, or is a foreign file"));
    }
    let reader = Reader::new(bytes).map_err(StoreError::broken(path))?;
    let about = reader.about();
    let format = about.get(FORMAT_KEY).map_or("none", String::as_str);
    if !READ.contains(&format) {
        let own = env!("CARGO_PKG_VERSION");
        return Err(broken(&format!(
            "its format is {format}; this is fairwire {own}, which has format {FORMAT}"
        )));
    }
    let columns = reader.columns();
    let (mut runs, mut rows) = (Runs::new(), 0);
    batches(&reader, path, Some(&[CELL, SEED]), &mut |batch: &Batch| {
        rows += batch.len();
        for row in 0..batch.len() {
            let (cell, seed) = batch.run(row);
            match runs.get_mut(cell) {
                Some(seeds) => drop(seeds.insert(seed)),
                None => drop(runs.insert(cell.clone(), HashSet::from([seed]))),
            }
        }
    })?;
    Ok(Some(Part { path: path.into(), columns, about, runs, rows }))
}

fn name_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn read(path: &Path, columns: Option<&[&str]>, each: &mut dyn FnMut(&Batch)) -> Result<(), StoreError> {
    let file = parquet::open(path).map_err(StoreError::io(path))?;
    batches(&Reader::new(file).map_err(StoreError::broken(path))?, path, columns, each)
}

fn batches<R: ChunkReader + 'static>(
    reader: &Reader<R>,
    path: &Path,
    columns: Option<&[&str]>,
    each: &mut dyn FnMut(&Batch),
) -> Result<(), StoreError> {
    let done = reader.read(columns, |rows| {
        each(&Batch::new(rows)?);
        Ok(())
    });
    done.map_err(StoreError::broken(path))
}
