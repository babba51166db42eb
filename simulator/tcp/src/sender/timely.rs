//! Loss recovery by time: RACK-TLP, F-RTO, and undoing reductions made without a loss.
//!
//! # Source
//! RFC 8985 (RACK-TLP) over the [`Scoreboard`](crate::scoreboard::Scoreboard); RFC 5682, section
//! 3.1 (F-RTO); RFC 3522 and RFC 4015 (Eifel), with the timestamp of RFC 7323; RFC 3708 (DSACK).
//! Three choices that the RFCs leave open are Linux's: the order of an acknowledgement's effects,
//! the arrivals that show reordering, and the window after an undo.

use super::{Output, Phase, Reaction, Sender, Timer};
use crate::congestion::Control;
use crate::journal::Measures;
use crate::rack::{Latest, Probe, Rack, Undo};
use crate::scoreboard::Scoreboard;
use crate::segment::Ack;
use fairwire_core::{Duration, Ecn, Time};

/// Up to this degree of reordering, out-of-order arrivals do not grow the window; Linux's
/// `tcp_reordering`.
const USUAL_DEGREE: u64 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// Send lost segments, then new segments.
    Usual,
    /// Send new segments, if any.
    NewFirst,
}

struct AckNews {
    /// The first unacknowledged segment before the acknowledgement.
    before: u64,
    /// One beyond the highest segment that had arrived out of order before the acknowledgement; 0
    /// for none.
    forward: u64,
    is_new: bool,
    /// The newly arrived segment that was sent last, and whether it was sent twice.
    latest: Option<(Latest, bool)>,
    /// True if an original filled the first hole (RFC 3522): the echo is older than the first
    /// retransmission since the reduction, or nothing was retransmitted.
    is_original_first: bool,
    /// Did a segment arrive whose only transmission was before the last reduction (RFC 5682)?
    has_original: bool,
    is_selective: bool,
    duplicate: Option<u64>,
    was_repeated: bool,
}

impl Sender {
    #[inline(always)]
    pub(super) fn on_ack_by_board(&mut self, ack: Ack, now: Time, out: &mut impl Output) {
        if !self.is_timely {
            self.on_selective(ack, now, out);
        } else if self.is_usual(&ack) {
            self.on_usual(ack, now, out);
        } else {
            self.on_timely(ack, now, out);
        }
    }

    fn on_timely(&mut self, ack: Ack, now: Time, out: &mut impl Output) {
        let in_flight = self.in_flight();
        let (before, losses) = (self.unacked, self.losses());
        let is_new = ack.next > before;
        if self.counts_marks && ack.marks != self.marks {
            self.keep_reduction();
        }
        let duplicate = ack.sack.duplicate(ack.next);
        let forward = self.sacked_below();
        let was_repeated = duplicate.is_some_and(|seq| self.is_repeated(seq));
        let (newly, measures) = self.take_in(&ack, now);
        if !is_new && newly == 0 && duplicate.is_none() {
            return; // it reported nothing
        }
        let lowest = self.journal.as_mut().and_then(|journal| journal.lowest_original());
        let latest = self.journal.as_mut().and_then(|journal| journal.take_latest());
        let report = AckNews {
            before,
            forward,
            is_new,
            latest,
            is_original_first: is_new && self.is_from_before(ack.echo),
            has_original: lowest.is_some_and(|seq| seq < self.recover),
            is_selective: newly > ack.next - before || self.sacked_below() > forward,
            duplicate,
            was_repeated,
        };
        self.note_order(&report, lowest, now);
        self.answer_probe(&report, ack.next, now);
        if is_new {
            self.duplicates = 0;
            if !self.is_slowed {
                self.rtt.progressed(); // a timestamp also measures segments sent twice
            }
        } else {
            self.duplicates += 1;
        }
        if is_new || (newly > 0 && self.shows_progress(latest)) {
            self.rearm(now);
        }
        let answer = self.change_phase(&report, now);
        self.end_cut(ack.next);
        let begins = answer == Answer::Usual && self.find_losses(now);
        self.take_growth(&ack, newly, in_flight, measures, now);
        if self.is_cutting() {
            self.step_cut(newly, is_new && self.losses() == losses);
        }
        if begins && self.has_lost_first() {
            self.send_selected(self.unacked, now, out);
        }
        if answer == Answer::Usual || !self.send_new(now, out) {
            self.send_by_board(now, out);
        }
    }

