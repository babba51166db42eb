//! A Poisson process of packets.

use super::at::{About, At, NoOffer, Offer, PACKET, SourceSpec, whole_bytes};
use super::codepoint::Marking;
use crate::law::LawSpec;
use fairwire_core::units::Size;
use fairwire_core::{Duration, Ecn};
use fairwire_parameters::{Quantity, parameters};
use fairwire_sim::app::{Law, Poisson, Traffic};

pub(super) const ABOUT: About =
    About { example: "mean_gap = \"10 ms\"", ..About::datagrams("Datagrams at random times.") };

/// A Poisson process of packets.
#[parameters(name = "poisson", checked = Checked)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PoissonSpec {
    /// Mean time between packets.
    #[parameter(required)]
    pub mean_gap: Option<Quantity<Duration>>,
    /// Bytes on the wire per packet.
    #[parameter(unset = "512 B each", unit = "law of sizes")]
    pub size: Option<LawSpec<Size>>,
    /// The ECN codepoint.
    #[parameter(flatten)]
    pub marking: Marking,
}

impl SourceSpec for PoissonSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, NoOffer> {
        let Checked { mean_gap } = self.checked()?;
        let mean_gap = at.gap("mean_gap", mean_gap)?;
        let size = at.law("size", self.size.as_ref(), Law::Fixed(PACKET.into()))?;
        let about = self.size.as_ref().map_or(f64::from(PACKET), LawSpec::about);
        at.carried("mean_gap", about * 8.0 / mean_gap.secs())?;
        Ok(Offer::Datagrams {
            traffic: Traffic::Poisson(Poisson { mean_gap, size }),
            packet_bytes: whole_bytes(about),
        })
    }

    fn ecn(&self) -> Ecn {
        self.marking.ecn()
    }
}
