//! One endless transfer after the other.

use super::at::{About, At, Offer, Source};
use crate::fault::Fault;
use fairwire_core::Duration;
use fairwire_laws::spec::Quantity;
use fairwire_sim::app::{Load, Sequence};
use schemars::JsonSchema;
use serde::Deserialize;

/// What is told of it.
pub(super) const ABOUT: About = About::tcp("One endless TCP transfer after the other.");

/// One endless transfer after the other.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SequenceSpec {
    /// How long each lasts. Default: "5 s".
    pub lasts: Option<Quantity<Duration>>,
}

impl Source for SequenceSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, Fault> {
        Ok(Offer::Tcp(Load::Sequence(Sequence {
            lasts: at.gap("lasts", self.lasts, Sequence::default().lasts)?,
        })))
    }
}
