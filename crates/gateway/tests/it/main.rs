//! Integration tests of the gateway: one binary, since each would be linked with everything again.

mod classify;
mod config;
mod datapath;
mod faults;
mod reload;
mod telemetry;
