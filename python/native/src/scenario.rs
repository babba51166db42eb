//! Scenarios from a file or a dict, with changes.

use crate::contest::{self, How, Progress};
use crate::error::scenario_error;
use crate::own::{self, Classes, Run};
use crate::result::Result;
use crate::stages::On;
use crate::watch::{Keywords, Watching};
use fairwire_document::Problem;
use fairwire_scenario::Overrides;
use fairwire_sweep::Base;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Clone)]
enum Source {
    File(PathBuf),
    Text(String),
}

/// A checked scenario: flows, shared links, disciplines and seeds.
///
/// `Scenario({...})` takes a dict with the keys of a scenario file, or the file's text in TOML.
/// `Scenario.load(path)` reads a file. A scenario never changes: `set` returns another scenario. A
/// pickled scenario is parsed again when loaded.
///
/// Raises ScenarioError, with the message of the command `fairwire`.
#[pyclass(frozen, module = "fairwire")]
pub(crate) struct Scenario {
    source: Source,
    set: Vec<String>,
    classes: Classes,
    checked: fairwire_scenario::Scenario,
}

impl Scenario {
    fn new(py: Python<'_>, source: Source, overrides: &Overrides, classes: Classes) -> PyResult<Self> {
        let checked = own::within(&classes, &Arc::<Run>::default(), || match &source {
            Source::File(path) => fairwire_scenario::load(path, overrides),
            Source::Text(text) => fairwire_scenario::parse("scenario", text, overrides),
        });
        let checked = checked.map_err(|error| scenario_error(py, &error))?;
        Ok(Scenario { source, set: overrides.set.clone(), classes, checked })
    }

    pub(crate) fn checked(&self) -> &fairwire_scenario::Scenario {
        &self.checked
    }

    pub(crate) fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The scenario as the base of a sweep. Python classes are rejected, because the sweep's runs
    /// may be in other processes.
    pub(crate) fn base(&self, py: Python<'_>) -> PyResult<Base> {
        if !self.classes.is_empty() {
            return Err(PyTypeError::new_err(
                "a sweep of a scenario with a class of Python; allowed: disciplines of the catalogue, by name",
            ));
        }
        let base = match &self.source {
            Source::File(path) => Base::load(path).map_err(|error| scenario_error(py, &error))?,
            Source::Text(text) => Base::text(text),
        };
        Ok(base.with(&self.set))
    }

    fn with(&self, py: Python<'_>, overrides: &Overrides, classes: Classes) -> PyResult<Self> {
        Scenario::new(py, self.source.clone(), overrides, classes)
    }
}

/// Converts a Python value to TOML through JSON. TOML has all types of JSON except null.
pub(crate) fn toml_value(value: &Bound<'_, PyAny>) -> PyResult<toml::Value> {
    if let Some(path) = none_in(value)? {
        return Err(PyTypeError::new_err(format!(
            "`{path}` is None, which TOML does not have; allowed: leave the key out"
        )));
    }
    let json: String = value.py().import("json")?.call_method1("dumps", (value,))?.extract()?;
    serde_json::from_str(&json).map_err(|error| {
        PyTypeError::new_err(format!(
            "{value}: {error}; allowed: str, int, float, bool, lists and dicts of them"
        ))
    })
}

fn none_in(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if value.is_none() {
        return Ok(Some("value".to_owned()));
    }
    let inside: Vec<(String, Bound<'_, PyAny>)> = if let Ok(dict) = value.cast::<PyDict>() {
        dict.iter().map(|(key, value)| Ok((key.str()?.to_string(), value))).collect::<PyResult<_>>()?
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.enumerate();
        items.map(|(place, value)| Ok((place.to_string(), value?))).collect::<PyResult<_>>()?
    } else {
        return Ok(None);
    };
    for (key, value) in inside {
        if value.is_none() {
            return Ok(Some(key));
        }
        if let Some(path) = none_in(&value)? {
            return Ok(Some(format!("{key}.{path}")));
        }
    }
    Ok(None)
}

