//! What all contests have in common: the link, the time, and what sends.

use fairwire_core::{Duration, Rate};

/// The rate of the bottleneck. It is counted as the kernel counts: with Ethernet headers.
pub const RATE: Rate = match Rate::from_bps(10_000_000) {
    Some(rate) => rate,
    None => panic!("not zero"),
};
/// Payload of a full segment: an IP packet of 1500 bytes less 20 of IP, 20 of TCP and 12 of timestamps.
pub const SEGMENT_BYTES: u32 = 1448;
/// Headers of a segment, Ethernet's 14 included.
pub const HEADER_BYTES: u32 = 66;
/// Headers of a UDP packet, Ethernet's 14 included.
pub(super) const UDP_HEADER_BYTES: u32 = 14 + 20 + 8;
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
}
