//! The table of a group of flows, which names a source.

use super::listed;
use core::fmt;
use core::marker::PhantomData;
use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

/// The table of a group of flows. It refuses a source's parameters that are next to `source`
/// instead of in the source's table.
pub(crate) struct GroupTable<A>(pub(crate) A);

impl<'de, A: MapAccess<'de>> MapAccess<'de> for GroupTable<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.0.next_key_seed(GroupKey(seed))? {
            None => Ok(None),
            Some(Ok(key)) => Ok(Some(key)),
            // The key is refused when its value is read, so that the error has the value's
            // location.
            Some(Err(misplaced)) => self.0.next_value_seed(misplaced),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.0.next_value_seed(seed)
    }
}

struct GroupKey<K>(K);

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for GroupKey<K> {
    type Value = Result<K::Value, Misplaced<K::Value>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'de, K: DeserializeSeed<'de>> Visitor<'de> for GroupKey<K> {
    type Value = Result<K::Value, Misplaced<K::Value>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key of a group of flows")
    }

    fn visit_str<E: Error>(self, given: &str) -> Result<Self::Value, E> {
        let read = self.0.deserialize(StrDeserializer::new(given));
        read.map(Ok).or_else(|unknown| misplaced(given).map(Err).ok_or(unknown))
    }
}

/// A key next to `source` that belongs in the source's table.
struct Misplaced<K> {
    message: String,
    key: PhantomData<K>,
}

fn misplaced<K>(key: &str) -> Option<Misplaced<K>> {
    let is_source = listed::all().iter().any(|source| source.name == key);
    let message = match key {
        "rate" | "packet" | "dither" => {
            format!(
                "`{key}` is a parameter of the source `cbr`; allowed: `source = {{ cbr = {{ {key} = … }} }}`"
            )
        }
        _ if is_source => format!(
            "parameters of a source go under its name in `source`; allowed: `source = {{ {key} = {{ … }} }}`, or the table \
             `[flow.source.{key}]`"
        ),
        _ => return None,
    };
    Some(Misplaced { message, key: PhantomData })
}

impl<'de, K> DeserializeSeed<'de> for Misplaced<K> {
    type Value = Option<K>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<K>, D::Error> {
        IgnoredAny::deserialize(deserializer)?;
        Err(D::Error::custom(self.message))
    }
}
