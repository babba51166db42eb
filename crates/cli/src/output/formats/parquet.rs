//! Records of flows in Apache Parquet: the columns of the CSV, each with its type.

use crate::output::file::{self, Scratch};
use crate::output::format::Format;
use crate::report::csv;
use arrow_array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use fairwire_metrics::record::{CompletedRecord, FlowRecord, Report, RunRecord};
use std::io;
use std::path::Path;
use std::sync::Arc;

pub(super) const FORMAT: Format = Format {
    flows: Some(|path, report| write(path, report).map_err(|error| file::fault(path, &error))),
    transfers: Some(|path, completed| transfers(path, completed).map_err(|error| file::fault(path, &error))),
    ..Format::new("parquet")
};

/// A flow in its run.
type Row<'a> = (&'a RunRecord, &'a FlowRecord);

/// Writes a row per run and flow of `report` to `path`.
fn write(path: &Path, report: &Report) -> io::Result<()> {
    let rows: Vec<Row<'_>> =
        report.runs.iter().flat_map(|run| run.flows.iter().map(move |flow| (run, flow))).collect();
    let columns = csv::FLOWS.into_iter().map(str::to_owned).zip(columns(&rows)).collect();
    let mut scratch = Scratch::begin(path)?;
    fairwire_sweep::columns::write_parquet(&mut scratch, columns)?;
    scratch.finish().map(drop)
}

/// Writes a row per transfer and page.
fn transfers(path: &Path, completed: &[&CompletedRecord]) -> io::Result<()> {
    let rows = fairwire_sweep::columns::table(completed.iter()).map_err(io::Error::other)?;
    let mut scratch = Scratch::begin(path)?;
    fairwire_sweep::columns::write_table(&mut scratch, &rows)?;
    scratch.finish().map(drop)
}

/// In the order of the columns of the CSV. What may be missing is a null there.
fn columns(rows: &[Row<'_>]) -> [ArrayRef; csv::FLOWS.len()] {
    let text = |of: for<'a> fn(&'a Row<'_>) -> &'a str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(of)))
    };
    let count = |of: fn(&Row<'_>) -> Option<u64>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<UInt64Array>())
    };
    let real = |of: fn(&Row<'_>) -> Option<f64>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<Float64Array>())
    };
    [
        text(|(run, _)| &run.discipline),
        count(|(run, _)| Some(run.seed)),
        text(|(_, flow)| &flow.name),
        text(|(_, flow)| &flow.group),
        text(|(_, flow)| &flow.kind),
        real(|(_, flow)| flow.offered_bps),
        real(|(_, flow)| Some(flow.throughput_bps)),
        real(|(_, flow)| Some(flow.goodput_bps)),
        count(|(_, flow)| Some(flow.packets_sent)),
        count(|(_, flow)| Some(flow.packets_dropped)),
        count(|(_, flow)| Some(flow.packets_marked)),
        count(|(_, flow)| flow.timeouts),
        count(|(_, flow)| flow.loss_episodes),
        count(|(_, flow)| flow.timeout_episodes),
    ]
}
