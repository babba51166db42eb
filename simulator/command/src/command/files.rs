//! `fairwire run` with several files and folders.

use super::kind::{self, Kind};
use super::run::{self, Judged, RunOptions};
use crate::args::{Format, RunArgs, changes};
use crate::progress::Part;
use crate::report::{Member, Sequence, print, table};
use comfy_table::{Cell, CellAlignment, ContentArrangement};
use fairwire_experiment::CannotRun;
use fairwire_metrics::judge::Verdict;
use fairwire_scenario::{Overrides, Scenario, load};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::interrupt;
use fairwire_terminal::notice::notice;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

pub(super) struct File {
    pub path: PathBuf,
    pub scenario: Scenario,
    /// Is this the only file named?
    pub is_alone: bool,
}

impl File {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn stem(&self) -> &Path {
        self.path.file_stem().map_or(Path::new("scenario"), Path::new)
    }
}

/// Reads every named scenario, and the scenarios in named folders, sorted by name. Reports all
/// mistakes before any scenario runs.
pub(super) fn read(args: &RunArgs) -> Result<Vec<File>, Failure> {
    let overrides = Overrides {
        set: changes(&args.set)?,
        disciplines: args.discipline.clone(),
        seeds: args.seeds.clone(),
    };
    let mut paths = Vec::new();
    for named in &args.scenarios {
        if named.is_dir() { paths.extend(in_folder(named)?) } else { paths.push(named.clone()) }
    }
    let is_alone = paths == args.scenarios && paths.len() == 1;
    let (mut files, mut wrong) = (Vec::new(), Vec::new());
    for path in paths {
        let checked = |scenario: Scenario| fairwire_experiment::check(&scenario).map(|()| scenario);
        match load(&path, &overrides).and_then(checked) {
            Ok(scenario) => files.push(File { path, scenario, is_alone }),
            Err(error) => match kind::of(&path) {
                Some(Kind::Plan) => {
                    let help =
                        format!("allowed: a scenario; `fairwire sweep {}` runs a plan", path.display());
                    return Err(Failure::user(format!("`{}` is the plan of a sweep", path.display()), help));
                }
                _ => wrong.push(error),
            },
        }
    }
    // A mistake in an option affects every file, and is shown once.
    let mut shown = BTreeSet::new();
    wrong.retain(|error| shown.insert(error.to_string()));
    let mut wrong = wrong.into_iter();
    if let Some(mut first) = wrong.next() {
        first.more = first.more.into_iter().chain(wrong).collect();
        return Err(first.into());
    }
    if !is_alone {
        check_outputs(args, &files)?;
    }
    Ok(files)
}

pub(super) fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let listed = || -> io::Result<Vec<PathBuf>> {
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect()
    };
    let mut paths = listed().map_err(|error| {
        Failure::user(
            format!("`{}` cannot be read: {error}", folder.display()),
            "allowed: a readable folder of scenarios",
        )
    })?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml") && path.is_file());
    paths.sort();
    if paths.is_empty() {
        let help = "allowed: a folder with files `*.toml`, or such a file";
        return Err(Failure::user(format!("`{}` has no scenario", folder.display()), help));
    }
    Ok(paths)
}

fn check_outputs(args: &RunArgs, files: &[File]) -> Result<(), Failure> {
    if let Some(output) = args.output.files.first() {
        let help = "allowed: one scenario; or `[output]` in each of them, or `--out`";
        return Err(Failure::user(
            format!("`--{}` is given, but so are several scenarios", output.key()),
            help,
        ));
    }
    let mut stems = BTreeSet::new();
    let twice = files.iter().find(|file| !stems.insert(file.stem()));
    match (&args.out, twice) {
        (Some(_), Some(file)) => Err(Failure::user(
            format!("`--out` is given, but two scenarios would have the folder `{}`", file.stem().display()),
            "allowed: files of different names",
        )),
        _ => Ok(()),
    }
}

/// Runs `files` one after the other. After Ctrl-C, reports the finished runs.
pub(super) fn carry_out(files: &[File], order: RunOptions<'_>, quiet: bool) -> Result<Ending, Failure> {
    let (whole, sequence) = (Part::whole(), Sequence::default());
    let all: f64 = files.iter().map(length).sum();
    let (mut before, mut ended) = (0.0, Vec::new());
    for file in files {
        if interrupt::is_requested() {
            break;
        }
        let part = whole.between(before / all, (before + length(file)) / all);
        before += length(file);
        let (name, out) = (file.name(), order.out.map(|out| out.join(file.stem())));
        let order = RunOptions {
            folder: file.path.parent(),
            out: out.as_deref(),
            watched: None,
            headline: order.headline.clone(),
            member: Some(Member { sequence: &sequence, file: &name }),
            ..order
        };
        ended.push(reported(run::judged(&file.scenario, &order, part, quiet)));
    }
    sequence.end(order.format)?;
    let text = summary(files, &ended);
    match order.format {
        Format::Table => print(format!("\n{text}").as_bytes())?,
        Format::Json | Format::Csv | Format::Latex => notice(format_args!("{}", text.trim_end())),
    }
    Ok(ending(&ended))
}

