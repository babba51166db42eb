//! Loss recovery without selective acknowledgements.
//!
//! # Source
//! Tahoe: only fast retransmit (V. Jacobson, SIGCOMM 1988). Reno: RFC 5681, section 3.2. NewReno:
//! RFC 6582. Choices that the RFCs leave open follow ns-2:
//! - The window after recovery is half of the window before, unrounded.
//! - NewReno's timer restarts only on the first partial acknowledgement ("impatient").
//! - Without a journal, no partial acknowledgement measures a round trip.
//! - Duplicates after a timeout repair nothing (ns-2's `bugFix_`).

use super::{DUPLICATES, Output, Phase, Reaction, Sender};
use crate::config::Recovery;
use crate::congestion::Control;
use crate::journal::Measures;
use crate::segment::Ack;
use fairwire_core::Time;

impl Sender {
    #[inline(always)]
    pub(super) fn on_new_ack(&mut self, ack: &Ack, now: Time, out: &mut impl Output) {
        let mut newly = ack.next - self.unacked;
        let in_flight = self.in_flight_without_board();
        self.unacked = ack.next;
        self.next = self.next.max(ack.next);
        self.duplicates = 0;
        // Everything up to `recover` must be acknowledged before recovery ends (RFC 6582,
        // section 3.2).
        let is_partial =
            self.is_in_recovery() && self.config.recovery == Recovery::NewReno && ack.next < self.recover;
        if is_partial {
            self.forget_timed(ack.next);
        }
        let measures = self.measure(ack.next, now);
        if let Phase::Recovery { has_acted } = self.phase {
            if is_partial {
                if self.control.grows_in_recovery() {
                    self.report_acked(ack, newly, in_flight, measures, now);
                } else {
                    self.unreported = self.unreported.saturating_add(newly as u32);
                }
                return self.on_partial_ack(newly, has_acted, now, out);
            }
            self.phase = Phase::Open;
            self.inflation = 0;
            self.control.recovered(now);
            // Only the retransmitted segment has just arrived. The others arrived earlier, while
            // the window was not allowed to grow.
            self.unreported = self.unreported.saturating_add(u32::try_from(newly - 1).unwrap_or(u32::MAX));
            newly = 1;
        }
        self.open_window(ack, newly, in_flight, measures, now);
        self.rearm(now);
        self.send_window(self.max_per_ack(), now, out);
    }

    /// Opens the window, unless the acknowledgement echoes a mark (RFC 3168, section 6.1.2).
    #[inline]
    pub(super) fn open_window(
        &mut self,
        ack: &Ack,
        newly: u64,
        in_flight: u32,
        measures: Measures,
        now: Time,
    ) {
        if ack.ece && !self.counts_marks {
            self.unreported = self.unreported.saturating_add(newly as u32);
        } else {
            self.report_acked(ack, newly, in_flight, measures, now);
        }
    }

    /// Stops timing a segment that a partial acknowledgement covers. The segment may have waited
    /// behind a hole, so the acknowledgement ends a back-off but measures nothing.
    fn forget_timed(&mut self, acked_to: u64) {
        if !self.has_journal && self.timed_seq < acked_to {
            self.timed_seq = super::NONE;
            self.rtt.progressed();
        }
    }

    /// Handles a partial acknowledgement, in the "impatient" variant of RFC 6582: retransmits the
    /// next hole, which is also lost. The segments acknowledged, minus one for this retransmission,
    /// are subtracted first from the inflation, then from the window.
    fn on_partial_ack(&mut self, newly: u64, seen_partial: bool, now: Time, out: &mut impl Output) {
        let newly = u32::try_from(newly).unwrap_or(u32::MAX);
        if self.inflation > newly {
            self.inflation -= newly - 1;
        } else {
            self.control.deflated(f64::from(newly - self.inflation));
            self.inflation = 1;
        }
        if !seen_partial {
            self.phase = Phase::Recovery { has_acted: true };
            self.arm(now);
        }
        self.send_data(self.unacked, now, out);
        self.send_window(self.max_per_duplicate(), now, out);
    }

    pub(super) fn on_duplicate(&mut self, now: Time, out: &mut impl Output) {
        self.duplicates += 1;
        if self.is_in_recovery() {
            self.inflation += 1;
            self.send_inflated(now, out);
        } else if self.duplicates < DUPLICATES {
            if self.config.limited_transmit {
                self.send_one_beyond(now, out);
            }
        } else if self.duplicates == DUPLICATES && self.may_repair() {
            self.on_loss(now, out);
        }
    }

    /// True if a loss now would belong to a later window than the last repair. The acknowledgement
    /// must cover *more* than everything sent before that repair (RFC 6582, section 3.2), because
    /// duplicates may stem from going back N. A scoreboard distinguishes them, so covering
    /// everything sent before is enough (RFC 6675, sections 5 and 5.1).
    pub(super) fn is_new_loss(&self) -> bool {
        let is_distinguished = self.has_board && !self.config.quirks.sack_counts_acks;
        self.recover == 0 || self.unacked > self.recover || (is_distinguished && self.unacked == self.recover)
    }

    /// True if duplicates may cause a retransmission. This is so if they show a new loss, or if the
    /// last reduction responded to a mark, which repairs nothing.
    pub(super) fn may_repair(&self) -> bool {
        self.is_new_loss() || self.reaction == Reaction::Mark
    }

    fn on_loss(&mut self, now: Time, out: &mut impl Output) {
        let is_tahoe = self.config.recovery == Recovery::Tahoe;
        self.count_repair();
        // After a mark has reduced the window, a loss in the same window of data does not reduce it
        // again (RFC 3168, section 6.1.2).
        if self.is_new_loss() || self.reaction != Reaction::Mark {
            let congested = self.congested(now);
            self.control.lost(&congested);
            if is_tahoe {
                self.control.restarted(1.0);
            }
            self.recover = self.highest;
        }
        self.reaction = Reaction::Duplicates;
        self.timed_seq = super::NONE;
        self.arm(now);
        if is_tahoe {
            self.next = self.unacked;
            return self.send_window(self.max_per_ack(), now, out);
        }
        self.phase = Phase::Recovery { has_acted: false };
        self.inflation = DUPLICATES;
        self.send_data(self.unacked, now, out);
        self.send_inflated(now, out);
    }

    fn send_inflated(&mut self, now: Time, out: &mut impl Output) {
        let most = match self.config.recovery {
            Recovery::NewReno => self.max_per_duplicate(),
            _ => self.max_per_ack(),
        };
        self.send_window(most, now, out);
    }
}
