//! The `fairwire` command.
//!
//! Exit codes: 0 done; 1 our fault; 2 a bad file or argument; 3 a scenario's expectation failed;
//! 130 interrupted (finished runs are reported).
// `print!`, `eprint!` and similar macros panic if the stream is closed. `notice` and
// `report::print` do not.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod args;
mod command;
mod figure;
mod gzip;
mod html;
mod output;
mod pages;
mod progress;
mod report;
mod reproduction;
mod scene;
mod typed;

use args::{Cli, Command, LabCommand, TraceCommand};
use clap::CommandFactory;
use fairwire_catalogue::NotRegistered;
use fairwire_scenario::parts;
use fairwire_terminal::failure::{Ending, Failure, install_style};
use fairwire_terminal::{manual, start};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: pages::HugePages = pages::HugePages;

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    start::main("FAIRWIRE_COMPLETE", dispatch)
}

/// Runs the command with additional components: `registered` has the outcome of registering each.
/// If a component was refused, or has the name of a component of another type, nothing runs and the
/// exit code is 2.
pub fn main_with(registered: impl IntoIterator<Item = Result<(), NotRegistered>>) -> ExitCode {
    let registered = registered.into_iter().collect::<Result<(), _>>();
    let problem = registered.err().map(|error| error.to_string()).or_else(parts::taken_twice);
    command::cache::parts_from_outside();
    let Some(problem) = problem else { return main() };
    install_style();
    start::exit_code(Err(Failure::user(problem, command::describe::LISTS)))
}

fn dispatch(cli: Cli) -> Result<Ending, Failure> {
    match cli.command {
        Command::Run(args) => command::run::run(&args, cli.quiet),
        Command::Reproduce(args) => command::reproduce::reproduce(&args, cli.quiet),
        Command::Calibrate(args) => command::calibrate::calibrate(&args, cli.quiet),
        Command::Plot(args) => command::plot::plot(&args),
        Command::Sweep(args) => command::sweep::sweep(&args, cli.quiet),
        Command::Cache { cache } => command::cache::cache(cache.as_ref()),
        Command::Describe(args) => command::describe::describe(&args),
        Command::List { list } => command::list::list(&list),
        Command::Lab { lab: LabCommand::Share(args) } => command::lab::share(&args, cli.quiet),
        Command::Lab { lab: LabCommand::Shell(args) } => command::shell::shell(&args, cli.quiet),
        Command::Trace { trace: TraceCommand::Rates(args) } => command::trace::rates(&args, cli.quiet),
        Command::New(args) => command::new::new(&args),
        Command::Watch(args) => command::watch::watch(&args),
        Command::Play(args) => command::play::play(&args),
        Command::Demo => command::demo::demo(cli.quiet),
        Command::Schema { which } => command::schema::schema(which),
        Command::Completions { shell } => manual::completions(Cli::command(), shell),
        Command::Gateway { args } => command::gateway::gateway(&args),
        // The program fairwire-gateway writes its own manual pages.
        Command::Man { out } => {
            manual::pages(Cli::command().mut_subcommand("gateway", |own| own.hide(true)), &out)
        }
        Command::LabAgent { args } => Ok(command::lab::agent(args)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_with_a_used_name_ends_the_program_before_any_run() {
        let taken = NotRegistered::Taken { kind: "discipline", name: "red", by: "red" };
        assert_eq!(format!("{:?}", main_with([Ok(()), Err(taken)])), format!("{:?}", ExitCode::from(2)));
    }
}