/// The simulated seconds of all runs of `file`, to estimate the remaining time.
fn length(file: &File) -> f64 {
    let spec = file.scenario.spec();
    (spec.disciplines.len() * spec.seeds.as_slice().len()) as f64 * spec.duration.0.secs()
}

/// Reports a failure instead of returning it, so that the other files still run.
fn reported(run: Result<(Judged, Option<Failure>), Failure>) -> Judged {
    match run {
        Ok((judged, trouble)) => Judged { ending: trouble.map_or(judged.ending, Failure::report), ..judged },
        Err(failure) => Judged::ended(failure.report()),
    }
}

fn word(judged: &Judged) -> &'static str {
    match judged.ending {
        Ending::Failed(_) | Ending::Agent(_) | Ending::Command(_) => "failed",
        Ending::Interrupted => "interrupted",
        Ending::Done | Ending::ExpectationFailed if judged.is_open => "not judged",
        Ending::Done | Ending::ExpectationFailed => {
            let expectations = judged.expectations.iter().map(|verdict| verdict.strict());
            let all = judged.agreements.iter().copied().chain(expectations);
            let is_skipped = judged.left_out.iter().any(|left| left.why.is_machines);
            let without = if is_skipped { "skipped" } else { "not judged" };
            let says_nothing = |worst: &Verdict| judged.is_uncompared && *worst == Verdict::Holds;
            let worst = Verdict::of_all(all).filter(|worst| !says_nothing(worst));
            worst.map_or(without, Verdict::words)
        }
    }
}

fn ending(ended: &[Judged]) -> Ending {
    let is_interrupted = interrupt::is_requested().then_some(Ending::Interrupted);
    let failed = ended.iter().map(|one| one.ending).find(|ending| matches!(ending, Ending::Failed(_)));
    let missed = ended.iter().map(|one| one.ending).find(|ending| *ending == Ending::ExpectationFailed);
    is_interrupted.or(failed).or(missed).unwrap_or(Ending::Done)
}

fn summary(files: &[File], ended: &[Judged]) -> String {
    let columns = ["file", "verdict", "agree", "unclear", "known", "differ", "expected", "not run"];
    let mut table = table::empty();
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(table::header(&columns));
    table.add_rows(files.iter().enumerate().map(|(at, file)| row(file, ended.get(at))));
    let mut words: Vec<(&str, usize)> = Vec::new();
    let all = ended.iter().map(word).chain(files.iter().skip(ended.len()).map(|_| "not run"));
    for word in all {
        match words.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => words.push((word, 1)),
        }
    }
    let words: Vec<String> = words.iter().map(|(word, count)| format!("{count} {word}")).collect();
    let left_out = left_out(files, ended);
    format!("{table}\n{} files: {}\n{left_out}", files.len(), words.join(", "))
}

fn row(file: &File, judged: Option<&Judged>) -> Vec<Cell> {
    let Some(judged) = judged else { return [file.name(), "not run".into()].map(Cell::new).to_vec() };
    let of = |wanted: Verdict| judged.agreements.iter().filter(|verdict| **verdict == wanted).count();
    let met = judged.expectations.iter().filter(|verdict| **verdict == Verdict::Holds).count();
    let expected = match judged.expectations.len() {
        0 => "-".into(),
        all => format!("{met} of {all}"),
    };
    let right = |what: String| Cell::new(what).set_alignment(CellAlignment::Right);
    let mut row = [file.name(), word(judged).into()].map(Cell::new).to_vec();
    let counts = [Verdict::Holds, Verdict::Unclear, Verdict::Known, Verdict::Fails].map(of);
    row.extend(counts.map(|count| right(count.to_string())));
    row.push(Cell::new(expected));
    row.push(right(cells(judged).to_string()));
    row
}

fn cells(judged: &Judged) -> usize {
    judged.left_out.iter().map(|left| left.disciplines.len()).sum()
}

struct Reason<'a> {
    stage: &'static str,
    why: &'a CannotRun,
    files: Vec<String>,
    cells: usize,
}

/// The maximum number of files listed by name with one reason. If there are more files, only their
/// number is shown.
const NAMED: usize = 3;

fn left_out(files: &[File], ended: &[Judged]) -> String {
    let mut reasons: Vec<Reason<'_>> = Vec::new();
    for (file, judged) in files.iter().zip(ended) {
        for left in &judged.left_out {
            let is_it = |known: &Reason<'_>| known.stage == left.stage && *known.why == left.why;
            let at = reasons.iter().position(is_it).unwrap_or(reasons.len());
            if at == reasons.len() {
                reasons.push(Reason { stage: left.stage, why: &left.why, files: Vec::new(), cells: 0 });
            }
            reasons[at].files.push(file.name());
            reasons[at].cells += left.disciplines.len();
        }
    }
    let line = |Reason { stage, why, files, cells }: &Reason<'_>| {
        let what = if why.is_machines { "SKIPPED" } else { "not run" };
        let of = if files.len() <= NAMED { files.join(", ") } else { format!("{} files", files.len()) };
        format!("{what} on {stage}, {} of {of}: {why}\n", run::counted(*cells, "discipline"))
    };
    reasons.iter().map(line).collect()
}
