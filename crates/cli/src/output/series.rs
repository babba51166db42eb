//! Time series: a row for each time, object and measure.

use super::file::Scratch;
use fairwire_core::Time;
use fairwire_scenario::{Row, View, Which, rows};
use std::io::{self, Write};

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Csv,
    Ndjson,
}

/// The columns.
pub(super) const HEAD: &str = "discipline,seed,time_s,kind,name,measure,unit,value\n";

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

    fn row(&mut self, at: Time, Row { kind, name, measure, unit, value }: Row<'_>) {
        if self.failed.is_some() {
            return;
        }
        let Series { out, discipline, seed, .. } = self;
        let time = seconds(at);
        let written = match self.form {
            Form::Csv => writeln!(out, "{discipline},{seed},{time},{kind},{name},{measure},{unit},{value}"),
            Form::Ndjson => writeln!(
                out,
                "{{\"discipline\":{},\"seed\":{seed},\"time_s\":{time},\"kind\":\"{kind}\",\"name\":{},\"measure\":{},\"unit\":\"{unit}\",\"value\":{value}}}",
                quoted(discipline),
                quoted(name),
                quoted(measure)
            ),
        };
        self.failed = written.err();
    }
}

/// A string in JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Seconds in decimal, exact to the nanosecond.
pub(super) fn seconds(at: Time) -> String {
    format!("{}.{:09}", at.ns() / 1_000_000_000, at.ns() % 1_000_000_000)
}
