//! Functions for fair shares, indices and descriptions.

use crate::own;
use crate::table::Table;
use fairwire_catalogue as catalogue;
use fairwire_core::spelling;
use fairwire_metrics::max_min::Claim;
use fairwire_scenario::parts::{self, NoPage};
use fairwire_sweep::records;
use pyo3::exceptions::{PyLookupError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

/// The max-min fair shares of `capacity` among flows with these demands, all in the same unit.
///
/// `demands`: one per flow; `float("inf")` for a greedy flow. `weights`: one per flow, above zero;
/// all 1 if not given.
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

/// Jain's index of `rates`. It ranges from 1/n, if one flow takes all, to 1, if all are equal. It
/// is 1 without rates.
///
/// Source: Jain, Chiu and Hawe, DEC-TR-301, 1984.
#[pyfunction]
pub(crate) fn jain(rates: Vec<f64>) -> f64 {
    fairwire_metrics::jain::jain(&rates)
}

/// The mean of independent runs, and half of its 95 % interval (Student's t), which is None for a
/// single run.
///
/// Source: Law, Simulation Modeling and Analysis, 5th edition, 2015, section 4.5.
#[pyfunction]
pub(crate) fn estimate(runs: Vec<f64>) -> PyResult<(f64, Option<f64>)> {
    let estimate = fairwire_metrics::interval::estimate(&runs);
    let found = estimate.map(|found| (found.mean, found.half_width_95));
    found.ok_or_else(|| PyValueError::new_err("there are no runs; allowed: one value at least"))
}

/// The reference page, in Markdown, of a discipline, marker, controller, source, network or
/// parameter such as "lambda2": a summary, parameters with unit, range and default, the source, and
/// an example.
#[pyfunction]
pub(crate) fn describe(name: &str) -> PyResult<String> {
    match parts::page(name) {
        Ok(page) => {
            let text = page.markdown();
            // Removes the page's initial comment on its origin.
            let rest = text.strip_prefix("<!--").and_then(|rest| rest.split_once("-->"));
            Ok(rest.map_or(text.as_str(), |(_, page)| page.trim_start()).to_owned())
        }
        Err(NoPage::Documentation(error)) => Err(PyRuntimeError::new_err(error.to_string())),
        Err(unknown) => Err(PyLookupError::new_err(unknown_part(&unknown))),
    }
}

fn unknown_part(unknown: &NoPage) -> String {
    let likely = match unknown {
        NoPage::Unknown { likely, .. } => spelling::question(likely),
        NoPage::Documentation(_) => None,
    };
    let near = likely.map_or(String::new(), |question| format!("; {question}"));
    format!("{unknown}; allowed: what `fairwire.parts()` lists, and their parameters{near}")
}

/// An item that a scenario may name.
#[derive(Serialize, JsonSchema)]
struct PartRow {
    /// `discipline`, `marker`, `controller`, `source` or `network`.
    kind: &'static str,
    /// The name, as typed in scenarios.
    name: &'static str,
    /// A summary in one sentence.
    summary: &'static str,
    /// The paper or RFC, with its section; empty if there is none.
    source: &'static str,
    /// The names of the parameters, separated by commas.
    parameters: String,
}

/// All items that a scenario may name, as a table: disciplines, markers, TCP controllers, traffic
/// sources, networks, and the faults of wires.
#[pyfunction(name = "parts")]
pub(crate) fn all_parts() -> PyResult<Table> {
    let names =
        |part: &parts::Part| part.fields.iter().map(|field| field.name).collect::<Vec<_>>().join(", ");
    let is_listed = |part: &parts::Part| !own::is_entry(part.name);
    let rows = parts::all().filter(is_listed).map(|part| PartRow {
        kind: part.kind,
        name: part.name,
        summary: part.summary,
        source: part.source,
        parameters: names(&part),
    });
    Table::new(records::table(rows), &["name"])
}

/// A discipline of the catalogue.
#[derive(Serialize, JsonSchema)]
struct SampleRow {
    /// The name, in scenarios and on the command line.
    name: &'static str,
    /// Its family.
    family: String,
    /// A summary in one sentence.
    summary: &'static str,
    /// The state that the discipline keeps.
    state: &'static str,
    /// The discipline's time per packet.
    cost: &'static str,
    /// The paper or RFC, with its section.
    source: &'static str,
}

/// All disciplines of the catalogue, as a table.
#[pyfunction]
pub(crate) fn disciplines() -> PyResult<Table> {
    let rows = catalogue::all().iter().filter(|entry| !own::is_entry(entry.name)).map(|entry| SampleRow {
        name: entry.name,
        family: entry.about.family.to_string(),
        summary: entry.about.summary,
        state: entry.about.state,
        cost: entry.about.cost,
        source: entry.about.source,
    });
    Table::new(records::table(rows), &["name"])
}
