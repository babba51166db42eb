//! Checks that any bytes get a flow and a class, and that our parser agrees with etherparse.
#![no_main]

#[path = "../classify.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::classify(bytes));
