//! What an acknowledgement says of the path, and what the last round trip said: section 5.5.10.

use super::losses::Losses;
use crate::congestion::control::Acked;

/// RS of the draft: what an acknowledgement measures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// RS.delivery_rate, segments per second.
    pub rate: f64,
    /// RS.delivered: segments delivered since the segment at hand was sent.
    pub delivered: f64,
    /// RS.lost: segments taken for lost since then.
    pub lost: f64,
    /// RS.tx_in_flight: what was in flight when it was sent, segments.
    pub in_flight: f64,
    /// RS.newly_acked, segments.
    pub newly: f64,
    /// RS.is_app_limited, or held back by `ProbeRtt`.
    pub is_limited: bool,
    /// C.delivered.
    pub delivered_now: u32,
    /// What that was when the segment was sent.
    pub delivered_before: u32,
}

impl Sample {
    /// The sample of `acked`, if it measures a rate.
    pub(super) fn of(acked: &Acked, is_held: bool, losses: &mut Losses) -> Option<Self> {
        let rate = acked.rate.filter(|rate| rate.per_second.is_finite())?;
        let delivered = f64::from(rate.delivered.wrapping_sub(rate.delivered_before));
        let lost = f64::from(losses.since(rate.delivered_before));
        Some(Sample {
            rate: rate.per_second,
            delivered,
            lost,
            // In order, all that was in flight has arrived by now, or is lost.
            in_flight: delivered + lost,
            newly: acked.newly.into(),
            is_limited: rate.is_limited_by_application || is_held,
            delivered_now: rate.delivered,
            delivered_before: rate.delivered_before,
        })
    }

    /// BBRInflightAtLoss: at what volume in flight losses exceeded `threshold`, where the last
    /// `newly_lost` of them are those at hand.
    pub(super) fn in_flight_at_loss(&self, newly_lost: u32, threshold: f64) -> f64 {
        let size = f64::from(newly_lost);
        let (in_flight, lost) = (self.in_flight - size, self.lost - size);
        in_flight + (threshold * in_flight - lost) / (1.0 - threshold)
    }
}

/// The most of the last round trip: BBR.bw_latest and BBR.inflight_latest.
#[derive(Debug, Default)]
pub(super) struct Latest {
    /// Segments per second.
    pub rate: f64,
    /// Segments.
    pub delivered: f64,
    /// BBR.loss_round_delivered.
    round_ends: u32,
}

impl Latest {
    /// Nothing yet of the round that is under way in `before`.
    pub(super) fn after(before: &Latest) -> Self {
        Latest { round_ends: before.round_ends, ..Latest::default() }
    }

    /// The first loss of a round: the round of losses begins when `delivered` segments have been
    /// delivered.
    pub(super) fn begin_round(&mut self, delivered: u32) {
        self.round_ends = delivered;
    }

    /// BBRUpdateLatestDeliverySignals. Does a round of losses end?
    pub(super) fn take(&mut self, sample: &Sample) -> bool {
        self.rate = self.rate.max(sample.rate);
        self.delivered = self.delivered.max(sample.delivered);
        let ends = sample.delivered_before.wrapping_sub(self.round_ends).cast_signed() >= 0;
        if ends {
            self.round_ends = sample.delivered_now;
        }
        ends
    }

    /// BBRAdvanceLatestDeliverySignals.
    pub(super) fn advance(&mut self, sample: &Sample, has_ended: bool) {
        if has_ended {
            (self.rate, self.delivered) = (sample.rate, sample.delivered);
        }
    }
}
