//! `make bench-gateway`: compares the gateway's back ends with the kernel's routing.
//!
//! `proof/bench/README.md` describes the method.

mod contestant;
mod frame;
mod measure;
mod report;
mod stage;

use clap::Parser;
use contestant::{ALL, Contestant};
use measure::{QUESTIONS, measure};
use report::{Report, Row, load};
use stage::{Stage, run};
use std::path::Path;
use std::process::ExitCode;

/// Any failure, to be printed.
pub type Failure = Box<dyn std::error::Error>;

/// Compares the gateway's throughput, delay and CPU time with the kernel's routing. Must run as
/// root.
///
/// Exit codes: 0 done; 1 something broke; 2 a bad argument; 3 a broken promise, only with --check.
#[derive(Parser)]
#[command(name = "forwarding")]
struct Options {
    /// Rounds; each measures every contestant once
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Measure only contestants whose name contains this text; may be repeated
    #[arg(long)]
    only: Vec<String>,
    /// Measure only small, large, tcp, idle or cpu; may be repeated
    #[arg(long)]
    question: Vec<String>,
    /// Exit 3 when a promise is not kept
    #[arg(long)]
    check: bool,
    /// Write the results to proof/bench/results/gateway.json
    #[arg(long)]
    record: bool,
    /// Passed by `cargo bench` to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    if !options.bench {
        println!("not measured: run `cargo bench -p fairwire-service --bench forwarding`"); // for `cargo test --all-targets`
        return ExitCode::SUCCESS;
    }
    match compare(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(3),
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Returns false if `options.check` is set and a promise is broken.
fn compare(options: &Options) -> Result<bool, Failure> {
    if let Err(error) = run("ip -V") {
        return Err(format!(
            "the benchmark sets routes with iproute2 (Debian: apt install iproute2): {error}"
        )
        .into());
    }
    let load_before = load();
    let contestants = contestants(options);
    if rustix::process::setpriority_process(None, -10).is_err() {
        eprintln!("note: nice -10 was refused, so other programs disturb more");
    }
    let stage = Stage::new()?;
    std::thread::sleep(std::time::Duration::from_millis(1500)); // carriers take a second
    let mut rows: Vec<Row> = contestants.iter().map(|contestant| Row::new(contestant)).collect();
    for round in 1..=options.rounds {
        for (contestant, row) in contestants.iter().zip(&mut rows) {
            eprintln!("round {round} of {}: {}", options.rounds, contestant.name);
            for (name, question) in QUESTIONS {
                if is_wanted(&options.question, name) && question.suits(contestant) {
                    row.add(question, measure(&stage, contestant, question)?);
                }
            }
        }
    }
    let report = Report::new(options.rounds, load_before, rows);
    print!("{}", report.table());
    let promises = report.promises();
    for (what, is_kept) in &promises {
        println!("{} {what}", if *is_kept { "kept:    " } else { "NOT KEPT:" });
    }
    if options.record {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proof/bench/results/gateway.json");
        report.record(&path)?;
    }
    Ok(!options.check || promises.iter().all(|(_, is_kept)| *is_kept))
}

fn contestants(options: &Options) -> Vec<&'static Contestant> {
    let htb = run("tc -V");
    if let Err(error) = &htb {
        eprintln!(
            "note: without tc the kernel's HTB is not measured (Debian: apt install iproute2): {error}"
        );
    }
    let is_there = |contestant: &&Contestant| !contestant.is_htb() || htb.is_ok();
    ALL.iter().filter(|contestant| is_wanted(&options.only, contestant.name)).filter(is_there).collect()
}

fn is_wanted(only: &[String], name: &str) -> bool {
    only.is_empty() || only.iter().any(|part| name.contains(part.as_str()))
}
