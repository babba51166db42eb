//! Components that are chosen by name, alone or in a table with their parameters.

mod entry;
mod kind;
mod parts;
mod registry;
mod tables;
mod value;

pub use entry::Entry;
pub use kind::{Given, Kind, Listed, Part, Writes, tables_schema_of};
pub use registry::{NotRegistered, Registry, Unknown, shortened};
pub use tables::Tables;
pub use value::Named;
