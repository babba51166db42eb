//! The sender's knowledge about each segment in flight, from selective acknowledgements (RFC 6675,
//! section 4).
//!
//! The board has one byte per segment, from the first unacknowledged to the highest about which
//! something is known. Counts updated at every change give the number in flight ("pipe"). So the
//! cost of an acknowledgement depends on what it newly reports, not on the window.
//!
//! Under [`Recovery::Rack`](crate::Recovery::Rack), time decides what is lost (RFC 8985, section
//! 6.2, step 5). Segments sent once are examined in number order, which is their sending order.
//! Retransmissions are examined in their own sending order. So every segment is examined once.
//!
//! # Where we differ
//! Under `Rule::Count`, a retransmission counts as lost when the receiver reports a segment that
//! was first sent later. This is in the spirit of RFC 8985; RFC 6675 would wait for the timer.

use crate::cut::Cut;
use crate::journal::Journal;
use crate::rack::{DUPLICATES, Rack};
use crate::segment::Sack;
use fairwire_core::{Duration, Time};
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    base: u64,
    segments: VecDeque<u8>,
    sacked: u32,       // of the segments: arrived
    lost: u32,         // not arrived and considered lost
    repeated: u32,     // not arrived and sent again
    lost_below: u64,   // everything below that has not arrived is lost
    sacked_below: u64, // one beyond the highest that has arrived
    repair_from: u64,  // nothing below needs retransmission
    losses: u32,       // all of them, wrapping
    reported: u32,     // of those, at the last call of `newly_lost`
    repeats: VecDeque<Repeat>,
    reported_runs: [[u64; 2]; Sack::MOST], // the blocks taken in last, which have arrived completely
    rule: Rule,
    /// Times and reordering, under [`Rule::Time`].
    pub(crate) rack: Rack,
    pub(crate) cut: Cut,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Rule {
    /// A segment is lost once three segments above it have arrived. A retransmission is lost once a
    /// segment that was first sent later has arrived.
    #[default]
    Count,
    /// A segment is lost once three segments above it have arrived. A retransmission never counts
    /// as lost.
    CountOnce,
    /// The time since a segment was sent decides whether it is lost (RFC 8985).
    Time,
}

/// A retransmission: its sending time, and the first segment not yet sent at that time.
#[derive(Clone, Copy, Debug)]
struct Repeat {
    seq: u64,
    before: u64,
    at: Time,
}

const SACKED: u8 = 1;
const LOST: u8 = 2;
const REPEATED: u8 = 4;

/// The number of segments for which an empty board keeps memory.
const KEPT: usize = 64;

impl Scoreboard {
    pub(crate) fn by(rule: Rule) -> Self {
        Scoreboard { rule, ..Scoreboard::default() }
    }

    /// The number of segments of `[unacked, highest)` in flight, including retransmissions.
    #[inline]
    pub(crate) fn pipe(&self, unacked: u64, highest: u64) -> u64 {
        (highest - unacked) + u64::from(self.repeated) - u64::from(self.sacked + self.lost)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Is everything sent still in flight? This can be true after an undo, although the board still
    /// records retransmissions.
    pub(crate) fn is_all_in_flight(&self) -> bool {
        self.sacked == 0 && self.lost == 0
    }

    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_empty() && !self.cut.is_on() && self.rack.probe.is_none() && !self.rack.is_explained()
    }

    pub(crate) fn is_sacked(&self, seq: u64) -> bool {
        self.state(seq) & SACKED != 0
    }

    pub(crate) fn is_repeated(&self, seq: u64) -> bool {
        self.state(seq) & REPEATED != 0
    }

    pub(crate) fn is_lost(&self, seq: u64) -> bool {
        self.state(seq) & LOST != 0
    }

    /// Acknowledges all segments below `unacked`. Returns how many of them were not known to have
    /// arrived.
    pub(crate) fn advance(&mut self, unacked: u64) -> u64 {
        let from = std::mem::replace(&mut self.base, unacked);
        if self.segments.is_empty() {
            return unacked - from;
        }
        let mut known = 0;
        for _ in from..unacked {
            let Some(state) = self.segments.pop_front() else { break };
            known += u64::from(state & SACKED);
            self.uncount(state);
        }
        if self.segments.is_empty() {
            self.emptied();
        }
        (unacked - from) - known
    }

