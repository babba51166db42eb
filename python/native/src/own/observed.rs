//! The runs of a contest, each in the scope of the contest's Python classes.

use super::class::Classes;
use super::packet::seconds;
use super::scope::{Failure, Run, Stop, within};
use crate::result::Result;
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{Observer, Observers, RunId};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) struct Observed<'a> {
    classes: &'a Classes,
    stop: &'a Arc<Stop>,
    inner: &'a dyn Observers,
    failed: Mutex<Option<Failed>>,
}

pub(crate) struct Failed {
    discipline: String,
    seed: u64,
    failure: Failure,
}

impl<'a> Observed<'a> {
    pub(crate) fn new(classes: &'a Classes, stop: &'a Arc<Stop>, inner: &'a dyn Observers) -> Self {
        Observed { classes, stop, inner, failed: Mutex::default() }
    }

    /// Performs the run `which` on this thread by calling `go`. Keeps the exception if one ends the
    /// run.
    pub(crate) fn around(&self, which: RunId<'_>, go: &mut dyn FnMut(&Run)) {
        let run = Arc::new(Run::new(self.stop));
        if self.classes.is_empty() {
            return go(&run);
        }
        self.stop.on_this_thread(|| within(self.classes, &run, || go(&run)));
        if let Some(failure) = run.failure() {
            let failed = Failed { discipline: which.discipline.into(), seed: which.seed, failure };
            self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failed);
        }
    }

    /// Did `run` end without an exception?
    pub(crate) fn keeps(&self, run: &RunRecord) -> bool {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.as_ref().is_none_or(|failed| run.discipline != failed.discipline || run.seed != failed.seed)
    }

    pub(crate) fn failed(self) -> Option<Failed> {
        self.failed.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Failed {
    pub(crate) fn exception(self, py: Python<'_>, finished: Result) -> PyErr {
        let Failed { discipline, seed, failure } = self;
        let note = format!(
            "in a run of `{discipline}` under seed {seed}, at {} s; `result` of this exception has the \
             runs that were finished",
            seconds(failure.at)
        );
        let value = failure.error.value(py);
        // An exception that accepts no attributes is raised unchanged.
        let _ = value.setattr("result", finished);
        let _ = value.call_method1("add_note", (note,));
        failure.error
    }
}

impl Observers for Observed<'_> {
    fn observe(&self, which: RunId<'_>, go: &mut dyn FnMut(Option<&mut dyn Observer>) -> bool) {
        self.around(which, &mut |run| {
            self.inner.observe(which, &mut |observer| go(observer) && !run.has_failed());
        });
    }
}
