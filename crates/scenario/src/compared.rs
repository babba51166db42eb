//! One of the disciplines that a scenario compares, as typed: a name, or a table with its name, a label and parameters.

use crate::spec::Spec;
use fairwire_catalogue::{self as catalogue, Parameters};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A discipline to compare: `"red"`, or `{ name = "red", label = "gentle", parameters = { red = { gentle = true } } }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Its name in the catalogue, or an alias.
    pub name: String,
    /// What results call it, if not by its name in the catalogue.
    pub label: Option<String>,
    /// Its parameters, under its name, in place of the scenario's `[discipline.<name>]`.
    pub parameters: Option<Parameters>,
}

impl Compared {
    /// What results call it: its label, or else its name in the catalogue.
    pub fn label(&self) -> &str {
        let name = || catalogue::find(&self.name).map_or(self.name.as_str(), |entry| entry.name);
        self.label.as_deref().unwrap_or_else(name)
    }

    /// The parameters that it has in the scenario `spec`.
    pub(crate) fn parameters<'a>(&'a self, spec: &'a Spec) -> &'a Parameters {
        self.parameters.as_ref().unwrap_or(&spec.discipline)
    }

    /// Is it a name and nothing else?
    pub(crate) fn is_name_only(&self) -> bool {
        self.label.is_none() && self.parameters.is_none()
    }
}

/// The label that `name` stands for: that of an entry is itself, and an alias stands for its name in the catalogue.
pub(crate) fn resolved<'a>(name: &'a str, mut labels: impl Iterator<Item = &'a str>) -> &'a str {
    if labels.any(|label| label == name) {
        return name;
    }
    catalogue::find(name).map_or(name, |entry| entry.name)
}

/// The longer form.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ComparedTable")]
struct Table {
    /// The discipline's name in the catalogue.
    name: String,
    /// What results call it: letters, digits, `-` and `_`, each label once. Default: its name.
    label: Option<String>,
    /// Its parameters, under its name, in place of `[discipline.<name>]`. Default: those.
    parameters: Option<Parameters>,
}

impl<'de> Deserialize<'de> for Compared {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Compared;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name of a discipline in quotes, or a table with its `name` and more")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Compared, E> {
        Ok(Compared { name: name.into(), label: None, parameters: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Compared, A::Error> {
        let Table { name, label, parameters } = Table::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Compared { name, label, parameters })
    }
}

impl JsonSchema for Compared {
    fn schema_name() -> Cow<'static, str> {
        "Compared".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (name, table) = (generator.subschema_for::<String>(), generator.subschema_for::<Table>());
        json_schema!({
            "description": "the name of a discipline, or a table with its name and more",
            "anyOf": [name, table],
        })
    }
}
