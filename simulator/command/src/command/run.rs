//! `fairwire run`.

use super::files;
use super::stages::{self, Done};
use crate::args::{Format, OutputArgs, RunArgs};
use crate::output::{Outputs, is_without_results};
use crate::progress::Part;
use crate::report::{Again, Destination, Folder, Headline, Member};
use crate::scene::Showing;
use crate::typed;
use fairwire_core::Duration;
use fairwire_experiment::{Because, LeftOut, Stage, Uncompared, Unjudged, uncompared, unjudged};
use fairwire_metrics::judge::Verdict;
use fairwire_metrics::record::{Agreement, Report};
use fairwire_scenario::{Judgement, LinkSpec, Links, QueueView, Scenario, judge, threads};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::interrupt;
use fairwire_terminal::notice::notice;
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) fn run(args: &RunArgs, quiet: bool) -> Result<Ending, Failure> {
    let files = files::read(args)?;
    if let Some(seed) = args.seeds.as_ref().and_then(|seeds| seeds.trim().parse::<u64>().ok())
        && seed > 1
        && !quiet
    {
        notice(format_args!(
            "note: `--seeds {seed}` is one run with the seed {seed}; `--seeds 1..={seed}` is {seed}"
        ));
    }
    let stages = stages::named(&args.on)?;
    let order = RunOptions {
        jobs: usize::from(args.jobs.unwrap_or(0)),
        format: args.format,
        out: args.out.as_deref(),
        output: &args.output,
        folder: None,
        stages: &stages,
        is_uncached: args.no_cache,
        watched: None,
        headline: None,
        member: None,
    };
    match files.as_slice() {
        [file] if file.is_alone => {
            let order = RunOptions { folder: file.path.parent(), ..order };
            carry_out(&file.scenario, &order, Part::whole(), quiet)
        }
        files => files::carry_out(files, order, quiet),
    }
}

pub(crate) struct RunOptions<'a> {
    /// The number of simultaneous runs; 0 for the number of cores.
    pub jobs: usize,
    pub format: Format,
    /// A folder for the results.
    pub out: Option<&'a Path>,
    /// Outputs other than the report.
    pub output: &'a OutputArgs,
    /// The folder of the scenario's file, if any; the file names in the scenario are relative to
    /// it.
    pub folder: Option<&'a Path>,
    /// The stages to compare. If empty, only the simulator runs, and results do not name it.
    pub stages: &'a [&'a dyn Stage],
    /// True if the cache is unused.
    pub is_uncached: bool,
    /// The title of a contest to show in the terminal while it runs; `None` to show nothing.
    pub watched: Option<String>,
    /// The lines above the table; `None` to derive them from the scenario.
    pub headline: Option<Headline>,
    /// The position among several scenarios; `None` if there is only one.
    pub member: Option<Member<'a>>,
}

#[derive(Debug)]
pub(crate) struct Judged {
    pub ending: Ending,
    /// The verdicts on differences between stages.
    pub agreements: Vec<Verdict>,
    /// The verdicts on the scenario's expectations.
    pub expectations: Vec<Verdict>,
    /// The disciplines that stages did not run, with the reasons.
    pub left_out: Vec<LeftOut>,
    /// True if several stages ran, but no difference has a verdict.
    pub is_uncompared: bool,
    /// True if a comparison has no verdict, and this machine is not the reason.
    pub is_open: bool,
}

impl Judged {
    pub(crate) fn ended(ending: Ending) -> Judged {
        let [agreements, expectations] = Default::default();
        let [is_uncompared, is_open] = [false; 2];
        Judged { ending, agreements, expectations, left_out: Vec::new(), is_uncompared, is_open }
    }
}

pub(crate) fn carry_out(
    scenario: &Scenario,
    order: &RunOptions<'_>,
    part: Part,
    quiet: bool,
) -> Result<Ending, Failure> {
    let (judged, trouble) = judged(scenario, order, part, quiet)?;
    trouble.map_or(Ok(judged.ending), Err)
}

