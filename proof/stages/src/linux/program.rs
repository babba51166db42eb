//! Programs of the host's file system, as the guest runs them.

use std::error::Error;
use std::process::Command;

/// What can fail for many reasons.
pub type Fallible<T> = std::result::Result<T, Box<dyn Error>>;

/// Runs a program of the host's file system with the words of `line`, and returns what it printed.
///
/// # Errors
/// When it cannot be started or fails: what it said.
pub fn command(program: &str, line: &str) -> Fallible<String> {
    let output = Command::new(program)
        .args(line.split_whitespace())
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .output()
        .map_err(|error| format!("{program} {line}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{program} {line}: {}", String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
