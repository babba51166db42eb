//! Links as typed: one that all flows share, or those of a network.

use crate::compared::Compared;
use crate::impair::ImpairSpec;
use crate::varying::{ChangeSpec, PartSpec, Varying};
use fairwire_core::units::{Amount, Room};
use fairwire_core::{Duration, Rate};
use fairwire_laws::spec::Quantity;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// `[link]`, or each `[[link]]`.
#[derive(Clone, Debug)]
pub enum Links {
    /// One that all flows share.
    Shared(LinkSpec),
    /// Those of a network.
    Network(Vec<NetworkLinkSpec>),
}

/// The shared link.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Its rate; what disciplines go by. Required but beside a `trace` or `pattern`; default there:
    /// its mean.
    pub rate: Option<Quantity<Rate>>,
    /// Its propagation delay, one way. Required but beside `delays`; default there: their mean.
    pub delay: Option<Quantity<Duration>>,
    /// How much may wait: packets, bytes, time at the link's rate, or bandwidth-delay products.
    pub buffer: Quantity<Room>,
    /// What it is from later times on: another rate or delay, or down for a time. Default: it does
    /// not change.
    pub changes: Option<Vec<ChangeSpec>>,
    /// What it repeats from the start on, in place of a rate that stays: `{ rate, for }` or
    /// `{ down }` each, one after the other, and again from the first. Default: none.
    pub pattern: Option<Vec<PartSpec>>,
    /// A file of delivery opportunities as mahimahi has them, or of seconds and Mbit/s in two columns,
    /// its path from the scenario's folder; or one of those that come along, by its name. Default: none.
    pub trace: Option<String>,
    /// The mean that its trace is scaled to; the times stay. Default: as it is.
    pub scale_to: Option<Quantity<Rate>>,
    /// A file of round trips, its path from the scenario's folder: half of each is the delay of
    /// what is sent then. Default: none.
    pub delays: Option<String>,
    /// What its wire does to packets that it has sent. Default: nothing.
    pub impair: Option<Box<ImpairSpec>>,
    /// Packets that the device behind the discipline holds: a FIFO, as of a network interface without
    /// byte queue limits. The discipline is polled for a packet when it has room. Default: none.
    pub device: Option<Quantity<Amount>>,
}

/// The way back over the shared link, with a queue. Acknowledgements share it, and so do the flows
/// of `direction = "reverse"`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReturnSpec {
    /// Its rate. Default: the mean of its own `trace`, or else the link's.
    pub rate: Option<Quantity<Rate>>,
    /// Its propagation delay, one way. Default: the link's.
    pub delay: Option<Quantity<Duration>>,
    /// How much may wait. Default: as much as at the link.
    pub buffer: Option<Quantity<Room>>,
    /// What it is from later times on. Default: as the link's; none if `rate` is given here.
    pub changes: Option<Vec<ChangeSpec>>,
    /// What it repeats from the start on, in place of a rate that stays: `{ rate, for }` or
    /// `{ down }` each, one after the other, and again from the first. Default: as for `changes`.
    pub pattern: Option<Vec<PartSpec>>,
    /// A file of delivery opportunities as mahimahi has them, or of seconds and Mbit/s in two columns,
    /// its path from the scenario's folder; or one of those that come along, by its name. Default: likewise.
    pub trace: Option<String>,
    /// The mean that its trace is scaled to; the times stay. Default: as it is.
    pub scale_to: Option<Quantity<Rate>>,
    /// A file of round trips, its path from the scenario's folder: half of each is the delay of
    /// what is sent then. Default: the link's, as the way back; none with `delay` or `changes` of its own.
    pub delays: Option<String>,
    /// What its wire does to packets. Default: as the link's.
    pub impair: Option<Box<ImpairSpec>>,
    /// Packets that the device behind the discipline holds: a FIFO, as of a network interface without
    /// byte queue limits. The discipline is polled for a packet when it has room. Default: none.
    pub device: Option<Quantity<Amount>>,
    /// What works there. Default: "tail-drop".
    pub discipline: Option<Compared>,
    /// Do the disciplines compared work there too? Default: no.
    #[serde(default)]
    pub bottleneck: bool,
}

