//! Bursts of segments, separated by pauses.

use super::at::{About, At, NoOffer, Offer, SourceSpec};
use crate::law::{LawSpec, Packets};
use fairwire_core::Duration;
use fairwire_metrics::Kind;
use fairwire_parameters::parameters;
use fairwire_sim::app::{Bursts, Load};

pub(super) const ABOUT: About =
    About { timed: &[Kind::Transfer], ..About::tcp("Bursts over TCP, with pauses between.") };

/// Bursts of segments, separated by pauses.
#[parameters(name = "bursts", checked = Checked)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BurstsSpec {
    /// Segments per burst, rounded to an integer of at least 1.
    #[parameter(
        unset = "Pareto, mean 15, shape 1.5",
        unit = "law of packets",
        source = "B. Suter et al., INFOCOM 1998, section 4."
    )]
    pub burst: Option<LawSpec<Packets>>,
    /// Time from a burst's delivery to the start of the next burst.
    #[parameter(
        unset = "exponential, 1 s",
        unit = "law of times",
        source = "B. Suter et al., INFOCOM 1998, section 4, gives the mean."
    )]
    pub idle: Option<LawSpec<Duration>>,
    /// Whether each burst is a new connection.
    #[parameter(default = false)]
    pub renews: Option<bool>,
}

impl SourceSpec for BurstsSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, NoOffer> {
        // `unset` above describes these defaults.
        let default = Bursts::default();
        let Checked { renews } = self.checked()?;
        Ok(Offer::Tcp(Load::Bursts(Bursts {
            burst: at.law("burst", self.burst.as_ref(), default.burst)?,
            idle: at.law("idle", self.idle.as_ref(), default.idle)?,
            renews,
        })))
    }
}
