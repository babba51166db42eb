//! The command lines of fairwire's programs, towards people.
//!
//! A [`Failure`](failure::Failure) is reported in one shape, whether a file or an argument is wrong.
//! Its exit code is 2 where it is the user's to mend, and 1 where it is ours. [`start`] is
//! the same beginning for every program. [`screen`] is for programs that fill a terminal.
//!
//! Exit codes: 0 done; 1 our fault; 2 the user's (a bad file or argument); 3 an expectation stated
//! in a file failed; 130 interrupted (what was finished has been reported).
#![forbid(unsafe_code)]
// These macros panic where the stream is gone: `notice` and `print` do not.
#![deny(clippy::print_stderr, clippy::print_stdout)]

pub mod failure;
pub mod file;
pub mod interrupt;
mod lost_terminal;
pub mod manual;
pub mod new_file;
pub mod notice;
pub mod print;
pub mod questions;
mod refused;
pub mod screen;
pub mod start;
pub mod terminal;
pub mod values;
