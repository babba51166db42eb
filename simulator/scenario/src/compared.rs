//! A discipline that a scenario compares, as entered, with its label in results.

use fairwire_catalogue::choice::{read_table, table_schema};
use fairwire_catalogue::{self as catalogue, Choice, Parameters};
use fairwire_document::quoted;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A discipline to compare: `"red"`, or `{ red = { gentle = true }, label = "gentle" }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The discipline. The scenario's `[discipline.<name>]` supplies omitted values.
    pub choice: Choice,
    /// The label in results, if it is not the discipline's name in the catalogue.
    pub label: Option<String>,
}

impl Compared {
    /// The name in results: the label, or else the discipline's name in the catalogue.
    pub fn label(&self) -> &str {
        let name = || catalogue::find(self.name()).map_or(self.name(), |entry| entry.name);
        self.label.as_deref().unwrap_or_else(name)
    }

    /// The discipline's name as entered.
    pub fn name(&self) -> &str {
        self.choice.name()
    }

    /// The discipline's parameters. Omitted parameters come from `common`, the scenario's
    /// `[discipline.<name>]`.
    pub(crate) fn parameters<'a>(&self, common: &'a Parameters) -> Cow<'a, Parameters> {
        match self.choice.parameters() {
            Some(given) => Cow::Owned(given.filled(common)),
            None => Cow::Borrowed(common),
        }
    }

    pub(crate) fn is_name_only(&self) -> bool {
        self.label.is_none() && self.choice.parameters().is_none()
    }
}

/// Splits a command line's comma-separated disciplines into entries of `disciplines` in TOML. Each
/// is a name, or a table such as `{ red = { gentle = true }, label = "mine" }`.
pub fn entries(given: &[String]) -> Vec<String> {
    let entry = |text: &str| {
        let text = text.trim();
        if text.starts_with('{') { text.to_owned() } else { quoted(text) }
    };
    given.iter().flat_map(|text| split(text)).map(entry).collect()
}

/// Splits `text` at the commas outside of brackets and quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_i32, None);
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) => quote = quote.filter(|_| letter != open),
            (None, '"' | '\'') => quote = Some(letter),
            (None, '{' | '[') => depth += 1,
            (None, '}' | ']') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

pub(crate) fn resolved<'a>(name: &'a str, mut labels: impl Iterator<Item = &'a str>) -> &'a str {
    if labels.any(|label| label == name) {
        return name;
    }
    catalogue::find(name).map_or(name, |entry| entry.name)
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
        write!(f, "the name of a discipline in quotes, or a table with its name and its parameters")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Compared, E> {
        Ok(Compared { choice: Choice::from(name.to_owned()), label: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Compared, A::Error> {
        use serde::de::Error;
        let mut label = None;
        let choice = read_table(map, &["label"], |_, map| match label.replace(map.next_value()?) {
            Some(_) => Err(A::Error::duplicate_field("label")),
            None => Ok(()),
        })?;
        Ok(Compared { choice, label })
    }
}

impl JsonSchema for Compared {
    fn schema_name() -> Cow<'static, str> {
        "Compared".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let label = json_schema!({
            "type": "string",
            "description": "What results call it: letters, digits, `-` and `_`, each label once. Default: its name.",
        });
        let table = table_schema(generator, &[("label", label)]);
        json_schema!({
            "description": "the name of a discipline, or a table with its name, its parameters and a label",
            "anyOf": [{ "type": "string" }, table],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_list_is_names_and_tables_separated_by_commas() {
        let entries = |given: &str| entries(&[given.into()]);
        assert_eq!(entries("faba"), ["\"faba\""]);
        assert_eq!(entries("faba, drr+red"), ["\"faba\"", "\"drr+red\""]);
        let table = "{ hfaba = { class = [{ id = 1 }, { id = 2 }] }, label = \"a,}b\" }";
        assert_eq!(entries(&format!("red,{table},faba")), ["\"red\"", table, "\"faba\""]);
        assert_eq!(entries("faba,,red"), ["\"faba\"", "\"\"", "\"red\""]);
    }
}
