//! Any sequence of operations on any discipline conserves packets.
#![no_main]

#[path = "../body.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::operations(bytes));
