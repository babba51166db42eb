//! The properties of a link that its discipline may know.

use crate::error::{BadParameter, Parameter};
use crate::spec::Quantity;
use alloc::format;
use fairwire_core::units::{Amount, Size};
use fairwire_core::{Limit, Rate, Rng, Seed};

/// The site of a discipline: the link's rate, the buffer, and the random stream.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The link's rate.
    pub rate: Rate,
    /// The size of the buffer, unless the discipline's parameters set it.
    pub buffer: Amount,
    /// The size of a typical packet on the wire, in bytes. Disciplines that count packets use it to
    /// convert bytes or time.
    pub packet_bytes: u32,
    /// The seed of the run.
    pub seed: Seed,
    /// The name of this site among the run's random streams, such as `link/bottleneck`.
    pub stream: &'a str,
}

/// The maximum number of slots, which protects the host's memory: a slot takes about 150 bytes,
/// allocated at construction.
pub const MAX_SLOTS: u32 = 1 << 24;

/// The checked buffer of one discipline at one site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Room {
    /// As given.
    pub amount: Amount,
    /// As a limit.
    pub limit: Limit,
    /// The limit in typical packets; fractional if the limit is in bytes or time.
    pub packets: f64,
}

impl Site<'_> {
    /// The random stream of the discipline `name`.
    pub fn rng(&self, name: &str) -> Rng {
        self.seed.stream(&format!("{}/{name}", self.stream))
    }

    /// The buffer of `discipline`: `own` if given, otherwise the site's buffer.
    pub fn room(
        &self,
        discipline: &'static str,
        own: Option<Quantity<Amount>>,
    ) -> Result<Room, BadParameter> {
        let parameter = |name| Parameter { discipline, name };
        parameter("packet_bytes").count(self.packet_bytes, u32::MAX)?;
        let amount = own.map_or(self.buffer, |own| own.0);
        let limit = amount.limit(self.rate);
        if limit.max_packets() > MAX_SLOTS {
            let bytes = Size(u64::from(MAX_SLOTS) * 28);
            let allowed = format!("at most {MAX_SLOTS} packets, {bytes}, or the time to send that");
            return Err(parameter("buffer").refuse(amount, allowed));
        }
        if limit.max_bytes() < u64::from(self.packet_bytes) {
            let allowed = format!("room for one typical packet, {}, or more", Size(self.packet_bytes.into()));
            return Err(parameter("buffer").refuse(amount, allowed));
        }
        Ok(Room { amount, limit, packets: amount.in_packets(self.packet_bytes, self.rate) })
    }
}
