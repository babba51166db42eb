//! What a run leaves beside its report: time series, packet traces, tables of delays, records of
//! flows.
//!
//! Paths are checked before a run. A run writes to a hidden file beside the final path, so that a
//! stopped run leaves nothing half done, and a finished one is kept.

mod delays;
pub(crate) mod file;
mod format;
mod formats;
mod plan;
mod plot;
mod series;
mod trace;
mod transfers;
mod warm_up;

use crate::args::OutputArgs;
use crate::failure::Failure;
use crate::notice::notice;
use delays::{Delays, Histogram};
use fairwire_core::{Duration, Time};
use fairwire_experiment::Stage;
use fairwire_metrics::record::{CompletedRecord, DelayRecord, Report};
use fairwire_metrics::summary;
use fairwire_scenario::{
    FlowSpec, Observer, Observers, PacketEvent, Row, RunId, Scenario, TransferEvent, View, rows,
};
use file::{Part, Scratch};
use format::Format;
use plan::{Destination, OutputPlan};
use plot::Curve;
use series::Series;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use trace::Trace;
use transfers::Transfers;

/// One-way delays are counted for no more flows: each histogram takes 60 kB.
const MAX_ONE_WAY: u32 = 10_000;

/// The number of traces that are named if there are many.
const MAX_NAMED: usize = 4;

/// The stage whose runs are watched by observers, packet by packet.
const SIMULATOR: &str = "sim";

/// The outputs beside the report, checked before the run.
#[derive(Debug)]
pub(crate) struct Outputs<'a> {
    plan: OutputPlan<'a>,
    /// What writes each.
    by: Format,
    baseline: Option<String>,
    warm_up: Time,
    runs: usize,
    /// Where it is run; empty for the simulator alone.
    stages: Vec<&'static str>,
    /// By run and index of the stage, so that the stages of a run are adjacent.
    finished: Mutex<BTreeMap<(usize, usize), Finished>>,
}

/// What a finished run left.
#[derive(Debug)]
struct Finished {
    series: Option<Part>,
    /// Where its packets are.
    trace: Option<PathBuf>,
    delays: Vec<DelayRecord>,
    histograms: Vec<Histogram>,
    transfers: Vec<CompletedRecord>,
    curve: Curve,
    failed: Vec<Failure>,
}

impl<'a> Outputs<'a> {
    /// Checks the outputs that `args` request of runs of `scenario` on `stages`, which are empty
    /// for the simulator alone.
    pub(crate) fn prepare(
        args: &'a OutputArgs,
        scenario: &'a Scenario,
        stages: &[&dyn Stage],
    ) -> Result<Self, Failure> {
        let spec = scenario.spec();
        let plan = OutputPlan::of(args, &spec.output);
        let by = Format {
            series: plan.series.as_ref().map(|place| place.check_writable(|by| by.series)).transpose()?,
            trace: plan.trace.as_ref().map(|place| place.check_writable(|by| by.trace)).transpose()?,
            flows: plan.flows.as_ref().map(|place| place.check_writable(|by| by.flows)).transpose()?,
            transfers: plan
                .transfers
                .as_ref()
                .map(|place| place.check_writable(|by| by.transfers))
                .transpose()?,
            histogram: plan
                .histogram
                .as_ref()
                .map(|place| place.check_writable(|by| by.histogram))
                .transpose()?,
            percentiles: plan
                .percentiles
                .as_ref()
                .map(|place| place.check_writable(|by| by.percentiles))
                .transpose()?,
            plot: plan.plot.as_ref().map(|place| place.check_writable(|by| by.plot)).transpose()?,
            ..Format::new("")
        };
        let flows: u32 = spec.flow.iter().map(FlowSpec::count).fold(0, u32::saturating_add);
        if plan.one_way && flows > MAX_ONE_WAY {
            let help = format!("allowed: at most {MAX_ONE_WAY} flows, since each takes 60 kB");
            return Err(Failure::user(
                format!("`--one-way` is given, but the scenario has {flows} flows"),
                help,
            ));
        }
        plan.transfers.iter().try_for_each(|place| transfers::check(place.given_by(), &spec.flow))?;
        let every = plan.every;
        if plan.has_samples() && (every == Duration::ZERO || every > spec.duration.0) {
            let help = format!("allowed: from 1 ns to the duration of a run, {}", spec.duration);
            return Err(Failure::user(format!("`--every` is {every}, but then a run has no sample"), help));
        }
        Ok(Outputs {
            by,
            baseline: baseline(args, scenario)?,
            warm_up: Time::ZERO + spec.warm_up.0,
            runs: spec.disciplines.len() * spec.seeds.as_slice().len(),
            stages: stages.iter().map(|stage| stage.name()).collect(),
            finished: Mutex::default(),
            plan,
        })
    }

