//! The usual acknowledgement under RACK-TLP: no segment is lost, repeated or out of order, and
//! there is no cut or possible undo.
//!
//! [`on_timely`](Sender::on_timely) has the same effect in more steps. This file saves a tenth of
//! the instructions of a run of CUBIC flows.

use super::{Output, Phase, Sender};
use crate::congestion::Control;
use crate::segment::Ack;
use fairwire_core::Time;

impl Sender {
    #[inline]
    pub(super) fn is_usual(&self, ack: &Ack) -> bool {
        let (Some(board), Some(journal)) = (&self.board, &self.journal) else { return false };
        self.phase == Phase::Open
            && ack.next > self.unacked
            && ack.sack.is_empty()
            && !self.counts_marks
            && board.is_quiet()
            && board.is_in_order(journal)
    }

    #[inline]
    pub(super) fn on_usual(&mut self, ack: Ack, now: Time, out: &mut impl Output) {
        let (Some(board), Some(journal)) = (&mut self.board, &mut self.journal) else { return };
        let in_flight = self.highest - self.unacked;
        let newly = board.advance(ack.next);
        let (latest, measures) = journal.advance_in_order(ack.next, now);
        board.rack.advance(latest, false, journal.least_rtt(), now);
        self.unacked = ack.next;
        if let Some(rtt) = measures.rtt {
            self.sample(rtt);
        }
        self.duplicates = 0;
        self.rearm(now);
        self.open_window(&ack, newly, in_flight as u32, measures, now);
        self.send_by_board(now, out);
    }

    /// Requires that no segment is lost or out of order.
    pub(super) fn send_fresh(&mut self, now: Time, out: &mut impl Output) {
        let end = self.sendable_end();
        let room = self.control.window() as u64;
        let mut left = self.max_per_ack();
        while left > 0 && self.highest - self.unacked < room {
            if self.highest >= end {
                return self.note_starved(u64::MAX);
            }
            if !self.may_leave(now, out) {
                return;
            }
            self.send_data(self.highest, now, out);
            self.next = self.highest;
            left -= 1;
        }
        self.is_starved = false;
    }
}
