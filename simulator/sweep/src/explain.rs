//! Why a run is not in the store: which input changed.

use crate::columns::Table;
use crate::error::SweepError;
use crate::plan::{Plan, Run, Stores};
use crate::store::StoreError;
use crate::values::Value;
use fairwire_scenario::ENGINE;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Whether a run is stored and, if it is missing, why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Explained {
    /// The run is in the store.
    Stored,
    /// The run is stored, but without these items that the plan keeps.
    Kept(Vec<String>),
    /// The store has no run with these values, this discipline and this seed.
    New,
    /// The store has a run with these values, this discipline and this seed, but these inputs
    /// differed.
    Changed(Vec<String>),
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Explained::Stored => f.write_str("it is in the store"),
            Explained::Kept(missing) => {
                write!(f, "the run is in the store, without what the plan keeps now: {}", missing.join(", "))
            }
            Explained::New => {
                f.write_str("no run with these values, this discipline and this seed is in the store")
            }
            Explained::Changed(inputs) => {
                write!(f, "a run with these values is in the store, of other inputs: {}", inputs.join("; "))
            }
        }
    }
}

impl Plan {
    /// The run of row number `row`; `None` after the last row. Rows are numbered from 0, by cell
    /// and then by seed.
    pub fn run_of_row(&self, row: usize) -> Option<Run> {
        let run = Run { cell: row / self.seeds.len(), seed: row % self.seeds.len() };
        (run.cell < self.cells.len()).then_some(run)
    }

    /// Explains why `run` is missing in the store.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn explain(&self, run: Run, stores: &Stores) -> Result<Explained, SweepError> {
        let (cell, seed) = (&self.cells[run.cell], self.seeds[run.seed]);
        let has = |columns: &[String]| -> Result<bool, StoreError> {
            let runs = stores.runs.runs(columns)?;
            Ok(runs.get(&cell.hash).is_some_and(|seeds| seeds.contains(&seed)))
        };
        if has(&[])? {
            let mut missing: Vec<String> = Vec::new();
            for name in &self.measures {
                if !has(std::slice::from_ref(name))? {
                    missing.push(format!("`{name}`"));
                }
            }
            let flows = stores.flows.runs(&[])?;
            if self.flows && !flows.get(&cell.hash).is_some_and(|seeds| seeds.contains(&seed)) {
                missing.push("the records of flows".into());
            }
            return Ok(if missing.is_empty() { Explained::Stored } else { Explained::Kept(missing) });
        }
        let mut nearest: Option<Vec<String>> = None;
        for part in stores.runs.parts()? {
            let mut of_part = None;
            stores.runs.rows_of(&part, &mut |batch| {
                let is_like =
                    |row: &usize| batch.run(*row).1 == seed && self.is_like(run, batch.rows(), *row);
                if let Some(row) = (0..batch.len()).find(is_like) {
                    of_part.get_or_insert_with(|| self.differences(run, batch.rows(), row));
                }
            })?;
            if let Some(mut inputs) = of_part {
                inputs.extend(
                    self.scenario_differences(part.about("fairwire.scenario"), part.about("fairwire.set")),
                );
                if nearest.as_ref().is_none_or(|nearest| inputs.len() < nearest.len()) {
                    nearest = Some(inputs);
                }
            }
        }
        Ok(match nearest {
            None => Explained::New,
            Some(inputs) if inputs.is_empty() => {
                Explained::Changed(vec!["a file that the scenario names".into()])
            }
            Some(inputs) => Explained::Changed(inputs),
        })
    }

    fn is_like(&self, run: Run, rows: &Table, row: usize) -> bool {
        let cell = &self.cells[run.cell];
        let has = |name: &str, value: &Value| match (text(rows, name, row), number(rows, name, row), value) {
            (Some(here), _, Value::Text(text)) => here == text,
            (_, Some(here), Value::Number(number)) => here == *number,
            _ => false,
        };
        self.axes.iter().zip(&cell.at).all(|(axis, at)| has(&axis.key, &axis.values[*at].1))
            && text(rows, crate::plan::DISCIPLINE, row) == Some(&cell.discipline)
    }

    fn differences(&self, run: Run, rows: &Table, row: usize) -> Vec<String> {
        let mut inputs = Vec::new();
        let engine = text(rows, "engine", row).unwrap_or_default();
        if engine != ENGINE {
            inputs.push(format!("the engine was {engine} and is {ENGINE}"));
        }
        let (before, now) = (text(rows, "given", row).unwrap_or_default(), &*self.cells[run.cell].given);
        if before != now {
            inputs.push(format!("the discipline was given as `{before}` and is `{now}`"));
        }
        inputs
    }

    fn scenario_differences(&self, text: Option<&str>, set: Option<&str>) -> Vec<String> {
        let values = |text: &str, set: &[String]| {
            let mut all = BTreeMap::new();
            if let Ok(table) = text.parse::<toml::Table>() {
                flatten("", &toml::Value::Table(table), &mut all);
            }
            for change in set {
                let (key, value) = change.split_once('=').unwrap_or((change, ""));
                all.insert(format!("--set {}", key.trim()), value.trim().to_owned());
            }
            all
        };
        let set: Vec<String> = set.and_then(|set| serde_json::from_str(set).ok()).unwrap_or_default();
        let (before, now) = (values(text.unwrap_or_default(), &set), values(&self.base.text, &self.base.set));
        let keys: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let shown = |value: Option<&String>| value.map_or("missing".to_owned(), |value| format!("`{value}`"));
        let is_other = |key: &&String| before.get(*key) != now.get(*key);
        keys.into_iter()
            .filter(is_other)
            .map(|key| format!("`{key}` was {} and is {}", shown(before.get(key)), shown(now.get(key))))
            .collect()
    }
}

fn flatten(path: &str, value: &toml::Value, all: &mut BTreeMap<String, String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        toml::Value::Table(table) => table.iter().for_each(|(key, value)| flatten(&below(key), value, all)),
        toml::Value::Array(items) if items.iter().all(toml::Value::is_table) => {
            items.iter().enumerate().for_each(|(at, value)| flatten(&below(&at.to_string()), value, all));
        }
        other => drop(all.insert(path.to_owned(), other.to_string())),
    }
}

fn text<'a>(rows: &'a Table, name: &str, row: usize) -> Option<&'a str> {
    rows.column(name)?.text(row)
}

fn number(rows: &Table, name: &str, row: usize) -> Option<f64> {
    rows.column(name)?.real(row)
}
