//! Tokens that come at a rate.

use crate::error::{BadParameter, Parameter};
use crate::site::Site;
use crate::spec::Quantity;
use fairwire_core::units::Size;
use fairwire_core::{Duration, Rate, Time};

/// Counts the bytes that a rate allows. Fractions of a byte are carried over, so no token is lost
/// or invented.
#[derive(Clone, Debug)]
pub(crate) struct TokenClock {
    rate: Rate,
    read_at: Time,
    remainder: u64, // bit-nanoseconds not yet turned into a token, below BYTE
}

/// The nanoseconds that one byte takes at one bit per second.
const BYTE: u128 = 8_000_000_000;

impl TokenClock {
    pub(crate) fn new(rate: Rate) -> Self {
        TokenClock { rate, read_at: Time::ZERO, remainder: 0 }
    }

    pub(crate) fn rate(&self) -> Rate {
        self.rate
    }

    /// Changes the rate of tokens that come after the last reading.
    pub(crate) fn go_on_at(&mut self, rate: Rate) {
        self.rate = rate;
    }

    /// The tokens, in bytes, that came since the last reading.
    #[inline]
    pub(crate) fn tokens(&mut self, now: Time) -> u64 {
        let elapsed = u128::from(now.since(self.read_at).ns());
        self.read_at = self.read_at.max(now);
        let product = elapsed * u128::from(self.rate.bps());
        // 64 bits usually suffice, and a 128-bit division costs many times more.
        let (tokens, remainder) = match u64::try_from(product + u128::from(self.remainder)) {
            Ok(sum) => (sum / BYTE as u64, sum % BYTE as u64),
            Err(_) => divided(product, self.remainder),
        };
        self.remainder = remainder;
        tokens
    }
}

#[cold]
fn divided(product: u128, remainder: u64) -> (u64, u64) {
    let sum = product + u128::from(remainder); // below 2^127 + 2^33: a rate as written is below 2^63
    (u64::try_from(sum / BYTE).unwrap_or(u64::MAX), (sum % BYTE) as u64)
}

/// The given rate, or half of the site's rate, which suits two competing aggregates.
pub(crate) fn committed_rate(typed: Option<Quantity<Rate>>, site: &Site<'_>) -> Rate {
    typed.map_or_else(|| portion(site.rate, 2), |typed| typed.0)
}

pub(crate) fn portion(rate: Rate, parts: u64) -> Rate {
    Rate::from_bps((rate.bps() / parts).max(1)).expect("at least 1")
}

/// The time in which tokens fill the default bucket: 50 kB at 10 Mbit/s, which reproduces ATB's
/// results.
const BURST: Duration = Duration::from_ms(40);

/// The largest bucket, in bytes: sums of tokens must fit in a `u64`.
const MAX_BURST: u64 = 1 << 40;

/// The given size; by default the bytes of 40 ms at `rate` or, if more, two typical packets.
pub(crate) fn bucket(
    typed: Option<Quantity<Size>>,
    rate: Rate,
    site: &Site<'_>,
    parameter: Parameter,
) -> Result<u64, BadParameter> {
    let in_time = u128::from(rate.bps()) * u128::from(BURST.ns()) / BYTE;
    let least = 2 * u64::from(site.packet_bytes);
    let default = (in_time.min(u128::from(MAX_BURST)) as u64).max(least);
    let size = typed.map_or(default, |typed| typed.0.0);
    if size > MAX_BURST {
        return Err(parameter.refuse(Size(size), format_args!("at most {}", Size(MAX_BURST))));
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_fraction_of_a_token_is_lost_between_calls() {
        let rate = Rate::from_bps(12_345_679).expect("not zero");
        let (mut often, mut once) = (TokenClock::new(rate), TokenClock::new(rate));
        let mut now = Time::ZERO;
        let mut sum = 0;
        for step in 0..10_000u64 {
            now += Duration::from_ns(step * 37 % 1001);
            sum += often.tokens(now);
        }
        assert_eq!(sum, once.tokens(now));
        assert_eq!(sum, now.ns() * 12_345_679 / 8_000_000_000);
    }

    #[test]
    fn the_longest_time_at_the_highest_rate_saturates() {
        let mut clock = TokenClock::new(Rate::from_bps(u64::MAX >> 1).expect("not zero"));
        assert_eq!(clock.tokens(Time::MAX), u64::MAX);
        assert_eq!(clock.tokens(Time::MAX), 0);
    }
}
