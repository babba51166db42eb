//! Checks the names and contracts of aggregates, and that aggregates do not overlap.

use super::{Check, Checked, FASTEST, bps};
use crate::aggregate;
use crate::topology::Topology;

impl Check<'_> {
    pub(super) fn aggregates(&self, topology: &Topology) -> Checked {
        for (at, aggregate) in self.spec.aggregate.iter().enumerate() {
            self.name(&format!("aggregate.{at}.name"), &aggregate.name)?;
            self.within(&format!("aggregate.{at}.target"), aggregate.target.0, bps(1)..=bps(FASTEST))?;
        }
        aggregate::check(self.spec, topology)
    }
}
