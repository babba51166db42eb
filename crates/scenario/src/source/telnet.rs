//! Keystrokes.

use super::at::{About, At, Offer, Source};
use crate::fault::Fault;
use fairwire_core::Duration;
use fairwire_laws::spec::Quantity;
use fairwire_sim::app::{Load, Telnet};
use schemars::JsonSchema;
use serde::Deserialize;

/// What is told of it.
pub(super) const ABOUT: About = About::tcp("Keystrokes over TCP.");

/// Keystrokes.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TelnetSpec {
    /// Mean time between segments. Default: "5 ms".
    pub mean_gap: Option<Quantity<Duration>>,
}

impl Source for TelnetSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, Fault> {
        let mean_gap = at.gap("mean_gap", self.mean_gap, Telnet::default().mean_gap)?;
        Ok(Offer::Tcp(Load::Telnet(Telnet { mean_gap })))
    }
}
