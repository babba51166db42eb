//! `fairwire reproduce`.

use super::cache;
use crate::args::{Format, ReproduceArgs};
use crate::progress::{Part, Progress};
use crate::report::print;
use crate::{reproduction, typed};
use fairwire_core::spelling;
use fairwire_study::record::{Claim, Depth, Exhibit, FORMAT, Results, VERDICTS, Verdict};
use fairwire_study::{Cache, Executed, Plan, Recorded, Study, Work, assemble, execute, library};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::notice::notice;
use fairwire_terminal::terminal::{self, Color, bold, coloured, indented, wrapped};
use fairwire_terminal::{file, interrupt};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

pub(crate) fn reproduce(args: &ReproduceArgs, quiet: bool) -> Result<Ending, Failure> {
    let form = Form::of(args.format)?;
    if let Some(document) = &args.write_docs {
        file::check_writable("--write-docs", document, &["md"])?;
    }
    let studies = studies(args.studies.as_deref())?;
    if args.write_docs.is_some() {
        check_markers(args, &studies)?;
    }
    let depth = if args.full { Depth::Full } else { Depth::Quick };
    let mut plans = Vec::new();
    for (study, at) in chosen(&studies, &args.exhibits)? {
        plans.push(Plan::of(study, at, depth)?);
    }
    prove(&args.out)?;
    let cache = cache::open().fresh(args.fresh);
    let what = match plans.as_slice() {
        [plan] => plan.study.name(plan.at),
        _ => format!("{} exhibits", plans.len()),
    };
    let executed = run(&plans, &what, &cache, args.jobs, quiet)?;
    let kept = cache::problem(&cache);
    let is_whole = executed.is_whole.iter().all(|whole| *whole);
    let done = plans.iter().zip(&executed.gathered).zip(&executed.is_whole).filter(|(_, whole)| **whole);
    let mut results = Results {
        format: FORMAT,
        title: heading(&plans),
        fairwire_version: env!("CARGO_PKG_VERSION").into(),
        depth,
        interrupted: !is_whole,
        calibrated: studies
            .iter()
            .filter(|study| !study.calibration.claims.is_empty())
            .map(|study| (study.spec.paper.clone(), study.calibration.summary.clone()))
            .collect(),
        exhibits: done.map(|((plan, gathered), _)| assemble(plan, gathered)).collect(),
    };
    say_where(&mut results, &studies, args.studies.as_deref());
    write(&args.out, &results)?;
    if let Some(document) = args.write_docs.as_deref().filter(|_| is_whole) {
        file::write(document, reproduction::document(&results).as_bytes())?;
        notice(format_args!("written: {}", document.display()));
        if depth == Depth::Full {
            fill_in(&readmes(args, &studies)?, &results)?;
            if let Some((path, text)) = advice(args)? {
                let filled = reproduction::shares::filled(&path.display().to_string(), &text, &results)?;
                rewrite(&path, &text, &filled)?;
            }
        }
    }
    show(&results, form)?;
    if !is_whole {
        let (done, all) = (results.exhibits.len(), plans.len());
        let next = if kept.is_none() { "; the same command goes on where it stopped" } else { "" };
        notice(format_args!("interrupted: {done} of {all} exhibits are whole{next}"));
        return Ok(Ending::Interrupted);
    }
    if args.record {
        record(args, &studies, &results)?;
    }
    let differing = if args.expect_recorded { differing(&studies, &results) } else { Vec::new() };
    for line in &differing {
        notice(format_args!("not as recorded: {line}"));
    }
    Ok(if differing.is_empty() { Ending::Done } else { Ending::ExpectationFailed })
}

/// Before any run, checks the markers in the pages that will get numbers.
fn check_markers(args: &ReproduceArgs, studies: &[Study]) -> Result<(), Failure> {
    for readme in readmes(args, studies)? {
        reproduction::readme::check(&readme.name(), &readme.text, readme.study)?;
    }
    match advice(args)? {
        Some((path, text)) => reproduction::shares::check(&path.display().to_string(), &text, studies),
        None => Ok(()),
    }
}

