//! Errors of documents as exceptions.

use crate::result::Result;
use fairwire_document::{DocumentError, Problem};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    fairwire,
    ScenarioError,
    PyValueError,
    "A scenario that was refused: `str(error)` is what the command prints, one line for each problem.\n\n\
     Attributes of the first problem, each None where it has no such thing: `source` (a file, or \
     `--set`), `line` and `column` from 1, `key` (dotted), `given`, `allowed`, `suggestion` (the \
     nearest spelling). `more` is a list of the other problems, each a ScenarioError."
);

pyo3::create_exception!(
    fairwire,
    StageError,
    PyRuntimeError,
    "A stage that cannot run a scenario, or that failed while it ran.\n\n\
     `stage` is its name. `allowed` says what it can run, or what this machine lacks; None where it \
     failed. `result` has the runs that were finished, on all stages."
);

pub(crate) struct Trouble {
    pub(crate) stage: &'static str,
    pub(crate) message: String,
    pub(crate) allowed: Option<String>,
}

impl Trouble {
    pub(crate) fn exception(self, py: Python<'_>, finished: Result) -> PyErr {
        let raised = || {
            let exception = py.get_type::<StageError>().call1((self.message,))?;
            exception.setattr("stage", self.stage)?;
            exception.setattr("allowed", self.allowed)?;
            exception.setattr("result", finished)?;
            Ok(exception)
        };
        raised().map_or_else(|error: PyErr| error, PyErr::from_value)
    }
}

pub(crate) fn scenario_error(py: Python<'_>, error: &DocumentError) -> PyErr {
    match filled(py, error) {
        Ok(exception) => PyErr::from_value(exception),
        Err(failed) => failed,
    }
}

fn filled<'py>(py: Python<'py>, error: &DocumentError) -> PyResult<Bound<'py, PyAny>> {
    let exception = py.get_type::<ScenarioError>().call1((public(&error.to_string()),))?;
    let location = error.location.as_ref();
    exception.setattr("source", location.map(|location| location.source.as_str()))?;
    exception.setattr("line", location.map(|location| location.line))?;
    exception.setattr("column", location.map(|location| location.column))?;
    let (key, given, suggestion) = match &error.problem {
        Problem::Unknown { given, allowed, .. } => {
            let likely = fairwire_core::spelling::likely(given, allowed.iter().map(String::as_str));
            (None, Some(given.as_str()), likely.first().map(ToString::to_string))
        }
        Problem::Elsewhere { given, .. } => (None, Some(given.as_str()), None),
        Problem::Missing { key, .. } | Problem::BadValue { key, .. } => (Some(key.as_str()), None, None),
        Problem::Refused { key, given, .. } => (Some(key.as_str()), Some(given.as_str()), None),
        Problem::NotFound { nearest, .. } => (None, None, nearest.first().cloned()),
        _ => (None, None, None),
    };
    exception.setattr("key", key)?;
    exception.setattr("given", given)?;
    exception.setattr("suggestion", suggestion)?;
    exception.setattr("allowed", error.problem.advice().map(|advice| public(&advice)))?;
    let more = error.more.iter().map(|error| filled(py, error)).collect::<PyResult<Vec<_>>>()?;
    exception.setattr("more", more)?;
    Ok(exception)
}

/// `text` without the catalogue entries for classes, since users pass the class itself. These
/// entries are registered last, so they are last in a list.
fn public(text: &str) -> String {
    let mut text = text.to_owned();
    for ending in [", `python` or `python-queue`", " or `python-controller`"] {
        if let Some((list, rest)) = text.split_once(ending)
            && let Some((before, last)) = list.rsplit_once(", ")
        {
            text = format!("{before} or {last}{rest}");
        }
    }
    text
}
