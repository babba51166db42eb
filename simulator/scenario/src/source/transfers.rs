//! Files, each over a separate connection.

use super::at::{About, At, NoOffer, Offer, SourceSpec};
use crate::law::LawSpec;
use fairwire_core::Duration;
use fairwire_core::units::Size;
use fairwire_metrics::Kind;
use fairwire_parameters::{Quantity, parameters};
use fairwire_sim::app::{Arrivals, Law, Load, Transfers};

pub(super) const ABOUT: About = About {
    timed: &[Kind::Transfer],
    example: EXAMPLE,
    ..About::tcp("Files, each over a TCP connection of its own.")
};
const EXAMPLE: &str = "size = { fixed = \"10 kB\" }, mean_gap = \"100 ms\"";

/// Files, each over a separate connection.
#[parameters(name = "transfers", checked = Checked)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TransfersSpec {
    /// Bytes per file, sent in full segments.
    #[parameter(required, unit = "law of sizes")]
    pub size: Option<LawSpec<Size>>,
    /// The pause between the end of a transfer and the start of the next, instead of `mean_gap`.
    #[parameter(unset = "none, with `mean_gap`", unit = "law of times")]
    pub think: Option<LawSpec<Duration>>,
    /// The mean gap between the starts of transfers. The starts form a Poisson process.
    #[parameter(unset = "none, with `think`")]
    pub mean_gap: Option<Quantity<Duration>>,
    /// The maximum number of simultaneous transfers; further transfers wait. Only with `mean_gap`.
    #[parameter(unset = "32", unit = "connections")]
    pub connections: Option<u16>,
}

impl SourceSpec for TransfersSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, NoOffer> {
        let Checked { size } = self.checked()?;
        let size = at.law("size", Some(&size), Law::Fixed(0.0))?;
        let arrivals = match (&self.think, self.mean_gap) {
            (Some(_), None) if self.connections.is_some() => {
                let why = "with `think` there is one connection at a time";
                let allowed = "leave `connections` out, or use `mean_gap` instead of `think`";
                return Err(at.refuse("connections", "given", why, allowed));
            }
            (Some(think), None) => Arrivals::Think(at.law("think", Some(think), Law::Fixed(0.0))?),
            (None, Some(mean_gap)) => Arrivals::Poisson {
                mean_gap: at.gap("mean_gap", mean_gap.0)?,
                connections: at.connections(self.connections.unwrap_or(32))?,
            },
            (Some(_), Some(_)) => {
                let why = "`think` says already when transfers begin";
                return Err(at.refuse("mean_gap", "given", why, "`think` or `mean_gap`, not both"));
            }
            (None, None) => return Err(at.missing("think", "or `mean_gap`")),
        };
        Ok(Offer::Tcp(Load::Transfers(Transfers { size, arrivals })))
    }
}
