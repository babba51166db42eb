//! Time series: a row for each time, object and measure.

use super::file::Scratch;
use fairwire_core::Time;
use fairwire_scenario::RunId;
use std::io::{self, Write};

pub(super) use fairwire_scenario::Row;

/// How rows are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// The header above the rows of all runs: for the simulator alone, and for several stages.
    pub head: [&'static str; 2],
    /// Writes a row of a run, at a time in seconds.
    pub row: fn(&mut dyn Write, Run<'_>, &str, Row<'_>) -> io::Result<()>,
}

/// The run that a row is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    pub discipline: &'a str,
    /// Where it was run, where that is not the simulator alone.
    pub stage: Option<&'static str>,
    pub seed: u64,
}

/// Writes the rows of one run.
#[derive(Debug)]
pub(super) struct Series {
    out: Scratch,
    form: Form,
    discipline: String,
    stage: Option<&'static str>,
    seed: u64,
    failed: Option<io::Error>,
}

impl Series {
    pub(super) fn new(out: Scratch, form: Form, which: RunId<'_>, stage: Option<&'static str>) -> Self {
        let discipline = which.discipline.to_string();
        Series { out, form, discipline, stage, seed: which.seed, failed: None }
    }

    /// What was written, or why it could not be.
    pub(super) fn finish(self) -> io::Result<Scratch> {
        self.failed.map_or(Ok(self.out), Err)
    }

    /// A row of a sample, taken at `at`.
    pub(super) fn row(&mut self, at: Time, row: Row<'_>) {
        if self.failed.is_none() {
            let run = Run { discipline: &self.discipline, stage: self.stage, seed: self.seed };
            self.failed = (self.form.row)(&mut self.out, run, &seconds(at), row).err();
        }
    }
}

/// Seconds in decimal, exact to the nanosecond.
fn seconds(at: Time) -> String {
    format!("{}.{:09}", at.ns() / 1_000_000_000, at.ns() % 1_000_000_000)
}
