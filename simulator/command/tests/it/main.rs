//! Integration tests of the command, in one binary, so the command is linked only once.

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
