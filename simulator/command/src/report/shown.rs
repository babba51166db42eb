//! The headline and the groups, which a table and a picture of results share.

use fairwire_metrics::record::Report;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Headline {
    /// The comparison.
    pub title: String,
    /// Its conditions.
    pub detail: String,
}

pub(super) fn groups(report: &Report) -> Vec<&str> {
    let mut groups: Vec<&str> = Vec::new();
    for flow in report.runs.iter().take(1).flat_map(|run| &run.flows) {
        if !groups.contains(&&*flow.group) {
            groups.push(&flow.group);
        }
    }
    groups
}
