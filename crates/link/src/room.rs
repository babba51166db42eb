//! How much may wait, as text: packets, bytes, time, or a multiple of the bandwidth-delay product.

use fairwire_core::Duration;
use fairwire_core::units::Amount;

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Room {
    Amount(Amount),
    /// This many times what the rate sends in a round trip.
    Bdp(f64),
}

const BDP: &str = "bdp";
const ALSO: &str = "or a multiple of the bandwidth-delay product such as \"1.5 bdp\"";

impl Room {
    pub(crate) fn read(text: &str) -> Result<Room, String> {
        let Some(number) = text.trim().strip_suffix(BDP) else {
            return text.parse().map(Room::Amount).map_err(|error| format!("{error}, {ALSO}"));
        };
        let factor = number.trim().parse::<f64>().ok().filter(|factor| *factor > 0.0 && factor.is_finite());
        let refused =
            || format!("`{}` is none; allowed: a number above zero and the unit, \"1.5 bdp\"", text.trim());
        factor.map(Room::Bdp).ok_or_else(refused)
    }

    /// The amount, where a packet and its acknowledgement are `round_trip` under way.
    pub(crate) fn amount(self, round_trip: Duration) -> Result<Amount, String> {
        match self {
            Room::Amount(amount) => Ok(amount),
            Room::Bdp(factor) => match Duration::from_secs_f64(round_trip.secs() * factor) {
                Duration::ZERO => Err(format!(
                    "{factor} bdp of a round trip of {round_trip} is nothing; allowed: packets, bytes or time, or a longer delay"
                )),
                time => Ok(Amount::Time(time)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bandwidth_delay_product_is_what_the_rate_sends_in_a_round_trip() {
        let room = Room::read("1.5 bdp").unwrap();
        assert_eq!(room.amount(Duration::from_ms(40)), Ok(Amount::Time(Duration::from_ms(60))));
        assert!(room.amount(Duration::ZERO).unwrap_err().contains("round trip of 0 ns is nothing"));
        assert_eq!(Room::read("0.5bdp"), Ok(Room::Bdp(0.5)));
    }

    #[test]
    fn what_is_no_room_is_refused_with_what_is_allowed() {
        for text in ["bdp", "0 bdp", "-1 bdp", "NaN bdp", "inf bdp", "x bdp"] {
            assert!(Room::read(text).unwrap_err().contains("1.5 bdp"), "{text}");
        }
        let error = Room::read("50 packts").unwrap_err();
        assert!(error.contains("did you mean `50 packets`?") && error.contains("1.5 bdp"), "{error}");
    }
}
