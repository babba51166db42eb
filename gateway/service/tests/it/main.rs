//! Integration tests of the gateway: one binary, since each would be linked with everything again.

mod classify;
mod config;
mod datapath;
mod every_kind;
mod faults;
mod hosts;
mod interfaces;
mod page;
mod plans;
mod reload;
mod telemetry;
