//! A kernel's figures as they were measured, one row for each cell.

use crate::Failure;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The figures of one cell on one stage: means over its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The plan that has the cell.
    pub plan: String,
    /// The cell's name there.
    pub cell: String,
    /// The stage.
    pub stage: String,
    /// The kernel's version.
    pub kernel: String,
    /// Runs, each under a seed of its own.
    pub runs: usize,
    /// The link's mean rate, bit/s.
    pub rate_bps: f64,
    /// Payload that the receiver read, bit/s.
    pub goodput_bps: f64,
    /// The part of the link that was busy.
    pub utilization: f64,
}

impl Figure {
    /// Is it of the same cell?
    pub fn is_of(&self, plan: &str, cell: &str) -> bool {
        self.plan == plan && self.cell == cell
    }
}

/// The figures in `file`; none where there is no file.
///
/// # Errors
/// A file of another kind.
pub fn read(file: &Path) -> Result<Vec<Figure>, Failure> {
    if !file.exists() {
        return Ok(Vec::new());
    }
    let why = |error: csv::Error| Failure::User(format!("{}: {error}", file.display()));
    csv::Reader::from_path(file).map_err(why)?.deserialize().collect::<Result<_, _>>().map_err(why)
}

/// Writes `rows` with a head into `file`.
///
/// # Errors
/// A file that cannot be written.
pub fn write<T: Serialize>(file: &Path, rows: &[T]) -> Result<(), Failure> {
    let why = |error: csv::Error| Failure::Machine(format!("writing {}: {error}", file.display()));
    let mut writer = csv::Writer::from_path(file).map_err(why)?;
    rows.iter().try_for_each(|row| writer.serialize(row)).map_err(why)?;
    writer.flush().map_err(|error| why(error.into()))
}
