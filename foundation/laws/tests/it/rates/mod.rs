//! Laws on rates and on overflow: RQM, REM, BLUE, AVQ and SFB, each against a straight-line
//! transcription of its paper.

mod avq;
mod blue;
mod rem;
mod rqm;
mod sfb;

use fairwire_core::units::Amount;
use fairwire_laws::Site;

/// A site with a link of 10 Mbit/s, packets of 512 bytes, and a buffer for 40 packets.
fn site() -> Site<'static> {
    crate::site(Amount::Packets(40))
}
