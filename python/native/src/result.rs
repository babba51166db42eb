//! The results of a scenario.

use crate::picture;
use crate::table::Table;
use fairwire_metrics::judge::Verdict;
use fairwire_metrics::record::{
    AggregateRecord, Estimate, Fairness, FlowRecord, LinkRecord, Report, RunRecord, SCHEMA_VERSION,
    TransferRecord,
};
use fairwire_metrics::summary::{self, InRun};
use fairwire_sweep::columns::Cells;
use fairwire_sweep::records;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The results of a scenario's runs: tables, and the report as JSON.
///
/// `interrupted` is True if the call was stopped before all runs had finished. A result can be
/// pickled. `fairwire.read` reads a result from the files of `fairwire run`.
#[pyclass(frozen, module = "fairwire")]
pub(crate) struct Result {
    report: Report,
    /// The recorded tables. The key is the property that returns the table.
    watched: BTreeMap<String, Table>,
}

/// A record with its run.
#[derive(Serialize, JsonSchema)]
struct Of<'a, R> {
    /// The discipline's label, or else its name.
    discipline: &'a str,
    /// The seed.
    seed: u64,
    #[serde(flatten)]
    record: R,
}

/// One measure of one discipline over the seeds.
#[derive(Serialize, JsonSchema)]
struct Measure<'a> {
    /// The discipline's label, or else its name.
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
    /// The discipline's label, or else its name.
    discipline: &'a str,
    /// The seed.
    seed: u64,
    /// The measure, such as `share.tcp` or `jain`.
    measure: &'a str,
    /// The value, in the unit of the measure.
    value: f64,
}

impl Result {
    pub(crate) fn new(report: Report, watched: BTreeMap<&'static str, Table>) -> Self {
        Result {
            report,
            watched: watched.into_iter().map(|(name, table)| (name.to_owned(), table)).collect(),
        }
    }

    fn of_watched(&self, name: &str, what: &str, keyword: &str) -> PyResult<Table> {
        self.watched
            .get(name)
            .cloned()
            .ok_or_else(|| PyValueError::new_err(format!("{what}; allowed: after `run(…, {keyword})`")))
    }

    /// A table with one row per record of each run. The values of `keys` identify a row.
    fn table<'a, R, I>(&'a self, keys: &[&str], records: impl Fn(&'a RunRecord) -> I) -> PyResult<Table>
    where
        R: Serialize + JsonSchema + 'a,
        I: IntoIterator<Item = R> + 'a,
    {
        let rows = self.report.runs.iter().flat_map(|run| {
            let of = |record| Of { discipline: &run.discipline, seed: run.seed, record };
            records(run).into_iter().map(of)
        });
        let stages = self.stages(self.report.runs.iter().flat_map(|run| {
            let rows = records(run).into_iter().count();
            std::iter::repeat_n(run.stage.as_str(), rows)
        }));
        Table::of_runs(records::table(rows), keys, stages)
    }

    fn stages<'a>(&self, stages: impl Iterator<Item = &'a str>) -> Option<Cells> {
        (!self.report.manifest.stages.is_empty()).then(|| Cells::texts(stages))
    }

    fn worst(&self) -> Vec<(&str, Option<Verdict>)> {
        let of = |stage: &str| {
            let of_stage = self.report.agreement.iter().filter(|one| one.stage == stage);
            of_stage.filter_map(|one| one.verdict).max()
        };
        let others = self.report.manifest.stages.iter().skip(1);
        others.map(|stage| (stage.as_str(), of(stage))).collect()
    }
}

#[pymethods]
impl Result {
    /// One row per run and flow: throughput, goodput, packets.
    #[getter]
    fn flows(&self) -> PyResult<Table> {
        self.table::<&FlowRecord, _>(&["discipline", "seed", "name"], |run| &run.flows)
    }

    /// One row per run and queued link: utilization, drops and marks by cause, sojourn times.
    #[getter]
    fn links(&self) -> PyResult<Table> {
        self.table::<&LinkRecord, _>(&["discipline", "seed", "name"], |run| &run.links)
    }

