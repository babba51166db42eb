//! Finds out that both interfaces lie in one network, where what leaves by one comes back by the other for ever.
//!
//! A switch that has both interfaces floods a broadcast to both, and each copy that the gateway forwards is flooded again. The last frames to
//! groups (broadcasts, multicasts) that left are remembered by their hash. Two things prove a loop, since no network without one does them:
//!
//! - A frame arrives by the port by which the very same frame has left, [`ECHOES`] times within a second. (A reflector may do it now and then.)
//! - The very same frame comes time and again by one port, [`REPEATS`] times within a tenth of a second: it circles one way.
//!
//! From then on, until there has been no proof for a while, a group's frame that has just passed is not forwarded again, whichever way: the
//! loop is cut for broadcasts, and everything else is forwarded as ever.

use fairwire_core::{Duration, Time};
use std::hash::{BuildHasher, RandomState};

/// What left by both ports.
#[derive(Debug)]
pub struct Echoes {
    keys: RandomState,
    left: Box<[Left; SLOTS]>,
    since: Time,
    count: u32,
    cut_until: Time,
}

/// One of the two ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where downloads arrive.
    Left,
    /// Where uploads arrive.
    Right,
}

/// A frame that left.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    hash: u64,
    /// When it left by each port.
    at: [Time; 2],
    /// Since when it came back so often by whatever port.
    since: Time,
    repeats: u32,
}

/// Frames that are remembered: 10 KiB.
const SLOTS: usize = 256;
/// So many within [`WINDOW`] are no chance: in a loop they come back each few microseconds.
const ECHOES: u32 = 32;
const WINDOW: Duration = Duration::from_secs(1);
/// So many within [`SPELL`]: no host repeats itself 1280 times a second without a changed bit.
const REPEATS: u32 = 128;
const SPELL: Duration = Duration::from_ms(100);
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

/// Was that within `span` before `now`? Zero is never.
fn is_recent(at: Time, now: Time, span: Duration) -> bool {
    at != Time::ZERO && now.since(at) <= span
}

impl Echoes {
    /// `frame`, which begins with an Ethernet header, leaves by the port `side` at `now`.
    #[inline]
    pub fn leaves(&mut self, side: Side, frame: &[u8], now: Time) {
        if is_to_group(frame) {
            let hash = self.keys.hash_one(frame);
            let slot = &mut self.left[hash as usize % SLOTS];
            if slot.hash != hash {
                *slot = Left { hash, ..Left::default() };
            }
            slot.at[side as usize] = now;
        }
    }

    /// `frame` arrives by the port `side` at `now`: is it one that is to be cut?
    #[inline]
    pub fn comes_back(&mut self, side: Side, frame: &[u8], now: Time) -> bool {
        is_to_group(frame) && self.is_cut(side, frame, now)
    }

    fn is_cut(&mut self, side: Side, frame: &[u8], now: Time) -> bool {
        let hash = self.keys.hash_one(frame);
        let slot = &mut self.left[hash as usize % SLOTS];
        if slot.hash != hash || !slot.at.iter().any(|at| is_recent(*at, now, WINDOW)) {
            return false;
        }
        if now.since(slot.since) > SPELL {
            (slot.since, slot.repeats) = (now, 0);
        }
        slot.repeats = slot.repeats.saturating_add(1);
        let circles = slot.repeats >= REPEATS;
        if is_recent(slot.at[side as usize], now, WINDOW) {
            if now.since(self.since) > WINDOW {
                (self.since, self.count) = (now, 0);
            }
            self.count = self.count.saturating_add(1);
        }
        if circles || self.count >= ECHOES && now.since(self.since) <= WINDOW {
            self.cut_until = now + CUT;
        }
        now < self.cut_until
    }
}

#[cfg(test)]
mod tests {
    use super::Side::{Left, Right};
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    fn broadcast(number: u8) -> Vec<u8> {
        [&[0xff; 6][..], &[2, 0, 0, 0, 0, number, 0x08, 0x06], &[0; 46]].concat()
    }

    #[test]
    fn what_comes_back_time_and_again_is_cut_both_ways_and_nothing_else_is() {
        let mut echoes = Echoes::default();
        let frame = broadcast(1);
        let mut passed = 0;
        for us in 1..1000 {
            echoes.leaves(Left, &frame, at(us * 10));
            passed += u32::from(!echoes.comes_back(Left, &frame, at(us * 10 + 5)));
        }
        assert_eq!(passed, ECHOES - 1);
        // What circles the other way is cut as well.
        echoes.leaves(Left, &broadcast(3), at(15_000));
        assert!(echoes.comes_back(Right, &broadcast(3), at(15_010)));
        // What has not passed is new, also while the loop is cut, and so is what is to one host.
        assert!(!echoes.comes_back(Left, &broadcast(2), at(20_000)));
        let mut unicast = frame.clone();
        unicast[0] = 2;
        echoes.leaves(Left, &unicast, at(20_000));
        assert!(!echoes.comes_back(Left, &unicast, at(20_001)));
        // Of what comes back after a silence the first are forwarded again.
        echoes.leaves(Left, &frame, at(60_000_000));
        assert!(!echoes.comes_back(Left, &frame, at(60_000_010)));
    }

    #[test]
    fn what_circles_one_way_only_is_cut_too() {
        let mut echoes = Echoes::default();
        let mut passed = 0;
        for us in 1..2000 {
            let is_cut = echoes.comes_back(Left, &broadcast(1), at(us * 20));
            passed += u32::from(!is_cut);
            if !is_cut {
                echoes.leaves(Right, &broadcast(1), at(us * 20 + 5));
            }
        }
        assert_eq!(passed, REPEATS, "the first, and those that came back until it was proved");
    }

    #[test]
    fn a_reflector_now_and_then_and_a_host_that_repeats_itself_are_no_loop() {
        let mut echoes = Echoes::default();
        for number in 0..1000_u64 {
            // Ten a second come back, as from some access points.
            echoes.leaves(Left, &broadcast(number as u8), at(number * 100_000 + 1));
            assert!(!echoes.comes_back(Left, &broadcast(number as u8), at(number * 100_000 + 500)));
        }
        for number in 0..10_000 {
            // One says the same a thousand times a second.
            let now = at(200_000_000 + number * 1000);
            assert!(!echoes.comes_back(Left, &broadcast(255), now));
            echoes.leaves(Right, &broadcast(255), now);
        }
    }
}
