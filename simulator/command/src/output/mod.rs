//! A run's outputs in addition to its report.
//!
//! An output is a declaration (`fairwire_scenario::Output`) and a file in this folder that writes
//! it. During a run, data goes to a hidden file next to the final path, so a stopped run leaves
//! nothing incomplete.

mod delays;
mod flent;
mod flows;
mod formats;
mod plan;
mod plot;
mod series;
mod trace;
mod transfers;
mod warm_up;
mod written;

use crate::args::OutputArgs;
use fairwire_core::{Duration, Time};
use fairwire_metrics::record::Report;
use fairwire_metrics::summary;
use fairwire_scenario::estimate::{self, Keys, Recorded, TooMuch};
use fairwire_scenario::{
    Observer, PacketEvent, RunId, SampleRow, SampledRows, Scenario, TransferEvent, View, rows,
};
use fairwire_terminal::failure::Failure;
use fairwire_terminal::notice::notice;
use plan::{Request, SIMULATOR};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use written::{Done, Looks, Recorder, Run, Wants, Writer};

type Prepare = for<'a> fn(&Request<'a>) -> Result<Option<Box<dyn Writer + 'a>>, Failure>;

const ALL: [Prepare; 8] = [
    trace::prepare,
    flows::prepare,
    transfers::prepare,
    delays::prepare,
    plot::prepare,
    series::prepare,
    flent::prepare,
    warm_up::prepare,
];

/// The outputs in addition to the report, checked before the run.
pub(crate) struct Outputs<'a> {
    writers: Vec<Box<dyn Writer + 'a>>,
    every: Duration,
    baseline: Option<String>,
    /// The stages; empty if results do not name them.
    stages: Vec<&'static str>,
    of_simulator: Vec<String>,
    failed: Mutex<BTreeMap<usize, Failure>>,
}

impl<'a> Outputs<'a> {
    /// `at_once` is the number of simultaneous runs. `is_reported` means that the complete report
    /// is written or printed.
    pub(crate) fn prepare(
        args: &'a OutputArgs,
        scenario: &'a Scenario,
        stages: Vec<&'static str>,
        is_reported: bool,
        at_once: usize,
    ) -> Result<Self, Failure> {
        let request = Request::new(args, scenario, !stages.is_empty());
        request.check_stages(&stages)?;
        request.check_every()?;
        request.check_apart()?;
        request.check_one_way(is_reported)?;
        let writers = ALL.iter().map(|prepare| prepare(&request));
        let writers: Vec<Box<dyn Writer + 'a>> =
            writers.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        let (every, spec) = (request.every(), scenario.spec());
        let (baseline, of_simulator) = (request.baseline()?, request.of_simulator());
        let outputs = Outputs { writers, every, baseline, stages, of_simulator, failed: Mutex::default() };
        if outputs.wants().samples && (every == Duration::ZERO || every > spec.duration.0) {
            let help = format!("allowed: from 1 ns to the duration of a run, {}", spec.duration);
            return Err(Failure::user(format!("`--every` is {every}, but then a run has no sample"), help));
        }
        if !args.yes {
            let keys = Keys { every: request.name_of_every(), jobs: "--jobs" };
            let recorded = Recorded { at_once, ..outputs.recorded() };
            estimate::check(scenario, recorded, keys).map_err(refused)?;
        }
        Ok(outputs)
    }

    fn recorded(&self) -> Recorded {
        let Wants { flows, traces, transfers, .. } = self.wants();
        Recorded {
            every: self.every(),
            has_flows: flows,
            has_packets: traces,
            has_transfers: transfers,
            ..Recorded::default()
        }
    }

    fn wants(&self) -> Wants {
        self.writers.iter().map(|writer| writer.wants()).fold(Wants::default(), Wants::and)
    }

