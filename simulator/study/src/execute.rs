//! Makes the runs that plans need, each once, on several threads, and stores them on disk.

use crate::cache::{self, Cache, Finished};
use crate::computed::{Entry, Made};
use crate::expression::{Expression, Fold, Over, Source};
use crate::facts::Facts;
use crate::packets;
use crate::plan::{Cell, Plan};
use crate::record::Depth;
use crate::watch::{Samples, Sampling};
use fairwire_core::Time;
use fairwire_scenario::{RunError, Scenario, run_single};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Hashes of the source code that produces results, one for each type of result.
#[derive(Clone, Copy)]
struct Makers<'a> {
    /// For runs.
    engine: &'a str,
    /// For the data stored from runs.
    watchers: &'a str,
    /// For computed exhibits.
    computed: &'a str,
}

/// The current ones.
const MAKERS: Makers<'static> = Makers {
    engine: fairwire_scenario::ENGINE,
    watchers: env!("FAIRWIRE_WATCHERS"),
    computed: env!("FAIRWIRE_COMPUTED"),
};
/// The version of the crate. If sources are missing, only the version distinguishes engines.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// A new number invalidates all earlier results.
const RESULT_FORMAT: &str = "fairwire result 1";

const MAX_THREADS: usize = 1024;

/// The contribution of one run to one exhibit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gave {
    /// A value for each measure.
    pub values: Vec<Option<f64>>,
    /// The points of each curve, if curves are drawn for the run's seed.
    pub curves: Vec<Vec<(f64, f64)>>,
}

/// The contributions of all runs to one exhibit.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// The contributions of runs, by cell and seed.
    pub gave: BTreeMap<(usize, u64), Gave>,
    /// The results of a computed exhibit, by seed.
    pub made: BTreeMap<u64, Made>,
}

/// An error that prevented runs.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// How to make runs.
pub struct Work<'a> {
    /// The store of results.
    pub cache: &'a Cache,
    /// The number of threads; 0 for one per core.
    pub jobs: usize,
    /// Invoked from any thread with the completed fraction.
    pub progress: &'a (dyn Fn(f64) + Sync),
    /// Set to true to stop; finished results are kept.
    pub stop: &'a AtomicBool,
}

/// The outcome.
#[derive(Debug)]
pub struct Executed {
    /// The contributions for each plan, in order.
    pub gathered: Vec<Gathered>,
    /// For each plan: is it complete?
    pub is_whole: Vec<bool>,
    /// Runs made now, including seeds of computed exhibits.
    pub made: usize,
    /// Runs found on disk.
    pub found: usize,
}

/// Makes every run that `plans` need, or loads it from disk.
pub fn execute(plans: &[Plan<'_>], work: &Work<'_>) -> Result<Executed, Fault> {
    let mut tasks = tasks(plans, MAKERS);
    // Quick tasks run longest first, so that no long task is left at the end. Full plans stay in
    // order, which completes the first exhibits early.
    if plans.iter().all(|plan| plan.depth == Depth::Quick) {
        tasks.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    }
    let pool = Pool {
        plans,
        tasks: &tasks,
        work,
        next: AtomicUsize::new(0),
        meter: Meter::new(&tasks, work),
        is_over: AtomicBool::new(false),
        state: Mutex::new(State {
            gathered: plans.iter().map(|_| Gathered::default()).collect(),
            missing: plans.iter().map(|_| 0).collect(),
            ..State::default()
        }),
    };
    for user in tasks.iter().flat_map(|task| &task.users) {
        pool.state().missing[user.plan] += 1;
    }
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let requested = if work.jobs == 0 { cores() } else { work.jobs };
    let threads = requested.min(tasks.len()).clamp(1, MAX_THREADS);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| pool.serve());
        }
    });
    let State { gathered, missing, fault, made, found } =
        pool.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    match fault {
        Some(fault) => Err(fault),
        None => {
            Ok(Executed { gathered, is_whole: missing.iter().map(|left| *left == 0).collect(), made, found })
        }
    }
}

