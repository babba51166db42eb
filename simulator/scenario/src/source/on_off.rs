//! Bursts at a constant rate, separated by pauses.

use super::at::{About, At, NoOffer, Offer, SourceSpec, bytes};
use super::codepoint::Marking;
use crate::law::{LawSpec, Packets};
use fairwire_core::units::Size;
use fairwire_core::{Duration, Ecn, Rate};
use fairwire_parameters::{Quantity, parameters};
use fairwire_sim::app::{Law, OnOff, Traffic};

pub(super) const ABOUT: About = About {
    example: EXAMPLE,
    ..About::datagrams("Bursts of datagrams at a constant rate, with pauses between.")
};
const EXAMPLE: &str =
    "rate = \"1 Mbit/s\", burst = { fixed = \"10 packets\" }, idle = { exponential = \"1 s\" }";

/// Bursts at a constant rate, separated by pauses.
#[parameters(name = "on-off", checked = Checked)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OnOffSpec {
    /// Bits per second on the wire within a burst.
    #[parameter(required)]
    pub rate: Option<Quantity<Rate>>,
    /// Bytes on the wire per packet.
    #[parameter(default = "512 B")]
    pub packet: Option<Quantity<Size>>,
    /// Packets per burst, rounded to an integer of at least 1.
    #[parameter(required, unit = "law of packets")]
    pub burst: Option<LawSpec<Packets>>,
    /// Time between bursts.
    #[parameter(required, unit = "law of times")]
    pub idle: Option<LawSpec<Duration>>,
    /// The ECN codepoint.
    #[parameter(flatten)]
    pub marking: Marking,
}

impl SourceSpec for OnOffSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, NoOffer> {
        let Checked { rate, packet, burst, idle } = self.checked()?;
        at.carried("rate", rate.bps() as f64)?;
        let packet_bytes = bytes(packet);
        let burst = at.law("burst", Some(&burst), Law::Fixed(1.0))?;
        let idle = at.law("idle", Some(&idle), Law::Fixed(0.0))?;
        Ok(Offer::Datagrams {
            traffic: Traffic::OnOff(OnOff { rate, packet_bytes, burst, idle }),
            packet_bytes,
        })
    }

    fn ecn(&self) -> Ecn {
        self.marking.ecn()
    }
}
