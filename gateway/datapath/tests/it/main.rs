//! Integration tests in one binary, since each binary links all crates again.

mod classify;
mod datapath;
mod every_kind;
mod faults;
mod interfaces;
mod reload;
