//! Keystrokes.

use super::at::{About, At, NoOffer, Offer, SourceSpec};
use fairwire_core::Duration;
use fairwire_parameters::{Quantity, parameters};
use fairwire_sim::app::{Load, Telnet};

pub(super) const ABOUT: About = About::tcp("Keystrokes over TCP: a full segment after each exponential gap.");

/// Keystrokes.
#[parameters(name = "telnet", checked = Checked)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TelnetSpec {
    /// Mean time between segments.
    #[parameter(default = "5 ms", source = "A. Kamra et al., 2003.")]
    pub mean_gap: Option<Quantity<Duration>>,
}

impl SourceSpec for TelnetSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, NoOffer> {
        let Checked { mean_gap } = self.checked()?;
        let mean_gap = at.gap("mean_gap", mean_gap)?;
        Ok(Offer::Tcp(Load::Telnet(Telnet { mean_gap })))
    }
}
