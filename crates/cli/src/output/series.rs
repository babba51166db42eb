//! Time series: a row for each time, object and measure.

use super::file::Scratch;
use fairwire_core::Time;
use fairwire_scenario::{View, Which, rows};
use std::io::{self, Write};

pub(super) use fairwire_scenario::Row;

/// How rows are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// What stands before the rows of all runs.
    pub head: &'static str,
    /// Writes a row of a run, at a time in seconds.
    pub row: fn(&mut dyn Write, Run<'_>, &str, Row<'_>) -> io::Result<()>,
}

/// The run that a row is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    pub discipline: &'a str,
    pub seed: u64,
}

/// Writes the rows of one run.
#[derive(Debug)]
pub(super) struct Series {
    out: Scratch,
    form: Form,
    has_flows: bool,
    discipline: String,
    seed: u64,
    interval_s: f64,
    failed: Option<io::Error>,
}

impl Series {
    /// Rows for links, groups and aggregates, and for flows where `has_flows`.
    pub(super) fn new(out: Scratch, form: Form, has_flows: bool, which: Which<'_>, interval_s: f64) -> Self {
        let discipline = which.discipline.to_string();
        Series { out, form, has_flows, discipline, seed: which.seed, interval_s, failed: None }
    }

    /// What was written, or why it could not be.
    pub(super) fn finish(self) -> io::Result<Scratch> {
        self.failed.map_or(Ok(self.out), Err)
    }

    /// The rows of a sample.
    pub(super) fn sample(&mut self, view: &View<'_>) {
        let at = view.now();
        rows(view, self.interval_s, self.has_flows, &mut |row| self.row(at, row));
    }

    fn row(&mut self, at: Time, row: Row<'_>) {
        if self.failed.is_none() {
            let run = Run { discipline: &self.discipline, seed: self.seed };
            self.failed = (self.form.row)(&mut self.out, run, &seconds(at), row).err();
        }
    }
}

/// Seconds in decimal, exact to the nanosecond.
fn seconds(at: Time) -> String {
    format!("{}.{:09}", at.ns() / 1_000_000_000, at.ns() % 1_000_000_000)
}
