//! Any bytes have a flow and a class, as another parser confirms.
#![no_main]

#[path = "../classify.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::classify(bytes));
