//! Deserializes TOML with serde, and reports each mistake with its type and location.
//!
//! The toml crate's deserializer passes three types of map to every struct, so the code that reads
//! a struct is compiled three times. The deserializer also reports mistakes as sentences. Here
//! there is one type of map, and mistakes are data.

use crate::error::Problem;
use crate::words;
use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Expected, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use std::fmt;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue};

#[derive(Debug)]
pub(crate) struct Mistake {
    kind: Kind,
    pub(crate) span: Range<usize>,
}

#[derive(Debug)]
enum Kind {
    Unknown {
        what: &'static str,
        given: String,
        allowed: &'static [&'static str],
    },
    Missing(&'static str),
    /// Types in serde's terms.
    Wrong {
        found: String,
        wanted: String,
    },
    /// A message.
    Said(String),
}

/// Means that a location is not known yet. Every value has a span of at least one byte.
const NOWHERE: Range<usize> = 0..0;

impl Mistake {
    fn new(kind: Kind) -> Self {
        Mistake { kind, span: NOWHERE }
    }

    fn at(mut self, span: &Range<usize>) -> Self {
        if self.span == NOWHERE {
            self.span = span.clone();
        }
        self
    }

    pub(crate) fn explained(self, path: Option<&str>) -> Problem {
        let key = path.unwrap_or_default();
        match self.kind {
            Kind::Unknown { what, given, allowed } => Problem::Unknown {
                what,
                given,
                allowed: allowed.iter().map(|&word| word.to_owned()).collect(),
            },
            Kind::Missing(missing) => Problem::Missing {
                key: missing.into(),
                table: path.unwrap_or_default().into(),
                note: String::new(),
            },
            Kind::Wrong { found, wanted } => {
                Problem::BadValue { message: words::wrong(key, &found, &wanted), key: key.into() }
            }
            Kind::Said(message) => Problem::BadValue { key: key.into(), message },
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.kind)
    }
}

impl std::error::Error for Mistake {}

impl de::Error for Mistake {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Mistake::new(Kind::Said(message.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Mistake::new(Kind::Wrong { found: found.to_string(), wanted: wanted.to_string() })
    }

    fn invalid_value(found: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::invalid_type(found, wanted)
    }

    fn unknown_field(given: &str, allowed: &'static [&'static str]) -> Self {
        Mistake::new(Kind::Unknown { what: "key", given: given.into(), allowed })
    }

    fn unknown_variant(given: &str, allowed: &'static [&'static str]) -> Self {
        Mistake::new(Kind::Unknown { what: "word", given: given.into(), allowed })
    }

    fn missing_field(field: &'static str) -> Self {
        Mistake::new(Kind::Missing(field))
    }
}

pub(crate) fn read<T: DeserializeOwned>(root: &Spanned<DeTable<'_>>) -> Result<T, Mistake> {
    T::deserialize(Node { value: Value::Table(root.get_ref()), span: root.span() })
}

struct Node<'a> {
    value: Value<'a>,
    span: Range<usize>,
}

enum Value<'a> {
    Table(&'a DeTable<'a>),
    Array(&'a DeArray<'a>),
    Plain(&'a DeValue<'a>),
}

impl Value<'_> {
    /// Its description in serde's terms.
    fn described(&self) -> String {
        match self {
            Value::Table(_) => "map".into(),
            Value::Array(_) => "sequence".into(),
            Value::Plain(DeValue::Integer(number)) => format!("integer `{}`", number.as_str()),
            Value::Plain(DeValue::Float(number)) => format!("floating point `{}`", number.as_str()),
            Value::Plain(DeValue::Boolean(truth)) => format!("boolean `{truth}`"),
            Value::Plain(other) => format!("a {}", other.type_str()),
        }
    }
}

impl<'a> From<&'a Spanned<DeValue<'a>>> for Node<'a> {
    fn from(value: &'a Spanned<DeValue<'a>>) -> Self {
        let span = value.span();
        let value = match value.get_ref() {
            DeValue::Table(table) => Value::Table(table),
            DeValue::Array(items) => Value::Array(items),
            plain => Value::Plain(plain),
        };
        Node { value, span }
    }
}