    /// What watches a run on `stage`; in the simulator packets, too.
    fn watcher(&self, which: RunId<'_>, stage: &str) -> Result<Watcher<'_>, Failure> {
        let stage = self.stages.iter().copied().find(|name| *name == stage);
        let is_simulated = stage.is_none_or(|stage| stage == SIMULATOR);
        let begin = |path: &Path| Scratch::begin(path).map_err(|error| file::fault(path, &error));
        let series = match (self.by.series, self.plan.series()) {
            (Some(form), Some(path)) => {
                let out = begin(path)?;
                Some(Series::new(out, form, which, stage))
            }
            _ => None,
        };
        let trace = match (self.by.trace, self.plan.trace()) {
            (Some(form), Some(path)) if is_simulated => {
                let part = format!("{}.{}", which.discipline, which.seed);
                let path = if self.runs > 1 { file::with_part(path, &part) } else { path.into() };
                Some(Trace::new(begin(&path)?, form, which))
            }
            _ => None,
        };
        let delays = (is_simulated && self.plan.has_delays())
            .then(|| Delays::new(which, self.warm_up, self.plan.one_way));
        let transfers =
            (is_simulated && self.by.transfers.is_some()).then(|| Transfers::new(which, self.warm_up));
        let curve = Curve::new(which, stage, self.plan.every);
        Ok(Watcher {
            outputs: self,
            series,
            trace,
            delays,
            transfers,
            curve,
            records: Vec::new(),
            histograms: Vec::new(),
        })
    }

    /// Writes the results of the runs to files, and adds to `report` what belongs there. Every
    /// output is tried; the first failure is returned.
    pub(crate) fn close(self, report: &mut Report) -> Result<(), Failure> {
        let finished = self.finished.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut finished: Vec<Finished> = finished.into_values().collect();
        let mut failures: Vec<Failure> = finished.iter_mut().flat_map(|run| run.failed.drain(..)).collect();
        report.delays = finished.iter_mut().flat_map(|run| std::mem::take(&mut run.delays)).collect();
        if let Some(baseline) = &self.baseline {
            report.differences = summary::differences(&report.runs, baseline);
        }
        if self.plan.check_warm_up {
            let simulated = finished.iter().filter(|run| !run.curve.totals().is_empty());
            simulated.for_each(|run| warm_up::check(&run.curve, self.warm_up));
        }
        let plan = &self.plan;
        let traces = finished.iter().filter_map(|run| run.trace.as_deref());
        let mut places: Vec<String> = traces.map(|path| path.display().to_string()).collect();
        places.truncate(MAX_NAMED);
        let mut write = |place: &Option<Destination<'_>>, all: &dyn Fn(&Path) -> Result<(), Failure>| {
            let Some(path) = place.as_ref().map(Destination::path) else { return };
            match all(path) {
                Ok(()) => places.push(path.display().to_string()),
                Err(failure) => failures.push(failure),
            }
        };
        let by = &self.by;
        if let Some(all) = by.flows {
            write(&plan.flows, &|path| all(path, report));
        }
        if let Some(all) = by.transfers {
            let transfers: Vec<&CompletedRecord> = finished.iter().flat_map(|run| &run.transfers).collect();
            write(&plan.transfers, &|path| all(path, &transfers));
        }
        if let Some(all) = by.percentiles {
            write(&plan.percentiles, &|path| file::write(path, all(&report.delays)?.as_bytes()));
        }
        if let Some(all) = by.histogram {
            let histograms: Vec<&Histogram> = finished.iter().flat_map(|run| &run.histograms).collect();
            write(&plan.histogram, &|path| file::write(path, all(&histograms)?.as_bytes()));
        }
        if let Some(svg) = by.plot {
            let curves: Vec<&Curve> = finished.iter().map(|run| &run.curve).collect();
            let title = &report.manifest.scenario;
            write(&plan.plot, &|path| file::write(path, svg(&curves, title, self.warm_up).as_bytes()));
        }
        if let Some(path) = plan.series() {
            let head = by.series.map_or("", |form| form.head[usize::from(!self.stages.is_empty())]);
            match joined(path, head, finished) {
                Ok(()) => places.push(path.display().to_string()),
                Err(error) => failures.push(file::fault(path, &error)),
            }
        }
        if !places.is_empty() {
            notice(format_args!("written: {}", places.join(", ")));
        }
        failures.into_iter().next().map_or(Ok(()), Err)
    }
}

