//! Throughput per flow and packet delay over time, as a flent data file.

use super::formats;
use super::plan::{Destination, Request};
use super::written::{Done, Kept, Looks, Place, Recorder, Run, Wants, Writer};
use fairwire_core::{Duration, Time};
use fairwire_metrics::record::{Report, RunRecord};
use fairwire_scenario::{DirectionSpec, FlowSpec, OnTime, Output, SampleRow, Spec};
use fairwire_terminal::failure::Failure;
use fairwire_terminal::file;

type Form = fn(&Sampled) -> Vec<u8>;

pub(super) const FORMS: [(&str, Form); 1] = [("gz", formats::flent::file)];

/// flent opens only files with this suffix.
const SUFFIX: &str = ".flent.gz";

#[derive(Clone, Debug, Default)]
pub(super) struct Sampled {
    pub scenario: String,
    pub discipline: String,
    /// The stage; empty if results do not name it.
    pub stage: String,
    pub seed: u64,
    pub engine: String,
    pub version: String,
    pub every_s: f64,
    /// The measured time, in seconds.
    pub length_s: f64,
    /// The times of the samples, in seconds after the start of the run.
    pub times: Vec<f64>,
    pub flows: Vec<Flow>,
    /// The round-trip time of a ping at each sample; `None` if no packet waited.
    pub ping_ms: Vec<Option<f64>>,
}

#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub name: String,
    pub is_tcp: bool,
    /// Does the flow use the link's return direction?
    pub is_up: bool,
    /// The throughput at each sample; `None` while the flow is off.
    pub mbps: Vec<Option<f64>>,
    on: Vec<OnTime>,
}

impl Flow {
    fn is_on(&self, at: Duration) -> bool {
        self.on.is_empty() || self.on.iter().any(|on| (on.from..on.until).contains(&at))
    }
}

pub(super) fn prepare<'a>(request: &Request<'a>) -> Result<Option<Box<dyn Writer + 'a>>, Failure> {
    let Some((place, form)) = request.destination(Output::Flent, &FORMS)? else { return Ok(None) };
    if !place.path.to_string_lossy().ends_with(SUFFIX) {
        let given = format!(
            "`{}` is `{}`, but flent opens no file of such a name",
            place.given_by,
            place.path.display()
        );
        return Err(Failure::user(given, format!("allowed: a file whose name ends with {SUFFIX}")));
    }
    let spec = request.scenario.spec();
    let is_one = !request.has_stages && spec.disciplines.len() * spec.seeds.as_slice().len() == 1;
    Ok(
        Some(
            Box::new(Files { place, form, spec, every: request.every(), is_one, kept: Kept::default() }) as _
        ),
    )
}

struct Files<'a> {
    place: Destination,
    form: Form,
    spec: &'a Spec,
    every: Duration,
    is_one: bool,
    kept: Kept<Sampled>,
}

impl Writer for Files<'_> {
    fn looks(&self) -> Looks {
        Looks::AtSamples
    }

    fn wants(&self) -> Wants {
        Wants { samples: true, flows: true, ..Wants::default() }
    }

    fn begin<'a>(&'a self, run: Run<'_>) -> Result<Option<Box<dyn Recorder + 'a>>, Failure> {
        let sampled = Sampled {
            scenario: self.spec.name.clone(),
            discipline: run.which.discipline.into(),
            stage: run.stage.unwrap_or_default().into(),
            seed: run.which.seed,
            every_s: self.every.seconds(),
            length_s: (self.spec.duration.0 - self.spec.warm_up.0).seconds(),
            ..Sampled::default()
        };
        let measure = if run.is_simulated { "throughput" } else { "egress" };
        Ok(Some(Box::new(Sampling { files: self, at: run.place(), measure, sampled })))
    }

    fn close(&self, report: &mut Report, done: &mut Done) {
        for run in self.kept.take() {
            let run = run.completed(report);
            let stage = if run.stage.is_empty() { String::new() } else { format!("{}.", run.stage) };
            let part = format!("{}.{stage}{}", run.discipline, run.seed);
            let path = if self.is_one { self.place.path.clone() } else { named(&self.place, &part) };
            done.wrote(&path, file::write(&path, &(self.form)(&run)));
        }
    }
}

fn named(place: &Destination, part: &str) -> std::path::PathBuf {
    let name = place.path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(SUFFIX).unwrap_or(&name);
    place.path.with_file_name(format!("{stem}.{part}{SUFFIX}"))
}

struct Sampling<'a> {
    files: &'a Files<'a>,
    at: Place,
    measure: &'static str,
    sampled: Sampled,
}

impl Recorder for Sampling<'_> {
    fn row(&mut self, at: Time, row: SampleRow<'_>) {
        let at = at.since(Time::ZERO);
        if at <= self.files.spec.warm_up.0 {
            return;
        }
        let all = &mut self.sampled;
        if all.times.last() != Some(&at.seconds()) {
            all.times.push(at.seconds());
        }
        let before = all.times.len() - 1;
        match (row.kind, row.measure) {
            ("flow", measure) if measure == self.measure => {
                let place = all.flows.iter().position(|flow| flow.name == row.name).unwrap_or_else(|| {
                    all.flows.push(self.files.flow(row.name));
                    all.flows.len() - 1
                });
                let flow = &mut all.flows[place];
                let is_on = flow.is_on(at - Duration::from_ns(self.files.every.ns() / 2));
                flow.mbps.resize(before, None);
                flow.mbps.push(is_on.then_some(row.value / 1e6));
            }
            ("link", "sojourn mean") => {
                all.ping_ms.resize(before + 1, None);
                let others = all.ping_ms[before].unwrap_or(0.0);
                all.ping_ms[before] = Some(others + row.value * 1e3);
            }
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> Result<(), Failure> {
        self.files.kept.keep(self.at, self.sampled);
        Ok(())
    }
}

impl Files<'_> {
    fn flow(&self, name: &str) -> Flow {
        let group = name.rsplit_once('.').map_or(name, |(group, _)| group);
        let group = self.spec.flow.iter().find(|flow| flow.group == group);
        let is_tcp = group.is_some_and(|flow| flow.source.about().is_tcp);
        let is_up = group.is_some_and(|flow| flow.direction == Some(DirectionSpec::Reverse));
        let on = group.map_or(Vec::new(), FlowSpec::on_times);
        Flow { name: name.into(), is_tcp, is_up, mbps: Vec::new(), on }
    }
}

impl Sampled {
    /// Adds the data from `report`. A ping time is the queueing delay plus the shortest round-trip
    /// time in the empty network.
    fn completed(mut self, report: &Report) -> Self {
        let is_of = |run: &&RunRecord| {
            run.discipline == self.discipline && run.seed == self.seed && run.stage == self.stage
        };
        let flows = report.runs.iter().find(is_of).into_iter().flat_map(|run| &run.flows);
        let base_ms = flows.filter_map(|flow| flow.base_rtt_s).reduce(f64::min).unwrap_or(0.0) * 1e3;
        let len = self.times.len();
        self.ping_ms.resize(len, None);
        self.ping_ms.iter_mut().flatten().for_each(|ms| *ms += base_ms);
        self.flows.iter_mut().for_each(|flow| flow.mbps.resize(len, None));
        self.engine.clone_from(&report.manifest.engine);
        self.version.clone_from(&report.manifest.fairwire_version);
        self
    }
}