fn toml_text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut text = String::new();
    let written = toml_value(value)?.serialize(toml::ser::ValueSerializer::new(&mut text));
    written.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(text)
}

/// Returns changes in the form of `--set`: `PATH=VALUE`. The input is one path with its value, or a
/// dict that maps paths to values. Adds the values' Python classes to `classes`.
pub(crate) fn changes(
    path: &Bound<'_, PyAny>,
    value: Option<&Bound<'_, PyAny>>,
    classes: &mut Classes,
) -> PyResult<Vec<String>> {
    let mut one = |path: String, value: &Bound<'_, PyAny>| {
        let value = own::plain(value, classes, &path)?;
        toml_text(&value).map(|value| format!("{path}={value}"))
    };
    match (path.cast::<PyDict>(), value) {
        (Ok(several), None) => several.iter().map(|(path, value)| one(path.extract()?, &value)).collect(),
        (Err(_), Some(value)) => Ok(vec![one(path.extract()?, value)?]),
        _ => Err(PyTypeError::new_err("`set` takes a path and a value, or a dict of these")),
    }
}

/// Parses one or several disciplines into the form of the command line.
fn texts(value: Option<&Bound<'_, PyAny>>, classes: &mut Classes) -> PyResult<Vec<String>> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let value = &own::plain(value, classes, "disciplines")?;
    let items: Vec<Bound<'_, PyAny>> = match value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyDict>()
    {
        true => vec![value.clone()],
        false => match value.try_iter() {
            Ok(items) => items.collect::<PyResult<_>>()?,
            Err(_) => {
                let kind = value.get_type().name()?;
                return Err(PyTypeError::new_err(format!(
                    "`disciplines` is a {kind}; allowed: a name, a class and no object of it, a dict, or a list of these"
                )));
            }
        },
    };
    let one = |item: &Bound<'_, PyAny>| match item.extract::<String>() {
        Ok(name) => Ok(name),
        Err(_) => toml_text(item),
    };
    items.iter().map(one).collect()
}

/// The contents of a scenario's pickle: its file or its text, and its changes, hash and classes.
type Pickled = (Option<PathBuf>, Option<String>, Vec<String>, String, Vec<own::Listed>);

/// Restores a scenario from a pickle.
#[pyfunction]
#[pyo3(signature = (file, text, set, sha256, classes))]
pub(crate) fn _scenario(
    py: Python<'_>,
    file: Option<PathBuf>,
    text: Option<String>,
    set: Vec<String>,
    sha256: &str,
    classes: Vec<own::Listed>,
) -> PyResult<Scenario> {
    let source = file.map_or_else(|| Source::Text(text.unwrap_or_default()), Source::File);
    let overrides = Overrides { set, ..Overrides::default() };
    let scenario = Scenario::new(py, source, &overrides, Classes::from_listed(py, classes)?)?;
    if scenario.checked.sha256() != sha256 {
        let name = scenario.name();
        return Err(PyValueError::new_err(format!(
            "the file of the scenario `{name}` is another than when it was pickled; allowed: the same file"
        )));
    }
    Ok(scenario)
}

fn seeds_text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    const ALLOWED: &str = "an int from 0 on, a list of them, or a text such as \"1..=10\"";
    if let Ok(text) = value.extract::<String>() {
        return Ok(text);
    }
    if let Ok(seed) = value.extract::<u64>() {
        return Ok(seed.to_string());
    }
    let wrong = |given: &Bound<'_, PyAny>| match given.repr() {
        Ok(text) => PyTypeError::new_err(format!("`seeds` is {text}; allowed: {ALLOWED}")),
        Err(error) => error,
    };
    let items = value.try_iter().map_err(|_| wrong(value))?;
    let seeds =
        items.map(|seed| seed?.extract::<u64>().map_err(|_| wrong(value))).collect::<PyResult<Vec<_>>>()?;
    if seeds.is_empty() {
        let [key, given, why, allowed] = ["seeds", "empty", "a run needs one", ALLOWED].map(String::from);
        let problem = Problem::Refused { key, given, why, allowed };
        return Err(scenario_error(value.py(), &problem.into()));
    }
    Ok(seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
}

