//! A scenario on one stage, or on several side by side.

use super::kept::Kept;
use super::run::counted;
use crate::output::{Outputs, StageRun};
use crate::progress::{Part, Progress};
use fairwire_core::Duration;
use fairwire_experiment::sim::Sim;
use fairwire_experiment::view::View;
use fairwire_experiment::{Failed, LeftOut, SideBySide, Stage, Stages, WatchRun, WatchRuns, find};
use fairwire_metrics::record::{Report, RunRecord};
use fairwire_scenario::{Observers, RunId, SampleRow, Scenario};
use fairwire_terminal::failure::Failure;
use fairwire_terminal::interrupt;
use fairwire_terminal::notice::notice;
use std::sync::OnceLock;
use std::sync::mpsc::Sender;

pub(crate) fn or_simulator<'a>(requested: &'a [&'a dyn Stage]) -> Stages<'a> {
    match requested {
        [] => Stages { all: &[&Sim], are_named: false },
        all => Stages { all, are_named: true },
    }
}

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

pub(crate) struct StageOptions<'a> {
    /// The stages.
    pub stages: Stages<'a>,
    /// The number of simultaneous runs, on stages that support it; 0 for the number of cores.
    pub jobs: usize,
    /// The part of the command's progress for these runs.
    pub part: Part,
    /// Is progress hidden?
    pub quiet: bool,
    /// The outputs other than the report. They observe the runs.
    pub outputs: &'a Outputs<'a>,
    /// True if the simulator's cache is unused.
    pub is_uncached: bool,
    /// The channel for a contest's views, if they are shown.
    pub views: Option<&'a Sender<View>>,
}

pub(crate) struct Done {
    /// The finished runs.
    pub report: Report,
    /// The error of a stage that failed.
    pub trouble: Option<Failure>,
    /// The disciplines that stages did not run, with the reasons.
    pub left_out: Vec<LeftOut>,
}

pub(crate) fn carry_out(scenario: &Scenario, order: &StageOptions<'_>) -> Result<Done, Failure> {
    let stages = order.stages.all;
    let all = stages.len() as f64;
    let done = order.stages.run(scenario, interrupt::flag(), &mut |stage, disciplines, at| {
        let part = order.part.between(at as f64 / all, (at + 1) as f64 / all);
        on_stage(stage, scenario, disciplines, part, order)
    });
    let SideBySide { mut report, left_out, failed, expected } = done;
    let notes = &mut report.manifest.notes;
    let own = notes.len() - failed.len() - left_out.len();
    if let Some(option) = order.outputs.of_simulator_only()
        && stages.iter().any(|stage| stage.name() != "sim")
    {
        notes.insert(own, format!("{option}: of the stage `sim` only"));
    }
    let of_stages = notes[own..].join("\n");
    let mut trouble = None;
    for (stage, what) in failed {
        if !order.stages.are_named {
            return Err(Failure::Ours(what));
        }
        trouble = Some(Failure::Ours(format!("{stage}: {what}")));
    }
    if report.runs.is_empty() && trouble.is_none() && !interrupt::is_requested() {
        let names: Vec<&str> = stages.iter().map(|stage| stage.name()).collect();
        let what = format!("this scenario cannot run on `{}`", names.join("` or `"));
        return Err(Failure::user(what, of_stages));
    }
    if report.manifest.interrupted {
        notice(format_args!(
            "interrupted: {} of {expected} runs finished; the results are of those, and expectations are not judged",
            report.runs.len()
        ));
    }
    Ok(Done { report, trouble, left_out })
}

fn on_stage(
    stage: &dyn Stage,
    scenario: &Scenario,
    disciplines: &[usize],
    part: Part,
    order: &StageOptions<'_>,
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

struct Watching<'a> {
    stage: &'static str,
    scenario: &'a Scenario,
    order: &'a StageOptions<'a>,
    kept: OnceLock<Kept<'a>>,
    progress: &'a Progress,
}

impl WatchRuns for Watching<'_> {
    fn begins<'a>(&'a self, which: RunId<'_>) -> Box<dyn WatchRun + 'a> {
        let RunId { discipline, seed, .. } = which;
        let duration = self.scenario.spec().duration;
        self.progress.say(&format!("{}: {discipline}, seed {seed}, {duration}", self.stage));
        let StageOptions { outputs, views, .. } = *self.order;
        Box::new(WatchingOne { outputs, views, run: outputs.begin(which, self.stage) })
    }
    fn reached(&self, fraction: f64) {
        self.progress.reach(fraction);
    }
    fn observers(&self) -> &dyn Observers {
        self.kept.get_or_init(|| Kept::of(self.scenario, self.order.outputs, self.order.is_uncached))
    }
}

struct WatchingOne<'a> {
    outputs: &'a Outputs<'a>,
    views: Option<&'a Sender<View>>,
    /// Records the samples.
    run: Option<StageRun<'a>>,
}

impl WatchRun for WatchingOne<'_> {
    fn every(&self) -> Option<Duration> {
        self.outputs.every()
    }
    fn sample(&mut self, at: Duration, row: SampleRow<'_>) {
        self.run.iter_mut().for_each(|run| run.sample(at, row));
    }
    fn wants_views(&self) -> bool {
        self.views.is_some()
    }
    fn view(&mut self, view: View) {
        // Sending fails once the picture is closed, which does not matter.
        let _ = self.views.map(|views| views.send(view));
    }
    fn finished(self: Box<Self>) {
        self.run.into_iter().for_each(StageRun::finish);
    }
}

/// The results of the first stage, to which a scenario's expectations apply.
pub(crate) fn of_first(report: &Report) -> Report {
    let Some(first) = report.manifest.stages.first() else { return report.clone() };
    let runs: Vec<RunRecord> = report.runs.iter().filter(|run| run.stage == *first).cloned().collect();
    let summary = report.summary.iter().filter(|summary| summary.stage == *first).cloned().collect();
    Report { runs, summary, ..report.clone() }
}
