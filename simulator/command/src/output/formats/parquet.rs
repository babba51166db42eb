//! Records of flows in Apache Parquet: the columns of the CSV, each with its type.

use crate::report::csv;
use arrow_array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use fairwire_metrics::record::{CompletedRecord, FlowRecord, Report, RunRecord};
use fairwire_metrics::row::{Cell, Holds};
use fairwire_terminal::failure::Failure;
use fairwire_terminal::file::{self, Scratch};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Flows: a row for each run and flow.
pub(in crate::output) fn flows(path: &Path, report: &Report) -> Result<(), Failure> {
    write(path, report).map_err(|error| file::fault(path, &error))
}

/// Transfers and pages: a row for each.
pub(in crate::output) fn transfers(path: &Path, completed: &[CompletedRecord]) -> Result<(), Failure> {
    write_transfers(path, completed).map_err(|error| file::fault(path, &error))
}

/// A flow in its run.
type Row<'a> = (&'a RunRecord, &'a FlowRecord);

/// Writes a row per run and flow of `report` to `path`.
fn write(path: &Path, report: &Report) -> io::Result<()> {
    let rows: Vec<Row<'_>> =
        report.runs.iter().flat_map(|run| run.flows.iter().map(move |flow| (run, flow))).collect();
    let cells: Vec<Vec<Cell>> = rows.iter().map(|(_, flow)| flow.row()).collect();
    let disciplines = rows.iter().map(|(run, _)| run.discipline.as_str());
    let run: [(&str, ArrayRef); 2] = [
        ("discipline", Arc::new(StringArray::from_iter_values(disciplines))),
        ("seed", Arc::new(UInt64Array::from_iter_values(rows.iter().map(|(run, _)| run.seed)))),
    ];
    let columns = csv::flow_columns().zip(FlowRecord::COLUMNS).enumerate();
    let columns = columns.map(|(at, (name, (_, holds)))| (name, column(*holds, at, &cells)));
    let columns = run.into_iter().chain(columns).map(|(name, cells)| (name.to_owned(), cells)).collect();
    let mut scratch = Scratch::begin(path)?;
    fairwire_sweep::columns::write_parquet(&mut scratch, columns)?;
    scratch.finish().map(drop)
}

fn write_transfers(path: &Path, completed: &[CompletedRecord]) -> io::Result<()> {
    let rows = fairwire_sweep::columns::table(completed.iter()).map_err(io::Error::other)?;
    let mut scratch = Scratch::begin(path)?;
    fairwire_sweep::columns::write_table(&mut scratch, &rows)?;
    scratch.finish().map(drop)
}

/// The column at this place of `rows`. What is absent is a null.
fn column(holds: Holds, at: usize, rows: &[Vec<Cell>]) -> ArrayRef {
    let cells = rows.iter().map(|row| &row[at]);
    match holds {
        Holds::Text => Arc::new(StringArray::from_iter_values(cells.map(ToString::to_string))),
        Holds::Count => {
            let count = |cell: &Cell| if let Cell::Count(count) = cell { *count } else { None };
            Arc::new(cells.map(count).collect::<UInt64Array>())
        }
        Holds::Real => {
            let number = |cell: &Cell| if let Cell::Real(number) = cell { *number } else { None };
            Arc::new(cells.map(number).collect::<Float64Array>())
        }
    }
}
