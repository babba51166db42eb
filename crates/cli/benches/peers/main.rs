//! `make bench`: fairwire against ns-2 on the selfish flow, in bottleneck packets per CPU second and peak memory.
//!
//! `cargo bench -p fairwire --bench peers -- --help` tells the options; `bench/README.md` tells what is measured and why.

mod child;
mod contest;
mod report;

use clap::{Parser, Subcommand};
use contest::{Contest, Contestant, Failure};
use report::Report;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// fairwire against ns-2 on the selfish flow: bottleneck packets per CPU second, and peak memory.
///
/// Exit codes: 0 done, 1 something broke, 2 a bad argument, 3 with --check: a promise not kept.
#[derive(Parser)]
#[command(name = "peers")]
struct Options {
    /// Runs of each simulator, taken in turns
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Simulated seconds of a run, the first 20 of them not measured
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(21..))]
    seconds: u32,
    /// Exit 3 when ours makes less than 3 times the packets of ns-2, takes more than 50 MB, or gives TCP another share
    #[arg(long)]
    check: bool,
    /// Write what was measured to bench/results/peers.json
    #[arg(long)]
    record: bool,
    /// What `cargo bench` says to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Subcommand)]
enum Task {
    /// Run one program and print what it took
    #[command(name = child::MEASURE, hide = true)]
    Measure {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<String>,
    },
}

fn main() -> ExitCode {
    let options = Options::parse();
    let outcome = match &options.task {
        Some(Task::Measure { command }) => child::measure_and_print(command).map(|()| ExitCode::SUCCESS),
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

fn compare(options: &Options) -> Result<ExitCode, Failure> {
    let root = root();
    let contest = Contest { root: &root, seconds: options.seconds };
    let report = Report::new(contest.seconds, take_turns(&contest, options.rounds)?);
    print!("{report}");
    if options.record {
        let path = root.join("bench/results/peers.json");
        report.write(&path)?;
        println!("recorded in {}", path.display());
    }
    let broken = report.broken_promises();
    broken.iter().for_each(|promise| println!("NOT KEPT: {promise}"));
    Ok(if options.check && !broken.is_empty() { ExitCode::from(3) } else { ExitCode::SUCCESS })
}

/// Runs the two simulators in turns, so that a busy or a throttled minute meets both.
fn take_turns(contest: &Contest, rounds: u32) -> Result<report::Runs, Failure> {
    let mut runs = report::Runs { fairwire: Vec::new(), ns2: contest.has_ns2().then(Vec::new) };
    if runs.ns2.is_none() {
        eprintln!("{}", report::NO_NS2);
    }
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}");
        runs.fairwire.push(contest.run(Contestant::Fairwire)?);
        if let Some(ns2) = &mut runs.ns2 {
            ns2.push(contest.run(Contestant::Ns2)?);
        }
    }
    Ok(runs)
}

/// The checkout that this benchmark was built in.
fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates.and_then(Path::parent).expect("the crate stands in <root>/crates/cli").to_path_buf()
}
