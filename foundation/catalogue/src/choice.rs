//! A discipline as written: a name alone, or a table with a name and parameters.

use crate::registry;
use crate::spec::Parameters;
use core::fmt;
use fairwire_laws::BadParameter;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, DeserializeSeed, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A discipline as given: `"red"`, or `{ red = { gentle = true } }`.
///
/// ```
/// use fairwire_catalogue::Choice;
///
/// #[derive(serde::Deserialize)]
/// struct Link { discipline: Choice }
///
/// let short: Link = toml::from_str("discipline = 'red'")?;
/// let long: Link = toml::from_str("discipline = { red = { gentle = true } }")?;
/// assert_eq!((short.discipline.name(), long.discipline.name()), ("red", "red"));
/// assert!(short.discipline.parameters().is_none() && long.discipline.parameters().is_some());
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    name: Cow<'static, str>,
    parameters: Option<Parameters>,
}

impl Choice {
    /// The discipline called `name`, without parameters.
    pub const fn named(name: &'static str) -> Self {
        Choice { name: Cow::Borrowed(name), parameters: None }
    }

    /// The discipline called `name` with its defaults, whatever the base parameters are.
    pub fn with_defaults(name: &'static str) -> Self {
        Choice { name: Cow::Borrowed(name), parameters: Some(Parameters::default()) }
    }

    /// The discipline called `name`, with these parameters.
    pub fn new(name: impl Into<String>, parameters: Parameters) -> Self {
        Choice { name: Cow::Owned(name.into()), parameters: Some(parameters) }
    }

    /// The name as given, which may be unknown.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The parameters given with the name; `None` if there are none, as in `{ red = {} }`.
    pub fn parameters(&self) -> Option<&Parameters> {
        self.parameters.as_ref()
    }

    /// The path of `bad`, which begins with the name of this discipline as given. `bad` is an error
    /// in this discipline or in one that it contains.
    pub fn path_of(&self, bad: &BadParameter) -> String {
        let key = registry::key(&self.name);
        let path = bad.path();
        path.strip_prefix(key).map_or_else(|| path.clone(), |below| format!("{}{below}", self.name))
    }

    pub(crate) fn parts_mut(&mut self) -> (&str, &mut Parameters) {
        (&self.name, self.parameters.get_or_insert_default())
    }
}

impl From<String> for Choice {
    fn from(name: String) -> Self {
        Choice { name: Cow::Owned(name), parameters: None }
    }
}

/// Reads a discipline from a table. For each key of `others` in the table, calls `other` with the
/// key's index in `others`.
pub fn read_table<'de, A: MapAccess<'de>>(
    mut table: A,
    others: &'static [&'static str],
    mut other: impl FnMut(usize, &mut A) -> Result<(), A::Error>,
) -> Result<Choice, A::Error> {
    use serde::de::Error;
    let mut choice = None;
    while let Some(key) = table.next_key_seed(AnyKey(others))? {
        match key {
            Key::Other(place) => other(place, &mut table)?,
            Key::Discipline(name) if choice.is_none() => {
                let entry = registry::find(&name).expect("it was looked up");
                let parameters = Parameters::read_one(entry.key, &mut table)?;
                choice = Some(Choice { name: Cow::Owned(name), parameters });
            }
            Key::Discipline(name) => {
                let first = choice.as_ref().map_or("", Choice::name);
                return Err(A::Error::custom(format_args!(
                    "`{first}` and `{name}` are two disciplines; allowed: one discipline, with a table of its parameters"
                )));
            }
        }
    }
    choice.ok_or_else(|| {
        A::Error::custom("no discipline is named; allowed: `{ name = { parameters } }` or \"name\"")
    })
}

enum Key {
    Other(usize),
    Discipline(String),
}

struct AnyKey(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for AnyKey {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for AnyKey {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a discipline")
    }

    fn visit_str<E: de::Error>(self, given: &str) -> Result<Key, E> {
        if let Some(place) = self.0.iter().position(|other| *other == given) {
            return Ok(Key::Other(place));
        }
        match registry::find(given) {
            Ok(_) => Ok(Key::Discipline(given.into())),
            Err(_) => Err(E::unknown_field(given, registry::names_and(self.0))),
        }
    }
}

impl<'de> Deserialize<'de> for Choice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Choice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a discipline in quotes, or a table with its name and its parameters")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Choice, E> {
        Ok(Choice::from(name.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Choice, A::Error> {
        read_table(table, &[], |_, _| unreachable!("there are no other keys"))
    }
}

impl Serialize for Choice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(parameters) = &self.parameters else {
            return serializer.serialize_str(&self.name);
        };
        let mut map = serializer.serialize_map(Some(1))?;
        parameters.write_as(&self.name, &mut map)?;
        map.end()
    }
}

impl JsonSchema for Choice {
    fn schema_name() -> Cow<'static, str> {
        "Discipline".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = table_schema(generator, &[]);
        json_schema!({
            "description": "the name of a discipline, or a table with its name and its parameters",
            "anyOf": [{ "type": "string" }, table],
        })
    }
}

/// The schema of a table that has the keys of `others`, and a discipline's parameters under the
/// discipline's name.
pub fn table_schema(generator: &mut SchemaGenerator, others: &[(&str, Schema)]) -> Schema {
    let mut properties = Parameters::properties(generator);
    for (key, schema) in others {
        properties.insert((*key).into(), schema.clone().to_value());
    }
    json_schema!({
        "type": "object",
        "properties": properties,
        "patternProperties": { "^[a-z0-9+-]+\\+[a-z0-9-]+$": { "type": "object" } },
        "additionalProperties": false,
        "minProperties": 1,
        "maxProperties": 1 + others.len(),
    })
}
