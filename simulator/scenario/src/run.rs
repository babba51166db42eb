//! Runs every discipline under every seed, on all cores. The records are in the order of
//! disciplines and seeds.

use crate::aggregate;
use crate::build;
use crate::busiest;
use crate::compared::Compared;
use crate::load::Scenario;
use crate::spec::{FlowSpec, TieRuleSpec};
use crate::topology;
use fairwire_catalogue::{self as catalogue, BuildError, Choice};
use fairwire_core::{Duration, Seed, Time};
use fairwire_laws::Site;
use fairwire_laws::part::Part;
use fairwire_metrics::fairness::{Route, assess_network};
use fairwire_metrics::presence::{self, Presence};
use fairwire_metrics::record::{
    Fairness, FlowRecord, Manifest, Mode, PresenceRecord, Report, RunRecord, SCHEMA_VERSION,
};
use fairwire_metrics::summary;
use fairwire_sim::{Measured, Network, Observer, Rest, SetUp, Steps};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The engine, identified by a hash of its code, because builds of one version may differ.
pub const ENGINE: &str = env!("FAIRWIRE_ENGINE");

/// The maximum number of threads: more than any machine has cores, but few enough for the system to
/// provide.
const MAX_THREADS: usize = 1024;

/// The number of flows above which freeing a stopped run takes milliseconds.
const MANY_FLOWS: u64 = 10_000;

/// The results of a set of runs.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The finished runs, by discipline and then by seed, both in the given order.
    pub runs: Vec<RunRecord>,
    /// Was the set stopped before all runs were done?
    pub interrupted: bool,
}

/// An error that prevented a set of runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The system provided no threads.
    #[error("no threads to run on: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// A discipline could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// Simulates every discipline under every seed, `jobs` at a time (0: one per core, at most 1024).
///
/// The records do not depend on `jobs`. `progress` is called from any thread with the completed
/// fraction. When `stop` becomes true, only finished runs are kept.
pub fn run_all(
    scenario: &Scenario,
    jobs: usize,
    progress: &(dyn Fn(f64) + Sync),
    stop: &AtomicBool,
) -> Result<Outcome, RunError> {
    run_all_observed(scenario, jobs, progress, stop, &Unobserved)
}

/// Identifies one run of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunId<'a> {
    /// The run's index among all runs of the scenario.
    pub index: usize,
    /// The discipline, by label or else by name.
    pub discipline: &'a str,
    /// The seed.
    pub seed: u64,
}

