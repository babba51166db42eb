//! Unlimited data.

use super::at::{About, At, NoOffer, Offer, SourceSpec};
use fairwire_parameters::parameters;

pub(super) const ABOUT: About = About::tcp("A TCP with endless data.");

/// Unlimited data has no parameters.
#[parameters(name = "bulk")]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BulkSpec {}

impl SourceSpec for BulkSpec {
    fn offers(&self, _: At<'_>) -> Result<Offer, NoOffer> {
        Ok(Offer::Endless)
    }
}
