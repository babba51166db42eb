//! What keeps a guest: a process namespace, so that all of its processes end with it, and it with
//! the program that started it.
//!
//! User Mode Linux has a process of the host for each of its own, which a killed kernel leaves
//! behind. Our program starts itself again, and that makes the namespace and starts it once more;
//! the last one, which is the first process of the namespace, becomes the kernel. The host kills
//! each of the two when its parent is gone, and the others with the first of the namespace.

use fairwire_testbed::namespace::{die_with_parent, part_processes};
use fairwire_testbed::pid_namespace::THIS_PROGRAM;
use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus};

/// The variable of the environment that says which of the two a process is.
const VARIABLE: &str = "FAIRWIRE_GUEST_KEEPER";
const OUTER: &str = "outer";
const INNER: &str = "inner";

/// The command that starts `program` with `clock` in front of its C library, in a namespace that is
/// gone when it ends or this thread does.
pub(super) fn command(program: &Path, clock: &Path) -> Command {
    let mut command = Command::new(THIS_PROGRAM);
    command.env(VARIABLE, OUTER).arg(clock).arg(program);
    command
}

/// Does what a keeper does, where this process is one: then it does not return. To be called before
/// there is a second thread.
pub(super) fn take_over() {
    let Some(which) = std::env::var_os(VARIABLE) else { return };
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let code = if which == OUTER { keep(&arguments) } else { become_the_kernel(&arguments) };
    std::process::exit(code.unwrap_or_else(|why| {
        eprintln!("{why}");
        1
    }));
}

fn keep(arguments: &[OsString]) -> Result<i32, String> {
    die_with_parent().map_err(|trouble| trouble.to_string())?;
    if let Err(trouble) = part_processes() {
        // The kernel itself still ends with us.
        eprintln!("processes of a guest that is killed may be left behind: {trouble}");
    }
    let status = Command::new(THIS_PROGRAM).env(VARIABLE, INNER).args(arguments).status();
    status.map(code).map_err(|error| format!("starting this program again: {error}"))
}

fn become_the_kernel(arguments: &[OsString]) -> Result<i32, String> {
    die_with_parent().map_err(|trouble| trouble.to_string())?;
    let [clock, program, arguments @ ..] = arguments else { return Err("no kernel is named".into()) };
    let error = Command::new(program).args(arguments).env_remove(VARIABLE).env("LD_PRELOAD", clock).exec();
    Err(format!("starting {}: {error}", Path::new(program).display()))
}

/// As shells report it, of a process that was killed too.
fn code(status: ExitStatus) -> i32 {
    status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}
