//! Integration tests of the command. They are one binary, because several would all be linked with
//! the entire command.

mod common;
mod exercises;
mod files;
mod flent;
mod front;
mod messages;
mod outputs;
mod parquet;
mod play;
mod plot;
mod reproduce;
mod running;
mod shell;
mod slips;
mod stages;
mod trace;
mod transfers;
mod whole;
