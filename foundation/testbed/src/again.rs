//! This program, started again as a helper.

use super::message::{AGENT_COMMAND, Role};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

static HOW: OnceLock<(PathBuf, Vec<String>)> = OnceLock::new();

/// Sets the command that starts helpers: `program`, with the arguments `before` ahead of
/// [`AGENT_COMMAND`].
///
/// A process whose executable is not our program, such as a language's interpreter, must call this
/// before any helper starts. The started program must also call this, and then
/// [`agent::main`](crate::agent::main). A second call has no effect.
pub fn start_as(program: PathBuf, before: Vec<String>) {
    let _ = HOW.set((program, before));
}

pub(crate) fn command(role: Role) -> Command {
    // The default is this program, even if its file has been replaced.
    let (program, before) = HOW.get_or_init(|| ("/proc/self/exe".into(), Vec::new()));
    let mut command = Command::new(program);
    command.args(before).args([AGENT_COMMAND, role.name()]);
    command
}
