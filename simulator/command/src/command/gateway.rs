//! `fairwire gateway`: starts the program fairwire-gateway if it is installed.

use fairwire_linux::program::find;
use fairwire_terminal::failure::{Ending, Failure};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

const PROGRAM: &str = "fairwire-gateway";

/// Replaces this process by the gateway's program with `args`. Returns only on failure.
pub(crate) fn gateway(args: &[OsString]) -> Result<Ending, Failure> {
    let Some(file) = find(PROGRAM) else {
        return Err(Failure::user(
            format!("`gateway` needs the program `{PROGRAM}`, which is missing beside this one and in PATH"),
            format!(
                "in a checkout `make build-gateway` builds it; `make deb` makes a package of `{PROGRAM}`"
            ),
        ));
    };
    let error = Command::new(&file).args(args).exec();
    Err(Failure::Ours(format!("`{}` cannot be started: {error}", file.display())))
}
