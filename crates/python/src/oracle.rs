//! Fair shares, indices and descriptions by themselves.

use crate::columns;
use crate::table::Table;
use fairwire_catalogue as catalogue;
use fairwire_metrics::max_min::Claim;
use pyo3::exceptions::{PyLookupError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

/// The max-min fair shares of `capacity` among flows with these demands, in the unit of both.
///
/// `demands`: one for each flow; `float("inf")` is a flow that takes what it gets. `weights`: one
/// for each flow, above zero; all 1 if not given. Returns a list of as many shares.
///
/// Source: Bertsekas and Gallager, Data Networks, 2nd edition, 1992, section 6.5.2.
#[pyfunction]
#[pyo3(signature = (demands, capacity, weights=None))]
pub(crate) fn max_min(demands: Vec<f64>, capacity: f64, weights: Option<Vec<f64>>) -> PyResult<Vec<f64>> {
    let weights = weights.unwrap_or_else(|| vec![1.0; demands.len()]);
    if weights.len() != demands.len() {
        let (given, wanted) = (weights.len(), demands.len());
        return Err(PyValueError::new_err(format!(
            "{given} weights; allowed: {wanted}, one for each demand"
        )));
    }
    if !capacity.is_finite() || capacity < 0.0 {
        return Err(PyValueError::new_err(format!(
            "a capacity of {capacity}; allowed: 0 or more, and finite"
        )));
    }
    if let Some(demand) = demands.iter().find(|demand| demand.is_nan() || **demand < 0.0) {
        return Err(PyValueError::new_err(format!("a demand of {demand}; allowed: 0 or more, inf included")));
    }
    if let Some(weight) = weights.iter().find(|weight| !weight.is_finite() || **weight <= 0.0) {
        return Err(PyValueError::new_err(format!("a weight of {weight}; allowed: above 0, and finite")));
    }
    let claims = demands.into_iter().zip(weights).map(|(demand, weight)| Claim { demand, weight });
    Ok(fairwire_metrics::max_min::max_min(&claims.collect::<Vec<_>>(), capacity))
}

/// Jain's index of `rates`: from 1/n (one flow takes all) to 1 (all are equal); 1 without rates.
///
/// Source: Jain, Chiu and Hawe, DEC-TR-301, 1984.
#[pyfunction]
pub(crate) fn jain(rates: Vec<f64>) -> f64 {
    fairwire_metrics::jain::jain(&rates)
}

/// The reference page of a discipline or a marker, in Markdown: what it does, its parameters with
/// unit, range and default, its source, an example.
#[pyfunction]
pub(crate) fn describe(name: &str) -> PyResult<String> {
    let page = match (catalogue::find(name), catalogue::marker::find(name)) {
        (Ok(entry), _) => entry.page(),
        (Err(_), Ok(entry)) => entry.page(),
        (Err(unknown), Err(_)) => return Err(PyLookupError::new_err(unknown.to_string())),
    };
    page.map(|page| page.markdown()).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// A discipline of the catalogue.
#[derive(Serialize, JsonSchema)]
struct Row {
    /// Its name, in scenarios and on the command line.
    name: &'static str,
    /// Its family.
    family: String,
    /// What it does, in one sentence.
    summary: &'static str,
    /// The state that it keeps.
    state: &'static str,
    /// The time that it takes for each packet.
    cost: &'static str,
    /// The paper or RFC, with its section.
    source: &'static str,
}

/// All disciplines of the catalogue, as a table.
#[pyfunction]
pub(crate) fn disciplines() -> PyResult<Table> {
    Table::new(columns::table(catalogue::all().iter().map(|entry| Row {
        name: entry.name,
        family: entry.family.to_string(),
        summary: entry.summary,
        state: entry.state,
        cost: entry.cost,
        source: entry.source,
    })))
}
