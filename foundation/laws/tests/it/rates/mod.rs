//! RQM, REM, BLUE, AVQ and SFB, each against a transcription of its paper.

mod avq;
mod blue;
mod rem;
mod rqm;
mod sfb;

use fairwire_core::units::Amount;
use fairwire_laws::Site;

fn site() -> Site<'static> {
    crate::site(Amount::Packets(40))
}
