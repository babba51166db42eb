//! The contents of a plan file, as entered.

use fairwire_scenario::Seeds;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// The version of the format.
pub const FORMAT: u32 = 1;
const MAX_POINTS: u32 = 10_000;

/// A sweep: a scenario, its variations, and the results kept of each run.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "fairwire sweep")]
pub struct SweepSpec {
    /// The version of this format: 1.
    pub format: u32,
    /// The scenario file, as a path from the plan's folder. Required in a plan file.
    pub scenario: Option<String>,
    /// Changes to the scenario in every cell, as with `--set PATH=VALUE`.
    #[serde(default)]
    pub set: Vec<String>,
    /// The variations. Each key is `discipline` or a path as in `--set`, in quotes if it has dots.
    /// Its values are a list or a range. Every combination is a cell. Default: only the scenario's
    /// disciplines.
    #[serde(default)]
    pub vary: Vary,
    /// The seeds of each cell. Default: the scenario's.
    pub seeds: Option<Seeds>,
    /// The measures stored of each run, by their names in a summary. Default: all that a summary
    /// has.
    #[serde(default)]
    pub measures: Vec<String>,
    /// Are the records of flows stored too, with a row for each run and flow? Default: false.
    #[serde(default)]
    pub flows: bool,
    /// The precision, such as 0.01. Seeds are added to a cell, up to `seeds`, until the half width
    /// of the 95 % interval of each of `measures` is at most this fraction of the mean. Default:
    /// all seeds.
    pub precision: Option<f64>,
    /// The folder of the results, as a path from the plan's folder. Default: "results".
    pub store: Option<String>,
}

/// The axes of a sweep, in their order.
#[derive(Clone, Debug, Default)]
pub struct Vary(pub Vec<(String, AxisSpec)>);

/// The values of one axis.
#[derive(Clone, Debug)]
pub enum AxisSpec {
    /// One by one.
    List(Vec<toml::Value>),
    /// A range from one value to another.
    Range(RangeSpec),
}

/// Values from `from` to `to`, both included.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RangeSpec {
    /// The first value: a number, or a number with a unit such as "50 packets".
    #[schemars(with = "NumberOrText")]
    pub from: toml::Value,
    /// The last value, in the same unit.
    #[schemars(with = "NumberOrText")]
    pub to: toml::Value,
    /// The number of values: 2 or more.
    pub points: u32,
    /// The spacing: equal differences between neighbours, or equal ratios. Default: "linear".
    #[serde(default)]
    pub spacing: Spacing,
}

/// One end of a range, for the schema.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum NumberOrText {
    Number(f64),
    Text(String),
}

/// The spacing of a range's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Spacing {
    /// Equal differences.
    #[default]
    Linear,
    /// Equal ratios.
    Log,
}

impl AxisSpec {
    pub(crate) fn values(&self) -> Result<Vec<toml::Value>, String> {
        let values = match self {
            AxisSpec::List(values) => values.clone(),
            AxisSpec::Range(range) => range.values()?,
        };
        match values.len() {
            0 => Err("the list is empty; allowed: one value or more".into()),
            n if n > MAX_POINTS as usize => {
                Err(format!("{n} values were given; allowed: at most {MAX_POINTS}"))
            }
            _ => Ok(values),
        }
    }
}

const WANTED: &str = "a list of values, or { from = …, to = …, points = … }, with spacing = \"linear\" or \"log\" if wanted; a key with dots is written in quotes";

#[derive(Clone, Debug, PartialEq)]
struct Measured {
    number: f64,
    /// Is the number written without a decimal point?
    is_whole: bool,
    unit: Option<String>,
}

fn measured(value: &toml::Value) -> Option<Measured> {
    let of = |number, is_whole, unit| Some(Measured { number, is_whole, unit });
    match value {
        toml::Value::Integer(number) => of(*number as f64, true, None),
        toml::Value::Float(number) => of(*number, false, None),
        toml::Value::String(text) => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            let sign = text.len() - digits.len();
            let at = digits.find(|c: char| !c.is_ascii_digit() && c != '.')?;
            let (number, unit) = text.split_at(sign + at);
            of(number.parse().ok()?, !number.contains('.'), Some(unit.trim().to_owned()))
        }
        _ => None,
    }
}

impl RangeSpec {
    fn values(&self) -> Result<Vec<toml::Value>, String> {
        let end = |value: &toml::Value, name: &str| {
            let why = || {
                format!(
                    "`{name} = {value}` is no number; allowed: a number, or one with a unit such as \"50 packets\""
                )
            };
            measured(value).ok_or_else(why)
        };
        let (from, to) = (end(&self.from, "from")?, end(&self.to, "to")?);
        if from.unit != to.unit {
            return Err(format!(
                "`{}` and `{}` have different units; allowed: one unit for both",
                self.from, self.to
            ));
        }
        if !(2..=MAX_POINTS).contains(&self.points) {
            return Err(format!("`points = {}` was given; allowed: 2 to {MAX_POINTS}", self.points));
        }
        if self.spacing == Spacing::Log && !(from.number > 0.0 && to.number > 0.0) {
            return Err(
                "a range with `spacing = \"log\"` reaches zero; allowed: `from` and `to` above zero".into()
            );
        }
        let is_whole = from.is_whole && to.is_whole && from.unit.as_deref().is_none_or(is_counted);
        let at = |point: u32| {
            let part = f64::from(point) / f64::from(self.points - 1);
            let number = match self.spacing {
                Spacing::Linear => from.number + (to.number - from.number) * part,
                Spacing::Log => from.number * (to.number / from.number).powf(part),
            };
            written(number, is_whole, from.unit.as_deref())
        };
        let mut values: Vec<toml::Value> = (0..self.points).map(at).collect();
        values.dedup();
        Ok(values)
    }
}

