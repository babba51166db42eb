//! Contests: Linux's own TCPs behind a discipline of the kernel, and ours behind ours.
//!
//! Nothing is replayed here. Each side has senders, round-trip times, a bottleneck and random start times of its own, alike
//! but never equal, so what is compared are means over runs: who got how much, and how long packets waited.

pub mod cases;
mod compare;
mod network;
mod setting;
mod simulated;
mod sockets;
mod tally;

pub use cases::{CONTESTS, Contest, find};
pub use compare::{Comparison, Figure, Row, Tolerance};
pub use setting::{Class, DURATION, HEADER_BYTES, RATE, SEGMENT_BYTES, Sends, WARM_UP};
pub use simulated::simulate;
pub use tally::Tally;

use crate::modules::Modules;
use fairwire_testbed::namespace::Namespace;
use std::error::Error;

/// Lets the kernel hold `contest` in the run of `seed`. This is the guest's part.
pub fn hold(contest: &Contest, seed: u64, modules: &Modules) -> Result<Tally, Box<dyn Error>> {
    let needed = contest.classes.iter().filter_map(|class| class.sends.module());
    for name in ["sch_netem"].into_iter().chain(needed).chain(contest.modules.iter().copied()) {
        modules.load(name)?;
    }
    let home = Namespace::own()?;
    let network = network::build(contest)?;
    let tally = sockets::contest(contest, &network, &contest.starts(seed));
    home.enter()?;
    tally
}
