//! Programs that configure a network.

use super::error::{During, Trouble};
use std::io;
use std::process::Command;

/// Runs a program in the network namespace of this thread, and returns its output.
pub fn command(line: &str) -> Result<String, Trouble> {
    let mut words = line.split_whitespace();
    let output = Command::new(words.next().unwrap_or_default()).args(words).output().during(line)?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(Trouble::new(line, &io::Error::other(String::from_utf8_lossy(&output.stderr).trim()))),
    }
}
