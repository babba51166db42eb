//! Detects a loop: both interfaces are in one network, and frames that leave by one interface come
//! back by the other again and again.
//!
//! A switch connected to both interfaces floods broadcasts, and frames to unknown hosts, to both
//! interfaces. The gateway forwards each copy, and the switch floods it again. The gateway
//! remembers the hashes of the latest departed frames to groups (broadcasts, multicasts). It also
//! remembers one frame to a single host per port and millisecond. Two observations prove a loop:
//!
//! - A frame arrives by the port by which an identical frame has left, [`ECHOES`] times within a
//!   second. A reflector may cause isolated cases.
//! - A frame to a group arrives again after it has left, [`REPEATS`] times within a tenth of a
//!   second. This also proves a loop that has only one direction.
//!
//! A frame to a group is cut (not forwarded) only after a proof for this frame. Cutting ends
//! [`CUT`] after the last proof. If a host repeats a broadcast, or its datagrams are reflected, no
//! other host's frames are cut.
//!
//! For frames to single hosts, only the first observation proves a loop. While this loop lasts,
//! every frame to a single host is remembered, and two types of these frames are cut:
//!
//! - A frame that arrives by the port by which it has left. No two hosts send the same frame.
//! - A frame that arrives for the [`AGAIN`]th time, or more, within a tenth of a second.

use fairwire_core::{Duration, Time};
use std::hash::{BuildHasher, RandomState};

/// The latest frames that left by either port.
#[derive(Debug)]
pub struct Echoes {
    keys: RandomState,
    left: Box<[SentFrame; SLOTS]>,
    hosts: Proof,
    /// For each port, the latest sampled frame to a single host.
    samples: [Sample; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Proof {
    since: Time,
    count: u32,
    cut_until: Time,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Time,
    length: usize,
    head: [u8; HEAD],
}

/// One of the two ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The port at which downloads arrive.
    Left,
    /// The port at which uploads arrive.
    Right,
}

#[derive(Clone, Copy, Debug, Default)]
struct SentFrame {
    hash: u64,
    /// For each port, the last time that the frame left by it.
    at: [Time; 2],
    /// `repeats` counts the frame's arrivals by either port since this time.
    since: Time,
    repeats: u32,
    /// Arrivals of the frame by a port by which it had left.
    back: Proof,
}

/// The number of remembered frames, which take 16 KiB.
const SLOTS: usize = 256;
/// Echoes within [`WINDOW`] that prove a loop. In a loop, frames come back every few microseconds.
const ECHOES: u32 = 32;
const WINDOW: Duration = Duration::from_secs(1);
/// Repeats within [`SPELL`] that prove a loop: no host sends 1280 identical frames a second.
const REPEATS: u32 = 128;
const SPELL: Duration = Duration::from_ms(100);
/// The number of leading octets that identify a frame. They include the beginning of the payload.
const HEAD: usize = 64;
/// Arrivals within [`SPELL`] that prove that a frame to one host circles. In practice, BFD (RFC
/// 5880) repeats a frame after 10 ms or more.
const AGAIN: u32 = 16;
const SAMPLE_EVERY: Duration = Duration::from_ms(1);
const CUT: Duration = Duration::from_secs(10);

impl Default for Echoes {
    fn default() -> Self {
        let left = Box::new([SentFrame::default(); SLOTS]);
        let samples = [Sample { at: Time::ZERO, length: 0, head: [0; HEAD] }; 2];
        Echoes { keys: RandomState::new(), left, hosts: Proof::default(), samples }
    }
}

/// Bit 0 of the first octet decides (IEEE 802.3, clause 3.2.3).
fn is_to_group(frame: &[u8]) -> bool {
    frame.first().is_some_and(|first| first & 1 == 1)
}

/// Zero means never.
fn is_recent(at: Time, now: Time, span: Duration) -> bool {
    at != Time::ZERO && now.since(at) <= span
}

impl Proof {
    fn count(&mut self, now: Time) {
        if now.since(self.since) > WINDOW {
            (self.since, self.count) = (now, 0);
        }
        self.count = self.count.saturating_add(1);
        if self.count >= ECHOES {
            self.cut(now);
        }
    }

