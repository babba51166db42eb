//! Bounds of links, wherever they are given.

use fairwire_core::Duration;

/// The light-time across the inner solar system is shorter.
pub(crate) const MAX_DELAY: Duration = Duration::from_secs(3600);
/// The fastest link, bit/s: above it, nanoseconds cannot resolve the time of a packet of 512 bytes.
pub(crate) const FASTEST: u64 = 1_000_000_000_000;
