//! The sending end: which segments may be sent and when, the retransmission timer (RFC 6298), and
//! restarts after idling (RFC 5681, 4.1).
//!
//! Losses are found and repaired in [`loss`] (Tahoe, Reno, NewReno), [`selective`] (SACK) and
//! [`timely`] (RACK-TLP).

mod counts;
mod loss;
mod release;
mod selective;
mod timely;
mod usual;

pub use counts::LossCounts;

use crate::config::{Config, Recovery};
use crate::congestion::{Acked, Congested, Control, Controller};
use crate::journal::{Journal, Measures};
use crate::rtt::RttEstimator;
use crate::scoreboard::{Rule, Scoreboard};
use crate::segment::{Ack, Segment};
use fairwire_core::{Duration, Ecn, Time};
use std::sync::Arc;

/// Receives the segments of a [`Sender`], in order, at the time `now` of the sending method.
pub trait Output {
    /// Sends `segment`.
    fn send(&mut self, segment: Segment);

    /// When the sender's host accepts another segment; in the past if it accepts one now.
    #[inline(always)]
    fn room_from(&self) -> Time {
        Time::ZERO
    }
}

/// RFC 5681, section 3.2.
const DUPLICATES: u32 = 3;

/// The upper bound of any window, in segments. A window reaches it only after 10^9 acknowledgements
/// without a loss.
const WIDEST_WINDOW: f64 = 1e9;

const MAX_IN_FLIGHT: u64 = u32::MAX as u64;

/// No segment.
const NONE: u64 = u64::MAX;

/// A TCP sender without I/O: acknowledgements and times go in, segments leave through [`Output`].
#[derive(Debug)]
pub struct Sender {
    config: Arc<Config>,
    unacked: u64,        // everything below is acknowledged
    next: u64,           // next to send; below `highest` after a timeout (go back N)
    highest: u64,        // first segment never sent
    end: u64,            // written by the application so far; MAX for no end
    timed_seq: u64,      // the timed segment, or NONE
    timed_at: Time,      // when that segment, or the SYN, was sent
    retransmit_at: Time, // when `timer` is due; MAX for never
    release_at: Time,    // when pacing, its host, or a mark at a window of 1 releases the next segment
    control: Controller,
    rtt: RttEstimator,
    duplicates: u32,
    inflation: u32, // segments known to have left the network during recovery
    phase: Phase,
    timer: Timer,
    ecn: Ecn, // of new data
    /// The flags up to `has_host` are fixed at creation. The others are the sender's current state.
    has_board: bool,
    is_timely: bool,
    has_journal: bool,
    counts_marks: bool,
    has_host: bool,   // whose queue is bounded
    is_held: bool,    // until `release_at`
    is_starved: bool, // by the application or the host: the window would have allowed more
    is_slowed: bool,  // by marks at a window of one
    owes_cwr: bool,
    epoch: bool, // of outgoing segments
    reaction: Reaction,
    pipe: u32,       // segments in flight during recovery, where acknowledgements are counted
    recover: u64,    // first segment never sent when the window was last reduced; 0 before that
    round_end: u64,  // a round trip ends when this is acknowledged
    last_sent: Time, // kept if a window restarts after a pause
    marks: u32,      // reported by the receiver so far
    unreported: u32, // segments that arrived but are unknown to the controller
    counts: LossCounts,
    board: Option<Box<Scoreboard>>,
    journal: Option<Box<Journal>>,
}

// With millions of connections, memory accesses take most of the time, so rarely used fields are
// boxed.
const _: () = assert!(size_of::<Sender>() <= 208);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Closed,
    /// The SYN is timed unless it was retransmitted (Karn).
    SynSent {
        is_timed: bool,
    },
    Open,
    /// Fast recovery. `has_acted`: NewReno has received a partial acknowledgement, or SACK has sent
    /// the rescue retransmission.
    Recovery {
        has_acted: bool,
    },
    /// RACK-TLP after a timeout. `is_testing`: a loss is not yet certain (F-RTO). `has_moved`:
    /// something was acknowledged since the timeout.
    Lost {
        is_testing: bool,
        has_moved: bool,
    },
}

