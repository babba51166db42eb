//! The entry and the exit of a program.

use crate::failure::{Ending, Failure, install_style};
use crate::print::checked;
use crate::refused;
use clap::Parser;
use clap_complete::CompleteEnv;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// Parses this process's arguments as `A`, calls `dispatch`, and reports a failure. If the shell
/// requests completions through the environment variable `complete`, only prints completions.
pub fn main<A: Parser>(
    complete: &'static str,
    dispatch: impl FnOnce(A) -> Result<Ending, Failure>,
) -> ExitCode {
    CompleteEnv::with_factory(A::command).var(complete).complete();
    install_style();
    let ended = A::try_parse().map_or_else(|error| not_run::<A>(&error), dispatch);
    exit_code(ended)
}

/// Reports a failure, and returns the exit code.
pub fn exit_code(ended: Result<Ending, Failure>) -> ExitCode {
    ExitCode::from(ended.unwrap_or_else(Failure::report).code())
}

/// The outcome if no command runs. Exits the process after unrequested help.
fn not_run<A: Parser>(error: &clap::Error) -> Result<Ending, Failure> {
    if let Some(failure) = refused::failure(error, A::command()) {
        return Err(failure);
    }
    if error.use_stderr() {
        error.exit();
    }
    checked(error.print().and_then(|()| io::stdout().flush())).map(|()| Ending::Done)
}
