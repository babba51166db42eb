//! `make bench-gateway`: the gateway's back ends against the kernel's own routing, on the same interfaces in the same minutes.

mod contestant;
mod frame;
mod measure;
mod stage;

use clap::Parser;
use contestant::{ALL, Contestant};
use measure::Question;
use stage::Stage;
use std::process::ExitCode;

pub type Failure = Box<dyn std::error::Error>;

/// Forwarding: frames and bits per second, delay and CPU time of the gateway beside the kernel's routing.
#[derive(Parser)]
#[command(name = "forwarding")]
struct Options {
    /// Rounds; in each every contestant is measured once
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only contestants whose name contains this; may be given again
    #[arg(long)]
    only: Vec<String>,
    /// Only small, large, tcp, idle or cpu; may be given again
    #[arg(long)]
    question: Vec<String>,
    /// Write what was measured to bench/results/gateway.json
    #[arg(long)]
    record: bool,
    /// What `cargo bench` says to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

const QUESTIONS: [(&str, Question); 5] = [
    ("small", Question::Small),
    ("large", Question::Large),
    ("tcp", Question::Tcp),
    ("idle", Question::Idle),
    ("cpu", Question::Cpu),
];

fn main() -> ExitCode {
    let options = Options::parse();
    if !options.bench {
        println!("not measured: run `cargo bench -p fairwire-gateway --bench forwarding`");
        return ExitCode::SUCCESS;
    }
    match compare(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn compare(options: &Options) -> Result<(), Failure> {
    let is_wanted = |only: &[String], name: &str| only.is_empty() || only.iter().any(|part| name.contains(part.as_str()));
    let contestants: Vec<&Contestant> = ALL.iter().filter(|c| is_wanted(&options.only, c.name)).collect();
    let _ = rustix::process::setpriority_process(None, -10);
    let stage = Stage::new()?;
    std::thread::sleep(std::time::Duration::from_millis(1500));
    for round in 0..options.rounds {
        for contestant in &contestants {
            print!("{round} {:30}", contestant.name);
            for (name, question) in QUESTIONS.iter().filter(|(name, _)| is_wanted(&options.question, name)) {
                let [a, b] = measure::ask(&stage, contestant, *question)?;
                match question {
                    Question::Small | Question::Large => print!(" {name} {:.0}k", a / 1e3),
                    Question::Tcp => print!(" tcp {:.2}G", a / 1e9),
                    Question::Idle => print!(" idle {:.1} {:.1} us", a / 1e3, b / 1e3),
                    Question::Cpu => print!(" cpu {a:.0} ns"),
                }
            }
            println!();
        }
    }
    Ok(())
}
