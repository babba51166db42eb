//! How the rate of a link changes, as given.

use fairwire_core::{Duration, Rate};
use fairwire_laws::spec::Quantity;
use schemars::JsonSchema;
use serde::Deserialize;

/// A link's rate from a time on.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeSpec {
    /// From when on, counted from the start of the run.
    pub at: Quantity<Duration>,
    /// The rate from then on.
    pub rate: Quantity<Rate>,
}

/// The changes of a link's rate, from one table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Varying<'a> {
    pub(crate) changes: Option<&'a Vec<ChangeSpec>>,
    pub(crate) trace: Option<&'a String>,
}