    /// One row per run, group and kind of transfer: the durations of transfers.
    #[getter]
    fn transfers(&self) -> PyResult<Table> {
        self.table::<&TransferRecord, _>(&["discipline", "seed", "group", "kind"], |run| &run.transfers)
    }

    /// One row per run and aggregate of differentiated services.
    #[getter]
    fn aggregates(&self) -> PyResult<Table> {
        self.table::<&AggregateRecord, _>(&["discipline", "seed", "name"], |run| &run.aggregates)
    }

    /// One row per run: Jain's index, the worst share, the share of each group.
    #[getter]
    fn fairness(&self) -> PyResult<Table> {
        self.table::<&Fairness, _>(&["discipline", "seed"], |run| [&run.fairness])
    }

    /// One row per discipline and measure: mean over the seeds, 95 % interval, range.
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
        let stages = self.stages(
            self.report
                .summary
                .iter()
                .flat_map(|summary| std::iter::repeat_n(summary.stage.as_str(), summary.measures.len())),
        );
        Table::of_runs(records::table(rows), &["discipline", "measure"], stages)
    }

    /// One row per run and measure, with the values that the summary averages.
    #[getter]
    fn measures(&self) -> PyResult<Table> {
        let summaries = &self.report.summary;
        let values: Vec<Vec<InRun<'_>>> =
            summaries.iter().map(|of| summary::in_runs(of, &self.report.runs)).collect();
        let rows = summaries.iter().zip(&values).flat_map(|(of, values)| {
            values.iter().map(|InRun { seed, measure, value }| Value {
                discipline: &of.discipline,
                seed: *seed,
                measure,
                value: *value,
            })
        });
        let stages = summaries.iter().zip(&values);
        let stages = stages.flat_map(|(of, values)| std::iter::repeat_n(of.stage.as_str(), values.len()));
        let keys = &["discipline", "seed", "measure"];
        Table::of_runs(records::table(rows), keys, self.stages(stages))
    }

    /// The agreement of stages: one row per discipline, stage and measure, with the difference from
    /// the first stage, the allowed difference, and the verdict. Empty unless several stages ran.
    #[getter]
    fn agreement(&self) -> PyResult<Table> {
        let rows = self.report.agreement.iter();
        Table::new(records::table(rows), &["discipline", "stage", "measure"])
    }

    /// The stages of the runs, in order; empty if only the simulator was used.
    #[getter(stages)]
    fn names_of_stages(&self) -> Vec<String> {
        self.report.manifest.stages.clone()
    }

    /// The verdict on each stage except the first: the worst of its verdicts in `agreement`. It is
    /// `holds`, `unclear` (more seeds would decide), `known` (the scenario records the reason for
    /// the difference) or `does not hold`. None if nothing was compared.
    #[getter]
    fn verdicts(&self) -> BTreeMap<&str, Option<&'static str>> {
        self.worst().into_iter().map(|(stage, verdict)| (stage, verdict.map(Verdict::words))).collect()
    }

    /// One row per sampled time, object and measure: throughputs in bit/s, backlogs, drops, gauges
    /// of the disciplines, and windows. Needs `run(…, every="100 ms")`.
    #[getter]
    fn series(&self) -> PyResult<Table> {
        self.of_watched("series", "nothing was sampled", "every=\"100 ms\"")
    }

    /// One row per run, queued link and bin of waiting times, in seconds: the entire distribution,
    /// within 0.8 %. Needs `run(…, delays=True)`.
    #[getter]
    fn delays(&self) -> PyResult<Table> {
        self.of_watched("delays", "no delays were counted", "delays=True")
    }

    /// One row per transfer and page completed after the warm-up: time of the request, duration,
    /// bytes, and slowdown (duration divided by the minimum in isolation). `transfers` has
    /// percentiles. Needs `run(…, transfers=True)`.
    #[getter]
    fn completed(&self) -> PyResult<Table> {
        self.of_watched("completed", "no transfers were recorded", "transfers=True")
    }

    /// One row per run, flow and bin of one-way delays, from source to receiver, in seconds. Needs
    /// `run(…, one_way=True)`.
    #[getter]
    fn one_way(&self) -> PyResult<Table> {
        self.of_watched("one_way", "no one-way delays were counted", "one_way=True")
    }

    /// The trace of each run: one row per packet and event. Needs `run(…, packets=True)`.
    #[getter]
    fn packets(&self) -> PyResult<Table> {
        self.of_watched("packets", "no packets were recorded", "packets=True")
    }

    /// One measure of the summary as an xarray.DataArray with the dimensions `discipline` and
    /// `seed`. Without `measure`, an xarray.Dataset of all measures. Needs the extra `xarray`.
    #[pyo3(signature = (measure=None))]
    fn to_xarray<'py>(slf: &Bound<'py, Self>, measure: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fairwire._xarray")?.call_method1("of_result", (slf, measure))
    }

    /// The report as JSON, as `fairwire run --format json` prints it.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string_pretty(&self.report).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// The scenario of the runs in TOML, with the selected disciplines and seeds.
    #[getter]
    fn scenario_toml(&self) -> &str {
        &self.report.manifest.scenario_toml
    }

    /// Notes, such as assumed values that the scenario does not state.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.report.manifest.notes.clone()
    }

    /// Was the call stopped before all runs had finished?
    #[getter]
    fn interrupted(&self) -> bool {
        self.report.manifest.interrupted
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Pickled)> {
        let report = serde_json::to_string(&self.report);
        let report = report.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let restore = py.import("fairwire._fairwire")?.getattr("_result")?;
        Ok((restore, (report, self.watched.clone())))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let report = |result: &Result| serde_json::to_string(&result.report).ok();
        other
            .cast::<Result>()
            .is_ok_and(|other| report(self) == report(other.get()) && self.watched == other.get().watched)
    }

    fn __repr__(&self) -> String {
        let manifest = &self.report.manifest;
        let disciplines = manifest.disciplines.join(", ");
        let runs = self.report.runs.len();
        let head = format!("<fairwire.Result of {}: {runs} runs of {disciplines}>", manifest.scenario);
        let first = manifest.stages.first().map_or("", String::as_str);
        let head = self.worst().into_iter().fold(head, |text, (stage, verdict)| {
            let words = verdict.map_or("nothing was compared", Verdict::words);
            format!("{text}\n{stage} agrees with {first}: {words}")
        });
        manifest.notes.iter().fold(head, |text, note| format!("{text}\nnote: {note}"))
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        picture::html(py, &self.report)
    }
}

