//! Records of flows: CSV, or Parquet with the same columns in a build that has it.

use super::file;
#[cfg(feature = "parquet")]
use super::parquet;
use super::wishes::Place;
use crate::failure::Failure;
use crate::report::csv;
use fairwire_metrics::record::Report;
use fairwire_scenario::OutputSpec;
use std::path::Path;

/// How records of flows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Csv,
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Form {
    /// What the ending of `place` asks for, proven to be possible.
    pub(super) fn of(place: &Place<'_>) -> Result<Self, Failure> {
        match place.prove(OutputSpec::FLOWS)? {
            "csv" => Ok(Form::Csv),
            #[cfg(feature = "parquet")]
            _ => Ok(Form::Parquet),
            #[cfg(not(feature = "parquet"))]
            _ => Err(place.refused(
                "this fairwire was built without Parquet",
                "allowed: a file that ends in .csv; for .parquet build it with `cargo build --release -p fairwire --features parquet`",
            )),
        }
    }
}

/// Writes a row per run and flow of `report` to `path`.
pub(super) fn write(path: &Path, form: Form, report: &Report) -> Result<(), Failure> {
    match form {
        Form::Csv => file::write(path, csv::flows(report)?.as_bytes()),
        #[cfg(feature = "parquet")]
        Form::Parquet => parquet::write(path, report).map_err(|error| file::fault(path, &error)),
    }
}
