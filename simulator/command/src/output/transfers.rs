//! Every transfer and page completed in a run, as a record.

use super::formats;
use super::plan::{Destination, Request};
use super::written::{Done, Kept, Place, Recorder, Run, Wants, Writer};
use fairwire_core::Time;
use fairwire_metrics::record::{CompletedRecord, Report};
use fairwire_metrics::{FlowName, Kind};
use fairwire_scenario::source::{self, About};
use fairwire_scenario::{FlowSpec, Output, TransferEvent, View};
use fairwire_terminal::failure::Failure;
use std::path::Path;

type Form = fn(&Path, &[CompletedRecord]) -> Result<(), Failure>;

pub(super) const FORMS: [(&str, Form); 2] =
    [("csv", formats::csv::transfers), ("parquet", formats::parquet::transfers)];

pub(super) fn prepare<'a>(request: &Request<'a>) -> Result<Option<Box<dyn Writer + 'a>>, Failure> {
    let Some((place, form)) = request.destination(Output::Transfers, &FORMS)? else { return Ok(None) };
    check(&place.given_by, &request.scenario.spec().flow)?;
    Ok(Some(Box::new(Transfers { place, form, from: request.warm_up(), kept: Kept::default() })))
}

struct Transfers {
    place: Destination,
    form: Form,
    /// Transfers that end before this time are not kept.
    from: Time,
    kept: Kept<Vec<CompletedRecord>>,
}

impl Writer for Transfers {
    fn wants(&self) -> Wants {
        Wants { transfers: true, ..Wants::default() }
    }

    fn begin<'a>(&'a self, run: Run<'_>) -> Result<Option<Box<dyn Recorder + 'a>>, Failure> {
        Ok(run.is_simulated.then(|| {
            Box::new(OfRun {
                transfers: self,
                at: run.place(),
                discipline: run.which.discipline.into(),
                seed: run.which.seed,
                flows: Vec::new(),
                completed: Vec::new(),
            }) as _
        }))
    }

    fn close(&self, _: &mut Report, done: &mut Done) {
        let completed: Vec<CompletedRecord> = self.kept.take().into_iter().flatten().collect();
        done.wrote(&self.place.path, (self.form)(&self.place.path, &completed));
    }
}

struct OfRun<'a> {
    transfers: &'a Transfers,
    at: Place,
    discipline: String,
    seed: u64,
    flows: Vec<(String, FlowName)>,
    completed: Vec<CompletedRecord>,
}

impl Recorder for OfRun<'_> {
    fn start(&mut self, view: &View<'_>) {
        self.flows = view.flows().map(|flow| (flow.group.to_owned(), flow.name())).collect();
    }

    fn transfer(&mut self, event: &TransferEvent) {
        if event.at < self.transfers.from {
            return;
        }
        let (group, flow) = self.flows[event.flow as usize].clone();
        let took = event.at.since(event.since);
        self.completed.push(CompletedRecord {
            discipline: self.discipline.clone(),
            seed: self.seed,
            group,
            flow,
            kind: if event.is_page { "page" } else { "transfer" }.into(),
            start_s: event.since.ns() as f64 / 1e9,
            seconds: took.seconds(),
            bytes: event.bytes,
            slowdown: event.alone.map(|alone| took.secs() / alone.secs()),
        });
    }

    fn finish(mut self: Box<Self>) -> Result<(), Failure> {
        self.completed.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        self.transfers.kept.keep(self.at, self.completed);
        Ok(())
    }
}

fn check(option: &str, flows: &[FlowSpec]) -> Result<(), Failure> {
    let has_transfers = |about: &About| about.timed.contains(&Kind::Transfer);
    let may_end = |about: &About| {
        has_transfers(about) || (about.is_answered && !about.is_tcp && about.timed.is_empty())
    };
    if flows.iter().any(|flow| may_end(flow.source.about())) {
        return Ok(());
    }
    let timed = source::all().iter().filter(|source| has_transfers(&source.about));
    let timed: Vec<&str> = timed.map(|source| source.name).collect();
    Err(Failure::user(
        format!("`{option}` is given, but no flow of the scenario has transfers that end"),
        format!("allowed: a scenario with a flow whose `source` is one of `{}`", timed.join("`, `")),
    ))
}
