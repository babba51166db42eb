//! A checked sweep: its cells, and the runs that a store lacks.

use crate::notes::Notes;
use crate::precision;
use crate::spec::{AxisSpec, FORMAT, SweepSpec};
use crate::store::{Runs, Store, StoreError};
use crate::values::Value;
use crate::varied::Base;
use fairwire_document::{DocumentError, Locations, Problem, read_document, read_text};
use fairwire_metrics::summary::is_further;
use fairwire_scenario::estimate::{self, Memory, TooMuch};
use fairwire_scenario::{ENGINE, Overrides, Scenario, threads};
use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

const MAX_BYTES: u64 = 1 << 20;
/// The maximum number of cells. All cells are read and checked before anything runs.
const MAX_CELLS: usize = 1_000_000;
pub(crate) const DISCIPLINE: &str = "discipline";
/// Keys of a scenario that cannot be varied in a sweep, and what is allowed instead.
const ELSEWHERE: [(&str, &str); 7] = [
    ("name", "keys that change what is run"),
    ("title", "keys that change what is run"),
    ("disciplines", "`vary` with the key `discipline`"),
    ("seeds", "the key `seeds` of the plan, outside [vary]"),
    ("expect", "keys that change what is run; the results have all measures"),
    ("agree", "keys that change what is run; the results have all measures"),
    ("output", "`measures` and `flows` of the plan"),
];

/// A varied key.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The key, as in `--set`.
    pub key: String,
    /// The axis's values, each as TOML and as the value of a column. A column has only numbers or
    /// only texts.
    pub values: Vec<(String, Value)>,
}

/// One combination of values and a discipline.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The index of the cell's value on each axis.
    pub at: Vec<usize>,
    /// The cell's discipline, as in `--discipline`.
    pub(crate) given: Arc<str>,
    /// The cell's discipline, as in results.
    pub discipline: Arc<str>,
    /// A hash of everything on which the cell's runs depend, except the seed.
    pub hash: Arc<str>,
    /// The approximate relative duration of a run, proportional to the bits that links can carry.
    pub(crate) weight: f64,
}

/// A run of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// The index of the cell.
    pub cell: usize,
    /// The index of the seed.
    pub seed: usize,
}

/// A sweep that was read and checked, including every cell.
#[derive(Debug)]
pub struct Plan {
    pub(crate) base: Base,
    /// The title of the scenario, or else its name.
    pub title: String,
    /// The varied keys, except the discipline.
    pub axes: Vec<Axis>,
    /// Every combination of axis values and discipline. From cell to cell, the discipline varies
    /// fastest, then the last axis.
    pub cells: Vec<Cell>,
    /// The seeds of each cell.
    pub seeds: Vec<u64>,
    /// The measures stored of each run.
    pub measures: Vec<String>,
    /// Are records of flows stored?
    pub flows: bool,
    pub(crate) flows_of_a_run: u64,
    /// The precision at which a cell has enough seeds.
    pub precision: Option<f64>,
    /// The notes on the scenarios, and on unintended differences between cells.
    pub notes: Vec<String>,
    /// The folder for results, if the plan names one.
    pub store: Option<PathBuf>,
    memory: Memory,
    too_much: Option<TooMuch>,
}

impl Plan {
    /// Reads the plan in the file at `path`, its scenario, and all its cells.
    ///
    /// # Errors
    /// A problem, with its location.
    pub fn load(path: &Path) -> Result<Self, DocumentError> {
        let text = read_text(path, MAX_BYTES, "a plan of a sweep in TOML (`docs/sweeps.md` has one)")?;
        let (spec, locations) = read_document::<SweepSpec>(&path.display().to_string(), &text)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let Some(scenario) = &spec.scenario else {
            let message =
                "the key is missing; allowed: the path of a scenario file, from the plan's folder".to_owned();
            return Err(locations.refuse("scenario", Problem::BadValue { key: "scenario".into(), message }));
        };
        let file = folder.join(scenario);
        let whole = |path: &Path| path.canonicalize().ok();
        if whole(&file).is_some_and(|file| whole(path) == Some(file)) {
            let message = format!(
                "`{scenario}` is the plan itself; \
                 allowed: the path of a scenario file, from the plan's folder"
            );
            return Err(locations.refuse("scenario", Problem::BadValue { key: "scenario".into(), message }));
        }
        let base = Base::load(&file)?;
        let store = folder.join(spec.store.as_deref().unwrap_or("results"));
        Ok(Plan { store: Some(store), ..Plan::of(base, &spec, &locations)? })
    }

