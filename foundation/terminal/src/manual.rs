//! Manual pages and completions, generated from a command line.

use crate::failure::{Ending, Failure};
use crate::print::print;
use clap_complete::Shell;
use std::path::Path;

/// Writes the manual page of each command of `program` into the folder `out`.
///
/// # Errors
/// If the folder cannot be created or written.
pub fn pages(program: clap::Command, out: &Path) -> Result<Ending, Failure> {
    let fail = |error: std::io::Error| {
        Failure::user(
            format!("`--out` is `{}`, but that cannot be written: {error}", out.display()),
            "allowed: a folder that can be made or written",
        )
    };
    std::fs::create_dir_all(out).map_err(fail)?;
    clap_mangen::generate_to(program, out).map_err(fail)?;
    Ok(Ending::Done)
}

/// Prints the completions of `program` for `shell`.
///
/// # Errors
/// If the completions cannot be printed.
pub fn completions(mut program: clap::Command, shell: Shell) -> Result<Ending, Failure> {
    let (name, mut script) = (program.get_name().to_owned(), Vec::new());
    clap_complete::generate(shell, &mut program, name, &mut script);
    print(&script)?;
    Ok(Ending::Done)
}
