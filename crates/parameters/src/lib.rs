//! Parameters that are declared once: read, checked and described from one place.
//!
//! A struct of optional fields is the declaration. The first paragraph above a field says what it is; more paragraphs are
//! notes. `#[parameter(…)]` says the rest:
//!
//! - `default = value`, or `unset = "what holds where none is given"` where that hangs on other things; or `required`, where a table
//!   without it is refused;
//! - `above`, `min`, `max`: bounds;
//! - `unit`, for numbers: `"Hz"`, or `"1"` where there is none;
//! - `source`: paper, section, equation; RFC.
//!
//! A field with `#[parameter(flatten)]` is another such struct, whose parameters stand among the others; one that is nothing but that
//! is declared with `#[parameters(group)]`.
//!
//! The constant `NAME` says whose parameters they are, or `#[parameters(name = "…")]`.
//!
//! A value is a number, a text with a unit (a [`Quantity`]), a word (an enum), or a table.
//!
//! ```
//! use fairwire_core::Duration;
//! use fairwire_parameters::{Declared as _, Quantity, parameters};
//!
//! const NAME: &str = "controller";
//!
//! #[parameters(checked = Checked)]
//! #[derive(Debug, Default)]
//! struct Spec {
//!     /// The delay to hold.
//!     #[parameter(default = "15 ms", min = "1 us", max = "1 h", source = "RFC 8033, section 4.2.")]
//!     target: Option<Quantity<Duration>>,
//!     /// What an update adds per second of delay above the target.
//!     #[parameter(default = 0.125, min = 0.0, max = 1000.0, unit = "Hz")]
//!     alpha: Option<f64>,
//! }
//!
//! let given: Spec = toml::from_str("alpha = 0.5")?;
//! let checked = given.checked()?;
//! assert_eq!((checked.alpha, checked.target), (0.5, Duration::from_ms(15)));
//!
//! let wrong: Spec = toml::from_str("alpha = 2000.0")?;
//! assert_eq!(wrong.checked().unwrap_err().allowed, "a number from 0 to 1000");
//! assert_eq!(Spec::FIELDS[0].default, "15 ms");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With `public` beside it the struct of checked values is as public as a constant of its crate: it can be copied, and its default is that of
//! every parameter.
//!
//! From the declaration follow the reader of any format that serde knows, with the place of each fault; the writer, which leaves
//! out what was not given; the JSON schema; and the [`Field`]s, of which reference pages are made. The code for tables is generic
//! over the format alone and not over the struct: forty structs cost little more to compile than one.
//!
//! What needs serde is there under the feature `serde`. A crate that has such a feature itself says `#[parameters(gated)]`: its
//! declarations are then read and written under it, and can be checked without it.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod bounds;
#[cfg(feature = "serde")]
mod by_name;
#[cfg(feature = "serde")]
mod choice;
mod field;
mod quantity;
#[cfg(feature = "serde")]
mod table;
#[cfg(feature = "serde")]
mod written;

pub use bounds::{Bounded, Bounds, OutOfRange, literal, required};
#[cfg(feature = "serde")]
pub use by_name::ByName;
#[cfg(feature = "serde")]
pub use choice::{Choice, choice_schema, deserialize_choice, tables_schema};
pub use fairwire_parameters_macro::parameters;
pub use field::{Declared, Field, NO_SCHEMA, SchemaOf, joined, names, total};
pub use quantity::Quantity;
#[cfg(feature = "serde")]
pub use table::{OneOf, Slot, Tabled, deserialize, schema, schema_of, serialize, write};
#[cfg(feature = "serde")]
pub use written::Written;

#[cfg(feature = "serde")]
#[doc(hidden)]
pub use {alloc::borrow::Cow, schemars, serde};
