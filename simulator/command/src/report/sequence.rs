//! Reports of several scenarios, printed one after the other as one text.

use super::shown::Headline;
use super::{checked, csv, json, print, table};
use crate::args::Format;
use fairwire_metrics::record::Report;
use fairwire_terminal::failure::Failure;
use std::cell::Cell;
use std::io;

/// Counts the printed reports. In JSON, all reports are one array. In CSV, they are one table with
/// a column `file`.
#[derive(Debug, Default)]
pub(crate) struct Sequence {
    printed: Cell<usize>,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'a> {
    pub sequence: &'a Sequence,
    /// The scenario's file, as named in results.
    pub file: &'a str,
}

impl Sequence {
    pub(crate) fn end(&self, format: Format) -> Result<(), Failure> {
        match (format, self.printed.get()) {
            (Format::Json, 0) => print(b"[]\n"),
            (Format::Json, _) => print(b"]\n"),
            (Format::Table | Format::Csv | Format::Latex, _) => Ok(()),
        }
    }
}

impl Member<'_> {
    pub(super) fn show(&self, report: &Report, headline: &Headline, format: Format) -> Result<(), Failure> {
        let is_first = self.sequence.printed.replace(self.sequence.printed.get() + 1) == 0;
        match format {
            Format::Table => {
                let gap = if is_first { "" } else { "\n" };
                print(format!("{gap}{}\n{}", self.file, table::text(report, headline)).as_bytes())
            }
            Format::Json => {
                print(if is_first { b"[\n" } else { b",\n" })?;
                checked(json::write(report, io::stdout().lock()))
            }
            Format::Latex => {
                print(format!("% {}\n{}", self.file, table::for_latex(report, headline)).as_bytes())
            }
            Format::Csv => print(csv::summary_of_file(report, self.file, is_first)?.as_bytes()),
        }
    }
}
