//! Loss recovery with selective acknowledgements.
//!
//! # Source
//! RFC 6675 over the [`Scoreboard`](crate::scoreboard::Scoreboard), also after a timeout.
//!
//! # Where we differ
//! With the quirk `sack_counts_acks`, recovery behaves as ns-2's Sack1:
//! - The number in flight is counted from the third duplicate on, when it is the outstanding
//!   segments minus three. Each duplicate subtracts one, and each partial acknowledgement two.
//! - Every segment missing below the highest arrived segment is retransmitted once, without waiting
//!   for three arrivals above it.
//! - The acknowledgement that ends recovery does not open the window.
//! - A timeout forgets the scoreboard and goes back N. Duplicates are then ignored until new data
//!   is acknowledged.

use super::{DUPLICATES, NONE, Output, Phase, Reaction, Sender, Timer};
use crate::congestion::Control;
use crate::cut::Delivery;
use crate::journal::Measures;
use crate::segment::Ack;
use fairwire_core::Time;

impl Sender {
    pub(super) fn on_selective(&mut self, ack: Ack, now: Time, out: &mut impl Output) {
        if self.counts_acks() {
            return self.on_counted(ack, now, out);
        }
        let in_flight = self.in_flight();
        let is_new = ack.next > self.unacked;
        let losses = self.losses();
        let (newly, measures) = self.take_in(&ack, now);
        if !is_new && newly == 0 {
            return; // it reported nothing
        }
        let was_recovering = self.is_in_recovery();
        if is_new {
            self.duplicates = 0;
            if was_recovering && ack.next >= self.recover {
                self.phase = Phase::Open;
                self.control.recovered(now);
            }
            self.rearm(now);
            self.end_cut(ack.next);
        } else {
            self.duplicates += 1;
        }
        let is_growing = is_new && !self.is_in_recovery();
        if is_growing && (self.counts_marks || !self.is_cutting()) {
            let before = self.control.window();
            self.open_window(&ack, newly, in_flight, measures, now);
            if self.counts_marks {
                self.spread_cut(before);
            }
        } else if self.is_in_recovery() && self.control.grows_in_recovery() {
            self.report_acked(&ack, newly, in_flight, measures, now);
        } else {
            self.unreported = self.unreported.saturating_add(newly as u32);
        }
        let begins = !self.is_in_recovery() && self.is_first_lost() && self.may_repair();
        if begins {
            self.enter_recovery(now);
        }
        if self.is_cutting() {
            self.step_cut(newly, is_new && self.losses() == losses);
        }
        if begins && !self.is_first_on_its_way() {
            self.send_selected(self.unacked, now, out);
        }
        if is_new || self.is_in_recovery() || self.config.limited_transmit {
            self.send_by_board(now, out);
        }
    }

    /// Sends lost segments, then new segments, while the window has room (RFC 6675, section 5, step
    /// C).
    pub(super) fn send_by_board(&mut self, now: Time, out: &mut impl Output) {
        self.send_in_room(now, out);
        if self.is_timely {
            self.set_probe(now);
        }
    }

    fn send_in_room(&mut self, now: Time, out: &mut impl Output) {
        if self.board.as_ref().is_some_and(|board| board.is_empty() && !board.cut.is_on()) {
            return self.send_fresh(now, out);
        }
        let mut left = self.max_per_ack();
        while left > 0 && u64::from(self.in_flight()) < self.room() {
            let Some(seq) = self.next_to_send() else { return self.note_starved(u64::MAX) };
            if !self.may_leave(now, out) {
                return;
            }
            self.send_selected(seq, now, out);
            left -= 1;
        }
        self.is_starved = false;
    }