/// Like [`carry_out`], but returns every verdict, and the error of a stage that failed while others
/// continued.
pub(super) fn judged(
    scenario: &Scenario,
    order: &RunOptions<'_>,
    part: Part,
    quiet: bool,
) -> Result<(Judged, Option<Failure>), Failure> {
    let again = Again::of(scenario, order.folder.unwrap_or(Path::new("")))?;
    let folder = order.out.map(|path| Folder::prepare(path, Some(&again))).transpose()?;
    let stages = stages::or_simulator(order.stages);
    let is_reported = folder.is_some() || order.format == Format::Json;
    let runs = scenario.spec().disciplines.len() * scenario.spec().seeds.as_slice().len();
    let at_once = threads(order.jobs, runs);
    let outputs = Outputs::prepare(order.output, scenario, stages.names().collect(), is_reported, at_once)?;
    let showing = order.watched.clone().map(Showing::begin);
    let how = stages::StageOptions {
        stages,
        jobs: order.jobs,
        part,
        quiet,
        outputs: &outputs,
        is_uncached: order.is_uncached,
        views: showing.as_ref().map(Showing::views),
    };
    let done = stages::carry_out(scenario, &how);
    // The picture fills the terminal, so it is closed before anything else is printed.
    let Done { mut report, trouble, left_out } = showing.map_or(Ok(()), Showing::end).and(done)?;
    let _writing = interrupt::writing();
    report.manifest.command = typed::command();
    if order.format != Format::Table && !quiet {
        // Only the table, which is not printed here, contains the notes.
        report.manifest.notes.iter().for_each(|note| notice(format_args!("note: {note}")));
    }
    if order.member.is_none() {
        let lacking = left_out.iter().filter(|left| left.why.is_machines);
        lacking.for_each(|left| notice(format_args!("SKIPPED: {}", left.in_words(scenario))));
    }
    let closed = outputs.close(&mut report);
    let destination = Destination {
        format: order.format,
        folder: folder.as_ref().filter(|_| !is_without_results(&report)),
        again: Some(&again),
        member: order.member,
    };
    let headline = order.headline.clone().unwrap_or_else(|| headline(scenario, &report));
    let taken = destination.take(&report, &headline, || judgement(scenario, &report, left_out));
    if order.member.is_none() {
        // The process usually ends now; freeing a million records first would take time.
        std::mem::forget(report);
    }
    closed.and(taken).map(|judged| (judged, trouble))
}

fn headline(scenario: &Scenario, report: &Report) -> Headline {
    let Headline { title, mut detail } = announced(scenario, &report.manifest.stages);
    if report.manifest.interrupted {
        let runs = scenario.spec().disciplines.len() * scenario.spec().seeds.as_slice().len();
        detail += &format!(
            "; interrupted after {} of {}",
            report.runs.len(),
            counted(runs * report.manifest.stages.len().max(1), "run")
        );
    }
    Headline { title, detail }
}

/// The headline before any run; it cannot mention an interruption.
fn announced(scenario: &Scenario, stages: &[String]) -> Headline {
    let spec = scenario.spec();
    let run = if stages.is_empty() { "simulated".into() } else { format!("on {}", stages.join(" and ")) };
    Headline {
        title: if spec.title.is_empty() { spec.name.clone() } else { spec.title.clone() },
        detail: format!(
            "{run}: {}; {} of {}{}",
            place(scenario),
            counted(spec.seeds.as_slice().len(), "seed"),
            spec.duration,
            not_measured(spec.warm_up.0)
        ),
    }
}

pub(crate) fn not_measured(warm_up: Duration) -> String {
    if warm_up == Duration::ZERO { String::new() } else { format!(", the first {warm_up} not measured") }
}

fn place(scenario: &Scenario) -> String {
    match &scenario.spec().link {
        Some(Links::Shared(link)) => {
            format!("{}, one-way {}, buffer {}", rate(scenario, link), delay(scenario, link), link.buffer)
        }
        _ => {
            let spec = scenario.spec();
            let generated =
                spec.network.as_ref().and_then(|network| Some((network.name(), network.nodes()?)));
            let network = generated.map_or("network".into(), |(name, (hosts, switches))| {
                format!("{name} of {hosts} hosts and {switches} switches,")
            });
            let mut names = scenario.links();
            let first = names.next().unwrap_or_default();
            match names.count() {
                0 => format!("{network} with one queue, `{first}`"),
                more => {
                    let (of, whose) = match spec.network {
                        Some(_) => ("with", "the busiest link of each run".into()),
                        None => ("of", format!("`{first}`")),
                    };
                    format!(
                        "{network} {of} {} queues; sojourn and utilization are those of {whose}",
                        1 + more
                    )
                }
            }
        }
    }
}

/// The shared link's rate in words. For a trace or a pattern: the mean rate and, if given, the
/// `rate` that disciplines assume.
fn rate(scenario: &Scenario, link: &LinkSpec) -> String {
    let Some(QueueView { rate, trace_mean, .. }) = scenario.queues().next() else { return String::new() };
    let typed = || link.rate.map_or(String::new(), |_| format!(" (disciplines go by {rate})"));
    match (&link.trace, trace_mean) {
        (Some(trace), Some(mean)) => format!("trace {trace}, mean {}{}", mean.rounded(), typed()),
        (None, Some(mean)) => format!("pattern, mean {}{}", mean.rounded(), typed()),
        _ => format!("{rate} link"),
    }
}

