//! The links of a scenario: one link that all flows share, or the links of a network.

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
    /// One link that all flows share.
    Shared(LinkSpec),
    /// The links of a network.
    Network(Vec<NetworkLinkSpec>),
}

/// The shared link.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// The link's rate, as disciplines know it. Required unless there is a `trace` or `pattern`,
    /// whose mean is then the default.
    pub rate: Option<Quantity<Rate>>,
    /// The propagation delay, one way. Required unless there are `delays`, whose mean is then the
    /// default.
    pub delay: Option<Quantity<Duration>>,
    /// The capacity of the queue, in packets, bytes, time at the link's rate, or bandwidth-delay
    /// products.
    pub buffer: Quantity<Room>,
    /// Later changes: another rate or delay, or a time for which the link is down. Default: none.
    pub changes: Option<Vec<ChangeSpec>>,
    /// A pattern that repeats from the start of the run, instead of a constant rate: a list of `{
    /// rate, for }` or `{ down }`. Default: none.
    pub pattern: Option<Vec<PartSpec>>,
    /// A trace: the name of a built-in trace, or the path of a file from the scenario's folder. The
    /// file is in mahimahi's format, or has columns of seconds and Mbit/s. Default: none.
    pub trace: Option<String>,
    /// The mean rate to which the trace is scaled, without changing its times. Default: unscaled.
    pub scale_to: Option<Quantity<Rate>>,
    /// A file of round-trip times with time stamps, as a path from the scenario's folder. A packet
    /// is delayed by half of the round-trip time in force when it is sent. Default: none.
    pub delays: Option<String>,
    /// The faults of the wire behind the link. Default: none.
    pub impair: Option<Box<ImpairSpec>>,
    /// The capacity in packets of the device (a FIFO) behind the discipline. If the device has
    /// room, it polls the discipline. Default: none.
    pub device: Option<Quantity<Amount>>,
}

/// The return direction of the shared link, with a queue. It carries acknowledgements, and the
/// flows that have `direction = "reverse"`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReturnSpec {
    /// The rate. Default: the mean of the `trace` given here, or else the rate of the link.
    pub rate: Option<Quantity<Rate>>,
    /// The propagation delay, one way. Default: that of the link.
    pub delay: Option<Quantity<Duration>>,
    /// The capacity of the queue. Default: that of the link.
    pub buffer: Option<Quantity<Room>>,
    /// Later changes. Default: those of the link, or none if `rate` is given here.
    pub changes: Option<Vec<ChangeSpec>>,
    /// A pattern that repeats from the start of the run, instead of a constant rate: a list of `{
    /// rate, for }` or `{ down }`. Default: as for `changes`.
    pub pattern: Option<Vec<PartSpec>>,
    /// A trace: the name of a built-in trace, or the path of a file from the scenario's folder. The
    /// file is in mahimahi's format, or has columns of seconds and Mbit/s. Default: as for
    /// `changes`.
    pub trace: Option<String>,
    /// The mean rate to which the trace is scaled, without changing its times. Default: unscaled.
    pub scale_to: Option<Quantity<Rate>>,
    /// A file of round-trip times, each with a time stamp, as a path from the scenario's folder. A
    /// packet is delayed by half of the round-trip time in force when it is sent. Default: that of
    /// the link, or none if `delay` or `changes` is given here.
    pub delays: Option<String>,
    /// The faults of the wire. Default: those of the link.
    pub impair: Option<Box<ImpairSpec>>,
    /// The capacity in packets of the device (a FIFO) behind the discipline. If the device has
    /// room, it polls the discipline. Default: none.
    pub device: Option<Quantity<Amount>>,
    /// The discipline of the return direction. Default: "tail-drop".
    pub discipline: Option<Compared>,
    /// Do the compared disciplines work in the return direction too? Default: no.
    #[serde(default)]
    pub bottleneck: bool,
}

