//! Every transfer and page that a run completed, as a record.

use crate::failure::Failure;
use fairwire_core::Time;
use fairwire_metrics::FlowName;
use fairwire_metrics::record::CompletedRecord;
use fairwire_scenario::source::{self, About};
use fairwire_scenario::{FlowSpec, RunId, TransferEvent, View};

/// Keeps what one run completes after its warm-up.
#[derive(Debug)]
pub(super) struct Transfers {
    discipline: String,
    seed: u64,
    from: Time,
    /// Of each flow, or connection, its group and its user.
    flows: Vec<(String, FlowName)>,
    completed: Vec<CompletedRecord>,
}

impl Transfers {
    pub(super) fn new(which: RunId<'_>, from: Time) -> Self {
        let discipline = which.discipline.into();
        Transfers { discipline, seed: which.seed, from, flows: Vec::new(), completed: Vec::new() }
    }

    pub(super) fn start(&mut self, view: &View<'_>) {
        self.flows = view.flows().map(|flow| (flow.group.to_owned(), flow.name())).collect();
    }

    pub(super) fn completed(&mut self, event: &TransferEvent) {
        if event.at < self.from {
            return;
        }
        let (group, flow) = self.flows[event.flow as usize].clone();
        let took = event.at.since(event.since).secs();
        self.completed.push(CompletedRecord {
            discipline: self.discipline.clone(),
            seed: self.seed,
            group,
            flow,
            kind: if event.is_page { "page" } else { "transfer" }.into(),
            start_s: event.since.ns() as f64 / 1e9,
            seconds: took,
            bytes: event.bytes,
            slowdown: event.alone.map(|alone| took / alone.secs()),
        });
    }

    /// In the order in which they were requested.
    pub(super) fn finish(mut self) -> Vec<CompletedRecord> {
        self.completed.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        self.completed
    }
}

/// Checks that something in the scenario ends, for `option` wants to know how long it took.
pub(super) fn check(option: &str, flows: &[FlowSpec]) -> Result<(), Failure> {
    let may_end = |about: &About| !about.timed.is_empty() || (about.is_answered && !about.is_tcp);
    if flows.iter().any(|flow| may_end(flow.source.about())) {
        return Ok(());
    }
    let timed = source::all().iter().filter(|source| !source.about.timed.is_empty());
    let timed: Vec<&str> = timed.map(|source| source.name).collect();
    Err(Failure::user(
        format!("`{option}` is given, but no flow of the scenario has transfers that end"),
        format!("allowed: where the `source` of a flow is `{}`", timed.join("`, `")),
    ))
}
