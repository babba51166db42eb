//! An object of a Python class that a run uses.

use super::class::{Class, Kind};
use super::scope::Run;
use fairwire_core::{Limit, Time};
use fairwire_laws::Site;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

pub(super) struct Own {
    pub(super) object: Py<PyAny>,
    pub(super) name: String,
    pub(super) run: Arc<Run>,
}

impl Own {
    /// Makes an object of `class`. The attributes in `place` are set before `__init__`.
    pub(super) fn new(
        py: Python<'_>,
        class: &Class,
        run: &Arc<Run>,
        place: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let object = py.import("builtins")?.getattr("object")?.call_method1("__new__", (&class.class,))?;
        for (name, value) in place {
            object.setattr(name.extract::<String>()?.as_str(), value)?;
        }
        object.call_method("__init__", (), Some(class.arguments.bind(py)))?;
        let name = class.class.bind(py).name()?.to_string();
        Ok(Own { object: object.unbind(), name, run: run.clone() })
    }

    pub(super) fn method(&self, py: Python<'_>, kind: Kind, name: &str) -> PyResult<Option<Py<PyAny>>> {
        let object = self.object.bind(py);
        let inherited = object.get_type().getattr(name)?.is(&kind.base_class(py)?.getattr(name)?);
        if inherited { Ok(None) } else { object.getattr(name).map(|method| Some(method.unbind())) }
    }

    /// The result of `call`. If `call` raises an exception, the run ends, and the result is
    /// `otherwise`.
    pub(super) fn call<T>(&self, now: Time, otherwise: T, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
        if self.run.is_over() {
            return otherwise;
        }
        Python::attach(|py| {
            call(py).unwrap_or_else(|error| {
                self.run.fail(py, error, now);
                otherwise
            })
        })
    }

    pub(super) fn nonsense(&self, method: &str, given: &Bound<'_, PyAny>, allowed: &str) -> PyErr {
        let given = given.repr().map_or_else(|_| "something".into(), |text| text.to_string());
        PyTypeError::new_err(format!("{}.{method} returned {given}; allowed: {allowed}", self.name))
    }
}

/// The attributes of an object that describe its queue, set before `__init__`.
pub(super) fn place<'py>(
    py: Python<'py>,
    name: &str,
    limit: Limit,
    site: &Site<'_>,
) -> PyResult<Bound<'py, PyDict>> {
    let place = PyDict::new(py);
    place.set_item("rate_bps", site.rate.bps() as f64)?;
    place.set_item("max_packets", limit.max_packets())?;
    place.set_item("max_bytes", limit.max_bytes())?;
    place.set_item("packet_bytes", site.packet_bytes)?;
    let seed = site.rng(name).next_u64();
    place.set_item("random", py.import("random")?.call_method1("Random", (seed,))?)?;
    Ok(place)
}
