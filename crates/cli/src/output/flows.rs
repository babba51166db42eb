//! Records of flows: CSV, or Parquet with the same columns.

use super::file::{self, Scratch};
use super::parquet::{Column, Writer};
use crate::failure::Failure;
use crate::report::csv;
use fairwire_metrics::record::{FlowRecord, Report, RunRecord};
use std::io;
use std::path::Path;

/// How records of flows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Csv,
    Parquet,
}

/// Rows in memory at a time: 10 MB, if each has 100 bytes.
const GROUP: usize = 100_000;

/// Writes a row per run and flow of `report` to `path`.
pub(super) fn write(path: &Path, form: Form, report: &Report) -> Result<(), Failure> {
    match form {
        Form::Csv => file::write(path, csv::flows(report)?.as_bytes()),
        Form::Parquet => parquet(path, report).map_err(|error| file::fault(path, &error)),
    }
}

fn parquet(path: &Path, report: &Report) -> io::Result<()> {
    let mut writer = Writer::begin(Scratch::begin(path)?, &csv::FLOWS)?;
    let rows: Vec<Row<'_>> =
        report.runs.iter().flat_map(|run| run.flows.iter().map(move |flow| (run, flow))).collect();
    for group in rows.chunks(GROUP) {
        writer.group(&columns(group))?;
    }
    if rows.is_empty() {
        writer.group(&columns(&[]))?;
    }
    writer.finish()?.finish().map(|_| ())
}

/// A flow in its run.
type Row<'a> = (&'a RunRecord, &'a FlowRecord);

/// In the order of the columns of the CSV.
fn columns<'a>(rows: &[Row<'a>]) -> [Column<'a>; csv::FLOWS.len()] {
    let text = |of: fn(&Row<'a>) -> &'a str| -> Column<'a> { Column::Text(rows.iter().map(of).collect()) };
    let real = |of: fn(&FlowRecord) -> f64| Column::Real(rows.iter().map(|(_, flow)| of(flow)).collect());
    let count = |of: fn(&FlowRecord) -> u64| Column::Count(rows.iter().map(|(_, flow)| of(flow)).collect());
    let known = |of: fn(&FlowRecord) -> Option<u64>| {
        Column::OptionalCount(rows.iter().map(|(_, flow)| of(flow)).collect())
    };
    [
        text(|(run, _)| &run.discipline),
        Column::Count(rows.iter().map(|(run, _)| run.seed).collect()),
        text(|(_, flow)| &flow.name),
        text(|(_, flow)| &flow.group),
        text(|(_, flow)| &flow.kind),
        Column::OptionalReal(rows.iter().map(|(_, flow)| flow.offered_bps).collect()),
        real(|flow| flow.throughput_bps),
        real(|flow| flow.goodput_bps),
        count(|flow| flow.packets_sent),
        count(|flow| flow.packets_dropped),
        count(|flow| flow.packets_marked),
        known(|flow| flow.timeouts),
        known(|flow| flow.loss_episodes),
        known(|flow| flow.timeout_episodes),
    ]
}
