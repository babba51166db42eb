//! The rows that runs leave in a store.

use crate::columns;
use crate::shard::ShardCell;
use crate::store::{CELL, SEED};
use crate::values::{Value, shared, values_column};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt64Array};
use arrow_schema::ArrowError;
use fairwire_metrics::record::{FlowRecord, RunRecord};
use fairwire_metrics::summary::values;
use fairwire_scenario::ENGINE;
use std::sync::Arc;

/// What is kept of a run that is done.
pub(crate) struct Done<'a> {
    cell: &'a ShardCell,
    scenario: String,
    discipline: String,
    seed: u64,
    measures: Vec<Option<f64>>,
    flows: Vec<FlowRecord>,
}

impl<'a> Done<'a> {
    /// These measures of a run, and its flows if they are wanted.
    pub(crate) fn new(
        cell: &'a ShardCell,
        scenario: String,
        record: RunRecord,
        measures: &[String],
        flows: bool,
    ) -> Self {
        let measures = values(&record, measures);
        let RunRecord { discipline, seed, flows: records, .. } = record;
        Done { cell, scenario, discipline, seed, measures, flows: if flows { records } else { Vec::new() } }
    }
}

/// A row for each run, with these measures.
pub(crate) fn runs(
    done: &[Done<'_>],
    axes: &[String],
    measures: &[String],
) -> Result<RecordBatch, ArrowError> {
    let all: Vec<&Done<'_>> = done.iter().collect();
    let mut columns = identity(&all, axes);
    for (at, name) in measures.iter().enumerate() {
        // A cause for which nothing was dropped is absent from a record.
        let absent = name.starts_with("drops.").then_some(0.0);
        let column: Float64Array = done.iter().map(|done| done.measures[at].or(absent)).collect();
        columns.push((name.clone(), Arc::new(column)));
    }
    columns::named(columns)
}

/// A row for each run and flow, with the fields of its record.
pub(crate) fn flows(done: &[Done<'_>], axes: &[String]) -> Result<RecordBatch, ArrowError> {
    let each = || done.iter().flat_map(|done| done.flows.iter().map(move |flow| (done, flow)));
    let all: Vec<&Done<'_>> = each().map(|(done, _)| done).collect();
    let mut columns = identity(&all, axes);
    let records = columns::table(each().map(|(_, flow): (_, &FlowRecord)| flow))?;
    let names = records.schema();
    columns.extend(
        names.fields().iter().map(|field| field.name().clone()).zip(records.columns().iter().cloned()),
    );
    columns::named(columns)
}

/// The columns that say of what run a row is.
fn identity(rows: &[&Done<'_>], axes: &[String]) -> Vec<(String, ArrayRef)> {
    let texts = |of: &dyn Fn(&Done<'_>) -> String| {
        let all: Vec<String> = rows.iter().map(|done| of(done)).collect();
        shared(&all.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let mut columns = vec![
        (CELL.to_owned(), texts(&|done| done.cell.hash.clone())),
        ("engine".to_owned(), texts(&|_| ENGINE.to_owned())),
        ("scenario".to_owned(), texts(&|done| done.scenario.clone())),
    ];
    for (at, key) in axes.iter().enumerate() {
        let values: Vec<&Value> = rows.iter().map(|done| &done.cell.values[at]).collect();
        columns.push((key.clone(), values_column(values.into_iter(), shared)));
    }
    columns.push(("given".to_owned(), texts(&|done| done.cell.given.clone())));
    columns.push((crate::plan::DISCIPLINE.to_owned(), texts(&|done| done.discipline.clone())));
    columns
        .push((SEED.to_owned(), Arc::new(rows.iter().map(|done| Some(done.seed)).collect::<UInt64Array>())));
    columns
}
