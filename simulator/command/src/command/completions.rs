//! `fairwire completions`.

use crate::args::Cli;
use crate::failure::{Ending, Failure};
use crate::report;
use clap::CommandFactory;
use clap_complete::Shell;

/// Prints the completions for `shell`.
pub(crate) fn completions(shell: Shell) -> Result<Ending, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "fairwire", &mut script);
    report::print(&script)?;
    Ok(Ending::Done)
}