    /// RACK_update, steps 2 and 3, and DSACK reports (step 4). `lowest` is the lowest newly arrived
    /// segment that was sent only once.
    fn note_order(&mut self, report: &AckNews, lowest: Option<u64>, now: Time) {
        let highest = self.highest;
        let (Some(board), Some(journal)) = (&mut self.board, &self.journal) else { return };
        let rack = &mut board.rack;
        if let Some((latest, is_repeat)) = report.latest {
            rack.advance(latest, is_repeat, journal.least_rtt(), now);
        }
        if let Some(lowest) = lowest.filter(|&lowest| lowest < report.forward) {
            rack.saw_reordering(report.forward - lowest);
        }
        if let Some(seq) = report.duplicate {
            rack.saw_duplicate(seq, report.before, highest, report.was_repeated);
        }
    }

    /// Grows the window for in-order arrivals, and for out-of-order arrivals if they are usual on
    /// this path.
    fn take_growth(&mut self, ack: &Ack, newly: u64, in_flight: u32, measures: Measures, now: Time) {
        if newly == 0 {
            return;
        }
        let is_new = self.duplicates == 0;
        let is_usual = self.board.as_ref().is_some_and(|board| board.rack.degree > USUAL_DEGREE);
        if self.is_in_recovery() {
            if self.control.grows_in_recovery() {
                return self.report_acked(ack, newly, in_flight, measures, now);
            }
        } else if (is_new || is_usual) && (self.counts_marks || !self.is_cutting()) {
            let before = self.control.window();
            self.open_window(ack, newly, in_flight, measures, now);
            if self.counts_marks {
                self.spread_cut(before);
            }
            return;
        }
        self.unreported = self.unreported.saturating_add(newly as u32);
    }

    fn change_phase(&mut self, report: &AckNews, now: Time) -> Answer {
        let is_over = self.unacked >= self.recover;
        match self.phase {
            Phase::Recovery { .. } if is_over => {
                self.end_recovery(report);
                self.control.recovered(now);
            }
            Phase::Recovery { .. } if report.is_new && report.is_original_first && self.may_undo_once() => {
                // A late segment, not a retransmission, filled the hole (RFC 4015).
                let forward = report.forward.max(self.sacked_below());
                if let Some(rack) = self.rack()
                    && forward > report.before
                {
                    rack.saw_reordering(forward - report.before);
                }
                if self.repeated() > 0 {
                    return Answer::NewFirst; // no more segments are considered lost meanwhile
                }
                self.undo(true);
            }
            Phase::Lost { is_testing, has_moved } => {
                self.phase = Phase::Lost { is_testing, has_moved: has_moved || report.is_new };
                return self.on_ack_after_timeout(report, is_testing, is_over);
            }
            _ if self.is_explained() => {
                self.undo(false);
                if let Some(rack) = self.rack() {
                    rack.explained();
                }
            }
            _ => {}
        }
        Answer::Usual
    }

    /// F-RTO with SACK (RFC 5682, section 3.1). Eifel is tried first, because it is more certain.
    fn on_ack_after_timeout(&mut self, report: &AckNews, is_testing: bool, is_over: bool) -> Answer {
        let is_late = report.is_original_first || self.is_explained();
        let is_spurious = is_testing && report.has_original;
        if self.may_undo_once() && ((report.is_new && is_late) || is_spurious) {
            self.undo(true);
            return Answer::Usual;
        }
        if is_testing {
            if self.highest > self.recover {
                if report.is_selective || !report.is_new {
                    self.end_test(); // step 3.a: the loss was real
                }
            } else if report.is_new && !is_over {
                self.recover = self.highest;
                return Answer::NewFirst; // step 2.b
            }
        }
        if is_over {
            self.end_recovery(report);
        }
        Answer::Usual
    }

