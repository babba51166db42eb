//! `fairwire sweep`.

use super::kind::{self, Kind};
use super::run::counted;
use crate::args::{Format, PlanArgs, SweepArgs, SweepCommand, SweepRunArgs};
use crate::output::refused;
use crate::progress::{Part, Progress};
use crate::report::{print, sweep as shown};
use crate::typed::{self, quoted};
use fairwire_figures::Setting;
use fairwire_sweep::{Local, Plan, Share, Stores, SweepError};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::notice::notice;
use fairwire_terminal::{file, interrupt};
use std::path::{Path, PathBuf};

pub(crate) fn sweep(args: &SweepArgs, quiet: bool) -> Result<Ending, Failure> {
    match &args.command {
        Some(command) => other(command),
        None => run(&args.run, quiet),
    }
}

fn other(command: &SweepCommand) -> Result<Ending, Failure> {
    let text = match command {
        SweepCommand::Cost { plan, format } => {
            let (plan, folder) = read(plan)?;
            let cost = plan.cost(&folder, interrupt::flag()).map_err(|error| failure(&error))?;
            shown::cost(&plan, &cost, *format)?
        }
        SweepCommand::Missing(plan) => {
            let (plan, folder) = read(plan)?;
            let missing = plan.missing(&Stores::new(&folder)).map_err(|error| failure(&error.into()))?;
            shown::missing(&plan, &missing)?
        }
        SweepCommand::Explain { plan, row } => {
            let (plan, folder) = read(plan)?;
            let Some(run) = usize::try_from(*row).ok().and_then(|row| plan.run_of_row(row)) else {
                let last = plan.runs() - 1;
                return Err(Failure::user(
                    format!("`{row}` is no run of this plan"),
                    format!("allowed: 0 to {last}"),
                ));
            };
            let why = plan.explain(run, &Stores::new(&folder)).map_err(|error| failure(&error))?;
            format!("{}: {why}\n", shown::run(&plan, run))
        }
        SweepCommand::Compact(plan) => {
            let (plan, folder) = read(plan)?;
            let stores = Stores::new(&folder);
            let mut text = String::new();
            for (name, store) in [("runs", &stores.runs), ("flows", &stores.flows)] {
                let (before, after) = store.compact().map_err(|error| failure(&error.into()))?;
                if name == "runs" || plan.flows {
                    text += &format!("{name}: {before} files, now {after}\n");
                }
            }
            text
        }
        SweepCommand::Script { plan: args, tasks, cores, time, .. } => {
            let (plan, folder) = read(args)?;
            if !time.chars().all(|c| c.is_ascii_digit() || c == ':' || c == '-') || time.is_empty() {
                return Err(Failure::user(
                    format!("`--time {time}` is no time"),
                    "allowed: hours, minutes and seconds such as 1:00:00",
                ));
            }
            slurm(&plan, args, &folder, *tasks, *cores, time)
        }
    };
    print(text.as_bytes())?;
    Ok(Ending::Done)
}

fn run(args: &SweepRunArgs, quiet: bool) -> Result<Ending, Failure> {
    let (plan, folder) = read(&args.plan)?;
    let plot = args.plot.as_deref().map(|path| Plot::checked(path, &plan)).transpose()?;
    let jobs = usize::from(args.jobs.unwrap_or(0));
    if !args.yes {
        plan.check(jobs, "--jobs").map_err(refused)?;
    }
    let what = format!("sweep of {} runs", plan.runs());
    let progress = Progress::new(&what, 10, Part::whole(), quiet);
    let reached = |done: usize, all: usize| {
        progress.say(&format!("{done} of {all} runs"));
        progress.reach(if all == 0 { 1.0 } else { done as f64 / all as f64 });
    };
    let local =
        Local { folder: &folder, jobs, share: args.shard, progress: &reached, stop: interrupt::flag() };
    let ran = plan.run(&local).map_err(|error| failure(&error))?;
    drop(progress);
    let found = if args.shard == Share::ALL {
        String::new()
    } else {
        format!(" (shard {}/{})", args.shard.index, args.shard.of)
    };
    notice(format_args!("{} runs made{found}, in {}", ran.runs, folder.display()));
    let stores = Stores::new(&folder);
    let summary = plan.summary(&stores).map_err(|error| failure(&error.into()))?;
    if args.format != Format::Table && !quiet {
        plan.notes.iter().for_each(|note| notice(format_args!("note: {note}")));
    }
    print(shown::summary(&plan, &summary, args.format)?.as_bytes())?;
    let left = plan.missing(&stores).map_err(|error| failure(&error.into()))?.len();
    if let Some(plot) = plot {
        let content = match plot {
            Plot::Picture(_) => shown::figure(&plan, &summary, Setting::Alone)?,
            Plot::Page(_) => shown::page(&plan, &summary, &typed::command(), left),
        };
        let (Plot::Picture(path) | Plot::Page(path)) = plot;
        file::write(path, content.as_bytes())?;
        notice(format_args!("written: {}", path.display()));
    }
    if ran.stopped {
        notice(format_args!(
            "interrupted, {} to go: the same command goes on where it stopped",
            counted(left, "run")
        ));
        return Ok(Ending::Interrupted);
    }
    Ok(Ending::Done)
}

