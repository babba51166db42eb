//! Sweeps: plans, their stores, and shards for workers in other processes.

use crate::contest::{Progress, while_looking};
use crate::error::scenario_error;
use crate::scenario::{Scenario, jobs_of, toml_value};
use crate::table::Table;
use crate::watch::too_much;
use fairwire_core::units::{Room, Size};
use fairwire_core::{Duration, Rate};
use fairwire_sweep::columns::{self, Cells, Column};
use fairwire_sweep::{Axis, Base, Local, Plan, Ran, Run, Shard, Share, StoreError, Stores, Value};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::path::PathBuf;

pyo3::create_exception!(
    fairwire,
    SweepError,
    PyRuntimeError,
    "A sweep that did not go on: its store cannot be read or written, or a worker has another fairwire. \
     What was finished is in the store."
);

fn raised(py: Python<'_>, error: &fairwire_sweep::SweepError) -> PyErr {
    match error {
        fairwire_sweep::SweepError::Scenario(error) => scenario_error(py, error),
        other => SweepError::new_err(other.to_string()),
    }
}

/// A checked sweep and its store, from which `fairwire.Sweep` is made.
#[pyclass(frozen, module = "fairwire._fairwire")]
pub(crate) struct SweepPlan {
    plan: Plan,
    folder: PathBuf,
    origin: Origin,
}

enum Origin {
    /// The scenario, and the text of the plan.
    Text(Base, String),
    File(PathBuf),
}

impl SweepPlan {
    fn of_text(py: Python<'_>, base: Base, text: String, folder: PathBuf) -> PyResult<Self> {
        let origin = Origin::Text(base.clone(), text.clone());
        let plan =
            py.detach(|| Plan::parse("sweep", &text, base)).map_err(|error| scenario_error(py, &error))?;
        Ok(SweepPlan { plan, folder: std::path::absolute(&folder).unwrap_or(folder), origin })
    }

    /// Converts `table`. If [`unit_of`] finds the unit of an axis, the values of the axis become
    /// numbers.
    fn table_of(&self, table: columns::Table, keys: &[&str]) -> PyResult<Table> {
        let mut units = BTreeMap::new();
        let column = |mut column: Column| {
            let axis = self.plan.axes.iter().find(|axis| axis.key == column.name);
            if let Some((unit, number)) = axis.and_then(unit_of) {
                if let Cells::Texts(texts) = &column.cells {
                    column.cells = Cells::Reals(texts.iter().map(|text| number(text?)).collect());
                }
                column.about = format!("`{}`, in {unit}", column.name);
                units.insert(column.name.clone(), unit);
            }
            column
        };
        let columns = table.into_columns().into_iter().map(column).collect();
        Table::with_units(columns::Table::new(columns), keys, &units)
    }

    fn read<T: Send>(
        &self,
        py: Python<'_>,
        of: impl FnOnce(&Plan, &Stores) -> Result<T, StoreError> + Send,
    ) -> PyResult<T> {
        let read = py.detach(|| of(&self.plan, &Stores::new(&self.folder)));
        read.map_err(|error| raised(py, &error.into()))
    }

    fn keys(&self, last: &'static str) -> Vec<&str> {
        let axes = self.plan.axes.iter().map(|axis| axis.key.as_str());
        axes.chain(["discipline", last]).filter(|name| !name.is_empty()).collect()
    }
}

#[pymethods]
impl SweepPlan {
    #[new]
    fn new(scenario: &Bound<'_, Scenario>, plan: &Bound<'_, PyAny>, folder: PathBuf) -> PyResult<Self> {
        let py = plan.py();
        let base = scenario.get().base(py)?;
        let toml::Value::Table(table) = toml_value(plan)? else {
            return Err(PyTypeError::new_err("a plan is a dict"));
        };
        let text = table.to_string();
        SweepPlan::of_text(py, base, text, folder)
    }

