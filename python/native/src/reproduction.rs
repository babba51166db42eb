//! Reproduced figures and tables of papers.

use crate::contest::{Progress, while_looking};
use crate::error::scenario_error;
use crate::picture;
use crate::table::Table;
use fairwire_core::spelling;
use fairwire_document::listed;
use fairwire_figures::{Figure, Setting, escaped};
use fairwire_study::record::{self, Depth, Number, Published, Verdict};
use fairwire_study::{
    Cache, MAX_CACHE_BYTES, Plan, Study, UnknownExhibit, Work, assemble, beside_print, cache_folder, chosen,
    execute, library,
};
use fairwire_sweep::records;
use pyo3::exceptions::{PyLookupError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use std::time::SystemTime;

/// The figures and tables of papers on fair sharing, which `run` reproduces.
///
/// `cache`: True keeps finished runs and reuses them. Runs are stored with those of the command
/// `fairwire reproduce`.
#[pyclass(frozen, module = "fairwire")]
pub(crate) struct Reproduction {
    studies: Vec<Study>,
    has_cache: bool,
}

/// One reproduced figure or table of a paper: our numbers next to the printed numbers, and the
/// verdict on each claim.
#[pyclass(frozen, module = "fairwire")]
pub(crate) struct Exhibit {
    record: record::Exhibit,
    /// The verdict on each number of the record.
    verdicts: Vec<Option<Verdict>>,
}

/// An exhibit and its recorded verdicts.
#[derive(Serialize, JsonSchema)]
struct Listed {
    /// The exhibit's name, such as `faba.table1`.
    name: String,
    /// Its content.
    title: String,
    /// The paper: authors, title, year.
    source: String,
    /// The number of claims.
    claims: u64,
    /// The number of claims that hold by the recorded verdicts; absent if the exhibit was never
    /// run.
    #[schemars(required)]
    holds: Option<u64>,
    /// The number of claims that do not hold by the recorded verdicts.
    #[schemars(required)]
    does_not_hold: Option<u64>,
    /// The number of claims that are not testable as printed.
    #[schemars(required)]
    not_testable: Option<u64>,
    /// The depth of the recorded verdicts: `quick` or `full`.
    #[schemars(required)]
    recorded: Option<&'static str>,
}

impl Listed {
    fn of(study: &Study, at: usize) -> Self {
        let exhibit = &study.spec.exhibit[at];
        let recorded = study.counted(at);
        let count = |which: usize| recorded.map(|(_, counts)| counts[which] as u64);
        Listed {
            name: study.name(at),
            title: exhibit.title.clone(),
            source: study.spec.source.clone(),
            claims: exhibit.claim.len() as u64,
            holds: count(0),
            does_not_hold: count(1),
            not_testable: count(2),
            recorded: recorded.map(|(depth, _)| depth.word()),
        }
    }
}

/// A number of an exhibit.
#[derive(Default, Serialize, JsonSchema)]
struct Value<'a> {
    /// The measure.
    measure: &'a str,
    /// The unit; empty if the number has none.
    unit: &'a str,
    /// The discipline, or the name of the series in the exhibit.
    discipline: &'a str,
    /// The paper's name for the point on the horizontal axis, such as `P/10`.
    point: &'a str,
    /// The position on the horizontal axis.
    #[schemars(required)]
    x: Option<f64>,
    /// Our mean over the seeds.
    #[schemars(required)]
    ours: Option<f64>,
    /// Half of the 95 % interval of the mean; absent with fewer than two seeds.
    #[schemars(required)]
    half_width_95: Option<f64>,
    /// The number that the paper prints.
    #[schemars(required)]
    printed: Option<f64>,
    /// The location of the printed number.
    #[schemars(required)]
    printed_in: Option<&'a str>,
    /// The verdict on the deviation of our number from the printed number: `holds`, `unclear` or
    /// `does not hold`. Absent if no claim limits the deviation.
    #[schemars(required)]
    verdict: Option<&'static str>,
}