    /// The plan in `text`, for the scenario `base`.
    ///
    /// # Errors
    /// A problem, with its location.
    pub fn parse(name: &str, text: &str, base: Base) -> Result<Self, DocumentError> {
        let (spec, locations) = read_document::<SweepSpec>(name, text)?;
        if spec.scenario.is_some() {
            let message = "a scenario is given already; allowed: the plan without it".to_owned();
            return Err(locations.refuse("scenario", Problem::BadValue { key: "scenario".into(), message }));
        }
        let store = spec.store.clone().map(PathBuf::from);
        Ok(Plan { store, ..Plan::of(base, &spec, &locations)? })
    }

    fn of(base: Base, spec: &SweepSpec, locations: &Locations) -> Result<Self, DocumentError> {
        let before = base.set.len();
        let base = base.with(&spec.set);
        let maker = Maker { spec, locations, base: &base, before };
        maker.check()?;
        let own = base.scenario(&Overrides::default());
        let own = own.map_err(|error| maker.placed(error, &maker.paths(&[], &[], 0)))?;
        let axes = maker.axes()?;
        let disciplines = maker.disciplines(&own)?;
        let cells = maker.cells(&axes, &disciplines)?;
        let seeds = spec.seeds.as_ref().unwrap_or(&own.spec().seeds).as_slice().to_vec();
        let measures = maker.measures(&axes, &cells)?;
        let Cells { cells, notes, memory, flows_of_a_run, too_much } = cells;
        let names = own.spec();
        let title = if names.title.is_empty() { &names.name } else { &names.title }.clone();
        Ok(Plan {
            base,
            title,
            axes,
            cells,
            seeds,
            measures,
            flows: spec.flows,
            flows_of_a_run,
            precision: spec.precision,
            notes,
            store: None,
            memory,
            too_much,
        })
    }

    /// The number of runs, disregarding `precision`.
    pub fn runs(&self) -> usize {
        self.cells.len() * self.seeds.len()
    }

    /// Refuses too many runs, too much disk space, and too much memory for `jobs` concurrent runs
    /// (0: one per core). `key` is the name of `jobs` in errors.
    ///
    /// # Errors
    /// The first limit that is exceeded.
    pub fn check(&self, jobs: usize, key: &str) -> Result<(), TooMuch> {
        if let Some(too_much) = &self.too_much {
            return Err(too_much.clone());
        }
        let bytes = self.runs() as f64 * self.bytes_of_a_run() as f64;
        estimate::check_sweep(self.runs(), bytes, self.flows)?;
        self.memory.check(threads(jobs, self.runs()), 0, key)
    }

    /// The scenario of `cell`, with the cell's discipline and the plan's seeds.
    ///
    /// # Errors
    /// If a file that the scenario names has changed since the plan was read.
    pub fn scenario(&self, cell: &Cell) -> Result<Scenario, DocumentError> {
        let seeds: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
        self.base.scenario(&Overrides {
            set: self.set(cell),
            disciplines: vec![cell.given.to_string()],
            seeds: Some(seeds.join(",")),
        })
    }

    pub(crate) fn set(&self, cell: &Cell) -> Vec<String> {
        set(&self.axes, &cell.at)
    }

    /// The runs that `store` lacks. With a precision, only the runs needed for the next examination
    /// of intervals; none if all cells have enough seeds.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn missing(&self, store: &Stores) -> Result<Vec<Run>, StoreError> {
        let runs = store.runs(self)?;
        let wanted: Vec<usize> = match self.precision {
            None => vec![self.seeds.len(); self.cells.len()],
            Some(precision) => self.enough(store, precision)?,
        };
        let mut taken: BTreeSet<&str> = BTreeSet::new();
        let mut missing = Vec::new();
        for (at, cell) in self.cells.iter().enumerate() {
            if !taken.insert(&cell.hash) {
                continue; // another cell has the same runs
            }
            let have = runs.get(&cell.hash);
            let is_missing = |seed: &usize| have.is_none_or(|seeds| !seeds.contains(&self.seeds[*seed]));
            missing.extend((0..wanted[at]).filter(is_missing).map(|seed| Run { cell: at, seed }));
        }
        Ok(missing)
    }

    fn enough(&self, store: &Stores, precision: f64) -> Result<Vec<usize>, StoreError> {
        let values = crate::table::Values::read(self, store)?;
        Ok((0..self.cells.len()).map(|cell| self.seeds_of(&values, cell, precision)).collect())
    }

    pub(crate) fn seeds_of(&self, values: &crate::table::Values, cell: usize, precision: f64) -> usize {
        let is_known = |seeds: usize| (0..seeds).all(|seed| values.has(Run { cell, seed }));
        let runs = |measure: usize, seeds: usize| -> Vec<f64> {
            (0..seeds).filter_map(|seed| values.get(measure, Run { cell, seed })).collect()
        };
        let is_narrow = |seeds: usize| {
            (0..self.measures.len()).all(|measure| precision::is_narrow(&runs(measure, seeds), precision))
        };
        precision::seeds(self.seeds.len(), is_known, is_narrow)
    }
}

