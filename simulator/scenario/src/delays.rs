//! The delays of the flows of a group: equal, random, or from a list.

use fairwire_core::{Duration, Rng};
use fairwire_document::shortened;
use fairwire_laws::spec::Quantity;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// The delays of the flows of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delays {
    /// All equal.
    Fixed(Duration),
    /// Each flow's delay is random between these two.
    Drawn(Duration, Duration),
    /// The flows take these delays in turn, and begin again after the last one.
    InTurn(Vec<Duration>),
}

impl Delays {
    /// The delay of flow `number` of the group. Numbers start at 1.
    pub(crate) fn of(&self, number: u32, rng: impl FnOnce() -> Rng) -> Duration {
        match self {
            Delays::Fixed(delay) => *delay,
            Delays::Drawn(least, most) => {
                let width = (*most - *least).ns() as f64;
                *least + Duration::from_ns((width * rng().uniform()) as u64)
            }
            Delays::InTurn(list) => list[(number as usize - 1) % list.len()],
        }
    }

    pub(crate) fn shortest(&self) -> Duration {
        match self {
            Delays::Fixed(delay) | Delays::Drawn(delay, _) => *delay,
            Delays::InTurn(list) => list.iter().copied().min().unwrap_or_default(),
        }
    }

    pub(crate) fn mean(&self) -> Duration {
        match self {
            Delays::Fixed(delay) => *delay,
            Delays::Drawn(least, most) => *least + Duration::from_ns((*most - *least).ns() / 2),
            Delays::InTurn(list) => {
                let sum: u128 = list.iter().map(|delay| u128::from(delay.ns())).sum();
                Duration::from_ns((sum / list.len() as u128) as u64)
            }
        }
    }

    pub(crate) fn longest(&self) -> Duration {
        match self {
            Delays::Fixed(delay) | Delays::Drawn(_, delay) => *delay,
            Delays::InTurn(list) => list.iter().copied().max().unwrap_or_default(),
        }
    }
}

impl<'de> Deserialize<'de> for Delays {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Delays;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a time such as \"5 ms\", a range such as \"1 ms..9 ms\", or a list of times dealt out in turn",
        )
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Delays, E> {
        let read = |part: &str| part.parse::<Duration>().map_err(E::custom);
        let Some((least, most)) = text.split_once("..") else { return Ok(Delays::Fixed(read(text)?)) };
        let (least, most) = (read(least)?, read(most)?);
        if most < least {
            let given = shortened(text);
            return Err(E::custom(format!(
                "`{given}` ends before it begins; allowed: a time such as \"5 ms\" or a range such as \"1 ms..9 ms\""
            )));
        }
        Ok(Delays::Drawn(least, most))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Delays, A::Error> {
        let mut list = Vec::new();
        while let Some(Quantity(delay)) = seq.next_element()? {
            list.push(delay);
        }
        if list.is_empty() {
            return Err(de::Error::custom(
                "an empty list was given; allowed: one time at least, such as [\"5 ms\"]",
            ));
        }
        Ok(Delays::InTurn(list))
    }
}

impl JsonSchema for Delays {
    fn schema_name() -> Cow<'static, str> {
        "Delays".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<Quantity<Duration>>();
        let list = generator.subschema_for::<Vec<Quantity<Duration>>>();
        json_schema!({
            "description": "A time, a range in which each flow draws its own, or a list dealt out in turn.",
            "anyOf": [
                time,
                { "type": "string", "pattern": "\\.\\.", "examples": ["1 ms..9 ms"] },
                list,
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Seed;

    #[derive(serde::Deserialize)]
    struct Holder {
        delay: Delays,
    }

    fn read(text: &str) -> Result<Delays, String> {
        let holder: Result<Holder, _> = toml::from_str(&format!("delay = {text}"));
        holder.map(|holder| holder.delay).map_err(|error| error.to_string())
    }

    #[test]
    fn a_list_is_dealt_out_in_turn() {
        let delays = read("[\"1 ms\", \"5 ms\"]").unwrap();
        let of = |number| delays.of(number, || unreachable!("nothing is drawn"));
        assert_eq!([1, 2, 3].map(of), [1, 5, 1].map(Duration::from_ms));
        assert_eq!(delays.longest(), Duration::from_ms(5));
        assert_eq!((delays.shortest(), delays.mean()), (Duration::from_ms(1), Duration::from_ms(3)));
    }

    #[test]
    fn draws_from_a_range_fill_it() {
        let delays = read("\"1 ms..3 ms\"").unwrap();
        let mut rng = Seed(1).stream("delays");
        let draws: Vec<f64> =
            (1..=1000).map(|n| delays.of(n, || Seed(rng.next_u64()).stream("one")).secs()).collect();
        assert!(draws.iter().all(|s| (0.001..0.003).contains(s)));
        // The mean may differ by five standard errors, each 0.018 ms.
        assert!((draws.iter().sum::<f64>() / 1000.0 - 0.002).abs() < 0.00009);
    }

    #[test]
    fn a_bad_delay_is_refused_with_the_allowed_forms() {
        assert!(read("\"9 ms..1 ms\"").unwrap_err().contains("ends before it begins"));
        assert!(read("[]").unwrap_err().contains("one time at least"));
        assert!(read("\"5\"").unwrap_err().contains("has no unit"));
        assert!(read("5").unwrap_err().contains("a range such as"));
    }
}