/// The purpose of the only timer. All purposes except retransmission are for RACK-TLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    Retransmission,
    /// Declaring overtaken segments lost.
    Reordering,
    /// Probing the tail, because no later segment would reveal the loss of the last one.
    Tail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reaction {
    None,
    Duplicates,
    Timeout,
    Mark,
}

impl Sender {
    /// A sender that has unlimited data and has not started.
    pub fn new(config: &Arc<Config>) -> Self {
        let control = Controller::new(config);
        let feedback = control.feedback();
        let is_timely = config.recovery == Recovery::Rack;
        let keeps_journal = is_timely || config.exact_rtt || feedback.exact_rtt || feedback.rate;
        let has_board = is_timely || config.recovery == Recovery::Sack;
        Sender {
            unacked: 0,
            next: 0,
            highest: 0,
            end: u64::MAX,
            timed_seq: NONE,
            timed_at: Time::ZERO,
            retransmit_at: Time::MAX,
            release_at: Time::ZERO,
            control,
            rtt: RttEstimator::default(),
            duplicates: 0,
            inflation: 0,
            phase: Phase::Closed,
            timer: Timer::Retransmission,
            ecn: config.ecn.codepoint(),
            has_board,
            is_timely,
            has_journal: keeps_journal,
            counts_marks: feedback.counted_marks,
            has_host: config.host_queue.is_some(),
            is_held: false,
            is_starved: false,
            is_slowed: false,
            owes_cwr: false,
            epoch: false,
            reaction: Reaction::None,
            pipe: 0,
            recover: 0,
            round_end: 0,
            last_sent: Time::ZERO,
            marks: 0,
            unreported: 0,
            counts: LossCounts::default(),
            board: has_board.then(|| Box::new(board(config))),
            journal: keeps_journal.then(|| Box::new(Journal::new(feedback.rate))),
            config: Arc::clone(config),
        }
    }

    /// A sender that sends only the data given by [`write`](Sender::write), and has not started.
    pub fn without_data(config: &Arc<Config>) -> Self {
        Sender { end: 0, ..Sender::new(config) }
    }

    /// Opens the connection.
    pub fn start(&mut self, now: Time, out: &mut impl Output) {
        if self.phase != Phase::Closed {
            return;
        }
        if self.config.handshake {
            self.phase = Phase::SynSent { is_timed: true };
            self.timed_at = now;
            out.send(Segment::SYN);
            self.arm(now);
        } else {
            self.phase = Phase::Open;
            self.transmit(now, out);
        }
    }

    /// Adds `segments` segments of data. After a pause longer than the retransmission timeout, the
    /// restart window applies.
    pub fn write(&mut self, segments: u64, now: Time, out: &mut impl Output) {
        self.end = self.end.saturating_add(segments);
        if matches!(self.phase, Phase::Closed | Phase::SynSent { .. }) {
            return;
        }
        let is_idle = self.unacked == self.highest;
        if let Some(restart) = self.config.restart_window
            && is_idle
            && now.since(self.last_sent) > self.rtt.timeout(&self.config)
        {
            self.control.restarted(f64::from(restart));
        }
        self.transmit(now, out);
    }

    /// Sends no new segments from now on, only retransmissions.
    pub fn stop(&mut self) {
        self.end = self.end.min(self.highest);
    }

    /// Has everything written been acknowledged? Never true with unlimited data.
    pub fn is_finished(&self) -> bool {
        self.unacked == self.end
    }