    fn cut(&mut self, now: Time) {
        self.cut_until = now + CUT;
    }

    fn is_cutting(&self, now: Time) -> bool {
        now < self.cut_until
    }
}

impl Sample {
    fn take(&mut self, frame: &[u8], now: Time) {
        let head = &frame[..frame.len().min(HEAD)];
        self.head[..head.len()].copy_from_slice(head);
        (self.at, self.length) = (now, frame.len());
    }

    fn is(&self, frame: &[u8], now: Time) -> bool {
        let head = self.length.min(HEAD);
        self.length == frame.len() && self.head[..head] == frame[..head] && is_recent(self.at, now, WINDOW)
    }
}

impl Echoes {
    /// Records that `frame`, which begins with an Ethernet header, leaves by the port `side` at
    /// `now`.
    #[inline]
    pub fn leaves(&mut self, side: Side, frame: &[u8], now: Time) {
        if is_to_group(frame) || self.hosts.is_cutting(now) {
            self.remember(side, frame, now);
        } else {
            let sample = &mut self.samples[side as usize];
            if now.since(sample.at) >= SAMPLE_EVERY {
                sample.take(frame, now);
            }
        }
    }

    fn remember(&mut self, side: Side, frame: &[u8], now: Time) {
        let hash = self.keys.hash_one(frame);
        let slot = &mut self.left[hash as usize % SLOTS];
        if slot.hash != hash {
            *slot = SentFrame { hash, ..SentFrame::default() };
        }
        slot.at[side as usize] = now;
    }

    /// Must `frame` be cut? It arrives by the port `side` at `now`.
    #[inline]
    pub(crate) fn comes_back(&mut self, side: Side, frame: &[u8], now: Time) -> bool {
        if is_to_group(frame) {
            self.is_cut(side, frame, now)
        } else if self.hosts.is_cutting(now) {
            self.is_circling(side, frame, now)
        } else {
            if self.samples[side as usize].is(frame, now) {
                self.hosts.count(now);
            }
            self.hosts.is_cutting(now)
        }
    }

    /// True if `frame` recently left by this port, or arrives repeatedly. The second test is needed
    /// once copies in the other direction are cut: `frame` then no longer leaves by this port.
    #[cold]
    fn is_circling(&mut self, side: Side, frame: &[u8], now: Time) -> bool {
        let Some(slot) = self.passed(frame, now) else { return false };
        let circles = slot.repeats(SPELL, now) >= AGAIN || slot.is_back(side, now);
        if circles {
            self.hosts.cut(now);
        }
        circles
    }

    fn is_cut(&mut self, side: Side, frame: &[u8], now: Time) -> bool {
        let Some(slot) = self.passed(frame, now) else { return false };
        let circles = slot.repeats(SPELL, now) >= REPEATS;
        if slot.is_back(side, now) {
            slot.back.count(now);
        }
        if circles {
            slot.back.cut(now);
        }
        slot.back.is_cutting(now)
    }

    fn passed(&mut self, frame: &[u8], now: Time) -> Option<&mut SentFrame> {
        let hash = self.keys.hash_one(frame);
        let slot = &mut self.left[hash as usize % SLOTS];
        let has_left = slot.hash == hash && slot.at.iter().any(|at| is_recent(*at, now, WINDOW));
        has_left.then_some(slot)
    }
}

impl SentFrame {
    fn repeats(&mut self, span: Duration, now: Time) -> u32 {
        if now.since(self.since) > span {
            (self.since, self.repeats) = (now, 0);
        }
        self.repeats = self.repeats.saturating_add(1);
        self.repeats
    }

