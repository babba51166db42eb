//! The tokens of FABA, SFED and hierarchical FABA.
//!
//! Accounts are integers of 2^-20 token, so tokens are conserved exactly. A token is worth a
//! packet, or a byte in byte mode.

use crate::error::{BadParameter, Of as _, Parameter};
use crate::role;
use crate::site::{Room, Site};
use crate::spec::Measure;
use alloc::format;
use fairwire_core::units::Level;
use fairwire_core::{Buffer, Packet};
use fairwire_parameters::parameters;

/// One token, in the units of all accounts.
pub const TOKEN: i64 = 1 << 20;

/// The maximum of T, the number of tokens; in byte mode, 275 GB. All sums fit in 64 bits: 2^24
/// buckets that got T, T/2, T/3 and so on hold less than 18 T.
const MAX_TOKENS: f64 = (1u64 << 38) as f64;

/// The maximum number of buckets. More buckets would need over half a gigabyte, index included.
pub(crate) const MAX_FLOWS: u32 = 1 << 24;
/// The terms that sum to T, in units of 2^-20 token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// The tokens in all buckets.
    pub buckets: i64,
    /// sigma: the tokens in all pools; a deficit is negative.
    pub pool: i64,
    /// Q: the price of all queued packets.
    pub queue: i64,
}

impl Balance {
    /// The sum, which must equal T.
    pub fn sum(&self) -> i64 {
        self.buckets + self.pool + self.queue
    }
}

impl Measure {
    /// The price in units of 2^-20 token.
    #[inline]
    pub(crate) fn price(self, packet: &Packet) -> i64 {
        match self {
            Measure::Packets => TOKEN,
            Measure::Bytes => i64::from(packet.len) * TOKEN,
        }
    }

    /// Q: the price of all packets, in units of 2^-20 token.
    #[inline]
    pub(crate) fn price_of_all(self, buffer: &Buffer) -> i64 {
        match self {
            Measure::Packets => i64::from(buffer.len()) * TOKEN,
            Measure::Bytes => buffer.bytes().cast_signed() * TOKEN,
        }
    }
}

/// The supply of tokens: T, and the maximum number of flows with buckets.
#[parameters(gated, checked = Checked, group)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Supply {
    /// Tokens per packet or byte of buffer: T = alpha B, where T is the number of tokens and B the
    /// buffer.
    #[parameter(
        default = 1.0,
        above = 0.0,
        max = 1000.0,
        unit = "tokens per packet or byte of buffer",
        source = "Section 5; figure 5 sweeps 1 to 1.5."
    )]
    pub alpha: Option<f64>,
    /// The maximum number of flows with buckets.
    #[parameter(
        is = role::FLOWS,
        unset = "4096 or 4 T in packets, whichever is more",
        min = 1,
        max = 16_777_216,
        unit = "flows",
        source = "Not in the paper."
    )]
    pub max_flows: Option<u32>,
}

impl Supply {
    /// Returns T = alpha B, in units of 2^-20 token, and the maximum number of flows.
    pub(crate) fn check(
        &self,
        discipline: &'static str,
        measure: Measure,
        room: &Room,
        site: &Site<'_>,
    ) -> Result<(i64, u32), BadParameter> {
        let Checked { alpha, max_flows } = self.checked().of(discipline)?;
        let room_for = measure.counted(room.amount, site);
        if alpha * room_for > MAX_TOKENS {
            let allowed = format!("at most {MAX_TOKENS} tokens, where there are `alpha` per packet or byte");
            return Err(Parameter { discipline, name: "buffer" }.refuse(room.amount, allowed));
        }
        let total = ((alpha * room_for * TOKEN as f64) as i64).max(1);
        let four_times = (4.0 * alpha * room.packets).clamp(4096.0, f64::from(MAX_FLOWS)) as u32;
        Ok((total, max_flows.unwrap_or(four_times)))
    }
}

#[inline]
pub(crate) fn steps(tokens: i64, queue: i64, quantum: i64, most: u32) -> u32 {
    let queue = queue.max(quantum);
    if tokens < queue {
        return 1;
    }
    (tokens / queue + 1).min(i64::from(most)) as u32
}

/// `level` in units of 2^-20 token, at most `total`.
pub(super) fn tokens_of(level: Level, measure: Measure, total: i64, site: &Site<'_>) -> i64 {
    ((measure.counted(level, site) * TOKEN as f64) as i64).min(total)
}
