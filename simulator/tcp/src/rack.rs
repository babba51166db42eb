//! Loss detection by time, and the undoing of what was no loss: the state of RACK-TLP (RFC 8985),
//! of its tail loss probe, and of an undo by Eifel (RFC 3522, RFC 4015) or DSACK (RFC 3708).
//!
//! A segment is lost if one that was sent later has arrived, and it has not, though a round trip
//! and a reordering window have passed since it was sent. Time distinguishes reordering from loss,
//! which a count of duplicates cannot, and finds retransmissions that are lost.
//!
//! # Where we differ
//! As Linux, so that results are those of a kernel: DSACK widens the window only after reordering
//! was seen; a segment that was reordered by more than three lets the window grow while
//! acknowledgements arrive out of order.

use fairwire_core::{Duration, Time};

/// Segments that must have arrived above one that is lost, while no reordering was seen
/// (RFC 8985, section 6.2, step 4: DupThresh).
pub(crate) const DUPLICATES: u32 = 3;

/// The number of recoveries without DSACK after which the window is narrow again (section 6.2, step
/// 4).
const PERSISTENCE: u32 = 16;

/// The segment sent last of those that have arrived, and when it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Latest {
    pub(crate) sent: Time,
    pub(crate) seq: u64,
}

/// The state of a sender with RACK-TLP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rack {
    /// RACK.xmit_ts and RACK.end_seq.
    pub(crate) latest: Latest,
    /// RACK.rtt: the round trip of that segment.
    pub(crate) rtt: Duration,
    /// RACK.reordering_seen.
    pub(crate) has_reordering: bool,
    /// By how many segments one was overtaken, at most so far; from three on.
    pub(crate) degree: u64,
    /// RACK.reo_wnd_mult: quarters of the least round trip.
    quarters: u32,
    /// RACK.reo_wnd_persist.
    persist: u32,
    /// RACK.dsack_round: further DSACK means nothing until this is acknowledged.
    dsack_round: u64,
    /// Retransmissions so far, and segments that were reported to have arrived twice. Where the
    /// latter are more, the network duplicates.
    pub(crate) repeats: u64,
    duplicates: u64,
    /// Does the next retransmission begin an [epoch](crate::Segment::epoch)? It is the first after a
    /// reduction, or of a probe.
    pub(crate) begins_epoch: bool,
    /// The reduction that may turn out to have been for no loss.
    pub(crate) undo: Option<Undo>,
    /// The tail loss probe that is not answered.
    pub(crate) probe: Option<Probe>,
}

/// A reduction of the window that may be undone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undo {
    /// The first segment that was not acknowledged when it was made.
    pub(crate) from: u64,
    /// Retransmissions of which DSACK has not reported that they were needless; `None` before the
    /// first.
    pub(crate) unexplained: Option<u32>,
    /// The window and the threshold before it, segments; `None` where a mark was echoed too, which
    /// is never undone.
    pub(crate) before: Option<[f64; 2]>,
}

/// A tail loss probe (section 7.3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// TLP.end_seq: what was never sent when it was.
    pub(crate) end: u64,
    /// TLP.is_retrans: was it no new segment?
    pub(crate) is_repeat: bool,
}

impl Default for Rack {
    fn default() -> Self {
        Rack {
            latest: Latest { sent: Time::ZERO, seq: 0 },
            rtt: Duration::ZERO,
            has_reordering: false,
            degree: u64::from(DUPLICATES),
            quarters: 1,
            persist: 0,
            dsack_round: 0,
            repeats: 0,
            duplicates: 0,
            begins_epoch: false,
            undo: None,
            probe: None,
        }
    }
}

impl Rack {
    /// Takes in the segment sent last of those that have newly arrived (section 6.2, step 2).
    /// `least` is the least round trip so far. A retransmission that seems to have been faster is
    /// an original that came late.
    pub(crate) fn advance(&mut self, latest: Latest, is_repeat: bool, least: Duration, now: Time) {
        let rtt = now.since(latest.sent);
        if is_repeat && rtt < least {
            return;
        }
        self.rtt = rtt;
        if (latest.sent, latest.seq) > (self.latest.sent, self.latest.seq) {
            self.latest = latest;
        }
    }

    /// A segment that was sent once arrived after one that is `distance` segments further (step 3).
    pub(crate) fn saw_reordering(&mut self, distance: u64) {
        self.has_reordering = true;
        self.degree = self.degree.max(distance);
    }

    /// Segment `seq` was reported to have arrived twice. `acked` is what was acknowledged before,
    /// `highest` was never sent.
    pub(crate) fn saw_duplicate(&mut self, seq: u64, acked: u64, highest: u64, was_repeated: bool) {
        self.duplicates += 1;
        if self.duplicates > self.repeats {
            return; // the network duplicates
        }
        let is_of_probe = self.probe.is_some_and(|probe| probe.is_repeat && seq + 1 == probe.end);
        if self.has_reordering && !is_of_probe && acked >= self.dsack_round {
            self.dsack_round = highest;
            self.quarters = (self.quarters + 1).min(255);
            self.persist = PERSISTENCE;
        }
        if let Some(Undo { from, unexplained: Some(unexplained), .. }) = &mut self.undo
            && seq >= *from
            && (seq < acked || was_repeated)
        {
            *unexplained = unexplained.saturating_sub(1);
        }
    }

    /// A recovery ends without an undo (step 4).
    pub(crate) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 1;
        }
    }

    /// DSACK says that a reduction was for no loss: the window stays wide for a recovery more.
    pub(crate) fn explained(&mut self) {
        self.persist = (self.persist + 1).min(PERSISTENCE);
    }

    /// A segment was sent again.
    pub(crate) fn repeated(&mut self) {
        self.repeats += 1;
        if let Some(undo) = &mut self.undo {
            undo.unexplained = Some(undo.unexplained.unwrap_or(0) + 1);
        }
    }

    /// RACK_update_reo_wnd: how much longer than a round trip a segment is waited for (step 4).
    /// `is_found` says that loss is certain: a repair is under way, or as many segments have
    /// arrived beyond as [`DUPLICATES`].
    pub(crate) fn window(&self, is_found: bool, least: Duration, smoothed: Duration) -> Duration {
        if !self.has_reordering && is_found {
            return Duration::ZERO;
        }
        Duration::from_ns((least.ns() / 4).saturating_mul(self.quarters.into()).min(smoothed.ns()))
    }

    /// Was every retransmission since the reduction needless, as DSACK says?
    pub(crate) fn is_explained(&self) -> bool {
        self.undo.is_some_and(|undo| undo.unexplained == Some(0))
    }
}