    /// The sweep in the plan file at `path`; `folder` replaces the store that the file names.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, folder: Option<PathBuf>) -> PyResult<Self> {
        let plan = py.detach(|| Plan::load(&path)).map_err(|error| scenario_error(py, &error))?;
        let folder = folder.or_else(|| plan.store.clone()).unwrap_or_else(|| "results".into());
        let whole = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        Ok(SweepPlan { plan, folder: whole(folder), origin: Origin::File(whole(path)) })
    }

    /// The contents of a pickle. Workers that load it need access to the folder of the sweep's store.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Pickled)> {
        let restore = py.import("fairwire._fairwire")?.getattr("_sweep_plan")?;
        let (base, text, file) = match &self.origin {
            Origin::Text(base, text) => (serde_json::to_string(base).ok(), Some(text.clone()), None),
            Origin::File(path) => (None, None, Some(path.clone())),
        };
        Ok((restore, (base, text, file, self.folder.clone())))
    }

    #[getter]
    fn runs(&self) -> usize {
        self.plan.runs()
    }

    #[getter]
    fn cells(&self) -> usize {
        self.plan.cells.len()
    }

    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.plan.seeds.clone()
    }

    #[getter]
    fn measures(&self) -> Vec<String> {
        self.plan.measures.clone()
    }

    /// The varied keys, in the order of the columns.
    #[getter]
    fn axes(&self) -> Vec<String> {
        self.plan.axes.iter().map(|axis| axis.key.clone()).collect()
    }

    /// The notes on the plan's scenarios, and on settings that differ between cells although no
    /// axis varies them.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.plan.notes.clone()
    }

    #[getter]
    fn store(&self) -> PathBuf {
        self.folder.clone()
    }

    fn cost<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let cost = while_looking(py, &Progress::Hidden, |_, stop| self.plan.cost(&self.folder, stop.flag()))?;
        let cost = cost.map_err(|error| raised(py, &error))?;
        let dict = PyDict::new(py);
        dict.set_item("runs", cost.runs)?;
        dict.set_item("missing", cost.missing)?;
        dict.set_item("pilot", cost.pilot)?;
        dict.set_item("cpu_hours", cost.seconds / 3600.0)?;
        dict.set_item("bytes", cost.bytes)?;
        Ok(dict)
    }

    fn missing(&self, py: Python<'_>) -> PyResult<Table> {
        let missing = self.read(py, Plan::missing)?;
        let count = |name, of: &dyn Fn(&Run) -> u64| Column::new(name, Cells::counts(missing.iter().map(of)));
        let seeds = self.plan.seeds.len();
        let mut all = vec![count("row", &|run| (run.cell * seeds + run.seed) as u64)];
        all.extend(self.plan.axis_values(missing.iter().map(|run| run.cell)));
        all.push(count("seed", &|run| self.plan.seeds[run.seed]));
        self.table_of(columns::Table::new(all), &["row"])
    }

    fn explain(&self, py: Python<'_>, row: usize) -> PyResult<String> {
        let run = self.plan.run_of_row(row).ok_or_else(|| {
            PyIndexError::new_err(format!("there is no row {row}; allowed: 0 to {}", self.plan.runs() - 1))
        })?;
        let why = py.detach(|| self.plan.explain(run, &Stores::new(&self.folder)));
        why.map(|why| why.to_string()).map_err(|error| raised(py, &error))
    }

    /// Rejects a plan that has too many runs, or needs too much disk, or too much memory for `jobs`
    /// simultaneous runs.
    fn check(&self, jobs: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        self.plan.check(jobs_of(jobs)?, "jobs").map_err(|error| too_much(&error))
    }

    /// Makes the missing runs on this machine. Returns the number of runs and their processor
    /// seconds.
    #[pyo3(signature = (jobs, progress))]
    fn run_local(
        &self,
        py: Python<'_>,
        jobs: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(usize, f64)> {
        let jobs = jobs_of(jobs)?;
        let progress = Progress::new(progress)?;
        let ran = while_looking(py, &progress, |note, stop| {
            let reached =
                |done: usize, all: usize| note(if all == 0 { 1.0 } else { done as f64 / all as f64 });
            let local = Local {
                folder: &self.folder,
                jobs,
                share: Share::ALL,
                progress: &reached,
                stop: stop.flag(),
            };
            self.plan.run(&local)
        })?;
        ran.map(|ran| (ran.runs, ran.seconds)).map_err(|error| raised(py, &error))
    }

    /// Divides the missing runs into at most `max` shards. A shard lasts about `seconds`, or longer
    /// if `max` shards of this length would not cover all runs.
    fn shards(&self, py: Python<'_>, seconds: f64, max: usize) -> PyResult<Vec<(String, usize)>> {
        let shards = while_looking(py, &Progress::Hidden, |_, stop| {
            self.plan.shards(&self.folder, seconds, max, stop.flag())
        })?;
        let shards = shards.map_err(|error| raised(py, &error))?;
        Ok(shards.iter().map(|shard| (shard.to_json(), shard.runs())).collect())
    }

    /// One row per run.
    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        let table = self.read(py, Plan::table)?;
        self.table_of(table, &self.keys("seed"))
    }

    /// One row per cell.
    fn summary(&self, py: Python<'_>) -> PyResult<Table> {
        let table = self.read(py, Plan::summary_table)?;
        self.table_of(table, &self.keys(""))
    }

    /// Merges many small parts into few large ones. Returns the number of files before and after.
    fn compact(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        self.read(py, |_, stores| {
            let (runs, flows) = (stores.runs.compact()?, stores.flows.compact()?);
            Ok((runs.0 + flows.0, runs.1 + flows.1))
        })
    }
}