/// The parts that the runs wrote, in the order of the runs.
fn joined(path: &Path, head: &str, finished: Vec<Finished>) -> io::Result<()> {
    let mut out = Scratch::begin(path)?;
    out.write_all(head.as_bytes())?;
    for part in finished.into_iter().filter_map(|run| run.series) {
        part.pour(&mut out)?;
    }
    out.finish().map(|_| ())
}

/// The baseline of paired differences. If the scenario names a discipline that is not run, or is
/// run alone, there is none.
fn baseline(args: &OutputArgs, scenario: &Scenario) -> Result<Option<String>, Failure> {
    let labels: Vec<&str> = scenario.spec().disciplines.iter().map(|compared| compared.label()).collect();
    let Some(given) = &args.paired else {
        let named = scenario.spec().output.paired.as_deref().map(|name| scenario.label(name));
        return Ok(named.filter(|named| labels.len() > 1 && labels.contains(named)).map(str::to_owned));
    };
    let help = || {
        format!("allowed: two disciplines or more, one of which is the baseline: `{}`", labels.join("`, `"))
    };
    if labels.len() < 2 {
        return Err(Failure::user("`--paired` is given, but only one discipline is run", help()));
    }
    let baseline = if given.is_empty() { labels[0] } else { given };
    if labels.contains(&baseline) {
        return Ok(Some(baseline.into()));
    }
    Err(Failure::user(format!("`--paired` is `{given}`, but that discipline is not run"), help()))
}

/// What writes down the samples of a run on a stage other than the simulator.
pub(crate) struct StageRun<'a> {
    watcher: Watcher<'a>,
    index: usize,
    stage: &'static str,
}

impl Outputs<'_> {
    /// The sampling interval, if samples are requested.
    pub(crate) fn every(&self) -> Option<Duration> {
        self.plan.has_samples().then_some(self.plan.every)
    }

    /// Begins to write down what is sampled in a run on `stage`, which is not the simulator.
    pub(crate) fn begin(&self, which: RunId<'_>, stage: &'static str) -> Option<StageRun<'_>> {
        self.every()?;
        match self.watcher(which, stage) {
            Ok(watcher) => Some(StageRun { watcher, index: which.index, stage }),
            Err(failure) => {
                self.keep(which.index, stage, Finished::failed(which, failure));
                None
            }
        }
    }

    /// The requested outputs that only the simulator has, if any.
    pub(crate) fn of_simulator_only(&self) -> Option<String> {
        let plan = &self.plan;
        let requested = [
            ("--trace", self.by.trace.is_some()),
            ("--transfers", self.by.transfers.is_some()),
            ("--histogram", plan.histogram.is_some()),
            ("--percentiles", plan.percentiles.is_some()),
            ("--check-warm-up", plan.check_warm_up),
        ];
        let requested: Vec<&str> = requested.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
        (!requested.is_empty()).then(|| requested.join(", "))
    }

    fn keep(&self, index: usize, stage: &str, finished: Finished) {
        let place = self.stages.iter().position(|name| *name == stage).unwrap_or(0);
        self.finished.lock().unwrap_or_else(PoisonError::into_inner).insert((index, place), finished);
    }
}

impl StageRun<'_> {
    /// A row sampled `at` after the start.
    pub(crate) fn sample(&mut self, at: Duration, row: Row<'_>) {
        let has_flows = self.watcher.outputs.plan.series_flows;
        if row.kind != "flow" || has_flows {
            self.watcher.row(Time::ZERO + at, row);
        }
    }

    /// The run was finished.
    pub(crate) fn finish(self) {
        let StageRun { watcher, index, stage } = self;
        let outputs = watcher.outputs;
        outputs.keep(index, stage, watcher.finish());
    }
}

