//! Development tasks of fairwire, which are not shipped. `cargo test` also runs the checks of
//! `cargo xtask house`.
#![forbid(unsafe_code)]

pub mod book;
pub mod house;
