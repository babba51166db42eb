//! The changes of a link, as entered.

use fairwire_core::{Duration, Rate};
use fairwire_laws::spec::Quantity;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use std::fmt;

/// A change of a link at a given time. It has at least one of: another rate, another delay, a time
/// for which the link is down.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeSpec {
    /// The time of the change, from the start of the run.
    pub at: Quantity<Duration>,
    /// The rate from this time on. Default: unchanged.
    pub rate: Option<Quantity<Rate>>,
    /// The propagation delay of packets sent from this time on, one way. Default: unchanged.
    pub delay: Option<Quantity<Duration>>,
    /// The outage: its length, or a table with its length and the fate of packets. Default: none.
    pub down: Option<DownSpec>,
}

/// The length of an outage, in which a link carries nothing.
#[derive(Clone, Copy, Debug, JsonSchema)]
#[schemars(untagged)]
pub enum DownSpec {
    /// A time. Packets are held.
    Time(Quantity<Duration>),
    /// A time, and the fate of packets.
    Table(OutageSpec),
}

/// A time in which a link carries nothing, and the fate of packets.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutageSpec {
    /// The duration.
    pub r#for: Quantity<Duration>,
    /// The fate of the packets. Default: "held".
    #[serde(default)]
    pub packets: DownPackets,
}

/// The fate of packets on a link that carries nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DownPackets {
    /// The link sends nothing. Waiting packets stay, and a packet that was being sent is completed
    /// afterwards. Packets already sent arrive.
    #[default]
    Held,
    /// The link sends at its rate, and its wire loses what is sent. Packets sent earlier arrive.
    Lost,
}

impl DownSpec {
    pub(crate) fn time(self) -> Duration {
        match self {
            DownSpec::Time(time) | DownSpec::Table(OutageSpec { r#for: time, .. }) => time.0,
        }
    }

    pub(crate) fn packets(self) -> DownPackets {
        match self {
            DownSpec::Time(_) => DownPackets::Held,
            DownSpec::Table(of) => of.packets,
        }
    }

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

/// An element of a pattern: a rate and its duration, or the time for which the link is down.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartSpec {
    /// The rate.
    pub rate: Option<Quantity<Rate>>,
    /// The duration of the rate, above 0.
    #[serde(rename = "for")]
    pub length: Option<Quantity<Duration>>,
    /// The time for which the link sends nothing, above 0, instead of a rate and its duration.
    /// Waiting packets stay.
    pub down: Option<Quantity<Duration>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Varying<'a> {
    pub(crate) changes: Option<&'a Vec<ChangeSpec>>,
    pub(crate) pattern: Option<&'a Vec<PartSpec>>,
    pub(crate) trace: Option<&'a String>,
    pub(crate) scale_to: Option<Quantity<Rate>>,
    pub(crate) delays: Option<&'a String>,
}
