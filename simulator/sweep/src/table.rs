//! A store's results for a plan, as a table and as means.

use crate::columns::{Cells, Column, Table};
use crate::plan::{Plan, Run, Stores};
use crate::store::{SEED, StoreError};
use fairwire_metrics::interval::estimate;
use fairwire_metrics::record::Estimate;
use std::collections::HashMap;

/// The measures of the runs in a store, by the index of each run in the plan.
#[derive(Debug)]
pub struct Values {
    seeds: usize,
    is_known: Vec<bool>,
    /// The values of each measure, by run; NaN if the run lacks the measure.
    values: Vec<Vec<f64>>,
}

impl Values {
    /// Reads the results present for `plan`.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn read(plan: &Plan, stores: &Stores) -> Result<Self, StoreError> {
        let mut values = Values {
            seeds: plan.seeds.len(),
            is_known: vec![false; plan.runs()],
            values: vec![vec![f64::NAN; plan.runs()]; plan.measures.len()],
        };
        let mut cells: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, cell) in plan.cells.iter().enumerate() {
            cells.entry(&cell.hash).or_default().push(at);
        }
        let seeds: HashMap<u64, usize> =
            plan.seeds.iter().enumerate().map(|(at, seed)| (*seed, at)).collect();
        let is_wanted = |part: &crate::store::Part| part.cells().any(|cell| cells.contains_key(cell));
        stores.runs.read(&plan.measures, is_wanted, |batch| {
            let columns: Vec<Option<&Cells>> =
                plan.measures.iter().map(|name| batch.rows().column(name)).collect();
            for row in 0..batch.len() {
                let (cell, seed) = batch.run(row);
                let (Some(cells), Some(&seed)) = (cells.get(&**cell), seeds.get(&seed)) else { continue };
                for cell in cells {
                    let at = cell * values.seeds + seed;
                    values.is_known[at] = true;
                    for (column, values) in columns.iter().zip(&mut values.values) {
                        if let Some(number) = column.and_then(|column| column.real(row)) {
                            values[at] = number;
                        }
                    }
                }
            }
        })?;
        Ok(values)
    }

    fn at(&self, run: Run) -> usize {
        run.cell * self.seeds + run.seed
    }

    /// Is the run present?
    pub fn has(&self, run: Run) -> bool {
        self.is_known[self.at(run)]
    }

    /// Measure number `measure` of the run, if the run has it.
    pub fn get(&self, measure: usize, run: Run) -> Option<f64> {
        Some(self.values[measure][self.at(run)]).filter(|value| !value.is_nan())
    }
}

/// Means of one cell.
#[derive(Clone, Debug)]
pub struct CellSummary {
    /// The index of the cell.
    pub cell: usize,
    /// The number of runs.
    pub runs: usize,
    /// The mean of each measure; `None` if no run has it.
    pub measures: Vec<Option<Estimate>>,
}

impl Plan {
    fn counted(&self, values: &Values) -> Vec<Run> {
        let runs = |cell: usize| {
            let seeds = match self.precision {
                None => self.seeds.len(),
                Some(precision) => self.seeds_of(values, cell, precision),
            };
            (0..seeds).map(move |seed| Run { cell, seed })
        };
        (0..self.cells.len()).flat_map(runs).filter(|run| values.has(*run)).collect()
    }

    /// A row for each stored run of the plan, in plan order. Columns are the axes, `discipline`,
    /// `seed` and the measures.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn table(&self, stores: &Stores) -> Result<Table, StoreError> {
        let values = Values::read(self, stores)?;
        let runs = self.counted(&values);
        let mut columns = self.axis_values(runs.iter().map(|run| run.cell));
        columns.push(Column::new(SEED, Cells::counts(runs.iter().map(|run| self.seeds[run.seed]))));
        for (at, name) in self.measures.iter().enumerate() {
            let numbers = runs.iter().map(|run| values.get(at, *run)).collect();
            columns.push(Column::new(name, Cells::Reals(numbers)));
        }
        Ok(Table::new(columns))
    }

    /// The means of each cell that has a run.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn summary(&self, stores: &Stores) -> Result<Vec<CellSummary>, StoreError> {
        let values = Values::read(self, stores)?;
        let runs = self.counted(&values);
        let cells = runs.chunk_by(|a, b| a.cell == b.cell);
        let summary = |runs: &[Run]| CellSummary {
            cell: runs[0].cell,
            runs: runs.len(),
            measures: (0..self.measures.len())
                .map(|at| estimate(&runs.iter().filter_map(|run| values.get(at, *run)).collect::<Vec<_>>()))
                .collect(),
        };
        Ok(cells.map(summary).collect())
    }

    /// The summary as a table with a row per cell. The first columns are the axes, `discipline` and
    /// `runs`. Two columns per measure follow: the mean, and half the width of its confidence
    /// interval (suffix `_half_width_95`).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn summary_table(&self, stores: &Stores) -> Result<Table, StoreError> {
        let summary = self.summary(stores)?;
        let mut columns = self.axis_values(summary.iter().map(|cell| cell.cell));
        columns.push(Column::new("runs", Cells::counts(summary.iter().map(|cell| cell.runs as u64))));
        for (at, name) in self.measures.iter().enumerate() {
            let of = |value: fn(&Estimate) -> Option<f64>| {
                Cells::Reals(summary.iter().map(|cell| cell.measures[at].as_ref().and_then(value)).collect())
            };
            columns.push(Column::new(name, of(|estimate| Some(estimate.mean))));
            columns.push(Column::new(format!("{name}_half_width_95"), of(|estimate| estimate.half_width_95)));
        }
        Ok(Table::new(columns))
    }

    /// A column for each axis, and one for the discipline, with a row for each of `cells`.
    pub fn axis_values(&self, cells: impl Iterator<Item = usize> + Clone) -> Vec<Column> {
        let of_axis = |(at, axis): (usize, &crate::plan::Axis)| {
            let values = cells.clone().map(|cell| &axis.values[self.cells[cell].at[at]].1);
            Column::new(&axis.key, Cells::of_values(values))
        };
        let mut columns: Vec<_> = self.axes.iter().enumerate().map(of_axis).collect();
        let disciplines = cells.map(|cell| &*self.cells[cell].discipline);
        columns.push(Column::new(crate::plan::DISCIPLINE, Cells::texts(disciplines)));
        columns
    }
}
