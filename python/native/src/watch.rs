//! Recorders of a scenario's runs.

use crate::stages::On;
use crate::table::Table;
use fairwire_core::{Cause, Duration, Time};
use fairwire_metrics::record::{CompletedRecord, RunRecord};
use fairwire_metrics::{Bin, DelayHistogram, FlowName};
use fairwire_scenario::estimate::{self, Keys, Recorded, TooMuch};
use fairwire_scenario::{
    Content, Observer, Observers, PacketEvent, RunId, SampleRow, SampledRows, Scenario, TransferEvent, View,
    What, rows, threads,
};
use fairwire_sweep::columns::Cells;
use fairwire_sweep::records;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use schemars::JsonSchema;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The maximum number of flows with one-way delays. Each has a 60 kB histogram.
const MAX_ONE_WAY: usize = 10_000;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watching {
    /// The time between samples; `None` without samples.
    every: Option<Duration>,
    has_flows: bool,
    has_delays: bool,
    has_transfers: bool,
    has_one_way: bool,
    has_packets: bool,
    /// May the recordings exceed the size limits?
    is_unbounded: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Keywords {
    pub(crate) flows: bool,
    pub(crate) delays: bool,
    pub(crate) transfers: bool,
    pub(crate) one_way: bool,
    pub(crate) packets: bool,
    pub(crate) yes: bool,
}

impl Watching {
    pub(crate) fn new(every: Option<&Bound<'_, PyAny>>, keywords: Keywords) -> PyResult<Self> {
        const WANTED: &str = "a text with a unit, such as \"100 ms\"";
        let read = |given: &Bound<'_, PyAny>| {
            let Ok(text) = given.extract::<String>() else {
                let (kind, given) = (given.get_type().name()?, given.repr()?);
                let message = format!("`every` is {given}, of the type {kind}; allowed: {WANTED}");
                return Err(PyTypeError::new_err(message));
            };
            let read = text.parse::<Duration>();
            read.map_err(|error| PyValueError::new_err(format!("`every`: {error}; allowed: {WANTED}")))
        };
        let every = every.map(read).transpose()?;
        let Keywords { flows, delays, transfers, one_way, packets, yes } = keywords;
        if flows && every.is_none() {
            let message = "`flows` is True, but nothing is sampled; allowed: together with `every`";
            return Err(PyValueError::new_err(message));
        }
        Ok(Watching {
            every,
            has_flows: flows,
            has_delays: delays,
            has_transfers: transfers,
            has_one_way: one_way,
            has_packets: packets,
            is_unbounded: yes,
        })
    }

    /// Checks the recordings. Only the stage `sim` can record more than samples. Returns a note if
    /// other stages in `on` lack some recordings.
    pub(crate) fn on(self, on: Option<&On>) -> PyResult<Option<String>> {
        let Watching { has_delays, has_transfers, has_one_way, has_packets, .. } = self;
        let of_simulator = [
            (has_delays, "delays"),
            (has_transfers, "transfers"),
            (has_one_way, "one_way"),
            (has_packets, "packets"),
        ];
        let names: Vec<String> =
            of_simulator.iter().filter(|(has, _)| *has).map(|(_, name)| format!("`{name}`")).collect();
        match on {
            Some(on) if !names.is_empty() && !on.has("sim") => Err(PyValueError::new_err(format!(
                "{} is of the simulator only, but it is not among the stages; allowed: together with \"sim\" in `on`",
                names.join(", ")
            ))),
            Some(on) if !names.is_empty() && on.are_several() => {
                Ok(Some(format!("{}: of the stage `sim` only", names.join(", "))))
            }
            _ => Ok(None),
        }
    }

    /// Is nothing recorded?
    fn is_nothing(self) -> bool {
        let Watching { every, has_delays, has_transfers, has_one_way, has_packets, .. } = self;
        every.is_none() && !(has_delays || has_transfers || has_one_way || has_packets)
    }
}

pub(crate) fn too_much(error: &TooMuch) -> PyErr {
    PyValueError::new_err(format!("{error}; or more with `yes=True`"))
}

