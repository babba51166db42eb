//! The edges of a DiffServ domain: the one where aggregates leave estimates marks and reports, and
//! the one where they enter listens. A datagram is in place of the paper's two bits of a header.
//!
//! Source: E. Park and C. Choi, "Adaptive Token Bucket Algorithm for Fair Bandwidth Allocation in
//! DiffServ Networks", GLOBECOM 2003.

mod estimates;

pub use estimates::{Estimates, Seen, Targets};

use crate::classify::Facts;
use std::sync::Arc;

/// What one way of a gateway has to do as an edge: nothing, in most.
#[derive(Debug, Default)]
pub struct Edge {
    /// Where aggregates leave.
    pub estimates: Option<Estimates>,
    /// Where they enter.
    pub targets: Option<Arc<Targets>>,
}

impl Edge {
    /// A packet arrives.
    #[inline]
    pub(crate) fn observe(&mut self, facts: &Facts) {
        if let Some(estimates) = &mut self.estimates {
            estimates.observe(facts);
        }
    }

    /// Goes on with what `old` has learnt, where class n of it is `class_map[n]` here.
    pub(crate) fn take_over(&mut self, old: &Edge, class_map: &[u32]) {
        if let (Some(estimates), Some(old)) = (&mut self.estimates, &old.estimates) {
            estimates.take_over(old, class_map);
        }
    }

    /// Shows the targets that `target_of` has.
    pub(crate) fn show_targets(&self, target_of: impl FnMut(u32) -> Option<f64>) {
        if let Some(targets) = &self.targets {
            targets.show(target_of);
        }
    }
}

/// What the thread that forwards shows of its edges.
#[derive(Clone, Debug, Default)]
pub struct EdgeViews {
    /// What is seen where aggregates leave.
    pub seen: Option<Arc<Seen>>,
    /// The targets where they enter.
    pub targets: Option<Arc<Targets>>,
}

impl EdgeViews {
    /// What is to be seen of the edges of both ways.
    pub fn of([download, upload]: [&Edge; 2]) -> Self {
        EdgeViews { seen: download.estimates.as_ref().map(Estimates::seen), targets: upload.targets.clone() }
    }
}
