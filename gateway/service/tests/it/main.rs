//! Integration tests of the service: one binary, since each would be linked with everything again.

mod config;
mod hosts;
mod plans;
