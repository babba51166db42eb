//! `fairwire lab`.

use crate::args::{Format, ShareArgs};
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::progress::{Part, Progress};
use crate::report::{Destination, Folder, Headline};
use crate::tell::tell;
use crate::typed;
use fairwire_catalogue::{self as catalogue, Parameters};
use fairwire_core::Duration;
use fairwire_gateway::lab::{self, Contest, LabError};
use fairwire_metrics::record::{Manifest, Mode, Report, RunRecord, SCHEMA_VERSION};
use fairwire_metrics::summary::summarize;
use fairwire_testbed::error::TestbedError;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Holds the live contest and prints what came out.
pub(crate) fn share(args: &ShareArgs, quiet: bool) -> Result<Ending, Failure> {
    let contests = contests(args)?;
    let order = Order { format: args.format, out: args.out.as_deref() };
    carry_out(&contests, &order, Part::whole(), quiet)?.map_err(failure)
}

/// Where the results of contests go.
#[derive(Debug)]
pub(crate) struct Order<'a> {
    /// How they are printed.
    pub format: Format,
    /// A folder for them, too.
    pub out: Option<&'a Path>,
}

/// Holds `contests`, writes and prints what came out.
///
/// The outer failure is ours to tell; the inner one says why a contest could not be held, for the caller to judge.
pub(crate) fn carry_out(
    contests: &[Contest],
    order: &Order<'_>,
    part: Part,
    quiet: bool,
) -> Result<Result<Ending, LabError>, Failure> {
    let folder = order.out.map(|path| Folder::prepare(path, None)).transpose()?;
    let report = match hold(contests, part, quiet) {
        Ok(report) => report,
        Err(error) => return Ok(Err(error)),
    };
    let ending = if report.manifest.interrupted { Ending::Interrupted } else { Ending::Done };
    let destination = Destination { format: order.format, folder: folder.as_ref(), again: None };
    destination.take(&report, &headline(&contests[0]), || ending).map(Ok)
}

/// One process of a live contest.
pub(crate) fn agent(args: Vec<String>) -> Ending {
    Ending::Agent(u8::try_from(fairwire_testbed::agent::main(args)).unwrap_or(1))
}

/// One contest per discipline and repetition.
pub(crate) fn contests(args: &ShareArgs) -> Result<Vec<Contest>, Failure> {
    let asked: Vec<&str> = match args.discipline.as_slice() {
        [] => vec!["tail-drop", "faba"],
        asked => asked.iter().map(String::as_str).collect(),
    };
    let mut contests: Vec<Contest> = Vec::new();
    for name in asked {
        let entry = catalogue::find(name)
            .map_err(|error| Failure::user(format!("--discipline `{}` is unknown", error.given), error))?;
        if contests.iter().any(|contest| contest.discipline == entry.name) {
            let message = format!("--discipline `{name}` stands twice, as `{}`", entry.name);
            return Err(Failure::user(message, "allowed: each discipline once; for repetitions use --runs"));
        }
        for repetition in 1..=u64::from(args.runs) {
            contests.push(contest(args, entry.name, repetition)?);
        }
    }
    Ok(contests)
}

fn contest(args: &ShareArgs, discipline: &str, seed: u64) -> Result<Contest, Failure> {
    let warm_up = args.warm_up.unwrap_or(args.seconds / 5.0);
    let contest = Contest {
        discipline: discipline.into(),
        parameters: Parameters::default(),
        rate: args.rate,
        rtt: args.rtt,
        buffer: args.buffer,
        tcp_flows: args.tcp,
        udp_rate: args.udp,
        duration: Duration::from_secs_f64(args.seconds),
        warm_up: Duration::from_secs_f64(warm_up),
        seed,
        congestion_control: args.congestion.clone(),
        packet_bytes: args.packet,
    };
    contest.check().map_err(failure)?;
    Ok(contest)
}

