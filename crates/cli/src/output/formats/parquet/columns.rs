//! The columns of the CSV in Parquet, each with its type.

use crate::output::file::Scratch;
use crate::report::csv;
use fairwire_metrics::record::{FlowRecord, Report, RunRecord};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Rows in memory at a time: 10 MB, if each has 100 bytes.
const GROUP: usize = 100_000;

/// A flow in its run.
type Row<'a> = (&'a RunRecord, &'a FlowRecord);

/// What a column has of a row.
#[derive(Clone, Copy, Debug)]
enum Column {
    Text(for<'a> fn(Row<'a>) -> &'a str),
    Count(fn(Row<'_>) -> u64),
    Real(fn(Row<'_>) -> f64),
    /// Some are missing.
    OptionalCount(fn(Row<'_>) -> Option<u64>),
    OptionalReal(fn(Row<'_>) -> Option<f64>),
}

/// In the order of the columns of the CSV.
const COLUMNS: [Column; csv::FLOWS.len()] = [
    Column::Text(|(run, _)| &run.discipline),
    Column::Count(|(run, _)| run.seed),
    Column::Text(|(_, flow)| &flow.name),
    Column::Text(|(_, flow)| &flow.group),
    Column::Text(|(_, flow)| &flow.kind),
    Column::OptionalReal(|(_, flow)| flow.offered_bps),
    Column::Real(|(_, flow)| flow.throughput_bps),
    Column::Real(|(_, flow)| flow.goodput_bps),
    Column::Count(|(_, flow)| flow.packets_sent),
    Column::Count(|(_, flow)| flow.packets_dropped),
    Column::Count(|(_, flow)| flow.packets_marked),
    Column::OptionalCount(|(_, flow)| flow.timeouts),
    Column::OptionalCount(|(_, flow)| flow.loss_episodes),
    Column::OptionalCount(|(_, flow)| flow.timeout_episodes),
];

/// Writes a row per run and flow of `report` to `path`.
pub(super) fn write(path: &Path, report: &Report) -> io::Result<()> {
    let rows: Vec<Row<'_>> =
        report.runs.iter().flat_map(|run| run.flows.iter().map(move |flow| (run, flow))).collect();
    let about = WriterProperties::builder()
        .set_created_by(concat!("fairwire version ", env!("CARGO_PKG_VERSION")).into())
        .build();
    let mut writer = SerializedFileWriter::new(Scratch::begin(path)?, Arc::new(schema()?), Arc::new(about))?;
    for rows in rows.chunks(GROUP) {
        let mut group = writer.next_row_group()?;
        for column in COLUMNS {
            let mut out = group.next_column()?.expect("the schema has each column");
            column.write(rows, &mut out)?;
            out.close()?;
        }
        group.close()?;
    }
    writer.into_inner()?.finish().map(|_| ())
}

fn schema() -> Result<Type> {
    let fields = csv::FLOWS.iter().zip(COLUMNS).map(|(name, column)| column.field(name).map(Arc::new));
    Type::group_type_builder("table").with_fields(fields.collect::<Result<_>>()?).build()
}

impl Column {
    /// What the schema says of it.
    fn field(self, name: &str) -> Result<Type> {
        let (physical, logical) = match self {
            Column::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Column::Count(_) | Column::OptionalCount(_) => {
                (Physical::INT64, Some(LogicalType::integer(64, false)))
            }
            Column::Real(_) | Column::OptionalReal(_) => (Physical::DOUBLE, None),
        };
        let repetition = match self {
            Column::OptionalCount(_) | Column::OptionalReal(_) => Repetition::OPTIONAL,
            Column::Text(_) | Column::Count(_) | Column::Real(_) => Repetition::REQUIRED,
        };
        Type::primitive_type_builder(name, physical)
            .with_logical_type(logical)
            .with_repetition(repetition)
            .build()
    }

    fn write(self, rows: &[Row<'_>], out: &mut SerializedColumnWriter<'_>) -> Result<()> {
        // Counts without a sign are written as the signed ones of the same bits.
        match self {
            Column::Text(of) => all::<ByteArrayType>(out, rows, |row| ByteArray::from(of(row))),
            Column::Count(of) => all::<Int64Type>(out, rows, |row| of(row).cast_signed()),
            Column::Real(of) => all::<DoubleType>(out, rows, of),
            Column::OptionalCount(of) => {
                known::<Int64Type>(out, rows, |row| of(row).map(|count| count.cast_signed()))
            }
            Column::OptionalReal(of) => known::<DoubleType>(out, rows, of),
        }
    }
}

/// Writes a value of each row.
fn all<T: DataType>(
    out: &mut SerializedColumnWriter<'_>,
    rows: &[Row<'_>],
    of: impl Fn(Row<'_>) -> T::T,
) -> Result<()> {
    let values: Vec<T::T> = rows.iter().map(|row| of(*row)).collect();
    out.typed::<T>().write_batch(&values, None, None).map(|_| ())
}

/// Writes the values that are there, and of which rows they are.
fn known<T: DataType>(
    out: &mut SerializedColumnWriter<'_>,
    rows: &[Row<'_>],
    of: impl Fn(Row<'_>) -> Option<T::T>,
) -> Result<()> {
    let values: Vec<Option<T::T>> = rows.iter().map(|row| of(*row)).collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    out.typed::<T>().write_batch(&values, Some(&levels), None).map(|_| ())
}
