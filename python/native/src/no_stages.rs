//! Stages on systems other than Linux: only the simulator.

use crate::contest::Done;
use crate::own::{Classes, Observed, Stop};
use crate::watch::Watch;
use fairwire_scenario::Scenario;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

#[derive(Clone)]
pub(crate) enum On {}

impl On {
    pub(crate) fn new(_: &Bound<'_, PyAny>) -> PyResult<Self> {
        let message = "`on` is given, but stages need Linux; allowed: without it, the simulator";
        Err(PyValueError::new_err(message))
    }

    pub(crate) fn has(&self, _: &str) -> bool {
        match *self {}
    }

    pub(crate) fn are_several(&self) -> bool {
        match *self {}
    }

    pub(crate) fn check(&self, _: Python<'_>, _: &Scenario) -> PyResult<()> {
        match *self {}
    }

    pub(crate) fn run(
        &self,
        _: &Scenario,
        _: usize,
        _: (&Watch, &Observed<'_>, &Classes),
        _: &(dyn Fn(f64) + Sync),
        _: &Arc<Stop>,
    ) -> Done {
        match *self {}
    }
}
