//! Development tasks of fairwire, which are not shipped.
//!
//! `cargo xtask house` checks the source tree against the rules of `STYLE.md` and
//! `ARCHITECTURE.md`. The same check runs in `cargo test` (see `tests/house.rs`). `cargo xtask book
//! FOLDER` prepares the documents for `make docs`.
#![forbid(unsafe_code)]

pub mod book;
pub mod house;
