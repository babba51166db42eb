//! TCP connections in succession.

use super::at::{About, At, NoOffer, Offer, SourceSpec};
use fairwire_core::Duration;
use fairwire_parameters::{Quantity, parameters};
use fairwire_sim::app::{Load, Sequence};

pub(super) const ABOUT: About =
    About::tcp("TCP connections with endless data, one after the other, each cut off after a time.");

/// TCP connections with unlimited data, in succession, each cut off after a time.
#[parameters(name = "sequence", checked = Checked)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SequenceSpec {
    /// The time for which each connection sends before the next one replaces it, from 1 us to
    /// 1000000 s.
    #[parameter(default = "5 s", source = "A. Kamra et al., 2003.")]
    pub lasts: Option<Quantity<Duration>>,
}

impl SourceSpec for SequenceSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, NoOffer> {
        let Checked { lasts } = self.checked()?;
        Ok(Offer::Tcp(Load::Sequence(Sequence { lasts: at.gap("lasts", lasts)? })))
    }
}
