//! Contests: Linux's own TCPs behind a discipline of the kernel, and ours behind ours.
//!
//! Nothing is replayed here. Each side has senders, round-trip times, a bottleneck and random start times of its own, alike
//! but never equal, so what is compared are means over runs: who got how much, and how long packets waited.

pub mod cases;
mod compare;
mod network;
mod simulated;
mod sockets;
mod tally;

pub use cases::{CONTESTS, Contest, find};
pub use compare::{Comparison, Figure, Row, Tolerance};
pub use simulated::simulate;
pub use tally::Tally;

use crate::modules::Modules;
use fairwire_core::{Duration, Rate, Seed};
use std::error::Error;

/// The rate of the bottleneck. It is counted as the kernel counts: with Ethernet headers.
pub const RATE: Rate = match Rate::from_bps(10_000_000) {
    Some(rate) => rate,
    None => panic!("not zero"),
};
/// Payload of a full segment: an IP packet of 1500 bytes less 20 of IP, 20 of TCP and 12 of timestamps.
pub const SEGMENT_BYTES: u32 = 1448;
/// Headers of a segment, Ethernet's 14 included.
pub const HEADER_BYTES: u32 = 66;
/// The length of a run.
pub const DURATION: Duration = Duration::from_secs(37);
/// What is not measured, at the start. Slow starts and their losses are over, and so is the first climb after them, which hangs on the
/// window at which slow start ended: of a single CUBIC it lasts until 10.4 s.
pub const WARM_UP: Duration = Duration::from_secs(12);

/// Flows that are alike.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// What sends.
    pub sends: Sends,
    /// How many.
    pub flows: usize,
    /// The round-trip time without waiting, milliseconds.
    pub rtt_ms: u64,
}

/// What sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sends {
    /// Reno.
    Reno,
    /// CUBIC.
    Cubic,
    /// BBR, version 1.
    Bbr,
    /// DCTCP.
    Dctcp,
    /// UDP at this rate, bit/s on the wire.
    Udp(u64),
}

impl Sends {
    /// The kernel's name of it.
    pub const fn name(self) -> &'static str {
        match self {
            Sends::Reno => "reno",
            Sends::Cubic => "cubic",
            Sends::Bbr => "bbr",
            Sends::Dctcp => "dctcp",
            Sends::Udp(_) => "udp",
        }
    }

    /// The kernel's module for it, where it is one.
    const fn module(self) -> Option<&'static str> {
        match self {
            Sends::Bbr => Some("tcp_bbr"),
            Sends::Dctcp => Some("tcp_dctcp"),
            Sends::Reno | Sends::Cubic | Sends::Udp(_) => None,
        }
    }
}

/// When each flow of `contest` starts in the run of `seed`: within the first second, the same on either side.
fn starts(contest: &Contest, seed: u64) -> Vec<Duration> {
    let mut rng = Seed(seed).stream("starts");
    let flows = contest.classes.iter().map(|class| class.flows).sum();
    (0..flows).map(|_| Duration::from_ms(u64::from(rng.below(1000)))).collect()
}

/// Lets the kernel hold `contest` in the run of `seed`. This is the guest's part.
pub fn hold(contest: &Contest, seed: u64, modules: &Modules) -> Result<Tally, Box<dyn Error>> {
    let needed = contest.classes.iter().filter_map(|class| class.sends.module());
    for name in ["sch_netem"].into_iter().chain(needed).chain(contest.modules.iter().copied()) {
        modules.load(name)?;
    }
    let home = network::Namespace::own()?;
    let network = network::build(contest)?;
    let tally = sockets::contest(contest, &network, &starts(contest, seed));
    home.enter()?;
    network::remove(&network)?;
    tally
}
