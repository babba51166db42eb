//! Integration tests of the datapath: one binary, since each would be linked with everything again.

mod classify;
mod datapath;
mod every_kind;
mod faults;
mod interfaces;
mod reload;
