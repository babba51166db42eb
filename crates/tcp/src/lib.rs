//! A sans-I/O TCP at segment granularity.
#![forbid(unsafe_code)]

mod config;
pub use config::{Config, Profile};
