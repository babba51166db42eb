//! The command-line interface of fairwire's programs.
//!
//! Exit codes: 0 done; 1 our fault; 2 the user's fault (a bad file or argument); 3 an expectation
//! in a file failed; 130 interrupted (finished work has been reported).
#![forbid(unsafe_code)]
// `println!` and `eprintln!` panic on a closed stream; `print` and `notice` do not.
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
