//! Packets at a constant rate.

use super::at::{About, At, NoOffer, Offer, SourceSpec};
use super::codepoint::Marking;
use fairwire_core::units::Size;
use fairwire_core::{Ecn, Rate};
use fairwire_parameters::{Quantity, parameters};

pub(super) const ABOUT: About =
    About { example: "rate = \"1 Mbit/s\"", ..About::datagrams("Constant bit rate over UDP.") };

/// Packets at a constant rate.
#[parameters(name = "cbr", checked = Checked)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CbrSpec {
    /// Bits per second on the wire.
    #[parameter(required)]
    pub rate: Option<Quantity<Rate>>,
    /// Bytes on the wire per packet; must exceed the headers.
    #[parameter(default = "512 B", max = "65535 B")]
    pub packet: Option<Quantity<Size>>,
    /// Each gap between packets is scaled by a factor uniform in [1 - dither, 1 + dither].
    #[parameter(default = 0.0, min = 0.0, max = 1.0, unit = "1")]
    pub dither: Option<f64>,
    /// The ECN codepoint.
    #[parameter(flatten)]
    pub marking: Marking,
}

impl SourceSpec for CbrSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, NoOffer> {
        let Checked { rate, packet, dither } = self.checked()?;
        let most = at.access;
        if rate > most.0 {
            let why = format!("the flow's own link, `access`, sends only {most}");
            return Err(at.refuse("rate", rate, why, format!("1 bit/s to {most}")));
        }
        let packet_bytes = at.packet(packet)?;
        Ok(Offer::Constant { rate, packet_bytes, dither })
    }

    fn ecn(&self) -> Ecn {
        self.marking.ecn()
    }
}