/// Holds the contests one after the other; an interrupted one is left out.
fn hold(contests: &[Contest], part: Part, quiet: bool) -> Result<Report, LabError> {
    let stop = interrupt::flag();
    let repetitions = contests.iter().map(|contest| contest.seed).max().unwrap_or(0);
    let mut runs = Vec::new();
    let all = contests.len();
    let what = format!("live: {all} run{}", if all == 1 { "" } else { "s" });
    let progress = Progress::new(&what, all as u64, part, quiet);
    for (at, contest) in contests.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        progress.say(&step(contest, repetitions));
        match lab::share(contest, &mut |fraction| progress.reach((at as f64 + fraction) / all as f64), stop) {
            Ok(run) => runs.push(run),
            Err(_) if stop.load(Ordering::Relaxed) => break,
            Err(error) => return Err(error),
        }
        progress.reach((at + 1) as f64 / all as f64);
    }
    drop(progress);
    let held = runs.len();
    if held < all {
        tell(format_args!("interrupted: {held} of {all} contests finished; the results are of those"));
    }
    Ok(as_report(contests, runs))
}

/// Which contest is held now: `live: faba, run 2 of 3, 10 s`.
fn step(contest: &Contest, repetitions: u64) -> String {
    format!(
        "live: {}, run {} of {repetitions}, {} s",
        contest.discipline,
        contest.seed,
        contest.duration.secs()
    )
}

fn as_report(contests: &[Contest], runs: Vec<RunRecord>) -> Report {
    let (mut disciplines, mut seeds) = (Vec::new(), Vec::new());
    for contest in contests {
        if !disciplines.contains(&contest.discipline) {
            disciplines.push(contest.discipline.clone());
        }
        if !seeds.contains(&contest.seed) {
            seeds.push(contest.seed);
        }
    }
    Report {
        schema_version: SCHEMA_VERSION,
        manifest: Manifest {
            fairwire_version: env!("CARGO_PKG_VERSION").into(),
            engine: String::new(),
            command: typed::command(),
            mode: Mode::Live,
            scenario: "lab share".into(),
            scenario_sha256: String::new(),
            scenario_toml: String::new(),
            set: Vec::new(),
            notes: Vec::new(),
            disciplines,
            seeds,
            tie_rule: String::new(),
            duration_s: contests.first().map_or(0.0, |contest| contest.duration.seconds()),
            warm_up_s: contests.first().map_or(0.0, |contest| contest.warm_up.seconds()),
            interrupted: runs.len() < contests.len(),
        },
        summary: summarize(&runs),
        runs,
        differences: Vec::new(),
        delays: Vec::new(),
    }
}

/// What stands above the table and the picture.
fn headline(contest: &Contest) -> Headline {
    let Contest { tcp_flows, udp_rate, rate, rtt, buffer, duration, warm_up, congestion_control, .. } =
        contest;
    Headline {
        title: format!("Live: {tcp_flows} kernel {congestion_control} flows against one {udp_rate} UDP flow"),
        detail: format!(
            "real packets: {rate} link, RTT {rtt}, buffer {buffer}; {duration} each{}",
            super::run::not_measured(*warm_up)
        ),
    }
}

/// Whose fault a failed contest is: an argument or missing rights are the user's to change.
pub(crate) fn failure(error: LabError) -> Failure {
    match error {
        LabError::BadContest { what, given, allowed } => {
            Failure::user(format!("{what} is {given}"), format!("allowed: {allowed}"))
        }
        LabError::NoCongestionControl { given, available } => Failure::user(
            format!("--congestion `{given}`: this kernel's TCP has no congestion control of that name"),
            format!("allowed here: {available}"),
        ),
        LabError::Testbed(TestbedError::NoRights { .. } | TestbedError::NoVeth { .. }) => Failure::user(
            error,
            "the simulated contest needs no rights: fairwire run scenarios/selfish-flow.toml",
        ),
        LabError::Discipline(error) => Failure::user(error, "see `fairwire list disciplines`"),
        other => Failure::Ours(other.to_string()),
    }
}