/// A link of a network.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkLinkSpec {
    /// The link's name in results: letters, digits, `-` and `_`. The return direction is named
    /// `NAME-back`. Default: "FROM-TO", and "TO-FROM" for the return direction.
    pub name: Option<String>,
    /// The node where the link begins.
    pub from: String,
    /// The node where the link ends.
    pub to: String,
    /// The link's rate, as disciplines know it. Required unless there is a `trace` or `pattern`,
    /// whose mean is then the default.
    pub rate: Option<Quantity<Rate>>,
    /// The propagation delay, one way. Required unless there are `delays`, whose mean is then the
    /// default.
    pub delay: Option<Quantity<Duration>>,
    /// The capacity of the queue, in packets, bytes, time at the link's rate, or bandwidth-delay
    /// products. Required except for a wire.
    pub buffer: Option<Quantity<Room>>,
    /// Later changes: another rate or delay, or a time for which the link is down. Default: none.
    pub changes: Option<Vec<ChangeSpec>>,
    /// A pattern that repeats from the start of the run, instead of a constant rate: a list of `{
    /// rate, for }` or `{ down }`. Default: none.
    pub pattern: Option<Vec<PartSpec>>,
    /// A trace: the name of a built-in trace, or the path of a file from the scenario's folder. The
    /// file is in mahimahi's format, or has columns of seconds and Mbit/s. Default: none.
    pub trace: Option<String>,
    /// The mean rate to which the trace is scaled, without changing its times. Default: unscaled.
    pub scale_to: Option<Quantity<Rate>>,
    /// A file of round-trip times with time stamps, as a path from the scenario's folder. A packet
    /// is delayed by half of the round-trip time in force when it is sent. Default: none.
    pub delays: Option<String>,
    /// The faults of the wire behind the link. Default: none.
    pub impair: Option<Box<ImpairSpec>>,
    /// The capacity in packets of the device (a FIFO) behind the discipline. If the device has
    /// room, it polls the discipline. Default: none.
    pub device: Option<Quantity<Amount>>,
    /// Is the link never congested? Then no packet waits for a packet of another flow. Default: no.
    #[serde(default)]
    pub wire: bool,
    /// The discipline of the link, whichever disciplines are compared.
    pub discipline: Option<Compared>,
    /// Do the compared disciplines work here? If any link sets this key, they work only at such
    /// links. Otherwise they work at every link without a `discipline`. Default: no.
    #[serde(default)]
    pub bottleneck: bool,
    /// Is the link unidirectional? Default: no, there is a similar link in the return direction.
    #[serde(default)]
    pub one_way: bool,
    /// The settings in which the return direction differs.
    pub back: Option<BackSpec>,
}

/// The settings in which the return direction differs. Default: as in the forward direction.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackSpec {
    /// The rate. Default: the mean of the `trace` given here, or else as in the forward direction.
    pub rate: Option<Quantity<Rate>>,
    /// The propagation delay, one way.
    pub delay: Option<Quantity<Duration>>,
    /// The capacity of the queue.
    pub buffer: Option<Quantity<Room>>,
    /// Its later changes.
    pub changes: Option<Vec<ChangeSpec>>,
    /// A pattern that repeats from the start of the run, instead of a constant rate: a list of `{
    /// rate, for }` or `{ down }`.
    pub pattern: Option<Vec<PartSpec>>,
    /// A trace: the name of a built-in trace, or the path of a file from the scenario's folder. The
    /// file is in mahimahi's format, or has columns of seconds and Mbit/s.
    pub trace: Option<String>,
    /// The mean rate to which the trace is scaled, without changing its times.
    pub scale_to: Option<Quantity<Rate>>,
    /// A file of round-trip times with time stamps, as a path from the scenario's folder. A packet
    /// is delayed by half of the round-trip time in force when it is sent.
    pub delays: Option<String>,
    /// The faults of the wire.
    pub impair: Option<Box<ImpairSpec>>,
    /// The discipline of the return direction, whichever disciplines are compared.
    pub discipline: Option<Compared>,
}

impl Links {
    /// The link that all flows share.
    pub fn shared(&self) -> Option<&LinkSpec> {
        match self {
            Links::Shared(link) => Some(link),
            Links::Network(_) => None,
        }
    }
}

macro_rules! varying {
    ($($spec:ident),+) => {
        $(impl $spec {
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
