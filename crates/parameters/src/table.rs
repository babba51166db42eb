//! Tables of parameters in any format: read, written, and as a schema.

use crate::{Declared, Field};
use core::fmt;
use core::marker::PhantomData;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The place for a value that is read from a table of the format `A`.
pub trait Slot<'de, A: MapAccess<'de>> {
    /// Was a value read?
    fn is_given(&self) -> bool;

    /// Reads the value that comes next in the table.
    fn read(&mut self, table: &mut A) -> Result<(), A::Error>;
}

impl<'de, A: MapAccess<'de>, T: Deserialize<'de>> Slot<'de, A> for Option<T> {
    fn is_given(&self) -> bool {
        self.is_some()
    }

    fn read(&mut self, table: &mut A) -> Result<(), A::Error> {
        *self = Some(table.next_value()?);
        Ok(())
    }
}

/// How many parameters these parts have.
pub const fn total(parts: &[&[Field]]) -> usize {
    let (mut total, mut at) = (0, 0);
    while at < parts.len() {
        total += parts[at].len();
        at += 1;
    }
    total
}

/// The parameters of these parts, one after the other; `N` is their [`total`].
pub const fn joined<const N: usize>(parts: &[&[Field]]) -> [Field; N] {
    let mut all = [Field::NONE; N];
    let (mut part, mut to) = (0, 0);
    while part < parts.len() {
        let mut at = 0;
        while at < parts[part].len() {
            all[to] = parts[part][at];
            to += 1;
            at += 1;
        }
        part += 1;
    }
    all
}

/// The names of all `N` parameters.
pub const fn names<const N: usize>(fields: &[Field]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = fields[at].name;
        at += 1;
    }
    names
}

/// Reads a table of parameters. Unknown names, and one that stands twice, are refused.
pub fn deserialize<'de, S: Declared, D: Deserializer<'de>>(deserializer: D) -> Result<S, D::Error> {
    deserializer.deserialize_map(Table(PhantomData))
}

struct Table<S>(PhantomData<S>);

impl<'de, S: Declared> Visitor<'de> for Table<S> {
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
            slot.read(&mut table)?;
        }
        Ok(given)
    }
}

/// Reads one of these names, as a key, as its number.
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

/// Writes what was given as a table.
pub fn serialize<D: Declared, S: Serializer>(given: &D, serializer: S) -> Result<S::Ok, S::Error> {
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

/// The schema of the table of parameters of `name`.
pub fn schema(name: &str, fields: &[Field], generator: &mut SchemaGenerator) -> Schema {
    let mut properties = Map::new();
    for field in fields {
        properties.insert(field.name.into(), property(field, generator));
    }
    json_schema!({
        "type": "object",
        "description": format!("Parameters of `{name}`."),
        "properties": properties,
        "additionalProperties": false,
    })
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

impl Field {
    /// What arrays are filled with before the parameters are known.
    const NONE: Field = Field {
        name: "",
        text: "",
        notes: "",
        unit: "",
        default: "",
        range: "",
        source: "",
        above: None,
        min: None,
        max: None,
        schema: schema_of::<()>,
    };

    /// What it is, what is allowed, and the default, in one or two sentences.
    pub fn description(&self) -> String {
        let Field { default, .. } = self;
        format!("{} Default: {default}.", self.text_with_range())
    }

    /// What it is and what is allowed, in a sentence.
    pub fn text_with_range(&self) -> String {
        match (self.range, self.text.strip_suffix('.')) {
            ("", _) => self.text.into(),
            (range, Some(text)) => format!("{text} ({range})."),
            (range, None) => format!("{} ({range})", self.text),
        }
    }
}