    fn is_back(&self, side: Side, now: Time) -> bool {
        is_recent(self.at[side as usize], now, WINDOW)
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
    fn only_frames_that_return_repeatedly_are_cut_in_both_directions() {
        let mut echoes = Echoes::default();
        let frame = broadcast(1);
        let mut passed = 0;
        for us in 1..1000 {
            echoes.leaves(Left, &frame, at(us * 10));
            passed += u32::from(!echoes.comes_back(Left, &frame, at(us * 10 + 5)));
        }
        assert_eq!(passed, ECHOES - 1);
        assert!(echoes.comes_back(Right, &frame, at(15_000)));
        for number in 0..20 {
            let now = at(15_010 + number);
            assert!(!echoes.comes_back(Right, &broadcast(3), now));
            echoes.leaves(Left, &broadcast(3), now);
        }
        assert!(!echoes.comes_back(Left, &broadcast(2), at(20_000)));
        for us in 0..1000 {
            assert!(!echoes.comes_back(Right, &unicast(1), at(20_000 + us)));
            echoes.leaves(Left, &unicast(1), at(20_000 + us));
        }
        echoes.leaves(Left, &frame, at(60_000_000));
        assert!(!echoes.comes_back(Left, &frame, at(60_000_010)));
    }

    #[test]
    fn a_host_that_loops_its_own_frames_cuts_no_frames_of_others() {
        let mut echoes = Echoes::default();
        let (mut mine, mut lost) = (0, 0);
        for ms in 0..4000_u64 {
            let now = at(1 + ms * 1000);
            for frame in [unicast(66), broadcast(66)] {
                for side in [Right, Left] {
                    let is_cut = echoes.comes_back(side, &frame, now);
                    mine += u32::from(is_cut);
                    if !is_cut {
                        echoes.leaves(if side == Left { Right } else { Left }, &frame, now);
                    }
                }
            }
            // BFD repeats a unicast every 10 ms, and a hello repeats a broadcast every 250 ms.
            let now = now + Duration::from_us(500);
            for (every, frame, side) in
                [(10, unicast(1), Right), (10, unicast(2), Left), (250, broadcast(1), Right)]
            {
                if ms % every == 0 {
                    let is_cut = echoes.comes_back(side, &frame, now);
                    lost += u32::from(is_cut);
                    if !is_cut {
                        echoes.leaves(if side == Left { Right } else { Left }, &frame, now);
                    }
                }
            }
        }
        assert!(mine > 1000, "the attack is seen: {mine}");
        assert_eq!(lost, 0);
    }

    fn unicast(number: u8) -> Vec<u8> {
        [&[2, 0, 0, 0, 0, 0x99, 2, 0, 0, 0, 0, number, 0x08, 0x00][..], &[number; 84]].concat()
    }

    /// The switch floods every copy to both ports, so copies circle in both directions.
    #[test]
    fn frames_flooded_to_one_host_are_cut_and_others_are_not() {
        let mut echoes = Echoes::default();
        let (mut circling, mut passed) = ([true; 2], 0);
        for step in 1..20_000_u64 {
            let now = at(step * 50);
            for (from, to) in [(Left, Right), (Right, Left)] {
                if circling[from as usize] {
                    circling[from as usize] = !echoes.comes_back(from, &unicast(1), now);
                    if circling[from as usize] {
                        echoes.leaves(to, &unicast(1), now + Duration::from_us(1));
                        passed += 1;
                    }
                }
            }
            for (from, to, host) in [(Left, Right, 2), (Right, Left, 3)] {
                let frame = [unicast(host), step.to_be_bytes().to_vec()].concat();
                assert!(!echoes.comes_back(from, &frame, now));
                echoes.leaves(to, &frame, now);
            }
        }
        assert!(circling == [false; 2] && passed < 200, "{circling:?} after {passed}");
    }

    #[test]
    fn one_directional_loops_are_cut_too() {
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
    fn occasional_reflections_and_repeating_hosts_are_no_loop() {
        let mut echoes = Echoes::default();
        for number in 0..1000_u64 {
            // Some access points reflect ten frames a second.
            echoes.leaves(Left, &broadcast(number as u8), at(number * 100_000 + 1));
            assert!(!echoes.comes_back(Left, &broadcast(number as u8), at(number * 100_000 + 500)));
        }
        for number in 0..10_000 {
            let now = at(200_000_000 + number * 1000);
            assert!(!echoes.comes_back(Left, &broadcast(255), now));
            echoes.leaves(Right, &broadcast(255), now);
        }
    }
}