pub(crate) fn jobs_of(given: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    let Some(given) = given else { return Ok(0) };
    given.extract::<u16>().map(usize::from).map_err(|_| match given.repr() {
        Ok(text) => {
            let message = format!("`jobs` is {text}; allowed: an int from 0, one on each core, to 65535");
            let is_int = given.is_instance_of::<pyo3::types::PyInt>();
            if is_int { PyValueError::new_err(message) } else { PyTypeError::new_err(message) }
        }
        Err(error) => error,
    })
}

fn measures_of(given: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if let Ok(name) = given.extract::<String>() {
        return Ok(vec![name]);
    }
    given.extract().map_err(|_| match given.repr() {
        Ok(text) => {
            PyTypeError::new_err(format!("`measures` is {text}; allowed: a list of names of measures"))
        }
        Err(error) => error,
    })
}

#[pymethods]
impl Scenario {
    #[new]
    fn from_value(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut classes = Classes::default();
        let text = match value.extract::<String>() {
            Ok(text) if !text.contains(['\n', '=']) && text.ends_with(".toml") => {
                return Err(PyValueError::new_err(format!(
                    "`{text}` is the name of a file; allowed: `Scenario.load(\"{text}\")`, a dict, or text in TOML"
                )));
            }
            Ok(text) => text,
            Err(_) => match toml_value(&own::plain(value, &mut classes, "")?)? {
                toml::Value::Table(table) => table.to_string(),
                _ => {
                    let given = value.repr()?;
                    let message = format!("a scenario is `{given}`; allowed: a dict, or text in TOML");
                    return Err(PyTypeError::new_err(message));
                }
            },
        };
        Scenario::new(value.py(), Source::Text(text), &Overrides::default(), classes)
    }