#[derive(Clone, Copy)]
enum Plot<'a> {
    Picture(&'a Path),
    Page(&'a Path),
}

impl<'a> Plot<'a> {
    /// Checks before any run that the file can be written, and that a picture can show the plan.
    fn checked(path: &'a Path, plan: &Plan) -> Result<Self, Failure> {
        if file::check_writable("--plot", path, &["svg", "html"])? == "html" {
            return Ok(Plot::Page(path));
        }
        shown::drawn_over(plan)?;
        Ok(Plot::Picture(path))
    }
}

fn read(args: &PlanArgs) -> Result<(Plan, PathBuf), Failure> {
    let plan = Plan::load(path(args)).map_err(|error| match kind::of(path(args)) {
        Some(Kind::Scenario) => {
            let shown = path(args).display();
            let help = format!("allowed: the plan of a sweep; `fairwire run {shown}` runs a scenario");
            Failure::user(format!("`{shown}` is a scenario"), help)
        }
        _ => Failure::from(error),
    })?;
    let folder = args.store.clone().or_else(|| plan.store.clone()).expect("a plan in a file has one");
    Ok((plan, folder))
}

/// The plan's file; clap requires it unless there is a subcommand.
fn path(args: &PlanArgs) -> &Path {
    args.plan.as_deref().unwrap_or(Path::new(""))
}

fn failure(error: &SweepError) -> Failure {
    match error {
        SweepError::Scenario(_)
        | SweepError::Store(_)
        | SweepError::Version { .. }
        | SweepError::Changed(_) => {
            let text = error.to_string();
            match text.split_once("; allowed: ") {
                Some((message, allowed)) => Failure::user(message, format!("allowed: {allowed}")),
                None => Failure::user(
                    text,
                    "allowed: a folder that can be written, on a disk with room; finished runs are kept",
                ),
            }
        }
        other => Failure::Ours(other.to_string()),
    }
}

fn slurm(plan: &Plan, args: &PlanArgs, folder: &Path, tasks: u32, cores: u16, time: &str) -> String {
    let whole = |path: &Path| {
        quoted(&std::path::absolute(path).unwrap_or_else(|_| path.into()).display().to_string())
    };
    let tasks = tasks.min(u32::try_from(plan.runs()).unwrap_or(u32::MAX));
    format!(
        "#!/bin/sh\n\
         # {} runs of {}, in {tasks} jobs. Submit it again to go on after a failure: no run is made twice.\n\
         #SBATCH --job-name=fairwire-sweep\n\
         #SBATCH --array=1-{tasks}\n\
         #SBATCH --cpus-per-task={cores}\n\
         #SBATCH --time={time}\n\
         exec fairwire --quiet sweep {} --store {} --jobs {cores} --shard \"$SLURM_ARRAY_TASK_ID/{tasks}\" --format csv >/dev/null\n",
        plan.runs(),
        quoted(&path(args).display().to_string()).replace('\n', " "),
        whole(path(args)),
        whole(folder),
    )
}