pub(crate) struct Watch {
    watching: Watching,
    warm_up: Time,
    /// The simulator's name in results; empty if results do not name stages.
    sim: &'static str,
    finished: Mutex<Vec<RunSamples>>,
}

impl Watch {
    pub(crate) fn new(
        watching: Watching,
        scenario: &Scenario,
        jobs: usize,
        are_named: bool,
    ) -> PyResult<Self> {
        let longest = scenario.spec().duration.0;
        if let Some(every) = watching.every.filter(|every| *every == Duration::ZERO || *every > longest) {
            return Err(PyValueError::new_err(format!(
                "`every` is {every}, but then a run has no sample; allowed: from 1 ns to the duration of a run, {longest}"
            )));
        }
        let recorded = Recorded {
            every: watching.every,
            has_flows: watching.has_flows,
            has_packets: watching.has_packets,
            has_transfers: watching.has_transfers,
            is_in_memory: true,
            at_once: threads(
                jobs,
                scenario.spec().disciplines.len() * scenario.spec().seeds.as_slice().len(),
            ),
        };
        if !watching.is_unbounded {
            let keys = Keys { every: "every", jobs: "jobs" };
            estimate::check(scenario, recorded, keys).map_err(|error| too_much(&error))?;
            let flows: usize = scenario.spec().flow.iter().map(|flow| flow.count() as usize).sum();
            if watching.has_one_way && flows > MAX_ONE_WAY {
                return Err(PyValueError::new_err(format!(
                    "`one_way` is True, but there are {flows} flows; allowed: at most {MAX_ONE_WAY}, since \
                     each takes 60 kB; or more with `yes=True`"
                )));
            }
        }
        let warm_up = Time::ZERO + scenario.spec().warm_up.0;
        let sim = if are_named { "sim" } else { "" };
        Ok(Watch { watching, warm_up, sim, finished: Mutex::default() })
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn sampled(&self, which: RunId<'_>, stage: &'static str) -> Sampling<'_> {
        Sampling { watch: self, seen: RunSamples::new(self.watching, self.warm_up, which, stage) }
    }

    fn keep(&self, seen: RunSamples) {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
    }

    /// The records of `runs`, in the same order. A run that a Python class ended has no records.
    pub(crate) fn seen(self, runs: &[RunRecord]) -> WatchedRuns {
        let finished = self.finished.into_inner().unwrap_or_else(PoisonError::into_inner);
        let of = |run: &RunRecord| (run.discipline.clone(), run.stage.clone(), run.seed);
        let places: BTreeMap<_, _> = runs.iter().map(of).zip(0..).collect();
        let place = |seen: &RunSamples| places.get(&(seen.discipline.clone(), seen.stage.into(), seen.seed));
        let mut known: Vec<(usize, RunSamples)> =
            finished.into_iter().filter_map(|seen| Some((*place(&seen)?, seen))).collect();
        known.sort_by_key(|(place, _)| *place);
        let runs = known.into_iter().map(|(_, seen)| seen).collect();
        WatchedRuns { watching: self.watching, are_named: !self.sim.is_empty(), runs }
    }
}

impl Observers for Watch {
    fn observe(&self, which: RunId<'_>, go: &mut dyn FnMut(Option<&mut dyn Observer>) -> bool) {
        if self.watching.is_nothing() {
            go(None);
            return;
        }
        let mut seen = RunSamples::new(self.watching, self.warm_up, which, self.sim);
        if go(Some(&mut seen)) {
            seen.completed.sort_by_key(|one| one.since);
            self.keep(seen);
        }
    }
}

/// Records the samples of a run with real senders.
#[cfg(target_os = "linux")]
pub(crate) struct Sampling<'a> {
    watch: &'a Watch,
    seen: RunSamples,
}

#[cfg(target_os = "linux")]
impl fairwire_experiment::WatchRun for Sampling<'_> {
    fn every(&self) -> Option<Duration> {
        self.seen.watching.every
    }

    fn sample(&mut self, at: Duration, row: SampleRow<'_>) {
        if row.kind != "flow" || self.seen.watching.has_flows {
            self.seen.rows.add(Time::ZERO + at, row);
        }
    }

    fn finished(self: Box<Self>) {
        let Sampling { watch, seen } = *self;
        if seen.watching.every.is_some() {
            watch.keep(seen);
        }
    }
}