    /// Reads a scenario file. `path`: a str or an os.PathLike.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Scenario::new(py, Source::File(path), &Overrides::default(), Classes::default())
    }

    /// Returns the scenario with one or several values changed, like `--set PATH=VALUE`:
    /// `scenario.set("link.buffer", "390 packets")`, `.set({"seeds": 3, "flow.tcp.count": 20})`.
    #[pyo3(signature = (path, value=None))]
    fn set(
        &self,
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        value: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (mut set, mut classes) = (self.set.clone(), self.classes.clone());
        set.extend(changes(path, value, &mut classes)?);
        self.with(py, &Overrides { set, ..Overrides::default() }, classes)
    }

    /// Simulates every discipline under every seed, and returns the results.
    ///
    /// `disciplines`: a name, a dict with parameters, or a list of these, instead of the
    /// scenario's. `seeds`: an int, a list of ints, or a text such as "1..=10". `jobs`:
    /// simultaneous runs, 0 for one per core. `progress`: True for a line on stderr, or a function
    /// that receives the fraction done, from 0 to 1. The results do not depend on `jobs`.
    ///
    /// `every`, such as "100 ms": samples links, groups and aggregates at every multiple of this
    /// time, for `result.series`. With `flows=True`, each flow is sampled too, with its congestion
    /// window. `delays=True` counts waiting times of packets at each link, for `result.delays`.
    /// `one_way=True` counts packets' times from source to receiver, for `result.one_way`.
    /// `transfers=True` records each transfer, for `result.completed`. `packets=True` records each
    /// packet, for `result.packets`. None of these options changes a result. `measures`: names of
    /// additional measures for the summary, such as "transfer_slowdown_p99.web".
    ///
    /// `on`: a stage, or a list of stages, such as `["sim", "lab"]`. `sim` is the simulator. `lab`
    /// is this kernel's TCP and UDP between network namespaces, through the same compiled
    /// discipline. `lab` needs Linux, and root or a kernel that lets users make namespaces. `lab`
    /// runs in real time. Each table then has a column `stage`. `result.agreement` compares the
    /// other stages with the first, and `result.verdicts` judges the comparison. A stage that
    /// cannot run the scenario, or cannot run on this machine, raises StageError.
    ///
    /// A recording of more than about 2 GB is refused, with a suggestion, unless `yes` is True.
    ///
    /// Other Python threads run during the call. Ctrl-C stops the call within 100 ms and raises
    /// KeyboardInterrupt.
    #[pyo3(signature = (
        disciplines=None, seeds=None, *, jobs=None, progress=None, every=None, flows=false, delays=false,
        transfers=false, one_way=false, packets=false, measures=None, on=None, yes=false
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn run(
        &self,
        py: Python<'_>,
        disciplines: Option<&Bound<'_, PyAny>>,
        seeds: Option<&Bound<'_, PyAny>>,
        jobs: Option<&Bound<'_, PyAny>>,
        progress: Option<&Bound<'_, PyAny>>,
        every: Option<&Bound<'_, PyAny>>,
        flows: bool,
        delays: bool,
        transfers: bool,
        one_way: bool,
        packets: bool,
        measures: Option<&Bound<'_, PyAny>>,
        on: Option<&Bound<'_, PyAny>>,
        yes: bool,
    ) -> PyResult<Result> {
        let keywords = Keywords { flows, delays, transfers, one_way, packets, yes };
        let watching = Watching::new(every, keywords)?;
        let (jobs, measures) = (jobs_of(jobs)?, measures.map_or(Ok(Vec::new()), measures_of)?);
        let on = on.map(On::new).transpose()?;
        let how = How { jobs, progress: Progress::new(progress)?, watching, measures, on };
        let mut classes = self.classes.clone();
        let overrides = Overrides {
            set: self.set.clone(),
            disciplines: texts(disciplines, &mut classes)?,
            seeds: seeds.map(seeds_text).transpose()?,
        };
        if overrides.disciplines.is_empty() && overrides.seeds.is_none() {
            return contest::run(py, &self.checked, &classes, &how);
        }
        let chosen = self.with(py, &overrides, classes)?;
        contest::run(py, &chosen.checked, &chosen.classes, &how)
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.checked.spec().name
    }

    /// The scenario in TOML, with all changes.
    #[getter]
    fn toml(&self) -> &str {
        self.checked.toml()
    }

    /// SHA-256 of the simulated scenario, hexadecimal. Comments, layout and the selection of
    /// disciplines and seeds do not count.
    #[getter]
    fn sha256(&self) -> &str {
        self.checked.sha256()
    }

    /// Notes, such as on assumed values that the scenario does not state.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.checked.notes().to_vec()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Pickled)> {
        let restore = py.import("fairwire._fairwire")?.getattr("_scenario")?;
        let (file, text) = match &self.source {
            Source::File(path) => (Some(std::path::absolute(path).unwrap_or_else(|_| path.clone())), None),
            Source::Text(text) => (None, Some(text.clone())),
        };
        let sha256 = self.checked.sha256().to_owned();
        Ok((restore, (file, text, self.set.clone(), sha256, self.classes.listed(py))))
    }

    /// Returns the scenario itself, since it never changes.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Returns the scenario itself, since it never changes.
    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// Are texts, changes and classes equal? The file does not matter.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Scenario>() else { return Ok(false) };
        let (py, other) = (other.py(), other.get());
        let text = |scenario: &Scenario| (scenario.checked.sha256().to_owned(), scenario.set.clone());
        let classes = |scenario: &Scenario| scenario.classes.listed(py).into_pyobject(py);
        Ok(text(self) == text(other) && classes(self)?.eq(classes(other)?)?)
    }

    fn __repr__(&self) -> String {
        format!("<fairwire.Scenario {}>", self.name())
    }
}
