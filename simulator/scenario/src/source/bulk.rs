//! Endless data.

use super::at::{About, At, Offer, Source};
use crate::fault::Fault;
use fairwire_parameters::parameters;

/// Its description.
pub(super) const ABOUT: About = About::tcp("A TCP with endless data.");

/// Endless data has no parameters.
#[parameters(name = "bulk")]
#[derive(Clone, Copy, Debug, Default)]
pub struct BulkSpec {}

impl Source for BulkSpec {
    fn offers(&self, _: At<'_>) -> Result<Offer, Fault> {
        Ok(Offer::Endless)
    }
}
