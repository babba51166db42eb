//! The measures of a summary, by name.

use crate::spec::Spec;
use fairwire_core::Cause;

/// Measures that every scenario has.
const PLAIN: &[&str] = &[
    "jain",
    "worst_share",
    "utilization",
    "drops",
    "marks",
    "sojourn_mean_s",
    "sojourn_p99_s",
    "backlog_mean_packets",
];

/// Every measure that the summary of `spec` may hold.
pub(crate) fn names(spec: &Spec) -> Vec<String> {
    let mut names = Vec::new();
    for kind in ["share", "fraction", "throughput_bps"] {
        names.extend(spec.flow.iter().map(|flow| format!("{kind}.{}", flow.group)));
    }
    names.extend(PLAIN.iter().map(|name| name.to_string()));
    names.extend(Cause::ALL.iter().map(|cause| format!("drops.{}", cause.name())));
    names
}
