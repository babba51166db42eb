//! The smoothed fraction of marked segments, which DCTCP and Prague share.

use super::control::Acked;

/// DCTCP.Alpha of RFC 8257, section 3.3, and the counts of the current round.
#[derive(Debug)]
pub(super) struct MarkedFraction {
    alpha: f64,
    gain: f64,
    acked: u32,
    marked: u32,
}

impl MarkedFraction {
    /// Starts at `alpha`. `gain` is the weight of a round's marked fraction.
    pub(super) fn new(alpha: f64, gain: f64) -> Self {
        MarkedFraction { alpha, gain, acked: 0, marked: 0 }
    }

    pub(super) fn alpha(&self) -> f64 {
        self.alpha
    }

    pub(super) fn count(&mut self, acked: &Acked) {
        self.acked = self.acked.saturating_add(acked.newly);
        self.marked = self.marked.saturating_add(acked.marked.min(acked.newly));
    }

    pub(super) fn end_round(&mut self) {
        if self.acked == 0 {
            return;
        }
        let fraction = f64::from(self.marked) / f64::from(self.acked);
        self.alpha = self.alpha * (1.0 - self.gain) + self.gain * fraction;
        (self.acked, self.marked) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Time;

    #[test]
    fn each_round_counts_only_its_own_marks() {
        let mut marks = MarkedFraction::new(0.0, 0.5);
        let ack = |newly, marked| Acked {
            now: Time::ZERO,
            newly,
            growth: newly,
            marked,
            lost: 0,
            in_flight: 10,
            rtt: None,
            ends_round: false,
            rate: None,
            is_window_used: true,
            max_window: 1e9,
        };
        for (newly, marked, expected) in [(4, 4, 0.5), (4, 0, 0.25), (8, 2, 0.25), (0, 0, 0.25)] {
            marks.count(&ack(newly, marked));
            marks.end_round();
            assert_eq!(marks.alpha(), expected);
        }
    }
}