/// Gives each run its observer, on the thread of that run.
pub trait Observers: Sync {
    /// Observes run `which`. Called on the run's thread. Must call `go` with the run's observer or
    /// `None`. `go` executes the run, and returns true if the run finished.
    fn observe(&self, which: RunId<'_>, go: &mut dyn FnMut(Option<&mut dyn Observer>) -> bool);

    /// The record of `which`, if it is known. A known run is skipped, and has no observer.
    fn known(&self, _which: RunId<'_>) -> Option<RunRecord> {
        None
    }

    /// Called on the run's thread with the record of a run that was just made.
    fn made(&self, _which: RunId<'_>, _record: &RunRecord) {}

    /// Frees `rest`, the remains of a stopped run with many flows, which takes a while. A process
    /// about to end need not free them.
    fn stopped(&self, rest: Rest) {
        rayon::spawn(move || drop(rest));
    }
}

/// [`Observers`] that give no run an observer.
#[derive(Clone, Copy, Debug)]
pub struct Unobserved;

impl Observers for Unobserved {
    fn observe(&self, _: RunId<'_>, go: &mut dyn FnMut(Option<&mut dyn Observer>) -> bool) {
        go(None);
    }
}

/// Like [`run_all`], with observers. The records are the same, bit for bit.
pub fn run_all_observed(
    scenario: &Scenario,
    jobs: usize,
    progress: &(dyn Fn(f64) + Sync),
    stop: &AtomicBool,
    observers: &dyn Observers,
) -> Result<Outcome, RunError> {
    let all: Vec<usize> = (0..scenario.spec().disciplines.len()).collect();
    run_some(scenario, &all, jobs, progress, stop, observers)
}

/// Like [`run_all_observed`], but only for the disciplines with these indices in the scenario's
/// list.
pub fn run_some(
    scenario: &Scenario,
    disciplines: &[usize],
    jobs: usize,
    progress: &(dyn Fn(f64) + Sync),
    stop: &AtomicBool,
    observers: &dyn Observers,
) -> Result<Outcome, RunError> {
    let spec = scenario.spec();
    let seeds = spec.seeds.as_slice();
    let of = |&discipline: &usize| {
        let compared = &spec.disciplines[discipline];
        seeds.iter().enumerate().map(move |(at, &seed)| {
            let which = RunId { index: discipline * seeds.len() + at, discipline: compared.label(), seed };
            (compared, which)
        })
    };
    let pairs: Vec<(&Compared, RunId<'_>)> = disciplines.iter().flat_map(of).collect();
    let meter =
        Meter { done: AtomicU64::new(0), total: pairs.len() as f64 * spec.duration.0.secs(), progress, stop };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads(jobs, pairs.len())).build()?;
    let one = |&(compared, which): &(&Compared, RunId<'_>)| {
        run_one(scenario, compared, which, &RunContext { meter: &meter, observers })
    };
    let runs: Vec<Option<RunRecord>> =
        pool.install(|| pairs.par_iter().map(one).collect::<Result<_, _>>())?;
    let interrupted = runs.iter().any(Option::is_none);
    Ok(Outcome { runs: runs.into_iter().flatten().collect(), interrupted })
}

/// The report of `outcome`: manifest, runs and summary.
pub fn report(scenario: &Scenario, outcome: Outcome) -> Report {
    let spec = scenario.spec();
    let tie_rule = match spec.tie_rule {
        TieRuleSpec::Random => "random",
        TieRuleSpec::Fifo => "fifo",
    };
    Report {
        schema_version: SCHEMA_VERSION,
        manifest: Manifest {
            fairwire_version: env!("CARGO_PKG_VERSION").into(),
            engine: ENGINE.into(),
            command: String::new(),
            mode: Mode::Simulated,
            scenario: spec.name.clone(),
            scenario_sha256: scenario.sha256().into(),
            scenario_toml: scenario.toml().into(),
            set: scenario.set().to_vec(),
            notes: scenario
                .notes()
                .iter()
                .cloned()
                .chain(busiest::note(spec, scenario.topology(), &outcome.runs))
                .collect(),
            disciplines: spec.disciplines.iter().map(|compared| compared.label().into()).collect(),
            seeds: spec.seeds.as_slice().to_vec(),
            stages: Vec::new(),
            tie_rule: tie_rule.into(),
            duration_s: spec.duration.0.seconds(),
            warm_up_s: spec.warm_up.0.seconds(),
            interrupted: outcome.interrupted,
        },
        summary: summary::summarize_with(&outcome.runs, &spec.further_measures()),
        runs: outcome.runs,
        differences: Vec::new(),
        delays: Vec::new(),
        agreement: Vec::new(),
    }
}

/// The number of simultaneous runs: `jobs`, or one per core if `jobs` is 0. The result is at most
/// `runs`, and from 1 to 1024.
pub fn threads(jobs: usize, runs: usize) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = if jobs == 0 { cores() } else { jobs };
    wanted.min(runs).clamp(1, MAX_THREADS)
}

struct Meter<'a> {
    done: AtomicU64,
    total: f64,
    progress: &'a (dyn Fn(f64) + Sync),
    stop: &'a AtomicBool,
}

impl Meter<'_> {
    fn advance(&self, before: Time, now: Time) -> ControlFlow<()> {
        let step = now.since(before).ns();
        let done = self.done.fetch_add(step, Ordering::Relaxed) + step;
        (self.progress)((Duration::from_ns(done).secs() / self.total).min(1.0));
        if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

struct RunContext<'a> {
    meter: &'a Meter<'a>,
    observers: &'a dyn Observers,
}

