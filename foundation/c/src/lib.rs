//! Every law of fairwire for programs in C: `libfairwire` and `fairwire.h`.
//!
//! The functions in [`border`] check their arguments and return a [`code`]; a panic never leaves
//! them. See `docs/how-to/embed-in-c.md`. Rust programs use `fairwire-laws`, except for a
//! discipline written in C ([`own`]).
#![allow(non_camel_case_types, reason = "the names of types are those in C")]

pub mod border;
pub mod code;
#[cfg(feature = "composed")]
mod composed;
mod cookies;
mod events;
pub mod hash;
pub mod own;
pub mod queue;
pub mod types;
