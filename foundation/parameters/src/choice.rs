//! A choice in any format: a name, or a table of one name with its parameters.

use crate::field::SchemaOf;
use crate::table::OneOf;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde_json::Map;

/// A choice, given as `"cubic"` or as `{ cubic = { beta = 0.8 } }`.
pub trait Choice: Sized {
    /// The kind of choice, such as `controller`.
    const WHAT: &'static str;

    /// An example of the table form.
    const EXAMPLE: &'static str;

    /// The names to choose from.
    fn names() -> &'static [&'static str];

    /// The choice with index `at` among the names, with its defaults.
    fn named(at: usize) -> Self;

    /// A required parameter of the choice with index `at`, if any. The choice's name alone is then
    /// not sufficient.
    fn needed(_at: usize) -> Option<&'static str> {
        None
    }

    /// Reads the choice with index `at` among the names. Its parameters come next in the table.
    fn read<'de, A: MapAccess<'de>>(at: usize, table: &mut A) -> Result<Self, A::Error>;
}

/// Reads either form.
pub fn deserialize_choice<'de, C: Choice, D: Deserializer<'de>>(deserializer: D) -> Result<C, D::Error> {
    deserializer.deserialize_any(Reader(PhantomData))
}

struct Reader<C>(PhantomData<C>);

impl<'de, C: Choice> Visitor<'de> for Reader<C> {
    type Value = C;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name of a {} in quotes, or a table such as `{}`", C::WHAT, C::EXAMPLE)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<C, E> {
        let at = C::names().iter().position(|other| *other == name);
        let at = at.ok_or_else(|| E::unknown_variant(name, C::names()))?;
        match C::needed(at) {
            None => Ok(C::named(at)),
            Some(key) => Err(E::custom(format_args!(
                "`{name}` needs its `{key}`; allowed: a table such as `{{ {name} = {{ {key} = … }} }}`"
            ))),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<C, A::Error> {
        let Some(at) = table.next_key_seed(OneOf(C::names()))? else {
            let what = C::WHAT;
            return Err(A::Error::custom(format_args!(
                "no {what} is named; allowed: the name of a {what} in quotes, or a table such as `{}`",
                C::EXAMPLE
            )));
        };
        let choice = C::read(at, &mut table)?;
        match table.next_key::<String>()? {
            None => Ok(choice),
            Some(second) => Err(A::Error::custom(format_args!(
                "`{second}` is a second {0}; allowed: one {0}, in a table such as `{1}`",
                C::WHAT,
                C::EXAMPLE
            ))),
        }
    }
}

/// The JSON schema of both forms. `Table` has the schema of the table form.
pub fn choice_schema<C: Choice, Table: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "description": alloc::format!("the name of a {}, or a table of one name with its parameters", C::WHAT),
        "anyOf": [{ "enum": C::names() }, generator.subschema_for::<Table>()],
    })
}

/// The JSON schema of a table with a name as its only key and parameters as value. `all` has each
/// name's description and schema.
pub fn tables_schema(
    all: impl Iterator<Item = (&'static str, &'static str, SchemaOf)>,
    generator: &mut SchemaGenerator,
) -> Schema {
    let tables: Vec<Schema> = all
        .map(|(name, what, parameters)| {
            let table = Map::from_iter([(name.into(), parameters(generator).to_value())]);
            json_schema!({
                "type": "object",
                "description": what,
                "properties": table,
                "additionalProperties": false,
                "required": [name],
            })
        })
        .collect();
    json_schema!({ "oneOf": tables })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use serde::Deserialize;

    #[derive(Debug, PartialEq)]
    enum Fruit {
        Apple(u32),
        Pear(u32),
        Quince(u32),
    }

    impl Choice for Fruit {
        const WHAT: &'static str = "fruit";
        const EXAMPLE: &'static str = "{ apple = 3 }";

        fn names() -> &'static [&'static str] {
            &["apple", "pear", "quince"]
        }

        fn needed(at: usize) -> Option<&'static str> {
            (at == 2).then_some("ripe")
        }

        fn named(at: usize) -> Self {
            [Fruit::Apple, Fruit::Pear, Fruit::Quince][at](0)
        }

        fn read<'de, A: MapAccess<'de>>(at: usize, table: &mut A) -> Result<Self, A::Error> {
            Ok([Fruit::Apple, Fruit::Pear, Fruit::Quince][at](table.next_value()?))
        }
    }

    #[derive(Debug)]
    struct Basket(Fruit);

    impl<'de> Deserialize<'de> for Basket {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserialize_choice(deserializer).map(Basket)
        }
    }

    fn read(text: &str) -> Result<Fruit, String> {
        let read = serde_json::from_str::<Basket>(text);
        read.map(|basket| basket.0).map_err(|error| error.to_string())
    }

    #[test]
    fn a_choice_is_a_name_or_a_table_of_one_name() {
        assert_eq!(read("\"pear\""), Ok(Fruit::Pear(0)));
        assert_eq!(read("{\"apple\": 3}"), Ok(Fruit::Apple(3)));
    }

    #[test]
    fn an_invalid_choice_is_refused_with_the_allowed_values() {
        for (text, message) in [
            ("\"plum\"", "unknown variant `plum`, expected one of `apple`, `pear`, `quince`"),
            ("{\"plum\": 3}", "unknown field `plum`, expected one of `apple`, `pear`, `quince`"),
            ("\"quince\"", "`quince` needs its `ripe`; allowed: a table such as `{ quince = { ripe = … } }`"),
            (
                "{}",
                "no fruit is named; allowed: the name of a fruit in quotes, or a table such as `{ apple = 3 }`",
            ),
            (
                "{\"apple\": 3, \"pear\": 2}",
                "`pear` is a second fruit; allowed: one fruit, in a table such as `{ apple = 3 }`",
            ),
            ("3", "expected the name of a fruit in quotes, or a table such as `{ apple = 3 }`"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
