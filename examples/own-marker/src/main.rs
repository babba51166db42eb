//! The command `fairwire` with a marker `gcra`: a packet is in profile unless it comes too early.
//!
//! It is the generic cell rate algorithm of ITU-T I.371, annex A, in the form of virtual
//! scheduling.

use fairwire_catalogue::marker::{self, About, MarkerSpec};
use fairwire_catalogue::{BadParameter, Site};
use fairwire_core::{Duration, Marker, Packet, Rate, Time};
use fairwire_laws::error::Of as _;
use fairwire_laws::marker::{GREEN, YELLOW};
use fairwire_parameters::{Quantity, parameters};
use std::process::ExitCode;

const NAME: &str = "gcra";

const ABOUT: About =
    About { summary: "green unless it comes too early for its rate", source: "ITU-T I.371, annex A" };

/// Parameters of `gcra`.
#[parameters(checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The contract.
    #[parameter(unset = "the link's")]
    pub rate: Option<Quantity<Rate>>,
    /// How early a packet may come and still be in profile.
    #[parameter(default = "10 ms", max = "10 s")]
    pub limit: Option<Quantity<Duration>>,
}

impl MarkerSpec for Spec {
    fn default_rate(&mut self, rate: Rate) {
        self.rate.get_or_insert(Quantity(rate));
    }

    fn check(&self, _: &Site<'_>) -> Result<(), BadParameter> {
        self.checked().of(NAME).map(drop)
    }

    fn build(&self, site: &Site<'_>) -> Result<Box<dyn Marker>, BadParameter> {
        let limit = self.checked().of(NAME)?.limit;
        let rate = self.rate.map_or(site.rate, |given| given.0);
        Ok(Box::new(Gcra { rate, limit, expected: Time::ZERO }))
    }
}

/// The law.
#[derive(Debug)]
struct Gcra {
    rate: Rate,
    limit: Duration,
    /// When the next packet would arrive if all packets were evenly spaced at the rate.
    expected: Time,
}

impl Marker for Gcra {
    fn color(&mut self, packet: &mut Packet, now: Time) {
        if now + self.limit < self.expected {
            packet.color = YELLOW;
            return;
        }
        packet.color = GREEN;
        self.expected = self.expected.max(now) + self.rate.time_to_send(packet.len.into());
    }
}

fn main() -> ExitCode {
    fairwire_command::main_with([marker::register::<Spec>(ABOUT)])
}
