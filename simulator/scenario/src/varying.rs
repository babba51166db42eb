//! How a link changes, as given.

use fairwire_core::{Duration, Rate};
use fairwire_laws::spec::Quantity;
use schemars::JsonSchema;
use serde::Deserialize;

/// What a link is from a time on: one at least of another rate, another delay and a time for which
/// it is down.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeSpec {
    /// From when on, counted from the start of the run.
    pub at: Quantity<Duration>,
    /// The rate from then on. Default: as it was.
    pub rate: Option<Quantity<Rate>>,
    /// The propagation delay of what is sent from then on, one way. Default: as it was.
    pub delay: Option<Quantity<Duration>>,
    /// For how long it sends nothing. Default: it sends all the time.
    pub down: Option<Quantity<Duration>>,
}

/// The changes of a link, from one table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Varying<'a> {
    pub(crate) changes: Option<&'a Vec<ChangeSpec>>,
    pub(crate) trace: Option<&'a String>,
}
