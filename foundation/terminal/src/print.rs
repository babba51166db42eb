//! Printing on stdout.

use crate::failure::Failure;
use std::io::{self, Write};

/// Prints `bytes` on stdout. A closed pipe is not a failure.
///
/// # Errors
/// If the bytes cannot be written.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    checked(out.write_all(bytes).and_then(|()| out.flush()))
}

/// Converts a printing error into a failure.
///
/// # Errors
/// If printing failed for a reason other than a closed pipe.
pub fn checked(printed: io::Result<()>) -> Result<(), Failure> {
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Ours(format!("the results could not be printed: {error}")))
        }
        _ => Ok(()),
    }
}
