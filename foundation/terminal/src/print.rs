//! Printing on stdout.

use crate::failure::Failure;
use std::io::{self, Write};

/// Prints `bytes` on stdout. A reader that has closed its end is not a failure.
///
/// # Errors
/// If the bytes cannot be written.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    checked(out.write_all(bytes).and_then(|()| out.flush()))
}

/// The outcome of printing, for the user.
///
/// # Errors
/// If printing failed for another reason than a missing reader.
pub fn checked(printed: io::Result<()>) -> Result<(), Failure> {
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Ours(format!("the results could not be printed: {error}")))
        }
        _ => Ok(()),
    }
}
