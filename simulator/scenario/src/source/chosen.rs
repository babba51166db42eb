//! The source that a group of flows names: its name, or a table of one name with its parameters.

use super::at::{About, At, Offer};
use super::listed::{self, AnySource, Entry};
use crate::fault::Fault;
use core::fmt;
use core::marker::PhantomData;
use fairwire_parameters::{Choice, deserialize_choice, tables_schema};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::{Value, json};
use std::borrow::Cow;

/// A source: `"bulk"`, or `{ cbr = { rate = "1 Mbit/s" } }`.
#[derive(Debug)]
pub struct SourceChoice {
    /// Its index in [`listed::all`].
    place: usize,
    /// Its parameters; all defaults where only a name is given.
    given: Box<dyn AnySource>,
}

impl SourceChoice {
    /// Its name, as typed in scenarios.
    pub fn name(&self) -> &'static str {
        self.entry().name
    }

    /// Its description.
    pub fn about(&self) -> &'static About {
        &self.entry().about
    }

    /// Its parameters, if their type is `S`.
    pub fn given<S: 'static>(&self) -> Option<&S> {
        self.given.as_any().downcast_ref()
    }

    fn entry(&self) -> &'static Entry {
        &listed::all()[self.place]
    }

    /// The traffic that it offers in the group at `at`, if its parameters are allowed there.
    pub(super) fn offers(&self, at: At<'_>) -> Result<Offer, Fault> {
        self.given.offers(at)
    }
}

impl Clone for SourceChoice {
    fn clone(&self) -> Self {
        SourceChoice { place: self.place, given: self.given.cloned() }
    }
}

impl<'de> Deserialize<'de> for SourceChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_choice(deserializer)
    }
}

impl Choice for SourceChoice {
    const WHAT: &'static str = "source";
    const EXAMPLE: &'static str = "{ cbr = { rate = \"1 Mbit/s\" } }";

    fn names() -> &'static [&'static str] {
        listed::names()
    }

    fn named(place: usize) -> Self {
        SourceChoice { place, given: listed::all()[place].default() }
    }

    fn needed(place: usize) -> Option<&'static str> {
        listed::all()[place].needed()
    }

    fn read<'de, A: MapAccess<'de>>(place: usize, table: &mut A) -> Result<Self, A::Error> {
        listed::read(place, table).map(|given| SourceChoice { place, given })
    }
}

impl JsonSchema for SourceChoice {
    fn schema_name() -> Cow<'static, str> {
        "Source".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let by_name = |source: &Entry| json!({ "type": "string", "const": source.name, "description": source.about.what });
        // A source with a required parameter cannot be given by its name alone.
        let complete = listed::all().iter().filter(|source| source.needed().is_none());
        let names: Vec<Value> = complete.map(by_name).collect();
        let all = listed::all().iter().map(|source| (source.name, source.about.what, source.schema));
        let tables = tables_schema(all, generator);
        json_schema!({
            "description": "What sends: the name of a source, or a table of one name with its parameters.",
            "anyOf": [{ "oneOf": names }, tables],
        })
    }
}

/// The table of a group of flows. It refuses the parameters of a source that are written beside
/// `source` instead of in it, with an error that shows where they belong.
pub(crate) struct GroupTable<A>(pub(crate) A);

impl<'de, A: MapAccess<'de>> MapAccess<'de> for GroupTable<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.0.next_key_seed(GroupKey(seed))? {
            None => Ok(None),
            Some(Ok(key)) => Ok(Some(key)),
            // Refused only here: an error while the value is read has the value's location.
            Some(Err(misplaced)) => self.0.next_value_seed(misplaced),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.0.next_value_seed(seed)
    }
}

/// Reads a key of a group of flows. A key that it does not know may be a misplaced parameter.
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

/// A key beside `source` that belongs in it. Its value is read to get its location, and refused.
struct Misplaced<K> {
    /// The error: what the key is, and what is allowed.
    message: String,
    key: PhantomData<K>,
}

/// The refusal of `key`, if it is the name of a source, or a parameter of `cbr` that is often
/// written in the group itself.
fn misplaced<K>(key: &str) -> Option<Misplaced<K>> {
    let is_source = listed::all().iter().any(|source| source.name == key);
    let message = match key {
        "rate" | "packet" | "dither" => {
            format!("it is a parameter of the source `cbr`; allowed: `source = {{ cbr = {{ {key} = … }} }}`")
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
