//! Runs programs of the host's file system in the guest.

use std::error::Error;
use std::process::Command;

/// A result with many possible errors.
pub type Fallible<T> = std::result::Result<T, Box<dyn Error>>;

/// Runs a program of the host's file system with the arguments in `line`, and returns its output.
///
/// # Errors
/// The error output, if the program cannot be started or fails.
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
