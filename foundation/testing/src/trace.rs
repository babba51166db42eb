//! A hash of all decisions of a discipline.

use fairwire_core::rng::mix;
use fairwire_core::{Cause, Packet, Time};

/// A hash over each decision's frame, fate, ECN codepoint, cause and time. The same decisions have
/// the same hash on every machine and in every release.
///
/// ```
/// use fairwire_core::{Packet, Time};
/// use fairwire_testing::TraceHash;
///
/// let packet = Packet::new(3, 512, 7.into(), Time::ZERO);
/// let (mut one, mut other) = (TraceHash::default(), TraceHash::default());
/// one.sent(&packet, Time::from_ns(10));
/// other.sent(&packet, Time::from_ns(11));
/// assert_ne!(one.value(), other.value());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceHash(u64);

impl TraceHash {
    /// Adds that `packet` was sent.
    pub fn sent(&mut self, packet: &Packet, now: Time) {
        self.decision(1, packet, 0, now);
    }

    /// `packet` was dropped.
    pub fn dropped(&mut self, packet: &Packet, cause: Cause, now: Time) {
        self.decision(2, packet, cause as u64, now);
    }

    /// `packet` was marked.
    pub fn marked(&mut self, packet: &Packet, cause: Cause, now: Time) {
        self.decision(3, packet, cause as u64, now);
    }

    /// The hash so far.
    pub fn value(&self) -> u64 {
        self.0
    }

    fn decision(&mut self, verdict: u64, packet: &Packet, cause: u64, now: Time) {
        for word in [verdict, u64::from(packet.frame), packet.ecn as u64, cause, now.ns()] {
            // Mixing after each word makes the hash depend on the order of the words.
            self.0 = mix(self.0.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ word);
        }
    }
}