    /// RFC 6675, section 4, NextSeg.
    fn next_to_send(&mut self) -> Option<u64> {
        let end = self.sendable_end();
        let board = self.board.as_mut()?;
        if board.is_empty() {
            return (self.highest < end).then_some(self.highest);
        }
        if let Some(seq) = board.next_lost() {
            return Some(seq);
        }
        if self.highest < end {
            return Some(self.highest);
        }
        if self.is_timely {
            return None; // left to the tail probe
        }
        let Phase::Recovery { has_acted } = &mut self.phase else { return None };
        if let Some(seq) = board.next_doubtful() {
            return Some(seq);
        }
        // The rescue retransmits the last segment, because no later segment would reveal its loss.
        let last = self.highest - 1;
        let is_useful = !*has_acted && !board.is_sacked(last) && !board.is_repeated(last);
        *has_acted = true;
        is_useful.then_some(last)
    }

    pub(super) fn send_selected(&mut self, seq: u64, now: Time, out: &mut impl Output) {
        let is_again = seq < self.highest;
        if let Some(board) = &mut self.board {
            board.cut.sent();
            if is_again {
                board.repeat(seq, self.highest, now);
                self.epoch ^= std::mem::take(&mut board.rack.begins_epoch);
            }
        }
        self.send_data(seq, now, out);
        self.next = self.highest;
        if is_again && self.is_timely && seq == self.unacked && self.timer != Timer::Reordering {
            self.arm(now);
        }
    }

    pub(super) fn take_in(&mut self, ack: &Ack, now: Time) -> (u64, Measures) {
        let Some(board) = &mut self.board else { return (0, Measures::default()) };
        let mut newly = board.advance(ack.next);
        self.unacked = ack.next;
        self.next = self.next.max(ack.next);
        if !ack.sack.is_empty() {
            let journal = &mut self.journal;
            newly += board.take(&ack.sack, self.highest, |seq| {
                if let Some(journal) = journal {
                    journal.delivered(seq, now);
                }
            });
        }
        let is_from_before = self.is_timely && self.is_from_before(ack.echo);
        (newly, self.measure_by(ack.next, is_from_before, now))
    }

    fn is_first_lost(&self) -> bool {
        let by_board = self.board.as_ref().is_some_and(|board| board.is_lost(self.unacked));
        by_board || self.duplicates >= DUPLICATES
    }

    /// True if the first unacknowledged segment was retransmitted and may still arrive. This is
    /// possible when a repair begins, because the previous repair may have retransmitted losses
    /// among segments sent after its beginning.
    fn is_first_on_its_way(&self) -> bool {
        self.board.as_ref().is_some_and(|board| board.is_repeated(self.unacked))
    }

    pub(super) fn enter_recovery(&mut self, now: Time) {
        self.count_repair();
        let reduces = self.is_new_loss() || self.reaction != Reaction::Mark;
        if self.is_timely {
            self.note_reduction(!reduces);
        }
        if reduces {
            let congested = self.congested(now);
            let before = self.control.window();
            self.control.lost(&congested);
            self.spread_cut(before);
            if self.is_timely {
                self.owe_cwr();
            }
        }
        self.reduced(Reaction::Duplicates);
        self.phase = Phase::Recovery { has_acted: false };
        self.timed_seq = NONE;
        self.arm(now);
        if let Some(board) = &mut self.board
            && !self.is_timely
        {
            board.lose_first();
        }
    }
}

impl Sender {
    /// If the controller has cut the window below `before`, spreads the cut over the following
    /// round trip.
    pub(super) fn spread_cut(&mut self, before: f64) {
        let (target, window_limit) = (self.control.window(), self.window_limit());
        let has_pipe = !self.counts_acks();
        if !self.config.spreads_cuts || target >= before || self.control.grows_in_recovery() {
            return;
        }
        let highest = self.highest;
        if let Some(board) = &mut self.board
            && has_pipe
        {
            board.cut.begin(before.min(window_limit), target, highest);
        }
    }

    pub(super) fn end_cut(&mut self, acked: u64) {
        let is_repairing = self.is_in_recovery();
        if let Some(board) = &mut self.board
            && !is_repairing
            && board.cut.until().is_some_and(|until| acked >= until)
        {
            board.cut.end();
        }
    }

    #[inline]
    pub(super) fn is_cutting(&self) -> bool {
        self.board.as_ref().is_some_and(|board| board.cut.is_on())
    }