/// The name of a link or a flow, and the bins of its delays.
type Binned = (String, Vec<Bin>);

struct RunSamples {
    watching: Watching,
    warm_up: Time,
    discipline: String,
    /// The stage; empty if results do not name stages.
    stage: &'static str,
    seed: u64,
    rows: SampledRows,
    /// Per link.
    delays: Vec<Binned>,
    links: Vec<String>,
    /// For each flow or connection: its group, its user's name, and the user's index.
    flows: Vec<(String, FlowName, usize)>,
    completed: Vec<TransferEvent>,
    /// Per user.
    one_way: Vec<(FlowName, DelayHistogram)>,
    packets: Vec<PacketEvent>,
}

impl RunSamples {
    fn new(watching: Watching, warm_up: Time, which: RunId<'_>, stage: &'static str) -> Self {
        let discipline = which.discipline.into();
        let (rows, delays, links, flows) = Default::default();
        let (completed, one_way, packets) = Default::default();
        let seed = which.seed;
        RunSamples {
            watching,
            warm_up,
            discipline,
            stage,
            seed,
            rows,
            delays,
            links,
            flows,
            completed,
            one_way,
            packets,
        }
    }

    fn bins(&self, of_flows: bool) -> Vec<Binned> {
        if !of_flows {
            return self.delays.clone();
        }
        self.one_way.iter().map(|(name, delays)| (name.to_string(), delays.bins().collect())).collect()
    }
}

impl Observer for RunSamples {
    fn interval(&self) -> Option<Duration> {
        self.watching.every
    }

    fn wants_packets(&self) -> bool {
        self.watching.has_packets || self.watching.has_one_way
    }

    fn started(&mut self, view: &View<'_>) {
        self.links = view.links().map(|link| link.name.to_owned()).collect();
        for flow in view.flows() {
            if flow.connection.is_none_or(|connection| connection == 1) {
                self.one_way.push((flow.name(), DelayHistogram::new()));
            }
            self.flows.push((flow.group.to_owned(), flow.name(), self.one_way.len() - 1));
        }
    }

    fn sample(&mut self, view: &View<'_>) {
        let Some(every) = self.watching.every else { return };
        rows(view, every, self.watching.has_flows, &mut |row| self.rows.add(view.now(), row));
    }

    fn packet(&mut self, event: &PacketEvent) {
        let is_delivered =
            matches!((event.what, event.content), (What::Deliver, Content::Data { .. } | Content::Datagram));
        if self.watching.has_one_way && is_delivered && event.at >= self.warm_up {
            let user = self.flows[event.flow as usize].2;
            self.one_way[user].1.record(event.at.since(event.sent));
        }
        if self.watching.has_packets {
            self.packets.push(*event);
        }
    }

    fn transfer(&mut self, event: &TransferEvent) {
        if self.watching.has_transfers && event.at >= self.warm_up {
            self.completed.push(*event);
        }
    }

    fn finished(&mut self, view: &View<'_>) {
        if self.watching.has_delays {
            let links = view.links().map(|link| (link.name.to_owned(), link.sojourn.bins().collect()));
            self.delays = links.collect();
        }
    }
}

pub(crate) struct WatchedRuns {
    watching: Watching,
    /// Do results name the stages?
    are_named: bool,
    runs: Vec<RunSamples>,
}

/// One value of a time series.
#[derive(Clone, Copy, JsonSchema)]
struct Sampled<'a> {
    /// The discipline's label, or its name if it has no label.
    discipline: &'a str,
    /// The seed.
    seed: u64,
    /// The time of the sample, seconds from the start of the run. Counts cover the time since the
    /// previous sample.
    time_s: f64,
    #[schemars(flatten)]
    row: SampleRow<'a>,
}

