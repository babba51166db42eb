//! Keeps a guest in a process namespace. All of the guest's processes end with the namespace, and
//! the namespace ends with the program that started it.
//!
//! User Mode Linux has one host process per guest process, and leaves these processes behind if its
//! kernel is killed. So our program starts itself twice more. The second process creates the
//! namespace. The third process, the first of the namespace, becomes the kernel. The host kills the
//! second and the third process when their parents end.

use fairwire_testbed::namespace::{die_with_parent, part_processes};
use fairwire_testbed::pid_namespace::THIS_PROGRAM;
use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus};

/// The environment variable that identifies the second and the third process.
const VARIABLE: &str = "FAIRWIRE_GUEST_KEEPER";
const OUTER: &str = "outer";
const INNER: &str = "inner";

/// The command that starts `program` with `clock` preloaded, in a namespace. The namespace ends
/// with `program` or with this thread.
pub(super) fn command(program: &Path, clock: &Path) -> Command {
    let mut command = Command::new(THIS_PROGRAM);
    command.env(VARIABLE, OUTER).arg(clock).arg(program);
    command
}

/// If this process is a keeper, acts as a keeper and does not return. Call this function before a
/// second thread is started.
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
        // The guest's kernel still ends with this process.
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

fn code(status: ExitStatus) -> i32 {
    status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}
