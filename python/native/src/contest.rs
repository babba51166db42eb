//! Runs contests without Python's lock. Ctrl-C can stop them.

use crate::error::Trouble;
use crate::own::{Classes, Observed, Stop};
use crate::result::Result;
use crate::stages::On;
use crate::watch::{Watch, Watching};
use fairwire_metrics::record::Report;
use fairwire_metrics::summary;
use fairwire_scenario::{RunError, Scenario};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBool;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

const LOOK_EVERY: Duration = Duration::from_millis(50);

pub(crate) enum Progress {
    Hidden,
    Line,
    Function(Py<PyAny>),
}

impl Progress {
    pub(crate) fn new(given: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        match given {
            None => Ok(Progress::Hidden),
            Some(given) if given.is_instance_of::<PyBool>() => {
                Ok(if given.is_truthy()? { Progress::Line } else { Progress::Hidden })
            }
            Some(given) if given.is_callable() => Ok(Progress::Function(given.clone().unbind())),
            Some(given) => {
                let kind = given.get_type().name()?;
                Err(PyTypeError::new_err(format!("`progress` is a {kind}; allowed: a bool or a function")))
            }
        }
    }

    fn show(&self, py: Python<'_>, done: f64) -> PyResult<()> {
        match self {
            Progress::Hidden => {}
            Progress::Line => {
                let stderr = py.import("sys")?.getattr("stderr")?;
                let end = if done >= 1.0 { "\n" } else { "" };
                stderr.call_method1("write", (format!("\r{:3.0} %{end}", 100.0 * done),))?;
                stderr.call_method0("flush")?;
            }
            Progress::Function(function) => {
                function.call1(py, (done,))?;
            }
        }
        Ok(())
    }
}

pub(crate) struct How {
    /// The number of simultaneous runs; 0 for one per core.
    pub(crate) jobs: usize,
    pub(crate) progress: Progress,
    pub(crate) watching: Watching,
    pub(crate) measures: Vec<String>,
    /// The stage. `None` for simulated runs, whose results name no stage.
    pub(crate) on: Option<On>,
}

impl How {
    fn add_measures(&self, scenario: &Scenario, report: &mut Report) -> PyResult<()> {
        if self.measures.is_empty() {
            return Ok(());
        }
        let further = [scenario.further_measures(), self.measures.clone()].concat();
        report.summary = summary::summarize_with(&report.runs, &further);
        let has = |name: &String| report.summary.iter().any(|of| of.measures.contains_key(name));
        match self.measures.iter().find(|name| !has(name)).filter(|_| !report.runs.is_empty()) {
            None => Ok(()),
            Some(name) => {
                let known: Vec<&str> =
                    report.summary.iter().flat_map(|of| of.measures.keys().map(String::as_str)).collect();
                let hint = fairwire_core::spelling::hint(name, known.iter().copied());
                let allowed = "those of docs/results-schema.md, such as \"transfer_slowdown_p99.web\"";
                Err(PyValueError::new_err(format!(
                    "`measures` has `{name}`, which no run has; allowed: {allowed}{hint}"
                )))
            }
        }
    }
}

pub(crate) fn run(py: Python<'_>, scenario: &Scenario, classes: &Classes, how: &How) -> PyResult<Result> {
    if let Some(on) = &how.on {
        on.check(py, scenario)?;
    }
    let notes = how.watching.on(how.on.as_ref())?;
    let watch = Watch::new(how.watching, scenario, how.jobs, how.on.is_some())?;
    let runs = |note: &(dyn Fn(f64) + Sync), stop: &Arc<Stop>| {
        let observed = Observed::new(classes, stop, &watch);
        let done = match &how.on {
            None => simulated(scenario, how.jobs, &observed, note, stop),
            Some(on) => Ok(on.run(scenario, how.jobs, (&watch, &observed, classes), note, stop)),
        };
        (done, observed.failed())
    };
    let (done, failed) = while_looking(py, &how.progress, runs)?;
    let Done { mut report, trouble } = done.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    report.manifest.notes.extend(notes);
    let watched = watch.seen(&report.runs).tables()?;
    how.add_measures(scenario, &mut report)?;
    let result = Result::new(report, watched);
    match (failed, trouble) {
        (None, None) => Ok(result),
        (Some(failed), _) => Err(failed.exception(py, result)),
        (None, Some(trouble)) => Err(trouble.exception(py, result)),
    }
}

pub(crate) struct Done {
    /// The finished runs.
    pub(crate) report: Report,
    pub(crate) trouble: Option<Trouble>,
}

fn simulated(
    scenario: &Scenario,
    jobs: usize,
    observed: &Observed<'_>,
    note: &(dyn Fn(f64) + Sync),
    stop: &Arc<Stop>,
) -> std::result::Result<Done, RunError> {
    let mut outcome = fairwire_scenario::run_all_observed(scenario, jobs, note, stop.flag(), observed)?;
    let all = outcome.runs.len();
    outcome.runs.retain(|run| observed.keeps(run));
    outcome.interrupted |= outcome.runs.len() < all;
    Ok(Done { report: fairwire_scenario::report(scenario, outcome), trouble: None })
}

/// Runs `work` in a thread without Python's lock, while this thread checks for signals and shows
/// progress.
pub(crate) fn while_looking<T: Send>(
    py: Python<'_>,
    progress: &Progress,
    work: impl FnOnce(&(dyn Fn(f64) + Sync), &Arc<Stop>) -> T + Send,
) -> PyResult<T> {
    let (stop, done) = (Arc::<Stop>::default(), AtomicU64::new(0));
    let outcome = py.detach(|| {
        thread::scope(|scope| {
            let (sender, finished) = mpsc::channel();
            let (stop, done) = (&stop, &done);
            let worker = scope.spawn(move || {
                let note = |fraction: f64| {
                    done.fetch_max(fraction.to_bits(), Ordering::Relaxed); // positive floats are ordered like their bits
                };
                // This send cannot fail, since the receiver exists until the outcome is sent.
                let _ = sender.send(work(&note, stop));
            });
            let mut failed = None;
            loop {
                match finished.recv_timeout(LOOK_EVERY) {
                    Ok(outcome) => return (Ok(outcome), failed),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        let _ = worker.join(); // joined here, its panic does not continue in this thread
                        let message = "the simulation panicked, which is our fault: please report it";
                        return (Err(PyRuntimeError::new_err(message)), failed);
                    }
                }
                if failed.is_none() {
                    let fraction = f64::from_bits(done.load(Ordering::Relaxed));
                    failed = Python::attach(|py| {
                        let shown = py.check_signals().and_then(|()| progress.show(py, fraction));
                        shown.inspect_err(|_| stop.interrupt(py)).err()
                    });
                }
            }
        })
    });
    if let Some(error) = outcome.1 {
        return Err(error);
    }
    let outcome = outcome.0?;
    progress.show(py, 1.0)?;
    Ok(outcome)
}