/// The stores of a sweep: for runs, and for flows if they are kept.
#[derive(Debug)]
pub struct Stores {
    /// The store with a row for each run.
    pub runs: Store,
    /// The store with a row for each run and flow.
    pub flows: Store,
}

impl Stores {
    /// The stores in `folder`, which need not exist.
    pub fn new(folder: &Path) -> Self {
        Stores { runs: Store::new(folder.join("runs")), flows: Store::new(folder.join("flows")) }
    }

    /// Creates the folders that are needed and verifies that they are writable.
    ///
    /// # Errors
    /// If a folder cannot be created or written.
    pub fn prepare(&self, flows: bool) -> Result<(), StoreError> {
        self.runs.prepare()?;
        if flows { self.flows.prepare() } else { Ok(()) }
    }

    fn runs(&self, plan: &Plan) -> Result<Runs, StoreError> {
        let mut runs = self.runs.runs(&plan.measures)?;
        if plan.flows {
            let flows = self.flows.runs(&[])?;
            for (cell, seeds) in &mut runs {
                seeds.retain(|seed| flows.get(cell).is_some_and(|seeds| seeds.contains(seed)));
            }
        }
        Ok(runs)
    }
}

fn set(axes: &[Axis], at: &[usize]) -> Vec<String> {
    axes.iter().zip(at).map(|(axis, at)| format!("{}={}", axis.key, axis.values[*at].0)).collect()
}

pub(crate) fn hash(scenario: &Scenario) -> Arc<str> {
    let mut all = Sha256::new();
    for part in [env!("CARGO_PKG_VERSION"), ENGINE, &scenario.run_sha256(0)] {
        all.update(part);
        all.update(b"\n");
    }
    all.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect::<String>().into()
}

struct Maker<'a> {
    spec: &'a SweepSpec,
    locations: &'a Locations,
    base: &'a Base,
    /// The number of changes in `base` that precede the changes of the plan.
    before: usize,
}

struct Cells {
    cells: Vec<Cell>,
    notes: Vec<String>,
    memory: Memory,
    flows_of_a_run: u64,
    too_much: Option<TooMuch>,
}

#[derive(Default)]
struct Found {
    notes: Notes,
    memory: Memory,
    flows: u64,
    /// The first cell that exceeds a limit, and this limit.
    too_much: Option<(usize, TooMuch)>,
}

impl Found {
    fn add(&mut self, number: usize, scenario: &Scenario, memory: Memory) {
        self.notes.add(number, scenario);
        self.memory = std::mem::take(&mut self.memory).max(memory);
        self.flows = self.flows.max(scenario.flow_count());
        if let Err(too_much) = estimate::check_one(scenario) {
            let first = self.too_much.take().filter(|(first, _)| *first < number);
            self.too_much = first.or(Some((number, too_much)));
        }
    }
}