fn run_one(
    scenario: &Scenario,
    compared: &Compared,
    which: RunId<'_>,
    RunContext { meter, observers }: &RunContext<'_>,
) -> Result<Option<RunRecord>, BuildError> {
    if meter.stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let end = Time::ZERO + scenario.spec().duration.0;
    if let Some(known) = observers.known(which) {
        let _ = meter.advance(Time::ZERO, end); // as below
        return Ok(Some(known));
    }
    let mut reached = Time::ZERO;
    let mut watch = |now: Time| {
        let before = reached; // hosts are ahead of links
        reached = before.max(now);
        meter.advance(before, now)
    };
    let mut made = Ok(None);
    observers.observe(which, &mut |observer| {
        made = simulate(scenario, compared, which.seed, (&mut watch, *observers), observer);
        matches!(made, Ok(Some(_)))
    });
    let made = made?;
    if let Some(record) = &made {
        observers.made(which, record);
        // A finished run is kept even if `advance` requests a stop.
        let _ = meter.advance(reached, end);
    }
    Ok(made)
}

/// Simulates one discipline of `scenario`, by its index in the list, under one seed. `watch` is
/// called with the simulated time, also during the set-up, and decides whether to continue. A
/// stopped run gives `None`. An `observer` changes no bit of the record.
pub fn run_single(
    scenario: &Scenario,
    discipline: usize,
    seed: u64,
    watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
    observer: Option<&mut dyn Observer>,
) -> Result<Option<RunRecord>, RunError> {
    let compared = &scenario.spec().disciplines[discipline];
    Ok(simulate(scenario, compared, seed, (watch, &Unobserved), observer)?)
}

/// Creates a run of the discipline at index `discipline` in the list of `scenario`, under one seed.
/// The run proceeds in steps from one sample of `observer` to the next.
///
/// # Errors
/// If the discipline cannot be built.
pub fn steps(
    scenario: &Scenario,
    discipline: usize,
    seed: u64,
    observer: Box<dyn Observer>,
) -> Result<Steps, BuildError> {
    let settings = build::settings(scenario.spec(), Seed(seed));
    Ok(Steps::new(network(scenario, discipline, seed)?, &settings, observer))
}

/// The simulated network of one discipline of `scenario` under `seed`, not yet run.
///
/// # Errors
/// If the discipline cannot be built.
pub fn network(scenario: &Scenario, discipline: usize, seed: u64) -> Result<Network, BuildError> {
    let compared = &scenario.spec().disciplines[discipline];
    let mut goes_on = |_| ControlFlow::Continue(());
    let network = set_up(scenario, compared, seed, &mut goes_on)?;
    Ok(network.expect("nothing stops it"))
}

