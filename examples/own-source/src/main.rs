//! The command `fairwire` with a source `pairs`: two packets at once, followed by a pause.

use fairwire_core::units::Size;
use fairwire_core::{Duration, Rng, Time};
use fairwire_parameters::{Quantity, parameters};
use fairwire_scenario::source::{self, About, At, NoOffer, Offer, SourceSpec};
use fairwire_sim::app::{DatagramSource, Emission, Law, OutsideTraffic, Sampler, Traffic};
use std::process::ExitCode;

const NAME: &str = "pairs";
const ABOUT: About = About::datagrams("Pairs of packets at random times.");

/// Parameters of `pairs`.
#[parameters(checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The mean time from one pair to the next.
    #[parameter(default = "10 ms", min = "1 us", max = "1 h")]
    pub gap: Option<Quantity<Duration>>,
    /// Bytes on the wire per packet.
    #[parameter(default = "512 B", min = "64 B", max = "9000 B")]
    pub packet: Option<Quantity<Size>>,
}

impl SourceSpec for Spec {
    fn offers(&self, _: At<'_>) -> Result<Offer, NoOffer> {
        let Checked { gap, packet } = self.checked()?;
        let packet_bytes = packet.0 as u32;
        let gap = Law::Exponential { mean: gap.secs() };
        let pairs = move |_| Pairs { gap: gap.sampler(), bytes: packet_bytes, is_second: false };
        let traffic = Traffic::Outside(OutsideTraffic::new(NAME, packet_bytes, pairs));
        Ok(Offer::Datagrams { traffic, packet_bytes })
    }
}

/// A running source.
#[derive(Debug)]
struct Pairs {
    gap: Sampler,
    bytes: u32,
    is_second: bool,
}

impl DatagramSource for Pairs {
    fn next(&mut self, now: Time, rng: &mut Rng) -> Option<Emission> {
        let at = if self.is_second { now } else { now + self.gap.duration(rng) };
        self.is_second = !self.is_second;
        Some(Emission::of(self.bytes, at))
    }
}

fn main() -> ExitCode {
    fairwire_command::main_with([source::register::<Spec>(ABOUT)])
}
