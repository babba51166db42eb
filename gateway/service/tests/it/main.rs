//! Integration tests of the service. They are one binary, since each binary links all crates again.

mod config;
mod hosts;
mod plans;
