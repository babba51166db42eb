//! Bursts of segments, with pauses between.

use super::at::{About, At, Offer, Source};
use crate::fault::Fault;
use crate::law::{LawSpec, Packets};
use fairwire_core::Duration;
use fairwire_sim::app::{Bursts, Load};
use schemars::JsonSchema;
use serde::Deserialize;

/// What is told of it.
pub(super) const ABOUT: About =
    About { timed: &["transfer"], ..About::tcp("Bursts over TCP, with pauses between.") };

/// Bursts of segments, with pauses between.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstsSpec {
    /// Segments per burst, before rounding to whole ones, at least one. Default: Pareto, mean 15, shape 1.5.
    pub burst: Option<LawSpec<Packets>>,
    /// Time from a burst's delivery to the next burst. Default: exponential, 1 s.
    pub idle: Option<LawSpec<Duration>>,
    /// Is each burst a new connection? Default: no.
    #[serde(default)]
    pub renews: bool,
}

impl Source for BurstsSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, Fault> {
        let default = Bursts::default();
        Ok(Offer::Tcp(Load::Bursts(Bursts {
            burst: at.law("burst", self.burst.as_ref(), default.burst)?,
            idle: at.law("idle", self.idle.as_ref(), default.idle)?,
            renews: self.renews,
        })))
    }
}
