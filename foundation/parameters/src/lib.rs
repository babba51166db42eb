//! Parameters that are read, checked and documented from one declaration.
//!
//! The declaration is a struct of optional fields. The first paragraph above a field describes it;
//! more paragraphs are notes. `#[parameter(...)]` has these terms:
//!
//! - `default = value`; or `unset = "description of the default"` if the default depends on other
//!   values; or `required`;
//! - `above`, `min`, `max`: bounds;
//! - `unit`, for numbers: `"Hz"`, or `"1"` for none;
//! - `source`: paper, section, equation; RFC;
//! - `is`: the parameter's [`Role`], for callers that do not know the struct.
//!
//! `#[parameter(flatten)]` adds the parameters of another such struct. A struct that is only
//! flattened has `#[parameters(group)]`. The constant `NAME`, or `#[parameters(name = "...")]`,
//! names the owner.
//!
//! A value is a number, a text with a unit (a [`Quantity`]), a word, or a table. Words are the
//! variants of an enum under `#[word]`, in kebab case. One variant is the `#[default]`.
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
//!     #[parameter(default = "15 ms", min = "1 us", max = "1 h", source = "RFC 8033, 4.2.")]
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
//! With `#[parameters(public)]`, the struct of checked values is `pub` instead of `pub(crate)`, can
//! be copied, and implements `Default`.
//!
//! The declaration generates a serde reader that locates errors, a writer that omits missing
//! values, the JSON schema, and the [`Field`]s. Components that are chosen by name, such as
//! markers, belong to a [`Kind`].
//!
//! Everything that needs serde is under the feature `serde`. A crate with a feature `serde` uses
//! `#[parameters(gated)]`: without that feature, the crate's parameters can be checked, but not
//! read or written. Under this crate's feature `text`, [`from_text`] reads them from TOML without
//! serde.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), no_std)]

extern crate alloc;
#[cfg(feature = "serde")]
extern crate std;

mod bounds;
#[cfg(feature = "serde")]
mod by_name;
#[cfg(feature = "serde")]
mod choice;
mod field;
#[cfg(feature = "serde")]
mod named;
mod quantity;
mod role;
#[cfg(feature = "serde")]
mod table;
#[cfg(feature = "text")]
pub mod text;
#[cfg(feature = "serde")]
mod whole;
#[cfg(feature = "serde")]
mod written;

pub use bounds::{Bounded, Bounds, OutOfRange, literal, required};
#[cfg(feature = "serde")]
pub use by_name::ByName;
#[cfg(feature = "serde")]
pub use choice::{Choice, choice_schema, deserialize_choice, tables_schema};
pub use fairwire_parameters_macro::{parameters, word};
pub use field::{Declared, Field, NO_SCHEMA, SchemaOf, joined, names, total};
#[cfg(feature = "serde")]
pub use named::{
    Entry, Given, Kind, Listed, Named, NotRegistered, Part, Registry, Tables, Unknown, Writes, shortened,
    tables_schema_of,
};
pub use quantity::Quantity;
pub use role::{Role, Roles};
#[cfg(feature = "serde")]
pub use table::{OneOf, Slot, Tabled, deserialize, schema, schema_of, serialize, write};
#[cfg(feature = "text")]
pub use text::from_text;
#[cfg(feature = "serde")]
pub use whole::Whole;
#[cfg(feature = "serde")]
pub use written::Written;

#[cfg(feature = "serde")]
#[doc(hidden)]
pub use {alloc::borrow::Cow, alloc::boxed::Box, schemars, serde};
