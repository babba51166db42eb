//! Estimates each class's marked fraction, at the edge where packets leave the domain.

use crate::class_book::UNCLAIMED;
use crate::classify::Facts;
use fairwire_core::{Ecn, RateRequest};
use fairwire_metrics::marks::{Estimator, EstimatorPlan};
use fairwire_wire::assured::color_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// One estimator per class, on the forwarding thread. Each packet takes O(1) time.
///
/// Only ECN-capable packets with a green codepoint of assured forwarding are counted. Drops are not
/// visible here, so packets without ECN would seem to meet no congestion, and raise the target to
/// its bound.
#[derive(Debug)]
pub struct Estimates {
    of_class: Box<[Watched]>,
    seen: Arc<EstimatesView>,
}

#[derive(Clone, Debug)]
struct Watched {
    estimator: Estimator,
    /// Requests for a higher target minus requests for a lower target, over all counted packets.
    votes: i64,
}

/// The fields of [`Estimates`] that other threads read, by class number.
#[derive(Debug)]
pub struct EstimatesView {
    of_class: Box<[ClassView]>,
}

#[derive(Debug, Default)]
struct ClassView {
    votes: AtomicI64,
    /// The bits of an `f64`.
    estimate: AtomicU64,
}

impl Estimates {
    /// Estimators for the classes with numbers below `classes`, as in Park and Choi 2003, section
    /// IV.
    pub fn new(classes: usize) -> Self {
        let watched = || Watched { estimator: Estimator::new(EstimatorPlan::default()), votes: 0 };
        let seen = EstimatesView { of_class: (0..classes).map(|_| ClassView::default()).collect() };
        Estimates { of_class: (0..classes).map(|_| watched()).collect(), seen: Arc::new(seen) }
    }

    /// The view for other threads.
    pub fn seen(&self) -> Arc<EstimatesView> {
        self.seen.clone()
    }

    /// Counts a packet that arrives from the domain.
    #[inline]
    pub fn observe(&mut self, facts: &Facts) {
        if color_of(facts.dscp) != Some(0) || !facts.ecn.is_capable() {
            return;
        }
        let class = facts.class as usize;
        let Some(watched) = self.of_class.get_mut(class) else { return };
        watched.estimator.observe(facts.ecn == Ecn::Ce);
        watched.votes = watched.votes.wrapping_add(match watched.estimator.request() {
            RateRequest::Increase => 1,
            RateRequest::Keep => 0,
            RateRequest::Decrease => -1,
        });
        self.seen.of_class[class].show(watched);
    }

    /// Continues from the state of `old`, whose class n is `class_map[n]` here.
    pub fn take_over(&mut self, old: &Estimates, class_map: &[u32]) {
        for (watched, class) in old.of_class.iter().zip(class_map) {
            let place = self.of_class.get_mut(*class as usize).filter(|_| *class != UNCLAIMED);
            let Some(place) = place else { continue };
            place.clone_from(watched);
            self.seen.of_class[*class as usize].show(watched);
        }
    }
}

impl ClassView {
    #[inline]
    fn show(&self, watched: &Watched) {
        self.votes.store(watched.votes, Ordering::Relaxed);
        self.estimate.store(watched.estimator.estimate().to_bits(), Ordering::Relaxed);
    }
}

impl EstimatesView {
    /// Requests to increase the target minus requests to decrease it, since the start. Each packet
    /// of `class` causes at most one request.
    pub fn votes(&self, class: u32) -> i64 {
        self.of_class.get(class as usize).map_or(0, |seen| seen.votes.load(Ordering::Relaxed))
    }

    /// The estimated fraction of marked packets among the in-profile packets of `class`, 0 to 1.
    pub fn estimate(&self, class: u32) -> f64 {
        let bits = self.of_class.get(class as usize).map_or(0, |seen| seen.estimate.load(Ordering::Relaxed));
        f64::from_bits(bits)
    }
}

