//! Spreads a cut of the window over the following round trip: proportional rate reduction.
//!
//! # Source
//! RFC 9937, section 6.2. While more than the target is in flight, the reduction is proportional.
//! Otherwise the conservative bound holds (PRR-CRB), plus one segment (PRR-SSRB) if an
//! acknowledgement advances without a sign of a further loss (SafeACK). As in Linux, cuts by marks
//! are spread too, and a cut begins from the window in use instead of the number in flight
//! (RecoverFS).
//!
//! # Why
//! If a window falls at once from ten to seven, nothing is sent until three segments have left the
//! network. If more than three were lost, a burst is sent.

/// A cut in progress; none while `until` is zero.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cut {
    /// The first segment not yet sent when the cut began. The cut ends when everything below it is
    /// acknowledged.
    until: u64,
    room: u64,
    /// The window after the cut, in segments (ssthresh).
    target: u32,
    /// The window before the cut, in segments (RecoverFS). At least 1, because `step` divides by
    /// it.
    before: u32,
    /// Segments delivered since the cut began (prr_delivered).
    delivered: u32,
    /// Segments sent since the cut began (prr_out).
    sent: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    /// The number of segments newly reported as delivered (DeliveredData).
    pub newly: u32,
    /// Does the acknowledgement cover new data, without a sign of a further loss?
    pub is_safe: bool,
    /// Segments in flight after the acknowledgement.
    pub in_flight: u64,
}

impl Cut {
    /// Begins a cut. `highest` is the first segment never sent. Until the next
    /// [`step`](Self::step), no segment may be sent.
    pub(crate) fn begin(&mut self, before: f64, target: f64, highest: u64) {
        let segments = |window: f64| (window as u32).max(1);
        *self = Cut { until: highest, target: segments(target), before: segments(before), ..Cut::default() };
    }

    pub(crate) fn end(&mut self) {
        *self = Cut::default();
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.until != 0
    }

    pub(crate) fn until(&self) -> Option<u64> {
        self.is_on().then_some(self.until)
    }

    #[inline]
    pub(crate) fn room(&self, window: f64) -> u64 {
        if self.is_on() { self.room } else { window as u64 }
    }

    /// Handles an acknowledgement: RFC 9937, section 6.2.
    pub(crate) fn step(&mut self, delivery: Delivery) {
        if !self.is_on() || delivery.newly == 0 {
            return;
        }
        self.delivered = self.delivered.saturating_add(delivery.newly);
        let target = u64::from(self.target);
        let more = if delivery.in_flight > target {
            // Proportional: `target` segments are sent for `before` segments delivered.
            let due = u64::from(self.delivered) * target;
            due.div_ceil(self.before.into()).saturating_sub(self.sent.into())
        } else {
            // Up to `target` in flight, each delivered segment is replaced, and a safe
            // acknowledgement adds one.
            let owed = self.delivered.saturating_sub(self.sent);
            let bound = owed.max(delivery.newly) + u32::from(delivery.is_safe);
            u64::from(bound).min(target - delivery.in_flight)
        };
        // The first segment of a cut, usually a retransmission, is sent at once.
        self.room = delivery.in_flight + more.max(u64::from(self.sent == 0));
    }

