//! TOML documents as people write them: read with the place of each value, changed by `PATH=VALUE`, and refused with what
//! was given, what is allowed and the nearest right spelling.
//!
//! Scenarios, studies and the gateway's configuration are such documents. What their keys mean is not known here.
#![forbid(unsafe_code)]

mod document;
mod error;
mod file;
mod mistakes;
mod place;
mod reader;
mod set;
mod text;
mod words;

pub use document::{Change, Places, Read, changed, elements, read, read_document};
pub use error::{DocumentError, Problem, listed};
pub use file::{bounded, read_open, read_text};
pub use place::Place;
pub use text::quoted;
pub use words::{is_printable, shortened};
