//! How a link changes, as given.

use fairwire_core::{Duration, Rate};
use fairwire_laws::spec::Quantity;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use std::fmt;

/// What a link is from a time on: one at least of another rate, another delay and a time for which
/// it is down.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeSpec {
    /// From when on, counted from the start of the run.
    pub at: Quantity<Duration>,
    /// The rate from then on. Default: as it was.
    pub rate: Option<Quantity<Rate>>,
    /// The propagation delay of what is sent from then on, one way. Default: as it was.
    pub delay: Option<Quantity<Duration>>,
    /// For how long it carries nothing, as a time or as a table of it and of what becomes of packets.
    /// Default: it carries all the time.
    pub down: Option<DownSpec>,
}

/// For how long a link carries nothing.
#[derive(Clone, Copy, Debug, JsonSchema)]
#[schemars(untagged)]
pub enum DownSpec {
    /// A time, with packets held.
    Time(Quantity<Duration>),
    /// A time, and what becomes of packets.
    Table(OutageSpec),
}

/// A time in which a link carries nothing, and what becomes of packets.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutageSpec {
    /// For how long.
    pub r#for: Quantity<Duration>,
    /// What becomes of its packets. Default: "held".
    #[serde(default)]
    pub packets: DownPackets,
}

/// What becomes of the packets of a link that carries nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DownPackets {
    /// It sends nothing. What waits goes on waiting, and so does the rest of a packet that is being
    /// sent; what was sent arrives.
    #[default]
    Held,
    /// It sends at its rate, and its wire loses what is sent. What was sent before arrives.
    Lost,
}

impl DownSpec {
    /// For how long.
    pub(crate) fn time(self) -> Duration {
        match self {
            DownSpec::Time(time) | DownSpec::Table(OutageSpec { r#for: time, .. }) => time.0,
        }
    }

    /// What becomes of packets.
    pub(crate) fn packets(self) -> DownPackets {
        match self {
            DownSpec::Time(_) => DownPackets::Held,
            DownSpec::Table(of) => of.packets,
        }
    }

    /// The path of the time, where this is at `path`.
    pub(crate) fn path(self, path: &str) -> String {
        match self {
            DownSpec::Time(_) => path.to_owned(),
            DownSpec::Table(_) => format!("{path}.for"),
        }
    }
}

impl<'de> Deserialize<'de> for DownSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = DownSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time such as \"2 s\", or a table such as { for = \"2 s\", packets = \"lost\" }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<DownSpec, E> {
        text.parse().map(|time| DownSpec::Time(Quantity(time))).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<DownSpec, A::Error> {
        OutageSpec::deserialize(MapAccessDeserializer::new(map)).map(DownSpec::Table)
    }
}

/// A part of a pattern: a rate and for how long, or for how long the link is down.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartSpec {
    /// The rate.
    pub rate: Option<Quantity<Rate>>,
    /// For how long; above 0.
    #[serde(rename = "for")]
    pub length: Option<Quantity<Duration>>,
    /// For how long it sends nothing, in place of both; above 0. What waits goes on waiting.
    pub down: Option<Quantity<Duration>>,
}

/// How a link changes, from one table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Varying<'a> {
    pub(crate) changes: Option<&'a Vec<ChangeSpec>>,
    pub(crate) pattern: Option<&'a Vec<PartSpec>>,
    pub(crate) trace: Option<&'a String>,
    pub(crate) scale_to: Option<Quantity<Rate>>,
    pub(crate) delays: Option<&'a String>,
}