/// A link of a network.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkLinkSpec {
    /// What results call it: as for groups. Its way back has `-back` after that. Default:
    /// "FROM-TO", and "TO-FROM".
    pub name: Option<String>,
    /// The node that it leads away from.
    pub from: String,
    /// The node that it leads to.
    pub to: String,
    /// Its rate; what disciplines go by. Required but beside a `trace` or `pattern`; default there:
    /// its mean.
    pub rate: Option<Quantity<Rate>>,
    /// Its propagation delay, one way. Required but beside `delays`; default there: their mean.
    pub delay: Option<Quantity<Duration>>,
    /// How much may wait: packets, bytes, time at the link's rate, or bandwidth-delay products.
    /// Required but for a wire.
    pub buffer: Option<Quantity<Room>>,
    /// What it is from later times on: another rate or delay, or down for a time. Default: it does
    /// not change.
    pub changes: Option<Vec<ChangeSpec>>,
    /// What it repeats from the start on, in place of a rate that stays: `{ rate, for }` or
    /// `{ down }` each, one after the other, and again from the first. Default: none.
    pub pattern: Option<Vec<PartSpec>>,
    /// A file of delivery opportunities as mahimahi has them, or of seconds and Mbit/s in two columns,
    /// its path from the scenario's folder; or one of those that come along, by its name. Default: none.
    pub trace: Option<String>,
    /// The mean that its trace is scaled to; the times stay. Default: as it is.
    pub scale_to: Option<Quantity<Rate>>,
    /// A file of round trips, its path from the scenario's folder: half of each is the delay of
    /// what is sent then. Default: none.
    pub delays: Option<String>,
    /// What its wire does to packets that it has sent. Default: nothing.
    pub impair: Option<Box<ImpairSpec>>,
    /// Packets that the device behind the discipline holds: a FIFO, as of a network interface without
    /// byte queue limits. The discipline is polled for a packet when it has room. Default: none.
    pub device: Option<Quantity<Amount>>,
    /// Is it never congested? Then packets take their time, and none waits for another. Default:
    /// no.
    #[serde(default)]
    pub wire: bool,
    /// What works there, whatever is compared.
    pub discipline: Option<Compared>,
    /// Do the disciplines compared work here, and at no link that is not marked so? Default: no.
    #[serde(default)]
    pub bottleneck: bool,
    /// Does it lead one way only? Default: no, there is a like link back.
    #[serde(default)]
    pub one_way: bool,
    /// What the link back has of its own.
    pub back: Option<BackSpec>,
}

/// What a link back has of its own. Default: all as in the other direction.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackSpec {
    /// Its rate. Default: the mean of its own `trace`, or else as in the other direction.
    pub rate: Option<Quantity<Rate>>,
    /// Its propagation delay, one way.
    pub delay: Option<Quantity<Duration>>,
    /// How much may wait.
    pub buffer: Option<Quantity<Room>>,
    /// What it is from later times on.
    pub changes: Option<Vec<ChangeSpec>>,
    /// What it repeats from the start on, in place of a rate that stays: `{ rate, for }` or
    /// `{ down }` each, one after the other, and again from the first.
    pub pattern: Option<Vec<PartSpec>>,
    /// A file of delivery opportunities as mahimahi has them, or of seconds and Mbit/s in two columns,
    /// its path from the scenario's folder; or one of those that come along, by its name.
    pub trace: Option<String>,
    /// The mean that its trace is scaled to; the times stay.
    pub scale_to: Option<Quantity<Rate>>,
    /// A file of round trips, its path from the scenario's folder: half of each is the delay of
    /// what is sent then.
    pub delays: Option<String>,
    /// What its wire does to packets.
    pub impair: Option<Box<ImpairSpec>>,
    /// What works there, whatever is compared.
    pub discipline: Option<Compared>,
}

impl Links {
    /// The one that all flows share.
    pub fn shared(&self) -> Option<&LinkSpec> {
        match self {
            Links::Shared(link) => Some(link),
            Links::Network(_) => None,
        }
    }
}

/// What says how a link changes, for each table that has it.
macro_rules! varying {
    ($($spec:ident),+) => {
        $(impl $spec {
            /// How it changes.
            pub(crate) fn varying(&self) -> Varying<'_> {
                Varying {
                    changes: self.changes.as_ref(),
                    pattern: self.pattern.as_ref(),
                    trace: self.trace.as_ref(),
                    scale_to: self.scale_to,
                    delays: self.delays.as_ref(),
                }
            }
        })+
    };
}

varying!(LinkSpec, ReturnSpec, NetworkLinkSpec, BackSpec);

impl<'de> Deserialize<'de> for Links {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Links;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table, written `[link]`, or several, each `[[link]]`")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Links, A::Error> {
        LinkSpec::deserialize(MapAccessDeserializer::new(map)).map(Links::Shared)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Links, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Links::Network)
    }
}

impl JsonSchema for Links {
    fn schema_name() -> Cow<'static, str> {
        "Links".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let shared = generator.subschema_for::<LinkSpec>();
        let network = generator.subschema_for::<Vec<NetworkLinkSpec>>();
        json_schema!({
            "description": "One link that all flows share, or the links of a network.",
            "anyOf": [shared, network],
        })
    }
}
