//! A Poisson process of packets.

use super::at::{About, At, Offer, PACKET, Source, whole_bytes};
use crate::fault::Fault;
use crate::law::LawSpec;
use fairwire_core::Duration;
use fairwire_core::units::Size;
use fairwire_laws::spec::Quantity;
use fairwire_sim::app::{Law, Poisson, Traffic};
use schemars::JsonSchema;
use serde::Deserialize;

/// What is told of it.
pub(super) const ABOUT: About = About::datagrams("Datagrams at random times.");

/// A Poisson process of packets.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonSpec {
    /// Mean time between packets.
    pub mean_gap: Quantity<Duration>,
    /// Bytes on the wire per packet. Default: 512 each.
    pub size: Option<LawSpec<Size>>,
}

impl Source for PoissonSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, Fault> {
        let mean_gap = at.gap("mean_gap", self.mean_gap.0)?;
        let size = at.law("size", self.size.as_ref(), Law::Fixed(PACKET.into()))?;
        let about = self.size.as_ref().map_or(f64::from(PACKET), LawSpec::about);
        at.carried("mean_gap", about * 8.0 / mean_gap.secs())?;
        Ok(Offer::Datagrams {
            traffic: Traffic::Poisson(Poisson { mean_gap, size }),
            packet_bytes: whole_bytes(about),
        })
    }
}
