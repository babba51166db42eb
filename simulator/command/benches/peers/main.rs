//! `make bench-peers`: compares fairwire with ns-2 and ns-3 on dumbbells of 10 to 10 000 flows, and
//! measures fairwire alone on up to a million. `proof/bench/README.md` explains the measurements.

mod answer;
mod case;
mod child;
mod plot;
mod report;

use answer::Dialect;
use case::{COMPARED, Case, Contestant, LADDER, SET_UP};
use child::{Failure, Took};
use clap::{Parser, Subcommand};
use report::{Report, Row};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Compares fairwire with ns-2 and ns-3: bottleneck packets per CPU second, including set-up, and
/// peak memory.
///
/// Exit codes: 0 done, 1 an error, 2 a bad argument, 3 a promise not kept (with --check).
#[derive(Parser)]
#[command(name = "peers")]
struct Options {
    /// Measure only this case: nine, nine-lean, thousand, ten-thousand, ladder or set-up;
    /// repeatable
    #[arg(long)]
    only: Vec<String>,
    /// The number of rounds. Each simulator runs once per round, except fairwire: the slower of its
    /// two runs counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Run this build of proof/bench/ns3/dumbbell.cc instead of one compiled against the system's
    /// ns-3
    #[arg(long, value_name = "PROGRAM")]
    ns3: Option<PathBuf>,
    /// Exit with code 3 if a promise is not kept
    #[arg(long)]
    check: bool,
    /// Write the measurements to proof/bench/results/peers.json and peers.svg
    #[arg(long)]
    record: bool,
    /// Passed by `cargo bench` to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Subcommand)]
enum Task {
    /// Run one program and print its cost
    #[command(name = child::MEASURE, hide = true)]
    Measure {
        dialect: Dialect,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<String>,
    },
}

fn main() -> ExitCode {
    let options = Options::parse();
    let outcome = match &options.task {
        Some(Task::Measure { dialect, command }) => {
            child::measure_and_print(command, *dialect).map(|()| ExitCode::SUCCESS)
        }
        None if options.bench => compare(&options),
        None => {
            println!("not measured: run `cargo bench -p fairwire --bench peers`"); // `cargo test --all-targets` comes here
            Ok(ExitCode::SUCCESS)
        }
    };
    outcome.unwrap_or_else(|failure| {
        eprintln!("error: {failure}");
        ExitCode::FAILURE
    })
}

impl Options {
    fn wants(&self, what: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == what)
    }

    fn check_names(&self) -> Result<(), Failure> {
        let known: Vec<&str> = COMPARED.into_iter().chain(["ladder", SET_UP]).collect();
        match self.only.iter().find(|only| !known.contains(&only.as_str())) {
            Some(unknown) => Err(format!("there is no `{unknown}`; allowed: {}", known.join(", ")).into()),
            None => Ok(()),
        }
    }
}

fn compare(options: &Options) -> Result<ExitCode, Failure> {
    options.check_names()?;
    let root = root();
    let mut report = Report::default();
    let peers = peers(options, &root);
    for name in COMPARED.into_iter().filter(|name| options.wants(name)) {
        let case = Case::read(name, &root)?;
        report.compared.insert(name, take_turns(&case, &peers, options.rounds, &root)?);
    }
    if options.wants("ladder") {
        report.ladder = climb(options.rounds, &root)?;
    }
    if options.wants(SET_UP) {
        report.set_up_s = set_up(options.rounds, &root)?;
    }
    report.print();
    if options.record {
        let results = root.join("proof/bench/results");
        std::fs::create_dir_all(&results)?;
        let has_ns3 = peers.iter().any(|peer| matches!(peer, Contestant::Ns3(_)));
        let version = has_ns3.then(|| ns3_version(options));
        let record = report.write(&results.join("peers.json"), version.as_deref())?;
        plot::draw(&record, &results.join("peers.svg"))?;
        println!("recorded in {}", results.display());
    }
    let broken = report.broken_promises();
    broken.iter().for_each(|promise| println!("NOT KEPT: {promise}"));
    Ok(if options.check && !broken.is_empty() { ExitCode::from(3) } else { ExitCode::SUCCESS })
}

fn peers(options: &Options, root: &Path) -> Vec<Contestant> {
    let mut peers = Vec::new();
    if !COMPARED.into_iter().any(|name| options.wants(name)) {
        return peers;
    }
    if case::has_ns2() {
        peers.push(Contestant::Ns2);
    } else {
        eprintln!("{}", report::NO_NS2);
    }
    match options.ns3.clone().or_else(|| case::compiled_ns3(root)) {
        Some(program) => peers.push(Contestant::Ns3(program)),
        None => eprintln!("{}", report::NO_NS3),
    }
    peers
}

/// Runs the simulators in turns, so a busy or throttled minute affects all of them.
fn take_turns(case: &Case, peers: &[Contestant], rounds: u32, root: &Path) -> Result<Vec<Row>, Failure> {
    let mut ours = Vec::new();
    let mut theirs: Vec<Vec<Took>> = vec![Vec::new(); peers.len()];
    for round in 1..=rounds {
        eprintln!("{}: round {round} of {rounds}", case.name);
        ours.push(slower_of_two(case, root)?);
        for (peer, runs) in peers.iter().zip(&mut theirs) {
            runs.extend(peer.run(case, root)?);
        }
    }
    let rows = peers.iter().zip(theirs).filter(|(_, runs)| !runs.is_empty());
    let rows: Vec<Row> = rows.map(|(peer, runs)| Row::new(peer, case, runs, Some(&ours))).collect();
    Ok(std::iter::once(Row::new(&Contestant::Fairwire, case, ours, None)).chain(rows).collect())
}

fn slower_of_two(case: &Case, root: &Path) -> Result<Took, Failure> {
    let run = || Contestant::Fairwire.run(case, root);
    let both = [run()?, run()?].into_iter().flatten();
    both.max_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s)).ok_or_else(|| "ours can run every case".into())
}

fn climb(rounds: u32, root: &Path) -> Result<Vec<Row>, Failure> {
    let rungs = LADDER.into_iter().map(|name| Case::read(name, root)).collect::<Result<Vec<_>, _>>()?;
    let mut runs: Vec<Vec<Took>> = vec![Vec::new(); rungs.len()];
    for round in 1..=rounds {
        for (case, runs) in rungs.iter().zip(&mut runs) {
            eprintln!("ladder: {} flows, round {round} of {rounds}", case.flows());
            runs.extend(Contestant::Fairwire.run(case, root)?);
        }
    }
    let rows = rungs.iter().zip(runs);
    Ok(rows.map(|(case, runs)| Row::new(&Contestant::Fairwire, case, runs, None)).collect())
}

fn set_up(rounds: u32, root: &Path) -> Result<Vec<f64>, Failure> {
    let case = Case::read(SET_UP, root)?;
    let one = |_| Ok(slower_of_two(&case, root)?.cpu_s);
    (0..rounds).map(one).collect()
}

fn ns3_version(options: &Options) -> String {
    if let Some(program) = &options.ns3 {
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return format!("a build of the caller's: {name}");
    }
    let found = Command::new("pkg-config").args(["--modversion", "ns3-core"]).output();
    let version = found.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    format!("{}, the distribution's package", version.trim())
}

fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates.and_then(Path::parent).expect("the crate is in <root>/simulator/command").to_path_buf()
}
