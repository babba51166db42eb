//! The measures of a summary, by name.

use crate::spec::{ExpectSpec, FlowSpec, Spec};
use crate::topology::{QueuePlan, Topology};
use fairwire_core::Cause;
use fairwire_metrics::OfTransfers;
use fairwire_metrics::agreement::is_called;
use fairwire_metrics::summary::{
    AGGREGATE_MEASURES, FURTHER, FURTHER_OF_GROUPS, LINK_MEASURES, REACHED, WIRE_MEASURES, is_further,
};

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
    pub(crate) fn further_measures(&self) -> Vec<String> {
        let named = || {
            let agreed = self.agree.iter().map(|agree| agree.measure.as_str());
            self.expect.iter().flat_map(ExpectSpec::measures).chain(agreed)
        };
        // A measure of transfers must be named in full. Otherwise `transfer_p95_s.web` would also
        // name measures of size classes, such as `transfer_p95_s.web.to_10kB`.
        let calls = |name: &str, measure: &str| {
            name == measure || is_called(measure, name) && OfTransfers::parse(name).is_none()
        };
        let is_named = |measure: &String| named().any(|name| calls(name, measure));
        further(self).filter(is_named).collect()
    }
}

/// Measures that a summary contains only if `spec` names them.
fn further(spec: &Spec) -> impl Iterator<Item = String> {
    let of_groups = FURTHER_OF_GROUPS
        .into_iter()
        .flat_map(|kind| spec.flow.iter().map(move |flow| format!("{kind}.{}", flow.group)));
    let of_transfers = of_transfers(spec).filter(|name| is_further(name));
    FURTHER.into_iter().map(String::from).chain(of_groups).chain(of_transfers)
}

fn of_transfers(spec: &Spec) -> impl Iterator<Item = String> {
    let of_flow = |flow: &FlowSpec| {
        let timed = flow.source.about().timed.iter();
        timed.flat_map(|kind| OfTransfers::names(*kind, &flow.group)).collect::<Vec<_>>()
    };
    spec.flow.iter().flat_map(of_flow)
}

pub(crate) fn names(spec: &Spec, topology: &Topology) -> Vec<String> {
    let mut names = Vec::new();
    for kind in ["share", "fraction", "throughput_bps"] {
        names.extend(spec.flow.iter().map(|flow| format!("{kind}.{}", flow.group)));
    }
    names.extend(of_transfers(spec).filter(|name| !is_further(name)));
    for aggregate in &spec.aggregate {
        names.extend(AGGREGATE_MEASURES.iter().map(|measure| format!("{measure}.{}", aggregate.name)));
    }
    names.extend(PLAIN.iter().map(|name| name.to_string()));
    if spec.flow.iter().any(|flow| !spec.on_times(flow).is_empty()) {
        names.push(REACHED.to_owned());
    }
    names.extend(further(spec));
    names.extend(Cause::ALL.iter().map(|cause| format!("drops.{}", cause.name())));
    let has_faults = |queue: &QueuePlan| !queue.wire.is_plain();
    if topology.queues.iter().any(has_faults) {
        names.extend(WIRE_MEASURES.map(String::from));
    }
    for queue in topology.queues.iter().filter(|_| topology.queues.len() > 1) {
        let of_wire = WIRE_MEASURES.iter().filter(|_| has_faults(queue));
        let measures = LINK_MEASURES.iter().chain(of_wire);
        names.extend(measures.map(|measure| format!("link.{}.{measure}", queue.name)));
    }
    names
}
