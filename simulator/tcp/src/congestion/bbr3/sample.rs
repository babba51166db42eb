//! Measurements of the path from an acknowledgement and from the last round trip: section 5.5.10.

use super::losses::Losses;
use crate::congestion::control::Acked;

/// The draft's RS: the measurements of an acknowledgement. In the fields' comments, the current
/// segment is the acknowledged segment that was sent last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// RS.delivery_rate, segments per second.
    pub rate: f64,
    /// RS.delivered: segments delivered since the current segment was sent.
    pub delivered: f64,
    /// RS.lost: segments considered lost since the current segment was sent.
    pub lost: f64,
    /// RS.tx_in_flight: the segments in flight when the current segment was sent.
    pub in_flight: f64,
    /// RS.newly_acked, segments.
    pub newly: f64,
    /// RS.is_app_limited; also true if `ProbeRtt` held the sender back.
    pub is_limited: bool,
    /// C.delivered.
    pub delivered_now: u32,
    /// C.delivered when the current segment was sent.
    pub delivered_before: u32,
}

impl Sample {
    pub(super) fn of(acked: &Acked, is_held: bool, losses: &mut Losses) -> Option<Self> {
        let rate = acked.rate.filter(|rate| rate.per_second.is_finite())?;
        let delivered = f64::from(rate.delivered.wrapping_sub(rate.delivered_before));
        let lost = f64::from(losses.since(rate.delivered_before));
        Some(Sample {
            rate: rate.per_second,
            delivered,
            lost,
            // Without reordering, all segments in flight when the current segment was sent have
            // arrived by now, or are lost.
            in_flight: delivered + lost,
            newly: acked.newly.into(),
            is_limited: rate.is_limited_by_application || is_held,
            delivered_now: rate.delivered,
            delivered_before: rate.delivered_before,
        })
    }

    /// BBRInflightAtLoss: the number in flight at which losses exceeded `threshold`.
    pub(super) fn in_flight_at_loss(&self, newly_lost: u32, threshold: f64) -> f64 {
        let size = f64::from(newly_lost);
        let (in_flight, lost) = (self.in_flight - size, self.lost - size);
        in_flight + (threshold * in_flight - lost) / (1.0 - threshold)
    }
}

/// The maxima of the last round trip: BBR.bw_latest and BBR.inflight_latest.
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
    /// Returns empty maxima that keep the loss round of `before`.
    pub(super) fn after(before: &Latest) -> Self {
        Latest { round_ends: before.round_ends, ..Latest::default() }
    }

    pub(super) fn begin_round(&mut self, delivered: u32) {
        self.round_ends = delivered;
    }

    /// BBRUpdateLatestDeliverySignals. Returns whether a loss round ends.
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
