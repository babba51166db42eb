//! The JSON Schema of scenario files, for editors.

use crate::spec::Spec;

/// The JSON Schema (draft 2020-12) of a scenario.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Spec).to_value()
}
