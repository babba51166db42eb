//! What a run leaves beside its report: time series, packet traces, tables of delays, records of flows.
//!
//! Places are proven before a run. What a run writes goes beside its place under a hidden name, so a run that is stopped leaves
//! nothing half done, and one that is finished is kept.

mod delays;
pub mod file;
mod plot;
mod series;
mod trace;
mod warm_up;

use crate::args::OutputArgs;
use crate::failure::Failure;
use crate::report::csv;
use crate::tell::tell;
use delays::Delays;
use fairwire_core::{Duration, Time};
use fairwire_metrics::record::{DelayRecord, Report};
use fairwire_metrics::summary;
use fairwire_scenario::{Observer, Observers, PacketEvent, Scenario, View, Which};
use file::{Part, Scratch};
use plot::Curve;
use series::Series;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use trace::Trace;

/// One-way delays are counted for no more flows: each histogram takes 60 kB.
const MOST_ONE_WAY: u32 = 10_000;

/// Of the traces of many runs, so many are named.
const MOST_TOLD: usize = 4;

/// What was asked for beside the report, proven to be possible.
#[derive(Debug)]
pub struct Outputs<'a> {
    args: &'a OutputArgs,
    series: Option<series::Form>,
    trace: Option<trace::Form>,
    baseline: Option<String>,
    every: Duration,
    warm_up: Time,
    runs: usize,
    finished: Mutex<BTreeMap<usize, Finished>>,
}

/// What a finished run left.
#[derive(Debug)]
struct Finished {
    series: Option<Part>,
    /// Where its packets are.
    trace: Option<PathBuf>,
    delays: Vec<DelayRecord>,
    curve: Curve,
    failed: Vec<Failure>,
}

impl<'a> Outputs<'a> {
    /// Proves what `args` ask of runs of `scenario`.
    pub fn prepare(args: &'a OutputArgs, scenario: &Scenario) -> Result<Self, Failure> {
        let spec = scenario.spec();
        let ending = |flag, path: &Option<PathBuf>, endings: &[&'static str]| {
            path.as_deref().map(|path| file::prove(flag, path, endings)).transpose()
        };
        let series = ending("--series", &args.series, &["csv", "ndjson"])?;
        let trace = ending("--trace", &args.trace, &["pcapng", "ndjson"])?;
        ending("--flows", &args.flows, &["csv"])?;
        ending("--histogram", &args.histogram, &["csv"])?;
        ending("--plot", &args.plot, &["svg"])?;
        let flows: u32 = spec.flow.iter().map(|flow| flow.count).fold(0, u32::saturating_add);
        if args.one_way && flows > MOST_ONE_WAY {
            let help = format!("allowed: at most {MOST_ONE_WAY} flows, since each takes 60 kB");
            return Err(Failure::user(format!("--one-way: the scenario has {flows} flows"), help));
        }
        let has_samples = args.series.is_some() || args.plot.is_some() || args.check_warm_up;
        if has_samples && (args.every == Duration::ZERO || args.every > spec.duration.0) {
            let help = format!("allowed: from 1 ns to the duration of a run, {}", spec.duration);
            return Err(Failure::user(format!("--every {}: no sample would be taken", args.every), help));
        }
        Ok(Outputs {
            series: series
                .map(|ending| if ending == "csv" { series::Form::Csv } else { series::Form::Ndjson }),
            trace: trace
                .map(|ending| if ending == "pcapng" { trace::Form::Pcapng } else { trace::Form::Ndjson }),
            baseline: baseline(args, scenario)?,
            every: args.every,
            warm_up: Time::ZERO + spec.warm_up.0,
            runs: spec.disciplines.len() * spec.seeds.as_slice().len(),
            finished: Mutex::default(),
            args,
        })
    }

    fn has_samples(&self) -> bool {
        self.series.is_some() || self.args.plot.is_some() || self.args.check_warm_up
    }

    fn has_delays(&self) -> bool {
        self.args.histogram.is_some() || self.args.one_way
    }

