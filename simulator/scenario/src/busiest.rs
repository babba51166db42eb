//! Finds the busiest link, which limits the flows of a network.

use crate::spec::Spec;
use crate::topology::Topology;
use fairwire_metrics::record::{LinkRecord, RunRecord};

/// The difference in utilization below which two links are equally busy.
const SAME: f64 = 0.005;

/// Moves the busiest link to the front. A generated network reports the measures of its first link.
pub(crate) fn first(mut links: Vec<LinkRecord>) -> Vec<LinkRecord> {
    let busiest =
        (0..links.len()).rev().max_by(|a, b| links[*a].utilization.total_cmp(&links[*b].utilization));
    if let Some(at) = busiest {
        links[..=at].rotate_right(1);
    }
    links
}

/// A note, if a link of an explicit network is busier than the link whose measures are shown.
pub(crate) fn note(spec: &Spec, topology: &Topology, runs: &[RunRecord]) -> Option<String> {
    spec.network.is_none().then_some(())?;
    let mean = |at: usize| {
        let of_runs = runs.iter().filter_map(|run| Some(run.links.get(at)?.utilization));
        of_runs.sum::<f64>() / runs.len() as f64
    };
    let compared = || topology.compared().map(|(at, queue)| (mean(at), &queue.name));
    let (first, name) = compared().next()?;
    let (most, busiest) = compared().max_by(|a, b| a.0.total_cmp(&b.0))?;
    (most > first + SAME).then(|| {
        format!(
            "the busiest link is `{busiest}`, {:.1} % in use; sojourn and utilization are those of `{name}`, {:.1} % \
             in use; `bottleneck = true` at a link chooses it",
            100.0 * most,
            100.0 * first
        )
    })
}
