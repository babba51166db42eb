//! A scenario on one stage, or on several side by side.

use super::kept::Kept;
use super::run::counted;
use crate::output::{Outputs, StageRun};
use crate::progress::{Part, Progress};
use fairwire_core::Duration;
use fairwire_experiment::sim::Sim;
use fairwire_experiment::view::View;
use fairwire_experiment::{Clock, Failed, LeftOut, Stage, WatchRun, WatchRuns, compared, find, left_out};
use fairwire_metrics::record::{Mode, Report, RunRecord};
use fairwire_scenario::{Observers, Outcome, Row, RunId, Scenario};
use fairwire_terminal::failure::Failure;
use fairwire_terminal::interrupt;
use fairwire_terminal::notice::notice;
use std::sync::OnceLock;
use std::sync::mpsc::Sender;

/// Where a scenario is run, side by side.
#[derive(Clone, Copy)]
pub(crate) struct Stages<'a> {
    all: &'a [&'a dyn Stage],
    /// Was one requested? The simulator that is taken otherwise has no name in results.
    are_named: bool,
}

impl<'a> Stages<'a> {
    /// Those that are `requested`; the simulator where none is.
    pub(crate) fn of(requested: &'a [&'a dyn Stage]) -> Self {
        match requested {
            [] => Stages { all: &[&Sim], are_named: false },
            all => Stages { all, are_named: true },
        }
    }

    /// What results call them; none where they do not name them.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> + 'a {
        self.all.iter().filter(move |_| self.are_named).map(|stage| stage.name())
    }

    /// What results call `stage`.
    fn name_of(self, stage: &dyn Stage) -> &'static str {
        if self.are_named { stage.name() } else { "" }
    }
}

/// The stages of these names, each once.
pub(crate) fn named(names: &[String]) -> Result<Vec<&'static dyn Stage>, Failure> {
    let mut stages: Vec<&'static dyn Stage> = Vec::new();
    for name in names {
        let stage = find(name).map_err(|why| {
            Failure::user(format!("`--on`: {}", why.given), format!("allowed: {}", why.allowed))
        })?;
        if stages.iter().any(|known| known.name() == stage.name()) {
            return Err(Failure::user(
                format!("`--on`: `{name}` is given twice"),
                "allowed: each stage once",
            ));
        }
        stages.push(stage);
    }
    Ok(stages)
}

/// How the runs are done and shown.
pub(crate) struct Order<'a> {
    /// Where they are done.
    pub stages: Stages<'a>,
    /// Runs at the same time, where a stage can do that; 0 for as many as there are cores.
    pub jobs: usize,
    /// The part of the command that it is.
    pub part: Part,
    /// Is no progress shown?
    pub quiet: bool,
    /// What watches the simulator.
    pub outputs: &'a Outputs<'a>,
    /// Is no run of the simulator taken from those that are kept, and none added?
    pub is_uncached: bool,
    /// Where what is seen of a contest is sent, if it is watched.
    pub views: Option<&'a Sender<View>>,
}

/// What came out on all stages, and what went wrong on one of them.
pub(crate) struct Done {
    /// What was finished.
    pub report: Report,
    /// Why a stage did not finish.
    pub trouble: Option<Failure>,
    /// What stages did not run.
    pub left_out: Vec<LeftOut>,
}

/// Runs `scenario` on its stages, as far as each can.
pub(crate) fn carry_out(scenario: &Scenario, order: &Order<'_>) -> Result<Done, Failure> {
    let stages = order.stages.all;
    let mut notes = Vec::new();
    if let Some(option) = order.outputs.of_simulator_only()
        && stages.iter().any(|stage| stage.name() != "sim")
    {
        notes.push(format!("{option}: of the stage `sim` only"));
    }
    let mut left: Vec<LeftOut> = stages.iter().flat_map(|stage| left_out(*stage, scenario)).collect();
    let able = able(scenario, stages, &left);
    let mut runs: Vec<RunRecord> = Vec::new();
    let mut trouble = None;
    let all = stages.len() as f64;
    for ((stage, disciplines), at) in stages.iter().zip(&able).zip(0u32..) {
        if disciplines.is_empty() || interrupt::is_requested() {
            continue;
        }
        let part = order.part.between(f64::from(at) / all, f64::from(at + 1) / all);
        match on_stage(*stage, scenario, disciplines, part, order) {
            Ok(more) => {
                let stage = order.stages.name_of(*stage);
                runs.extend(more.into_iter().map(|run| RunRecord { stage: stage.into(), ..run }));
            }
            Err(Failed::Plan(why)) => {
                left.push(LeftOut { stage: stage.name(), disciplines: disciplines.clone(), why });
            }
            Err(Failed::Machine(what)) if !order.stages.are_named => return Err(Failure::Ours(what)),
            Err(Failed::Machine(what)) => {
                notes.push(format!("{} did not finish: {what}", stage.name()));
                trouble = Some(Failure::Ours(format!("{}: {what}", stage.name())));
            }
        }
    }
    notes.extend(left.iter().map(|one| in_words(scenario, one)));
    if runs.is_empty() && trouble.is_none() && !interrupt::is_requested() {
        return Err(Failure::user("no stage can run this scenario", notes.join("\n")));
    }
    Ok(Done { report: report(scenario, order.stages, &able, runs, notes), trouble, left_out: left })
}