    /// The observer of a run on `stage`; `None` if no output needs it.
    fn watcher(&self, which: RunId<'_>, stage: &str) -> Option<Watcher<'_>> {
        let at = self.stages.iter().position(|name| *name == stage);
        let stage = at.map(|at| self.stages[at]);
        let is_simulated = stage.is_none_or(|stage| stage == SIMULATOR);
        let run = Run { which, stage, at_stage: at.unwrap_or(0), is_simulated };
        // If a recorder cannot start, the error is reported, and the other outputs are still
        // recorded.
        let mut recorders: Vec<Numbered<'_>> = Vec::new();
        for (at, writer) in self.writers.iter().enumerate() {
            match writer.begin(run) {
                Ok(recorder) => recorders.extend(recorder.map(|recorder| (at, recorder))),
                Err(failure) => self.failed(at, failure),
            }
        }
        let wants = self.wants();
        (!recorders.is_empty()).then(|| Watcher { outputs: self, wants, recorders, rows: None })
    }

    fn failed(&self, writer: usize, failure: Failure) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).entry(writer).or_insert(failure);
    }

    /// Writes the results of the runs to files, and adds their data to `report`. Skips outputs that
    /// lack the data of a run. Returns the first failure, after writing the other outputs. If no
    /// run finished, earlier files stay.
    pub(crate) fn close(self, report: &mut Report) -> Result<(), Failure> {
        if is_without_results(report) {
            return Ok(());
        }
        let mut failures = self.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut done = Done::default();
        if let Some(baseline) = &self.baseline {
            report.differences = summary::differences(&report.runs, baseline);
        }
        for (at, writer) in self.writers.iter().enumerate() {
            match failures.remove(&at) {
                None => writer.close(report, &mut done),
                Some(failure) => {
                    writer.give_up(&mut done);
                    done.failures.push(failure);
                }
            }
        }
        if !done.places.is_empty() {
            notice(format_args!("written: {}", done.places.join(", ")));
        }
        done.failures.into_iter().next().map_or(Ok(()), Err)
    }

    pub(crate) fn every(&self) -> Option<Duration> {
        self.wants().samples.then_some(self.every)
    }

    pub(crate) fn begin(&self, which: RunId<'_>, stage: &'static str) -> Option<StageRun<'_>> {
        self.every()?;
        self.watcher(which, stage).map(StageRun)
    }

    /// The data of a kept run that suffice to write all outputs; `None` if a new run is needed.
    pub(crate) fn enough(&self) -> Option<Enough> {
        let Wants { flows, .. } = self.wants();
        match self.writers.iter().map(|writer| writer.looks()).max().unwrap_or(Looks::AtRecords) {
            Looks::AtRecords => Some(Enough::Record),
            Looks::AtSamples => Some(Enough::Samples { every: self.every, has_flows: flows }),
            Looks::IntoRuns => None,
        }
    }

    /// Calls `go` with the observer of a simulated run. Returns a finished run's rows if they
    /// should be kept and are not too many.
    pub(crate) fn observe(
        &self,
        which: RunId<'_>,
        keeps_rows: bool,
        go: &mut dyn FnMut(Option<&mut dyn Observer>) -> bool,
    ) -> Option<SampledRows> {
        let Some(mut watcher) = self.watcher(which, SIMULATOR) else {
            go(None);
            return None;
        };
        watcher.rows = keeps_rows.then(SampledRows::default);
        if !go(Some(&mut watcher)) {
            return None;
        }
        let rows = watcher.rows.take();
        watcher.finish();
        rows
    }

    pub(crate) fn replay(&self, which: RunId<'_>, rows: &SampledRows) {
        if let Some(mut watcher) = self.watcher(which, SIMULATOR) {
            rows.iter().for_each(|(at, row)| watcher.row(at, row));
            watcher.finish();
        }
    }

    pub(crate) fn of_simulator_only(&self) -> Option<String> {
        (!self.of_simulator.is_empty()).then(|| self.of_simulator.join(", "))
    }
}

pub(crate) fn is_without_results(report: &Report) -> bool {
    report.manifest.interrupted && report.runs.is_empty()
}