fn delay(scenario: &Scenario, link: &LinkSpec) -> String {
    let delay = scenario.queues().next().map_or(Duration::ZERO, |queue| queue.delay);
    match &link.delays {
        Some(file) => format!("delays {file}, mean {:.1} ms", delay.secs() * 1e3),
        None => format!("delay {delay}"),
    }
}

fn judgement(scenario: &Scenario, report: &Report, left_out: Vec<LeftOut>) -> Judged {
    if report.manifest.interrupted {
        return Judged { left_out, ..Judged::ended(Ending::Interrupted) };
    }
    let agreements: Vec<Verdict> = report.agreement.iter().filter_map(|one| one.verdict).collect();
    let differing = agreements.iter().filter(|verdict| **verdict == Verdict::Fails).count();
    if differing > 0 {
        notice(format_args!(
            "{} by more than is allowed",
            counted_of(differing, "measure of a stage differs", "measures of stages differ")
        ));
    }
    for one in report.agreement.iter().filter(|one| one.is_needless()) {
        let Agreement { discipline, stage, measure, .. } = one;
        notice(format_args!(
            "{measure} of {discipline} agrees on {stage}, though `known` says that it differs"
        ));
    }
    let expectations = expected(scenario, &stages::of_first(report));
    let is_open = report_open(scenario, report, &left_out);
    let is_missed = is_open || differing > 0 || expectations.iter().any(|verdict| *verdict != Verdict::Holds);
    let ending = if is_missed { Ending::ExpectationFailed } else { Ending::Done };
    let is_uncompared = report.manifest.stages.len() > 1 && agreements.is_empty();
    Judged { ending, agreements, expectations, left_out, is_uncompared, is_open }
}

/// Reports the stages without a verdict, and the unjudged `[[agree]]` tables. A table is omitted if
/// only this machine prevents its judgement. Returns true if a table was reported, or if a reported
/// stage ran a discipline of the first stage.
fn report_open(scenario: &Scenario, report: &Report, left_out: &[LeftOut]) -> bool {
    let first = report.manifest.stages.first().map_or("", String::as_str);
    let open = unjudged(scenario, report, left_out);
    for Unjudged { stage, measures, because } in &open {
        let why = match because {
            Because::LeftOut(left) => left.in_words(scenario),
            Because::NotMeasured => {
                format!("no measure that it and {first} both have, or the fraction of a single group")
            }
        };
        notice(format_args!("`[[agree]]` not judged on {stage}, {}: {why}", measures.join(", ")));
    }
    let uncompared = uncompared(report);
    for Uncompared { stage, .. } in &uncompared {
        notice(format_args!("no verdict on {stage}: nothing was compared with {first}"));
    }
    !open.is_empty() || uncompared.iter().any(|one| one.is_run)
}

fn expected(scenario: &Scenario, report: &Report) -> Vec<Verdict> {
    report_unjudged(scenario, report);
    let judgements = judge(scenario.spec(), report);
    let failed: Vec<&Judgement> = judgements.iter().filter(|judgement| !judgement.is_met()).collect();
    for judgement in &failed {
        notice(format_args!("expectation failed: {judgement}"));
    }
    match (failed.len(), judgements.len()) {
        (0, 0) => {}
        (0, 1) => notice(format_args!("the expectation of the scenario holds")),
        (0, all) => notice(format_args!("all {all} expectations of the scenario hold")),
        (some, all) => notice(format_args!("{some} of {all} expectations of the scenario failed")),
    }
    judgements.iter().map(Judgement::verdict).collect()
}

fn report_unjudged(scenario: &Scenario, report: &Report) {
    let all = scenario.spec().expect.len();
    if let (true, Some(first)) = (all > 0 && report.summary.is_empty(), report.manifest.stages.first()) {
        return notice(format_args!("{} not judged: {first} ran nothing", counted(all, "expectation")));
    }
    let is_run = |name: &str| report.summary.iter().any(|summary| summary.discipline == name);
    let mut unjudged: BTreeMap<&str, usize> = BTreeMap::new();
    for expect in &scenario.spec().expect {
        if let Some(name) = expect.disciplines().map(|name| scenario.label(name)).find(|name| !is_run(name)) {
            *unjudged.entry(name).or_default() += 1;
        }
    }
    for (name, number) in unjudged {
        notice(format_args!("{} not judged: {name} was not run", counted(number, "expectation")));
    }
}

pub(super) fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

fn counted_of(number: usize, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}
