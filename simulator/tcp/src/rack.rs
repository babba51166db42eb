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
    /// By which the timeout goes.
    pub(crate) variation: Variation,
}

/// The variation of the round trip as Linux has it: the timeout goes by its peak, which falls once
/// per round trip. So the round trips that follow a silence do not hide it one by one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Variation {
    /// The smoothed deviation, times 4, of this round trip's measurements, and the largest of these.
    deviation_ns_x4: u64,
    peak_ns_x4: u64,
    /// The variation that is in force, times 4.
    pub(crate) held_ns_x4: u64,
    /// The round trip is over when more than this is acknowledged.
    pub(crate) round_end: u64,
}

impl Variation {
    /// The first measurement (RFC 6298, section 2.2).
    pub(crate) fn begin(&mut self, rtt: Duration, least: Duration) {
        self.deviation_ns_x4 = rtt.ns() * 2;
        self.peak_ns_x4 = self.deviation_ns_x4.max(least.ns());
        self.held_ns_x4 = self.peak_ns_x4;
    }

    /// A measurement that differs by `error` from the smoothed round trip. One that is shorter adds
    /// little, since a round trip that falls is no reason for a longer timeout.
    pub(crate) fn take(&mut self, error_ns: i64) {
        let more = error_ns.unsigned_abs().cast_signed() - (self.deviation_ns_x4 / 4).cast_signed();
        let more = if error_ns < 0 && more > 0 { more / 8 } else { more };
        self.deviation_ns_x4 = self.deviation_ns_x4.saturating_add_signed(more);
        self.peak_ns_x4 = self.peak_ns_x4.max(self.deviation_ns_x4);
        self.held_ns_x4 = self.held_ns_x4.max(self.peak_ns_x4);
    }

    /// A quarter of what is held beyond the round trip's peak goes.
    pub(crate) fn end_round(&mut self, least: Duration) {
        self.held_ns_x4 -= (self.held_ns_x4 - self.peak_ns_x4) / 4;
        self.peak_ns_x4 = least.ns();
    }
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
            variation: Variation::default(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_of_the_variation_stays_while_round_trips_after_a_silence_come_in() {
        let (ms, least) = (|ms| Duration::from_ms(ms).ns(), Duration::from_ms(200));
        let mut variation = Variation::default();
        variation.begin(Duration::from_ms(40), least);
        assert_eq!(variation.held_ns_x4, ms(200));
        // A hundred of 2 s, after 40 ms: the smoothed round trip is there long before the last.
        let mut smoothed = ms(40);
        let mut most = 0;
        for _ in 0..100 {
            let error = ms(2000) - smoothed;
            variation.take(error.cast_signed());
            smoothed += error / 8;
            most = most.max(variation.deviation_ns_x4);
        }
        assert!(variation.deviation_ns_x4 < ms(10) && most > ms(2500), "{variation:?} {most}");
        assert_eq!(variation.held_ns_x4, most);
        variation.end_round(least); // the peak was in it
        assert_eq!(variation.held_ns_x4, most);
        variation.end_round(least);
        assert_eq!(variation.held_ns_x4, most - (most - ms(200)) / 4);
    }

    #[test]
    fn a_round_trip_that_falls_adds_an_eighth_of_what_one_that_rises_does() {
        let begun = || {
            let mut variation = Variation::default();
            variation.begin(Duration::from_ms(100), Duration::ZERO); // a deviation of 50 ms
            variation
        };
        let after = |error_ms: i64| {
            let mut variation = begun();
            variation.take(error_ms * 1_000_000);
            variation.deviation_ns_x4 / 1_000_000
        };
        assert_eq!([after(130), after(-130), after(10), after(-10)], [280, 210, 160, 160]);
    }
}
