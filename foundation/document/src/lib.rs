//! TOML documents: parsed with the location of each value, changed by `PATH=VALUE`, and rejected
//! with helpful errors.
//!
//! An error states the given value, the allowed ones, the location, and the nearest correct
//! spelling. Scenarios, studies and the gateway's configuration are such documents. This crate does
//! not know the meaning of their keys.
#![forbid(unsafe_code)]

mod document;
mod error;
mod file;
mod location;
mod mistakes;
mod reader;
mod set;
mod text;
mod words;

pub use document::{Change, Locations, Read, changed, elements, read, read_changes, read_document};
pub use error::{DocumentError, MAX_OWNERS, Problem, listed};
pub use file::{bounded, read_open, read_text};
pub use location::Location;
pub use text::quoted;
pub use words::{is_printable, shortened};
