//! A run without Python's lock, which Ctrl-C stops.

use crate::result::Result;
use fairwire_scenario::{Outcome, RunError, Scenario};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBool;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How often signals are looked for and progress is shown.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What is done with the fraction that is done.
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

/// Runs `scenario` on `jobs` threads while this thread looks for signals.
pub(crate) fn run(py: Python<'_>, scenario: &Scenario, jobs: usize, progress: &Progress) -> PyResult<Result> {
    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let outcome = py.detach(|| {
        thread::scope(|scope| {
            let (sender, finished) = mpsc::channel();
            let (stop, done) = (&stop, &done);
            let worker = scope.spawn(move || {
                let note = |fraction: f64| {
                    done.fetch_max(fraction.to_bits(), Ordering::Relaxed); // floats above 0 are ordered as their bits
                };
                let outcome = fairwire_scenario::run_all(scenario, jobs, &note, stop);
                // Its receiver is there until this is sent.
                let _ = sender.send(outcome);
            });
            let mut failed = None;
            loop {
                match finished.recv_timeout(LOOK_EVERY) {
                    Ok(outcome) => return (outcome_of(outcome), failed),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        let _ = worker.join(); // joined here, its panic does not go on in this thread
                        let message = "the simulation panicked, which is our fault: please report it";
                        return (Err(PyRuntimeError::new_err(message)), failed);
                    }
                }
                if failed.is_none() {
                    let fraction = f64::from_bits(done.load(Ordering::Relaxed));
                    failed = Python::attach(|py| {
                        py.check_signals().and_then(|()| progress.show(py, fraction)).err()
                    });
                    stop.store(failed.is_some(), Ordering::Relaxed);
                }
            }
        })
    });
    if let Some(error) = outcome.1 {
        return Err(error);
    }
    let outcome = outcome.0?;
    progress.show(py, 1.0)?;
    Ok(Result::new(fairwire_scenario::report(scenario, outcome)))
}

fn outcome_of(outcome: std::result::Result<Outcome, RunError>) -> PyResult<Outcome> {
    outcome.map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
