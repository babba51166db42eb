//! The model of the path: draft-ietf-ccwg-bbr-05, section 5.5.

use super::sample::Sample;
use super::{AckPhase, Bbr3, Bbr3State, MAX_DOUBLINGS, PROBE_RTT_INTERVAL, STARTUP_GAIN};
use crate::congestion::bbr_parts::{LeastRtt, RTT_WINDOW};
use crate::congestion::control::Acked;
use fairwire_core::Time;

impl Bbr3 {
    /// BBRUpdateMaxBw.
    pub(super) fn measure_rate(&mut self, sample: &Sample) {
        if sample.rate > 0.0 && (sample.rate >= self.bottleneck_rate() || !sample.is_limited) {
            self.rates.take(sample.rate, self.cycle);
        }
    }

    /// BBRNoteLoss, and the steps of BBRHandleLostPacket for all losses of an acknowledgement at
    /// once.
    pub(super) fn note_losses(&mut self, lost: u32, sample: Option<&Sample>, now: Time) {
        if lost == 0 {
            return;
        }
        self.note_loss();
        self.loss_events = self.loss_events.saturating_add(1);
        let Some(sample) = sample else { return };
        if self.has_probe_samples && self.is_too_much(sample) {
            let in_flight = sample.in_flight_at_loss(lost, self.parameters.given.loss_threshold);
            self.answer_probe(in_flight, sample.is_limited, now);
        }
    }

    pub(super) fn note_loss(&mut self) {
        if !self.has_lost_in_round {
            self.latest.begin_round(self.rounds.delivered);
        }
        self.has_lost_in_round = true;
    }

    /// IsInflightTooHigh.
    pub(super) fn is_too_much(&self, sample: &Sample) -> bool {
        sample.lost > sample.in_flight * self.parameters.given.loss_threshold
    }

    /// BBRHandleInflightTooHigh.
    pub(super) fn answer_probe(&mut self, in_flight: f64, is_limited: bool, now: Time) {
        self.has_probe_samples = false;
        if !is_limited {
            self.bounds.in_flight_long = in_flight.max(self.target() * self.parameters.given.beta);
        }
        if self.state == Bbr3State::Up {
            self.start_down(now);
        }
    }

    /// BBRUpdateCongestionSignals: lowers the short-term bounds after a round with losses.
    pub(super) fn adapt_short_term(&mut self) {
        if self.has_lost_in_round && !self.is_probing() {
            let (rate, window) = (self.bottleneck_rate(), self.window);
            let beta = self.parameters.given.beta;
            let bounds = &mut self.bounds;
            // BBRInitLowerBounds: the current rate and window replace infinite bounds.
            bounds.rate_short = self.latest.rate.max(beta * bounds.rate_short.min(rate));
            bounds.in_flight_short = self.latest.delivered.max(beta * bounds.in_flight_short.min(window));
        }
        self.has_lost_in_round = false;
    }

    /// BBRResetShortTermModel.
    pub(super) fn forget_short_term(&mut self) {
        (self.bounds.rate_short, self.bounds.in_flight_short) = (f64::INFINITY, f64::INFINITY);
    }

    /// BBRAdaptLongTermModel.
    pub(super) fn adapt_long_term(&mut self, sample: &Sample, is_new_round: bool, is_window_full: bool) {
        match self.acks {
            AckPhase::Starting if is_new_round => self.acks = AckPhase::Feedback,
            AckPhase::Stopping if is_new_round => {
                (self.acks, self.has_probe_samples) = (AckPhase::Init, false);
                if self.is_cycling() && !sample.is_limited && self.rates.has_taken_in(self.cycle) {
                    self.cycle = self.cycle.wrapping_add(1); // BBRAdvanceMaxBwFilter
                }
            }
            _ => {}
        }
        if self.is_too_much(sample) || self.bounds.in_flight_long.is_infinite() {
            return;
        }
        self.bounds.in_flight_long = self.bounds.in_flight_long.max(sample.in_flight);
        if self.state == Bbr3State::Up && is_window_full && self.window >= self.bounds.in_flight_long {
            self.grow_bound(sample.newly, is_new_round);
        }
    }

    /// BBRProbeInflightLongtermUpward.
    pub(super) fn grow_bound(&mut self, newly: f64, is_new_round: bool) {
        self.growth.acked += newly;
        if self.growth.acked >= self.growth.per_segment {
            let more = libm::floor(self.growth.acked / self.growth.per_segment);
            self.growth.acked -= more * self.growth.per_segment;
            self.bounds.in_flight_long += more;
        }
        if is_new_round {
            self.raise_growth();
        }
    }

    /// BBRRaiseInflightLongtermSlope.
    pub(super) fn raise_growth(&mut self) {
        let this_round = f64::from(1_u32 << self.growth.rounds);
        self.growth.rounds = (self.growth.rounds + 1).min(MAX_DOUBLINGS);
        self.growth.per_segment = (self.window / this_round).max(1.0);
    }

    /// BBRUpdateMinRTT. Returns whether `ProbeRtt` has become due.
    pub(super) fn measure_rtt(&mut self, acked: &Acked) -> bool {
        let is_due = self.recent_rtt.has_expired(acked.now, PROBE_RTT_INTERVAL);
        let is_first = self.least_rtt.known().is_none();
        if let Some(rtt) = acked.rtt
            && (rtt < self.recent_rtt.rtt || is_due)
        {
            self.recent_rtt = LeastRtt { rtt, at: acked.now };
        }
        let is_expired = self.least_rtt.has_expired(acked.now, RTT_WINDOW);
        if self.recent_rtt.rtt < self.least_rtt.rtt || is_expired {
            self.least_rtt = LeastRtt { ..self.recent_rtt };
        }
        if is_first && let Some(rtt) = self.least_rtt.known().filter(|rtt| !rtt.is_zero()) {
            // BBRInitPacingRate: the round-trip time is now known.
            self.pace = STARTUP_GAIN * f64::from(self.initial_window) / rtt.secs();
        }
        is_due
    }
}