/// The packets whose waiting time or one-way delay fell into one bin.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its fields are the columns")]
struct Waited<'a> {
    /// The discipline's label, or its name if it has no label.
    discipline: &'a str,
    /// The seed.
    seed: u64,
    /// The link with the queue, or the flow with the one-way delays.
    name: &'a str,
    /// The start of the bin, seconds. A link's waiting time excludes transmission. A bin's width is
    /// at most 1/128 of its start.
    from_s: f64,
    /// The end of the bin, seconds.
    to_s: f64,
    /// The number of packets in this bin that were sent or delivered after the warm-up.
    packets: u64,
}

/// An event of a packet.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its fields are the columns")]
struct Happened<'a> {
    /// The discipline's label, or its name if it has no label.
    discipline: &'a str,
    /// The seed.
    seed: u64,
    /// The time, seconds from the start of the run.
    time_s: f64,
    /// `arrive`, `drop`, `mark`, `depart`, `lost` or `deliver`.
    event: &'a str,
    /// The flow, followed by the connection if the flow has several.
    flow: &'a str,
    /// `syn`, `data`, `ack` or `datagram`.
    packet: &'a str,
    /// Bytes on the wire.
    bytes: u64,
    /// The ECN codepoint after the event: `not-ect`, `ect0`, `ect1` or `ce`.
    ecn: &'a str,
    /// Why the packet was dropped or marked.
    cause: Option<&'a str>,
    /// The queued link of the event; empty for events at the ends of the path.
    link: Option<&'a str>,
    /// For data, the number of the segment, from 0; for an acknowledgement, the number of the next
    /// segment expected.
    number: Option<u64>,
}