/// A claim of an exhibit.
#[derive(Serialize, JsonSchema)]
struct ClaimRow<'a> {
    /// Its name.
    name: &'a str,
    /// The claim in words.
    says: &'a str,
    /// The verdict: `holds`, `unclear`, `does not hold` or `not testable as printed`.
    verdict: &'static str,
    /// The measurement with its interval, or the reason why the claim cannot be tested.
    detail: &'a str,
    /// The check, in words and numbers.
    check: &'a str,
    /// The claim's location in the paper.
    printed_in: &'a str,
    /// The origin of the claim. `printed`: the paper prints it. `read`: derived from the paper's
    /// words. `at points of ours`: words or a curve of the paper, checked at our points. `ours`:
    /// not in the paper. `arithmetic`: follows from the set-up.
    origin: &'static str,
}

#[pymethods]
impl Reproduction {
    #[new]
    #[pyo3(signature = (*, cache=true))]
    fn new(py: Python<'_>, cache: bool) -> PyResult<Self> {
        let studies = library::embedded().iter().map(Study::read).collect::<Result<_, _>>();
        Ok(Reproduction { studies: studies.map_err(|error| scenario_error(py, &error))?, has_cache: cache })
    }

    /// One row per exhibit: name, content, paper, and the recorded verdicts on the claims.
    #[getter]
    fn exhibits(&self) -> PyResult<Table> {
        let of = |study: &Study| (0..study.len()).map(|at| Listed::of(study, at)).collect::<Vec<_>>();
        Table::new(records::table(self.studies.iter().flat_map(of)), &["name"])
    }

    /// Reproduces an exhibit and returns it.
    ///
    /// `name`: one of `exhibits`, such as "faba.table1". `depth`: "quick" takes seconds, with few
    /// seeds and only some points of a long sweep. "full" takes up to hours, with all seeds that a
    /// verdict needs. `jobs` and `progress` are those of `Scenario.run`. After Ctrl-C, a repeated
    /// call continues from the finished runs.
    #[pyo3(signature = (name, depth="quick", *, jobs=0, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        name: &str,
        depth: &str,
        jobs: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Exhibit> {
        let progress = Progress::new(progress)?;
        let depth =
            [Depth::Quick, Depth::Full].into_iter().find(|one| one.word() == depth).ok_or_else(|| {
                PyValueError::new_err(format!("`depth` is `{depth}`; allowed: `quick` or `full`"))
            })?;
        let (study, at) = self.one(name)?;
        let plan = Plan::of(study, at, depth).map_err(|error| scenario_error(py, &error))?;
        let cache = if self.has_cache { open() } else { Cache::none() };
        let plans = [plan];
        let executed = while_looking(py, &progress, |progress, stop| {
            execute(&plans, &Work { cache: &cache, jobs, progress, stop: stop.flag() })
        })?;
        let executed = executed.map_err(|fault| PyRuntimeError::new_err(fault.to_string()))?;
        let ([plan], Some(gathered)) = (&plans, executed.gathered.first()) else {
            unreachable!("one plan was given")
        };
        let record = assemble(plan, gathered);
        Ok(Exhibit { verdicts: beside_print(plan, &record), record })
    }

    fn __repr__(&self) -> String {
        let exhibits: usize = self.studies.iter().map(Study::len).sum();
        format!("<fairwire.Reproduction: {exhibits} exhibits of {} papers>", self.studies.len())
    }
}

