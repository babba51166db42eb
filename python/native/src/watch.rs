//! What is watched during the runs of a scenario: samples over time, and how long packets waited.

use crate::table::Table;
use fairwire_core::Duration;
use fairwire_metrics::Bin;
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{Observer, Observers, Row, RunId, SampledRows, Scenario, View, rows};
use fairwire_sweep::columns::Cells;
use fairwire_sweep::records;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// What is to be watched.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watching {
    /// The time between samples; without it there are none.
    every: Option<Duration>,
    has_flows: bool,
    has_delays: bool,
}

impl Watching {
    pub(crate) fn new(every: Option<&str>, has_flows: bool, has_delays: bool) -> PyResult<Self> {
        let every = every.map(|text| {
            let read = text.parse::<Duration>();
            read.map_err(|error| {
                PyValueError::new_err(format!("`every`: {error}; allowed: such as \"100 ms\""))
            })
        });
        let every = every.transpose()?;
        if has_flows && every.is_none() {
            let message = "`flows` is True, but nothing is sampled; allowed: together with `every`";
            return Err(PyValueError::new_err(message));
        }
        Ok(Watching { every, has_flows, has_delays })
    }
}

/// Watches the runs of a scenario.
pub(crate) struct Watch {
    watching: Watching,
    /// By the number of the run.
    finished: Mutex<BTreeMap<usize, Seen>>,
}

impl Watch {
    pub(crate) fn new(watching: Watching, scenario: &Scenario) -> PyResult<Self> {
        let longest = scenario.spec().duration.0;
        if let Some(every) = watching.every.filter(|every| *every == Duration::ZERO || *every > longest) {
            return Err(PyValueError::new_err(format!(
                "`every` is {every}, but then a run has no sample; allowed: from 1 ns to the duration of a run, {longest}"
            )));
        }
        Ok(Watch { watching, finished: Mutex::default() })
    }

    /// What was seen of `runs`, in their order. A run that a class of Python ended is none of them.
    pub(crate) fn seen(self, runs: &[RunRecord]) -> WatchedRuns {
        let finished = self.finished.into_inner().unwrap_or_else(PoisonError::into_inner);
        let known: BTreeSet<(&str, u64)> =
            runs.iter().map(|run| (run.discipline.as_str(), run.seed)).collect();
        let is_known = |seen: &Seen| known.contains(&(seen.discipline.as_str(), seen.seed));
        WatchedRuns { watching: self.watching, runs: finished.into_values().filter(is_known).collect() }
    }
}

impl Observers for Watch {
    fn observe(&self, which: RunId<'_>, go: &mut dyn FnMut(Option<&mut dyn Observer>) -> bool) {
        let Watching { every, has_delays, .. } = self.watching;
        if every.is_none() && !has_delays {
            go(None);
            return;
        }
        let mut seen = Seen::new(self.watching, which);
        if go(Some(&mut seen)) {
            self.finished.lock().unwrap_or_else(PoisonError::into_inner).insert(which.index, seen);
        }
    }
}

/// What was seen of one run.
struct Seen {
    watching: Watching,
    discipline: String,
    seed: u64,
    rows: SampledRows,
    /// By link.
    delays: Vec<(String, Vec<Bin>)>,
}

impl Seen {
    fn new(watching: Watching, which: RunId<'_>) -> Self {
        let discipline = which.discipline.into();
        let (rows, delays) = Default::default();
        Seen { watching, discipline, seed: which.seed, rows, delays }
    }
}

impl Observer for Seen {
    fn interval(&self) -> Option<Duration> {
        self.watching.every
    }

    fn sample(&mut self, view: &View<'_>) {
        let Some(every) = self.watching.every else { return };
        rows(view, every, self.watching.has_flows, &mut |row| self.rows.add(view.now(), row));
    }

    fn finished(&mut self, view: &View<'_>) {
        if self.watching.has_delays {
            let links = view.links().map(|link| (link.name.to_owned(), link.sojourn.bins().collect()));
            self.delays = links.collect();
        }
    }
}

/// What was seen of all runs.
pub(crate) struct WatchedRuns {
    watching: Watching,
    runs: Vec<Seen>,
}

/// A number of a time series.
#[derive(Clone, Copy, JsonSchema)]
struct Sampled<'a> {
    /// The discipline, by its label or else its name.
    discipline: &'a str,
    /// The seed.
    seed: u64,
    /// When it was sampled, seconds from the start of the run; what is counted is since the sample
    /// before.
    time_s: f64,
    #[schemars(flatten)]
    row: Row<'a>,
}

/// The packets that waited for about the same time.
#[derive(Serialize, JsonSchema)]
struct Waited<'a> {
    /// The discipline, by its label or else its name.
    discipline: &'a str,
    /// The seed.
    seed: u64,
    /// The queued link.
    name: &'a str,
    /// The shortest wait of the bin, seconds, transmission excluded; bins are at most 1/128 of it
    /// wide.
    from_s: f64,
    /// The end of the bin, seconds.
    to_s: f64,
    /// The packets of this bin that were sent after the warm-up.
    packets: u64,
}

impl WatchedRuns {
    /// A row for each time, object and measure, in the order of the runs.
    pub(crate) fn series(&self) -> PyResult<Table> {
        if self.watching.every.is_none() {
            let message = "nothing was sampled; allowed: after `run(…, every=\"100 ms\")`";
            return Err(PyValueError::new_err(message));
        }
        let rows = || {
            self.runs.iter().flat_map(|run| {
                run.rows.iter().map(|(at, row)| Sampled {
                    discipline: &run.discipline,
                    seed: run.seed,
                    time_s: at.secs(),
                    row,
                })
            })
        };
        let cells = vec![
            Cells::texts(rows().map(|row| row.discipline)),
            Cells::counts(rows().map(|row| row.seed)),
            Cells::reals(rows().map(|row| row.time_s)),
            Cells::texts(rows().map(|row| row.row.kind)),
            Cells::texts(rows().map(|row| row.row.name)),
            Cells::texts(rows().map(|row| row.row.measure)),
            Cells::texts(rows().map(|row| row.row.unit)),
            Cells::reals(rows().map(|row| row.row.value)),
        ];
        let keys = &["discipline", "seed", "time_s", "kind", "name", "measure", "unit"];
        Table::new(records::of_cells::<Sampled<'_>>(cells), keys)
    }

    /// A row for each run, link and bin of its waiting times.
    pub(crate) fn delays(&self) -> PyResult<Table> {
        if !self.watching.has_delays {
            let message = "no delays were counted; allowed: after `run(…, delays=True)`";
            return Err(PyValueError::new_err(message));
        }
        let links = self.runs.iter().flat_map(|run| run.delays.iter().map(move |link| (run, link)));
        let rows = links.flat_map(|(run, (name, bins))| {
            bins.iter().map(move |bin| Waited {
                discipline: &run.discipline,
                seed: run.seed,
                name,
                from_s: bin.from.secs(),
                to_s: bin.to.secs(),
                packets: bin.packets,
            })
        });
        Table::new(records::table(rows), &["discipline", "seed", "name", "from_s"])
    }
}
