//! Flow records in Apache Parquet: the columns of the CSV, with their types.

use crate::report::csv;
use fairwire_metrics::record::{CompletedRecord, FlowRecord, Report, RunRecord};
use fairwire_metrics::row::{Cell, Holds};
use fairwire_sweep::columns::{Cells, Column, Table};
use fairwire_sweep::{parquet, records};
use fairwire_terminal::failure::Failure;
use fairwire_terminal::file::{self, Scratch};
use std::io;
use std::path::Path;

pub(in crate::output) fn flows(path: &Path, report: &Report) -> Result<(), Failure> {
    write(path, &table(report)).map_err(|error| file::fault(path, &error))
}

pub(in crate::output) fn transfers(path: &Path, completed: &[CompletedRecord]) -> Result<(), Failure> {
    write(path, &records::table(completed.iter())).map_err(|error| file::fault(path, &error))
}

type SampleRow<'a> = (&'a RunRecord, &'a FlowRecord);

fn write(path: &Path, table: &Table) -> io::Result<()> {
    let mut scratch = Scratch::begin(path)?;
    parquet::write(&mut scratch, table)?;
    scratch.finish().map(drop)
}

fn table(report: &Report) -> Table {
    let rows: Vec<SampleRow<'_>> =
        report.runs.iter().flat_map(|run| run.flows.iter().map(move |flow| (run, flow))).collect();
    let cells: Vec<Vec<Cell>> = rows.iter().map(|(_, flow)| flow.row()).collect();
    let disciplines = rows.iter().map(|(run, _)| run.discipline.as_str());
    let run = [
        Column::new("discipline", Cells::texts(disciplines)),
        Column::new("seed", Cells::counts(rows.iter().map(|(run, _)| run.seed))),
    ];
    let columns = csv::flow_columns().zip(FlowRecord::COLUMNS).enumerate();
    let columns = columns.map(|(at, (name, (_, holds)))| Column::new(name, column(*holds, at, &cells)));
    Table::new(run.into_iter().chain(columns).collect())
}

fn column(holds: Holds, at: usize, rows: &[Vec<Cell>]) -> Cells {
    let cells = rows.iter().map(|row| &row[at]);
    match holds {
        Holds::Text => Cells::texts(cells.map(ToString::to_string)),
        Holds::Count => {
            let count = |cell: &Cell| if let Cell::Count(count) = cell { *count } else { None };
            Cells::Counts(cells.map(count).collect())
        }
        Holds::Real => {
            let number = |cell: &Cell| if let Cell::Real(number) = cell { *number } else { None };
            Cells::Reals(cells.map(number).collect())
        }
    }
}