fn is_counted(unit: &str) -> bool {
    matches!(unit, "packets" | "packet" | "B")
}

/// The value in TOML, rounded to twelve digits, so that three steps of 0.1 are 0.3.
fn written(number: f64, is_whole: bool, unit: Option<&str>) -> toml::Value {
    let number = if is_whole { number.round() } else { format!("{number:.11e}").parse().unwrap_or(number) };
    match unit {
        Some(unit) => toml::Value::String(format!("{number} {unit}")),
        None if is_whole => toml::Value::Integer(number as i64),
        None => toml::Value::Float(number),
    }
}

impl<'de> Deserialize<'de> for Vary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Axes;
        impl<'de> Visitor<'de> for Axes {
            type Value = Vary;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table with a list of values, or a range, for each key that varies")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Vary, M::Error> {
                let mut axes = Vec::new();
                while let Some(key) = map.next_key()? {
                    axes.push((key, map.next_value()?));
                }
                Ok(Vary(axes))
            }
        }
        deserializer.deserialize_map(Axes)
    }
}

impl<'de> Deserialize<'de> for AxisSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Values;
        impl<'de> Visitor<'de> for Values {
            type Value = AxisSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(WANTED)
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<AxisSpec, S::Error> {
                let mut values = Vec::new();
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(AxisSpec::List(values))
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<AxisSpec, M::Error> {
                let table = toml::Table::deserialize(MapAccessDeserializer::new(map))?;
                if let Some((key, _)) = table.iter().find(|(_, value)| value.is_array() || value.is_table()) {
                    return Err(M::Error::custom(format!(
                        "`{key}` is a list or a table, which a range cannot contain; allowed: {WANTED}, as in \"link.buffer\" = [\"50 packets\", \"100 packets\"]"
                    )));
                }
                table.try_into().map(AxisSpec::Range).map_err(|error: toml::de::Error| {
                    let why = match error.message().split_once(", expected ") {
                        Some((unknown, _)) if unknown.starts_with("unknown ") => unknown,
                        _ => error.message(),
                    };
                    let why = why.replacen("unknown field", "unknown key", 1);
                    let why = why.replacen("unknown variant", "unknown spacing", 1);
                    let why = why.replacen("missing field", "missing key", 1);
                    M::Error::custom(format!("{why}; allowed: {WANTED}"))
                })
            }
        }
        deserializer.deserialize_any(Values)
    }
}

impl JsonSchema for Vary {
    fn schema_name() -> Cow<'static, str> {
        "Vary".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let range = generator.subschema_for::<RangeSpec>();
        json_schema!({
            "type": "object",
            "additionalProperties": { "anyOf": [{ "type": "array", "minItems": 1 }, range] }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Result<Vec<String>, String> {
        let axis: AxisSpec =
            toml::from_str::<toml::Table>(&format!("a = {text}")).unwrap()["a"].clone().try_into().unwrap();
        axis.values().map(|values| values.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_range_has_both_ends_and_its_unit() {
        assert_eq!(
            values(r#"{ from = "50 packets", to = "800 packets", points = 5, spacing = "log" }"#).unwrap(),
            ["\"50 packets\"", "\"100 packets\"", "\"200 packets\"", "\"400 packets\"", "\"800 packets\""]
        );
        assert_eq!(values("{ from = 0.0, to = 0.3, points = 4 }").unwrap(), ["0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(
            values(r#"{ from = "1 ms", to = "2 ms", points = 3 }"#).unwrap(),
            ["\"1 ms\"", "\"1.5 ms\"", "\"2 ms\""]
        );
        assert_eq!(values("{ from = 1, to = 3, points = 5 }").unwrap(), ["1", "2", "3"], "counts are whole");
    }

    #[test]
    fn an_impossible_range_is_refused() {
        for (text, wanted) in [
            (r#"{ from = "1 Mbit/s", to = "1 Gbit/s", points = 3 }"#, "one unit for both"),
            (r#"{ from = 0, to = 10, points = 3, spacing = "log" }"#, "above zero"),
            ("{ from = 0, to = 10, points = 1 }", "2 to 10000"),
            (r#"{ from = "few", to = 10, points = 3 }"#, "a number"),
            ("[]", "one value or more"),
        ] {
            let why = values(text).unwrap_err();
            assert!(why.contains(wanted), "{text}: {why}");
        }
    }
}
