//! Bounds on the delays and rates of links.

use fairwire_core::Duration;

pub(crate) const MAX_DELAY: Duration = Duration::from_secs(3600);
/// The fastest link, bit/s. At a higher rate, nanoseconds cannot resolve the time of a 512-byte
/// packet.
pub(crate) const FASTEST: u64 = 1_000_000_000_000;