    fn watcher(&self, which: Which<'_>) -> Result<Watcher<'_>, Failure> {
        let begin = |path: &PathBuf, part: &str| {
            Scratch::begin(path, part).map_err(|error| file::fault(path, &error))
        };
        let series = match (self.series, &self.args.series) {
            (Some(form), Some(path)) => {
                let out = begin(path, &format!(".{}", which.index))?;
                Some(Series::new(out, form, self.args.series_flows, which, self.every.secs()))
            }
            _ => None,
        };
        let trace = match (self.trace, &self.args.trace) {
            (Some(form), Some(path)) => {
                let part = format!("{}.{}", which.discipline, which.seed);
                let path = if self.runs > 1 { file::with_part(path, &part) } else { path.clone() };
                Some(Trace::new(begin(&path, "")?, form, which))
            }
            _ => None,
        };
        let delays = self.has_delays().then(|| Delays::new(which, self.warm_up, self.args.one_way));
        let curve = Curve::new(which, self.every);
        Ok(Watcher { outputs: self, series, trace, delays, curve, records: Vec::new() })
    }

    /// Puts what the runs left into files, and into `report` what belongs there. All is tried; the first failure is told.
    pub fn close(self, report: &mut Report) -> Result<(), Failure> {
        let finished = self.finished.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut finished: Vec<Finished> = finished.into_values().collect();
        let mut failures: Vec<Failure> = finished.iter_mut().flat_map(|run| run.failed.drain(..)).collect();
        report.delays = finished.iter_mut().flat_map(|run| std::mem::take(&mut run.delays)).collect();
        if let Some(baseline) = &self.baseline {
            report.differences = summary::differences(&report.runs, baseline);
        }
        if self.args.check_warm_up {
            finished.iter().for_each(|run| warm_up::check(&run.curve, self.warm_up));
        }
        let args = self.args;
        let traces = finished.iter().filter_map(|run| run.trace.as_deref());
        let mut places: Vec<String> = traces.map(|path| path.display().to_string()).collect();
        places.truncate(MOST_TOLD);
        let mut write = |path: &Option<PathBuf>, content: &dyn Fn() -> Result<String, Failure>| {
            let Some(path) = path else { return };
            match content().and_then(|text| file::write(path, text.as_bytes())) {
                Ok(()) => places.push(path.display().to_string()),
                Err(failure) => failures.push(failure),
            }
        };
        write(&args.flows, &|| csv::flows(report));
        write(&args.histogram, &|| delays::text(&report.delays));
        let curves: Vec<&Curve> = finished.iter().map(|run| &run.curve).collect();
        write(&args.plot, &|| Ok(plot::svg(&curves, &report.manifest.scenario, self.warm_up)));
        if let Some(path) = &args.series {
            let head = if self.series == Some(series::Form::Csv) { series::HEAD } else { "" };
            match joined(path, head, finished) {
                Ok(()) => places.push(path.display().to_string()),
                Err(error) => failures.push(file::fault(path, &error)),
            }
        }
        if !places.is_empty() {
            tell(format_args!("written: {}", places.join(", ")));
        }
        failures.into_iter().next().map_or(Ok(()), Err)
    }
}

/// The parts that the runs wrote, in the order of the runs.
fn joined(path: &std::path::Path, head: &str, finished: Vec<Finished>) -> io::Result<()> {
    let mut out = Scratch::begin(path, "")?;
    out.write_all(head.as_bytes())?;
    for part in finished.into_iter().filter_map(|run| run.series) {
        part.pour(&mut out)?;
    }
    out.finish().map(|_| ())
}

/// The discipline against which `--paired` takes differences.
fn baseline(args: &OutputArgs, scenario: &Scenario) -> Result<Option<String>, Failure> {
    let Some(given) = &args.paired else { return Ok(None) };
    let labels: Vec<&str> = scenario.spec().disciplines.iter().map(|compared| compared.label()).collect();
    let help =
        || format!("allowed: two disciplines or more, one of which is the baseline: {}", labels.join(", "));
    if labels.len() < 2 {
        return Err(Failure::user("--paired: only one discipline is run", help()));
    }
    let baseline = if given.is_empty() { labels[0] } else { given };
    if labels.contains(&baseline) {
        return Ok(Some(baseline.into()));
    }
    Err(Failure::user(format!("--paired={given}: this discipline is not run"), help()))
}

impl Observers for Outputs<'_> {
    fn observe(&self, which: Which<'_>, go: &mut dyn FnMut(Option<&mut dyn Observer>) -> bool) {
        if !self.has_samples() && !self.has_delays() && self.trace.is_none() {
            go(None);
            return;
        }
        let finished = match self.watcher(which) {
            Ok(mut watcher) => go(Some(&mut watcher)).then(|| watcher.finish()),
            Err(failure) => {
                go(None); // the report is worth having without it
                let curve = Curve::new(which, self.every);
                Some(Finished { series: None, trace: None, delays: Vec::new(), curve, failed: vec![failure] })
            }
        };
        if let Some(finished) = finished {
            self.finished.lock().unwrap_or_else(PoisonError::into_inner).insert(which.index, finished);
        }
    }
}

/// Watches one run.
struct Watcher<'a> {
    outputs: &'a Outputs<'a>,
    series: Option<Series>,
    trace: Option<Trace>,
    delays: Option<Delays>,
    curve: Curve,
    records: Vec<DelayRecord>,
}

impl Watcher<'_> {
    fn finish(self) -> Finished {
        let mut failed = Vec::new();
        let mut keep = |path: &Option<PathBuf>, error: io::Error| {
            failed.extend(path.as_deref().map(|path| file::fault(path, &error)));
        };
        let args = self.outputs.args;
        let trace = self.trace.and_then(|trace| {
            trace.finish().and_then(Scratch::finish).map_err(|error| keep(&args.trace, error)).ok()
        });
        let series = self.series.and_then(|series| {
            series.finish().and_then(Scratch::close).map_err(|error| keep(&args.series, error)).ok()
        });
        Finished { series, trace, delays: self.records, curve: self.curve, failed }
    }
}

impl Observer for Watcher<'_> {
    fn interval(&self) -> Option<Duration> {
        self.outputs.has_samples().then_some(self.outputs.every)
    }
    fn wants_packets(&self) -> bool {
        self.trace.is_some() || self.delays.as_ref().is_some_and(Delays::wants_packets)
    }
    fn started(&mut self, view: &View<'_>) {
        self.trace.iter_mut().for_each(|trace| trace.start(view));
        self.delays.iter_mut().for_each(|delays| delays.start(view));
    }
    fn sample(&mut self, view: &View<'_>) {
        self.series.iter_mut().for_each(|series| series.sample(view));
        self.curve.sample(view);
    }
    fn packet(&mut self, event: &PacketEvent) {
        self.trace.iter_mut().for_each(|trace| trace.packet(event));
        self.delays.iter_mut().for_each(|delays| delays.packet(event));
    }
    fn finished(&mut self, view: &View<'_>) {
        self.records = self.delays.as_ref().map(|delays| delays.records(view)).unwrap_or_default();
    }
}
