//! The bytes that a member of a round may send in its turn.
//!
//! The classic quantum is one packet. On a fast link such a quantum splits super-packets, whose
//! segments are then handled one by one to the end of the path. So a quantum may also follow from
//! the duration of a round: few members send trains of packets, and many send one packet each.

use fairwire_core::{Duration, Rate};

/// Bytes of credit per round. See the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantum {
    least: u32,
    /// The bytes of an entire round; 0 if the quantum is fixed.
    round: u32,
}

/// The longest train, in bytes: Linux joins no more bytes into one packet.
pub(crate) const MAX_TRAIN: u32 = 1 << 16;

impl Quantum {
    pub(crate) fn fixed(bytes: u32) -> Self {
        Quantum { least: bytes.max(1), round: 0 }
    }

    /// With few members, lets the quantum grow, up to [`MAX_TRAIN`], to fill a `round` at `rate`.
    #[must_use]
    pub(crate) fn filling(self, round: Option<Duration>, rate: Rate) -> Self {
        let bytes = round.map_or(0.0, |round| round.secs() * rate.bps() as f64 / 8.0);
        Quantum { round: bytes.min(f64::from(u32::MAX)) as u32, ..self }
    }

    /// The bytes for each of `members`.
    #[inline]
    pub(crate) fn of(&self, members: u32) -> i64 {
        if self.round <= self.least {
            return self.least.into();
        }
        i64::from((self.round / members.max(1)).min(MAX_TRAIN).max(self.least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantum_fills_its_round_and_lies_between_a_packet_and_a_train() {
        let rate = Rate::from_bps(1_000_000_000).unwrap();
        let quantum = Quantum::fixed(1514).filling(Some(Duration::from_ms(1)), rate); // 125 000 B
        assert_eq!([1, 2, 10, 80, 1000].map(|n| quantum.of(n)), [65_536, 62_500, 12_500, 1562, 1514]);
        let slow =
            Quantum::fixed(1514).filling(Some(Duration::from_ms(1)), Rate::from_bps(10_000_000).unwrap());
        assert_eq!([1, 9].map(|n| slow.of(n)), [1514, 1514]);
        assert_eq!(Quantum::fixed(300).of(1), 300);
    }
}
