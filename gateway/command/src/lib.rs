//! The program `fairwire-gateway`: a gateway for a real link, and its clients.
#![forbid(unsafe_code)]
// These macros panic if the stream is closed; `notice` and `print` do not.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod args;
mod check;
mod client;
mod follow;
mod import;
mod radius;
mod run;
mod setup;
mod status;
mod subscriber;
mod top;
mod usage;

use args::{Cli, Command, SchemaKind};
use clap::CommandFactory;
use fairwire_control::protocol::{RateStep, Request};
use fairwire_control::snapshot::Snapshot;
use fairwire_service::{config, service};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::print::print;
use fairwire_terminal::{manual, start};
use std::process::ExitCode;

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    start::main("FAIRWIRE_COMPLETE", |cli: Cli| dispatch(cli.command))
}

fn dispatch(command: Command) -> Result<Ending, Failure> {
    match command {
        Command::Check(args) => check::check(&args),
        Command::Setup(args) => setup::setup(&args),
        Command::Run { configs, wait, take_over, no_seccomp, no_real_time } => {
            run::run(&configs, run::How { wait, take_over, no_seccomp, no_real_time })
        }
        Command::Reload { whom } => client::reload(&whom),
        Command::SetWeight { whom, name, weight } => {
            client::carry_out(&whom, &Request::SetWeight { class: name, weight })
        }
        Command::SetRate { whom, way, rate, down } => {
            let step = |after_ms, bps| RateStep { after_ms, bps };
            let begin = down.map_or(0.0, |down| down.seconds() * 1e3);
            let none = (begin > 0.0).then(|| step(0.0, 0));
            let steps = none.into_iter().chain([step(begin, rate.bps())]).collect();
            client::carry_out(&whom, &Request::SetRate { way, steps })
        }
        Command::Usage(args) => usage::usage(&args),
        Command::Follow(args) => follow::follow(&args),
        Command::Import(command) => import::import(&command),
        Command::Subscriber(command) => subscriber::subscriber(&command),
        Command::Status { whom, format, flows: Some(flows), .. } => status::counts(&whom, format, flows),
        Command::Status { whom, format, classes, flows: None } => status::status(&whom, format, classes),
        Command::Top(args) => top::top(&args),
        Command::Capture { whom, out } => client::capture(&whom, &out),
        Command::Schema { which } => schema(which),
        Command::Completions { shell } => manual::completions(Cli::command(), shell),
        Command::Man { out } => manual::pages(Cli::command(), &out),
        Command::Guard { charge } => Ok(Ending::Agent(service::guard_main(&charge) as u8)),
    }
}

fn schema(which: SchemaKind) -> Result<Ending, Failure> {
    let schema = match which {
        SchemaKind::Configuration => config::schema(),
        SchemaKind::Snapshot => schemars::schema_for!(Snapshot).to_value(),
    };
    print(format!("{schema:#}\n").as_bytes())?;
    Ok(Ending::Done)
}
