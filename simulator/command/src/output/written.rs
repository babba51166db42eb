//! The traits of an output: its writer, and its recorder of a run.

use fairwire_core::Time;
use fairwire_metrics::record::Report;
use fairwire_scenario::{PacketEvent, RunId, SampleRow, TransferEvent, View};
use fairwire_terminal::failure::Failure;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    pub which: RunId<'a>,
    /// The stage; `None` if results do not name it.
    pub stage: Option<&'static str>,
    /// The stage's index.
    pub at_stage: usize,
    /// Is every packet observed? Stages other than the simulator provide only samples.
    pub is_simulated: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wants {
    /// Samples of links and groups.
    pub samples: bool,
    /// Samples of flows, too.
    pub flows: bool,
    /// Each packet.
    pub packets: bool,
    /// Each packet, for a trace file.
    pub traces: bool,
    /// Each transfer.
    pub transfers: bool,
}

impl Wants {
    pub(super) fn and(self, other: Wants) -> Wants {
        Wants {
            samples: self.samples || other.samples,
            flows: self.flows || other.flows,
            packets: self.packets || other.packets,
            traces: self.traces || other.traces,
            transfers: self.transfers || other.transfers,
        }
    }
}

/// The detail in which an output observes runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Looks {
    /// Only their records.
    AtRecords,
    /// Their samples, too.
    AtSamples,
    /// Every event.
    IntoRuns,
}

/// Writes an output of all runs.
pub(super) trait Writer: Sync {
    fn looks(&self) -> Looks {
        Looks::IntoRuns
    }

    fn wants(&self) -> Wants {
        Wants::default()
    }

    /// The recorder of a run; `None` if none is needed.
    ///
    /// # Errors
    /// If the recorder's file cannot be created.
    fn begin<'a>(&'a self, _run: Run<'_>) -> Result<Option<Box<dyn Recorder + 'a>>, Failure> {
        Ok(None)
    }

    /// Writes the data of the runs to a file, or adds them to `report`.
    fn close(&self, report: &mut Report, done: &mut Done);

    /// Called instead of [`close`](Self::close) if a run could not be recorded. Only outputs with a
    /// file per run can still write data.
    fn give_up(&self, _done: &mut Done) {}
}

/// Records one run. A recorder dropped before it finishes leaves nothing.
pub(super) trait Recorder: Send {
    /// Called before the first event.
    fn start(&mut self, _view: &View<'_>) {}
    fn row(&mut self, _at: Time, _row: SampleRow<'_>) {}
    fn packet(&mut self, _event: &PacketEvent) {}
    fn transfer(&mut self, _event: &TransferEvent) {}
    /// Called at the end of a simulated run.
    fn end(&mut self, _view: &View<'_>) {}
    /// Keeps the recording.
    ///
    /// # Errors
    /// If the recording could not be written.
    fn finish(self: Box<Self>) -> Result<(), Failure>;
}

/// The position of a run's data: by run, and then by stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    run: usize,
    stage: usize,
}

#[derive(Debug)]
pub(super) struct Kept<T>(Mutex<BTreeMap<Place, T>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept(Mutex::default())
    }
}

impl<T> Kept<T> {
    pub(super) fn keep(&self, at: Place, what: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(at, what);
    }

    /// Takes all data.
    pub(super) fn take(&self) -> Vec<T> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_values().collect()
    }
}

impl Run<'_> {
    pub(super) fn place(&self) -> Place {
        Place { run: self.which.index, stage: self.at_stage }
    }
}

#[derive(Debug, Default)]
pub(super) struct Done {
    /// The files that were written.
    pub places: Vec<String>,
    pub failures: Vec<Failure>,
}

impl Done {
    pub(super) fn wrote(&mut self, path: &Path, result: Result<(), Failure>) {
        match result {
            Ok(()) => self.places.push(path.display().to_string()),
            Err(failure) => self.failures.push(failure),
        }
    }
}
