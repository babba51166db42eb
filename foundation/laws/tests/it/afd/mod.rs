//! AFD in its four forms, and FRED.

mod contest;
mod control;
mod exact;
mod fred;
mod links;
mod parameters;
mod plain;
mod sample;

use fairwire_core::units::Amount;
use fairwire_core::{Cause, Packet, Rate, Seed, Signals};
use fairwire_laws::Site;

/// 10 Mbit/s, packets of 1000 bytes.
fn site(buffer: Amount) -> Site<'static> {
    Site {
        rate: Rate::from_bps(10_000_000).expect("not zero"),
        buffer,
        packet_bytes: 1000,
        seed: Seed(1),
        stream: "afd",
    }
}

/// What became of the last packet offered; `None` if it waits unmarked.
#[derive(Debug, Default, PartialEq)]
struct Fate(Option<(Cause, bool)>);

impl Signals for Fate {
    fn dropped(&mut self, _: Packet, cause: Cause) {
        self.0 = Some((cause, false));
    }
    fn marked(&mut self, _: &Packet, cause: Cause) {
        self.0 = Some((cause, true));
    }
}
