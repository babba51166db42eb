//! Results, printed and written.

pub mod csv;
mod folder;
pub mod picture;
pub mod table;

pub use folder::{Folder, Size};

use crate::args::Format;
use crate::failure::Failure;
use fairwire_metrics::record::Report;
use std::io::Write;

/// What stands above a table and a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// What was compared.
    pub title: String,
    /// Under which conditions.
    pub detail: String,
}

/// Prints `report` in `format`.
pub fn show(report: &Report, headline: &Headline, format: Format) -> Result<(), Failure> {
    let text = match format {
        Format::Table => table::text(report, headline),
        Format::Json => json(report),
        Format::Csv => csv::summary(report)?,
    };
    print(text.as_bytes())
}

/// Prints `bytes` on stdout.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(Failure::printing)
}

/// The report as JSON: the public, versioned form.
pub fn json(report: &Report) -> String {
    serde_json::to_string_pretty(report).expect("a report has only strings for keys") + "\n"
}

/// The groups of flows, in the order of the scenario.
fn groups(report: &Report) -> Vec<&str> {
    let mut groups: Vec<&str> = Vec::new();
    for flow in report.runs.iter().take(1).flat_map(|run| &run.flows) {
        if !groups.contains(&flow.group.as_str()) {
            groups.push(&flow.group);
        }
    }
    groups
}