struct Task {
    key: String,
    origin: Origin,
    seed: u64,
    users: Vec<User>,
    weight: f64,
}

enum Origin {
    Run { scenario: Arc<Scenario>, discipline: usize, sampling: Option<Arc<Sampling>> },
    Made(&'static Entry),
}

#[derive(Clone, Copy)]
struct User {
    plan: usize,
    cell: usize,
}

fn tasks(plans: &[Plan<'_>], makers: Makers<'_>) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut add = |key: String, user: User, task: &mut dyn FnMut() -> (Origin, u64, f64)| {
        let at = *known.entry(key.clone()).or_insert_with(|| {
            let (origin, seed, weight) = task();
            tasks.push(Task { key, origin, seed, users: Vec::new(), weight });
            tasks.len() - 1
        });
        tasks[at].users.push(user);
    };
    for (number, plan) in plans.iter().enumerate() {
        for &seed in plan.seeds.iter().filter(|_| plan.computed.is_some()) {
            let entry = plan.computed.expect("just checked");
            let Makers { engine, watchers, computed } = makers;
            let seed_text = seed.to_string();
            let key =
                cache::key(&[RESULT_FORMAT, VERSION, engine, watchers, computed, entry.name, &seed_text]);
            add(key, User { plan: number, cell: 0 }, &mut || (Origin::Made(entry), seed, 1.0));
        }
        for (at, cell) in plan.cells.iter().enumerate() {
            for &seed in &plan.seeds {
                let sampling = plan.sampling(seed).cloned();
                let key = key_of(cell, seed, sampling.as_deref(), makers);
                let Cell { scenario, discipline, .. } = cell;
                let run = || Origin::Run {
                    scenario: scenario.clone(),
                    discipline: *discipline,
                    sampling: sampling.clone(),
                };
                add(key, User { plan: number, cell: at }, &mut || (run(), seed, scenario.weight()));
            }
        }
    }
    tasks
}

fn key_of(cell: &Cell, seed: u64, sampling: Option<&Sampling>, makers: Makers<'_>) -> String {
    let compared = &cell.scenario.spec().disciplines[cell.discipline];
    let json = |value: serde_json::Result<String>| value.expect("it has only strings for keys");
    let parts = [
        RESULT_FORMAT,
        VERSION,
        makers.engine,
        makers.watchers,
        cell.scenario.traffic_sha256(),
        compared.name(),
        &json(serde_json::to_string(&compared.choice)),
        &seed.to_string(),
        &json(serde_json::to_string(&sampling)),
    ];
    cache::key(&parts)
}

struct Meter<'a> {
    done: Mutex<f64>,
    total: f64,
    progress: &'a (dyn Fn(f64) + Sync),
}

impl<'a> Meter<'a> {
    fn new(tasks: &[Task], work: &Work<'a>) -> Self {
        let todo = tasks.iter().filter(|task| !work.cache.has(&task.key)).map(|task| task.weight);
        Meter { done: Mutex::new(0.0), total: todo.sum::<f64>().max(1.0), progress: work.progress }
    }

    fn advance(&self, by: f64) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += by;
        (self.progress)((*done / self.total).min(1.0));
    }
}

#[derive(Default)]
struct State {
    gathered: Vec<Gathered>,
    missing: Vec<usize>,
    fault: Option<Fault>,
    made: usize,
    found: usize,
}

impl State {
    fn count(&mut self, is_new: bool) {
        if is_new { self.made += 1 } else { self.found += 1 }
    }
}

struct Pool<'a> {
    plans: &'a [Plan<'a>],
    tasks: &'a [Task],
    work: &'a Work<'a>,
    next: AtomicUsize,
    meter: Meter<'a>,
    /// Did a task fail? If so, the other threads stop too.
    is_over: AtomicBool,
    state: Mutex<State>,
}

