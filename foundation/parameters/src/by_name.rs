//! Reads parameters known only by name, because their struct belongs to another crate.

use crate::field::Field;
use crate::table::{OneOf, Tabled, deserialize_part};
use core::fmt;
use serde::de::{DeserializeSeed, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// Reads a table of parameters as JSON. An error has the location of the unknown name or invalid
/// value.
#[derive(Clone, Copy, Debug)]
pub struct ByName {
    names: &'static [&'static str],
    fields: &'static [Field],
    check: fn(Value) -> serde_json::Result<()>,
}

impl ByName {
    /// A reader for the parameters of `S`.
    pub const fn of<S: Tabled>() -> Self {
        ByName { names: S::NAMES, fields: S::FIELDS, check: |one| deserialize_part::<S, _>(one).map(drop) }
    }
}

impl<'de> DeserializeSeed<'de> for ByName {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ByName {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct of parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Value, A::Error> {
        let mut given = Map::new();
        while let Some(at) = table.next_key_seed(OneOf(self.names))? {
            let name = self.names[at];
            if given.contains_key(name) {
                return Err(A::Error::duplicate_field(name));
            }
            given.insert(name.into(), table.next_value_seed(Alone { name, check: self.check })?);
        }
        match self.fields.iter().find(|field| field.is_required && !given.contains_key(field.name)) {
            None => Ok(Value::Object(given)),
            Some(missing) => Err(A::Error::missing_field(missing.name)),
        }
    }
}

struct Alone {
    name: &'static str,
    check: fn(Value) -> serde_json::Result<()>,
}

impl<'de> DeserializeSeed<'de> for Alone {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let table = Map::from_iter([(self.name.into(), value.clone())]);
        (self.check)(Value::Object(table)).map_err(D::Error::custom)?;
        Ok(value)
    }
}