    /// Handles the SACK blocks of an acknowledgement of everything below the base. `highest` is the
    /// first segment not yet sent. Calls `each` for every newly reported segment, and returns their
    /// number.
    pub(crate) fn take(&mut self, sack: &Sack, highest: u64, mut each: impl FnMut(u64)) -> u64 {
        let before = self.sacked;
        let known = std::mem::take(&mut self.reported_runs);
        for (block, run) in sack.iter().zip(0..) {
            let start = self.base + u64::from(block.offset);
            let end = (start + u64::from(block.len)).min(highest);
            self.extend_to(end);
            let mut seq = start;
            while seq < end {
                if let Some(&[_, to]) = known.iter().find(|[from, to]| (*from..*to).contains(&seq)) {
                    seq = to;
                    continue;
                }
                if self.arrived(seq) {
                    each(seq);
                }
                seq += 1;
            }
            self.sacked_below = self.sacked_below.max(end);
            self.reported_runs[run] = [start, end];
        }
        if self.sacked > before && self.rule != Rule::Time {
            self.find_lost();
            self.find_lost_repeats();
        }
        u64::from(self.sacked - before)
    }

    #[inline]
    pub(crate) fn newly_lost(&mut self) -> u32 {
        self.losses.wrapping_sub(std::mem::replace(&mut self.reported, self.losses))
    }

    pub(crate) fn losses(&self) -> u32 {
        self.losses
    }

    /// One beyond the highest segment that has arrived out of order; 0 for none.
    pub(crate) fn sacked_below(&self) -> u64 {
        self.sacked_below
    }

    pub(crate) fn has_lost(&self) -> bool {
        self.lost > 0
    }

    pub(crate) fn repeated(&self) -> u32 {
        self.repeated
    }

    /// True if enough segments arrived out of order to show that the first segment in flight is
    /// lost, assuming no reordering.
    pub(crate) fn has_duplicates(&self) -> bool {
        self.sacked >= DUPLICATES
    }

    /// True if everything in flight was sent after `rack.latest`.
    #[inline]
    pub(crate) fn is_in_order(&self, journal: &Journal) -> bool {
        self.is_empty() && journal.last_sent(self.base) >= self.rack.latest.sent
    }

    /// Implements RACK_detect_loss for the missing segments sent before `rack.latest`. Marks a
    /// segment as lost if at least a round trip plus `window` has passed since it was sent. If some
    /// of these segments are not yet lost, returns the time by which all will count as lost.
    pub(crate) fn find_late(
        &mut self,
        journal: &Journal,
        window: Duration,
        highest: u64,
        now: Time,
    ) -> Option<Time> {
        let Rack { latest, rtt, .. } = self.rack;
        let patience = rtt + window;
        let is_before = |sent: Time, seq: u64| (sent, seq) < (latest.sent, latest.seq);
        let mut is_waiting = false;
        let mut seq = self.lost_below.max(self.base);
        while seq < highest {
            if self.state(seq) & SACKED == 0
                && let Some(sent) = journal.sent_once(seq)
            {
                if !is_before(sent, seq) {
                    break;
                }
                if sent + patience > now {
                    is_waiting = true;
                    break;
                }
                self.extend_to(seq + 1);
                self.lose(seq);
            }
            seq += 1;
        }
        self.lost_below = self.lost_below.max(seq);
        while let Some(&Repeat { seq, at, .. }) = self.repeats.front() {
            let is_current = self.is_repeated(seq) && journal.last_sent(seq) == at;
            if is_current && (!is_before(at, seq) || at + patience > now) {
                is_waiting |= is_before(at, seq);
                break;
            }
            self.repeats.pop_front();
            if is_current {
                self.lose_again(seq);
            }
        }
        is_waiting.then_some(latest.sent + patience)
    }

