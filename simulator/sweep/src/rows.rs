//! The rows of runs in a store.

use crate::columns::{Cells, Column, Table};
use crate::records;
use crate::shard::ShardCell;
use crate::store::{CELL, SEED};
use fairwire_metrics::record::{FlowRecord, RunRecord};
use fairwire_metrics::summary::values;
use fairwire_scenario::ENGINE;

pub(crate) struct Done<'a> {
    cell: &'a ShardCell,
    scenario: String,
    discipline: String,
    seed: u64,
    measures: Vec<Option<f64>>,
    flows: Vec<FlowRecord>,
}

impl<'a> Done<'a> {
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

pub(crate) fn runs(done: &[Done<'_>], axes: &[String], measures: &[String]) -> Table {
    let all: Vec<&Done<'_>> = done.iter().collect();
    let mut columns = identity(&all, axes);
    for (at, name) in measures.iter().enumerate() {
        // A record omits causes without drops: their count is 0.
        let absent = name.starts_with("drops.").then_some(0.0);
        let numbers = done.iter().map(|done| done.measures[at].or(absent)).collect();
        columns.push(Column::new(name, Cells::Reals(numbers)));
    }
    Table::new(columns)
}

pub(crate) fn flows(done: &[Done<'_>], axes: &[String]) -> Table {
    let each = || done.iter().flat_map(|done| done.flows.iter().map(move |flow| (done, flow)));
    let all: Vec<&Done<'_>> = each().map(|(done, _)| done).collect();
    let mut columns = identity(&all, axes);
    let records = records::table(each().map(|(_, flow): (_, &FlowRecord)| flow));
    columns.extend(records.into_columns());
    Table::new(columns)
}

fn identity(rows: &[&Done<'_>], axes: &[String]) -> Vec<Column> {
    let texts = |name: &str, of: for<'b> fn(&'b Done<'_>) -> &'b str| {
        Column::new(name, Cells::texts(rows.iter().map(|done| of(done))))
    };
    let mut columns = vec![
        texts(CELL, |done| &done.cell.hash),
        texts("engine", |_| ENGINE),
        texts("scenario", |done| &done.scenario),
    ];
    for (at, key) in axes.iter().enumerate() {
        let values = rows.iter().map(|done| &done.cell.values[at]);
        columns.push(Column::new(key, Cells::of_values(values)));
    }
    columns.push(texts("given", |done| &done.cell.given));
    columns.push(texts(crate::plan::DISCIPLINE, |done| &done.discipline));
    columns.push(Column::new(SEED, Cells::counts(rows.iter().map(|done| done.seed))));
    columns
}