/// The contents of a plan's pickle: the scenario and the plan's text, or the plan's file; then the
/// store's folder.
type Pickled = (Option<String>, Option<String>, Option<PathBuf>, PathBuf);

/// Restores a plan from the contents of a pickle.
#[pyfunction]
#[pyo3(signature = (base, text, file, folder))]
pub(crate) fn _sweep_plan(
    py: Python<'_>,
    base: Option<&str>,
    text: Option<String>,
    file: Option<PathBuf>,
    folder: PathBuf,
) -> PyResult<SweepPlan> {
    if let Some(file) = file {
        return SweepPlan::load(py, file, Some(folder));
    }
    let base = serde_json::from_str(base.unwrap_or_default());
    let base = base.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    SweepPlan::of_text(py, base, text.unwrap_or_default(), folder)
}

type Number = fn(&str) -> Option<f64>;

/// The unit of an axis's numbers, and the function that converts values to numbers. The unit is the
/// values' common unit, or else their type's default. `None` unless all values are quantities of
/// one type.
fn unit_of(axis: &Axis) -> Option<(String, Number)> {
    let text = |(_, value): &(String, Value)| match value {
        Value::Text(text) => Some(text.clone()),
        Value::Number(_) => None,
    };
    let texts: Vec<String> = axis.values.iter().map(text).collect::<Option<_>>()?;
    let is_all = |of: &dyn Fn(&str) -> bool| texts.iter().all(|text| of(text));
    let is_quantity = |text: &str| {
        text.parse::<Room>().is_ok() || text.parse::<Rate>().is_ok() || text.parse::<Duration>().is_ok()
    };
    let (_, unit) = texts.first()?.trim().split_once(' ')?;
    let ends_so = |text: &str| text.trim().split_once(' ').is_some_and(|(_, own)| own == unit);
    if is_all(&is_quantity) && is_all(&ends_so) {
        return Some((unit.to_owned(), |text| text.trim().split_once(' ')?.0.parse().ok()));
    }
    let kinds: [(&str, Number); 3] = [
        ("s", |text| Some(text.parse::<Duration>().ok()?.seconds())),
        ("bit/s", |text| Some(text.parse::<Rate>().ok()?.bps() as f64)),
        ("B", |text| Some(text.parse::<Size>().ok()?.0 as f64)),
    ];
    let found = kinds.into_iter().find(|(_, number)| is_all(&|text| number(text).is_some()));
    found.map(|(unit, number)| (unit.to_owned(), number))
}

/// Makes the runs of a shard and stores them. Returns the number of runs and their processor
/// seconds.
#[pyfunction]
pub(crate) fn run_shard(py: Python<'_>, shard: &str) -> PyResult<(usize, f64)> {
    let shard = Shard::from_json(shard).map_err(|error| raised(py, &error))?;
    let ran =
        while_looking(py, &Progress::Hidden, |note, stop| shard.run(&mut |done| note(done), stop.flag()))?;
    ran.map(|Ran { runs, seconds, .. }| (runs, seconds)).map_err(|error| raised(py, &error))
}