    /// After a timeout, marks as lost the first segment, and all that were sent at least a round
    /// trip ago and have not arrived (RFC 8985, section 6.3).
    pub(crate) fn lose_old(&mut self, journal: &Journal, highest: u64, now: Time) {
        self.extend_to(highest);
        let oldest = now.saturating_sub(self.rack.rtt);
        for seq in self.base..highest {
            if seq > self.base && journal.last_sent(seq) > oldest {
                continue;
            }
            if self.is_repeated(seq) {
                self.lose_again(seq);
            } else {
                self.lose(seq);
            }
        }
        self.reported = self.losses; // the sender knows
    }

    pub(crate) fn lose_nothing(&mut self) {
        for state in &mut self.segments {
            *state &= !LOST;
        }
        self.lost = 0;
        (self.lost_below, self.repair_from) = (self.base, self.base);
    }

    pub(crate) fn lose_first(&mut self) {
        self.extend_to(self.base + 1);
        self.lose(self.base);
    }

    /// After a timeout, marks as lost everything below `highest` that has not arrived, including
    /// retransmissions.
    pub(crate) fn lose_all(&mut self, highest: u64) {
        self.extend_to(highest);
        for at in 0..self.segments.len() {
            let state = self.segments[at];
            self.uncount(state & REPEATED);
            self.segments[at] = state & !REPEATED;
            self.lose(self.base + at as u64);
        }
        self.lost_below = highest;
        self.reported = self.losses; // the sender knows
        self.repeats.clear();
        self.repair_from = self.base;
    }

    pub(crate) fn clear(&mut self) {
        self.segments.clear();
        self.emptied();
    }

    pub(crate) fn next_lost(&mut self) -> Option<u64> {
        let from = self.repair_from.max(self.base);
        let found = self.first(from, self.lost_below, |state| state & (LOST | REPEATED) == LOST);
        self.repair_from = found.unwrap_or(self.lost_below.max(from));
        found
    }

    /// The first segment that has neither arrived nor been retransmitted, although a later one has
    /// arrived (RFC 6675, section 4, NextSeg 3).
    pub(crate) fn next_doubtful(&self) -> Option<u64> {
        self.first(self.base, self.sacked_below, |state| state & (SACKED | REPEATED) == 0)
    }

    pub(crate) fn repeat(&mut self, seq: u64, highest: u64, at: Time) {
        self.extend_to(seq + 1);
        let state = &mut self.segments[(seq - self.base) as usize];
        if *state & REPEATED == 0 {
            *state |= REPEATED;
            self.repeated += 1;
        }
        if self.rule != Rule::CountOnce {
            self.repeats.push_back(Repeat { seq, before: highest, at });
        }
        if self.rule == Rule::Time {
            self.rack.repeated();
        }
    }

    #[inline]
    fn state(&self, seq: u64) -> u8 {
        match seq.checked_sub(self.base) {
            Some(at) => self.segments.get(at as usize).copied().unwrap_or(0),
            None => 0,
        }
    }

    fn first(&self, from: u64, to: u64, is_sought: impl Fn(u8) -> bool) -> Option<u64> {
        let to = to.min(self.base + self.segments.len() as u64);
        (from..to).find(|&seq| is_sought(self.segments[(seq - self.base) as usize]))
    }

    fn extend_to(&mut self, end: u64) {
        let len = end.saturating_sub(self.base) as usize;
        if len > self.segments.len() {
            self.segments.resize(len, 0);
        }
    }

    fn arrived(&mut self, seq: u64) -> bool {
        let at = (seq - self.base) as usize;
        let before = self.segments[at];
        if before & SACKED != 0 {
            return false;
        }
        self.uncount(before);
        self.segments[at] = SACKED;
        self.sacked += 1;
        true
    }

    fn uncount(&mut self, state: u8) {
        self.sacked -= u32::from(state & SACKED != 0);
        self.lost -= u32::from(state & LOST != 0);
        self.repeated -= u32::from(state & REPEATED != 0);
    }

    fn lose(&mut self, seq: u64) {
        let state = &mut self.segments[(seq - self.base) as usize];
        if *state & (SACKED | LOST) == 0 {
            *state |= LOST;
            self.lost += 1;
            self.losses = self.losses.wrapping_add(1);
            self.repair_from = self.repair_from.min(seq);
            self.lost_below = self.lost_below.max(seq + 1);
        }
    }

