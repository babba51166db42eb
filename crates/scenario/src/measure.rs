//! The measures of a summary, by name.

use crate::spec::{ExpectSpec, Spec};
use crate::topology::Topology;
use fairwire_core::Cause;
use fairwire_metrics::agreement::is_called;
use fairwire_metrics::summary::{AGGREGATE_MEASURES, FURTHER, FURTHER_OF_GROUPS, LINK_MEASURES};

/// Measures that every scenario has.
const PLAIN: &[&str] = &[
    "jain",
    "jain_throughput",
    "worst_share",
    "utilization",
    "drops",
    "marks",
    "sojourn_mean_s",
    "sojourn_p99_s",
    "backlog_mean_packets",
];

impl Spec {
    /// Those of the measures that a summary has only where they are named which are named here.
    pub(crate) fn further_measures(&self) -> Vec<String> {
        let named = || {
            let agreed = self.agree.iter().map(|agree| agree.measure.as_str());
            self.expect.iter().flat_map(ExpectSpec::measures).chain(agreed)
        };
        let is_named = |measure: &String| named().any(|name| is_called(measure, name));
        further(self).filter(is_named).collect()
    }
}

/// Every measure that a summary of `spec` has only where it is named.
fn further(spec: &Spec) -> impl Iterator<Item = String> {
    let of_groups = FURTHER_OF_GROUPS
        .into_iter()
        .flat_map(|kind| spec.flow.iter().map(move |flow| format!("{kind}.{}", flow.group)));
    FURTHER.into_iter().map(String::from).chain(of_groups)
}

/// Every measure that the summary of `spec` may hold.
pub(crate) fn names(spec: &Spec, topology: &Topology) -> Vec<String> {
    let mut names = Vec::new();
    for kind in ["share", "fraction", "throughput_bps"] {
        names.extend(spec.flow.iter().map(|flow| format!("{kind}.{}", flow.group)));
    }
    for flow in &spec.flow {
        for kind in flow.source.about().timed {
            names.push(format!("{kind}s.{}", flow.group));
            let times = ["mean_s", "p50_s", "p95_s", "p99_s"];
            names.extend(times.map(|time| format!("{kind}_{time}.{}", flow.group)));
        }
    }
    for aggregate in &spec.aggregate {
        names.extend(AGGREGATE_MEASURES.iter().map(|measure| format!("{measure}.{}", aggregate.name)));
    }
    names.extend(PLAIN.iter().map(|name| name.to_string()));
    names.extend(further(spec));
    names.extend(Cause::ALL.iter().map(|cause| format!("drops.{}", cause.name())));
    for queue in topology.queues.iter().filter(|_| topology.queues.len() > 1) {
        names.extend(LINK_MEASURES.iter().map(|measure| format!("link.{}.{measure}", queue.name)));
    }
    names
}
