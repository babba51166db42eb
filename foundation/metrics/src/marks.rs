//! The estimates that an aggregate's egress edge makes from marks.
//!
//! Source: E. Park and C. Choi, "Adaptive Token Bucket Algorithm for Fair Bandwidth Allocation in
//! DiffServ Networks", GLOBECOM 2003, section III-B and equation (3).

use fairwire_core::RateRequest;

/// The parameters of an [`Estimator`]. The defaults are those of E. Park and C. Choi 2003, section
/// IV.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimatorPlan {
    /// When the estimate is updated.
    pub cadence: Cadence,
    /// N: the number of recent green packets whose marks are counted; at least 1.
    pub window: u32,
    /// w: the weight of the window's mean in the estimate.
    pub weight: f64,
    /// The estimate below which a higher target is requested.
    pub low: f64,
    /// The estimate above which a lower target is requested.
    pub high: f64,
}

impl Default for EstimatorPlan {
    fn default() -> Self {
        EstimatorPlan { cadence: Cadence::Sliding, window: 10, weight: 0.1, low: 0.005, high: 0.02 }
    }
}

/// When an estimate of marks is updated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cadence {
    /// After each green packet, from the window that ends with the packet.
    #[default]
    Sliding,
    /// After each complete window of green packets, from that window.
    Tumbling,
}

/// Estimates the fraction of green (in-profile) packets that are marked on the path, and requests a
/// higher or lower target. O(1) per packet.
#[derive(Clone, Debug)]
pub struct Estimator {
    plan: EstimatorPlan,
    /// A ring buffer of the window's packets: true if marked.
    window: Box<[bool]>,
    next: usize,
    marked: u32,
    estimate: f64,
}

impl Estimator {
    /// An estimator that has observed no mark.
    ///
    /// # Panics
    /// If the window has no packets.
    pub fn new(plan: EstimatorPlan) -> Self {
        assert!(plan.window > 0, "a window of no packets has no mean");
        let window = vec![false; plan.window as usize].into();
        Estimator { plan, window, next: 0, marked: 0, estimate: 0.0 }
    }

    /// The estimate, 0 to 1.
    pub fn estimate(&self) -> f64 {
        self.estimate
    }

    /// Records one green packet, marked or not.
    pub fn observe(&mut self, is_marked: bool) {
        let left = std::mem::replace(&mut self.window[self.next], is_marked);
        self.marked = self.marked + u32::from(is_marked) - u32::from(left);
        self.next = (self.next + 1) % self.window.len();
        if self.plan.cadence == Cadence::Sliding || self.next == 0 {
            let mean = f64::from(self.marked) / self.window.len() as f64;
            self.estimate += self.plan.weight * (mean - self.estimate);
        }
    }

    /// The request to send now: increase, decrease or keep the target.
    pub fn request(&self) -> RateRequest {
        match self.estimate {
            low if low < self.plan.low => RateRequest::Increase,
            high if high > self.plan.high => RateRequest::Decrease,
            _ => RateRequest::Keep,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(cadence: Cadence) -> Estimator {
        Estimator::new(EstimatorPlan { cadence, ..EstimatorPlan::default() })
    }

    fn after_one_mark(cadence: Cadence, packets: usize) -> Vec<(f64, RateRequest)> {
        let mut estimator = estimator(cadence);
        let mut one = |at| {
            estimator.observe(at == 0);
            (estimator.estimate(), estimator.request())
        };
        (0..packets).map(&mut one).collect()
    }

    #[test]
    fn one_mark_in_a_sliding_window_requests_a_decrease_for_19_packets() {
        let seen = after_one_mark(Cadence::Sliding, 60);
        let (peak, at) = (seen[9].0, 1.0 - 0.9f64.powi(10));
        assert!((peak - 0.1 * at).abs() < 1e-12 && (peak - 0.06513).abs() < 1e-5, "{peak}");
        assert!(seen.iter().all(|(estimate, _)| *estimate <= peak));
        let requesting = |request| {
            seen.iter().enumerate().filter(move |(_, seen)| seen.1 == request).map(|(at, _)| at + 1)
        };
        assert!(requesting(RateRequest::Decrease).eq(3..=21), "{seen:?}");
        assert!(requesting(RateRequest::Keep).eq((1..=2).chain(22..=34)), "{seen:?}");
        assert!(requesting(RateRequest::Increase).eq(35..=60), "{seen:?}");
    }

    #[test]
    fn one_mark_in_a_tumbling_window_gives_a_hundredth_and_no_decrease() {
        let seen = after_one_mark(Cadence::Tumbling, 100);
        assert_eq!(seen[8], (0.0, RateRequest::Increase));
        for (block, (estimate, request)) in seen.iter().skip(9).step_by(10).enumerate() {
            let expected = 0.01 * 0.9f64.powi(i32::try_from(block).expect("few"));
            assert!((estimate - expected).abs() < 1e-12, "{block}: {estimate}");
            // From block 7, `estimate` is below 0.005, so an increase is requested.
            assert_eq!(
                *request,
                if block <= 6 { RateRequest::Keep } else { RateRequest::Increase },
                "{block}"
            );
        }
    }

    #[test]
    fn the_estimate_converges_to_one_when_all_are_marked() {
        for cadence in [Cadence::Sliding, Cadence::Tumbling] {
            let mut estimator = estimator(cadence);
            (0..1000).for_each(|_| estimator.observe(true));
            assert!((estimator.estimate() - 1.0).abs() < 1e-4);
            assert_eq!(estimator.request(), RateRequest::Decrease);
        }
    }
}