impl<'de> Deserializer<'de> for Node<'_> {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.value {
            Value::Table(table) => visitor.visit_map(Entries { rest: table.iter(), value: None }),
            Value::Array(items) => visitor.visit_seq(Items(items.iter())),
            Value::Plain(value) => plain(value, visitor),
        }
        .map_err(|mistake| mistake.at(&self.span))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let mut entries = match &self.value {
            Value::Table(table) => Some(table.iter()),
            Value::Plain(DeValue::String(_)) => None,
            other => {
                let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
                let wanted = format!("{}, in quotes", crate::error::listed(&words));
                let kind = Kind::Wrong { found: other.described(), wanted };
                return Err(Mistake { kind, span: self.span });
            }
        };
        match (entries.as_mut().and_then(Iterator::next), &self.value) {
            (None, Value::Plain(DeValue::String(word))) => visitor.visit_enum(Choice { word, value: None }),
            (Some((key, value)), _) if entries.is_some_and(|mut more| more.next().is_none()) => {
                let word = key.get_ref();
                visitor.visit_enum(Choice { word, value: Some((key.span(), Node::from(value))) })
            }
            _ => Err(de::Error::custom(
                "the table does not name exactly one word; \
                 allowed: one word in quotes, or `{ word = … }` if the word takes a value",
            )),
        }
        .map_err(|mistake| mistake.at(&self.span))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64 char str string seq bytes byte_buf map unit
        unit_struct tuple_struct tuple struct identifier
    }
}

/// A value without nested values, as a type that serde's visitors accept.
enum Scalar<'a> {
    Text(&'a str),
    Truth(bool),
    Signed(i64),
    Unsigned(u64),
    Wide(i128),
    Real(f64),
    Date,
}

/// Not generic, so that it is compiled once instead of once per field type.
fn scalar<'a>(value: &'a DeValue<'_>) -> Result<Scalar<'a>, Mistake> {
    Ok(match value {
        DeValue::String(text) => Scalar::Text(text),
        DeValue::Boolean(truth) => Scalar::Truth(*truth),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => match (i64::try_from(number), u64::try_from(number)) {
                (Ok(number), _) => Scalar::Signed(number),
                (_, Ok(number)) => Scalar::Unsigned(number),
                _ => Scalar::Wide(number),
            },
            Err(_) => {
                return Err(de::Error::custom(format!(
                    "{number} has too many digits; allowed: a whole number of at most 19 digits"
                )));
            }
        },
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(real) if real.is_finite() || number.as_str().contains(['i', 'n']) => Scalar::Real(real),
            _ => {
                return Err(de::Error::custom(format!(
                    "{number} is too large; allowed: at most {:e}",
                    f64::MAX
                )));
            }
        },
        DeValue::Datetime(_) => Scalar::Date,
        DeValue::Array(_) | DeValue::Table(_) => unreachable!("no plain value"),
    })
}

fn plain<'de, V: Visitor<'de>>(value: &DeValue<'_>, visitor: V) -> Result<V::Value, Mistake> {
    match scalar(value)? {
        Scalar::Text(text) => visitor.visit_str(text),
        Scalar::Truth(truth) => visitor.visit_bool(truth),
        Scalar::Signed(number) => visitor.visit_i64(number),
        Scalar::Unsigned(number) => visitor.visit_u64(number),
        Scalar::Wide(number) => visitor.visit_i128(number),
        Scalar::Real(real) => visitor.visit_f64(real),
        Scalar::Date => Err(de::Error::invalid_type(Unexpected::Other("a date"), &visitor)),
    }
}