    fn end_test(&mut self) {
        if let Phase::Lost { is_testing, .. } = &mut self.phase {
            *is_testing = false;
        }
    }

    fn end_recovery(&mut self, report: &AckNews) {
        if self.may_undo_once() && (report.is_original_first || self.is_explained()) {
            return self.undo(false);
        }
        if let Some(rack) = self.rack() {
            rack.recovered();
        }
        self.phase = Phase::Open;
    }

    /// Records that the next new segment must report the reduction, whatever its cause (RFC 3168,
    /// section 6.1.2). Otherwise the echo of an earlier mark would reduce the window again.
    pub(super) fn owe_cwr(&mut self) {
        self.owes_cwr |= self.ecn != Ecn::NotEct && !self.counts_marks;
    }

    pub(super) fn forget_undo(&mut self) {
        if let Some(rack) = self.rack() {
            rack.undo = None;
        }
    }

    pub(super) fn keep_reduction(&mut self) {
        if let Some(undo) = self.rack().and_then(|rack| rack.undo.as_mut()) {
            undo.before = None;
        }
    }

    /// Was the echoed segment sent before the first retransmission since the last reduction?
    pub(super) fn is_from_before(&self, echo: bool) -> bool {
        echo != self.epoch || self.board.as_ref().is_some_and(|board| board.rack.begins_epoch)
    }

    fn may_undo_once(&self) -> bool {
        self.board.as_ref().is_some_and(|board| board.rack.undo.is_some())
    }

    fn is_explained(&self) -> bool {
        self.board.as_ref().is_some_and(|board| board.rack.is_explained())
    }

    /// Undoes the last reduction, which was made without a loss. With `forgets`, segments
    /// considered lost count as in flight.
    fn undo(&mut self, forgets: bool) {
        let Some(board) = &mut self.board else { return };
        if forgets {
            board.lose_nothing();
        }
        board.cut.end();
        let undo = board.rack.undo.take();
        if let Some([window, threshold]) = undo.and_then(|undo| undo.before) {
            self.control.undone(window, threshold);
            self.owes_cwr = false; // there is no reduction
        }
        self.phase = Phase::Open;
        self.reaction = Reaction::None;
    }

    /// RACK_detect_loss. Returns whether a repair begins.
    fn find_losses(&mut self, now: Time) -> bool {
        let is_in_order =
            |board: &Scoreboard| self.journal.as_deref().is_some_and(|of| board.is_in_order(of));
        if self.board.as_deref().is_some_and(is_in_order) {
            return false;
        }
        let is_repairing = matches!(self.phase, Phase::Recovery { .. } | Phase::Lost { .. });
        let smoothed = self.rtt.smoothed().unwrap_or(self.config.initial_rto);
        let least = self.least_rtt();
        let (Some(board), Some(journal)) = (&mut self.board, &self.journal) else { return false };
        let window = board.rack.window(is_repairing || board.has_duplicates(), least, smoothed);
        let repeated = board.repeated();
        let due = board.find_late(journal, window, self.highest, now);
        let begins = match self.phase {
            Phase::Open => board.has_lost(),
            Phase::Lost { .. } => board.repeated() < repeated, // a retransmission is lost
            _ => false,
        };
        if begins {
            self.enter_recovery(now);
        }
        if let Some(due) = due {
            (self.retransmit_at, self.timer) = (due.max(now), Timer::Reordering);
        }
        begins
    }

    pub(super) fn note_reduction(&mut self, is_marked: bool) {
        let (window, threshold) = (self.control.window(), self.control.threshold());
        let before = (!is_marked).then_some([window, threshold.max(0.75 * window)]); // as in Linux
        let from = self.unacked;
        let Some(board) = &mut self.board else { return };
        let of_probe = board.rack.probe.take().is_some_and(|probe| probe.is_repeat);
        let repeats = board.repeated().max(u32::from(of_probe));
        // While retransmissions are in flight, no epoch begins. Otherwise their echoes would count
        // as echoes of originals.
        board.rack.begins_epoch = repeats == 0;
        board.rack.undo = Some(Undo { from, unexplained: (repeats > 0).then_some(repeats), before });
    }

