//! The state of RACK-TLP (RFC 8985), which detects losses by time. The state also serves to undo a
//! reduction if Eifel (RFC 3522, RFC 4015) or DSACK (RFC 3708) shows that there was no loss.
//!
//! A missing segment is lost once two conditions hold. A segment sent later has arrived, and a
//! round trip plus a reordering window have passed since the missing segment was sent. Unlike a
//! count of duplicates, time distinguishes reordering from loss and finds lost retransmissions.
//!
//! # Where we differ
//! Two rules are Linux's, to match a kernel's results. DSACK widens the reordering window only
//! after reordering was observed. Out-of-order arrivals also let the congestion window grow, once
//! more than three segments have overtaken another.

use fairwire_core::{Duration, Time};

/// Until reordering is observed, a missing segment is lost once this number of segments above it
/// have arrived (RFC 8985, section 6.2, step 4: DupThresh).
pub(crate) const DUPLICATES: u32 = 3;

/// After this number of recoveries without DSACK, the reordering window is narrow again (section
/// 6.2, step 4).
const PERSISTENCE: u32 = 16;

/// The arrived segment that was sent last, and its sending time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Latest {
    pub(crate) sent: Time,
    pub(crate) seq: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rack {
    /// RACK.xmit_ts and RACK.end_seq.
    pub(crate) latest: Latest,
    /// RACK.rtt: the round trip of the latest segment.
    pub(crate) rtt: Duration,
    /// RACK.reordering_seen.
    pub(crate) has_reordering: bool,
    /// The maximum number of segments that have overtaken one segment so far; at least three.
    pub(crate) degree: u64,
    /// RACK.reo_wnd_mult: the reordering window, in quarters of the least round trip.
    quarters: u32,
    /// RACK.reo_wnd_persist.
    persist: u32,
    /// RACK.dsack_round: until this segment is acknowledged, further DSACK reports do not widen the
    /// reordering window.
    dsack_round: u64,
    /// `repeats` counts retransmissions, and `duplicates` counts segments reported as having
    /// arrived twice. If `duplicates` is larger, the network duplicates.
    pub(crate) repeats: u64,
    duplicates: u64,
    /// True if the next retransmission begins an [epoch](crate::Segment::epoch), as the first after
    /// a reduction or as a probe.
    pub(crate) begins_epoch: bool,
    pub(crate) undo: Option<Undo>,
    pub(crate) probe: Option<Probe>,
    pub(crate) variation: Variation,
}

/// The variation of the round trip, as in Linux. The timeout uses its peak. The peak rises at once,
/// but decreases only once per round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Variation {
    /// The smoothed deviation of the measurements, and its peak in this round trip. Both are
    /// multiplied by 4.
    deviation_ns_x4: u64,
    peak_ns_x4: u64,
    /// The variation that the timeout uses, times 4.
    pub(crate) held_ns_x4: u64,
    /// An acknowledgement beyond this sequence number ends the round trip.
    pub(crate) round_end: u64,
}

impl Variation {
    /// RFC 6298, section 2.2.
    pub(crate) fn begin(&mut self, rtt: Duration, least: Duration) {
        self.deviation_ns_x4 = rtt.ns() * 2;
        self.peak_ns_x4 = self.deviation_ns_x4.max(least.ns());
        self.held_ns_x4 = self.peak_ns_x4;
    }

    /// Handles a measurement that exceeds the smoothed round trip by `error_ns`. A negative error
    /// adds little: a falling round trip does not justify a longer timeout.
    pub(crate) fn take(&mut self, error_ns: i64) {
        let more = error_ns.unsigned_abs().cast_signed() - (self.deviation_ns_x4 / 4).cast_signed();
        let more = if error_ns < 0 && more > 0 { more / 8 } else { more };
        self.deviation_ns_x4 = self.deviation_ns_x4.saturating_add_signed(more);
        self.peak_ns_x4 = self.peak_ns_x4.max(self.deviation_ns_x4);
        self.held_ns_x4 = self.held_ns_x4.max(self.peak_ns_x4);
    }

    pub(crate) fn end_round(&mut self, least: Duration) {
        self.held_ns_x4 -= (self.held_ns_x4 - self.peak_ns_x4) / 4;
        self.peak_ns_x4 = least.ns();
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Undo {
    /// The first segment that was unacknowledged at the reduction.
    pub(crate) from: u64,
    /// The number of retransmissions not yet reported as unnecessary by DSACK; `None` before the
    /// first retransmission.
    pub(crate) unexplained: Option<u32>,
    /// The window and the threshold before the reduction, segments. `None` if a mark was also
    /// echoed: a reduction by a mark is never undone.
    pub(crate) before: Option<[f64; 2]>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// TLP.end_seq: the first segment not yet sent at the time of the probe.
    pub(crate) end: u64,
    /// TLP.is_retrans: was the probe a retransmission?
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
    /// Handles newly arrived segments, of which `latest` was sent last (section 6.2, step 2).
    /// `least` is the shortest round trip so far. A faster retransmission is ignored, because its
    /// original arrived late.
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

    /// Records reordering (step 3): a segment sent once arrived after the segment whose number is
    /// `distance` higher.
    pub(crate) fn saw_reordering(&mut self, distance: u64) {
        self.has_reordering = true;
        self.degree = self.degree.max(distance);
    }

    /// Handles a DSACK report of `seq`. Everything below `acked` was acknowledged before. With
    /// `was_repeated`, `seq` is known to have been sent twice.
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

    /// Ends a recovery without an undo (step 4).
    pub(crate) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 1;
        }
    }

    /// Records that DSACK reports a reduction without a loss, so the reordering window stays wide
    /// for another recovery.
    pub(crate) fn explained(&mut self) {
        self.persist = (self.persist + 1).min(PERSISTENCE);
    }

    pub(crate) fn repeated(&mut self) {
        self.repeats += 1;
        if let Some(undo) = &mut self.undo {
            undo.unexplained = Some(undo.unexplained.unwrap_or(0) + 1);
        }
    }

    /// RACK_update_reo_wnd (step 4): how much longer than a round trip to wait for a segment.
    /// `is_found` means that a repair is in progress, or that [`DUPLICATES`] segments have arrived
    /// out of order.
    pub(crate) fn window(&self, is_found: bool, least: Duration, smoothed: Duration) -> Duration {
        if !self.has_reordering && is_found {
            return Duration::ZERO;
        }
        Duration::from_ns((least.ns() / 4).saturating_mul(self.quarters.into()).min(smoothed.ns()))
    }

    /// Was every retransmission since the reduction unnecessary, according to DSACK?
    pub(crate) fn is_explained(&self) -> bool {
        self.undo.is_some_and(|undo| undo.unexplained == Some(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_variation_persists_over_round_trips_after_a_silence() {
        let (ms, least) = (|ms| Duration::from_ms(ms).ns(), Duration::from_ms(200));
        let mut variation = Variation::default();
        variation.begin(Duration::from_ms(40), least);
        assert_eq!(variation.held_ns_x4, ms(200));
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
        variation.end_round(least); // the peak was in this round
        assert_eq!(variation.held_ns_x4, most);
        variation.end_round(least);
        assert_eq!(variation.held_ns_x4, most - (most - ms(200)) / 4);
    }

    #[test]
    fn a_falling_round_trip_adds_an_eighth_of_a_rising_one() {
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
