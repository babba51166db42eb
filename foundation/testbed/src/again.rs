//! This program, started again as a helper.

use super::message::{AGENT_COMMAND, Role};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// How it is started.
static HOW: OnceLock<(PathBuf, Vec<String>)> = OnceLock::new();

/// Sets the helpers to start as `program`, with the arguments `before` ahead of [`AGENT_COMMAND`].
///
/// For a process whose file is not a program of ours, such as the interpreter of a language. The
/// started program must hand over to [`agent::main`](crate::agent::main), and call this function
/// first. Call it once, before a helper is started; a second call changes nothing.
pub fn start_as(program: PathBuf, before: Vec<String>) {
    let _ = HOW.set((program, before));
}

/// The helper of this role, whose further arguments can be added.
pub(crate) fn command(role: Role) -> Command {
    // By default this program, also after another was put in its place.
    let (program, before) = HOW.get_or_init(|| ("/proc/self/exe".into(), Vec::new()));
    let mut command = Command::new(program);
    command.args(before).args([AGENT_COMMAND, role.name()]);
    command
}
