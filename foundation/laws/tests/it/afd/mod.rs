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
use fairwire_laws::Site;

/// A site on a link of 10 Mbit/s.
fn site(buffer: Amount) -> Site<'static> {
    Site { packet_bytes: 1000, stream: "afd", ..crate::site(buffer) }
}
