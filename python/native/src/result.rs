//! What came of a scenario.

use crate::picture;
use crate::table::Table;
use crate::watch::WatchedRuns;
use fairwire_metrics::record::{
    AggregateRecord, Estimate, Fairness, FlowRecord, LinkRecord, Report, RunRecord, TransferRecord,
};
use fairwire_metrics::summary::{self, InRun};
use fairwire_sweep::records;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

/// The results of a scenario's runs: tables, and the report as JSON.
///
/// `interrupted` is True if it was stopped before all runs were finished.
#[pyclass(frozen, module = "fairwire")]
pub(crate) struct Result {
    report: Report,
    watched: WatchedRuns,
}

/// A record, and the run that it is of.
#[derive(Serialize, JsonSchema)]
struct Of<'a, R> {
    /// The discipline, by its label or else its name.
    discipline: &'a str,
    /// The seed.
    seed: u64,
    #[serde(flatten)]
    record: R,
}

/// One measure of one discipline over the seeds.
#[derive(Serialize, JsonSchema)]
struct Measure<'a> {
    /// The discipline, by its label or else its name.
    discipline: &'a str,
    /// The measure, such as `share.tcp` or `jain`.
    measure: &'a str,
    /// The number of runs.
    runs: u64,
    #[serde(flatten)]
    estimate: Estimate,
}

/// One measure of one run.
#[derive(Serialize, JsonSchema)]
struct Value<'a> {
    /// The discipline, by its label or else its name.
    discipline: &'a str,
    /// The seed.
    seed: u64,
    /// The measure, such as `share.tcp` or `jain`.
    measure: &'a str,
    /// Its value, in the unit of the measure.
    value: f64,
}

impl Result {
    pub(crate) fn new(report: Report, watched: WatchedRuns) -> Self {
        Result { report, watched }
    }

    /// A row for each of the records of each run, no two of which agree in all of `keys`.
    fn table<'a, R, I>(&'a self, keys: &[&str], records: impl Fn(&'a RunRecord) -> I) -> PyResult<Table>
    where
        R: Serialize + JsonSchema + 'a,
        I: IntoIterator<Item = R> + 'a,
    {
        let rows = self.report.runs.iter().flat_map(|run| {
            let of = |record| Of { discipline: &run.discipline, seed: run.seed, record };
            records(run).into_iter().map(of)
        });
        Table::new(records::table(rows), keys)
    }
}

#[pymethods]
impl Result {
    /// A row for each run and flow: throughput, goodput, packets.
    #[getter]
    fn flows(&self) -> PyResult<Table> {
        self.table::<&FlowRecord, _>(&["discipline", "seed", "name"], |run| &run.flows)
    }

    /// A row for each run and queued link: utilization, drops and marks by cause, sojourn times.
    #[getter]
    fn links(&self) -> PyResult<Table> {
        self.table::<&LinkRecord, _>(&["discipline", "seed", "name"], |run| &run.links)
    }

    /// A row for each run, group and kind of transfer: how long transfers took.
    #[getter]
    fn transfers(&self) -> PyResult<Table> {
        self.table::<&TransferRecord, _>(&["discipline", "seed", "group", "kind"], |run| &run.transfers)
    }

    /// A row for each run and aggregate of differentiated services.
    #[getter]
    fn aggregates(&self) -> PyResult<Table> {
        self.table::<&AggregateRecord, _>(&["discipline", "seed", "name"], |run| &run.aggregates)
    }

    /// A row for each run: Jain's index, the worst share, the share of each group.
    #[getter]
    fn fairness(&self) -> PyResult<Table> {
        self.table::<&Fairness, _>(&["discipline", "seed"], |run| [&run.fairness])
    }

    /// A row for each discipline and measure: mean over the seeds, 95 % interval, range.
    #[getter]
    fn summary(&self) -> PyResult<Table> {
        let rows = self.report.summary.iter().flat_map(|summary| {
            summary.measures.iter().map(|(measure, estimate)| Measure {
                discipline: &summary.discipline,
                measure,
                runs: summary.runs,
                estimate: *estimate,
            })
        });
        Table::new(records::table(rows), &["discipline", "measure"])
    }

    /// A row for each run and measure of the summary: the values of which that has the means.
    #[getter]
    fn measures(&self) -> PyResult<Table> {
        let rows = self.report.summary.iter().flat_map(|of| {
            let values = summary::in_runs(of, &self.report.runs);
            let row =
                |InRun { seed, measure, value }| Value { discipline: &of.discipline, seed, measure, value };
            values.into_iter().map(row)
        });
        Table::new(records::table(rows), &["discipline", "seed", "measure"])
    }

    /// A row for each time, object and measure that was sampled: throughputs in bit/s, backlogs,
    /// drops, gauges of the disciplines, and windows. Needs `run(…, every="100 ms")`.
    #[getter]
    fn series(&self) -> PyResult<Table> {
        self.watched.series()
    }

    /// A row for each run, queued link and bin of its waiting times, in seconds: the whole
    /// distribution, within 0.8 %. Needs `run(…, delays=True)`.
    #[getter]
    fn delays(&self) -> PyResult<Table> {
        self.watched.delays()
    }

    /// One measure of the summary as an xarray.DataArray with the dimensions `discipline` and
    /// `seed`; without `measure` an xarray.Dataset of all. Needs the extra `xarray`.
    #[pyo3(signature = (measure=None))]
    fn to_xarray<'py>(slf: &Bound<'py, Self>, measure: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fairwire._xarray")?.call_method1("of_result", (slf, measure))
    }

    /// The report as JSON, as `fairwire run --format json` prints it.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string_pretty(&self.report).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// The scenario as it was run, in TOML, with the chosen disciplines and seeds.
    #[getter]
    fn scenario_toml(&self) -> &str {
        &self.report.manifest.scenario_toml
    }

    /// Notes, such as values taken that the scenario does not state.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.report.manifest.notes.clone()
    }

    /// Was it stopped before all runs were finished?
    #[getter]
    fn interrupted(&self) -> bool {
        self.report.manifest.interrupted
    }

    fn __repr__(&self) -> String {
        let manifest = &self.report.manifest;
        let disciplines = manifest.disciplines.join(", ");
        let notes: String = manifest.notes.iter().map(|note| format!("\nnote: {note}")).collect();
        format!(
            "<fairwire.Result of {}: {} runs of {disciplines}>{notes}",
            manifest.scenario,
            self.report.runs.len()
        )
    }

    /// The summary and a picture of the shares, for a notebook.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        picture::html(py, &self.report)
    }
}