    fn has_lost_first(&self) -> bool {
        let first = self.unacked;
        self.board.as_deref().is_some_and(|board| board.is_lost(first) && !board.is_repeated(first))
    }

    fn send_new(&mut self, now: Time, out: &mut impl Output) -> bool {
        let end = self.sendable_end();
        let highest = self.highest;
        while self.highest < end && u64::from(self.in_flight()) < self.room() && self.may_leave(now, out) {
            self.send_selected(self.highest, now, out);
        }
        let has_sent = self.highest > highest;
        if !has_sent {
            self.end_test();
        }
        has_sent
    }
}

/// The timers. As in Linux, only one runs at a time.
impl Sender {
    /// Handles the expiry of the retransmission timer (RFC 6298, section 5; RFC 8985, section 6.3).
    pub(super) fn on_late_silence(&mut self, now: Time, out: &mut impl Output) {
        let is_again = matches!(self.phase, Phase::Lost { has_moved: false, .. });
        let has_moved = matches!(self.phase, Phase::Lost { has_moved: true, .. });
        let is_first = self.phase == Phase::Open || self.unacked >= self.recover;
        let congested = self.congested(now);
        if let (Some(board), Some(journal)) = (&mut self.board, &self.journal) {
            board.cut.end();
            board.lose_old(journal, self.highest, now);
        }
        // Repeated timeouts of the same segment reduce the threshold only once (RFC 5681, section
        // 3.1).
        let reduces = is_first || has_moved;
        if reduces {
            self.note_reduction(false);
        }
        if reduces || self.control.grows_in_recovery() {
            self.control.timed_out(&congested);
        } else {
            self.control.restarted(1.0);
        }
        self.owe_cwr();
        self.reduced(Reaction::Timeout);
        self.duplicates = 0;
        // RFC 5682, section 3.1, step 1: F-RTO begins only if no other repair is in progress, or if
        // the timer runs out again for the same segment.
        self.phase = Phase::Lost { is_testing: is_first || is_again, has_moved: false };
        self.arm(now);
        if self.has_lost_first() {
            self.send_selected(self.unacked, now, out);
        }
        self.send_by_board(now, out);
    }

    pub(super) fn on_reordering_over(&mut self, now: Time, out: &mut impl Output) {
        self.arm_from_first(now);
        let losses = self.losses();
        let begins = self.find_losses(now);
        if self.losses() == losses {
            return;
        }
        if begins && self.is_cutting() {
            self.step_cut(1, false);
        }
        if begins && self.has_lost_first() {
            self.send_selected(self.unacked, now, out);
        }
        self.send_by_board(now, out);
    }

    /// TLP_send_probe (RFC 8985, section 7.3): sends a new segment, or the last one again.
    pub(super) fn on_tail_silence(&mut self, now: Time, out: &mut impl Output) {
        let is_new = self.highest < self.sendable_end();
        let seq = if is_new { self.highest } else { self.highest - 1 };
        if let Some(rack) = self.rack() {
            rack.begins_epoch |= !is_new;
        }
        self.send_selected(seq, now, out);
        let end = self.highest;
        if let Some(rack) = self.rack() {
            rack.probe = Some(Probe { end, is_repeat: !is_new });
        }
        self.arm(now); // from now, as in Linux
    }

