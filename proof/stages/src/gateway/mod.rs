//! This machine's TCP and UDP, in network namespaces, through a gateway process.
//!
//! The hosts and the path between them are [processes](fairwire_testbed::processes), as in the lab,
//! but `fairwire-gateway run CONFIG` forwards. A program that uses this stage must pass its
//! `lab-agent` command to [`agent::main`](fairwire_testbed::agent::main).

mod config;
mod counts;
mod meter;
mod samples;

use config::INTERVAL;
use fairwire_control::protocol::{MAX_STEPS, RateStep};
use fairwire_core::{Duration, Rate, RateLaw, Step, Time};
use fairwire_experiment::contest::{self, ContestError, ContestPlan, Coordinator, Held, Next};
use fairwire_experiment::dumbbell::{Dumbbell, check_device, steps};
use fairwire_experiment::{About, CannotRun, Clock, Failed, Plan, Stage, Watch};
use fairwire_linux::clock;
use fairwire_linux::program::find;
use fairwire_metrics::record::RunRecord;
use fairwire_testbed::error::TestbedError;
use fairwire_testbed::message::{AtGateway, Program};
use fairwire_testbed::scratch::Scratch;
use meter::Counters;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::{fs, io};

/// A gateway process on this machine, between real sockets.
#[derive(Clone, Copy, Debug)]
pub struct Gateway;

const PROGRAM: &str = "fairwire-gateway";
const CONFIG: &str = "gateway.toml";
const LOG: &str = "log";
const SOCKET: &str = "gateway.sock";
/// The time for which flows continue after measuring ends, because their counters are copied only
/// twice a second.
const TAIL: Duration = Duration::from_ms(750);

impl Stage for Gateway {
    fn about(&self) -> About {
        About {
            name: "gateway",
            summary: "the same through the gateway's own process and configuration, written from the scenario",
            clock: Clock::Machine,
        }
    }

    fn can_run(&self, plan: &Plan<'_>) -> Result<(), Failed> {
        // The result does not depend on the seed.
        check_device(plan, "gateway")?;
        let dumbbell = Dumbbell::of(plan, 0)?;
        rate_steps(&dumbbell.law, plan.duration())?;
        program()?;
        contest::check(&dumbbell)?;
        Ok(config::check(plan, &ContestPlan::of(plan, 0, &dumbbell))?)
    }

    fn run(
        &self,
        plan: &Plan<'_>,
        seed: u64,
        watch: &mut dyn Watch,
        stop: &AtomicBool,
    ) -> Result<Option<RunRecord>, Failed> {
        let contest = ContestPlan::watched(plan, seed, &Dumbbell::of(plan, seed)?, watch)?;
        let contest = ContestPlan { tail: TAIL, ..contest };
        let steps = rate_steps(&contest.law, plan.duration())?;
        check_interval(contest.every)?;
        let folder = folder(plan, &contest)
            .map_err(|error| Failed::Machine(format!("writing the gateway's configuration: {error}")))?;
        let held = hold(&contest, steps, folder.path(), watch, stop);
        contest.outcome(plan, held.map_err(|error| with_last_words(error, folder.path())), watch)
    }
}

fn program() -> Result<PathBuf, CannotRun> {
    find(PROGRAM).ok_or_else(|| {
        CannotRun::lacking(
            format!("the program `{PROGRAM}` is missing"),
            format!(
                "`{PROGRAM}` beside this program or in a folder of PATH: cargo build --release -p {PROGRAM}"
            ),
        )
    })
}

fn rate_steps(law: &RateLaw, duration: Duration) -> Result<Vec<RateStep>, CannotRun> {
    let steps = steps(law, duration)?;
    if steps.len() > MAX_STEPS {
        return Err(CannotRun::new(format!("{} rates", steps.len()), format!("at most {MAX_STEPS}")));
    }
    let step = |step: &Step| RateStep {
        after_ms: step.at.since(Time::ZERO).seconds() * 1e3,
        bps: step.rate.map_or(0, Rate::bps),
    };
    Ok(steps.iter().map(step).collect())
}

fn check_interval(every: Option<Duration>) -> Result<(), CannotRun> {
    match every.filter(|every| *every < INTERVAL) {
        Some(every) => {
            let allowed = format!("`--every` of at least {INTERVAL}, in which a gateway takes its totals");
            Err(CannotRun::new(format!("samples of a gateway every {every}"), allowed))
        }
        None => Ok(()),
    }
}

fn folder(plan: &Plan<'_>, contest: &ContestPlan) -> io::Result<Scratch> {
    let folder = Scratch::new("fairwire-gateway-")?;
    let text = config::text(plan, contest, &folder.path().join(SOCKET));
    fs::write(folder.path().join(CONFIG), text)?;
    fs::write(folder.path().join(LOG), "")?;
    Ok(folder)
}

fn hold(
    plan: &ContestPlan,
    steps: Vec<RateStep>,
    folder: &Path,
    watch: &mut dyn Watch,
    stop: &AtomicBool,
) -> Result<Held, ContestError> {
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let file = program().map_err(|why| ContestError::Gateway(why.to_string()))?;
    let gateway = Program {
        file,
        arguments: vec!["run".into(), path(CONFIG)],
        // This variable lets the gateway create its lock file and its socket in the scratch folder.
        environment: vec![("RUNTIME_DIRECTORY".into(), folder.to_string_lossy().into_owned())],
        log: folder.join(LOG),
    };
    let socket = folder.join(SOCKET);
    let mut coordinator = Coordinator::new(plan, AtGateway::Program(gateway), watch, stop)?;
    coordinator.wait_for_wire()?;
    coordinator.wait_for_gateway(&|| UnixStream::connect(&socket).is_ok())?;
    coordinator.connect()?;
    let mut counters = Counters::new(plan, steps, &socket);
    while let Next::At(time) = coordinator.follow(clock::now(), &mut counters) {
        clock::sleep_until(time);
    }
    let (counted, seen) = coordinator.outcome()?;
    Ok(Held { counted, seen, snapshots: counters.snapshots() })
}

const LAST_WORDS: usize = 3;

fn with_last_words(error: ContestError, folder: &Path) -> ContestError {
    let is_of_gateway = match &error {
        ContestError::Gateway(_) => true,
        ContestError::Testbed(TestbedError::Helper { role, .. }) => role == "gateway",
        _ => false,
    };
    let log = fs::read_to_string(folder.join(LOG)).unwrap_or_default();
    let lines: Vec<&str> = log.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LAST_WORDS)..].join(" / ");
    match is_of_gateway && !last.is_empty() {
        true => ContestError::Gateway(format!("{error}; it wrote last: {last}")),
        false => error,
    }
}
