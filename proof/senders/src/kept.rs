//! A kernel's stored figures, one row per cell.

use crate::Failure;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The results of one cell on one stage: means over the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The plan of the cell.
    pub plan: String,
    /// The cell's name in the plan.
    pub cell: String,
    /// The stage.
    pub stage: String,
    /// The kernel's version.
    pub kernel: String,
    /// The number of runs, which have different seeds.
    pub runs: usize,
    /// The link's mean rate, bit/s.
    pub rate_bps: f64,
    /// The payload that the receiver read, bit/s.
    pub goodput_bps: f64,
    /// The share of the time that the link was busy.
    pub utilization: f64,
}

impl Figure {
    /// Does this figure belong to the cell `cell` of `plan`?
    pub fn is_of(&self, plan: &str, cell: &str) -> bool {
        self.plan == plan && self.cell == cell
    }
}

/// The figures in `file`; empty if the file does not exist.
///
/// # Errors
/// A file in another format.
pub fn read(file: &Path) -> Result<Vec<Figure>, Failure> {
    if !file.exists() {
        return Ok(Vec::new());
    }
    let why = |error: csv::Error| Failure::User(format!("{}: {error}", file.display()));
    csv::Reader::from_path(file).map_err(why)?.deserialize().collect::<Result<_, _>>().map_err(why)
}

/// Writes `rows` with a heading into `file`.
///
/// # Errors
/// If the file cannot be written.
pub fn write<T: Serialize>(file: &Path, rows: &[T]) -> Result<(), Failure> {
    let why = |error: csv::Error| Failure::Machine(format!("writing {}: {error}", file.display()));
    let mut writer = csv::Writer::from_path(file).map_err(why)?;
    rows.iter().try_for_each(|row| writer.serialize(row)).map_err(why)?;
    writer.flush().map_err(|error| why(error.into()))
}