struct Items<'a>(std::slice::Iter<'a, Spanned<DeValue<'a>>>);

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Mistake;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Mistake> {
        self.0.next().map(|item| seed.deserialize(Node::from(item))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Entries<'a> {
    rest: toml::map::Iter<'a, Spanned<DeString<'a>>, Spanned<DeValue<'a>>>,
    value: Option<&'a Spanned<DeValue<'a>>>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Mistake;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Mistake> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        let read = seed.deserialize(StrDeserializer::new(key.get_ref()));
        read.map(Some).map_err(|mistake: Mistake| mistake.at(&key.span()))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Mistake> {
        let value = self.value.take().expect("its key was read just before");
        seed.deserialize(Node::from(value)).map_err(|mistake| mistake.at(&value.span()))
    }
}

/// One of several words, alone or with a value: `"word"` or `{ word = value }`.
struct Choice<'a> {
    word: &'a str,
    /// The location of the word, and the value given with it.
    value: Option<(Range<usize>, Node<'a>)>,
}

impl<'de, 'a> EnumAccess<'de> for Choice<'a> {
    type Error = Mistake;
    type Variant = Chosen<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Chosen<'a>), Mistake> {
        let read = seed.deserialize(StrDeserializer::new(self.word));
        match self.value {
            None => Ok((read?, Chosen(None))),
            Some((span, value)) => {
                Ok((read.map_err(|mistake: Mistake| mistake.at(&span))?, Chosen(Some(value))))
            }
        }
    }
}

struct Chosen<'a>(Option<Node<'a>>);

impl<'de> VariantAccess<'de> for Chosen<'_> {
    type Error = Mistake;

    fn unit_variant(self) -> Result<(), Mistake> {
        match self.0 {
            None => Ok(()),
            Some(Node { value: Value::Table(table), .. }) if table.is_empty() => Ok(()),
            Some(Node { span, .. }) => {
                let kind = Kind::Said("this word takes no value; allowed: the word alone, in quotes".into());
                Err(Mistake { kind, span })
            }
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Mistake> {
        seed.deserialize(self.value()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Mistake> {
        self.value()?.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        self.value()?.deserialize_any(visitor)
    }
}

impl<'a> Chosen<'a> {
    fn value(self) -> Result<Node<'a>, Mistake> {
        self.0.ok_or_else(|| de::Error::custom("the word was given alone; allowed: `{ word = … }`"))
    }
}

#[cfg(test)]
mod tests {
    use crate::read_document;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        Plain,
        With(u32),
        Table { depth: u8 },
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Spec {
        word: Word,
        number: Option<f64>,
    }

    fn read(word: &str) -> Spec {
        read_document::<Spec>("a", &format!("word = {word}")).expect("a good one").0
    }

    fn said(text: &str) -> String {
        read_document::<Spec>("a", text).map(|_| ()).expect_err("a bad one").to_string()
    }

    #[test]
    fn a_choice_is_a_word_or_a_table_with_its_value() {
        assert_eq!(read("\"plain\"").word, Word::Plain);
        assert_eq!(read("{ plain = {} }").word, Word::Plain);
        assert_eq!(read("{ with = 3 }").word, Word::With(3));
        assert_eq!(read("{ table = { depth = 4 } }").word, Word::Table { depth: 4 });
        for (text, expected) in [
            (
                "word = \"plain\"\nnumber = 2020-01-01",
                "a:2:10: `number`: a date was given; allowed: a number",
            ),
            (
                "word = \"plain\"\nnumber = 1e999",
                "a:2:10: `number`: 1e999 is too large; allowed: at most 1.7976931348623157e308",
            ),
            ("word = { plane = 1 }", "a:1:10: unknown word `plane`; allowed: `plain`, `with` or `table`"),
            (
                "word = 3",
                "a:1:8: `word`: integer `3` was given; allowed: `plain`, `with` or `table`, in quotes",
            ),
            ("word = \"with\"", "a:1:8: `word`: the word was given alone; allowed: `{ word = … }`"),
            (
                "word = { plain = 1, with = 2 }",
                "a:1:8: `word`: the table does not name exactly one word; \
                 allowed: one word in quotes, or `{ word = … }` if the word takes a value",
            ),
            (
                "word = { plain = 1 }",
                "a:1:18: `word.plain`: this word takes no value; allowed: the word alone, in quotes",
            ),
            (
                "word = { table = { depth = 300 } }",
                "a:1:28: `word.table.depth`: integer `300` was given; allowed: a whole number from 0 to 255",
            ),
            ("number = 1", "a:1:1: the key `word` is missing; add `word = …`"),
        ] {
            assert_eq!(said(text), expected);
        }
    }
}
