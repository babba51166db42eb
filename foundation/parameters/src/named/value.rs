//! A component as given: its name, or a table of one name with its parameters.

use super::entry::Entry;
use super::kind::{Given as _, Kind, Listed, Writes};
use super::registry::Unknown;
use super::tables::Tables;
use crate::choice::{Choice, deserialize_choice};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use core::fmt::{self, Debug};
use core::ops::{Deref, DerefMut};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Error as _, MapAccess};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A component as given: `"cubic"`, or `{ cubic = { beta = 0.8 } }`. Dereferences to the kind's
/// trait.
pub struct Named<K: Kind> {
    place: usize,
    part: Box<K::Part>,
}

impl<K: Listed> Named<K> {
    pub(super) fn at(place: usize) -> Self {
        Named { place, part: K::registry().all()[place].default() }
    }

    /// The component called `name`, with its defaults.
    pub fn find(name: &str) -> Result<Self, Unknown> {
        let registry = K::registry();
        registry.place(name).map(Self::at).ok_or_else(|| registry.unknown(name))
    }

    /// Its entry.
    pub fn entry(&self) -> &'static Entry<K> {
        &K::registry().all()[self.place]
    }

    /// Its name, as written.
    pub fn name(&self) -> &'static str {
        self.entry().name
    }

    /// Its description.
    pub fn about(&self) -> &'static K::About {
        &self.entry().about
    }

    /// The parameters, if they have the type `S`.
    pub fn given<S: 'static>(&self) -> Option<&S> {
        self.part.as_any().downcast_ref()
    }

    /// Takes missing parameters from `base`.
    #[must_use]
    pub fn filled(mut self, base: &Tables<K>) -> Self {
        if let Some(base) = base.at(self.place) {
            self.part.fill_from(base.part.as_any());
        }
        self
    }

    pub(super) fn write_as<M: SerializeMap>(&self, name: &str, map: &mut M) -> Result<(), M::Error> {
        if K::write(self.place, name, self.part.as_any(), map)? {
            return Ok(());
        }
        map.serialize_entry(name, &self.part.json().map_err(serde::ser::Error::custom)?)
    }
}

impl<K: Kind> Deref for Named<K> {
    type Target = K::Part;

    fn deref(&self) -> &K::Part {
        &self.part
    }
}

impl<K: Kind> DerefMut for Named<K> {
    fn deref_mut(&mut self) -> &mut K::Part {
        &mut self.part
    }
}

impl<K: Listed> Clone for Named<K> {
    fn clone(&self) -> Self {
        let mut copy = Self::at(self.place);
        copy.part.fill_from(self.part.as_any());
        copy
    }
}

impl<K: Kind> Debug for Named<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(K::NOUN).field(&&*self.part).finish()
    }
}

impl<K: Kind> PartialEq for Named<K> {
    fn eq(&self, other: &Self) -> bool {
        self.part.equals(other.part.as_any())
    }
}

impl<K: Listed> Default for Named<K> {
    fn default() -> Self {
        Self::at(0)
    }
}

impl<K: Listed> Choice for Named<K> {
    const WHAT: &'static str = K::NOUN;
    const EXAMPLE: &'static str = K::EXAMPLE;

    fn names() -> &'static [&'static str] {
        K::registry().names()
    }

    fn named(place: usize) -> Self {
        Self::at(place)
    }

    fn needed(place: usize) -> Option<&'static str> {
        K::registry().all()[place].needed()
    }

    fn read<'de, A: MapAccess<'de>>(place: usize, table: &mut A) -> Result<Self, A::Error> {
        if let Some(part) = K::read(place, table)? {
            return Ok(Named { place, part });
        }
        let entry = K::registry().all()[place];
        let given = (entry.read)(table.next_value_seed(entry.table)?).map_err(A::Error::custom)?;
        let mut part = entry.default();
        part.fill_from(&*given);
        Ok(Named { place, part })
    }
}

impl<'de, K: Listed> Deserialize<'de> for Named<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_choice(deserializer)
    }
}

impl<K: Writes<Named<K>>> Serialize for Named<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if *self == Self::at(self.place) {
            return serializer.serialize_str(self.name());
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(self.name(), &self.part.json().map_err(serde::ser::Error::custom)?)?;
        map.end()
    }
}

impl<K: Listed> JsonSchema for Named<K> {
    fn schema_name() -> Cow<'static, str> {
        K::SCHEMA.into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        K::schema(generator)
    }
}
