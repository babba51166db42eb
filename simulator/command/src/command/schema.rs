//! `fairwire schema`.

use crate::args::SchemaKind;
use crate::failure::{Ending, Failure};
use crate::report;
use fairwire_gateway::telemetry::snapshot::Snapshot;
use fairwire_metrics::record::Report;

/// Prints a schema.
pub(crate) fn schema(which: SchemaKind) -> Result<Ending, Failure> {
    let schema = match which {
        SchemaKind::Scenario => fairwire_scenario::schema(),
        SchemaKind::Snapshot => schemars::schema_for!(Snapshot).to_value(),
        SchemaKind::Gateway => fairwire_gateway::config::schema(),
        SchemaKind::Sweep => schemars::schema_for!(fairwire_sweep::SweepSpec).to_value(),
        SchemaKind::Results => schemars::schema_for!(Report).to_value(),
    };
    report::print(format!("{schema:#}\n").as_bytes())?;
    Ok(Ending::Done)
}
