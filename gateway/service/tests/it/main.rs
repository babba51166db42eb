//! Integration tests of the service, in one binary, since each binary would be linked anew.

mod config;
mod hosts;
mod plans;