    /// TLP_process_ack (section 7.4): reacts to a loss that the probe repaired.
    fn answer_probe(&mut self, report: &AckNews, acked: u64, now: Time) {
        let Some(Probe { end, is_repeat }) = self.rack().and_then(|rack| rack.probe) else { return };
        if acked < end {
            return;
        }
        let arrived_twice = report.duplicate.is_some_and(|seq| seq + 1 == end);
        let is_lost = is_repeat && !arrived_twice && acked > end;
        let is_answered = !is_repeat || arrived_twice || is_lost || (!report.is_new && !report.is_selective);
        if is_answered && let Some(rack) = self.rack() {
            rack.probe = None;
        }
        if is_lost && self.phase == Phase::Open {
            self.count_repair();
            let congested = self.congested(now);
            self.control.lost(&congested);
            self.owe_cwr();
            self.reduced(Reaction::Duplicates);
            self.control.recovered(now);
        }
    }

    /// Schedules the tail probe, if allowed, instead of the retransmission timer (TLP_calc_PTO,
    /// section 7.2). Call this after an acknowledgement or new data.
    pub(super) fn set_probe(&mut self, now: Time) {
        let may_probe = self.phase == Phase::Open
            && self.timer != Timer::Reordering
            && self.highest > self.unacked
            && self
                .board
                .as_ref()
                .is_some_and(|board| board.is_all_in_flight() && board.rack.probe.is_none());
        let Some(smoothed) = self.rtt.smoothed().filter(|_| may_probe) else { return };
        let is_single = self.highest - self.unacked == 1;
        // For a single segment, the delay includes TLP.max_ack_delay, as in Linux.
        let patience = smoothed + smoothed + if is_single { self.config.min_rto } else { Duration::ZERO };
        let Some((first, last)) = self.journal.as_ref().and_then(|journal| journal.sent_at_ends()) else {
            return;
        };
        // As in Linux, the timeout counts from the first segment in flight if the sender sends now,
        // and otherwise from now.
        let from = if last < now { now } else { first };
        let timeout = from + self.rtt.timeout(&self.config);
        // As in Linux, a timeout that has already passed does not bring the probe forward.
        let due = if timeout > now { timeout.min(now + patience) } else { now + patience };
        (self.retransmit_at, self.timer) = (due, Timer::Tail);
    }

    fn arm_from_first(&mut self, now: Time) {
        let first = self.journal.as_ref().map_or(now, |journal| journal.last_sent(self.unacked));
        let due = first + self.rtt.timeout(&self.config);
        (self.retransmit_at, self.timer) = (due.max(now + Duration::from_ns(1)), Timer::Retransmission);
    }

    /// Were all newly acknowledged segments sent before the last transmission of the first
    /// unacknowledged segment? Then this transmission may still arrive.
    fn shows_progress(&self, latest: Option<(Latest, bool)>) -> bool {
        let first = self.journal.as_deref().map_or(Time::ZERO, |journal| journal.last_sent(self.unacked));
        latest.is_some_and(|(latest, _)| latest.sent < first)
    }
}

impl Sender {
    fn rack(&mut self) -> Option<&mut Rack> {
        self.board.as_mut().map(|board| &mut board.rack)
    }

    fn sacked_below(&self) -> u64 {
        self.board.as_ref().map_or(0, |board| board.sacked_below())
    }

    fn repeated(&self) -> u32 {
        self.board.as_ref().map_or(0, |board| board.repeated())
    }

    fn is_repeated(&self, seq: u64) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.is_repeated(seq))
    }

    /// Bases the timeout on the peak of the round trip's variation. `before` is the smoothed round
    /// trip before the measurement `rtt`.
    pub(super) fn hold_variation(&mut self, rtt: Duration, before: Option<Duration>) {
        let least = if self.config.floors_variation { self.config.min_rto } else { self.config.tick };
        let Some(rack) = self.board.as_mut().map(|board| &mut board.rack) else { return };
        let variation = &mut rack.variation;
        match before {
            None => variation.begin(rtt, least),
            Some(before) => variation.take(rtt.ns().cast_signed() - before.ns().cast_signed()),
        }
        if self.unacked > variation.round_end {
            variation.end_round(least);
            variation.round_end = self.highest;
        }
        self.rtt.hold(variation.held_ns_x4);
    }

    fn least_rtt(&self) -> Duration {
        self.journal.as_ref().map_or(Duration::MAX, |journal| journal.least_rtt())
    }
}