struct Readme<'a> {
    study: &'a Study,
    path: PathBuf,
    text: String,
}

impl Readme<'_> {
    fn name(&self) -> String {
        self.path.display().to_string()
    }
}

/// The maximum size in bytes of a README or a page of advice.
const MAX_README: u64 = 1 << 20;

fn readmes<'a>(args: &ReproduceArgs, studies: &'a [Study]) -> Result<Vec<Readme<'a>>, Failure> {
    let folder = args.studies.as_deref().unwrap_or(Path::new("studies"));
    let mut readmes = Vec::new();
    for study in studies {
        let path = folder.join(&study.folder.name).join("README.md");
        if path.is_file() {
            let text = fairwire_document::read_text(&path, MAX_README, "a README")?;
            readmes.push(Readme { study, path, text });
        }
    }
    Ok(readmes)
}

fn fill_in(readmes: &[Readme<'_>], results: &Results) -> Result<(), Failure> {
    for readme in readmes {
        let of_it = results.exhibits.iter().filter(|exhibit| exhibit.paper == readme.study.spec.paper);
        let text = reproduction::readme::filled(&readme.name(), &readme.text, &of_it.collect::<Vec<_>>())?;
        rewrite(&readme.path, &readme.text, &text)?;
    }
    Ok(())
}

fn rewrite(path: &Path, text: &str, filled: &str) -> Result<(), Failure> {
    if text != filled {
        file::write(path, filled.as_bytes())?;
        notice(format_args!("written: {}", path.display()));
    }
    Ok(())
}

fn advice(args: &ReproduceArgs) -> Result<Option<(PathBuf, String)>, Failure> {
    let Some(path) = args.write_docs.as_ref().map(|document| document.with_file_name("choosing.md")) else {
        return Ok(None);
    };
    if !path.is_file() {
        return Ok(None);
    }
    let text = fairwire_document::read_text(&path, MAX_README, "a page of advice")?;
    Ok(Some((path, text)))
}

fn heading(plans: &[Plan<'_>]) -> String {
    let mut own: Vec<&Study> = Vec::new();
    for plan in plans.iter().filter(|plan| !library::is_embedded(&plan.study.folder)) {
        if own.iter().all(|study| study.spec.paper != plan.study.spec.paper) {
            own.push(plan.study);
        }
    }
    match own.as_slice() {
        [] => String::new(),
        [study] if plans.iter().all(|plan| plan.study.spec.paper == study.spec.paper) => {
            study.spec.title.clone()
        }
        _ => "Studies".into(),
    }
}

fn say_where(results: &mut Results, studies: &[Study], folder: Option<&Path>) {
    let Some(folder) = folder else { return };
    let own = |exhibit: &&mut Exhibit| {
        let study = studies.iter().find(|study| study.spec.paper == exhibit.paper);
        study.is_some_and(|study| !library::is_embedded(&study.folder))
    };
    for exhibit in results.exhibits.iter_mut().filter(own) {
        exhibit.command += &format!(" --studies {}", typed::quoted(&folder.to_string_lossy()));
    }
}

/// The maximum number of columns in a line; longer lines are hard to read.
const MAX_COLUMNS: usize = 120;

#[derive(Clone, Copy)]
pub(crate) enum Form {
    Table,
    Json,
}

impl Form {
    pub(crate) fn of(format: Format) -> Result<Self, Failure> {
        match format {
            Format::Table => Ok(Form::Table),
            Format::Json => Ok(Form::Json),
            Format::Csv | Format::Latex => Err(Failure::user(
                format!("`--format` is `{}`, but claims have no such format", format.name()),
                "allowed: `table` or `json`; the folder of `--out` has a CSV for each exhibit",
            )),
        }
    }
}

pub(crate) fn studies(folder: Option<&Path>) -> Result<Vec<Study>, Failure> {
    let folders = match folder {
        Some(path) => library::read(path)?,
        None => library::embedded(),
    };
    if folders.is_empty() {
        let place = folder.map_or("this command".into(), |path| format!("`{}`", path.display()));
        return Err(Failure::user(
            format!("there are no studies in {place}"),
            "allowed: a folder that holds folders with a `study.toml`",
        ));
    }
    let studies: Vec<Study> = folders.iter().map(Study::read).collect::<Result<_, _>>()?;
    for (number, study) in studies.iter().enumerate() {
        if studies[..number].iter().any(|other| other.spec.paper == study.spec.paper) {
            let paper = &study.spec.paper;
            return Err(Failure::user(
                format!("`--studies` has two studies of the paper `{paper}`"),
                "allowed: one study of each paper",
            ));
        }
    }
    Ok(studies)
}

/// The exhibits selected by `names`, each `PAPER` or `PAPER.EXHIBIT`; all exhibits if there are no
/// names.
pub(crate) fn chosen<'a>(studies: &'a [Study], names: &[String]) -> Result<Vec<(&'a Study, usize)>, Failure> {
    fairwire_study::chosen(studies, names).map_err(|error| {
        let near =
            spelling::question(&error.likely).map_or(String::new(), |question| format!("; {question}"));
        let allowed = fairwire_document::listed(&error.allowed);
        Failure::user(&error, format!("allowed: {allowed} (`fairwire list exhibits` has all){near}"))
    })
}

/// Checks that results can be written into `out`, before any run takes time.
pub(crate) fn prove(out: &Path) -> Result<(), Failure> {
    interrupt::flag(); // from here on, Ctrl-C lets us clean up
    let proven = fs::create_dir_all(out).and_then(|()| file::Scratch::begin(&out.join("results.json")));
    proven.map(drop).map_err(|error| {
        let help = "allowed: a folder that can be made or written";
        Failure::user(format!("`--out` is `{}`, but that cannot be written: {error}", out.display()), help)
    })
}

pub(crate) fn run(
    plans: &[Plan<'_>],
    what: &str,
    cache: &Cache,
    jobs: Option<u16>,
    quiet: bool,
) -> Result<Executed, Failure> {
    let progress = Progress::new(what, 10, Part::whole(), quiet);
    let work = Work {
        cache,
        jobs: usize::from(jobs.unwrap_or(0)),
        progress: &|fraction| progress.reach(fraction),
        stop: interrupt::flag(),
    };
    let executed = execute(plans, &work);
    drop(progress);
    let executed = executed.map_err(|fault| Failure::Ours(fault.to_string()))?;
    if executed.found > 0 {
        let Executed { made, found, .. } = executed;
        notice(format_args!("{made} runs made, {found} taken from earlier"));
    }
    if let Some(problem) = cache::problem(cache) {
        notice(format_args!("note: runs are not kept: {problem}"));
    }
    Ok(executed)
}

pub(crate) fn full(out: &Path, error: &io::Error) -> Failure {
    Failure::user(
        format!("`--out` is `{}`, but that cannot be written: {error}", out.display()),
        "make room and give the same command again: finished runs are kept in the cache (`fairwire cache`)",
    )
}

fn write(out: &Path, results: &Results) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(results).expect("results have only strings for keys") + "\n";
    let path = out.join("results.json");
    file::try_write(&path, json.as_bytes()).map_err(|error| full(out, &error))?;
    let page = reproduction::write(results, out)?;
    notice(format_args!("results: {}, {}", path.display(), page.display()));
    Ok(())
}

fn show(results: &Results, form: Form) -> Result<(), Failure> {
    match form {
        Form::Table => print(claims(results, terminal::columns()).as_bytes()),
        Form::Json => {
            let json = serde_json::to_string_pretty(results).expect("results have only strings for keys");
            print(format!("{json}\n").as_bytes())
        }
    }
}

fn claims(results: &Results, columns: usize) -> String {
    let columns = columns.min(MAX_COLUMNS);
    let mut text = String::new();
    for exhibit in results.exhibits.iter().filter(|exhibit| !exhibit.claims.is_empty()) {
        text += &bold(&wrapped(&format!("{}: {}", exhibit.name(), exhibit.title), columns, "  "));
        text.push('\n');
        exhibit.claims.iter().for_each(|one| text += &claim(one, columns));
        text.push('\n');
    }
    let counts = results.exhibits.iter().map(Exhibit::counted);
    let counts = counts.fold([0; 3], |sum, more| std::array::from_fn(|at| sum[at] + more[at]));
    let counts: Vec<String> =
        VERDICTS.iter().zip(counts).map(|(verdict, count)| format!("{count} {verdict}")).collect();
    let exhibits = results.exhibits.len();
    let plural = if exhibits == 1 { "" } else { "s" };
    let sum = format!("{exhibits} exhibit{plural}; claims: {}", counts.join(", "));
    text + &wrapped(&sum, columns, "  ") + "\n"
}

fn claim(claim: &Claim, columns: usize) -> String {
    let (sign, colour) = match claim.verdict {
        Verdict::Holds => ('\u{2713}', Color::Green),
        Verdict::Unclear | Verdict::Known => ('\u{2717}', Color::Yellow),
        Verdict::Fails => ('\u{2717}', Color::Red),
        Verdict::NotTestable => ('\u{2013}', Color::DarkGrey),
    };
    let verdict = format!("{sign} {}:", reproduction::words(claim));
    let line = indented(&format!("{verdict} {}", claim.says), columns, "  ").replacen(
        &verdict,
        &coloured(&verdict, colour),
        1,
    );
    let detail = if claim.detail.is_empty() {
        String::new()
    } else {
        indented(&claim.detail, columns, "      ") + "\n"
    };
    format!("{line}\n{detail}")
}

/// The verdicts to record for the claims of `exhibits`, by exhibit and claim. An unclear claim is
/// recorded as not holding.
fn verdicts<'a>(exhibits: impl Iterator<Item = &'a Exhibit>) -> BTreeMap<String, Verdict> {
    let of = |exhibit: &'a Exhibit| {
        exhibit
            .claims
            .iter()
            .map(move |claim| (format!("{}.{}", exhibit.id, claim.id), claim.verdict.strict()))
    };
    exhibits.flat_map(of).collect()
}

