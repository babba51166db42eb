//! Compares the reader that needs no serde with the crate `toml`.

use fairwire_core::Duration;
use fairwire_parameters::text::{Table, TextError, Value, from_text};
use fairwire_parameters::{Quantity, parameters, word};
use proptest::prelude::*;

fn is_same(ours: &Value, theirs: &toml::Value) -> bool {
    match (ours, theirs) {
        (Value::Text(ours), toml::Value::String(theirs)) => ours == theirs,
        (Value::Whole(ours), toml::Value::Integer(theirs)) => ours == theirs,
        (Value::Number(ours), toml::Value::Float(theirs)) => {
            ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan()
        }
        (Value::Truth(ours), toml::Value::Boolean(theirs)) => ours == theirs,
        (Value::List(ours), toml::Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| is_same(ours, theirs))
        }
        (Value::Table(ours), toml::Value::Table(theirs)) => is_same_table(ours, theirs),
        _ => false,
    }
}

fn is_same_table(ours: &Table, theirs: &toml::Table) -> bool {
    ours.entries().count() == theirs.len()
        && ours.entries().all(|(key, _, value)| theirs.get(key).is_some_and(|theirs| is_same(value, theirs)))
}

const PIECES: &[&str] = &[
    "a",
    "b.c",
    "a.b",
    "\"q\"",
    "'l'",
    " = ",
    "=",
    "\n",
    "\r\n",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    ", ",
    ".",
    "# x",
    "1",
    "-0",
    "+1_0",
    "0x_f",
    "0b11",
    "007",
    "1.5",
    "1e3",
    "-inf",
    "nan",
    "true",
    "\"\\u00e9\\n\"",
    "'''",
    "\"\"",
    "1979-05-27",
    "a = 1\n",
    "a.b = 1\n",
    "[a]\n",
    "[a.b]\n",
    "[[a]]\n",
    "x = {}\n",
    "x = { y.z = 1 }\n",
    "[x.y]\n",
    "l = [1, 2]\n",
    "\t",
    "é",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn every_accepted_text_is_toml_with_the_same_values(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..12)) {
        let text = pieces.concat();
        if let Ok(ours) = Table::parse(&text) {
            let theirs = toml::from_str::<toml::Table>(&text);
            prop_assert!(theirs.as_ref().is_ok_and(|theirs| is_same_table(&ours, theirs)), "{text:?}: {ours:?}, {theirs:?}");
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}", bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = (Table::parse(&text), Table::parse(&String::from_utf8_lossy(&bytes)));
    }
}

const WHOLE: &str = "
# All that is read.
truth = true
'quoted key' = \"a \\\"text\\\" \\u00e9\"
numbers = [ 1, -2.5e-3, 0xff, # with a comment
  1_000, +inf, ]
inline = { a = 1, b.c = 'x', b.d = [ { e = false } ] }
dotted.a = 1
dotted.b = 2

[table.inside]
key = 'value'
[[list]]
id = 1
[[list]]
id = 2
";

#[test]
fn a_text_of_all_supported_forms_has_the_values_of_toml() {
    let ours = Table::parse(WHOLE).unwrap();
    assert!(is_same_table(&ours, &toml::from_str(WHOLE).unwrap()), "{ours:?}");
}

#[test]
fn unreadable_text_is_refused_with_its_line() {
    let deep = format!("a = {}", "[".repeat(100_000));
    let long = "#".repeat(70_000);
    for (text, line, part) in [
        ("a = 1\na = 2", 2, "`a` is given twice"),
        ("a = 1 b = 2", 1, "`b` is found after a value"),
        ("\n\na 1", 3, "`a` is followed by no `=`"),
        ("a = \"x", 1, "does not end in its line"),
        ("a = 1979-05-27", 1, "`1979-05-27` is no value"),
        ("a = '''x'''", 1, "three quotes"),
        ("[a]\nb = [1\n2]", 3, "`2` is found in a list; allowed: `,` or `]`"),
        ("a = \"\\q\"", 1, "unknown escape"),
        ("a = {}\n[a.b]", 2, "`a` is given twice"),
        ("a = 99999999999999999999", 1, "is no value"),
        ("a = 1e999", 1, "`1e999` is no value"),
        (&deep[..60_000], 1, "more than 16 deep"),
        (&long, 1, "allowed: at most 65536"),
    ] {
        let TextError { line: at, message } = Table::parse(text).unwrap_err();
        assert!(at == line && message.contains(part), "{at}: {message}, and not {line}: {part}");
    }
}

const NAME: &str = "shop";

#[parameters(gated)]
#[derive(Debug, Default, PartialEq)]
struct Shop {
    /// How long it is open.
    #[parameter(required)]
    open: Option<Quantity<Duration>>,
    /// What is sold.
    #[parameter(default = Goods::DriedFruit)]
    goods: Option<Goods>,
    /// How many.
    #[parameter(default = 1, min = 1, unit = "1")]
    count: Option<u32>,
}

#[word(gated)]
enum Goods {
    #[default]
    DriedFruit,
    #[cfg_attr(feature = "serde", serde(rename = "bread+butter", alias = "toast"))]
    Bread,
}

#[test]
fn a_struct_of_parameters_is_read_and_its_faults_are_named() {
    let read = |text: &str| from_text::<Shop>(text).map_err(|error| error.to_string());
    let shop = Shop { open: Some(Quantity(Duration::from_ms(5))), goods: Some(Goods::Bread), count: None };
    assert_eq!(read("open = '5 ms'\ngoods = 'toast'"), Ok(shop));
    for (text, message) in [
        ("", "line 1: `open` is missing; it must be given"),
        ("open = 5", "line 1: `open`: 5 is given; allowed: a text with a unit, such as \"10 ms\""),
        (
            "cuont = 1",
            "line 1: `cuont` is no parameter here; allowed: `open`, `goods`, `count`; did you mean `count`?",
        ),
        (
            "open = '1 s'\ngoods = 'bread'",
            "line 2: `goods`: \"bread\" is given; allowed: \"dried-fruit\", \"bread+butter\", \"toast\"; did you mean `bread+butter`?",
        ),
    ] {
        assert_eq!(read(text).unwrap_err(), message);
    }
}