type Pickled = (String, BTreeMap<String, Table>);

/// Restores a result from a pickle.
#[pyfunction]
pub(crate) fn _result(report: &str, watched: BTreeMap<String, PyRef<'_, Table>>) -> PyResult<Result> {
    let watched = watched.into_iter().map(|(name, table)| (name, table.clone())).collect();
    let report = serde_json::from_str(report);
    let report = report.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(Result { report, watched })
}

/// Reads results of `fairwire run` from the folder of `--out`, its `report.json`, or a file with
/// the output of `--format json`. Separate files, such as series, are not read.
#[pyfunction]
pub(crate) fn read(path: PathBuf) -> PyResult<Result> {
    let file = if path.is_dir() { path.join("report.json") } else { path };
    let text = std::fs::read_to_string(&file).map_err(|error| {
        let allowed = "a folder that `fairwire run … --out` wrote, or a report in JSON";
        let message = format!("`{}` cannot be read: {error}; allowed: {allowed}", file.display());
        // Python chooses FileNotFoundError or a similar type by the error number.
        match error.raw_os_error() {
            Some(number) => PyOSError::new_err((number, message)),
            None => PyValueError::new_err(message),
        }
    })?;
    let report: Report = serde_json::from_str(&text).map_err(|error| not_read(&file, &error.to_string()))?;
    if report.schema_version != SCHEMA_VERSION {
        let why = format!("it has the version {} of the schema", report.schema_version);
        return Err(not_read(&file, &why));
    }
    Ok(Result { report, watched: BTreeMap::new() })
}

fn not_read(file: &Path, why: &str) -> PyErr {
    PyValueError::new_err(format!(
        "`{}` is no report that can be read: {why}; allowed: one of schema version {SCHEMA_VERSION}",
        file.display()
    ))
}