impl Pool<'_> {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self) -> bool {
        self.work.stop.load(Ordering::Relaxed) || self.is_over.load(Ordering::Relaxed)
    }

    fn serve(&self) {
        while let Some(task) = self.tasks.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if self.is_stopped() {
                return;
            }
            let done = match &task.origin {
                Origin::Run { scenario, discipline, sampling } => {
                    self.run(task, scenario, *discipline, sampling.as_deref())
                }
                Origin::Made(entry) => self.make(task, entry),
            };
            if let Err(fault) = done {
                self.is_over.store(true, Ordering::Relaxed);
                self.state().fault.get_or_insert(fault);
                return;
            }
        }
    }

    fn make(&self, task: &Task, entry: &Entry) -> Result<(), Fault> {
        let (made, is_new) = match self.work.cache.load(&task.key) {
            Some(made) => (made, false),
            None => ((entry.make)(task.seed), true),
        };
        if is_new {
            self.work.cache.store(&task.key, &made);
            self.meter.advance(task.weight);
        }
        let mut state = self.state();
        state.count(is_new);
        for user in &task.users {
            state.gathered[user.plan].made.insert(task.seed, made.clone());
            state.missing[user.plan] -= 1;
        }
        Ok(())
    }

    fn run(
        &self,
        task: &Task,
        scenario: &Scenario,
        discipline: usize,
        sampling: Option<&Sampling>,
    ) -> Result<(), Fault> {
        let (finished, is_new) = match self.work.cache.load(&task.key) {
            Some(finished) => (finished, false),
            None => match self.simulate(task, scenario, discipline, sampling)? {
                Some(finished) => (finished, true),
                None => return Ok(()),
            },
        };
        if is_new {
            self.work.cache.store(&task.key, &finished);
        }
        let gave: Vec<Gave> =
            task.users.iter().map(|user| gave(&self.plans[user.plan], *user, task.seed, &finished)).collect();
        let mut state = self.state();
        state.count(is_new);
        for (user, gave) in task.users.iter().zip(gave) {
            state.gathered[user.plan].gave.insert((user.cell, task.seed), gave);
            state.missing[user.plan] -= 1;
        }
        Ok(())
    }

    fn simulate(
        &self,
        task: &Task,
        scenario: &Scenario,
        discipline: usize,
        sampling: Option<&Sampling>,
    ) -> Result<Option<Finished>, Fault> {
        let duration_s = scenario.spec().duration.0.secs();
        let mut reported = 0.0;
        let mut watch = |now: Time| {
            let reached = now.since(Time::ZERO).secs() / duration_s * task.weight;
            self.meter.advance(reached - reported);
            reported = reached;
            if self.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut watcher = sampling.map(|sampling| sampling.watcher(scenario.spec().warm_up.0));
        let observer = watcher.as_mut().map(|watcher| watcher as &mut dyn fairwire_scenario::Observer);
        let run = run_single(scenario, discipline, task.seed, &mut watch, observer)?;
        if run.is_some() {
            self.meter.advance(task.weight - reported);
        }
        Ok(run.map(|run| Finished { run, samples: watcher.map(|watcher| watcher.into_samples()) }))
    }
}

fn gave(plan: &Plan<'_>, user: User, seed: u64, finished: &Finished) -> Gave {
    let cell = &plan.cells[user.cell];
    let samples = finished.samples.as_ref();
    let facts = Facts::of(&finished.run);
    let warm_up_s = cell.scenario.spec().warm_up.0.secs();
    let source = OfRun { facts: &facts, samples, warm_up_s, x: plan.points[cell.point].x, at: None };
    let values = plan.measures.iter().map(|measure| measure.of.value(&source)).collect();
    let curves = plan.curves.iter().filter(|curves| curves.seed == seed).flat_map(|curves| &curves.of);
    let points = |of: &Expression| {
        let times = samples.iter().flat_map(|samples| samples.times()).enumerate();
        times.filter_map(|(at, time)| Some((time, of.value(&OfRun { at: Some(at), ..source })?))).collect()
    };
    Gave { values, curves: curves.map(|(of, _)| points(of)).collect() }
}

