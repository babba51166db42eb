//! Finds out that both interfaces lie in one network, where what leaves by one comes back by the other for ever.
//!
//! A switch that has both interfaces floods a broadcast to both, and each copy that the gateway forwards is flooded again. Then a frame
//! arrives at an interface by which the very same frame has left before, which in a network without a loop does not happen but for a
//! reflector here and there. So the last frames to groups (broadcasts, multicasts) that left by each port are remembered by their hash,
//! and when [`ECHOES`] of them have come back within a second, what comes back is not forwarded any more, until that has ended for a while:
//! the loop is cut for broadcasts, and everything else is forwarded as ever.

use fairwire_core::{Duration, Time};
use std::hash::{BuildHasher, RandomState};

/// What left by one port.
#[derive(Debug)]
pub struct Echoes {
    keys: RandomState,
    left: Box<[Left; SLOTS]>,
    since: Time,
    count: u32,
    cut_until: Time,
}

/// A frame that left.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    hash: u64,
    at: Time,
}

/// Frames that are remembered of a port: 4 KiB.
const SLOTS: usize = 256;
/// So many within [`WINDOW`] are no chance: in a loop they come back each few microseconds.
const ECHOES: u32 = 32;
const WINDOW: Duration = Duration::from_secs(1);
/// How long after the last proof of it a loop is cut.
const CUT: Duration = Duration::from_secs(10);

impl Default for Echoes {
    fn default() -> Self {
        let left = Box::new([Left::default(); SLOTS]);
        Echoes { keys: RandomState::new(), left, since: Time::ZERO, count: 0, cut_until: Time::ZERO }
    }
}

/// Is `frame` one to many? Bit 0 of the first octet says so (IEEE 802.3, clause 3.2.3).
fn is_to_group(frame: &[u8]) -> bool {
    frame.first().is_some_and(|first| first & 1 == 1)
}

impl Echoes {
    /// `frame`, which begins with an Ethernet header, leaves by this port at `now`.
    #[inline]
    pub fn leaves(&mut self, frame: &[u8], now: Time) {
        if is_to_group(frame) {
            let hash = self.keys.hash_one(frame);
            self.left[hash as usize % SLOTS] = Left { hash, at: now };
        }
    }

    /// `frame` arrives by this port at `now`: is it one that left by it, as many before it were?
    #[inline]
    pub fn comes_back(&mut self, frame: &[u8], now: Time) -> bool {
        is_to_group(frame) && self.is_cut(frame, now)
    }

    fn is_cut(&mut self, frame: &[u8], now: Time) -> bool {
        let hash = self.keys.hash_one(frame);
        let left = self.left[hash as usize % SLOTS];
        if left.hash != hash || left.at == Time::ZERO || now.since(left.at) > WINDOW {
            return false;
        }
        if now.since(self.since) > WINDOW {
            (self.since, self.count) = (now, 0);
        }
        self.count = self.count.saturating_add(1);
        if self.count >= ECHOES {
            self.cut_until = now + CUT;
        }
        now < self.cut_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    fn broadcast(number: u8) -> Vec<u8> {
        [&[0xff; 6][..], &[2, 0, 0, 0, 0, number, 0x08, 0x06], &[0; 46]].concat()
    }

    #[test]
    fn what_comes_back_time_and_again_is_cut_and_nothing_else_is() {
        let mut echoes = Echoes::default();
        let frame = broadcast(1);
        let mut passed = 0;
        for us in 1..1000 {
            echoes.leaves(&frame, at(us * 10));
            passed += u32::from(!echoes.comes_back(&frame, at(us * 10 + 5)));
        }
        assert_eq!(passed, ECHOES - 1);
        // What has not left by this port is new, also while the loop is cut, and so is what is to one host.
        assert!(!echoes.comes_back(&broadcast(2), at(20_000)));
        let mut unicast = frame.clone();
        unicast[0] = 2;
        echoes.leaves(&unicast, at(20_000));
        assert!(!echoes.comes_back(&unicast, at(20_001)));
        // Of what comes back after a silence the first are forwarded again.
        echoes.leaves(&frame, at(60_000_000));
        assert!(!echoes.comes_back(&frame, at(60_000_010)));
    }

    #[test]
    fn a_reflector_now_and_then_and_a_host_that_repeats_itself_are_no_loop() {
        let mut echoes = Echoes::default();
        for number in 0..1000_u64 {
            // Ten a second come back, as from some access points.
            echoes.leaves(&broadcast(number as u8), at(number * 100_000 + 1));
            assert!(!echoes.comes_back(&broadcast(number as u8), at(number * 100_000 + 500)));
        }
        for number in 0..100_000 {
            assert!(!echoes.comes_back(&broadcast(255), at(200_000_000 + number)), "it never left here");
        }
    }
}