/// The targets of the classes, which the forwarding thread shows to other threads.
#[derive(Debug)]
pub struct Targets {
    /// The bits of an `f64`, by class number; NaN without a target.
    of_class: Box<[AtomicU64]>,
}

impl Targets {
    /// Targets for the classes with numbers below `classes`, none set.
    pub fn new(classes: usize) -> Self {
        Targets { of_class: (0..classes).map(|_| AtomicU64::new(f64::NAN.to_bits())).collect() }
    }

    /// Shows other threads the target that `target_of` returns for each class.
    pub fn show(&self, mut target_of: impl FnMut(u32) -> Option<f64>) {
        for (class, place) in (0..).zip(&self.of_class) {
            place.store(target_of(class).unwrap_or(f64::NAN).to_bits(), Ordering::Relaxed);
        }
    }

    /// The target of `class` in bit/s; `None` without a variable target.
    pub fn of(&self, class: u32) -> Option<f64> {
        let bits = self.of_class.get(class as usize)?.load(Ordering::Relaxed);
        Some(f64::from_bits(bits)).filter(|target| target.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::FlowHash;

    fn facts(class: u32, dscp: u8, ecn: Ecn) -> Facts {
        Facts {
            flow: FlowHash(0),
            within: None,
            has_no_host: false,
            class,
            len: 500,
            ecn,
            dscp,
            color: color_of(dscp).unwrap_or(0),
            is_ip: true,
            bypasses: false,
            is_spoofed: false,
        }
    }

    const GREEN: u8 = 10;
    const YELLOW: u8 = 12;

    #[test]
    fn marks_of_green_packets_lower_only_the_target_of_their_class() {
        let mut estimates = Estimates::new(3);
        let seen = estimates.seen();
        for _ in 0..10 {
            estimates.observe(&facts(1, GREEN, Ecn::Ce));
            estimates.observe(&facts(2, GREEN, Ecn::Ect0));
        }
        // The first of ten marks requests no change, because the estimate is then only 0.01.
        assert_eq!((seen.votes(1), seen.votes(2)), (-9, 10));
        assert!(seen.estimate(1) > 0.3 && seen.estimate(2) == 0.0, "{}", seen.estimate(1));
    }

    #[test]
    fn packets_out_of_profile_or_unmarkable_are_ignored() {
        let mut estimates = Estimates::new(2);
        for (dscp, ecn) in [
            (YELLOW, Ecn::Ce),
            (GREEN, Ecn::NotEct), // a full queue drops it, which is not visible here
            (0, Ecn::Ce),         // not from an edge
            (46, Ecn::Ect0),
        ] {
            estimates.observe(&facts(1, dscp, ecn));
        }
        estimates.observe(&facts(7, GREEN, Ecn::Ce)); // unknown class
        assert_eq!((estimates.seen().votes(1), estimates.seen().estimate(1)), (0, 0.0));
    }

    #[test]
    fn estimates_follow_a_class_to_its_new_number() {
        let mut old = Estimates::new(3);
        (0..50).for_each(|_| old.observe(&facts(2, GREEN, Ecn::Ce)));
        let mut new = Estimates::new(4);
        new.take_over(&old, &[0, 2, 3]);
        assert_eq!(new.seen().votes(3), -49);
        assert_eq!(new.seen().estimate(3), old.seen().estimate(2));
        assert_eq!([1, 2].map(|class| new.seen().votes(class)), [0, 0]);
        let mut none = Estimates::new(1);
        none.take_over(&old, &[0, 0, 0]);
        assert_eq!(none.seen().votes(0), 0);
    }

    #[test]
    fn targets_are_shown_only_where_they_exist() {
        let targets = Targets::new(2);
        assert_eq!(targets.of(1), None);
        targets.show(|class| (class == 1).then_some(5e6));
        assert_eq!([targets.of(0), targets.of(1), targets.of(2)], [None, Some(5e6), None]);
    }
}
