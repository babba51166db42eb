//! Parses TOML documents with the location of each value, and changes them by `PATH=VALUE`. This
//! crate does not know the meaning of their keys.
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
