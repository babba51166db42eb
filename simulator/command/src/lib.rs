//! The `fairwire` command.
//!
//! Exit codes: 0 done; 1 our fault; 2 the user's (a bad file or argument); 3 an expectation stated
//! in a scenario failed; 130 interrupted (what was finished has been reported).
// These macros panic where the stream is gone: `notice` and `report::print` do not.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod args;
mod command;
mod failure;
mod figure;
mod html;
mod interrupt;
mod lost_terminal;
mod new_file;
mod notice;
mod output;
mod pages;
mod progress;
mod questions;
mod report;
mod reproduction;
mod scene;
mod screen;
mod terminal;
mod typed;

use args::{Cli, Command, LabCommand, TraceCommand};
use clap::{CommandFactory, Parser};
use clap_complete::CompleteEnv;
use failure::{Ending, Failure};
use fairwire_catalogue::NotRegistered;
use fairwire_experiment::linux;
use fairwire_scenario::parts;
use std::io::{self, Write as _};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: pages::HugePages = pages::HugePages;

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    linux::take_over(); // does not return where this process is one of User Mode Linux
    CompleteEnv::with_factory(Cli::command).var("FAIRWIRE_COMPLETE").complete(); // ends here if a shell completes
    failure::install_style();
    let ended = Cli::try_parse().map_or_else(|error| not_run(&error), dispatch);
    ExitCode::from(ended.unwrap_or_else(Failure::report).code())
}

/// The same with parts of your own: `registered` is what came of registering each. Where one was
/// not registered, or has the name of a part of another kind, nothing runs, and the exit code is 2.
pub fn main_with(registered: impl IntoIterator<Item = Result<(), NotRegistered>>) -> ExitCode {
    let registered = registered.into_iter().collect::<Result<(), _>>();
    let problem = registered.err().map(|error| error.to_string()).or_else(parts::taken_twice);
    command::cache::parts_from_outside();
    let Some(problem) = problem else { return main() };
    failure::install_style();
    ExitCode::from(Failure::user(problem, command::describe::LISTS).report().code())
}

/// Prints why nothing is run: help, or what is wrong with the arguments. Exits after help that
/// nothing requested.
fn not_run(error: &clap::Error) -> Result<Ending, Failure> {
    if let Some(failure) = args::failure(error) {
        return Err(failure);
    }
    if error.use_stderr() {
        error.exit();
    }
    report::checked(error.print().and_then(|()| io::stdout().flush())).map(|()| Ending::Done)
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
        Command::Trace { trace: TraceCommand::Rates(args) } => command::trace::rates(&args),
        Command::New(args) => command::new::new(&args),
        Command::Watch(args) => command::watch::watch(&args),
        Command::Play(args) => command::play::play(&args),
        Command::Demo => command::demo::demo(cli.quiet),
        Command::Schema { which } => command::schema::schema(which),
        Command::Completions { shell } => command::completions::completions(shell),
        Command::Gateway { gateway } => command::gateway::gateway(gateway),
        Command::GatewayGuard { charge } => Ok(command::gateway::guard(&charge)),
        Command::Man { out } => command::man::man(&out),
        Command::LabAgent { args } => Ok(command::lab::agent(args)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_whose_name_is_taken_ends_the_program_before_anything_runs() {
        let taken = NotRegistered::Taken { kind: "discipline", name: "red", by: "red" };
        assert_eq!(format!("{:?}", main_with([Ok(()), Err(taken)])), format!("{:?}", ExitCode::from(2)));
    }
}