fn set_up(
    scenario: &Scenario,
    compared: &Compared,
    seed: u64,
    watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Result<Option<Network>, BuildError> {
    let mut set_up = SetUp::new(watch);
    build::network(scenario.spec(), scenario.topology(), compared, Seed(seed), &mut set_up)
}

/// The discipline at this index of `scenario`'s list, with all parameters from the scenario.
pub fn discipline(scenario: &Scenario, discipline: usize) -> Choice {
    let spec = scenario.spec();
    let compared = &spec.disciplines[discipline];
    let parameters = compared.parameters(&spec.discipline).only(catalogue::key(compared.name()));
    let is_typed = parameters.typed().next().is_some();
    if is_typed { Choice::new(compared.name(), parameters) } else { Choice::from(compared.name().to_owned()) }
}

/// Calls `answer` with the discipline at this index of `scenario`'s list, placed at the first link.
/// `None` if there is no link.
pub fn of_part<R>(
    scenario: &Scenario,
    discipline: usize,
    answer: impl FnOnce(&dyn Part, &Site<'_>) -> Option<R>,
) -> Option<R> {
    let spec = scenario.spec();
    build::answer(spec, scenario.topology(), &spec.disciplines[discipline], answer)
}

fn simulate(
    scenario: &Scenario,
    compared: &Compared,
    seed: u64,
    (mut watch, observers): (&mut dyn FnMut(Time) -> ControlFlow<()>, &dyn Observers),
    observer: Option<&mut dyn Observer>,
) -> Result<Option<RunRecord>, BuildError> {
    let settings = build::settings(scenario.spec(), Seed(seed));
    let Some(network) = set_up(scenario, compared, seed, &mut watch)? else { return Ok(None) };
    let measured = match observer {
        None => fairwire_sim::run(network, &settings, &mut watch),
        Some(observer) => fairwire_sim::run_observed(network, &settings, &mut watch, observer),
    };
    Ok(match measured {
        Ok(measured) => Some(record(scenario, compared, seed, measured)),
        Err(rest) => {
            if scenario.flow_count() > MANY_FLOWS {
                observers.stopped(rest);
            }
            None
        }
    })
}

/// The record of the run in `steps`; `None` until the run has ended. The record equals that of
/// [`run_single`] bit for bit.
pub(crate) fn record_of(
    scenario: &Scenario,
    discipline: usize,
    seed: u64,
    steps: &Steps,
) -> Option<RunRecord> {
    let compared = &scenario.spec().disciplines[discipline];
    Some(record(scenario, compared, seed, steps.measured()?))
}

fn record(scenario: &Scenario, compared: &Compared, seed: u64, mut measured: Measured) -> RunRecord {
    let over_all = measured.presence.as_ref().map(|presence| presence.over_all(&measured.flows));
    let flows = over_all.as_deref().unwrap_or(&measured.flows);
    let aggregates = aggregate::records(scenario.spec(), scenario.topology(), measured.aggregates, flows);
    let (fairness, presence) = fairness(scenario, &mut measured.flows, measured.presence.as_ref());
    RunRecord {
        discipline: compared.label().into(),
        stage: String::new(),
        seed,
        fairness,
        presence,
        aggregates,
        flows: measured.flows,
        links: if scenario.spec().network.is_some() {
            busiest::first(measured.links)
        } else {
            measured.links
        },
        transfers: measured.transfers,
        events: Some(measured.events),
    }
}

/// Assesses how fairly `flows` share the queues on their routes, and writes each flow's max-min
/// share into its record. With `presence`, also returns the starts and stops of flows.
pub fn fairness(
    scenario: &Scenario,
    flows: &mut [FlowRecord],
    presence: Option<&Presence>,
) -> (Fairness, Option<PresenceRecord>) {
    let (spec, topology) = (scenario.spec(), scenario.topology());
    let capacities = |from: Duration, until: Duration| -> Vec<f64> {
        topology.queues.iter().map(|queue| queue.mean_bps(from, until)).collect()
    };
    let of_groups = || {
        spec.flow
            .iter()
            .zip(&topology.routes)
            .flat_map(|(flow, routes)| routes.iter().map(move |route| (flow, route)))
    };
    let links: Vec<Vec<usize>> = of_groups().map(|(_, route)| route.queues().collect()).collect();
    let of_way = |((flow, route), links): ((&FlowSpec, &topology::Route), _)| {
        let max_bps = route.slowest_wire().map_or(flow.access.rate.0, |rate| rate.min(flow.access.rate.0));
        Route { links, max_bps: max_bps.bps() as f64, flows: route.flows as usize }
    };
    let routes: Vec<Route<'_>> = of_groups().zip(links.iter().map(Vec::as_slice)).map(of_way).collect();
    match presence {
        None => (assess_network(flows, &routes, &capacities(spec.warm_up.0, spec.duration.0)), None),
        Some(presence) => {
            let between =
                |from, until| capacities(Duration::from_secs_f64(from), Duration::from_secs_f64(until));
            let (fairness, record) = presence::assess(flows, &routes, between, presence);
            (fairness, Some(record))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_thread_is_started_without_a_run() {
        assert_eq!(threads(65_535, 3), 3);
        assert_eq!(threads(2, 3), 2);
        assert_eq!(threads(0, 1), 1);
        assert_eq!(threads(7, 0), 1);
        assert_eq!(threads(usize::MAX, usize::MAX), MAX_THREADS);
    }
}
