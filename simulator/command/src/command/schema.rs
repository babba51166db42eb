//! `fairwire schema`.

use crate::args::SchemaKind;
use crate::report;
use fairwire_metrics::record::Report;
use fairwire_terminal::failure::{Ending, Failure};

pub(crate) fn schema(which: SchemaKind) -> Result<Ending, Failure> {
    let schema = match which {
        SchemaKind::Scenario => fairwire_scenario::schema(),
        SchemaKind::Sweep => schemars::schema_for!(fairwire_sweep::SweepSpec).to_value(),
        SchemaKind::Results => schemars::schema_for!(Report).to_value(),
    };
    report::print(format!("{schema:#}\n").as_bytes())?;
    Ok(Ending::Done)
}