#[derive(Clone, Copy)]
struct OfRun<'a> {
    facts: &'a Facts<'a>,
    samples: Option<&'a Samples>,
    warm_up_s: f64,
    x: f64,
    /// The index of one sample, if a point of a curve is computed; `None` for a whole run.
    at: Option<usize>,
}

impl Source for OfRun<'_> {
    fn value(&self, name: &str) -> Option<f64> {
        match self.at {
            Some(at) => self.samples?.at(name, at),
            None if packets::is_one(name) => self.samples?.packets(name),
            None => self.facts.value(name),
        }
    }
    fn over(&self, over: &Over) -> Option<f64> {
        let samples = self.samples?;
        match self.at {
            Some(at) if over.fold == Fold::Change => {
                Some(samples.at(&over.series, at)? - samples.at(&over.series, at.checked_sub(1)?)?)
            }
            _ => samples.over(over, self.warm_up_s),
        }
    }
    fn x(&self) -> f64 {
        self.x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::Folder;
    use crate::study::Study;
    use std::collections::BTreeSet;

    const SCENARIO: &str = r#"
format = 2
name = "short"
duration = "1 s"
disciplines = ["tail-drop"]
[link]
rate = "1 Mbit/s"
delay = "1 ms"
buffer = "10 packets"
[[flow]]
group = "tcp"
source = "bulk"
tcp = { profile = "ns2-2002" }
access = { rate = "1 Mbit/s", delay = "1 ms" }
"#;

    const STUDY: &str = r#"
format = 2
paper = "p"
title = ""
source = ""
[[exhibit]]
id = "run"
title = ""
scenario = "base.toml"
[[exhibit.measure]]
id = "m"
of = "jain"
[[exhibit]]
id = "computed"
title = ""
compute = "rqm-fluid"
[[exhibit.measure]]
id = "m"
of = "m"
"#;

    fn study() -> Study {
        let files = [("study.toml", STUDY), ("base.toml", SCENARIO)];
        let files = files.map(|(name, text)| (name.to_string(), text.to_string())).into();
        Study::read(&Folder { name: "p".into(), prefix: String::new(), files }).unwrap()
    }

    #[test]
    fn computed_results_count_as_made_or_found() {
        let study = study();
        let plans = [Plan::of(&study, 1, Depth::Quick).unwrap()];
        let seeds = plans[0].seeds.len();
        assert!(seeds > 0);
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path(), 1 << 30, || std::time::SystemTime::UNIX_EPOCH);
        let work = Work { cache: &cache, jobs: 1, progress: &|_| {}, stop: &AtomicBool::new(false) };
        let counts = || execute(&plans, &work).map(|executed| (executed.made, executed.found)).unwrap();
        assert_eq!(counts(), (seeds, 0));
        assert_eq!(counts(), (0, seeds));
    }

    #[test]
    fn a_new_engine_version_recomputes_every_result() {
        let study = study();
        let keys = |exhibit: usize, makers: Makers<'_>| -> BTreeSet<String> {
            let plan = Plan::of(&study, exhibit, Depth::Quick).unwrap();
            tasks(&[plan], makers).into_iter().map(|task| task.key).collect()
        };
        let (run, computed) = (0, 1);
        let (today, engine, sums) =
            (MAKERS, Makers { engine: "another", ..MAKERS }, Makers { computed: "another", ..MAKERS });
        for exhibit in [run, computed] {
            assert!(!keys(exhibit, today).is_empty());
            assert_eq!(keys(exhibit, today), keys(exhibit, today));
            assert!(keys(exhibit, today).is_disjoint(&keys(exhibit, engine)), "exhibit {exhibit}");
        }
        assert!(keys(computed, today).is_disjoint(&keys(computed, sums)));
        assert_eq!(keys(run, today), keys(run, sums), "no run reads what is computed");
    }
}
