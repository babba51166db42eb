//! Bursts at a constant rate, with pauses between.

use super::at::{About, At, Offer, PACKET, Source, bytes_or};
use crate::fault::Fault;
use crate::law::{LawSpec, Packets};
use fairwire_core::units::Size;
use fairwire_core::{Duration, Rate};
use fairwire_laws::spec::Quantity;
use fairwire_sim::app::{Law, OnOff, Traffic};
use schemars::JsonSchema;
use serde::Deserialize;

/// What is told of it.
pub(super) const ABOUT: About =
    About::datagrams("Bursts of datagrams at a constant rate, with pauses between.");

/// Bursts at a constant rate, with pauses between.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOffSpec {
    /// Bits per second on the wire within a burst.
    pub rate: Quantity<Rate>,
    /// Bytes on the wire per packet. Default: "512 B".
    pub packet: Option<Quantity<Size>>,
    /// Packets per burst, before rounding to whole ones, at least one.
    pub burst: LawSpec<Packets>,
    /// Time between bursts.
    pub idle: LawSpec<Duration>,
}

impl Source for OnOffSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, Fault> {
        let rate = self.rate.0;
        at.carried("rate", rate.bps() as f64)?;
        let packet_bytes = bytes_or(self.packet, PACKET);
        let burst = at.law("burst", Some(&self.burst), Law::Fixed(1.0))?;
        let idle = at.law("idle", Some(&self.idle), Law::Fixed(0.0))?;
        Ok(Offer::Datagrams {
            traffic: Traffic::OnOff(OnOff { rate, packet_bytes, burst, idle }),
            packet_bytes,
        })
    }
}