impl Finished {
    /// A run of which nothing could be written down.
    fn failed(which: RunId<'_>, failure: Failure) -> Self {
        let curve = Curve::new(which, None, Duration::from_ms(100));
        let (delays, histograms, transfers) = Default::default();
        Finished { series: None, trace: None, delays, histograms, transfers, curve, failed: vec![failure] }
    }
}

impl Observers for Outputs<'_> {
    fn observe(&self, which: RunId<'_>, go: &mut dyn FnMut(Option<&mut dyn Observer>) -> bool) {
        let has_events = self.by.trace.is_some() || self.by.transfers.is_some();
        if !self.plan.has_samples() && !self.plan.has_delays() && !has_events {
            go(None);
            return;
        }
        let finished = match self.watcher(which, SIMULATOR) {
            Ok(mut watcher) => go(Some(&mut watcher)).then(|| watcher.finish()),
            Err(failure) => {
                go(None); // the report is worth having without it
                Some(Finished::failed(which, failure))
            }
        };
        if let Some(finished) = finished {
            self.keep(which.index, SIMULATOR, finished);
        }
    }
}

/// Watches one run.
struct Watcher<'a> {
    outputs: &'a Outputs<'a>,
    series: Option<Series>,
    trace: Option<Trace>,
    delays: Option<Delays>,
    transfers: Option<Transfers>,
    curve: Curve,
    records: Vec<DelayRecord>,
    histograms: Vec<Histogram>,
}

impl Watcher<'_> {
    /// A row of the sample taken at `at`.
    fn row(&mut self, at: Time, row: Row<'_>) {
        self.series.iter_mut().for_each(|series| series.row(at, row));
        self.curve.row(at, row);
    }

    fn finish(self) -> Finished {
        let mut failed = Vec::new();
        let mut keep = |path: Option<&Path>, error: io::Error| {
            failed.extend(path.map(|path| file::fault(path, &error)));
        };
        let plan = &self.outputs.plan;
        let trace = self.trace.and_then(|trace| {
            trace.finish().and_then(Scratch::finish).map_err(|error| keep(plan.trace(), error)).ok()
        });
        let series = self.series.and_then(|series| {
            series.finish().and_then(Scratch::close).map_err(|error| keep(plan.series(), error)).ok()
        });
        let (delays, histograms) = (self.records, self.histograms);
        let transfers = self.transfers.map(Transfers::finish).unwrap_or_default();
        Finished { series, trace, delays, histograms, transfers, curve: self.curve, failed }
    }
}

impl Observer for Watcher<'_> {
    fn interval(&self) -> Option<Duration> {
        self.outputs.plan.has_samples().then_some(self.outputs.plan.every)
    }
    fn wants_packets(&self) -> bool {
        self.trace.is_some() || self.delays.as_ref().is_some_and(Delays::wants_packets)
    }
    fn started(&mut self, view: &View<'_>) {
        self.trace.iter_mut().for_each(|trace| trace.start(view));
        self.delays.iter_mut().for_each(|delays| delays.start(view));
        self.transfers.iter_mut().for_each(|transfers| transfers.start(view));
    }
    fn sample(&mut self, view: &View<'_>) {
        let has_flows = self.series.is_some() && self.outputs.plan.series_flows;
        rows(view, self.outputs.plan.every, has_flows, &mut |row| self.row(view.now(), row));
    }
    fn packet(&mut self, event: &PacketEvent) {
        self.trace.iter_mut().for_each(|trace| trace.packet(event));
        self.delays.iter_mut().for_each(|delays| delays.packet(event));
    }
    fn transfer(&mut self, event: &TransferEvent) {
        self.transfers.iter_mut().for_each(|transfers| transfers.completed(event));
    }
    fn finished(&mut self, view: &View<'_>) {
        let Some(delays) = &self.delays else { return };
        self.records = delays.records(view);
        if self.outputs.plan.histogram.is_some() {
            self.histograms = delays.histograms(view);
        }
    }
}