impl Maker<'_> {
    fn refuse(&self, key: &str, message: String) -> DocumentError {
        self.locations.refuse(key, Problem::BadValue { key: key.into(), message })
    }

    fn check(&self) -> Result<(), DocumentError> {
        let spec = self.spec;
        if spec.format != FORMAT {
            let why = format!(
                "{} was given, but this version of fairwire reads only format {FORMAT}; allowed: {FORMAT}",
                spec.format
            );
            return Err(self.refuse("format", why));
        }
        match spec.precision {
            Some(part) if !(part > 0.0 && part < 1.0) => Err(self.refuse(
                "precision",
                format!(
                    "{part} is out of range; allowed: a fraction of the mean, above 0 and below 1, such as 0.01"
                ),
            )),
            Some(_) if spec.measures.is_empty() => Err(self.refuse(
                "precision",
                "it is given without `measures`; allowed: `measures` as well, with the measures that need it"
                    .into(),
            )),
            _ => Ok(()),
        }
    }

    fn values(&self, key: &str, axis: &AxisSpec) -> Result<Vec<toml::Value>, DocumentError> {
        let refuse = |why: String| self.refuse(&format!("vary.{key}"), why);
        let values = axis.values().map_err(refuse)?;
        for (at, value) in values.iter().enumerate() {
            if values[..at].contains(value) {
                return Err(refuse(format!("{value} is given twice; allowed: each value once")));
            }
        }
        Ok(values)
    }

    fn axes(&self) -> Result<Vec<Axis>, DocumentError> {
        let mut axes = Vec::new();
        for (key, axis) in self.spec.vary.0.iter().filter(|(key, _)| key != DISCIPLINE) {
            let first = key.split('.').next().unwrap_or_default();
            if let Some((_, place)) = ELSEWHERE.iter().find(|(name, _)| *name == first) {
                return Err(self
                    .refuse(&format!("vary.{key}"), format!("`{key}` cannot be varied; allowed: {place}")));
            }
            if key.contains('=') || key.trim() != key || key.is_empty() {
                let message =
                    format!("`{key}` is no key; allowed: one as `--set` takes it, such as \"link.buffer\"");
                return Err(self.refuse(&format!("vary.{key}"), message));
            }
            let values = self.values(key, axis)?;
            let number = |value: &toml::Value| match value {
                toml::Value::Integer(number) => Some(*number as f64),
                toml::Value::Float(number) => Some(*number),
                _ => None,
            };
            let numbers: Option<Vec<f64>> = values.iter().map(number).collect();
            let column = |(at, value): (usize, &toml::Value)| match (&numbers, value) {
                (Some(numbers), _) => Value::Number(numbers[at]),
                (None, toml::Value::String(text)) => Value::Text(text.clone()),
                (None, other) => Value::Text(other.to_string()),
            };
            let pair = |(at, value)| (inline(value), column((at, value)));
            axes.push(Axis { key: key.clone(), values: values.iter().enumerate().map(pair).collect() });
        }
        Ok(axes)
    }

    fn disciplines(&self, own: &Scenario) -> Result<Vec<Arc<str>>, DocumentError> {
        let axis = self.spec.vary.0.iter().find(|(key, _)| key == DISCIPLINE);
        let Some((key, axis)) = axis else {
            return Ok(own.spec().disciplines.iter().map(|compared| compared.label().into()).collect());
        };
        let text = |value: toml::Value| match value {
            toml::Value::String(name) => name.into(),
            other => inline(&other).into(),
        };
        Ok(self.values(key, axis)?.into_iter().map(text).collect())
    }

    fn paths(&self, axes: &[Axis], at: &[usize], discipline: usize) -> Vec<String> {
        let set = (0..self.spec.set.len()).map(|at| format!("set.{at}"));
        let values = axes.iter().zip(at).map(|(axis, at)| format!("vary.{}.{at}", axis.key));
        set.chain(values).chain([format!("vary.{DISCIPLINE}.{discipline}")]).collect()
    }

    /// Moves the location of `error` from the changed scenario to the wrong change in the plan.
    fn placed(&self, error: DocumentError, paths: &[String]) -> DocumentError {
        let DocumentError { problem, location, more } = error;
        let path = location.as_ref().and_then(|location| {
            let path = paths.get(location.change?.checked_sub(self.before)?)?;
            let (axis, _) = path.rsplit_once('.')?;
            // All values of a wrong key fail, so the key is reported.
            let is_key = axis.strip_prefix("vary.").is_some_and(|key| location.column <= key.chars().count());
            Some(if is_key { axis } else { path })
        });
        let more = more.into_iter().map(|error| self.placed(error, paths)).collect();
        match path {
            Some(path) => DocumentError { more, ..self.locations.refuse(path, problem) },
            None => DocumentError { problem, location, more },
        }
    }

    fn cells(&self, axes: &[Axis], disciplines: &[Arc<str>]) -> Result<Cells, DocumentError> {
        let sizes: Vec<usize> = axes.iter().map(|axis| axis.values.len()).collect();
        let count = sizes.iter().try_fold(disciplines.len(), |count, size| count.checked_mul(*size));
        let count = count.filter(|count| *count <= MAX_CELLS).ok_or_else(|| {
            self.refuse("vary", format!("there are too many combinations; allowed: at most {MAX_CELLS}"))
        })?;
        let at = |number: usize| {
            let mut rest = number / disciplines.len();
            let mut at: Vec<usize> = sizes
                .iter()
                .rev()
                .map(|size| {
                    let here = rest % size;
                    rest /= size;
                    here
                })
                .collect();
            at.reverse();
            at
        };
        let found = Mutex::new(Found::default());
        let cell = |number: usize| {
            let (at, discipline) = (at(number), number % disciplines.len());
            let given = &disciplines[discipline];
            let overrides =
                Overrides { set: set(axes, &at), disciplines: vec![given.to_string()], seeds: None };
            let scenario = self.base.scenario(&overrides);
            let scenario =
                scenario.map_err(|error| self.placed(error, &self.paths(axes, &at, discipline)))?;
            let [compared] = scenario.spec().disciplines.as_slice() else {
                let message =
                    format!("`{given}` names several disciplines; allowed: one discipline in each value");
                return Err(self.refuse("vary.discipline", message));
            };
            let memory = Memory::of(&scenario); // takes a while with many links
            found.lock().unwrap_or_else(PoisonError::into_inner).add(number, &scenario, memory);
            Ok(Cell {
                at,
                given: given.clone(),
                discipline: compared.label().into(),
                hash: hash(&scenario),
                weight: scenario.weight(),
            })
        };
        let made: Result<Vec<Cell>, _> = (0..count).into_par_iter().map(cell).collect();
        // Cells are made in parallel, so any invalid cell may fail first. The error of the plan's
        // first invalid cell is reported.
        let cells =
            made.map_err(|error| (0..count).find_map(|number| cell(number).err()).unwrap_or(error))?;
        let mut labels = BTreeSet::new();
        for cell in cells.iter().take(disciplines.len()) {
            if !labels.insert(&cell.discipline) {
                let message = format!(
                    "two disciplines are called `{}`; allowed: a `label` of its own for each, as in {{ red = {{ gentle = true }}, label = \"gentle\" }}",
                    cell.discipline
                );
                return Err(self.refuse("vary.discipline", message));
            }
        }
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Found { notes, memory, flows: flows_of_a_run, too_much } = found;
        let too_much = too_much.map(|(_, why)| why);
        Ok(Cells { cells, notes: notes.lines(axes), memory, flows_of_a_run, too_much })
    }

    fn measures(&self, axes: &[Axis], Cells { cells, .. }: &Cells) -> Result<Vec<String>, DocumentError> {
        let mut known: Vec<String> = Vec::new();
        // No measure requires a combination of axes, so it suffices to vary one axis at a time.
        let on_one_axis = |cell: &&Cell| cell.at.iter().filter(|at| **at > 0).count() <= 1;
        let mut seen: BTreeSet<&[usize]> = BTreeSet::new();
        for cell in cells.iter().filter(on_one_axis).filter(|cell| seen.insert(&cell.at)) {
            let overrides = Overrides {
                set: set(axes, &cell.at),
                disciplines: vec![cell.given.to_string()],
                seeds: None,
            };
            for name in self.base.scenario(&overrides)?.measures() {
                if !known.contains(&name) {
                    known.push(name);
                }
            }
        }
        for (at, name) in self.spec.measures.iter().enumerate() {
            if !known.contains(name) {
                let problem = Problem::Unknown { what: "measure", given: name.clone(), allowed: known };
                return Err(self.locations.refuse(&format!("measures.{at}"), problem));
            }
            if self.spec.measures[..at].contains(name) {
                return Err(self.refuse(
                    &format!("measures.{at}"),
                    format!("`{name}` is given twice; allowed: each measure once"),
                ));
            }
        }
        if self.spec.measures.is_empty() {
            return Ok(known.into_iter().filter(|name| !is_further(name)).collect());
        }
        Ok(self.spec.measures.clone())
    }
}

fn inline(value: &toml::Value) -> String {
    let mut text = String::new();
    match value.serialize(toml::ser::ValueSerializer::new(&mut text)) {
        Ok(_) => text,
        Err(_) => value.to_string(),
    }
}