    fn lose_again(&mut self, seq: u64) {
        self.uncount(REPEATED);
        let state = &mut self.segments[(seq - self.base) as usize];
        *state &= !REPEATED;
        if *state & LOST == 0 {
            return self.lose(seq);
        }
        self.losses = self.losses.wrapping_add(1);
        self.repair_from = self.repair_from.min(seq);
    }

    /// Marks each missing segment as lost if three segments above it have arrived (RFC 6675,
    /// section 4, IsLost).
    fn find_lost(&mut self) {
        let mut above = 0;
        let mut end = self.sacked_below;
        while above < DUPLICATES && end > self.lost_below.max(self.base) {
            end -= 1;
            above += u32::from(self.is_sacked(end));
        }
        if above < DUPLICATES {
            return;
        }
        for seq in self.lost_below.max(self.base)..end {
            self.lose(seq);
        }
        self.lost_below = self.lost_below.max(end);
    }

    fn find_lost_repeats(&mut self) {
        while let Some(&Repeat { seq, before, .. }) = self.repeats.front() {
            if before >= self.sacked_below {
                break;
            }
            self.repeats.pop_front();
            if self.is_repeated(seq) {
                self.lose_again(seq);
            }
        }
    }

    fn emptied(&mut self) {
        (self.sacked, self.lost, self.repeated) = (0, 0, 0);
        (self.lost_below, self.sacked_below, self.repair_from) = (0, 0, 0);
        self.reported_runs = Default::default();
        self.repeats.clear();
        self.segments.shrink_to(KEPT);
        self.repeats.shrink_to(KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Block;
    use fairwire_core::{Rng, Seed};

    fn sack(base: u64, runs: &[(u64, u64)]) -> Sack {
        let mut sack = Sack::NONE;
        for (block, (start, end)) in sack.blocks.iter_mut().zip(runs) {
            *block = Block { offset: (start - base) as u32, len: (end - start) as u32 };
        }
        sack
    }

    #[test]
    fn three_arrivals_above_make_a_segment_lost_and_two_do_not() {
        let mut board = Scoreboard::default();
        assert_eq!(board.take(&sack(0, &[(2, 4)]), 10, |_| {}), 2);
        assert!(!board.is_lost(0) && !board.is_lost(1));
        assert_eq!((board.pipe(0, 10), board.next_lost()), (8, None));
        assert_eq!(board.take(&sack(0, &[(5, 6), (2, 4)]), 10, |_| {}), 1);
        assert!(board.is_lost(0) && board.is_lost(1) && !board.is_lost(4));
        assert_eq!((board.pipe(0, 10), board.next_lost()), (5, Some(0)));
        board.repeat(0, 10, Time::ZERO);
        assert_eq!((board.pipe(0, 10), board.next_lost()), (6, Some(1)));
        assert_eq!(board.advance(1), 1);
        assert_eq!(board.pipe(1, 10), 5);
        board.repeat(1, 10, Time::ZERO);
        assert_eq!((board.next_lost(), board.next_doubtful()), (None, Some(4)));
        assert_eq!(board.advance(4), 1); // of 1, 2 and 3, only 1 was not known to have arrived
        assert_eq!(board.pipe(4, 10), 5);
    }

    #[test]
    fn a_retransmission_is_lost_when_later_data_arrives() {
        let mut board = Scoreboard::default();
        board.take(&sack(0, &[(1, 4)]), 6, |_| {});
        board.repeat(0, 6, Time::ZERO);
        board.take(&sack(0, &[(1, 6)]), 6, |_| {});
        assert_eq!(board.next_lost(), None);
        board.take(&sack(0, &[(1, 7)]), 8, |_| {});
        assert_eq!((board.next_lost(), board.pipe(0, 8)), (Some(0), 1));
        board.repeat(0, 8, Time::ZERO);
        assert_eq!((board.next_lost(), board.pipe(0, 8)), (None, 2));
    }

    #[test]
    fn a_timeout_marks_all_missing_segments_lost() {
        let mut board = Scoreboard::default();
        board.take(&sack(0, &[(1, 4)]), 6, |_| {});
        board.repeat(0, 6, Time::ZERO);
        board.lose_all(6);
        assert_eq!((board.pipe(0, 6), board.next_lost()), (0, Some(0)));
        board.repeat(0, 6, Time::ZERO);
        assert_eq!(board.next_lost(), Some(4));
        board.advance(6);
        assert!(board.is_empty());
        assert_eq!(board.pipe(6, 9), 3);
    }

    /// The definitions of RFC 6675, section 4, evaluated on a list of every segment.
    struct Reference {
        base: u64,
        sacked: Vec<bool>,
        repeated: Vec<bool>,
        lost: Vec<bool>,
    }

    impl Reference {
        fn update(&mut self) {
            for seq in 0..self.sacked.len() {
                let above = self.sacked[seq + 1..].iter().filter(|&&sacked| sacked).count();
                self.lost[seq] |= above >= 3;
            }
        }
        fn pipe(&self) -> u64 {
            let segments = self.base as usize..self.sacked.len();
            let count = |seq: usize| match (self.sacked[seq], self.lost[seq], self.repeated[seq]) {
                (true, ..) => 0,
                (false, lost, repeated) => u64::from(!lost) + u64::from(repeated),
            };
            segments.map(count).sum()
        }
        fn next_lost(&self) -> Option<u64> {
            let is_next = |&seq: &usize| self.lost[seq] && !self.sacked[seq] && !self.repeated[seq];
            (self.base as usize..self.sacked.len()).find(is_next).map(|seq| seq as u64)
        }
    }

    fn arrival(plain: &Reference, rng: &mut Rng) -> (u64, u64) {
        let highest = plain.sacked.len() as u64;
        let start = plain.base + 1 + u64::from(rng.below((highest - plain.base - 1) as u32));
        (start, (start + 1 + u64::from(rng.below(3))).min(highest))
    }

    #[test]
    fn counts_match_the_definitions_over_random_acknowledgements() {
        let mut rng = Seed(5).stream("scoreboard");
        for _ in 0..200 {
            let mut board = Scoreboard::by(Rule::CountOnce); // RFC 6675 never considers a retransmission lost
            let mut plain = Reference { base: 0, sacked: vec![], repeated: vec![], lost: vec![] };
            let mut recent = Vec::new(); // the runs of earlier arrivals
            for _ in 0..200 {
                let highest = plain.sacked.len() + rng.below(4) as usize + 1;
                for list in [&mut plain.sacked, &mut plain.repeated, &mut plain.lost] {
                    list.resize(highest, false);
                }
                let highest = highest as u64;
                match rng.below(10) {
                    0 => {
                        let ahead =
                            (plain.base as usize..plain.sacked.len()).take_while(|&s| plain.sacked[s]);
                        let step = ahead.count() as u64 + 1;
                        plain.base = (plain.base + step).min(highest - 1);
                        board.advance(plain.base);
                    }
                    1 => {
                        board.lose_all(highest);
                        plain.repeated[plain.base as usize..].fill(false);
                        plain.lost[plain.base as usize..].fill(true);
                    }
                    2..5 => {
                        if let Some(seq) = plain.next_lost() {
                            board.repeat(seq, highest, Time::ZERO);
                            plain.repeated[seq as usize] = true;
                        }
                    }
                    _ if plain.base + 1 < highest => {
                        let (start, end) = arrival(&plain, &mut rng);
                        let fresh = (start..end).filter(|&s| !plain.sacked[s as usize]).count();
                        plain.sacked[start as usize..end as usize].fill(true);
                        recent.retain(|&(other, _)| other > plain.base);
                        recent.insert(0, (start, end));
                        recent.truncate(1 + rng.below(3) as usize);
                        let reported = board.take(&sack(plain.base, &recent), highest, |_| {});
                        assert_eq!(reported as usize, fresh);
                        plain.update();
                    }
                    _ => {}
                }
                assert_eq!(board.pipe(plain.base, highest), plain.pipe());
                assert_eq!(board.next_lost(), plain.next_lost());
            }
        }
    }
}
