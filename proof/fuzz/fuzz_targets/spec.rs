//! Any text for a discipline either builds or is refused with a message.
#![no_main]

#[path = "../body.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::spec(bytes));