impl Reproduction {
    fn one(&self, name: &str) -> PyResult<(&Study, usize)> {
        let unknown = |UnknownExhibit { given, allowed, likely }: UnknownExhibit| {
            let near = spelling::question(&likely).map_or(String::new(), |question| format!("; {question}"));
            PyLookupError::new_err(format!("unknown exhibit `{given}`; allowed: {}{near}", listed(&allowed)))
        };
        let found = chosen(&self.studies, &[name.to_owned()]).map_err(unknown)?;
        match found.as_slice() {
            [one] => Ok(*one),
            several => {
                let names: Vec<String> = several.iter().map(|(study, at)| study.name(*at)).collect();
                Err(PyLookupError::new_err(format!(
                    "`{name}` is a paper; allowed: one of its exhibits, {}",
                    listed(&names)
                )))
            }
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a front may know the time: what was used last is kept longest"
)]
fn open() -> Cache {
    cache_folder().map_or_else(Cache::none, |folder| Cache::open(&folder, MAX_CACHE_BYTES, SystemTime::now))
}

impl Exhibit {
    fn ours<'a>(&'a self, (number, verdict): (&'a Number, &Option<Verdict>)) -> Value<'a> {
        let printed = self.record.published.iter().find(|printed| printed.is_beside(number));
        Value {
            measure: &number.measure,
            unit: self.record.unit(&number.measure),
            discipline: &number.series,
            point: &number.at,
            x: Some(number.x),
            ours: number.estimate.map(|estimate| estimate.mean),
            half_width_95: number.estimate.and_then(|estimate| estimate.half_width_95),
            printed: printed.map(|printed| printed.value),
            printed_in: printed.map(|printed| printed.place.as_str()),
            verdict: verdict.map(Verdict::words),
        }
    }

    fn printed<'a>(&'a self, printed: &'a Published) -> Value<'a> {
        Value {
            measure: &printed.measure,
            unit: self.record.unit(&printed.measure),
            discipline: &printed.series,
            point: &printed.at,
            x: printed.x,
            printed: Some(printed.value),
            printed_in: Some(&printed.place),
            ..Value::default()
        }
    }

    fn svg(&self) -> String {
        let record = &self.record;
        let seeds = record.seeds.len();
        let plural = if seeds == 1 { "" } else { "s" };
        let detail = vec![record.source.clone(), format!("{seeds} seed{plural}, {}", record.depth.word())];
        let title = format!("{}: {}", record.name(), record.title);
        Figure { title: &title, detail, panels: &record.panels, ..Figure::default() }.svg(Setting::Alone)
    }
}

#[pymethods]
impl Exhibit {
    /// The exhibit's name, such as `faba.table1`.
    #[getter]
    fn name(&self) -> String {
        self.record.name()
    }

    /// Its content.
    #[getter]
    fn title(&self) -> &str {
        &self.record.title
    }

    /// The paper: authors, title, year.
    #[getter]
    fn source(&self) -> &str {
        &self.record.source
    }

    /// The settings that the paper leaves open, with the values used.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.record.notes.clone()
    }

    /// One row per number: our mean over the seeds with its 95 % interval, the paper's number, and
    /// the verdict. Numbers without our mean come last.
    #[getter]
    fn values(&self) -> PyResult<Table> {
        let ours = self.record.numbers.iter().zip(&self.verdicts).map(|number| self.ours(number));
        let alone = self.record.printed_alone().map(|printed| self.printed(printed));
        Table::new(records::table(ours.chain(alone)), &["measure", "discipline", "point"])
    }

    /// One row per claim of the paper, with its verdict.
    #[getter]
    fn claims(&self) -> PyResult<Table> {
        let rows = self.record.claims.iter().map(|claim| ClaimRow {
            name: &claim.id,
            says: &claim.says,
            verdict: claim.verdict.words(),
            detail: &claim.detail,
            check: &claim.check,
            printed_in: &claim.place,
            origin: claim.origin.words(),
        });
        Table::new(records::table(rows), &["name"])
    }

    /// The results of the exhibit as JSON, in the format of `fairwire reproduce`.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string_pretty(&self.record).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    fn __repr__(&self) -> String {
        let record = &self.record;
        format!("<fairwire.Exhibit {}: {}>", record.name(), record.title)
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let mut html = picture::image(py, &self.svg(), &self.record.title)?;
        html += "<table><thead><tr><th>claim</th><th>verdict</th><th>measured</th></tr></thead><tbody>";
        for claim in &self.record.claims {
            let cells = [claim.says.as_str(), claim.verdict.words(), claim.detail.as_str()];
            let cells = cells.map(|text| format!("<td style=\"text-align: left\">{}</td>", escaped(text)));
            html += &format!("<tr>{}</tr>", cells.concat());
        }
        Ok(html + "</tbody></table>")
    }
}
