//! The entry of a component.

use super::kind::{Kind, Part};
use crate::by_name::ByName;
use crate::field::{Field, SchemaOf};
use crate::table::schema_of;
use alloc::boxed::Box;
use core::any::Any;
use core::fmt::{self, Debug};
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

/// The entry of a component.
pub struct Entry<K: Kind> {
    /// Its name, as written.
    pub name: &'static str,
    /// Its aliases.
    pub aliases: &'static [&'static str],
    /// Its description.
    pub about: K::About,
    /// Its parameters.
    pub fields: &'static [Field],
    /// The documentation of the declaring file, in Markdown.
    pub documentation: &'static str,
    /// The declaring file, as passed to the compiler.
    pub file: &'static str,
    pub(super) default: fn() -> Box<K::Part>,
    pub(super) table: ByName,
    pub(super) read: fn(Value) -> serde_json::Result<Box<dyn Any>>,
    pub(super) schema: SchemaOf,
}

impl<K: Kind> Entry<K> {
    /// The entry of the component with the parameters `S`. `default` builds the component with no
    /// parameter given.
    pub const fn of<S: Part>(about: K::About, default: fn() -> Box<K::Part>) -> Self {
        Entry {
            name: S::OWNER,
            aliases: &[],
            about,
            fields: S::FIELDS,
            documentation: S::DOCUMENTATION,
            file: S::FILE,
            default,
            table: ByName::of::<S>(),
            read: |value| Ok(Box::new(serde_json::from_value::<S>(value)?)),
            schema: schema_of::<S>,
        }
    }

    /// Adds aliases.
    #[must_use]
    pub const fn known_as(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// A one-line summary of the component.
    pub fn summary(&self) -> &'static str {
        K::summary(&self.about)
    }

    /// The paper or RFC, with its section; may be empty.
    pub fn source(&self) -> &'static str {
        K::source(&self.about)
    }

    /// The component with no parameter given.
    pub fn default(&self) -> Box<K::Part> {
        (self.default)()
    }

    /// The first required parameter, if any. The component's name alone is then not sufficient.
    pub fn needed(&self) -> Option<&'static str> {
        self.fields.iter().find(|field| field.is_required).map(|field| field.name)
    }

    /// Has the component a parameter of this name?
    pub fn has(&self, parameter: &str) -> bool {
        self.fields.iter().any(|field| field.name == parameter)
    }

    /// The schema of its parameters.
    pub fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        (self.schema)(generator)
    }

    /// Is `name` the name or an alias?
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

impl<K: Kind> Clone for Entry<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Kind> Copy for Entry<K> {}

impl<K: Kind> Debug for Entry<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", K::NOUN, self.name)
    }
}
