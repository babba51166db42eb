//! Integration tests of the service. They are one binary, so that all crates are linked only once.

mod config;
mod hosts;
mod plans;
