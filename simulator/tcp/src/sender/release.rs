//! Decides which segments may be sent now: the window, limited transmit (RFC 3042), pacing, and the
//! host's queue.

use super::{NONE, Output, Phase, Sender};
use crate::congestion::Control;
use crate::segment::Segment;
use fairwire_core::{Duration, Ecn, Time};

impl Sender {
    #[inline]
    pub(super) fn transmit(&mut self, now: Time, out: &mut impl Output) {
        match (&self.board, self.counts_acks()) {
            (None, _) => self.send_window(self.max_per_ack(), now, out),
            (Some(_), false) => self.send_by_board(now, out),
            (Some(_), true) => self.send_by_count(now, out),
        }
    }

    #[inline]
    pub(super) fn max_per_ack(&self) -> u64 {
        no_zero(self.config.quirks.max_per_ack)
    }

    #[inline]
    pub(super) fn max_per_duplicate(&self) -> u64 {
        no_zero(self.config.quirks.max_per_duplicate)
    }

    #[inline]
    pub(super) fn window_end(&self) -> u64 {
        let inflated = self.control.window() + f64::from(self.inflation);
        let limit = self.window_limit();
        let usable = if inflated < limit { inflated } else { limit };
        self.unacked + usable as u64
    }

    /// The first segment for which the receiver has no room, or which the application has not
    /// written.
    #[inline]
    pub(super) fn sendable_end(&self) -> u64 {
        (self.unacked + self.window_limit().min(1e18) as u64).min(self.end)
    }

    #[inline]
    pub(super) fn send_window(&mut self, most: u64, now: Time, out: &mut impl Output) {
        let window_end = self.window_end();
        let end = window_end.min(self.end).min(self.next.saturating_add(most));
        while self.next < end {
            if !self.may_leave(now, out) {
                return;
            }
            self.send_next(now, out);
        }
        self.note_starved(window_end);
    }

    #[inline]
    pub(super) fn note_starved(&mut self, window_end: u64) {
        self.is_starved = self.next == self.end && self.next < window_end;
        if self.is_starved {
            self.note_limited();
        }
    }

    #[inline(never)]
    fn note_limited(&mut self) {
        let in_flight = self.in_flight();
        if let Some(journal) = &mut self.journal {
            journal.limited(in_flight);
        }
    }

    /// Limited transmit: sends one new segment beyond the window for each of the first two
    /// duplicates (RFC 3042).
    pub(super) fn send_one_beyond(&mut self, now: Time, out: &mut impl Output) {
        let beyond = self.window_end() + u64::from(self.duplicates);
        if self.next < beyond.min(self.sendable_end()) {
            self.send_next(now, out);
        }
    }

    #[inline(always)]
    pub(super) fn send_next(&mut self, now: Time, out: &mut impl Output) {
        self.send_segment(self.next, now, out);
        self.next += 1;
    }

    #[inline(never)] // rare, so not worth another copy of the code
    pub(super) fn send_data(&mut self, seq: u64, now: Time, out: &mut impl Output) {
        self.send_segment(seq, now, out);
    }

    #[inline(always)]
    fn send_segment(&mut self, seq: u64, now: Time, out: &mut impl Output) {
        if self.has_journal
            && let Some(journal) = &mut self.journal
        {
            journal.sent(seq, now, self.unacked == self.highest);
        }
        let segment = if seq < self.highest { self.again(seq) } else { self.anew(seq, now) };
        out.send(segment);
        if self.config.restart_window.is_some() {
            self.last_sent = now;
        }
        if self.retransmit_at == Time::MAX {
            self.arm(now);
        }
    }

    #[inline]
    fn anew(&mut self, seq: u64, now: Time) -> Segment {
        if self.timed_seq == NONE {
            (self.timed_seq, self.timed_at) = (seq, now);
        }
        self.highest = seq + 1;
        let cwr = std::mem::take(&mut self.owes_cwr);
        Segment { seq, is_syn: false, is_retransmission: false, ecn: self.ecn, cwr, epoch: self.epoch }
    }

    fn again(&self, seq: u64) -> Segment {
        let ecn = if self.config.quirks.ecn_on_retransmissions { self.ecn } else { Ecn::NotEct };
        Segment { seq, is_syn: false, is_retransmission: true, ecn, cwr: false, epoch: self.epoch }
    }

    /// True if a segment may leave now. If so, a paced flow's next segment waits for the pacing
    /// gap. As in Linux, the window does not grow while the host's queue is full.
    #[inline]
    pub(super) fn may_leave(&mut self, now: Time, out: &impl Output) -> bool {
        if self.has_host {
            let room_from = out.room_from();
            if room_from > now {
                self.release_at = self.release_at.max(room_from);
                self.is_starved = true;
            }
        }
        self.is_held = now < self.release_at;
        if self.is_held {
            return false;
        }
        if let Some(pace) = self.control.pace() {
            self.leave_gap(pace, now);
        }
        true
    }

    #[inline(never)]
    pub(super) fn leave_gap(&mut self, pace: f64, now: Time) {
        let gap = Duration::from_secs_f64((1.0 / pace).clamp(0.0, MAX_GAP_S));
        let late = if self.config.makes_up_for_late { now.since(self.release_at).ns() } else { 0 };
        self.release_at = now + Duration::from_ns(gap.ns() - late.min(gap.ns() / 2));
    }

    pub(super) fn is_in_recovery(&self) -> bool {
        matches!(self.phase, Phase::Recovery { .. })
    }
}

/// The maximum gap between paced segments, in seconds. In a longer gap, the retransmission timer
/// would expire.
const MAX_GAP_S: f64 = 60.0;

fn no_zero(most: u32) -> u64 {
    if most == 0 { u64::MAX } else { u64::from(most) }
}
