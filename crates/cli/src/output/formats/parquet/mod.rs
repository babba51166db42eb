//! Records of flows in Apache Parquet, in a build that has it.

#[cfg(feature = "parquet")]
mod columns;

use crate::output::format::{Flows, Format};

pub(super) const FORMAT: Format = Format { flows: Some(FLOWS), missing: MISSING, ..Format::new("parquet") };

#[cfg(feature = "parquet")]
const FLOWS: Flows =
    |path, report| columns::write(path, report).map_err(|error| crate::output::file::fault(path, &error));
#[cfg(feature = "parquet")]
const MISSING: Option<[&str; 2]> = None;

#[cfg(not(feature = "parquet"))]
const FLOWS: Flows = |_, _| unreachable!("it was refused before the run");
#[cfg(not(feature = "parquet"))]
const MISSING: Option<[&str; 2]> = Some([
    "this fairwire was built without Parquet",
    "allowed: a file with the extension .csv; for .parquet build it with `cargo build --release -p fairwire --features parquet`",
]);
