//! Development tasks of fairwire. Nothing here is shipped.
//!
//! `cargo xtask house` holds the source tree against the rules that `STYLE.md` and
//! `ARCHITECTURE.md` state. The same check runs in `cargo test` (see `tests/house.rs`).
//! `cargo xtask book FOLDER` stages the documents for `make docs`.
#![forbid(unsafe_code)]

pub mod book;
pub mod house;