    /// When [`on_timeout`](Sender::on_timeout) is due.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        let release_at = if self.is_held { self.release_at } else { Time::MAX };
        let at = self.retransmit_at.min(release_at);
        (at != Time::MAX).then_some(at)
    }

    /// The congestion controller.
    pub fn controller(&self) -> &Controller {
        &self.control
    }

    /// Its constants.
    pub fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// Has it started?
    #[inline]
    pub fn has_started(&self) -> bool {
        self.phase != Phase::Closed
    }

    /// The congestion window, segments.
    pub fn window(&self) -> f64 {
        self.control.window()
    }

    /// The slow-start threshold, segments.
    pub fn threshold(&self) -> f64 {
        self.control.threshold()
    }

    /// The estimator of the round-trip time.
    pub fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// Is a loss being repaired by fast recovery?
    pub fn is_recovering(&self) -> bool {
        matches!(self.phase, Phase::Recovery { .. })
    }

    /// Segments acknowledged so far.
    pub fn acked(&self) -> u64 {
        self.unacked
    }

    /// Handles an acknowledgement that arrived.
    #[inline(always)]
    pub fn on_ack(&mut self, ack: Ack, now: Time, out: &mut impl Output) {
        match self.phase {
            Phase::Closed => return,
            Phase::SynSent { is_timed } => return self.opened(is_timed, ack.echo, now, out),
            Phase::Open | Phase::Recovery { .. } | Phase::Lost { .. } => {}
        }
        // The ACK is a duplicate SYN-ACK, was overtaken by a newer ACK, or acknowledges data never
        // sent.
        if ack.is_for_syn || ack.next < self.unacked || ack.next > self.highest {
            return;
        }
        if ack.ece {
            self.on_echo(ack.next, now);
        } else {
            self.is_slowed = false;
        }
        if self.has_board {
            self.on_ack_by_board(ack, now, out);
        } else if ack.next > self.unacked {
            self.on_new_ack(&ack, now, out);
        } else if self.highest > self.unacked {
            self.on_duplicate(now, out);
        }
    }

    /// Handles a [`deadline`](Sender::deadline) that has come: pacing releases a segment, or the
    /// timer has run out.
    pub fn on_timeout(&mut self, now: Time, out: &mut impl Output) {
        if self.is_held && self.release_at <= now {
            self.is_held = false;
            self.transmit(now, out);
        }
        if self.retransmit_at <= now {
            let room_from = out.room_from();
            if room_from > now && self.timer != Timer::Reordering {
                // As in Linux, a segment is not retransmitted without room in the host's own queue.
                self.retransmit_at = room_from;
                return;
            }
            match self.timer {
                Timer::Retransmission => self.on_silence(now, out),
                Timer::Reordering => self.on_reordering_over(now, out),
                Timer::Tail => self.on_tail_silence(now, out),
            }
        }
    }

    /// Starts over from the first unacknowledged segment (RFC 5681, section 3.1).
    fn on_silence(&mut self, now: Time, out: &mut impl Output) {
        let armed_at = self.armed_at();
        self.rtt.back_off(&self.config);
        self.timed_seq = NONE;
        self.count_timeout();
        if matches!(self.phase, Phase::SynSent { .. }) {
            self.phase = Phase::SynSent { is_timed: false };
            if self.config.quirks.lost_syn_counts {
                let congested = self.congested(now);
                self.control.timed_out(&congested);
            } else {
                self.control.restarted(1.0); // RFC 5681, section 3.1
            }
            if self.is_timely {
                self.timed_at = armed_at;
                self.epoch = !self.epoch;
            }
            out.send(Segment { epoch: self.epoch, ..Segment::SYN });
            return self.arm(now);
        }
        if self.is_timely {
            return self.on_late_silence(now, out);
        }
        let congested = self.congested(now);
        self.control.timed_out(&congested);
        self.phase = Phase::Open;
        self.reduced(Reaction::Timeout);
        self.duplicates = 0;
        self.inflation = 0;
        match &mut self.board {
            Some(board) if !self.config.quirks.sack_counts_acks => {
                board.cut.end();
                board.lose_all(self.highest);
            }
            Some(board) => {
                board.clear();
                self.next = self.unacked;
                self.duplicates = DUPLICATES + 1; // deaf to duplicates until new data is acknowledged
            }
            None => self.next = self.unacked,
        }
        self.arm(now);
        self.transmit(now, out);
    }

    /// When the running timer was armed. A SYN's timer is armed when the SYN is sent.
    fn armed_at(&self) -> Time {
        self.retransmit_at.saturating_sub(self.rtt.timeout(&self.config))
    }

    /// Handles the answer to the SYN of epoch `echo`. With RACK-TLP a retransmitted SYN is timed
    /// too: the epoch distinguishes the last SYN from the previous one.
    fn opened(&mut self, is_timed: bool, echo: bool, now: Time, out: &mut impl Output) {
        if self.is_timely && !is_timed && echo == self.epoch {
            self.timed_at = self.armed_at();
        }
        if is_timed || self.is_timely {
            let elapsed = self.elapsed(now);
            self.sample(elapsed);
            if let Some(journal) = self.journal.as_mut().filter(|_| self.is_timely) {
                journal.saw_rtt(elapsed);
                self.control.opened(elapsed, now);
            }
        }
        self.phase = Phase::Open;
        self.retransmit_at = Time::MAX;
        self.transmit(now, out);
    }

    /// Handles the echo of a mark: reduces the window, at most once per window of data (RFC 3168,
    /// section 6.1.2).
    fn on_echo(&mut self, acked_to: u64, now: Time) {
        if self.ecn == Ecn::NotEct || self.counts_marks {
            return;
        }
        if self.is_timely && matches!(self.phase, Phase::Recovery { .. } | Phase::Lost { .. }) {
            return self.keep_reduction(); // it also answers to the mark
        }
        let is_new = self.recover == 0 || acked_to > self.recover || self.reaction == Reaction::Timeout;
        if is_new && self.highest > 0 {
            let congested = self.congested(now);
            if congested.in_use < 2.0 {
                self.slow_down(congested.in_use, now);
            }
            let before = self.control.window();
            self.control.marked(&congested);
            self.reduced(Reaction::Mark);
            self.forget_undo(); // neither this reduction nor an earlier one is undone
            self.spread_cut(before);
            self.owes_cwr = true;
        }
    }

    /// Delays the next segment by the retransmission timeout, because a window below two cannot be
    /// halved (RFC 3168, section 6.1.2). Each further mark at a window of one doubles the delay, as
    /// in ns-2.
    fn slow_down(&mut self, in_use: f64, now: Time) {
        self.release_at = now + self.rtt.timeout(&self.config);
        if in_use <= 1.0 {
            self.rtt.back_off(&self.config);
            self.is_slowed = true;
        }
    }

    /// Records a round-trip time, which ends a back-off unless marks caused the back-off.
    #[inline]
    fn sample(&mut self, rtt: Duration) {
        let before = self.rtt.smoothed();
        if self.is_slowed {
            self.rtt.measured_under_marks(rtt, &self.config);
        } else {
            self.rtt.measured(rtt, &self.config);
        }
        if self.is_timely {
            self.hold_variation(rtt, before);
        }
    }

    /// Records that the window was reduced. Losses and marks of segments already in flight do not
    /// reduce it again.
    fn reduced(&mut self, reaction: Reaction) {
        self.reaction = reaction;
        self.recover = self.highest;
    }

    #[inline]
    fn window_limit(&self) -> f64 {
        self.config.window.map_or(f64::INFINITY, f64::from)
    }

    /// Is the number of segments in flight derived from the number of acknowledgements, as in
    /// ns-2's Sack1?
    #[inline]
    fn counts_acks(&self) -> bool {
        self.config.quirks.sack_counts_acks && !self.is_timely
    }

    fn congested(&self, now: Time) -> Congested {
        Congested { now, in_use: self.in_use(), in_flight: self.in_flight() }
    }

    /// The window that a reaction to a loss halves, in segments. It excludes inflation: the
    /// segments that have left the network.
    fn in_use(&self) -> f64 {
        self.control.window().min(self.window_limit())
    }

    #[inline]
    fn in_flight(&self) -> u32 {
        match &self.board {
            Some(board) if !self.counts_acks() => {
                board.pipe(self.unacked, self.highest).min(MAX_IN_FLIGHT) as u32
            }
            _ => self.in_flight_without_board(),
        }
    }

    #[inline]
    fn in_flight_without_board(&self) -> u32 {
        let left = self.next - self.unacked;
        left.saturating_sub(u64::from(self.inflation)).min(MAX_IN_FLIGHT) as u32
    }

    /// Reports an acknowledgement to the controller. Reno needs only the segment count and the
    /// maximum window.
    #[inline]
    fn report_acked(&mut self, ack: &Ack, newly: u64, in_flight: u32, measures: Measures, now: Time) {
        let is_window_used = !self.is_starved || self.config.quirks.grows_unused;
        let most = self.window_limit().min(WIDEST_WINDOW);
        match &mut self.control {
            Controller::Reno(reno) if is_window_used => reno.grow(newly, most),
            Controller::Reno(_) => {}
            _ => self.report_all(ack, newly, in_flight, measures, now),
        }
    }

    #[inline(never)]
    fn report_all(&mut self, ack: &Ack, newly: u64, in_flight: u32, measures: Measures, now: Time) {
        let growth = u32::try_from(newly).unwrap_or(u32::MAX);
        let newly = self.unreported.saturating_add(growth).max(1);
        self.unreported = 0;
        let lost = self.board.as_mut().map_or(0, |board| board.newly_lost());
        let marked = ack.marks.wrapping_sub(self.marks).min(newly);
        self.marks = ack.marks;
        let ends_round = ack.next > self.round_end;
        if ends_round {
            self.round_end = self.highest;
        }
        self.control.acked(&Acked {
            now,
            newly,
            growth,
            marked,
            lost,
            in_flight,
            rtt: measures.rtt,
            ends_round,
            rate: measures.rate,
            is_window_used: !self.is_starved || self.config.quirks.grows_unused,
            max_window: self.window_limit().min(WIDEST_WINDOW),
        });
    }

    /// Measures the round-trip time. With a journal, each acknowledgement gives a measurement.
    /// Otherwise, one segment at a time is timed. Retransmissions are not measured (Karn).
    #[inline]
    fn measure(&mut self, acked_to: u64, now: Time) -> Measures {
        self.measure_by(acked_to, false, now)
    }

    /// Measures as [`measure`](Self::measure) does. `is_from_before` means that the echoed segment
    /// was sent before all retransmissions in flight.
    #[inline]
    fn measure_by(&mut self, acked_to: u64, is_from_before: bool, now: Time) -> Measures {
        if self.has_journal
            && let Some(journal) = &mut self.journal
        {
            journal.advance(acked_to, is_from_before, now);
            let measures = journal.measures(now);
            if let Some(rtt) = measures.rtt {
                self.sample(rtt);
            }
            return measures;
        }
        let mut measures = Measures::default();
        if self.timed_seq < acked_to {
            self.timed_seq = NONE;
            self.sample(self.elapsed(now));
            measures.rtt = Some(now.since(self.timed_at));
        }
        measures
    }

    #[inline]
    fn elapsed(&self, now: Time) -> Duration {
        let tick = self.config.tick.ns();
        if tick > 0 && self.config.quirks.counts_ticks {
            let ticks = |at: Time| at.ns() / tick;
            return Duration::from_ns((ticks(now) - ticks(self.timed_at)) * tick);
        }
        now.since(self.timed_at)
    }

    #[inline]
    fn arm(&mut self, now: Time) {
        self.timer = Timer::Retransmission;
        self.retransmit_at = now + self.rtt.timeout(&self.config);
    }

    #[inline]
    fn rearm(&mut self, now: Time) {
        if self.highest > self.unacked {
            self.arm(now);
        } else {
            self.retransmit_at = Time::MAX;
        }
    }
}

fn board(config: &Config) -> Scoreboard {
    Scoreboard::by(match (config.recovery, config.quirks.sack_counts_acks) {
        (Recovery::Rack, _) => Rule::Time,
        (_, true) => Rule::CountOnce,
        (_, false) => Rule::Count,
    })
}

#[cfg(test)]
mod tests;
