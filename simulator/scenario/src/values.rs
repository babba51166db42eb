//! Values with their own notation.

use fairwire_core::units::UnitError;
use fairwire_core::{Duration, Rng};
use fairwire_document::shortened;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::num::IntErrorKind;
use std::str::FromStr;

/// The maximum number of seeds. More would hardly narrow an interval, because its width shrinks
/// only with the square root of their number.
const MAX_SEEDS: u64 = 10_000;

const SEEDS_WANTED: &str = "one seed such as 7, a list such as \"1, 2, 3\", or a range such as \"1..=10\": at most 10000 seeds, all different";

/// The seeds to run under, written `7`, `[1, 2, 3]`, `"1..=10"` (the end included), or `"1..11"`
/// (the end excluded).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds(Vec<u64>);

/// The error for seeds that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` {why}; allowed: {SEEDS_WANTED}{}", meant(given))]
pub struct SeedsError {
    given: String,
    why: &'static str,
}

fn meant(given: &str) -> String {
    let range = ["...", "-", "\u{2013}", ":", " to "].iter().find_map(|sign| {
        let (first, last) = given.split_once(sign)?;
        Some((first.trim().parse::<u64>().ok()?, last.trim().parse::<u64>().ok()?))
    });
    range.map_or(String::new(), |(first, last)| format!("; did you mean `{first}..={last}`?"))
}

impl Seeds {
    /// The seeds, in the order written.
    pub fn as_slice(&self) -> &[u64] {
        &self.0
    }

    fn checked(seeds: Vec<u64>, given: &dyn fmt::Display) -> Result<Self, SeedsError> {
        let refuse = |why| Err(SeedsError { given: shortened(&given.to_string()), why });
        let mut sorted = seeds.clone();
        sorted.sort_unstable();
        sorted.dedup();
        match seeds.len() {
            0 => refuse("names no seed"),
            n if n as u64 > MAX_SEEDS => refuse("names too many seeds"),
            n if n != sorted.len() => refuse("names a seed twice"),
            _ => Ok(Seeds(seeds)),
        }
    }
}

impl Default for Seeds {
    fn default() -> Self {
        Seeds((1..=10).collect())
    }
}

impl FromStr for Seeds {
    type Err = SeedsError;
    fn from_str(text: &str) -> Result<Self, SeedsError> {
        let refuse = |why| SeedsError { given: shortened(text), why };
        let number = |part: &str| {
            part.trim().parse::<u64>().map_err(|error| match error.kind() {
                IntErrorKind::PosOverflow => refuse("has a seed above 18446744073709551615"),
                _ => refuse("has a seed that is not a whole number of 0 or more"),
            })
        };
        let (first, end) = match (text.split_once("..="), text.split_once("..")) {
            (Some((first, last)), _) => {
                let last = number(last)?;
                (number(first)?, last.checked_add(1).ok_or_else(|| refuse("ends too high"))?)
            }
            (None, Some((first, end))) => (number(first)?, number(end)?),
            (None, None) => {
                return Seeds::checked(text.split(',').map(number).collect::<Result<_, _>>()?, &text);
            }
        };
        // This is checked before the list is built, because a range may be extremely long.
        if end.saturating_sub(first) > MAX_SEEDS {
            return Err(refuse("names too many seeds"));
        }
        Seeds::checked((first..end).collect(), &text)
    }
}

impl<'de> Deserialize<'de> for Seeds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SeedsVisitor)
    }
}

impl Serialize for Seeds {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

struct SeedsVisitor;

impl<'de> Visitor<'de> for SeedsVisitor {
    type Value = Seeds;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SEEDS_WANTED)
    }

    fn visit_u64<E: de::Error>(self, seed: u64) -> Result<Seeds, E> {
        Ok(Seeds(vec![seed]))
    }

    fn visit_i64<E: de::Error>(self, seed: i64) -> Result<Seeds, E> {
        let seed = u64::try_from(seed)
            .map_err(|_| E::custom(SeedsError { given: seed.to_string(), why: "is negative" }))?;
        self.visit_u64(seed)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Seeds, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Seeds, A::Error> {
        let mut seeds = Vec::new();
        while let Some(seed) = seq.next_element::<u64>()? {
            seeds.push(seed);
        }
        let given = format!("{seeds:?}");
        Seeds::checked(seeds, &given).map_err(de::Error::custom)
    }
}