/// The disciplines that each stage can run, by their places in the scenario.
fn able(scenario: &Scenario, stages: &[&dyn Stage], left: &[LeftOut]) -> Vec<Vec<usize>> {
    let of = |stage: &&dyn Stage| {
        let is_left = |place: &usize| {
            left.iter().any(|one| one.stage == stage.name() && one.disciplines.contains(place))
        };
        (0..scenario.spec().disciplines.len()).filter(|place| !is_left(place)).collect()
    };
    stages.iter().map(of).collect()
}

/// What a stage does not run of `scenario`, and why.
pub(crate) fn in_words(scenario: &Scenario, LeftOut { stage, disciplines, why }: &LeftOut) -> String {
    let all = &scenario.spec().disciplines;
    let labels: Vec<&str> = disciplines.iter().map(|place| all[*place].label()).collect();
    let of = if labels.len() == all.len() { String::new() } else { format!(" of {}", labels.join(", ")) };
    let here = if why.is_machines { " here" } else { "" };
    format!("{stage} cannot run this{of}{here}: {why}")
}

/// All runs of one stage, with their progress.
fn on_stage(
    stage: &dyn Stage,
    scenario: &Scenario,
    disciplines: &[usize],
    part: Part,
    order: &Order<'_>,
) -> Result<Vec<RunRecord>, Failed> {
    let name = &scenario.spec().name;
    let runs = counted(disciplines.len() * scenario.spec().seeds.as_slice().len(), "run");
    let what = match order.stages.name_of(stage) {
        "" => format!("{name}: {runs}"),
        stage => format!("{name} on {stage}: {runs}"),
    };
    let progress = Progress::new(&what, 4, part, order.quiet);
    let watch = Watching { stage: stage.name(), scenario, order, kept: OnceLock::new(), progress: &progress };
    stage.run_all(scenario, disciplines, order.jobs, &watch, interrupt::flag())
}

/// Follows the runs on a stage.
struct Watching<'a> {
    stage: &'static str,
    scenario: &'a Scenario,
    order: &'a Order<'a>,
    kept: OnceLock<Kept<'a>>,
    progress: &'a Progress,
}

impl WatchRuns for Watching<'_> {
    fn begins<'a>(&'a self, which: RunId<'_>) -> Box<dyn WatchRun + 'a> {
        let RunId { discipline, seed, .. } = which;
        let duration = self.scenario.spec().duration;
        self.progress.say(&format!("{}: {discipline}, seed {seed}, {duration}", self.stage));
        let Order { outputs, views, .. } = *self.order;
        Box::new(WatchingOne { outputs, views, run: outputs.begin(which, self.stage) })
    }
    fn reached(&self, fraction: f64) {
        self.progress.reach(fraction);
    }
    fn observers(&self) -> &dyn Observers {
        self.kept.get_or_init(|| Kept::of(self.scenario, self.order.outputs, self.order.is_uncached))
    }
}

/// Follows one of these runs.
struct WatchingOne<'a> {
    outputs: &'a Outputs<'a>,
    views: Option<&'a Sender<View>>,
    /// Writes down what is sampled.
    run: Option<StageRun<'a>>,
}

impl WatchRun for WatchingOne<'_> {
    fn every(&self) -> Option<Duration> {
        self.outputs.every()
    }
    fn sample(&mut self, at: Duration, row: Row<'_>) {
        self.run.iter_mut().for_each(|run| run.sample(at, row));
    }
    fn wants_views(&self) -> bool {
        self.views.is_some()
    }
    fn view(&mut self, view: View) {
        // A picture that was ended wants no more.
        let _ = self.views.map(|views| views.send(view));
    }
    fn finished(self: Box<Self>) {
        self.run.into_iter().for_each(StageRun::finish);
    }
}

/// One report of all stages: the runs of a discipline are together, in the order of the stages.
fn report(
    scenario: &Scenario,
    stages: Stages<'_>,
    able: &[Vec<usize>],
    mut runs: Vec<RunRecord>,
    notes: Vec<String>,
) -> Report {
    let seeds = scenario.spec().seeds.as_slice().len();
    let expected = able.iter().map(Vec::len).sum::<usize>() * seeds;
    let interrupted = interrupt::is_requested() && runs.len() < expected;
    if interrupted {
        notice(format_args!(
            "interrupted: {} of {expected} runs finished; the results are of those, and expectations are not judged",
            runs.len()
        ));
    }
    let names: Vec<&str> = stages.names().collect();
    let mut agreement = Vec::new();
    if let [first, _, ..] = names[..] {
        let labels: Vec<&str> = scenario.spec().disciplines.iter().map(|compared| compared.label()).collect();
        let place = |run: &RunRecord| labels.iter().position(|label| *label == run.discipline);
        runs.sort_by_key(|run| (place(run), names.iter().position(|name| *name == run.stage)));
        agreement = compared(scenario, &runs, first);
    }
    let mut report = fairwire_scenario::report(scenario, Outcome { runs, interrupted });
    report.agreement = agreement;
    report.manifest.stages = names.into_iter().map(str::to_owned).collect();
    report.manifest.notes.extend(notes);
    if !stages.all.iter().any(|stage| stage.about().clock == Clock::Simulated) {
        report.manifest.mode = Mode::Live;
    }
    report
}

/// What was measured on the first stage alone, which is what a scenario's expectations are about.
pub(crate) fn of_first(report: &Report) -> Report {
    let Some(first) = report.manifest.stages.first() else { return report.clone() };
    let runs: Vec<RunRecord> = report.runs.iter().filter(|run| run.stage == *first).cloned().collect();
    let summary = report.summary.iter().filter(|summary| summary.stage == *first).cloned().collect();
    Report { runs, summary, ..report.clone() }
}
