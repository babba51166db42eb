//! The edges of a DiffServ domain. The edge at the exit estimates marks, and reports them to the
//! edge at the entrance in datagrams. The paper used two header bits.
//!
//! Source: E. Park and C. Choi, "Adaptive Token Bucket Algorithm for Fair Bandwidth Allocation in
//! DiffServ Networks", GLOBECOM 2003.

mod estimates;

pub use estimates::{Estimates, EstimatesView, Targets};

use crate::classify::Facts;
use std::sync::Arc;

/// One direction at the edge of a DiffServ domain; empty in most gateways.
#[derive(Debug, Default)]
pub struct Edge {
    /// Estimates, present where aggregates leave.
    pub estimates: Option<Estimates>,
    /// Targets, present where aggregates enter.
    pub targets: Option<Arc<Targets>>,
}

impl Edge {
    #[inline]
    pub(crate) fn observe(&mut self, facts: &Facts) {
        if let Some(estimates) = &mut self.estimates {
            estimates.observe(facts);
        }
    }

    /// Continues from the state of `old`, whose class n is `class_map[n]` here.
    pub(crate) fn take_over(&mut self, old: &Edge, class_map: &[u32]) {
        if let (Some(estimates), Some(old)) = (&mut self.estimates, &old.estimates) {
            estimates.take_over(old, class_map);
        }
    }

    pub(crate) fn show_targets(&self, target_of: impl FnMut(u32) -> Option<f64>) {
        if let Some(targets) = &self.targets {
            targets.show(target_of);
        }
    }
}

/// The forwarding thread's edges, as shown to other threads.
#[derive(Clone, Debug, Default)]
pub struct EdgeViews {
    /// Estimates, present where aggregates leave.
    pub seen: Option<Arc<EstimatesView>>,
    /// Targets, present where aggregates enter.
    pub targets: Option<Arc<Targets>>,
}

impl EdgeViews {
    /// The views of the edges of both directions.
    pub fn of([download, upload]: [&Edge; 2]) -> Self {
        EdgeViews { seen: download.estimates.as_ref().map(Estimates::seen), targets: upload.targets.clone() }
    }
}
