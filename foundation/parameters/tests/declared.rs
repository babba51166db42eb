//! The code that a declaration generates.

use fairwire_core::Duration;
use fairwire_parameters::{ByName, Declared as _, Quantity, parameters};

const NAME: &str = "both";

#[parameters(checked = CheckedPart, group)]
#[derive(Clone, Debug, Default, PartialEq)]
struct Part {
    /// A part.
    ///
    /// More of it.
    #[parameter(default = 0.25, above = 0.0, max = 1.0, unit = "1", source = "RFC 1.")]
    part: Option<f64>,
    /// A count.
    #[parameter(unset = "as many as there are", min = 1, max = 9, unit = "flows")]
    count: Option<u32>,
}

#[parameters(checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
struct Both {
    /// A time.
    #[parameter(default = "5 ms", min = "1 us")]
    time: Option<Quantity<Duration>>,
    #[parameter(flatten)]
    part: Part,
    /// Whether it is so.
    #[parameter(default = true)]
    last: Option<bool>,
}

fn read(text: &str) -> Result<Both, toml::de::Error> {
    toml::from_str(text)
}

#[test]
fn parameters_of_a_group_are_merged_with_the_others() {
    assert_eq!(Both::NAMES, ["time", "part", "count", "last"]);
    let both = read("last = false\npart = 0.5\ntime = '1 ms'").unwrap();
    assert_eq!((both.part.part, both.last), (Some(0.5), Some(false)));
    assert_eq!(serde_json::to_string(&both).unwrap(), r#"{"time":"1 ms","part":0.5,"last":false}"#);
}

#[test]
fn an_omitted_parameter_has_its_default_or_stays_unset() {
    let given = Both::default();
    assert_eq!(given.checked().unwrap(), Checked { time: Duration::from_ms(5), last: true });
    assert_eq!(given.part.checked().unwrap(), CheckedPart { part: 0.25, count: None });
}

#[test]
fn a_value_out_of_bounds_is_refused_with_the_allowed_range() {
    for (text, allowed) in [
        ("part = 0.0", "a number above 0, at most 1"),
        ("part = nan", "a number above 0, at most 1"),
        ("count = 10", "a whole number from 1 to 9"),
    ] {
        assert_eq!(read(text).unwrap().part.checked().unwrap_err().allowed, allowed, "{text}");
    }
    let early = read("time = '1 ns'").unwrap().checked().unwrap_err();
    assert_eq!((early.name, &*early.given, &*early.allowed), ("time", "1 ns", "a time of at least 1 us"));
}

#[test]
fn an_error_has_its_position() {
    for (text, line, message) in [
        (
            "last = true\nparts = 1",
            "line 2",
            "unknown field `parts`, expected one of `time`, `part`, `count`, `last`",
        ),
        ("\n\npart = 'x'", "line 3", "invalid type: string \"x\", expected f64"),
        ("time = 5", "line 1", "expected a string such as \"5 ms\""),
        (
            "\ncount = 1.5",
            "line 2",
            "invalid type: floating point `1.5`, expected a whole number from 1 to 9",
        ),
        ("count = -1", "line 1", "invalid value: integer `-1`, expected a whole number from 1 to 9"),
        ("count = 5000000000", "line 1", "integer `5000000000`, expected a whole number from 1 to 9"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(line) && error.contains(message), "{error}");
    }
    let twice = serde_json::from_str::<Both>(r#"{"last": true, "last": true}"#).unwrap_err().to_string();
    assert!(twice.contains("duplicate field `last`"), "{twice}");
}

#[test]
fn the_schema_and_the_fields_match_the_declaration() {
    let schema = schemars::schema_for!(Both).to_value();
    let part = &schema["properties"]["part"];
    assert_eq!(part["description"], "A part (above 0, at most 1). Default: 0.25.");
    assert_eq!((&part["exclusiveMinimum"], &part["maximum"]), (&0.0.into(), &1.0.into()));
    let field = Both::FIELDS[1];
    assert_eq!(
        (field.unit, field.default, field.source, field.notes),
        ("1", "0.25", "RFC 1.", "More of it.")
    );
    assert_eq!((Both::FIELDS[0].unit, Both::FIELDS[3].unit), ("time", "true or false"));
}

#[parameters(name = "needing", checked = CheckedNeeding)]
#[derive(Clone, Debug, Default, PartialEq)]
struct Needing {
    /// A file.
    #[parameter(required, unit = "path")]
    file: Option<String>,
    /// A time.
    #[parameter(required, min = "1 us")]
    time: Option<Quantity<Duration>>,
    /// A factor.
    #[parameter(default = 1.0, unit = "1")]
    factor: Option<f64>,
}

#[test]
fn a_table_without_a_required_parameter_is_refused() {
    let read = |text: &str| toml::from_str::<Needing>(text);
    let error = read("file = 'a'").unwrap_err().to_string();
    assert!(error.contains("missing field `time`"), "{error}");
    let whole = read("file = 'a'\ntime = '1 ms'").unwrap();
    let checked = CheckedNeeding { file: "a".into(), time: Duration::from_ms(1), factor: 1.0 };
    assert_eq!(whole.checked().unwrap(), checked);
    let short = read("file = 'a'\ntime = '1 ns'").unwrap().checked().unwrap_err();
    assert_eq!((short.name, &*short.allowed), ("time", "a time of at least 1 us"));
}

#[test]
fn parameters_built_without_a_required_one_fail_the_check() {
    let missing = Needing::default().checked().unwrap_err();
    assert_eq!(missing.to_string(), "`file` is missing; allowed: a value, which must be given");
}

#[test]
fn the_schema_lists_required_parameters() {
    let schema = schemars::schema_for!(Needing).to_value();
    assert_eq!(schema["required"], serde_json::json!(["file", "time"]));
    let text = schema["properties"]["file"]["description"].as_str();
    assert_eq!(text, Some("A file. Default: none, it must be given."));
    assert_eq!(schemars::schema_for!(Both).get("required"), None);
}

#[test]
fn reading_by_name_still_requires_the_required_parameters() {
    let read = |text: &str| {
        let mut reader = serde_json::Deserializer::from_str(text);
        serde::de::DeserializeSeed::deserialize(ByName::of::<Needing>(), &mut reader)
            .map_err(|error| error.to_string())
    };
    assert!(read(r#"{"file": "a", "time": "1 ms"}"#).is_ok());
    let error = read(r#"{"file": "a"}"#).unwrap_err();
    assert!(error.contains("missing field `time`"), "{error}");
    let error = read(r#"{"file": "a", "time": 3}"#).unwrap_err();
    assert!(error.contains("a string such as \"5 ms\""), "{error}");
}
