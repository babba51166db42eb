//! Any text for a discipline is refused with a message, or builds.
#![no_main]

#[path = "../body.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::spec(bytes));
