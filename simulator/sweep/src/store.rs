//! A folder of finished runs in Parquet files, which several processes may write at the same time.
//!
//! A file is a *part*: some rows, of which each says of what run it is. Parts are written beside
//! their place and renamed, and never changed. A part is named by a hash of its content, so what is
//! written twice is one file. A reader takes each run once, from any part that has it.
//!
//! Each part has two columns by which runs are found: `cell` is a hash of all that the run depends
//! on besides its seed, and `seed` is the seed.

use crate::columns;
use arrow_array::types::{Int32Type, UInt64Type};
use arrow_array::{Array, BooleanArray, DictionaryArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::ArrowError;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::reader::ChunkReader;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The column with the hash of what a run depends on.
pub(crate) const CELL: &str = "cell";
/// The column with the seed.
pub(crate) const SEED: &str = "seed";
/// The version of the layout of a store, in the metadata of each part.
const FORMAT: &str = "1";
/// The key of the version in the metadata of a part.
const FORMAT_KEY: &str = "fairwire.store";
const ENDING: &str = "parquet";
/// Of the names of parts that are being written.
const HALF: &str = "half";
/// How often a folder that changes is listed again.
const MAX_LISTS: usize = 20;
/// Rows that are read at a time.
const BATCH: usize = 65_536;
/// Compaction makes parts of about this number of rows.
const COMPACT_ROWS: usize = 200_000;

/// What went wrong with a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system refused.
    #[error("`{}`: {error}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
    /// A file that is no part.
    #[error(
        "`{}`: {why}; allowed: what this version of fairwire wrote. Remove the file, and its runs are made again; or give another folder",
        path.display()
    )]
    Broken {
        /// Which.
        path: PathBuf,
        /// Why it is none.
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

/// The runs that a part or a store has: the seeds of each cell.
pub type Runs = HashMap<Arc<str>, HashSet<u64>>;

/// What parts have alike that can be one: their columns, and what was written about them.
type Kind<'a> = (&'a BTreeSet<String>, &'a BTreeMap<String, String>);

/// A part, without its rows.
#[derive(Debug)]
pub struct Part {
    path: PathBuf,
    columns: BTreeSet<String>,
    about: BTreeMap<String, String>,
    runs: Runs,
    rows: usize,
}

impl Part {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was written about it.
    pub fn about(&self, key: &str) -> Option<&str> {
        self.about.get(key).map(String::as_str)
    }

    /// Has it all of these columns?
    fn has(&self, columns: &[String]) -> bool {
        columns.iter().all(|column| self.columns.contains(column))
    }

    /// The cells of which it has runs.
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
    /// By file name. Parts never change, so each is looked into once.
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

    /// Creates the folder and proves that it can be written, before any work is done for it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn prepare(&self) -> Result<(), StoreError> {
        fs::create_dir_all(&self.folder).map_err(StoreError::io(&self.folder))?;
        self.half().map(drop).map_err(StoreError::io(&self.folder))
    }

    /// Writes `rows` as a part, whole or not at all. `about` goes into its metadata.
    ///
    /// # Errors
    /// If the folder cannot be written, or the file system is full.
    pub fn write(&self, rows: &RecordBatch, about: &[(&str, &str)]) -> Result<PathBuf, StoreError> {
        let pair = |(key, value): &(&str, &str)| KeyValue::new((*key).to_owned(), (*value).to_owned());
        let about = about.iter().chain([&(FORMAT_KEY, FORMAT)]).map(pair).collect();
        let mut bytes = Vec::new();
        columns::parquet(&mut bytes, rows, about)
            .map_err(|error| StoreError::Io { path: self.folder.clone(), error: io::Error::other(error) })?;
        let path = self.folder.join(format!("{}.{ENDING}", name_of(&bytes)));
        self.place(&path, &bytes).map_err(StoreError::io(&path))?;
        Ok(path)
    }

    /// A file for a part that is being written, which all may read whom the user's umask lets.
    fn half(&self) -> io::Result<tempfile::NamedTempFile> {
        let suffix = format!(".{HALF}");
        let mut builder = tempfile::Builder::new();
        builder.suffix(&suffix);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        // The name of what is half done says nothing to who reads the error.
        builder.tempfile_in(&self.folder).map_err(|error| io::Error::from(error.kind()))
    }

    fn place(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut half = self.half()?;
        io::Write::write_all(&mut half, bytes)?;
        half.as_file().sync_all()?;
        half.persist(path).map(drop).map_err(|error| error.error)
    }

    /// All parts that are there now, in the order of their names.
    ///
    /// # Errors
    /// If the folder cannot be read, or has a Parquet file that is no part.
    pub fn parts(&self) -> Result<Vec<Arc<Part>>, StoreError> {
        // Where a part went meanwhile, another process made it part of a larger one, which is there.
        for _ in 0..MAX_LISTS {
            if let Some(parts) = self.listed()? {
                return Ok(parts);
            }
        }
        Err(StoreError::io(&self.folder)(io::Error::other("it changes all the time: try again")))
    }

    /// The parts; `None` where one went between the list and the look at it.
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

    /// The runs of which some part has all of `columns`.
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

    /// Reads `columns`, `cell` and `seed` of the parts that have them all and of which `is_wanted`,
    /// a batch at a time.
    ///
    /// # Errors
    /// As [`parts`](Self::parts).
    pub fn read(
        &self,
        columns: &[String],
        is_wanted: impl Fn(&Part) -> bool,
        mut each: impl FnMut(&Batch),
    ) -> Result<(), StoreError> {
        for part in self.parts()?.iter().filter(|part| part.has(columns) && is_wanted(part)) {
            let names = [CELL, SEED].into_iter().chain(columns.iter().map(String::as_str));
            match read(&part.path, Some(&names.collect::<Vec<_>>()), &mut each) {
                // Another process made it part of a larger one.
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

    /// Makes few large parts of many small ones, with each run once, and removes the small ones.
    /// Returns the number of parts before and after. Other processes may read and write meanwhile;
    /// if this one is killed, some rows are there twice until the next time.
    ///
    /// # Errors
    /// If the store cannot be read or written. Nothing is removed before what replaces it is there.
    pub fn compact(&self) -> Result<(usize, usize), StoreError> {
        let parts = self.parts()?;
        let mut groups: BTreeMap<Kind<'_>, Vec<&Arc<Part>>> = BTreeMap::new();
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
            let (mut rows, mut count, mut taken) = (Vec::new(), 0, HashSet::new());
            for (at, part) in parts.iter().enumerate() {
                let mut new = Vec::new();
                self.rows_of(part, &mut |batch| new.push(batch.without(&taken)))?;
                for batch in new {
                    let batch = batch.map_err(|error| StoreError::broken(&part.path)(error.into()))?;
                    count += batch.num_rows();
                    rows.push(batch);
                }
                taken.extend(
                    part.runs
                        .iter()
                        .flat_map(|(cell, seeds)| seeds.iter().map(move |seed| (cell.clone(), *seed))),
                );
                if count >= COMPACT_ROWS || at + 1 == parts.len() {
                    let together = arrow_select::concat::concat_batches(&rows[0].schema(), &rows);
                    let together = together.map_err(|error| StoreError::broken(&part.path)(error.into()))?;
                    written.push(self.write(&together, &about)?);
                    (rows, count) = (Vec::new(), 0);
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

/// Rows of a part: the run of each, and all columns.
#[derive(Debug)]
pub struct Batch {
    /// The columns.
    pub rows: RecordBatch,
    cells: Vec<Arc<str>>,
    which: Vec<usize>,
    seeds: PrimitiveArray<UInt64Type>,
}

impl Batch {
    /// The cell and the seed of row number `row`.
    pub fn run(&self, row: usize) -> (&Arc<str>, u64) {
        (&self.cells[self.which[row]], self.seeds.value(row))
    }

    /// Its rows but for those of these runs.
    fn without(&self, taken: &HashSet<(Arc<str>, u64)>) -> Result<RecordBatch, ArrowError> {
        let is_new = |row| {
            let (cell, seed) = self.run(row);
            Some(!taken.contains(&(cell.clone(), seed)))
        };
        arrow_select::filter::filter_record_batch(
            &self.rows,
            &(0..self.len()).map(is_new).collect::<BooleanArray>(),
        )
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.which.len()
    }

    /// Has it none?
    pub fn is_empty(&self) -> bool {
        self.which.is_empty()
    }

    fn new(rows: RecordBatch) -> Result<Self, ParquetError> {
        let column = |name: &str| {
            rows.column_by_name(name)
                .ok_or_else(|| ParquetError::General(format!("it has no column `{name}`")))
        };
        let seeds = column(SEED)?.as_any().downcast_ref::<PrimitiveArray<UInt64Type>>().cloned();
        let seeds =
            seeds.ok_or_else(|| ParquetError::General("its column `seed` has no whole numbers".into()))?;
        let (cells, which) = texts(column(CELL)?.as_ref())
            .ok_or_else(|| ParquetError::General("its column `cell` has no texts".into()))?;
        Ok(Batch { rows, cells, which, seeds })
    }
}

/// The different texts of a column, and which of them each row has.
fn texts(column: &dyn Array) -> Option<(Vec<Arc<str>>, Vec<usize>)> {
    let dictionary = column.as_any().downcast_ref::<DictionaryArray<Int32Type>>()?;
    let values = dictionary.values().as_any().downcast_ref::<StringArray>()?;
    let cells = values.iter().map(|value| Arc::from(value.unwrap_or_default())).collect();
    let which = dictionary.keys().iter().map(|key| key.and_then(|key| usize::try_from(key).ok()));
    Some((cells, which.collect::<Option<_>>()?))
}

/// The part at `path`; `None` where it went meanwhile. All of it is read, to see that its name is
/// that of its content: Parquet itself would not notice a number that was changed.
fn look(path: &Path) -> Result<Option<Part>, StoreError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => Bytes::from(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io(path)(error)),
    };
    let broken = |why: &str| StoreError::Broken { path: path.into(), why: why.into() };
    if path.file_stem().is_none_or(|name| *name != *name_of(&bytes)) {
        return Err(broken("it was changed or cut, or is a file of something else"));
    }
    let builder =
        ParquetRecordBatchReaderBuilder::try_new(bytes.clone()).map_err(StoreError::broken(path))?;
    let pairs = builder.metadata().file_metadata().key_value_metadata();
    let about: BTreeMap<String, String> = pairs
        .into_iter()
        .flatten()
        .filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?)))
        .collect();
    let format = about.get(FORMAT_KEY).map_or("none", String::as_str);
    if format != FORMAT {
        let own = env!("CARGO_PKG_VERSION");
        return Err(broken(&format!(
            "its format is {format}; this is fairwire {own}, which has format {FORMAT}"
        )));
    }
    let columns = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
    let (mut runs, mut rows) = (Runs::new(), 0);
    batches(builder, path, Some(&[CELL, SEED]), &mut |batch: &Batch| {
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

/// The name of a part with this content.
fn name_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Calls `each` with the rows of the part at `path`: with these columns, or with all.
fn read(path: &Path, columns: Option<&[&str]>, each: &mut dyn FnMut(&Batch)) -> Result<(), StoreError> {
    let file = File::open(path).map_err(StoreError::io(path))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(StoreError::broken(path))?;
    batches(builder, path, columns, each)
}

fn batches<R: ChunkReader + 'static>(
    builder: ParquetRecordBatchReaderBuilder<R>,
    path: &Path,
    columns: Option<&[&str]>,
    each: &mut dyn FnMut(&Batch),
) -> Result<(), StoreError> {
    let mask = match columns {
        // By number: by name, a dot would lead into a group.
        Some(columns) => {
            let fields = builder.schema().fields().iter().enumerate();
            let wanted = fields.filter(|(_, field)| columns.contains(&field.name().as_str()));
            ProjectionMask::roots(builder.parquet_schema(), wanted.map(|(at, _)| at).collect::<Vec<_>>())
        }
        None => ProjectionMask::all(),
    };
    let reader =
        builder.with_projection(mask).with_batch_size(BATCH).build().map_err(StoreError::broken(path))?;
    for rows in reader {
        let rows = rows.map_err(|error| StoreError::broken(path)(error.into()))?;
        each(&Batch::new(rows).map_err(StoreError::broken(path))?);
    }
    Ok(())
}