pub(crate) fn refused(TooMuch { what, most, by }: TooMuch) -> Failure {
    Failure::user(what, format!("allowed: {most}, by {by}; or more with `--yes`"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Enough {
    /// Its record.
    Record,
    /// The run's record, and its samples at this interval.
    Samples { every: Duration, has_flows: bool },
}

/// Records the samples of a run on a stage other than the simulator.
pub(crate) struct StageRun<'a>(Watcher<'a>);

impl StageRun<'_> {
    pub(crate) fn sample(&mut self, at: Duration, row: SampleRow<'_>) {
        if row.kind != "flow" || self.0.wants.flows {
            self.0.row(Time::ZERO + at, row);
        }
    }

    pub(crate) fn finish(self) {
        self.0.finish();
    }
}

/// A run's recorder for an output, and the index of the output's writer.
type Numbered<'a> = (usize, Box<dyn Recorder + 'a>);

struct Watcher<'a> {
    outputs: &'a Outputs<'a>,
    wants: Wants,
    recorders: Vec<Numbered<'a>>,
    /// The run's rows; `None` if rows are not kept, or there are too many.
    rows: Option<SampledRows>,
}

/// The maximum numbers of kept rows and series, which take some 24 MB during a run.
const MAX_ROWS: usize = 1_000_000;
const MAX_SERIES: usize = 1000;

fn keep(kept: &mut Option<SampledRows>, at: Time, row: SampleRow<'_>) {
    let Some(rows) = kept else { return };
    rows.add(at, row);
    if rows.len() > MAX_ROWS || rows.series() > MAX_SERIES {
        *kept = None;
    }
}

impl Watcher<'_> {
    fn row(&mut self, at: Time, row: SampleRow<'_>) {
        self.recorders.iter_mut().for_each(|(_, recorder)| recorder.row(at, row));
        keep(&mut self.rows, at, row);
    }

    fn finish(self) {
        let outputs = self.outputs;
        for (at, recorder) in self.recorders {
            recorder.finish().unwrap_or_else(|failure| outputs.failed(at, failure));
        }
    }
}

impl Observer for Watcher<'_> {
    fn interval(&self) -> Option<Duration> {
        self.wants.samples.then_some(self.outputs.every)
    }
    fn wants_packets(&self) -> bool {
        self.wants.packets
    }
    fn started(&mut self, view: &View<'_>) {
        self.recorders.iter_mut().for_each(|(_, recorder)| recorder.start(view));
    }
    fn sample(&mut self, view: &View<'_>) {
        let (every, has_flows) = (self.outputs.every, self.wants.flows);
        rows(view, every, has_flows, &mut |row| self.row(view.now(), row));
    }
    fn packet(&mut self, event: &PacketEvent) {
        self.recorders.iter_mut().for_each(|(_, recorder)| recorder.packet(event));
    }
    fn transfer(&mut self, event: &TransferEvent) {
        self.recorders.iter_mut().for_each(|(_, recorder)| recorder.transfer(event));
    }
    fn finished(&mut self, view: &View<'_>) {
        self.recorders.iter_mut().for_each(|(_, recorder)| recorder.end(view));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_scenario::Output;

    #[test]
    fn too_many_series_are_not_kept() {
        let mut kept = Some(SampledRows::default());
        let mut add = |name: usize| {
            let name = name.to_string();
            let row = SampleRow { kind: "flow", name: &name, measure: "cwnd", unit: "B", value: 1.0 };
            keep(&mut kept, Time::ZERO, row);
            kept.as_ref().map(SampledRows::len)
        };
        let lengths: Vec<Option<usize>> = (0..=MAX_SERIES + 1).map(&mut add).collect();
        assert_eq!(lengths[MAX_SERIES - 1..], [Some(MAX_SERIES), None, None]);
    }

    #[test]
    fn exactly_the_declared_extensions_have_a_form() {
        fn endings<F>(forms: &[(&'static str, F)]) -> Vec<&'static str> {
            forms.iter().map(|(ending, _)| *ending).collect()
        }
        for output in Output::ALL {
            let forms = match output {
                Output::Series => endings(&series::FORMS),
                Output::Plot => endings(&plot::FORMS),
                Output::Trace => endings(&trace::FORMS),
                Output::Flows => endings(&flows::FORMS),
                Output::Transfers => endings(&transfers::FORMS),
                Output::Histogram => endings(&delays::HISTOGRAMS),
                Output::Percentiles => endings(&delays::PERCENTILES),
                Output::Flent => endings(&flent::FORMS),
            };
            assert_eq!(forms, output.endings(), "{output:?}");
        }
    }
}
