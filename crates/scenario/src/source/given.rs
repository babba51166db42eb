//! The tables of sources in a group of flows, which are found by name.

use super::listed::{self, AnySource, KEYS};
use core::fmt;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// What is given for each source, by its place in the list of all.
#[derive(Debug, Default)]
pub(crate) struct Given(BTreeMap<usize, Box<dyn AnySource>>);

impl Given {
    /// The table of the source at this place.
    pub(super) fn table(&self, place: usize) -> Option<&dyn AnySource> {
        self.0.get(&place).map(|table| &**table)
    }

    /// The first that is given for another source than that at `place`.
    pub(super) fn foreign(&self, place: usize) -> Option<usize> {
        self.0.keys().copied().find(|&given| given != place)
    }

    /// The table of this type.
    pub(crate) fn find<S: 'static>(&self) -> Option<&S> {
        self.0.values().find_map(|table| table.as_any().downcast_ref())
    }
}

impl Clone for Given {
    fn clone(&self) -> Self {
        Given(self.0.iter().map(|(&place, table)| (place, table.cloned())).collect())
    }
}

/// A table of a group of flows without those of sources, which are put into `given`.
pub(crate) struct Sifted<'a, A> {
    pub(crate) table: A,
    pub(crate) given: &'a mut Given,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Sifted<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.table.next_key_seed(AnyKey)? {
            let place = match key {
                Key::OfGroup(key) => return seed.deserialize(StrDeserializer::new(key)).map(Some),
                Key::Source(place) => place,
            };
            if self.given.0.insert(place, listed::read(place, &mut self.table)?).is_some() {
                return Err(A::Error::duplicate_field(listed::all()[place].name));
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.table.next_value_seed(seed)
    }
}

enum Key {
    OfGroup(&'static str),
    Source(usize),
}

struct AnyKey;

impl<'de> DeserializeSeed<'de> for AnyKey {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for AnyKey {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key of a group of flows")
    }

    fn visit_str<E: Error>(self, given: &str) -> Result<Key, E> {
        if let Some(key) = KEYS.iter().find(|key| **key == given) {
            return Ok(Key::OfGroup(key));
        }
        let place = listed::place_of_table(given).map(Key::Source);
        place.ok_or_else(|| E::unknown_field(given, all_keys()))
    }
}

/// The keys that a group of flows may have.
fn all_keys() -> &'static [&'static str] {
    static ALL: OnceLock<Vec<&'static str>> = OnceLock::new();
    ALL.get_or_init(|| {
        let tables = listed::all().iter().map(|source| source.name);
        let tables = tables.filter(|name| listed::place_of_table(name).is_some());
        KEYS.iter().copied().chain(tables).collect()
    })
}
