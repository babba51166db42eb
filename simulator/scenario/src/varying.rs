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

/// A part of a pattern: a rate and for how long, or for how long the link is down.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartSpec {
    /// The rate.
    pub rate: Option<Quantity<Rate>>,
    /// For how long; above 0.
    #[serde(rename = "for")]
    pub length: Option<Quantity<Duration>>,
    /// For how long it sends nothing, in place of both; above 0. What waits goes on waiting.
    pub down: Option<Quantity<Duration>>,
}

/// How a link changes, from one table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Varying<'a> {
    pub(crate) changes: Option<&'a Vec<ChangeSpec>>,
    pub(crate) pattern: Option<&'a Vec<PartSpec>>,
    pub(crate) trace: Option<&'a String>,
    pub(crate) scale_to: Option<Quantity<Rate>>,
    pub(crate) delays: Option<&'a String>,
}