impl JsonSchema for Seeds {
    fn schema_name() -> Cow<'static, str> {
        "Seeds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "One seed, a list of seeds, or a range such as \"1..=10\".",
            "oneOf": [
                { "type": "integer", "minimum": 0 },
                { "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 1, "maxItems": MAX_SEEDS, "uniqueItems": true },
                { "type": "string", "pattern": "^ *[0-9]+ *(\\.\\.=? *[0-9]+ *|(, *[0-9]+ *)*)$" }
            ]
        })
    }
}

/// The start of a flow, at a fixed time or uniformly at random between two times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// At the earliest.
    pub earliest: Duration,
    /// At the latest.
    pub latest: Duration,
}

/// The error for a start that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A time in the text could not be read.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// The range ends before it begins.
    #[error("`{0}` ends before it begins; allowed: a time such as \"0 s\" or a range such as \"0 s..1 s\"")]
    Backwards(String),
}

impl Start {
    /// The start of one flow. Even a fixed start takes a number from `rng`, so later numbers are
    /// the same as with a random start.
    pub fn draw(self, rng: &mut Rng) -> Duration {
        let width = (self.latest - self.earliest).ns() as f64;
        self.earliest + Duration::from_ns((width * rng.uniform()) as u64)
    }
}

impl FromStr for Start {
    type Err = StartError;
    fn from_str(text: &str) -> Result<Self, StartError> {
        let Some((earliest, latest)) = text.split_once("..") else {
            let at = text.parse()?;
            return Ok(Start { earliest: at, latest: at });
        };
        let start = Start { earliest: earliest.parse()?, latest: latest.parse()? };
        if start.latest < start.earliest {
            return Err(StartError::Backwards(shortened(text)));
        }
        Ok(start)
    }
}

impl<'de> Deserialize<'de> for Start {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Start {
    fn schema_name() -> Cow<'static, str> {
        "Start".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "When a flow starts: a time, or a range in which each flow draws its own.",
            "type": "string",
            "examples": ["0 s", "0 s..1 s"]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Seed;

    #[test]
    fn seeds_read_in_every_spelling() {
        let seeds = |text: &str| text.parse::<Seeds>().map(|s| s.0);
        assert_eq!(seeds("7").unwrap(), [7]);
        assert_eq!(seeds("1..=3").unwrap(), [1, 2, 3]);
        assert_eq!(seeds("1..3").unwrap(), [1, 2]);
        assert_eq!(seeds("3, 1").unwrap(), [3, 1]);
        for (text, why) in [
            ("3..3", "names no seed"),
            ("1,1", "names a seed twice"),
            ("a", "is not a whole number"),
            ("-1", "is not a whole number"),
            ("0..=18446744073709551615", "ends too high"),
            ("0..18446744073709551615", "names too many seeds"),
        ] {
            assert!(seeds(text).unwrap_err().to_string().contains(why), "{text}");
            assert!(!seeds(text).unwrap_err().to_string().contains("did you mean"), "{text}");
        }
        for text in ["1-10", "1 - 10", "1:10", "1...10", "1 to 10"] {
            let message = seeds(text).unwrap_err().to_string();
            assert!(message.ends_with("; did you mean `1..=10`?"), "{message}");
        }
    }

    #[test]
    fn a_start_is_a_time_or_a_range_that_runs_forward() {
        let start: Start = "0 s..1 s".parse().unwrap();
        assert_eq!(start, Start { earliest: Duration::ZERO, latest: Duration::from_secs(1) });
        assert!("2 s..1 s".parse::<Start>().unwrap_err().to_string().contains("ends before it begins"));
        assert!("1".parse::<Start>().unwrap_err().to_string().contains("has no unit"));
    }

    #[test]
    fn drawn_starts_fill_their_range() {
        let start: Start = "1 s..3 s".parse().unwrap();
        let mut rng = Seed(1).stream("starts");
        let draws: Vec<f64> = (0..1000).map(|_| start.draw(&mut rng).secs()).collect();
        assert!(draws.iter().all(|s| (1.0..3.0).contains(s)));
        // The bound is five standard errors of 0.018 s.
        assert!((draws.iter().sum::<f64>() / 1000.0 - 2.0).abs() < 0.09);
    }
}
