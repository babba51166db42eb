//! Integration tests of the datapath. One binary, since each would link all crates again.

mod classify;
mod datapath;
mod every_kind;
mod faults;
mod interfaces;
mod reload;