fn of_depth(recorded: &mut Recorded, depth: Depth) -> &mut BTreeMap<String, Verdict> {
    match depth {
        Depth::Quick => &mut recorded.quick,
        Depth::Full => &mut recorded.full,
    }
}

/// Writes the verdicts into the `verdicts.toml` of each study. Verdicts on exhibits that were not
/// run remain.
fn record(args: &ReproduceArgs, studies: &[Study], results: &Results) -> Result<(), Failure> {
    let Some(folder) = &args.studies else {
        return Err(Failure::user(
            "`--record` is given without `--studies`",
            "allowed: `--record --studies studies`",
        ));
    };
    for study in studies {
        let now = verdicts(results.exhibits.iter().filter(|exhibit| exhibit.paper == study.spec.paper));
        if now.is_empty() {
            continue;
        }
        let mut recorded = study.recorded.clone();
        let is_claim = |name: &str| {
            let mut exhibits = study.spec.exhibit.iter();
            exhibits.any(|e| e.claim.iter().any(|claim| format!("{}.{}", e.id, claim.id) == name))
        };
        for all in [&mut recorded.quick, &mut recorded.full] {
            all.retain(|name, _| is_claim(name));
        }
        of_depth(&mut recorded, results.depth).extend(now);
        let path = folder.join(&study.folder.name).join("verdicts.toml");
        file::write(&path, recorded.text().as_bytes())?;
        notice(format_args!("recorded: {}", path.display()));
    }
    Ok(())
}

fn differing(studies: &[Study], results: &Results) -> Vec<String> {
    let mut lines = Vec::new();
    for exhibit in &results.exhibits {
        let study = studies.iter().find(|study| study.spec.paper == exhibit.paper);
        let mut recorded = study.map(|study| study.recorded.clone()).unwrap_or_default();
        let recorded = of_depth(&mut recorded, results.depth);
        for (name, now) in verdicts(std::iter::once(exhibit)) {
            let before = recorded.get(&name);
            if before != Some(&now) {
                let before = before.map_or("nothing", |verdict| verdict.words());
                lines.push(format!("{}.{name}: {now}, recorded: {before}", exhibit.paper));
            }
        }
    }
    lines
}