    pub(super) fn step_cut(&mut self, newly: u64, is_safe: bool) {
        let delivery = Delivery { newly: newly as u32, is_safe, in_flight: self.in_flight().into() };
        if let Some(board) = &mut self.board {
            board.cut.step(delivery);
        }
    }

    pub(super) fn losses(&self) -> u32 {
        self.board.as_ref().map_or(0, |board| board.losses())
    }

    pub(super) fn room(&self) -> u64 {
        let window = self.control.window();
        self.board.as_ref().map_or(window as u64, |board| board.cut.room(window))
    }
}

/// The quirk `sack_counts_acks`: ns-2's Sack1.
impl Sender {
    fn on_counted(&mut self, ack: Ack, now: Time, out: &mut impl Output) {
        let in_flight = self.in_flight();
        let before = self.unacked;
        let is_new = ack.next > before;
        let is_deaf = self.duplicates > DUPLICATES; // since a timeout
        if !is_new && (self.highest == before || is_deaf) {
            return;
        }
        let (newly, measures) = self.take_in(&ack, now);
        match (self.is_in_recovery(), is_new) {
            (true, true) if ack.next >= self.recover => self.counted_recovery_ends(ack, before, now),
            (true, true) => {
                self.pipe = self.pipe.saturating_sub(2);
                self.unreported = self.unreported.saturating_add((ack.next - before) as u32);
                self.rtt.progressed();
                self.rearm(now);
            }
            (true, false) => self.pipe = self.pipe.saturating_sub(1),
            (false, true) => {
                self.duplicates = 0;
                self.open_window(&ack, ack.next - before, in_flight, measures, now);
                self.rearm(now);
                self.forget_board();
            }
            (false, false) if newly == 0 => return, // it reported nothing
            (false, false) => return self.on_counted_duplicate(now, out),
        }
        self.send_by_count(now, out);
    }

    fn counted_recovery_ends(&mut self, ack: Ack, before: u64, now: Time) {
        self.phase = Phase::Open;
        self.recover = 0; // any later loss is a new one
        self.duplicates = 0;
        self.unreported = self.unreported.saturating_add((ack.next - before) as u32);
        self.control.recovered(now);
        self.rearm(now);
        self.forget_board();
    }

    fn on_counted_duplicate(&mut self, now: Time, out: &mut impl Output) {
        self.duplicates = DUPLICATES.min(self.duplicates + 1);
        if self.duplicates < DUPLICATES {
            if self.config.limited_transmit {
                self.send_one_beyond(now, out);
            }
        } else if self.may_repair() {
            self.pipe =
                u32::try_from(self.highest - self.unacked).unwrap_or(u32::MAX).saturating_sub(DUPLICATES);
            self.enter_recovery(now);
            self.send_selected(self.unacked, now, out);
        }
    }

    pub(super) fn send_by_count(&mut self, now: Time, out: &mut impl Output) {
        let mut left = self.max_per_ack();
        while left > 0 && self.has_counted_room() {
            let lost = self.board.as_ref().and_then(|board| board.next_doubtful());
            let seq = lost.unwrap_or(self.next);
            if lost.is_none() && seq >= self.sendable_end() {
                break;
            }
            if !self.may_leave(now, out) {
                return;
            }
            self.pipe += u32::from(self.is_in_recovery());
            self.send_counted(seq, now, out);
            left -= 1;
        }
        self.note_starved(self.window_end());
    }

    fn has_counted_room(&self) -> bool {
        if self.is_in_recovery() {
            u64::from(self.pipe) < self.control.window() as u64
        } else {
            self.next < self.window_end()
        }
    }

    fn send_counted(&mut self, seq: u64, now: Time, out: &mut impl Output) {
        if seq < self.next
            && let Some(board) = &mut self.board
        {
            board.repeat(seq, self.next, now);
        }
        self.send_data(seq, now, out);
        self.next = self.next.max(seq + 1);
    }

    fn forget_board(&mut self) {
        if let Some(board) = &mut self.board {
            board.clear();
        }
    }
}
