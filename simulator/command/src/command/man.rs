//! `fairwire man`: manual pages, made of the command line as it is.

use crate::args::Cli;
use crate::failure::{Ending, Failure};
use clap::CommandFactory;
use std::path::Path;

/// Writes the page of each command into the folder `out`.
pub(crate) fn man(out: &Path) -> Result<Ending, Failure> {
    let fail = |error: std::io::Error| {
        Failure::user(
            format!("`--out` is `{}`, but that cannot be written: {error}", out.display()),
            "allowed: a folder that can be made or written",
        )
    };
    std::fs::create_dir_all(out).map_err(fail)?;
    clap_mangen::generate_to(Cli::command(), out).map_err(fail)?;
    Ok(Ending::Done)
}
