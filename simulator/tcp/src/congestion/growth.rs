//! The arithmetic of growing or halving a window, which several controllers share.

use super::control::{Congested, Start};

/// The minimum threshold, segments: RFC 5681, equation (4).
pub(super) const LOWEST_THRESHOLD: f64 = 2.0;

/// Slow start (RFC 5681, section 3.1) with appropriate byte counting (RFC 3465). Returns the new
/// window, and the segments left for congestion avoidance.
pub(super) fn slow_start(window: f64, threshold: f64, newly: u32) -> (f64, f64) {
    let step = f64::from(newly).min((threshold - window).max(0.0));
    (window + step, f64::from(newly) - step)
}

/// The rounding of a controller's windows. The integer part of a window limits sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    /// Nothing is rounded: the RFCs count bytes.
    Real,
    /// The windows before and after a reduction are integers, as in Linux, which counts segments.
    Whole,
}

impl Arithmetic {
    pub(super) fn of(start: &Start) -> Self {
        if start.whole_segments { Arithmetic::Whole } else { Arithmetic::Real }
    }

    pub(super) fn counted(self, value: f64) -> f64 {
        if self == Arithmetic::Whole { value.floor() } else { value }
    }
}

/// RFC 5681, equation (4).
pub(super) fn half(congested: &Congested) -> f64 {
    (congested.in_use / 2.0).max(LOWEST_THRESHOLD)
}

pub(super) fn kept(window: f64, most: f64) -> f64 {
    window.min(most).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_stops_at_the_threshold_and_leaves_the_rest() {
        assert_eq!(slow_start(10.0, f64::INFINITY, 4), (14.0, 0.0));
        assert_eq!(slow_start(10.0, 11.5, 4), (11.5, 2.5));
        assert_eq!(slow_start(12.0, 11.5, 4), (12.0, 4.0));
    }
}