impl WatchedRuns {
    pub(crate) fn tables(self) -> PyResult<BTreeMap<&'static str, Table>> {
        let Watching { every, has_delays, has_transfers, has_one_way, has_packets, .. } = self.watching;
        let mut tables = BTreeMap::new();
        if every.is_some() {
            tables.insert("series", self.series()?);
        }
        if has_delays {
            tables.insert("delays", self.waited(false)?);
        }
        if has_transfers {
            tables.insert("completed", self.completed()?);
        }
        if has_one_way {
            tables.insert("one_way", self.waited(true)?);
        }
        if has_packets {
            tables.insert("packets", self.packets()?);
        }
        Ok(tables)
    }

    fn stages(&self, rows: impl Fn(&RunSamples) -> usize) -> Option<Cells> {
        let of = |run: &RunSamples| std::iter::repeat_n(run.stage, rows(run));
        self.are_named.then(|| Cells::texts(self.runs.iter().flat_map(of)))
    }

    fn series(&self) -> PyResult<Table> {
        let rows = || {
            self.runs.iter().flat_map(|run| {
                run.rows.iter().map(|(at, row)| Sampled {
                    discipline: &run.discipline,
                    seed: run.seed,
                    time_s: at.secs(),
                    row,
                })
            })
        };
        let cells = vec![
            Cells::texts(rows().map(|row| row.discipline)),
            Cells::counts(rows().map(|row| row.seed)),
            Cells::reals(rows().map(|row| row.time_s)),
            Cells::texts(rows().map(|row| row.row.kind)),
            Cells::texts(rows().map(|row| row.row.name)),
            Cells::texts(rows().map(|row| row.row.measure)),
            Cells::texts(rows().map(|row| row.row.unit)),
            Cells::reals(rows().map(|row| row.row.value)),
        ];
        let keys = &["discipline", "seed", "time_s", "kind", "name", "measure", "unit"];
        Table::of_runs(records::of_cells::<Sampled<'_>>(cells), keys, self.stages(|run| run.rows.len()))
    }

    fn waited(&self, of_flows: bool) -> PyResult<Table> {
        let all: Vec<(&RunSamples, Vec<Binned>)> =
            self.runs.iter().map(|run| (run, run.bins(of_flows))).collect();
        let rows = || {
            let objects = all.iter().flat_map(|(run, objects)| objects.iter().map(move |one| (*run, one)));
            objects.flat_map(|(run, (name, bins))| bins.iter().map(move |bin| (run, name, bin)))
        };
        let cells = vec![
            Cells::texts(rows().map(|(run, ..)| &run.discipline)),
            Cells::counts(rows().map(|(run, ..)| run.seed)),
            Cells::texts(rows().map(|(_, name, _)| name)),
            Cells::reals(rows().map(|(.., bin)| bin.from.secs())),
            Cells::reals(rows().map(|(.., bin)| bin.to.secs())),
            Cells::counts(rows().map(|(.., bin)| bin.packets)),
        ];
        let keys = &["discipline", "seed", "name", "from_s"];
        let stages = self.stages(|run| run.bins(of_flows).iter().map(|(_, bins)| bins.len()).sum());
        Table::of_runs(records::of_cells::<Waited<'_>>(cells), keys, stages)
    }

    fn completed(&self) -> PyResult<Table> {
        let rows = || self.runs.iter().flat_map(|run| run.completed.iter().map(move |one| (run, one)));
        let took = |one: &TransferEvent| one.at.since(one.since);
        let flow = |(run, one): (&'_ RunSamples, &TransferEvent)| run.flows[one.flow as usize].1.to_string();
        let slowdown = |one: &TransferEvent| Some(took(one).secs() / one.alone?.secs());
        let cells = vec![
            Cells::texts(rows().map(|(run, _)| &run.discipline)),
            Cells::counts(rows().map(|(run, _)| run.seed)),
            Cells::texts(rows().map(|(run, one)| &run.flows[one.flow as usize].0)),
            Cells::texts(rows().map(flow)),
            Cells::texts(rows().map(|(_, one)| if one.is_page { "page" } else { "transfer" })),
            Cells::reals(rows().map(|(_, one)| one.since.since(Time::ZERO).seconds())),
            Cells::reals(rows().map(|(_, one)| took(one).seconds())),
            Cells::Counts(rows().map(|(_, one)| one.bytes).collect()),
            Cells::Reals(rows().map(|(_, one)| slowdown(one)).collect()),
        ];
        let stages = self.stages(|run| run.completed.len());
        Table::of_runs(records::of_cells::<CompletedRecord>(cells), &[], stages)
    }

    fn packets(&self) -> PyResult<Table> {
        let rows = || self.runs.iter().flat_map(|run| run.packets.iter().map(move |one| (run, one)));
        let names: Vec<Vec<String>> = self
            .runs
            .iter()
            .map(|run| {
                let name = |(_, name, _): &(String, FlowName, usize)| name.to_string();
                run.flows.iter().map(name).collect()
            })
            .collect();
        let flows = || {
            self.runs
                .iter()
                .zip(&names)
                .flat_map(|(run, names)| run.packets.iter().map(move |one| &names[one.flow as usize]))
        };
        let link = |(run, one): (&'_ RunSamples, &PacketEvent)| {
            one.link.and_then(|link| run.links.get(link as usize)).cloned()
        };
        let cells = vec![
            Cells::texts(rows().map(|(run, _)| &run.discipline)),
            Cells::counts(rows().map(|(run, _)| run.seed)),
            Cells::reals(rows().map(|(_, one)| one.at.since(Time::ZERO).seconds())),
            Cells::texts(rows().map(|(_, one)| one.what.name())),
            Cells::texts(flows()),
            Cells::texts(rows().map(|(_, one)| packet(one.content).0)),
            Cells::counts(rows().map(|(_, one)| u64::from(one.wire_bytes))),
            Cells::texts(rows().map(|(_, one)| one.ecn.name())),
            Cells::Texts(rows().map(|(_, one)| one.what.cause().map(Cause::name)).collect()),
            Cells::Texts(rows().map(link).collect()),
            Cells::Counts(rows().map(|(_, one)| packet(one.content).1).collect()),
        ];
        let stages = self.stages(|run| run.packets.len());
        Table::of_runs(records::of_cells::<Happened<'_>>(cells), &[], stages)
    }
}

fn packet(content: Content) -> (&'static str, Option<u64>) {
    match content {
        Content::Syn => ("syn", None),
        Content::Datagram => ("datagram", None),
        Content::Data { seq, .. } => ("data", Some(seq)),
        Content::Ack { next, .. } => ("ack", Some(next)),
    }
}
