//! Tables of parameters in any format, and their schemas.

use crate::field::{Declared, Field};
use crate::whole::Whole;
use alloc::format;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;
use core::marker::PhantomData;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// A struct of declared parameters that can be read and written. Implemented by
/// [`parameters`](crate::parameters).
pub trait Tabled: Declared {
    /// The slot of the parameter with index `at`.
    fn slot<'de, A: MapAccess<'de>>(&mut self, at: usize) -> &mut dyn Slot<'de, A>;

    /// Writes the values that were given.
    fn write<S: SerializeMap>(&self, map: &mut S) -> Result<(), S::Error>;
}

/// The slot for a value from a table of the format `A`.
pub trait Slot<'de, A: MapAccess<'de>> {
    /// Was a value read?
    fn is_given(&self) -> bool;

    /// Reads the next value of `table`, for the parameter `field`.
    fn read(&mut self, table: &mut A, field: &Field) -> Result<(), A::Error>;
}

impl<'de, A: MapAccess<'de>, T: Deserialize<'de> + 'static> Slot<'de, A> for Option<T> {
    fn is_given(&self) -> bool {
        self.is_some()
    }

    fn read(&mut self, table: &mut A, field: &Field) -> Result<(), A::Error> {
        match (self as &mut dyn Any).downcast_mut::<Option<u32>>() {
            Some(number) if !field.range.is_empty() => {
                *number = Some(table.next_value_seed(Whole(field.range))?);
            }
            _ => *self = Some(table.next_value()?),
        }
        Ok(())
    }
}

/// Reads a table of parameters. Refuses unknown names, repeated names and missing required
/// parameters.
pub fn deserialize<'de, S: Tabled, D: Deserializer<'de>>(deserializer: D) -> Result<S, D::Error> {
    deserializer.deserialize_map(Table { is_whole: true, of: PhantomData })
}

/// Like [`deserialize`], but the table may lack required parameters.
pub(crate) fn deserialize_part<'de, S: Tabled, D: Deserializer<'de>>(deserializer: D) -> Result<S, D::Error> {
    deserializer.deserialize_map(Table { is_whole: false, of: PhantomData })
}

struct Table<S> {
    is_whole: bool,
    of: PhantomData<S>,
}

impl<'de, S: Tabled> Visitor<'de> for Table<S> {
    type Value = S;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct of parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<S, A::Error> {
        let mut given = S::default();
        while let Some(at) = table.next_key_seed(OneOf(S::NAMES))? {
            let slot = given.slot::<A>(at);
            if slot.is_given() {
                return Err(A::Error::duplicate_field(S::NAMES[at]));
            }
            slot.read(&mut table, &S::FIELDS[at])?;
        }
        let required = S::FIELDS.iter().enumerate().filter(|(_, field)| self.is_whole && field.is_required);
        for (at, field) in required {
            if !given.slot::<A>(at).is_given() {
                return Err(A::Error::missing_field(field.name));
            }
        }
        Ok(given)
    }
}

/// Reads a key of this list as the key's index.
pub struct OneOf(pub &'static [&'static str]);

impl<'de> DeserializeSeed<'de> for OneOf {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for OneOf {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a parameter")
    }

    fn visit_str<E: serde::de::Error>(self, given: &str) -> Result<usize, E> {
        let at = self.0.iter().position(|name| *name == given);
        at.ok_or_else(|| E::unknown_field(given, self.0))
    }
}

/// Writes the given values as a table.
pub fn serialize<D: Tabled, S: Serializer>(given: &D, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    given.write(&mut map)?;
    map.end()
}

/// Writes one parameter, if it was given.
pub fn write<S: SerializeMap, T: Serialize>(
    map: &mut S,
    name: &str,
    value: &Option<T>,
) -> Result<(), S::Error> {
    value.as_ref().map_or(Ok(()), |value| map.serialize_entry(name, value))
}

/// The schema of the values of a type, for [`Field::schema`].
pub fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// The JSON schema of the parameters of `name`.
pub fn schema(name: &str, fields: &[Field], generator: &mut SchemaGenerator) -> Schema {
    let mut properties = Map::new();
    for field in fields {
        properties.insert(field.name.into(), property(field, generator));
    }
    let mut schema = json_schema!({
        "type": "object",
        "description": format!("Parameters of `{name}`."),
        "properties": properties,
        "additionalProperties": false,
    });
    let required: Vec<&str> =
        fields.iter().filter(|field| field.is_required).map(|field| field.name).collect();
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema
}

fn property(field: &Field, generator: &mut SchemaGenerator) -> Value {
    let mut schema = (field.schema)(generator);
    schema.insert("description".into(), field.description().into());
    let bounds = [("exclusiveMinimum", field.above), ("minimum", field.min), ("maximum", field.max)];
    for (key, bound) in bounds {
        if let Some(bound) = bound {
            schema.insert(key.into(), bound.into());
        }
    }
    schema.to_value()
}
