//! The player in WebAssembly: four functions and a memory, without generated code around them.
//!
//! The caller writes a message's name, a zero byte and the message's input to [`input`], and calls
//! [`answer`]. The answer is at [`output`].
#![cfg(target_arch = "wasm32")]
#![allow(unsafe_code, reason = "names for the loader in the page; no pointer is read here")]

use fairwire_play::{PlayError, Players};
use std::cell::RefCell;

#[derive(Default)]
struct State {
    input: Vec<u8>,
    output: Vec<u8>,
    players: Players,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// The address to which the caller writes a message of `length` bytes.
// SAFETY: no other item has this name.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.input.clear();
        state.input.resize(length, 0);
        state.input.as_mut_ptr()
    })
}

/// Answers the message at [`input`]. Returns 0, or 1 if the answer is an error.
// SAFETY: no other item has this name.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> u32 {
    STATE.with_borrow_mut(|State { input, output, players }| {
        let mut parts = input.splitn(2, |byte| *byte == 0);
        let call = parts.next().unwrap_or_default();
        let call = std::str::from_utf8(call).unwrap_or_default();
        let answered = fairwire_play::answer(players, call, parts.next().unwrap_or_default());
        let is_error = answered.is_err();
        *output = answered.unwrap_or_else(|PlayError(why)| why.into_bytes());
        is_error.into()
    })
}

/// The address of the last answer.
// SAFETY: no other item has this name.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    STATE.with_borrow(|state| state.output.as_ptr())
}

/// The number of bytes of the last answer.
// SAFETY: no other item has this name.
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    STATE.with_borrow(|state| state.output.len())
}
