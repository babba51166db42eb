//! An output: what writes it, what records a run for it, and what was kept until all are done.

use fairwire_core::Time;
use fairwire_metrics::record::Report;
use fairwire_scenario::{PacketEvent, Row, RunId, TransferEvent, View};
use fairwire_terminal::failure::Failure;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// One run, as an output sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    pub which: RunId<'a>,
    /// Where it is run; `None` for the simulator alone.
    pub stage: Option<&'static str>,
    /// The place of that among the stages.
    pub at_stage: usize,
    /// Is each of its packets seen? Elsewhere there are samples alone.
    pub is_simulated: bool,
}

/// What an output has to see of runs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wants {
    /// Samples of links and groups.
    pub samples: bool,
    /// Samples of flows, too.
    pub flows: bool,
    /// Each packet.
    pub packets: bool,
    /// Each packet, to write it down.
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

/// How far an output looks into runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Looks {
    /// At their records alone.
    AtRecords,
    /// At their samples, too.
    AtSamples,
    /// At whatever happens.
    IntoRuns,
}

/// Writes an output of all runs.
pub(super) trait Writer: Sync {
    /// How far it looks into runs.
    fn looks(&self) -> Looks {
        Looks::IntoRuns
    }

    /// What has to be seen of each run.
    fn wants(&self) -> Wants {
        Wants::default()
    }

    /// What records a run; `None` if nothing of it is needed.
    ///
    /// # Errors
    /// If a file for it cannot be begun.
    fn begin<'a>(&'a self, _run: Run<'_>) -> Result<Option<Box<dyn Recorder + 'a>>, Failure> {
        Ok(None)
    }

    /// Writes what the runs left, and adds to `report` what belongs there.
    fn close(&self, report: &mut Report, done: &mut Done);

    /// In place of [`close`](Self::close), where a run could not be recorded: only what each run has
    /// for itself is there.
    fn give_up(&self, _done: &mut Done) {}
}

/// Records one run. Dropped before it is finished, it leaves nothing.
pub(super) trait Recorder: Send {
    /// Before anything has happened.
    fn start(&mut self, _view: &View<'_>) {}
    /// A row of the sample taken at `at`.
    fn row(&mut self, _at: Time, _row: Row<'_>) {}
    fn packet(&mut self, _event: &PacketEvent) {}
    fn transfer(&mut self, _event: &TransferEvent) {}
    /// At the end of a simulated run.
    fn end(&mut self, _view: &View<'_>) {}
    /// Keeps what it recorded.
    ///
    /// # Errors
    /// If that could not be written down.
    fn finish(self: Box<Self>) -> Result<(), Failure>;
}

/// The place of what a run leaves: by runs, and the stages of a run are adjacent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    run: usize,
    stage: usize,
}

/// What finished runs left, in the order of their places.
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

    /// All, once.
    pub(super) fn take(&self) -> Vec<T> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_values().collect()
    }
}

impl Run<'_> {
    /// The place of what it leaves.
    pub(super) fn place(&self) -> Place {
        Place { run: self.which.index, stage: self.at_stage }
    }
}

/// What became of the outputs.
#[derive(Debug, Default)]
pub(super) struct Done {
    /// The files that were written.
    pub places: Vec<String>,
    pub failures: Vec<Failure>,
}

impl Done {
    /// `path` was written, or could not be.
    pub(super) fn wrote(&mut self, path: &Path, result: Result<(), Failure>) {
        match result {
            Ok(()) => self.places.push(path.display().to_string()),
            Err(failure) => self.failures.push(failure),
        }
    }
}