    #[inline]
    pub(crate) fn sent(&mut self) {
        self.sent += u32::from(self.is_on());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::{Rng, Seed};

    fn delivery(newly: u32, in_flight: u64) -> Delivery {
        Delivery { newly, is_safe: true, in_flight }
    }

    /// Returns the number of segments sent after each of `count` acknowledgements.
    fn spread(cut: &mut Cut, in_flight: &mut u64, count: u32) -> Vec<u64> {
        let one = |cut: &mut Cut, in_flight: &mut u64| {
            *in_flight -= 1;
            cut.step(delivery(1, *in_flight));
            let sent = cut.room(0.0).saturating_sub(*in_flight);
            (0..sent).for_each(|_| cut.sent());
            *in_flight += sent;
            sent
        };
        (0..count).map(|_| one(cut, in_flight)).collect()
    }

    #[test]
    fn seven_segments_leave_for_each_ten_that_are_delivered() {
        let (mut cut, mut in_flight) = (Cut::default(), 10);
        cut.begin(10.0, 7.0, 10);
        assert_eq!(spread(&mut cut, &mut in_flight, 10), [1, 1, 1, 0, 1, 1, 0, 0, 1, 1]); // ceil(0.7 n) of n until 7 are in flight
        assert_eq!(in_flight, 7);
    }

    fn spread_at_random(rng: &mut Rng, before: u32, target: u32) {
        let (mut cut, mut in_flight) = (Cut::default(), u64::from(before));
        cut.begin(before.into(), target.into(), 1);
        let (mut delivered, mut sent, mut lost_ever) = (0_u64, 0_u64, 0);
        while delivered < 3 * u64::from(before) {
            let lost = if rng.chance(0.1) { u64::from(rng.below(4)).min(in_flight) } else { 0 };
            in_flight -= lost;
            lost_ever += lost;
            let newly = u64::from(1 + rng.below(3)).min(in_flight);
            if newly == 0 {
                break;
            }
            (in_flight, delivered) = (in_flight - newly, delivered + newly);
            let is_above = in_flight > u64::from(target);
            cut.step(Delivery { newly: newly as u32, is_safe: lost == 0, in_flight });
            let out = cut.room(0.0).saturating_sub(in_flight);
            (0..out).for_each(|_| cut.sent());
            sent += out;
            in_flight += out;
            if is_above {
                // The reduction is proportional (section 6.2), except that the first segment leaves
                // at once.
                let due = (delivered * u64::from(target)).div_ceil(before.into());
                assert!(sent <= due.max(1), "{before} {target}: {sent} of {delivered}");
            } else {
                // The first segment is sent at once, so one segment more than the target may be in
                // flight.
                let most = u64::from(target) + u64::from(sent == out);
                assert!(in_flight <= most, "{before} {target}: {in_flight}");
                assert!(
                    out <= newly.max(delivered.saturating_sub(sent - out)) + 1,
                    "{before} {target}: {out}"
                );
            }
        }
        if lost_ever == 0 {
            assert_eq!(in_flight, u64::from(target), "{before} {target}");
        }
    }

    #[test]
    fn transmissions_stay_in_proportion_and_a_cut_ends_at_its_target() {
        let mut rng = Seed(1).stream("cuts");
        for _ in 0..2000 {
            let before = 2 + rng.below(200);
            let target = 1 + rng.below(before);
            spread_at_random(&mut rng, before, target);
        }
    }

    #[test]
    fn losses_beyond_the_cut_are_regained_by_one_per_delivery() {
        let (mut cut, mut in_flight) = (Cut::default(), 4);
        cut.begin(10.0, 7.0, 10);
        assert_eq!(spread(&mut cut, &mut in_flight, 5), [2, 2, 2, 1, 1]); // 5, 6 and 7 in flight, and no more
        assert_eq!(in_flight, 7);
    }

    #[test]
    fn after_a_further_loss_no_more_is_sent_than_delivered() {
        let mut cut = Cut::default();
        cut.begin(10.0, 7.0, 10);
        cut.step(Delivery { newly: 1, is_safe: false, in_flight: 3 });
        assert_eq!(cut.room(0.0), 4);
    }

    #[test]
    fn the_first_retransmission_does_not_wait_and_no_cut_sets_no_bound() {
        let mut cut = Cut::default();
        assert_eq!((cut.room(8.9), cut.until()), (8, None));
        cut.begin(10.0, 1.0, 10);
        cut.step(delivery(1, 9));
        cut.sent();
        cut.step(delivery(1, 9));
        assert_eq!((cut.room(8.9), cut.until()), (9, Some(10))); // ceil(0.2) is the segment already sent
        cut.end();
        assert_eq!(cut.room(8.9), 8);
    }
}
