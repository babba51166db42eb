//! Programs that set up a network.

use crate::fallible::Fallible;
use std::process::Command;

/// Runs a program in the namespace of this thread.
pub fn command(line: &str) -> Fallible<()> {
    let mut words = line.split_whitespace();
    let program = words.next().ok_or("an empty command")?;
    let output = Command::new(program).args(words).output().map_err(|error| format!("{program}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{line}: {}", String::from_utf8_lossy(&output.stderr).trim()).into()),
    }
}
